"""Bad input: each has an error of its own, with a code and a sentence, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import pytest

from bigtime.model import DomainError
from bigtime.systems.portal import SYSTEM, errors
from bigtime.systems.portal.campaigns import create_campaign, get_campaign, update_campaign
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.products import create_product, get_product, update_product
from bigtime.systems.portal.registration import override_tenant_status, update_tenant_status
from bigtime.systems.portal.tenants import (
    create_tenant,
    get_tenant,
    list_tenants_by_status,
    update_tenant,
)
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    NO_PRODUCT,
    NOBODY,
    campaign_fields,
    contents,
    new_campaign,
    new_product,
    new_tenant,
)

Make: TypeAlias = Callable[[str, str], Steps[Any]]
"""Steps of a tenant's and a product's id."""


def product(**but: Any) -> Make:
    fields = {
        "name": "Plan",
        "description": "A plan",
        "price": Decimal(9),
        "billing_cycle": "monthly",
        "by": ADMIN,
        **but,
    }
    return lambda tenant_id, product_id: create_product(**fields)


def campaign(**but: Any) -> Make:
    def make(tenant_id: str, product_id: str) -> Steps[Any]:
        return create_campaign(**campaign_fields(product_id, **{"code": "NEW_CODE", **but}))

    return make


def changed_product(**changes: Any) -> Make:
    return lambda tenant_id, product_id: update_product(product_id, changes, by=ADMIN)


def changed_campaign(**changes: Any) -> Make:
    return lambda tenant_id, product_id: update_campaign("SUMMER2026", changes, by=ADMIN)


def changed_tenant(**changes: Any) -> Make:
    return lambda tenant_id, product_id: update_tenant(tenant_id, changes, by=ADMIN)


def tenant(**fields: Any) -> Make:
    told = {"email": "new@example.com", "by": ADMIN, **fields}
    return lambda tenant_id, product_id: create_tenant(**told)


def order(lines: Any, code: str | None = None) -> Make:
    def make(tenant_id: str, product_id: str) -> Steps[Any]:
        chosen = {product_id if each == "it" else each: n for each, n in lines.items()}
        return place_order(tenant_id, chosen, code)

    return make


BAD: dict[str, tuple[Make, str]] = {
    "unknown tenant": (lambda t, p: get_tenant(NOBODY), "unknown-tenant"),
    "tenant id of another kind": (lambda t, p: get_tenant(p), "unknown-tenant"),
    "tenant id with #": (lambda t, p: get_tenant(f"{t}#METADATA"), "unknown-tenant"),
    "tenant id in capitals": (lambda t, p: get_tenant(t.upper()), "unknown-tenant"),
    "unknown product": (lambda t, p: get_product(NO_PRODUCT), "unknown-product"),
    "product id that is none": (lambda t, p: get_product(""), "unknown-product"),
    "unknown campaign": (lambda t, p: get_campaign("NOTHING"), "unknown-campaign"),
    "campaign code with #": (lambda t, p: get_campaign("A#B"), "unknown-campaign"),
    "email with #": (tenant(email="a#b@example.com"), "email-refused"),
    "empty email": (tenant(email=""), "email-refused"),
    "overlong email": (tenant(email=f"{'x' * 250}@example.com"), "email-refused"),
    "email that is no text": (tenant(email=7), "email-refused"),
    "email taken": (tenant(email="customer@example.com"), "email-taken"),
    "empty organization": (tenant(organization_name=" "), "name-refused"),
    "overlong organization": (tenant(organization_name="x" * 201), "name-refused"),
    "destination that is no email": (tenant(destination_email="x"), "email-refused"),
    "nobody does it": (tenant(by=""), "actor-refused"),
    "new organization with a bell": (changed_tenant(organization_name="a\x07"), "name-refused"),
    "changed email": (changed_tenant(email="b@example.com"), "immutable-field"),
    "changed by nobody": (
        lambda t, p: update_tenant(t, {"organization_name": "x"}, by="\n"),
        "actor-refused",
    ),
    "active that is no bool": (changed_tenant(active="false"), "active-refused"),
    "unknown status": (
        lambda t, p: update_tenant_status(t, "GONE", by=ADMIN),  # type: ignore[arg-type]
        "status-refused",
    ),
    "unknown status to list": (
        lambda t, p: list_tenants_by_status("registered"),  # type: ignore[arg-type]
        "status-refused",
    ),
    "status that does not follow": (
        lambda t, p: update_tenant_status(t, "REGISTERED", by=ADMIN),  # type: ignore[arg-type]
        "move-refused",
    ),
    "override without reason": (
        lambda t, p: override_tenant_status(t, "REGISTERED", "", by=ADMIN),  # type: ignore[arg-type]
        "reason-refused",
    ),
    "price of 0": (product(price=Decimal(0)), "price-refused"),
    "price below 0": (product(price=-1), "price-refused"),
    "price of half a cent": (product(price="0.005"), "price-refused"),
    "price as float": (product(price=9.99), "price-refused"),
    "price that is no number": (product(price="NaN"), "price-refused"),
    "price without end": (product(price="1e400"), "price-refused"),
    "price too high": (product(price=10_000_000), "price-refused"),
    "price that is a word": (product(price="cheap"), "price-refused"),
    "price that is a truth": (product(price=True), "price-refused"),
    "empty name": (product(name=""), "name-refused"),
    "overlong name": (product(name="x" * 201), "name-refused"),
    "name that cannot be seen": (product(name="a\u200bb\x00"), "name-refused"),
    "empty description": (product(description=""), "description-refused"),
    "overlong description": (product(description="x" * 2001), "description-refused"),
    "description that breaks off": (product(description="A\x00plan\n"), "description-refused"),
    "weekly bills": (product(billing_cycle="weekly"), "billing-cycle-refused"),
    "too many features": (product(features=["x"] * 51), "features-refused"),
    "empty feature": (product(features=[""]), "features-refused"),
    "new price of 0": (changed_product(price="0.00"), "price-refused"),
    "new name that is empty": (changed_product(name=""), "name-refused"),
    "no name any more": (changed_product(name=None), "name-refused"),
    "discount of 100": (campaign(discount_percentage=Decimal(100)), "discount-refused"),
    "discount below 0": (campaign(discount_percentage="-0.01"), "discount-refused"),
    "discount with three decimals": (campaign(discount_percentage="1.234"), "discount-refused"),
    "discount as float": (campaign(discount_percentage=20.0), "discount-refused"),
    "dates the wrong way round": (
        campaign(from_date=date(2026, 2, 2), to_date=date(2026, 2, 1)),
        "dates-reversed",
    ),
    "day that is none": (campaign(from_date="2026-02-30"), "date-refused"),
    "day written otherwise": (campaign(from_date="01.02.2026"), "date-refused"),
    "day with a time": (campaign(to_date=datetime(2026, 2, 2)), "date-refused"),
    "code in lower case": (campaign(code="summer2027"), "campaign-code-refused"),
    "code with #": (campaign(code="SUMMER#27"), "campaign-code-refused"),
    "code with a space": (campaign(code="SUMMER 27"), "campaign-code-refused"),
    "code too short": (campaign(code="AB"), "campaign-code-refused"),
    "code too long": (campaign(code="X" * 51), "campaign-code-refused"),
    "code with a new line": (campaign(code="SUMMER27\n"), "campaign-code-refused"),
    "code taken": (campaign(code="SUMMER2026"), "campaign-exists"),
    "campaign of no product": (campaign(product_id=NO_PRODUCT), "unknown-product"),
    "terms that are no link": (campaign(terms_conditions_link="terms"), "link-refused"),
    "terms that run": (campaign(terms_conditions_link="javascript:x"), "link-refused"),
    "new discount of 100": (changed_campaign(discount_percentage=100), "discount-refused"),
    "new end before the start": (changed_campaign(to_date="2026-10-01"), "dates-reversed"),
    "new code": (changed_campaign(code="OTHER"), "immutable-field"),
    "new colour": (changed_campaign(colour="red"), "unknown-field"),
    "order of nothing": (order({}), "lines-refused"),
    "order of none": (order({"it": 0}), "lines-refused"),
    "order of too many": (order({"it": 1001}), "lines-refused"),
    "order of half": (order({"it": 1.5}), "lines-refused"),
    "order of a truth": (order({"it": True}), "lines-refused"),
    "order of an unknown product": (order({NO_PRODUCT: 1}), "unknown-product"),
    "order with an unknown campaign": (order({"it": 1}, "NOTHING"), "unknown-campaign"),
    "order with no campaign's code": (order({"it": 1}, "#"), "unknown-campaign"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_has_its_own_error_and_leaves_no_trace(alone: Place, name: str) -> None:
    tenant_id, product_id = new_tenant(alone).id, new_product(alone).id
    new_campaign(alone, product_id)
    before = contents(alone)
    make, code = BAD[name]

    with pytest.raises(DomainError) as caught:
        alone.run(make(tenant_id, product_id))

    assert caught.value.code == code
    assert str(caught.value).endswith("."), "a sentence for the person who sees it"
    assert contents(alone) == before


def test_every_error_of_the_portal_has_a_code_of_its_own_and_a_sentence() -> None:
    kinds = [
        each
        for family in DomainError.__subclasses__()
        for each in family.__subclasses__()
        if each.__module__ == errors.__name__
    ]
    assert len({kind.code for kind in kinds}) == len(kinds) > 40
    assert all(str(kind()).endswith(".") for kind in kinds)
    assert {table.name for table in SYSTEM.tables} >= {"tenants", "products", "campaigns"}
