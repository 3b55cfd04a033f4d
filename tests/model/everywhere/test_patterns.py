"""Patterns: a whole system's, run from end to end, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from bigtime.advisor import explain, measure
from bigtime.advisor.charges import Charge
from bigtime.model import Entity, create, get, now, put_many, random_bytes, scan_all, together
from bigtime.model.operations.op import Runnable
from bigtime.wire import Steps
from tests.model import deals
from tests.model.deals import Brand, BrandLike, BrandWatch, Deal, Message, User
from tests.model.designs import ksuid
from tests.model.everywhere.scenario import everywhere, refusal
from tests.store.places import START


def a_deal(n: int) -> Deal:
    at = START - timedelta(days=n // 3, seconds=n)
    return Deal(
        deal_id=ksuid(at, n), title=f"deal {n}", price=Decimal(n), brand="APPLE", created_at=at
    )


@everywhere(deals.SYSTEM)
def test_a_system_from_end_to_end() -> Steps[object]:
    yield from create(Brand(brand="APPLE", logo=b"\x00\xff"))
    for n in range(9):
        yield from deals.create_deal(a_deal(n))
    assert (yield from deals.fetch_deal(a_deal(4).deal_id)) == a_deal(4)
    brand, page = yield from deals.fetch_brand("APPLE")
    assert page.items == [a_deal(n) for n in range(9)]
    assert (yield from refusal(deals.fetch_brand("PEAR"))) == "unknown-brand"
    yield from deals.like_brand("APPLE", "al")
    yield from put_many(User(username=f"u{n}") for n in range(12))
    assert (yield from deals.send_to_all(a_deal(0).deal_id)) == 12
    (message,) = yield from deals.unread_messages("u3")
    read = yield from deals.mark_as_read("u3", message.message_id)
    assert read.unread_by is None
    assert (yield from deals.unread_messages("u3")) == []
    assert len((yield from scan_all(Message))) == 12
    yield from put_many(BrandWatch(brand="APPLE", username=f"u{n}") for n in range(12))
    assert (yield from deals.forget_watchers("APPLE")) == 12
    assert (yield from deals.forget_watchers("APPLE")) == 0
    return brand, page.items, message, (yield from get(Brand.key("APPLE")))


@everywhere(deals.SYSTEM)
def test_what_runs_together_comes_back_in_order() -> Steps[object]:
    likes = [BrandLike(brand="APPLE", username=f"u{n}") for n in range(20)]
    made = yield from together(*(create(like) for like in likes))
    assert list(made) == likes
    found = yield from together(*(get(like.own_key()) for like in likes))
    assert list(found) == likes
    moment, drawn, nothing = yield from together(now(), random_bytes(4), get(Brand.key("PEAR")))
    assert (moment, len(drawn), nothing) == (START, 4, None)
    return found


@everywhere(deals.SYSTEM, moto_differs="the units that it reports do not go by the size of an item")
def test_what_a_pattern_costs_is_what_was_explained() -> Steps[object]:
    there: list[Entity] = [
        Brand(brand="APPLE", logo=b"x" * 5_000),
        *(a_deal(n) for n in range(7)),
        *(
            Message(username="al", message_id=ksuid(START, n), subject="Hi", unread_by="al")
            for n in range(40)
        ),
    ]
    yield from put_many(there)
    asked: list[Callable[[], Runnable[Any]]] = [
        lambda: get(Brand.key("APPLE"), consistent=True),
        lambda: deals.fetch_deal(a_deal(1).deal_id),
        lambda: deals.unread_messages("al"),
        lambda: deals.mark_as_read("al", ksuid(START, 1)),
        lambda: deals.like_brand("APPLE", "al"),
    ]
    charges: list[set[Charge]] = []
    for pattern in asked:
        estimate = explain(pattern(), holding=there, tables=deals.SYSTEM.tables)
        measured = yield from measure(pattern())
        assert len(estimate.requests) == measured.requests
        # Of a query of an index, the table is reported too, with nothing.
        charged = {charge for charge in measured.charges if charge.read_units or charge.write_units}
        assert set(estimate.charges) == charged
        charges.append(charged)
    return charges
