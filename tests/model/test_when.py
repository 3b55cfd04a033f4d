"""Indexes that hold an entity only while a field has a value."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from bigtime.advisor import explain
from bigtime.advisor.charts import entity_chart
from bigtime.engine import Engine
from bigtime.model import (
    DesignError,
    Entity,
    ItemMissing,
    Keys,
    System,
    Table,
    all_of,
    create,
    get,
    global_index,
    pascal_case,
    put,
    query,
    transact,
    update,
    verify,
    when,
)
from tests.model.world import World

INBOX = Table(
    "Inbox",
    "PK",
    "SK",
    indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=pascal_case,
)


class Message(Entity, table=INBOX):
    keys = Keys(
        main=("MESSAGES#{username}", "MESSAGE#{number:04}"),
        GSI1=when(("MESSAGES#{username}", "MESSAGE#{number:04}"), unread=True),
    )
    username: str
    number: int
    subject: str = ""
    unread: bool = True


class Status(StrEnum):
    ACTIVE = "active"
    FEATURED = "featured"
    EXPIRED = "expired"


DEALS = Table(
    "Deals",
    "deal_id",
    indexes=[
        global_index("DealsByBrand", "brand_id", "created_at"),
        global_index("DealsByCategory", "category_id", "created_at"),
    ],
)
SHOWN = {"status": (Status.ACTIVE, Status.FEATURED)}


class Deal(Entity, table=DEALS):
    """Two indexes share the attribute that keeps it out of both."""

    keys = Keys(
        main="{deal_id}",
        DealsByBrand=when(("{brand_id}", "{posted_at}"), **SHOWN),
        DealsByCategory=when(("{category_id}", "{posted_at}"), **SHOWN),
    )
    deal_id: str
    brand_id: str
    category_id: str
    posted_at: str
    status: Status = Status.ACTIVE


TABLES = [INBOX, DEALS]


def unread(world: World, username: str = "alex") -> list[int]:
    page = world.run(query(Message.within("GSI1", username=username)))
    return [message.number for message in page.items]


def test_an_item_is_in_the_index_while_the_field_has_its_value(world: World) -> None:
    world.run(create(Message(username="alex", number=1)))
    world.run(create(Message(username="alex", number=2, unread=False)))

    assert unread(world) == [1]
    assert {*world.items(INBOX)[1]} == {"PK", "SK", "Username", "Number", "Subject", "Unread"}


def test_leaving_the_index_needs_no_read(world: World) -> None:
    world.run(create(Message(username="alex", number=1)))
    world.operations()

    world.run(update(Message.key("alex", 1), unread=False))

    assert world.operations() == ["UpdateItem"]
    assert unread(world) == []
    world.run(update(Message.key("alex", 1), unread=True))
    assert unread(world) == [1]


def test_a_missing_item_is_not_made_by_leaving_the_index(world: World) -> None:
    with pytest.raises(ItemMissing):
        world.run(update(Message.key("alex", 1), unread=False))
    assert world.items(INBOX) == []


def test_leaving_works_inside_a_transaction(world: World) -> None:
    world.run(transact(create(Message(username="alex", number=1))))
    world.run(transact(update(Message.key("alex", 1), unread=False)))

    assert unread(world) == []


def test_one_of_several_values_keeps_it_in_both_indexes_that_share_the_attribute(
    world: World,
) -> None:
    deal = Deal(deal_id="d", brand_id="b", category_id="c", posted_at="2026")
    world.run(put(deal))
    for status, held in ((Status.FEATURED, 1), (Status.EXPIRED, 0), (Status.ACTIVE, 1)):
        world.run(update(deal.own_key(), status=status))
        assert len(world.items(DEALS, "DealsByBrand")) == held
        assert len(world.items(DEALS, "DealsByCategory")) == held
        assert world.items(DEALS)[0]["brand_id"] == {"S": "b"}


def test_the_chart_says_while_what() -> None:
    assert "while unread only: GSI1 `MESSAGES#<Username>` / `MESSAGE#<Number>`" in entity_chart(
        INBOX
    )
    assert "while status is active or featured only: DealsByBrand" in entity_chart(DEALS)


def test_a_dry_run_makes_up_items_that_are_in_the_index() -> None:
    found = explain(all_of(Message.within("GSI1", username="alex"))).result
    assert found and all(message.unread for message in found)


@given(
    changes=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "status": st.sampled_from(Status),
                "brand_id": st.sampled_from("ab"),
                "posted_at": st.sampled_from("12"),
            },
        ).filter(bool),
        max_size=6,
    )
)
def test_the_indexes_are_what_the_fields_make_of_them_after_any_updates(
    changes: list[dict[str, Any]],
) -> None:
    with Engine.memory() as engine:
        world = World(engine, *TABLES)
        world.run(put(Deal(deal_id="d", brand_id="a", category_id="c", posted_at="1")))
        for fields in changes:
            world.run(update(Deal.key("d"), **fields))
        deal = world.run(get(Deal.key("d")))

        assert deal is not None
        held = deal.status != Status.EXPIRED
        assert len(world.items(DEALS, "DealsByBrand")) == held
        assert len(world.items(DEALS, "DealsByCategory")) == held
        assert world.run(verify(System("deals", (DEALS,)))) == []


def test_when_must_be_told_a_field_of_the_entity_and_a_value_of_its_type() -> None:
    table = Table("Things", "PK", indexes=[global_index("GSI1", "GSI1PK")])
    with pytest.raises(DesignError, match="told no field"):
        when("X#{name}")
    for values, words in (
        ({"nobody": True}, r"nobody=.*is not a field; it has name, kind"),
        ({"kind": None}, r"cannot be None"),
        ({"kind": 7}, r"kind=.*valid string"),
    ):
        with pytest.raises(DesignError, match=words):

            class Thing(Entity, table=table):
                keys = Keys(main="X#{name}", GSI1=when("X#{name}", **values))
                name: str
                kind: str


class Box(BaseModel):
    colour: str = "red"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (set[str], {"hot"}),
        (list[str], ["hot"]),
        (dict[str, str], {"a": "hot"}),
        (Box, Box()),
        (Any, "hot"),
        (str | int, "hot"),
    ],
)
def test_a_field_that_changes_inside_cannot_decide(kind: Any, value: Any) -> None:
    table = Table("Things", "PK", indexes=[global_index("GSI1", "GSI1PK")])
    with pytest.raises(DesignError, match=r"tags=.* must be a text, a number, bytes or a bool"):

        class Thing(Entity, table=table):
            keys = Keys(main="X#{name}", GSI1=when("X#{name}", tags=value))
            name: str
            tags: kind


def test_an_index_of_fields_alone_cannot_follow_a_condition() -> None:
    table = Table("Things", "name", indexes=[global_index("ByKind", "kind")])
    with pytest.raises(DesignError, match="written anyway"):

        class Thing(Entity, table=table):
            keys = Keys(main="{name}", ByKind=when("{kind}", name="a"))
            name: str
            kind: str


def test_a_refused_entity_leaves_its_neighbours_as_they_were() -> None:
    table = Table("Things", "PK", "SK")

    class Team(Entity, table=table):
        keys = Keys(main=("T", "TEAM#{team}"))
        team: str

    with pytest.raises(DesignError):

        class Member(Entity, table=table):
            keys = Keys(main=("T", "TEAM#{team}#MEMBER#{name}"), GSI9="{name}")
            team: str
            name: str

    with pytest.raises(DesignError):

        class Impostor(Entity, table=table):
            keys = Keys(main=("T", "TEAM#{other}"))
            other: str

    assert Team.key("a#b").item["SK"] == {"S": "TEAM#a#b"}
