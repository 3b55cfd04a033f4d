"""The demo data: what one system has follows from what another has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice
from random import Random

import pytest

from bigtime.engine import Engine
from bigtime.model import load_many, setup, verify
from bigtime.site.demo import ADDRESSES, copies_elsewhere, load_demo, wants_demo
from bigtime.site.design import DEMO_DATA
from bigtime.site.order_queue import view_order_queue
from bigtime.site.priced_cart import view_cart
from bigtime.site.systems import SITE, SYSTEMS
from bigtime.store import Exchange, Store
from bigtime.systems import deals
from bigtime.systems.accounts.account import ROLES, demo_accounts
from bigtime.systems.catalog import get_user_activities
from bigtime.systems.catalog.design import TrendingDeal
from bigtime.systems.deals import (
    count_unread_messages,
    fetch_all_brands,
    fetch_brand_interests,
    view_messages,
)
from bigtime.systems.shop.customer import view_customer
from bigtime.systems.shop.design import OrderStatus
from bigtime.wire import Request
from tests.web.conftest import old_deal

NOW = datetime(2026, 11, 15, tzinfo=UTC)


class Always(Random):
    """Draws what makes a deal trend."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return 0


def test_a_deal_that_costs_next_to_nothing_is_below_a_hundred_percent_off() -> None:
    deal = old_deal(NOW, 0).model_copy(
        update={"price": Decimal("0.01"), "list_price": Decimal("999.99")}
    )
    _, place = copies_elsewhere(deal, NOW, Always())
    assert isinstance(place, TrendingDeal)
    assert place.discount_percentage == Decimal("99.99")


class Cut(Exception):
    """The process was killed."""


@pytest.fixture
def store() -> Iterator[Store]:
    with Engine.memory() as engine:
        store = Store(engine)
        store.run(setup(*SYSTEMS))
        yield store


def count_items(store: Store) -> dict[str, int]:
    """How many items each table has."""
    tables = store.send(Request("ListTables", {}))["TableNames"]
    return {
        name: store.send(Request("Scan", {"TableName": name, "Select": "COUNT"}))["Count"]
        for name in tables
    }


def test_a_load_that_was_cut_short_is_done_again(store: Store) -> None:
    chunks = 0

    def cut(exchange: Exchange) -> None:
        nonlocal chunks
        chunks += exchange.request.operation == "BatchWriteItem"
        if chunks > 30:
            raise Cut

    assert wants_demo(store)
    with pytest.raises(Cut):
        load_demo(Store(store.transport, hooks=[cut]), until=NOW)
    assert wants_demo(store)

    load_demo(store, until=NOW + timedelta(days=1))
    assert not wants_demo(store)
    assert store.run(DEMO_DATA.get()).until == NOW
    again = count_items(store)
    load_demo(store, until=NOW)
    assert count_items(store) == again


def test_nothing_is_loaded_where_somebody_is(store: Store) -> None:
    store.run(load_many(islice(demo_accounts(dict.fromkeys(ROLES, "x" * 12), Random(1)), 1)))
    assert not wants_demo(store)


def test_carts_are_the_shoppers_and_orders_of_deals(store: Store) -> None:
    load_demo(store, until=NOW)
    cart = store.run(view_cart("shopper"))
    assert len(cart.lines) == 3 and len(cart.saved) == 1
    assert all(line.deal for line in (*cart.lines, *cart.saved))
    assert len(store.run(view_customer("shopper")).orders) == 2
    carts = store.send(Request("Scan", {"TableName": "CartTable"}))["Items"]
    customers = store.send(Request("Scan", {"TableName": "EcommerceTable"}))["Items"]
    assert {item["AccountID"]["S"] for item in carts} == {"shopper"}
    names = {"shopper", *(facts[0] for facts in ADDRESSES)}
    assert {item["PK"]["S"] for item in customers if "CUSTOMER#" in item["PK"]["S"]} == {
        f"CUSTOMER#{name}" for name in names
    }


def test_the_queue_has_orders_in_each_status_and_agrees_with_the_shop(store: Store) -> None:
    load_demo(store, until=NOW)
    for status in OrderStatus:
        assert len(store.run(view_order_queue(status))) >= 2
    assert store.run(verify(SITE)) == []


def test_the_shopper_has_likes_watches_messages_and_activities(store: Store) -> None:
    load_demo(store, until=NOW)
    brands = [*store.run(fetch_all_brands())]
    interests = store.run(fetch_brand_interests(brands, "shopper"))
    assert sum(interest.liked for interest in interests.values()) == 3
    assert sum(interest.watched for interest in interests.values()) == 3
    assert store.run(count_unread_messages("shopper")) == 5
    assert len(store.run(view_messages("shopper"))) > 5
    assert len(store.run(get_user_activities("shopper"))) == 11
    assert store.run(verify(deals.SYSTEM)) == []


def test_the_demo_names_no_real_company(store: Store) -> None:
    load_demo(store, until=NOW)
    tables = store.send(Request("ListTables", {}))["TableNames"]
    text = str([store.send(Request("Scan", {"TableName": name}))["Items"] for name in tables])
    hosts = {*re.findall(r"(?:https?://|@)([\w.-]+)", text)}
    assert hosts
    assert [host for host in hosts if not host.endswith((".example", "example.com"))] == []
    assert re.findall(r"(?i)\b(?:apple|sony|asus|payfast|ozow|teraco)\b", text) == []
