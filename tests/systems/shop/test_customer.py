"""Customers, wherever the store stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import CursorError, Cursors, get, scan_all, setup
from bigtime.store import Store, open_store
from bigtime.systems.shop import SYSTEM
from bigtime.systems.shop.customer import (
    create_customer,
    remove_address,
    save_address,
    view_customer,
)
from bigtime.systems.shop.design import (
    EMAILS,
    Customer,
    CustomerEmail,
    EmailTaken,
    Order,
    TooManyAddresses,
    UnknownAddress,
    UnknownCustomer,
    UsernameTaken,
)
from bigtime.systems.shop.order import save_order
from tests.store.places import Place
from tests.systems.cart.contents import assert_unchanged, check_sound
from tests.systems.cart.racing import in_processes, in_threads
from tests.systems.shop.shopping import HOME, items, order_id, place_orders, signed_up


def test_username_and_email_are_both_unique(place: Place) -> None:
    made = place.run(create_customer("Alex", "Alex@Example.com", "Alex"))
    with assert_unchanged(place, SYSTEM):
        with pytest.raises(UsernameTaken):
            place.run(create_customer("ALEX", "other@example.com", "Another"))
        with pytest.raises(EmailTaken):
            place.run(create_customer("bo", "ALEX@example.com", "Bo"))
    assert place.run(EMAILS.find("alex@example.com")) == made
    check_sound(place, SYSTEM)


def test_an_address_is_made_and_changed_in_place(place: Place) -> None:
    signed_up(place)
    place.run(save_address("alex", "home", HOME))
    moved = HOME.model_copy(update={"street": "2 Main St"})
    place.run(save_address("alex", "home", moved))
    customer = place.run(save_address("alex", "work, 2nd [floor].left", HOME))
    assert customer.addresses == {"home": moved, "work, 2nd [floor].left": HOME}
    assert place.run(remove_address("alex", "home")).addresses.keys() == {"work, 2nd [floor].left"}


def test_an_address_of_nobody_leaves_no_ghost(place: Place) -> None:
    with assert_unchanged(place, SYSTEM):
        with pytest.raises(UnknownCustomer):
            place.run(save_address("nobody", "home", HOME))
        with pytest.raises(UnknownCustomer):
            place.run(remove_address("nobody", "home"))


def test_the_twenty_first_address_is_refused_and_the_twentieth_can_change(alone: Place) -> None:
    signed_up(alone)
    for number in range(20):
        alone.run(save_address("alex", f"place {number}", HOME))
    with assert_unchanged(alone, SYSTEM), pytest.raises(TooManyAddresses):
        alone.run(save_address("alex", "place 20", HOME))
    alone.run(save_address("alex", "place 19", HOME.model_copy(update={"city": "Ord"})))
    alone.run(remove_address("alex", "place 0"))
    assert len(alone.run(save_address("alex", "place 20", HOME)).addresses) == 20


def test_removing_an_address_that_is_not_there_is_an_error(alone: Place) -> None:
    signed_up(alone)
    with assert_unchanged(alone, SYSTEM), pytest.raises(UnknownAddress):
        alone.run(remove_address("alex", "home"))


def test_the_customer_comes_with_the_ten_newest_orders_in_one_query(place: Place) -> None:
    customer = signed_up(place)
    orders = place_orders(place, 12)
    place.exchanges.clear()
    seen = place.run(view_customer("alex"))
    assert seen.customer == customer
    assert seen.orders.items == orders[:10]
    answered = [exchange for exchange in place.exchanges if exchange.error is None]
    assert [each.request.params["Limit"] for each in answered] == [12]  # one tells of a next page
    later = place.run(view_customer("alex", after=seen.orders.position))
    assert (later.customer, later.orders.items) == (None, orders[10:])
    assert place.exchanges[-1].request.params["Limit"] == 11


def test_a_customer_without_orders_is_seen_and_nobody_is_not(place: Place) -> None:
    customer = signed_up(place)
    seen = place.run(view_customer("ALEX", consistent=True))
    assert (seen.customer, seen.orders.items) == (customer, [])
    with pytest.raises(UnknownCustomer):
        place.run(view_customer("bo"))


def test_a_cursor_that_was_touched_or_is_another_customer_s_is_refused(alone: Place) -> None:
    """Deciding test 11 (T23)."""
    cursors = Cursors(["sixteen bytes, or some more"])
    signed_up(alone)
    signed_up(alone, "bo")
    place_orders(alone, 3)
    cursor = cursors.write(alone.run(view_customer("alex", limit=2)).orders.position)
    assert cursor is not None
    with pytest.raises(CursorError):
        cursors.read(cursor[:-1] + ("A" if cursor[-1] != "A" else "B"))
    with pytest.raises(CursorError):
        alone.run(view_customer("bo", after=cursors.read(cursor)))


@given(
    numbers=st.lists(st.integers(0, 200), unique=True, max_size=12),
    limit=st.integers(1, 5),
)
def test_pages_of_orders_join_up_to_all_of_them_newest_first(
    numbers: list[int], limit: int
) -> None:
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        store.run(create_customer("alex", "alex@example.com", "Alex"))
        saved = [store.run(save_order("alex", order_id(number), items(1))) for number in numbers]
        found: list[Order] = []
        position = None
        while True:
            page = store.run(view_customer("alex", limit=limit, after=position))
            assert len(page.orders) <= limit
            found += page.orders
            position = page.orders.position
            if position is None:
                break
    assert found == sorted(saved, key=lambda one: one.order_id, reverse=True)


def test_of_threads_that_want_one_email_one_gets_it(alone: Place) -> None:
    racers = [
        lambda name=name: alone.run(create_customer(name, "one@example.com", "A")).username
        for name in ("al", "bo", "cy", "di")
    ]
    told = in_threads(racers)
    assert told.count("email-taken") == 3
    assert len(alone.run(scan_all(Customer))) == len(alone.run(scan_all(CustomerEmail))) == 1
    check_sound(alone, SYSTEM)


def test_of_processes_that_want_one_email_one_gets_it(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    racer = "tests.systems.shop.racers:sign_up"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        told = in_processes(file, [(racer, name, "one@example.com") for name in ("al", "bo", "cy")])
        owner = store.run(EMAILS.find("one@example.com"))
        assert owner is not None
        assert sorted(told) == sorted([owner.username, "email-taken", "email-taken"])
        assert [store.run(get(Customer.key(name))) for name in ("al", "bo", "cy")].count(None) == 2
