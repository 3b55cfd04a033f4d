"""Demo data: as many as told, the same for the same seed, with chains and markers that hold."""

from __future__ import annotations

from random import Random
from typing import Any

from bigtime.model import Scale, load_many, verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import (
    UNAVAILABLE,
    list_campaigns,
    list_deleted_campaigns,
    list_expired_campaigns,
    list_upcoming_campaigns,
)
from bigtime.systems.portal.demo import CUSTOMERS, count, entities
from bigtime.systems.portal.design import Campaign, EmailMarker, Order, Tenant
from bigtime.systems.portal.products import count_products, list_products, update_product
from bigtime.systems.portal.records import Counts
from bigtime.systems.portal.tenants import count_tenants, count_tenants_by_status
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import ADMIN


def load_demo(place: Place) -> None:
    place.run(load_many(entities(Scale.SMALL, Random(7))))


def test_everything_in_it_holds(place: Place) -> None:
    load_demo(place)
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_there_is_something_of_everything(alone: Place) -> None:
    load_demo(alone)
    assert alone.run(count_tenants()) == Counts(active=36, inactive=4)
    assert all(alone.run(count_tenants_by_status()).values())
    assert alone.run(count_products()) == Counts(active=10, inactive=1)
    running = alone.run(list_campaigns(valid_only=True)).items
    codes = [each.campaign.code for each in running]
    assert codes == ["STARTUP_ZA", "SWITCH2US", "COZA_PLUS", "SUMMER2025"]
    assert str(running[-1].discounted_price) == "239.99"
    assert all(each.discounted_price for each in running)
    for some in (list_upcoming_campaigns, list_expired_campaigns, list_deleted_campaigns):
        assert len(alone.run(some())) >= 2
    withdrawn = alone.run(list_deleted_campaigns()).items
    assert UNAVAILABLE in {each.product_name for each in withdrawn}
    prices = [product.price for product in alone.run(list_products())]
    assert min(prices) < 50 and max(prices) > 2000


def test_it_can_be_worked_with(alone: Place) -> None:
    load_demo(alone)
    product = alone.run(list_products()).items[0]
    alone.run(update_product(product.id, {"price": "95.00"}, by=ADMIN))
    assert alone.run(verify_audit()) == []


def test_orders_have_campaigns_that_held_on_their_day() -> None:
    made = [*entities(Scale.SMALL, Random(3))]
    campaigns = {each.code: each for each in made if isinstance(each, Campaign)}
    orders = [each for each in made if isinstance(each, Order)]
    assert {len(order.items) for order in orders} == {1, 2}
    with_one = [order for order in orders if order.campaign]
    assert 0 < len(with_one) < len(orders)
    for order in with_one:
        assert order.campaign is not None
        campaign = campaigns[order.campaign.code]
        assert campaign.from_date <= order.date_created.date() <= campaign.to_date
    assert all(
        order.total == sum(i.quantity * i.unit_price for i in order.items) for order in orders
    )


def test_the_same_seed_makes_the_same_data() -> None:
    def make_items(seed: int) -> list[Any]:
        return [entity.layout.to_item(entity) for entity in entities(Scale.SMALL, Random(seed))]

    assert make_items(1) == make_items(1) != make_items(2)


def test_small_is_as_many_as_told() -> None:
    assert len([*entities(Scale.SMALL, Random(1))]) == count(Scale.SMALL)


def test_medium_is_two_thousand_tenants_each_with_an_address_of_its_own() -> None:
    made = [*entities(Scale.MEDIUM, Random(1))]
    tenants = [each for each in made if isinstance(each, Tenant)]
    addresses = {each.address for each in made if isinstance(each, EmailMarker)}
    assert len(made) == count(Scale.MEDIUM)
    assert len(tenants) == len(addresses) == CUSTOMERS[Scale.MEDIUM] == 2_000
    assert {tenant.status for tenant in tenants} == {*Status}


def test_large_is_fifty_thousand_tenants() -> None:
    assert CUSTOMERS[Scale.LARGE] == 50_000
    assert count(Scale.LARGE) - count(Scale.MEDIUM) == 24 * (count(Scale.MEDIUM) - 61)
