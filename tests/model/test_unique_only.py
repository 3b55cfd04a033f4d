"""Values that are unique among some items only: those that have another field so."""

from __future__ import annotations

from enum import StrEnum

import pytest

from bigtime.engine import Engine
from bigtime.model import (
    DesignError,
    DomainError,
    Entity,
    Keys,
    System,
    Table,
    create,
    delete,
    get,
    repair,
    scan_all,
    unique,
    update,
    verify,
)
from bigtime.wire import Request
from tests.model.world import World


class State(StrEnum):
    OPEN = "OPEN"
    CLOSED = "CLOSED"


class DeskTaken(DomainError):
    """Somebody sits at this desk."""


OFFICE = Table("Office", "PK", "SK")


class Booking(Entity, table=OFFICE):
    keys = Keys(main=("BOOKING#{number}", "{state}"))
    number: int
    state: State
    desk: str


class Seat(Entity, table=OFFICE):
    keys = Keys(main=("DESK#{place}", "DESK"))
    place: str
    number: int


class Visit(Entity, table=OFFICE):
    keys = Keys(main=("VISIT#{number}", "VISIT"))
    number: int
    room: str
    state: State = State.OPEN


class Room(Entity, table=OFFICE):
    keys = Keys(main=("ROOM#{room}", "ROOM"))
    room: str
    number: int


SEATS = unique(
    Booking, "desk", marker=Seat, taken=DeskTaken, by={"desk": "place"}, only={"state": State.OPEN}
)
ROOMS = unique(Visit, "room", marker=Room, taken=DeskTaken, only={"state": State.OPEN})
SYSTEM = System("office", (OFFICE,))


@pytest.fixture
def world(engine: Engine) -> World:
    return World(engine, OFFICE)


def booking_of(number: int, state: State = State.OPEN, desk: str = "window") -> Booking:
    return Booking(number=number, state=state, desk=desk)


def test_only_those_that_are_meant_are_unique(world: World) -> None:
    for number in (1, 2):
        world.run(create(booking_of(number, State.CLOSED)))
    world.run(create(booking_of(3)))
    with pytest.raises(DeskTaken):
        world.run(create(booking_of(4)))
    assert world.run(SEATS.find("window")) == booking_of(3)
    assert world.run(scan_all(Seat)) == [Seat(place="window", number=3)]
    assert world.run(verify(SYSTEM)) == []


def test_a_marker_goes_with_its_owner_and_with_no_other(world: World) -> None:
    world.run(create(booking_of(1, State.CLOSED)))
    world.run(create(booking_of(2)))
    world.run(delete(booking_of(1, State.CLOSED)))
    assert world.run(SEATS.find("window")) == booking_of(2)
    world.run(delete(Booking.key(2, State.OPEN)))
    assert world.run(scan_all(Seat)) == []
    world.run(create(booking_of(3)))


def test_a_field_that_decides_may_change(world: World) -> None:
    world.run(create(Visit(number=1, room="blue")))
    world.run(update(Visit.key(1), state=State.CLOSED))
    assert world.run(scan_all(Room)) == []
    world.run(create(Visit(number=2, room="blue")))
    with pytest.raises(DeskTaken):
        world.run(update(Visit.key(1), state=State.OPEN))
    world.run(update(Visit.key(1), state=State.OPEN, room="green"))
    assert len(world.run(scan_all(Room))) == 2
    assert world.run(verify(SYSTEM)) == []


def test_markers_that_are_lost_or_stray_are_found_and_mended(world: World) -> None:
    for number, desk in enumerate(("lost", "stray")):
        world.run(create(booking_of(number, desk=desk)))
    for key in (Seat.key("lost").item, Booking.key(1, State.OPEN).item):
        world.store.send(Request("DeleteItem", {"TableName": "Office", "Key": key}))
    violations = world.run(verify(SYSTEM))
    assert len(violations) == 2
    for violation in violations:
        world.run(repair(violation))
    assert world.run(verify(SYSTEM)) == []
    assert world.run(get(Seat.key("lost"))) == Seat(place="lost", number=0)
    assert world.run(scan_all(Seat)) == [Seat(place="lost", number=0)]


def test_a_field_that_is_none_is_refused() -> None:
    with pytest.raises(DesignError, match="no field 'colour'"):
        unique(Booking, "desk", marker=Seat, only={"colour": "red"})


class Tagged(Entity, table=OFFICE):
    keys = Keys(main=("TAGGED#{number}", "TAGGED"))
    number: int
    name: str
    tags: set[str] = set()


class TaggedName(Entity, table=OFFICE):
    keys = Keys(main=("TAGGEDNAME#{name}", "TAGGEDNAME"))
    name: str
    number: int


def test_a_field_that_changes_inside_cannot_decide() -> None:
    with pytest.raises(DesignError, match="tags must be a text, a number, bytes or a bool"):
        unique(Tagged, "name", marker=TaggedName, only={"tags": {"new"}})
