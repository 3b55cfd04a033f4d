"""Views: what an index projects, as a type that is checked when it is declared."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import new_class
from typing import Any, cast

import pytest

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.operations.query import all_of, count, query
from bigtime.model.operations.scan import scan
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.table import Table, global_index
from bigtime.model.schema.view import View
from bigtime.store import Store
from tests.model.designs import (
    NOON,
    WATCHES,
    BrandWatcher,
    Deal,
    DealCard,
    UserWatch,
    WatchOfType,
    fill,
    open_tables,
    requests,
)


def watch(n: int, **fields: Any) -> UserWatch:
    return UserWatch(user_id=f"user{n}", watch_key=f"BRAND#{n}", brand_id="apple", **fields)


@pytest.fixture
def store(engine: Engine) -> Store:
    store = open_tables(engine, WATCHES)
    fill(store, [watch(n, target_name=f"tv {n}") for n in range(3)])
    return store


def test_keys_alone(store: Store) -> None:
    page = store.run(query(BrandWatcher.within(brand_id="apple"), limit=2))
    assert page.items == [
        BrandWatcher(user_id="user0", watch_key="BRAND#0"),
        BrandWatcher(user_id="user1", watch_key="BRAND#1"),
    ]
    rest = store.run(query(BrandWatcher.within(brand_id="apple"), after=page.position))
    assert [each.user_id for each in rest] == ["user2"]
    assert store.run(count(BrandWatcher.within(brand_id="apple"))) == 3


def test_included_attributes(store: Store) -> None:
    fill(store, [watch(9, created_at=NOON + timedelta(seconds=1))])
    found = store.run(all_of(WatchOfType.within(watch_type="BRAND")))
    assert {each.target_name for each in found} == {"tv 0", "tv 1", "tv 2", None}
    assert found[-1] == WatchOfType(user_id="user9", created_at=NOON + timedelta(seconds=1))


def test_a_filter_on_what_the_index_does_not_have_is_refused(store: Store) -> None:
    """DynamoDB would answer with nothing, and say nothing."""
    for within, filter in (
        (BrandWatcher.within(brand_id="apple"), attr("target_name") == "tv 1"),
        (WatchOfType.within(watch_type="BRAND"), attr("brand_id").exists()),
    ):
        for steps in (query(within, filter=filter), count(within, filter=filter)):
            with pytest.raises(DesignError, match=r"does not hold (target_name|brand_id), so a"):
                store.run(steps)
    assert requests(store) == []
    named = attr("target_name") == "tv 1"
    assert len(store.run(all_of(WatchOfType.within(watch_type="BRAND"), filter=named))) == 1
    apples = attr("brand_id") == "apple"
    assert len(store.run(all_of(UserWatch.within("ByTarget", user_id="user1"), filter=apples))) == 1


def test_a_filter_on_the_key_of_the_index_is_refused(store: Store) -> None:
    """DynamoDB refuses it; as a stretch of the key it costs less."""
    for within, name in (
        (UserWatch.within("main", user_id="user1"), "watch_key"),
        (UserWatch.within("ByTarget", user_id="user1"), "target_name"),
        (BrandWatcher.within(brand_id="apple"), "user_id"),
    ):
        with pytest.raises(DesignError, match=f"{name} is a key of .*ask for it in within"):
            store.run(query(within, filter=attr(name) > "a"))
    assert requests(store) == []
    later = attr("watch_key") > "BRAND#0"
    assert len(store.run(all_of(BrandWatcher.within(brand_id="apple"), filter=later))) == 2
    assert len(store.run(scan(UserWatch, filter=later))) == 2


def test_only_what_the_view_has_is_asked_for(store: Store) -> None:
    store.run(query(WatchOfType.within(watch_type="BRAND")))
    (request,) = requests(store)
    names = request.params["ExpressionAttributeNames"]
    asked = {names[mark] for mark in request.params["ProjectionExpression"].split(", ")}
    assert asked == {"user_id", "watch_key", "watch_type", "created_at", "target_name"}


NOTES = Table(
    "Notes", "PK", "SK", indexes=[global_index("ByTag", "GPK", "GSK", keys_only=True)],
    type_attribute="Type",
)  # fmt: skip


class Note(Entity, table=NOTES):
    keys = Keys(
        main=("AUTHOR#{author}", "NOTE#{number:06}"), ByTag=("TAG#{tag}", "{written_at:day}")
    )
    author: str
    number: int
    tag: str | None
    written_at: datetime
    text: str


class Task(Entity, table=NOTES):
    keys = Keys(
        main=("AUTHOR#{author}", "TASK#{number:06}"), ByTag=("TAG#{tag}", "{written_at:day}")
    )
    author: str
    number: int
    tag: str
    written_at: datetime


def test_fields_are_read_back_from_keys_and_entities_told_by_them(engine: Engine) -> None:
    class Tagged(View, of=Note, index="ByTag"):
        author: str
        number: int
        tag: str

    store = open_tables(engine, NOTES)
    note = Note(author="ann #1", number=7, tag="x#y", written_at=NOON, text="...")
    fill(store, [note, Task(author="ann #1", number=8, tag="x#y", written_at=NOON)])
    found = store.run(all_of(Tagged.within(tag="x#y")))
    assert found == [Tagged(author="ann #1", number=7, tag="x#y")]
    assert store.run(count(Tagged.within(tag="x#y"))) == 1


def declare_view(body: dict[str, Any], **arguments: Any) -> type[View]:
    namespace = {"__annotations__": body, "__module__": __name__}
    return cast(
        type[View], new_class("Wrong", (View,), arguments, lambda own: own.update(namespace))
    )


@pytest.mark.parametrize(
    ("body", "arguments", "words"),
    [
        ({"name": str}, {"of": UserWatch}, "Wrong.name: UserWatch has no such field; it has user"),
        ({"user_id": int}, {"of": UserWatch}, "Wrong.user_id is declared as .*int.*; declare it"),
        ({"brand_id": str}, {"of": UserWatch}, "declare it the same"),
        (
            {"watch_type": str},
            {"of": UserWatch, "index": "WatchesByBrand"},
            "index WatchesByBrand projects neither 'watch_type' nor a key that tells it",
        ),
        ({"written_at": datetime}, {"of": Note, "index": "ByTag"}, "projects neither"),
        ({"user_id": str}, {"of": UserWatch, "index": "ByNothing"}, "has no index 'ByNothing'"),
        ({"user_id": str}, {}, "is a View of what"),
    ],
)
def test_a_view_of_what_is_not_there_is_refused_when_declared(
    body: dict[str, Any], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(DesignError, match=words):
        declare_view(body, **arguments)


def test_a_field_of_the_index_key_is_never_none_there() -> None:
    declare_view({"brand_id": str, "user_id": str}, of=UserWatch, index="WatchesByBrand")


def test_a_view_is_asked_where_it_belongs() -> None:
    with pytest.raises(DesignError, match="DealCard has no index of its own"):
        DealCard.within(deal_id="x")
    with pytest.raises(DesignError, match="BrandWatcher is a view of index WatchesByBrand, not of"):
        query(UserWatch.within("main", user_id="u"), only=BrandWatcher)


def test_views_do_not_change() -> None:
    card = DealCard(deal_id=Ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv"), title="x")
    with pytest.raises(ValueError):
        card.title = "y"
    assert set(DealCard.model_fields) < set(Deal.model_fields)


def test_an_item_that_does_not_fit_is_not_lost() -> None:
    item = {**UserWatch.layout.to_item(watch(5)), "target_name": {"N": "5"}}
    with pytest.raises(ItemMismatch, match="UserWatch at") as caught:
        WatchOfType.within(watch_type="BRAND").read(item)
    assert caught.value.item == item
