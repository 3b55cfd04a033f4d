"""A record is changed from what was seen of it, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import get_campaign, update_campaign
from bigtime.systems.portal.design import Product, Record
from bigtime.systems.portal.errors import RecordMoved
from bigtime.systems.portal.products import get_product, update_product
from bigtime.systems.portal.records import mark_of
from bigtime.systems.portal.tenants import (
    get_tenant,
    list_deleted_tenants,
    soft_delete_tenant,
    update_tenant,
)
from bigtime.systems.portal.values import BillingCycle
from tests.store.places import START, Place
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_campaign, new_product, new_tenant

Change = Callable[[str, str | None], Any]


def kinds(place: Place) -> list[tuple[Record, Change, Callable[[], Any]]]:
    """A record of each kind, how it is changed, and how it is read."""
    product, tenant = new_product(place), new_tenant(place)
    campaign = new_campaign(place, product.id)

    def of_product(text: str, seen: str | None) -> Any:
        return update_product(product.id, {"name": text}, by=ADMIN, seen=seen)

    def of_tenant(text: str, seen: str | None) -> Any:
        return update_tenant(tenant.id, {"organization_name": text}, by=ADMIN, seen=seen)

    def of_campaign(text: str, seen: str | None) -> Any:
        return update_campaign(campaign.code, {"description": text}, by=ADMIN, seen=seen)

    return [
        (product, of_product, lambda: place.run(get_product(product.id))),
        (tenant, of_tenant, lambda: place.run(get_tenant(tenant.id))),
        (campaign, of_campaign, lambda: place.run(get_campaign(campaign.code)).campaign),
    ]


def test_a_change_of_what_was_seen_goes_through(place: Place) -> None:
    for record, change, read in kinds(place):
        changed = place.run(change("One", mark_of(record)))
        assert read() == changed
        assert place.run(change("Two", mark_of(changed))) == read()
    assert place.run(verify(SYSTEM)) == []


def test_a_change_of_what_was_changed_meanwhile_changes_nothing(place: Place) -> None:
    for record, change, read in kinds(place):
        place.run(change("One", None))
        before = read()
        for seen in (mark_of(record), "", "x"):
            with pytest.raises(RecordMoved):
                place.run(change("Two", seen))
        assert read() == before


@given(
    st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20), max_size=5)
)
def test_a_mark_is_of_all_that_a_record_is(features: list[str]) -> None:
    first, second = product_with(features), product_with([*features, "more"])
    assert mark_of(first) == mark_of(product_with(list(features)))
    assert mark_of(first) != mark_of(second)


def product_with(features: list[str]) -> Product:
    return Product(
        id=NO_PRODUCT,
        date_created=START,
        date_last_updated=START,
        last_updated_by=ADMIN,
        name="Plan",
        description="A plan",
        price=Decimal("299.99"),
        billing_cycle=BillingCycle.MONTHLY,
        features=features,
    )


def test_deleted_tenants_are_listed_by_when_they_came(alone: Place) -> None:
    ids = []
    for number in range(3):
        tenant = new_tenant(alone, f"t{number}@example.com")
        alone.run(soft_delete_tenant(tenant.id, by=ADMIN))
        ids.append(tenant.id)
        alone.time.now += timedelta(days=1)
    day = timedelta(days=1)
    found = alone.run(list_deleted_tenants(created_from=START + day, created_to=START + day))
    assert [each.id for each in found] == [ids[1]]
    assert [tenant.id for tenant in alone.run(list_deleted_tenants(created_from=START + day))] == [
        ids[2],
        ids[1],
    ]
