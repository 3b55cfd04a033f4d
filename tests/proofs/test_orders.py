"""The audit of orders: it accepts what was promised, and finds whatever else there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs.orders import Kept, Promised, order_faults

LINES = {"lamp": 2, "kettle": 1}


def make_promise(**known: object) -> Promised:
    return replace(Promised("liz", orders={"1": LINES}), **known)  # type: ignore[arg-type]


def make_kept(*orders: tuple[str, dict[str, int]], cart: dict[str, int] | None = None) -> Kept:
    """A store in which every order is whole."""
    return Kept(list(orders), dict(orders), {each for each, _ in orders}, cart or {})


WHOLE = make_kept(("1", LINES))


def test_an_order_that_is_whole_is_fine() -> None:
    assert order_faults(make_promise(), WHOLE) == []
    assert order_faults(Promised("liz"), make_kept()) == []


@pytest.mark.parametrize(
    "found",
    [
        make_kept(),
        make_kept(("1", LINES), ("1", LINES)),
        make_kept(("1", {"lamp": 2})),
        make_kept(("1", {"lamp": 1, "kettle": 1})),
        make_kept(("1", LINES), ("2", {"lamp": 1})),
        make_kept(("1", LINES), cart={"lamp": 2}),
        replace(WHOLE, bought={}),
        replace(WHOLE, bought={"1": {"lamp": 2}}),
        replace(WHOLE, bought={"1": LINES, "2": {"lamp": 1}}),
        replace(WHOLE, letters=set()),
    ],
    ids=[
        "lost",
        "twice",
        "an item lost",
        "a count changed",
        "one too many",
        "still in the cart",
        "not bought",
        "half bought",
        "bought without an order",
        "no letter",
    ],
)
def test_whatever_is_lost_doubled_or_half_done_is_found(found: Kept) -> None:
    assert order_faults(make_promise(), found)


def test_a_checkout_that_got_no_answer_is_done_or_not() -> None:
    sent = make_promise(sent={"radio": 1}, cart={"radio": 1})
    assert order_faults(sent, make_kept(("1", LINES), cart={"radio": 1})) == []
    assert order_faults(sent, make_kept(("1", LINES), ("2", {"radio": 1}))) == []


@pytest.mark.parametrize(
    "found",
    [
        make_kept(("1", LINES)),
        make_kept(("1", LINES), ("2", {"radio": 1}), cart={"radio": 1}),
        make_kept(("1", LINES), ("2", {"radio": 2})),
        make_kept(("1", LINES), ("2", {"radio": 1}), ("3", {"radio": 1})),
    ],
    ids=["neither", "both", "another", "twice"],
)
def test_a_checkout_that_got_no_answer_is_not_half_done(found: Kept) -> None:
    assert order_faults(make_promise(sent={"radio": 1}, cart={"radio": 1}), found)


def test_a_product_that_was_being_put_may_be_in_the_cart_or_not() -> None:
    putting = make_promise(cart={"radio": 1}, putting="lamp")
    for cart in ({"radio": 1}, {"radio": 1, "lamp": 1}):
        assert order_faults(putting, make_kept(("1", LINES), cart=cart)) == []
    for cart in ({}, {"lamp": 1}, {"radio": 1, "lamp": 2}):
        assert order_faults(putting, make_kept(("1", LINES), cart=cart))
