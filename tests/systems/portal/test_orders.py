"""Orders: made of copies, for those who may order, of what may be ordered."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import soft_delete_campaign, update_campaign
from bigtime.systems.portal.design import Action, Audited
from bigtime.systems.portal.errors import (
    CampaignElsewhere,
    CampaignNotValid,
    IdTaken,
    ProductUnavailable,
    TenantDeleted,
    TenantSuspended,
    UnknownCampaign,
    UnknownOrder,
    UnknownProduct,
    UnknownTenant,
)
from bigtime.systems.portal.orders import get_order, list_orders, make_order_id, place_order
from bigtime.systems.portal.products import soft_delete_product, update_product
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import soft_delete_tenant
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    NO_ORDER,
    NO_PRODUCT,
    NOBODY,
    contents,
    new_campaign,
    new_product,
    new_tenant,
    registered_tenant,
    stored_item,
    validated_tenant,
)


def test_an_order_holds_copies_of_prices_and_campaign(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    mail = new_product(place, name="Business Mail", price="49.00")
    campaign = new_campaign(place, product.id)

    order = place.run(place_order(tenant.id, {product.id: 2, mail.id: 3}, "summer2026"))
    place.run(update_product(product.id, {"price": "1.00", "name": "Cheap"}, by=ADMIN))
    place.run(update_campaign("SUMMER2026", {"discount_percentage": 50}, by=ADMIN))
    place.run(soft_delete_campaign("SUMMER2026", by=ADMIN))

    assert place.run(get_order(tenant.id, order.id)) == order
    assert [(item.product_name, item.quantity, item.unit_price) for item in order.items] == [
        (product.name, 2, Decimal("239.99")),
        ("Business Mail", 3, Decimal("49.00")),
    ]
    assert order.total == Decimal("626.98")
    kept = order.campaign
    assert kept is not None
    assert (kept.discount_percentage, kept.is_valid, kept.active) == (Decimal(20), True, True)
    assert (kept.original_price, kept.discounted_price) == (Decimal("299.99"), Decimal("239.99"))
    assert kept.model_dump(include={*type(campaign).model_fields}) == campaign.model_dump()
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_an_order_has_the_five_fields_and_an_entry_in_the_log(alone: Place) -> None:
    tenant, product = new_tenant(alone), new_product(alone)
    order = alone.run(place_order(tenant.id, {product.id: 1}))

    item = stored_item(alone, "orders", f"TENANT#{tenant.id}", f"ORDER#{order.id}")

    assert item is not None
    assert {name: item[name] for name in ("id", "dateCreated", "dateLastUpdated", "active")} == {
        "id": {"S": order.id},
        "dateCreated": {"S": "2026-11-15T12:00:00Z"},
        "dateLastUpdated": {"S": "2026-11-15T12:00:00Z"},
        "active": {"BOOL": True},
    }
    assert item["lastUpdatedBy"] == {"S": tenant.id}
    assert item["items"]["L"][0]["M"].keys() == {
        "productId",
        "productName",
        "quantity",
        "unitPrice",
        "billingCycle",
    }
    assert "campaign" not in item
    (entry,) = alone.run(audit_log(Audited.ORDERS, order.id))
    assert (entry.action, entry.actor) == (Action.CREATED, tenant.id)


def test_orders_made_before_registering_are_the_tenants_too(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    first = place.run(place_order(tenant.id, {product.id: 1}))
    place.time.now += timedelta(days=1)
    account = registered_tenant(place)
    second = place.run(place_order(account.id, {product.id: 2}))
    stranger = validated_tenant(place, "stranger@example.com")

    assert account.id == tenant.id
    assert place.run(list_orders(account.id)).items == [second, first]
    assert place.run(list_orders(stranger.id)).items == []


def test_orders_come_newest_first_page_by_page(alone: Place) -> None:
    tenant, product = new_tenant(alone), new_product(alone)
    made = []
    for _ in range(7):
        made.append(alone.run(place_order(tenant.id, {product.id: 1})).id)
        alone.time.now += timedelta(seconds=1)
    found, after = [], None
    while True:
        page = alone.run(list_orders(tenant.id, limit=3, after=after))
        found += [each.id for each in page]
        after = page.position
        if after is None:
            break
    assert found == made[::-1]


def test_a_repeated_order_with_its_id_is_one_order(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    order_id = place.run(make_order_id())

    first = place.run(place_order(tenant.id, {product.id: 1}, order_id=order_id))
    place.run(update_product(product.id, {"price": "5.00"}, by=ADMIN))
    again = place.run(place_order(tenant.id, {product.id: 1}, order_id=order_id))

    assert again == first
    assert place.run(list_orders(tenant.id)).items == [first]


def test_an_order_id_of_somebody_else_is_taken(alone: Place) -> None:
    one, other = new_tenant(alone), new_tenant(alone, "other@example.com")
    product = new_product(alone)
    order = alone.run(place_order(one.id, {product.id: 1}))
    with pytest.raises(IdTaken):
        alone.run(place_order(other.id, {product.id: 1}, order_id=order.id))
    assert alone.run(list_orders(other.id)).items == []


def test_who_must_not_order_does_not(place: Place) -> None:
    product = new_product(place)
    gone = new_tenant(place, "gone@example.com")
    place.run(soft_delete_tenant(gone.id, by=ADMIN))
    banned = new_tenant(place, "banned@example.com")
    place.run(suspend_tenant(banned.id, "fraud", by=ADMIN))
    before = contents(place)

    for tenant_id, refused in (
        (gone.id, TenantDeleted),
        (banned.id, TenantSuspended),
        (NOBODY, UnknownTenant),
        ("nobody", UnknownTenant),
    ):
        with pytest.raises(refused):
            place.run(place_order(tenant_id, {product.id: 1}))

    assert contents(place) == before


def test_what_is_not_on_offer_cannot_be_ordered(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    gone = new_product(place, name="Classic")
    new_campaign(place, gone.id, code="CLASSIC")
    place.run(soft_delete_product(gone.id, by=ADMIN))
    before = contents(place)

    for lines, code, refused in (
        ({gone.id: 1}, None, ProductUnavailable),
        ({product.id: 1, gone.id: 1}, None, ProductUnavailable),
        ({product.id: 1, NO_PRODUCT: 1}, None, UnknownProduct),
        ({"a plan": 1}, None, UnknownProduct),
        # The campaign is valid by its dates; an order wants its product, too.
        ({gone.id: 1}, "CLASSIC", ProductUnavailable),
        ({product.id: 1}, "CLASSIC", CampaignElsewhere),
        ({product.id: 1}, "NOTHING", UnknownCampaign),
    ):
        with pytest.raises(refused):
            place.run(place_order(tenant.id, lines, code))

    assert contents(place) == before


def test_a_campaign_that_does_not_run_is_refused(alone: Place) -> None:
    tenant, product = new_tenant(alone), new_product(alone)
    past, future = date(2026, 10, 1), date(2026, 12, 1)
    new_campaign(alone, product.id, code="PAST", from_date=past, to_date=past)
    new_campaign(alone, product.id, code="FUTURE", from_date=future, to_date=future)
    new_campaign(alone, product.id, code="DELETED")
    alone.run(soft_delete_campaign("DELETED", by=ADMIN))
    for code in ("PAST", "FUTURE", "DELETED"):
        with pytest.raises(CampaignNotValid):
            alone.run(place_order(tenant.id, {product.id: 1}, code))
    assert alone.run(list_orders(tenant.id)).items == []


def test_an_unknown_order_is_unknown(alone: Place) -> None:
    tenant = new_tenant(alone)
    for order_id in (NO_ORDER, "order", ""):
        with pytest.raises(UnknownOrder):
            alone.run(get_order(tenant.id, order_id))
