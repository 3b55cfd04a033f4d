"""The tables of a dry run hold what the requests expect, or what they are said to hold."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field

from bigtime.advisor import explain, measure
from bigtime.model import (
    Entity,
    Keys,
    Steps,
    System,
    Table,
    all_of,
    at_least,
    attr,
    between,
    check,
    count,
    create,
    delete,
    get,
    global_index,
    less_than,
    more_than,
    number,
    put,
    query,
    scan_all,
    transact,
    update,
    when,
)
from bigtime.model.errors import ConditionFailed, ItemExists, ItemMissing
from bigtime.wire import Request, ValidationException

ROOMS = Table("Rooms", "PK", number("floor"))
TICKETS = Table("Tickets", "PK", "SK")


class Room(Entity, table=ROOMS):
    keys = Keys(main=("HOUSE#{house}", "{floor}"))
    house: str
    floor: Decimal
    notes: Annotated[str, Field(max_length=4000)]
    state: str = "free"


class Ticket(Entity, table=TICKETS):
    keys = Keys(main=("TICKETS#{venue}", "{code}"))
    venue: str
    code: Annotated[str, Field(pattern=r"^[a-z]{2}-\d{4}-K[0-9]{3}$", examples=["ab-2026-K000"])]


SYSTEM = System("rooms", (ROOMS, TICKETS))
ROOM = Room.key("elm", Decimal(1))


def explain_steps(steps: Any, **assumed: Any) -> Any:
    return explain(steps, tables=SYSTEM.tables, **assumed)


# --- Samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "floor",
    [less_than(0), more_than(40), at_least(Decimal("0.5")), between(-7, 20), between(-300, -200)],
)
def test_a_query_beyond_a_bound_finds_items_that_lie_there(floor: Any) -> None:
    found = explain_steps(all_of(Room.within("main", house="elm", floor=floor))).result
    assert len({room.floor for room in found}) == 10


def test_a_bound_that_few_values_can_meet_finds_those() -> None:
    few = Room.within("main", house="elm", floor=between(3, 3))
    assert [room.floor for room in explain_steps(all_of(few)).result] == [3]


def test_samples_of_an_id_with_one_example_are_as_many_as_are_asked_for() -> None:
    page = explain_steps(query(Ticket.within("main", venue="hall"), limit=50)).result
    assert len({ticket.code for ticket in page}) == 50


def test_a_second_query_of_a_partition_finds_what_the_first_one_found() -> None:
    def twice() -> Steps[tuple[int, int]]:
        first = yield from count(Room.within("main", house="elm"))
        second = yield from count(Room.within("main", house="elm", floor=at_least(-1000)))
        return first, second

    assert explain_steps(twice()).result == (10, 10)


def test_a_scan_in_segments_finds_every_item_once() -> None:
    def scan_segments() -> Steps[list[Any]]:
        found: list[Any] = []
        for segment in range(4):
            params = {"TableName": "Rooms", "Segment": segment, "TotalSegments": 4}
            found += (yield Request("Scan", params))["Items"]
        return found

    found = explain_steps(scan_segments()).result
    assert len(found) == len({item["floor"]["N"] for item in found}) == 10


def test_conditions_hold_on_samples() -> None:
    writes: list[Any] = [
        create(room()),
        put(room(), when=attr("state") == "taken"),
        update(ROOM, state="free", when=attr("state") == "taken"),
        delete(ROOM, when=attr("notes").missing()),
        transact(check(ROOM, unless_exists=True)),
        transact(check(ROOM, when=attr("state") == "taken")),
    ]
    for write in writes:
        assert explain_steps(write).ended is None


def test_the_item_of_a_write_is_there_as_its_condition_needs_it() -> None:
    def assumption(write: Any) -> str:
        return str(explain_steps(write).requests[0].assumption)

    assert assumption(create(room())).startswith("a new Room")
    assert ", then " in assumption(put(room(), when=attr("state") == "taken"))
    assert ", then " in assumption(update(ROOM, state="free"))
    assert assumption(delete(ROOM)).endswith(" goes")


# --- What the tables are said to hold -----------------------------------------------------------


def test_conditions_are_judged_on_what_is_held() -> None:
    free = attr("state") == "free"
    assert explain_steps(update(ROOM, notes="x", when=free), holding=[room()]).ended is None
    taken = explain_steps(update(ROOM, notes="x", when=free), holding=[room(state="taken")])
    assert isinstance(taken.ended, ConditionFailed)
    assert isinstance(explain_steps(update(ROOM, notes="x"), holding=[]).ended, ItemMissing)
    assert isinstance(explain_steps(create(room()), holding=[room()]).ended, ItemExists)


def test_filters_are_judged_on_what_is_held() -> None:
    held = [room(floor=1), room(floor=2, state="taken")]
    stretch = Room.within("main", house="elm")
    found = explain_steps(query(stretch, filter=attr("state") == "free"), holding=held)
    assert [each.floor for each in found.result] == [1]
    assert "1 of which pass the filter" in str(found)


# --- Sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [120, 600, 5000, 100_000])
def test_samples_have_the_size_that_is_given(size: int) -> None:
    read = explain_steps(get(ROOM), sizes={Room: size})
    assert read.requests[0].assumption == f"a Room of {size:,} bytes"
    assert read.result.house == "elm"
    assert f"{10 * size:,} bytes together" in str(explain_steps(scan_all(Room), sizes={Room: size}))


def test_what_is_put_is_padded_and_never_shortened() -> None:
    assert explain_steps(put(room()), sizes={Room: 3000}).write_units == 3.0
    assert explain_steps(put(room(notes="x" * 3000)), sizes={Room: 100}).write_units == 3.0


def test_measured_steps_are_explained_too() -> None:
    measured = explain_steps(measure(get(ROOM)))
    assert (measured.read_units, measured.result.read_units) == (0.5, 0.5)


# --- What DynamoDB would refuse -----------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"TableName": "Rooms", "Key": {"PK": {"S": "HOUSE#elm"}}},
        {"TableName": "Rooms", "Key": {"PK": {"S": "HOUSE#elm"}, "floor": {"S": "1"}}},
        {"TableName": "Rooms", "Key": ROOM.item, "ProjectionExpression": "a b"},
    ],
)
def test_a_request_that_dynamodb_would_refuse_is_refused(params: Any) -> None:
    def ask() -> Steps[Any]:
        return (yield Request("GetItem", params))

    with pytest.raises(ValidationException):
        explain_steps(ask())


def room(floor: int = 1, **fields: Any) -> Room:
    return Room(house="elm", floor=Decimal(floor), **{"notes": "quiet", **fields})


def test_a_sample_has_the_times_that_a_put_fills_in() -> None:
    tickets = Table("Opened", "PK", indexes=[global_index("Open", "OpenPK", "OpenSK")])

    class Ticket(Entity, table=tickets, created="opened_at"):
        keys = Keys(main="TICKET#{number}", Open=when(("OPEN", "{opened_at}"), is_open=True))
        number: str
        is_open: bool = True
        opened_at: datetime | None = None

    explained = explain(update(Ticket.key("1"), is_open=False))
    assert explained.index_write_units == 1  # it leaves the index
