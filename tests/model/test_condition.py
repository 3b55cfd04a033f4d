"""Conditions: every operator, combined, on fields and inside of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import AfterValidator, Field

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.operations.put import put
from bigtime.model.operations.query import query
from bigtime.model.schema.condition import Condition, Placeholders, attr, unchanged
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.stored import EpochSeconds, Seconds
from bigtime.model.schema.table import Table, global_index
from tests.model.designs import NOON
from tests.model.portal import Maker
from tests.model.test_attribute import Level, Size
from tests.model.world import World

THINGS = Table("Things", "PK", "SK", indexes=[global_index("ByRank", "RANK")], naming=str.upper)
TABLES = [THINGS]


class Thing(Entity, table=THINGS):
    keys = Keys(main=("ALL", "{name}"), ByRank="{rank:03}")
    name: str
    rank: int = 7
    price: Decimal = Decimal("9.50")
    other_price: Decimal = Decimal(10)
    at: datetime = NOON
    size: Size = Size.SMALL
    levels: set[Level] = {Level.LOW}
    tags: list[str] = ["new", "red"]
    blob: bytes = b"\x00\x01"
    home: Maker = Maker(full_name="Ace", founded_in=1990, labels={"a"})
    homes: dict[str, Maker] = {"a.b": Maker(full_name="Bee")}
    lines: list[Maker] = [Maker(full_name="Cee", founded_in=3)]
    details: Any = None
    note: str | None = None
    handle: Annotated[str, AfterValidator(str.lower)] = "al"
    second: Annotated[datetime, Seconds] = NOON
    expires: Annotated[datetime, EpochSeconds] = NOON
    rating: int = Field(default=3, le=5)


THING = Thing(name="thing", details={"deep": [{"x": 5}]})


@pytest.fixture
def holds(world: World) -> Callable[[Condition], bool]:
    world.run(put(THING))
    return lambda condition: bool(world.run(query(Thing.within("main"), filter=condition)))


@pytest.mark.parametrize(
    "condition",
    [
        unchanged(THING),
        unchanged(THING, "price", "levels", "note"),
        attr("price") == Decimal("9.5"),
        attr("price") != 9,
        attr("price") < attr("other_price"),
        attr("price") <= Decimal("9.5"),
        attr("price") > 9,
        attr("price") >= Decimal("9.5"),
        attr("price").between(9, 10),
        attr("price").between(Decimal(1), attr("other_price")),
        attr("price").one_of(1, 2, Decimal("9.5")),
        attr("other_price").one_of(attr("price"), 10),
        attr("name").begins_with("th"),
        attr("name").contains("hin"),
        attr("blob").begins_with(b"\x00"),
        attr("at").begins_with("2026-03"),
        attr("at") == NOON,
        attr("at") < NOON + timedelta(microseconds=1),
        attr("at") > NOON - timedelta(microseconds=1),
        attr("size") == Size.SMALL,
        attr("size") == "S",
        attr("handle") == "AL",
        attr("handle").one_of("x", "AL"),
        attr("handle") >= "AL",
        attr("second") == NOON + timedelta(microseconds=1),
        attr("second") < NOON + timedelta(microseconds=1),
        attr("second") <= NOON + timedelta(microseconds=1),
        ~(attr("second") >= NOON + timedelta(microseconds=1)),
        ~(attr("second") > NOON + timedelta(microseconds=1)),
        attr("second").between(NOON - timedelta(microseconds=1), NOON + timedelta(microseconds=1)),
        attr("expires") <= NOON + timedelta(microseconds=1),
        attr("rating") < 10,
        attr("home") == {"full_name": "Ace", "founded_in": "1990", "labels": ["a"]},
        attr("levels").contains(Level.LOW),
        attr("levels") == {Level.LOW},
        attr("tags").contains("red"),
        attr("tags[1]") == "red",
        attr("tags", 0) == "new",
        attr("tags").size() == 2,
        attr("tags").size() != 3,
        attr("tags").size() < 3,
        attr("tags").size() <= 2,
        attr("tags").size() > 1,
        attr("tags").size() >= 2,
        attr("tags").size().between(2, 2),
        attr("home").exists(),
        attr("note").missing(),
        attr("home.full_name") == "Ace",
        attr("home.founded_in") < 2000,
        attr("home.labels").contains("a"),
        attr("home.founded_in").exists(),
        attr("homes", "a.b", "full_name") == "Bee",
        attr("homes", "a.b", "founded_in").missing(),
        attr("homes", "nobody").missing(),
        attr("lines[0].full_name") == "Cee",
        attr("lines[0].founded_in").one_of(3),
        attr("lines[0]") == THING.lines[0],
        attr("details.deep[0].x") == 5,
        attr("rank") == 7,
        attr("rank").of_type("S"),
        attr("price").of_type("N"),
        (attr("price") == 1) | (attr("name") == "thing"),
        ~((attr("price") == 1) | (attr("name") == "x")) & attr("home").exists(),
        ~attr("note").exists(),
        ~(attr("name") == "x") & (attr("price") > 1) & (attr("price") < 99),
    ],
)
def test_a_condition_holds(holds: Callable[[Condition], bool], condition: Condition) -> None:
    assert holds(condition)
    assert not holds(~condition)


@pytest.mark.parametrize(
    "other", [{"rank": 8}, {"price": Decimal(1)}, {"levels": set()}, {"note": "x"}, {"tags": []}]
)
def test_what_differs_from_what_was_read_has_changed(
    holds: Callable[[Condition], bool], other: dict[str, Any]
) -> None:
    seen = THING.model_copy(update=other)
    assert not holds(unchanged(seen))
    assert not holds(unchanged(seen, *other))
    assert holds(unchanged(seen, "at", "home"))


def test_values_are_stored_as_the_field_they_are_compared_with() -> None:
    marks = Placeholders(Thing.layout)
    condition = (attr("home.founded_in") == 5) & (attr("rank") == 5) & (attr("home.founded_in") < 6)
    assert condition.render(marks) == ("((#n0.#n1 = :v0) AND (#n2 = :v1)) AND (#n0.#n1 < :v2)")
    assert marks.parameters() == {
        "ExpressionAttributeNames": {"#n0": "HOME", "#n1": "FOUNDED_IN", "#n2": "RANK"},
        "ExpressionAttributeValues": {":v0": {"N": "5"}, ":v1": {"S": "005"}, ":v2": {"N": "6"}},
    }


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: attr("colour") == 1, "Thing has no field 'colour'; it has name, "),
        (lambda: attr("home.colour") == 1, "path 'home.colour': there is no 'colour'; there are"),
        (lambda: attr("name.first") == 1, "'first' leads nowhere"),
        (lambda: attr("tags.first") == 1, "'first' leads nowhere"),
        (lambda: attr("homes[0]") == 1, "0 leads nowhere"),
        (lambda: attr("home..x") == 1, "'home..x' is no path"),
        (lambda: attr("") == 1, "'' is no path"),
        (lambda: attr("note") == None, "ask missing() or exists()"),  # noqa: E711
        (lambda: attr("price") == "cheap", "Thing.price: Input should be a valid decimal"),
        (
            lambda: attr("home.founded_in") == "x",
            "Thing.home.founded_in: Input should be",
        ),
        (lambda: attr("at") < datetime(2026, 1, 1), "no time zone"),
        (lambda: attr("levels").contains("x"), "Thing.levels takes an int, not 'x'"),
        (lambda: attr("tags").size() == "2", "a size is a whole number, not '2'"),
        (lambda: attr("price").between(2, 1), "Thing.price: between takes the lower value first"),
        (lambda: attr("price").one_of(), "takes 1 to 100 values, not 0"),
        (lambda: attr("price").one_of(*range(101)), "takes 1 to 100 values, not 101"),
        (lambda: (attr("price") == 1) and (attr("name") == "x"), "combine them with &, | and ~"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(
    make: Callable[[], Condition], words: str
) -> None:
    with pytest.raises((DesignError, ValueRefused)) as caught:
        make().render(Placeholders(Thing.layout))
    assert words in str(caught.value)


# Against Python's own logic

Meaning = Callable[[Thing], bool]
simple: SearchStrategy[tuple[Condition, Meaning]] = st.one_of(
    st.integers(0, 4).map(lambda n: (attr("rank") > n, lambda thing: thing.rank > n)),
    st.integers(0, 4).map(lambda n: (attr("rank") == n, lambda thing: thing.rank == n)),
    st.integers(0, 4).map(lambda n: (attr("price") <= n, lambda thing: thing.price <= n)),
    st.sampled_from("ab").map(
        lambda tag: (attr("tags").contains(tag), lambda thing: tag in thing.tags)
    ),
    st.sampled_from("ab").map(
        lambda text: (attr("note") == text, lambda thing: thing.note == text)
    ),
    st.just((attr("note").exists(), lambda thing: thing.note is not None)),
)
conditions: SearchStrategy[tuple[Condition, Meaning]] = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(
            lambda two: (two[0][0] & two[1][0], lambda thing: two[0][1](thing) and two[1][1](thing))
        ),
        st.tuples(inner, inner).map(
            lambda two: (two[0][0] | two[1][0], lambda thing: two[0][1](thing) or two[1][1](thing))
        ),
        inner.map(lambda one: (~one[0], lambda thing: not one[1](thing))),
    ),
    max_leaves=5,
)
things = st.builds(
    Thing,
    name=st.just("x"),
    rank=st.integers(0, 5),
    price=st.integers(0, 5).map(Decimal),
    tags=st.lists(st.sampled_from("abc"), max_size=2),
    note=st.sampled_from([None, "a", "b"]),
)


@pytest.fixture(scope="module")
def table() -> Any:
    with Engine.memory(housekeeping=False) as engine:
        yield World(engine, THINGS)


@given(things=st.lists(things, max_size=4), condition=conditions)
def test_conditions_mean_what_python_means(
    table: World, things: list[Thing], condition: tuple[Condition, Meaning]
) -> None:
    sent, meant = condition
    named = [thing.model_copy(update={"name": f"{n}"}) for n, thing in enumerate(things)]
    table.empty(THINGS)
    for thing in named:
        table.run(put(thing))
    found = table.run(query(Thing.within("main"), filter=sent, limit=10))
    assert [each.name for each in found] == [thing.name for thing in named if meant(thing)]
