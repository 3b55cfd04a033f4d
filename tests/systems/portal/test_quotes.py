"""Quotes: what an order would cost, and that it costs just that; what is done along with one."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import DomainError, Write, create, get, verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import update_campaign
from bigtime.systems.portal.design import OneTimeCode, Order, Purpose, Tenant
from bigtime.systems.portal.errors import (
    CampaignElsewhere,
    CampaignNotValid,
    CodeUsed,
    LinesRefused,
    ProductUnavailable,
    TotalMoved,
    UnknownCampaign,
    UnknownProduct,
)
from bigtime.systems.portal.orders import list_orders, make_order_id, place_order, quote_order
from bigtime.systems.portal.products import soft_delete_product, update_product
from bigtime.systems.portal.registration import register_tenant
from bigtime.systems.portal.tenants import get_tenant
from bigtime.systems.portal.values import Status
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    NO_PRODUCT,
    contents,
    new_campaign,
    new_product,
    new_tenant,
    validated_tenant,
)


def test_a_quote_is_what_an_order_made_then_would_be(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    mail = new_product(place, name="Business Mail", price="49.00")
    new_campaign(place, product.id)
    lines = {product.id: 2, mail.id: 3}
    quote = place.run(quote_order(lines, "summer2026"))
    order = place.run(place_order(tenant.id, lines, "summer2026", total=quote.total))
    assert (quote.items, quote.total) == (order.items, order.total)
    assert quote.campaign is not None and order.campaign is not None
    assert quote.campaign.id == order.campaign.id


def test_a_quote_writes_nothing(alone: Place) -> None:
    product = new_product(alone)
    before = contents(alone)
    alone.run(quote_order({product.id: 1}))
    assert contents(alone) == before


def test_a_quote_is_refused_as_the_order_would_be(alone: Place) -> None:
    tenant, product, other = new_tenant(alone), new_product(alone), new_product(alone)
    gone = new_product(alone)
    alone.run(soft_delete_product(gone.id, by=ADMIN))
    new_campaign(alone, product.id)
    new_campaign(
        alone, product.id, code="OVER_1", from_date=date(2020, 1, 1), to_date=date(2020, 1, 2)
    )
    cases: list[tuple[dict[str, int], str | None, type[DomainError]]] = [
        ({}, None, LinesRefused),
        ({product.id: 0}, None, LinesRefused),
        ({NO_PRODUCT: 1}, None, UnknownProduct),
        ({gone.id: 1}, None, ProductUnavailable),
        ({product.id: 1}, "NOSUCH", UnknownCampaign),
        ({product.id: 1}, "x", UnknownCampaign),
        ({product.id: 1}, "OVER_1", CampaignNotValid),
        ({other.id: 1}, "SUMMER2026", CampaignElsewhere),
    ]
    for lines, code, error in cases:
        with pytest.raises(error):
            alone.run(quote_order(lines, code))
        with pytest.raises(error):
            alone.run(place_order(tenant.id, lines, code))


def test_an_order_that_costs_something_else_than_was_seen_is_not_made(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    new_campaign(place, product.id)
    seen = place.run(quote_order({product.id: 1}, "SUMMER2026")).total
    place.run(update_campaign("SUMMER2026", {"discount_percentage": 10}, by=ADMIN))
    with pytest.raises(TotalMoved):
        place.run(place_order(tenant.id, {product.id: 1}, "SUMMER2026", total=seen))
    place.run(update_product(product.id, {"price": "266.66"}, by=ADMIN))
    order = place.run(place_order(tenant.id, {product.id: 1}, "SUMMER2026", total=seen))
    assert order.total == seen == Decimal("239.99")


def test_an_order_that_was_made_is_given_whatever_it_costs_by_now(alone: Place) -> None:
    tenant, product = new_tenant(alone), new_product(alone)
    order_id = alone.run(make_order_id())
    asked: dict[str, Any] = {"order_id": order_id, "total": product.price}
    first = alone.run(place_order(tenant.id, {product.id: 1}, **asked))
    alone.run(update_product(product.id, {"price": "1"}, by=ADMIN))
    assert alone.run(place_order(tenant.id, {product.id: 1}, **asked)) == first


def code_note(id: str) -> OneTimeCode:
    """Something of another table: here, a code."""
    expires = datetime(2026, 12, 1, tzinfo=UTC)
    return OneTimeCode(
        purpose=Purpose.SIGN_IN, id=id, hash="0" * 64, salt=bytes(16), expires_at=expires
    )


def note_steps(order: Order, tenant: Tenant) -> Steps[tuple[Write[Any], ...]]:
    return (create(code_note(tenant.id), unless_exists=CodeUsed),)
    yield


def test_what_belongs_to_an_order_is_written_with_it_or_neither_is(place: Place) -> None:
    tenant, product = new_tenant(place), new_product(place)
    order = place.run(place_order(tenant.id, {product.id: 1}, along=note_steps))
    assert place.run(get(code_note(tenant.id).own_key())) == code_note(tenant.id)
    with pytest.raises(CodeUsed):
        place.run(place_order(tenant.id, {product.id: 1}, along=note_steps))
    assert place.run(list_orders(tenant.id)).items == [order]
    assert place.run(verify(SYSTEM)) == []


def test_what_belongs_to_a_registration_is_written_with_it_or_neither_is(place: Place) -> None:
    tenant = validated_tenant(place)
    place.run(create(code_note("taken")))
    with pytest.raises(CodeUsed):
        place.run(
            register_tenant(tenant.id, along=(create(code_note("taken"), unless_exists=CodeUsed),))
        )
    assert place.run(get_tenant(tenant.id)) == tenant
    made = place.run(register_tenant(tenant.id, along=(create(code_note("free")),)))
    assert made.status == Status.REGISTERED
    assert place.run(get(code_note("free").own_key())) == code_note("free")
    assert place.run(verify(SYSTEM)) == []
