"""What most tests of the portal begin with, and how they look at its tables."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import create_campaign
from bigtime.systems.portal.design import Campaign, Product, Purpose, Tenant
from bigtime.systems.portal.products import create_product
from bigtime.systems.portal.registration import issue_code, register_tenant, validate_tenant
from bigtime.systems.portal.tenants import tenant_at_checkout
from bigtime.wire import Item, Request, Response, Steps

T = TypeVar("T")

ADMIN = "admin@example.com"
EMAIL = "customer@example.com"
NOBODY = "tenant_00000000-0000-4000-8000-000000000000"
NO_PRODUCT = "prod_00000000-0000-4000-8000-000000000000"
NO_ORDER = "order_00000000-0000-7000-8000-000000000000"


class Runs(Protocol):
    """A place, or a store."""

    def run(self, steps: Any) -> Any: ...


def request_steps(operation: str, **params: Any) -> Steps[Response]:
    response: Response = yield Request(operation, params)
    return response


def contents(place: Runs) -> dict[str, list[Item]]:
    """All that is in the tables, by table."""
    return {
        table.name: place.run(request_steps("Scan", TableName=table.name, ConsistentRead=True))[
            "Items"
        ]
        for table in SYSTEM.tables
    }


def stored_item(place: Runs, table: str, partition: str, sort: str = "METADATA") -> Item | None:
    key = {"PK": {"S": partition}, "SK": {"S": sort}}
    response = place.run(request_steps("GetItem", TableName=table, Key=key, ConsistentRead=True))
    found: Item | None = response.get("Item")
    return found


def new_product(place: Runs, **but: Any) -> Product:
    fields: dict[str, Any] = {
        "name": "WordPress Professional Plan",
        "description": "Professional WordPress hosting with advanced features",
        "price": Decimal("299.99"),
        "billing_cycle": "monthly",
        "features": ["Up to 10 WordPress sites", "100GB storage"],
        "by": ADMIN,
    }
    made: Product = place.run(create_product(**{**fields, **but}))
    return made


def campaign_fields(product_id: str, /, **but: Any) -> dict[str, Any]:
    return {
        "code": "SUMMER2026",
        "description": "Summer 2026 special offer",
        "discount_percentage": Decimal(20),
        "product_id": product_id,
        "terms_conditions_link": "https://example.com/terms/summer2026",
        "from_date": date(2026, 11, 1),
        "to_date": date(2026, 11, 30),
        "by": ADMIN,
        **but,
    }


def new_campaign(place: Runs, product_id: str, **but: Any) -> Campaign:
    made: Campaign = place.run(create_campaign(**campaign_fields(product_id, **but)))
    return made


def new_tenant(place: Runs, email: str = EMAIL) -> Tenant:
    made: Tenant = place.run(tenant_at_checkout(email))
    return made


def validated_tenant(place: Runs, email: str = EMAIL) -> Tenant:
    tenant = new_tenant(place, email)
    code = place.run(issue_code(Purpose.VALIDATE, tenant.id))
    made: Tenant = place.run(validate_tenant(tenant.id, code))
    return made


def registered_tenant(place: Runs, email: str = EMAIL) -> Tenant:
    made: Tenant = place.run(register_tenant(validated_tenant(place, email).id))
    return made
