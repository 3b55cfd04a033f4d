"""Markers that call the fields of their owner otherwise, so that an index does not hold them."""

from __future__ import annotations

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
    global_index,
    query,
    repair,
    scan_all,
    unique,
    update,
    verify,
)
from bigtime.wire import Request
from tests.model.world import World

CLUB = Table("Club", "PK", indexes=[global_index("ByEmail", "email")])


class AddressTaken(DomainError):
    """Somebody has this address."""


class Member(Entity, table=CLUB):
    keys = Keys(main="MEMBER#{id}", ByEmail="{email}")
    id: str
    email: str


class Address(Entity, table=CLUB):
    keys = Keys(main="ADDRESS#{address}")
    address: str
    member_id: str


ADDRESSES = unique(
    Member,
    "email",
    marker=Address,
    taken=AddressTaken,
    by={"email": "address", "id": "member_id"},
)
SYSTEM = System("club", (CLUB,))


@pytest.fixture
def world(engine: Engine) -> World:
    return World(engine, CLUB)


def test_the_marker_is_kept_under_its_own_names(world: World) -> None:
    ann = world.run(create(Member(id="ann", email="a@b.c")))
    assert world.run(scan_all(Address)) == [Address(address="a@b.c", member_id="ann")]
    assert world.run(ADDRESSES.find("a@b.c")) == ann
    with pytest.raises(AddressTaken):
        world.run(create(Member(id="bob", email="a@b.c")))
    world.run(update(ann, email="x@y.z"))
    assert world.run(ADDRESSES.find("a@b.c")) is None
    assert [address.member_id for address in world.run(scan_all(Address))] == ["ann"]
    world.run(delete(Member.key("ann")))
    assert world.run(scan_all(Address)) == []
    assert world.run(verify(SYSTEM)) == []


def test_the_index_of_the_owners_does_not_hold_the_marker(world: World) -> None:
    ann = world.run(create(Member(id="ann", email="a@b.c")))
    assert world.run(query(Member.within("ByEmail", email="a@b.c"))).items == [ann]
    found = world.engine(Request("Scan", {"TableName": "Club", "IndexName": "ByEmail"}))
    assert found["Count"] == 1


def test_what_is_missing_or_stray_is_found_and_mended(world: World) -> None:
    world.run(create(Member(id="ann", email="a@b.c")))
    marker = {"PK": {"S": "ADDRESS#a@b.c"}}
    world.engine(Request("DeleteItem", {"TableName": "Club", "Key": marker}))
    stray = {"PK": {"S": "ADDRESS#n@o.p"}, "address": {"S": "n@o.p"}, "member_id": {"S": "ann"}}
    world.engine(Request("PutItem", {"TableName": "Club", "Item": stray}))
    violations = world.run(verify(SYSTEM))
    assert len(violations) == 2
    for violation in violations:
        world.run(repair(violation))
    assert world.run(verify(SYSTEM)) == []
    assert world.run(get(Address.key("a@b.c"))) == Address(address="a@b.c", member_id="ann")


def test_a_name_that_the_marker_does_not_have_is_an_error_at_once() -> None:
    with pytest.raises(DesignError, match="main key of Address must be made of these fields"):
        unique(Member, "email", marker=Address, by={"email": "mail", "id": "member_id"})
    with pytest.raises(DesignError, match="lacks id"):
        unique(Member, "email", marker=Address, by={"email": "address"})
