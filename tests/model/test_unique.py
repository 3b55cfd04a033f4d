"""Unique attributes: one owner of a value, whatever is created, changed or deleted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator

from bigtime.engine import Engine
from bigtime.model.errors import Conflict, DesignError, ItemExists, ItemMissing
from bigtime.model.invariants.unique import BrokenInvariant, unique
from bigtime.model.operations.change import Remove
from bigtime.model.operations.delete import check, delete
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op
from bigtime.model.operations.put import create, put, replace
from bigtime.model.operations.scan import scan_all
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import update
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table
from bigtime.model.verification import verify
from tests.model.designs import NOON
from tests.model.invariants import (
    EMAILS,
    SHOP,
    SYSTEM,
    Customer,
    CustomerEmail,
    EmailTaken,
    UsernameTaken,
)
from tests.model.world import World, check_indexes

TABLES = [SHOP]


def emails(world: World) -> dict[str, str]:
    return {
        customer_email.email: customer_email.username
        for customer_email in world.run(scan_all(CustomerEmail))
    }


def test_creating_is_one_transaction_with_its_marker(world: World) -> None:
    made = world.run(create(Customer(username="al", email="A@b.c")))
    assert world.operations() == ["TransactWriteItems"]
    assert made == Customer(username="al", email="a@b.c", created_at=NOON, updated_at=NOON)
    assert world.run(get(Customer.key("al"))) == made
    assert world.run(get(CustomerEmail.key("a@b.c"))) == CustomerEmail(
        email="a@b.c", username="al", created_at=NOON
    )


def test_what_is_taken_raises_the_error_named_for_it(world: World) -> None:
    world.run(create(Customer(username="al", email="a@b.c")))
    with pytest.raises(EmailTaken):
        world.run(create(Customer(username="bo", email="A@B.C")))
    with pytest.raises(UsernameTaken):
        world.run(create(Customer(username="al", email="x@y.z"), unless_exists=UsernameTaken))
    with pytest.raises(UsernameTaken):
        world.run(create(Customer(username="al", email="a@b.c"), unless_exists=UsernameTaken))
    assert emails(world) == {"a@b.c": "al"}
    assert world.run(get(Customer.key("bo"))) is None


def test_none_is_nobody_s(world: World) -> None:
    world.run(create(Customer(username="al")))
    world.run(create(Customer(username="bo")))
    assert world.operations() == ["PutItem", "PutItem"]
    assert emails(world) == {}


def test_a_change_moves_the_marker(world: World) -> None:
    made = world.run(create(Customer(username="al", email="a@b.c")))
    world.operations()
    told = world.run(update(made, email="X@y.z", city="Omaha"))
    assert world.operations() == ["TransactWriteItems", "GetItem"]
    assert (told.email, told.city) == ("x@y.z", "Omaha")
    assert emails(world) == {"x@y.z": "al"}
    world.run(update(told, email=None))
    assert emails(world) == {}
    world.run(update(Customer.key("al"), email="a@b.c"))
    assert emails(world) == {"a@b.c": "al"}
    check_indexes(world, SHOP)


def test_a_change_by_key_reads_first(world: World) -> None:
    world.run(create(Customer(username="al", email="a@b.c")))
    world.operations()
    world.run(update(Customer.key("al"), email="x@y.z"))
    assert world.operations() == ["GetItem", "TransactWriteItems", "GetItem"]
    with pytest.raises(DesignError, match="has to read email first"):
        world.run(transact(update(Customer.key("al"), email="a@b.c")))


def test_what_does_not_touch_it_costs_nothing(world: World) -> None:
    made = world.run(create(Customer(username="al", email="a@b.c")))
    world.operations()
    world.run(update(Customer.key("al"), city="Omaha"))
    world.run(update(made, city="Paris"))
    assert world.operations() == ["UpdateItem", "UpdateItem"]


def test_a_change_to_what_is_taken_is_refused(world: World) -> None:
    world.run(create(Customer(username="al", email="a@b.c")))
    bo = world.run(create(Customer(username="bo", email="b@b.c")))
    with pytest.raises(EmailTaken):
        world.run(update(bo, email="a@b.c"))
    with pytest.raises(EmailTaken):
        world.run(update(bo.own_key(), email="a@b.c"))
    assert emails(world) == {"a@b.c": "al", "b@b.c": "bo"}


def test_deleting_frees_the_value(world: World) -> None:
    made = world.run(create(Customer(username="al", email="a@b.c")))
    world.operations()
    assert world.run(delete(Customer.key("al"))) == made
    assert world.operations() == ["GetItem", "TransactWriteItems"]
    assert world.items(SHOP) == []
    world.run(create(Customer(username="bo", email="a@b.c")))
    assert world.run(delete(Customer.key("al"))) is None
    with pytest.raises(ItemMissing):
        world.run(delete(Customer.key("al"), if_exists=True))
    assert emails(world) == {"a@b.c": "bo"}


def test_an_owner_that_changed_meanwhile_is_not_overwritten(world: World) -> None:
    al = world.run(create(Customer(username="al", email="a@b.c")))
    world.run(update(al, email="b@b.c"))
    for stale in (
        update(al, email="c@b.c"),
        update(al, email="a@b.c"),
        delete(al),
        transact(delete(al)),
    ):
        with pytest.raises(Conflict):
            world.run(stale)
    assert emails(world) == {"b@b.c": "al"}


def test_a_race_is_run_again(world: World) -> None:
    al = world.run(create(Customer(username="al", email="a@b.c")))
    world.meanwhile("TransactWriteItems", update(al, email="b@b.c"))
    world.run(update(al.own_key(), email="c@b.c"))
    assert emails(world) == {"c@b.c": "al"}
    world.meanwhile("TransactWriteItems", update(al.own_key(), email="d@b.c"))
    world.run(delete(al.own_key()))
    assert world.items(SHOP) == []


def test_it_holds_inside_other_transactions(world: World) -> None:
    al, bo = Customer(username="al", email="a@b.c"), Customer(username="bo", email="b@b.c")
    made = world.run(transact(create(al), create(bo)))
    assert [each.username for each in made] == ["al", "bo"]
    assert emails(world) == {"a@b.c": "al", "b@b.c": "bo"}
    with pytest.raises(EmailTaken):
        world.run(
            transact(
                create(Customer(username="cy", email="c@b.c")),
                create(Customer(username="di", email="a@b.c")),
            )
        )
    assert len(world.items(SHOP)) == 4


def test_finding_the_owner_of_a_value(world: World) -> None:
    made = world.run(create(Customer(username="al", email="a@b.c")))
    assert world.run(EMAILS.find("A@b.C")) == made
    assert world.run(EMAILS.find("x@y.z")) is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: put(Customer(username="al")), "may write over one of which nothing is known"),
        (lambda: replace(Customer(username="al")), "may write over one of which nothing is known"),
        (lambda: update(Customer.key("al"), upsert=True, city="x"), "an upsert does not know"),
        (
            lambda: create(CustomerEmail(email="a@b.c", username="al")),
            "CustomerEmail is kept by the unique Customer.email; write that",
        ),
        (lambda: delete(CustomerEmail.key("a@b.c")), "CustomerEmail is kept by"),
        (lambda: update(CustomerEmail.key("a@b.c"), username="bo"), "CustomerEmail is kept by"),
    ],
)
def test_what_would_break_it_is_refused(
    world: World, make: Callable[[], Op[Any]], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        world.run(make())
    assert words in str(caught.value)
    assert world.items(SHOP) == []


def test_a_marker_of_somebody_else_is_not_deleted(world: World) -> None:
    al = world.run(create(Customer(username="al", email="a@b.c")))
    marker = CustomerEmail.layout.to_item(CustomerEmail(email="a@b.c", username="bo"))
    world.put(SHOP, marker)
    with pytest.raises(BrokenInvariant):
        world.run(delete(al))


# Declarations

PEOPLE = Table("People", "PK")


class Person(Entity, table=PEOPLE):
    keys = Keys(main="PERSON#{tenant}#{name}")
    tenant: str
    name: str
    email: str
    badge: int


class ByBadge(Entity, table=PEOPLE):
    keys = Keys(main="BADGE#{tenant}#{badge}")
    tenant: str
    badge: int
    name: str


class Nameless(Entity, table=PEOPLE):
    keys = Keys(main="NAMELESS#{email}")
    email: str


class Demanding(Entity, table=PEOPLE):
    keys = Keys(main="DEMANDING#{email}")
    email: str
    tenant: str
    name: str
    colour: str


class Lowered(Entity, table=PEOPLE):
    keys = Keys(main="LOWERED#{email}")
    email: Annotated[str, AfterValidator(str.lower)]
    tenant: str
    name: str


@pytest.mark.parametrize(
    ("names", "marker", "words"),
    [
        (("email",), Lowered, "Lowered.email and Person.email are of different types"),
        (("phone",), ByBadge, "Person has no field 'phone'"),
        (("badge",), ByBadge, "must be made of these fields, and is made of tenant, badge"),
        ((), ByBadge, "must be made of these fields"),
        (("email",), Nameless, "it lacks name, tenant, and has none"),
        (("email",), Demanding, "it lacks none, and has colour"),
    ],
)
def test_a_marker_that_cannot_work_is_refused(
    names: tuple[str, ...], marker: type[Entity], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        unique(Person, *names, marker=marker)
    assert words in str(caught.value)


def test_a_value_may_be_several_fields(engine: Engine) -> None:
    badges = unique(Person, "tenant", "badge", marker=ByBadge)
    world = World(engine, PEOPLE)
    ann = Person(tenant="t", name="ann", email="a", badge=1)
    world.run(create(ann))
    world.run(create(Person(tenant="u", name="bob", email="a", badge=1)))
    with pytest.raises(ItemExists):
        world.run(create(Person(tenant="t", name="bob", email="a", badge=1)))
    assert world.run(badges.find("t", 1)) == ann
    with pytest.raises(DesignError, match=r"is kept by the unique Person\.tenant, badge already"):
        unique(Person, "tenant", "badge", marker=ByBadge)


def test_a_marker_may_be_checked(world: World) -> None:
    world.run(create(Customer(username="al", email="a@b.c")))
    free = check(CustomerEmail.key("a@b.c"), unless_exists=EmailTaken)
    with pytest.raises(EmailTaken):
        world.run(transact(free, create(Customer(username="bo"))))


# Any sequence

NAMES = st.sampled_from(["al", "bo", "cy"])
ADDRESSES = st.sampled_from([None, "a@x", "b@x"])
Writing = Callable[[World], Any]


def of_seen(name: str, email: str | None) -> Writing:
    def write(world: World) -> Any:
        seen = world.run(get(Customer.key(name)))
        return seen and world.run(update(seen, email=email))

    return write


writings = st.one_of(
    st.builds(
        lambda name, email: lambda world: world.run(create(Customer(username=name, email=email))),
        NAMES,
        ADDRESSES,
    ),
    st.builds(
        lambda name, email: lambda world: world.run(update(Customer.key(name), email=email)),
        NAMES,
        ADDRESSES | st.just(Remove()),
    ),
    st.builds(of_seen, NAMES, ADDRESSES),
    NAMES.map(lambda name: lambda world: world.run(delete(Customer.key(name)))),
)


@given(st.lists(writings, max_size=12))
def test_values_and_markers_agree_after_any_sequence(steps: list[Writing]) -> None:
    with Engine.memory() as engine:
        world = World(engine, SHOP)
        for step in steps:
            with suppress(EmailTaken, ItemExists, ItemMissing):
                step(world)
        customers = world.run(scan_all(Customer))
        owned = {customer.email: customer.username for customer in customers if customer.email}
        assert emails(world) == owned
        assert world.run(verify(SYSTEM)) == []
