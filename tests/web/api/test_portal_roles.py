"""Who may do what: every route of the portal's API, for everybody."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.systems.portal.design import Product, Tenant
from bigtime.systems.portal.orders import place_order
from tests.systems.portal.scenes import new_product
from tests.web.api.portal_client import Program, is_problem, program_of
from tests.web.browsing import Web
from tests.web.portal.scene import customer, running_campaign

WHO = ("nobody", "shopper", "editor", "stranger", "owner", "admin")
PRODUCT = {"name": "P", "description": "P", "price": 1, "billingCycle": "monthly"}
CAMPAIGN = {
    "code": "NEW_CODE",
    "description": "d",
    "discountPercentage": 1,
    "productId": "PRODUCT",
    "termsConditionsLink": "https://example.com",
    "fromDate": "2026-01-01",
    "toDate": "2026-12-31",
}
ORDER = {"items": [{"productId": "PRODUCT"}]}
TABLE: list[tuple[str, str, Any, tuple[int, ...]]] = [
    ("GET", "/v1.0/products", None, (200, 200, 200, 200, 200, 200)),
    ("GET", "/v1.0/products?includeInactive=true", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/products?inactiveOnly=true", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/products/PRODUCT", None, (200, 200, 200, 200, 200, 200)),
    ("POST", "/v1.0/products", PRODUCT, (401, 403, 403, 403, 403, 201)),
    ("PUT", "/v1.0/products/PRODUCT", {"price": 2}, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/campaigns", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/campaigns?when=upcoming", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/campaigns?inactiveOnly=true", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/campaigns/SUMMER2026", None, (200, 200, 200, 200, 200, 200)),
    ("POST", "/v1.0/campaigns", CAMPAIGN, (401, 403, 403, 403, 403, 201)),
    ("PUT", "/v1.0/campaigns/SUMMER2026", {"active": True}, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants/counts", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants?inactiveOnly=true", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants/by-email/EMAIL", None, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants/TENANT", None, (401, 403, 403, 403, 200, 200)),
    ("POST", "/v1.0/tenants", {"email": "new@example.com"}, (401, 403, 403, 403, 403, 201)),
    ("PUT", "/v1.0/tenants/TENANT", {"organizationName": "C"}, (401, 403, 403, 403, 200, 200)),
    ("PUT", "/v1.0/tenants/TENANT", {"active": True}, (401, 403, 403, 403, 403, 200)),
    ("PUT", "/v1.0/tenants/TENANT", {"status": "SUSPENDED"}, (401, 403, 403, 403, 403, 200)),
    ("GET", "/v1.0/tenants/TENANT/orders", None, (401, 403, 403, 403, 200, 200)),
    ("GET", "/v1.0/tenants/TENANT/orders/ORDER", None, (401, 403, 403, 403, 200, 200)),
    ("POST", "/v1.0/checkout", ORDER, (401, 403, 403, 201, 201, 403)),
    ("POST", "/v1.0/checkout/codes", {"email": "a@example.com"}, (202, 202, 202, 202, 202, 202)),
]  # fmt: skip


@pytest.fixture
def product(web: Web) -> Product:
    made = new_product(web)
    running_campaign(web, made.id)
    return made


@pytest.fixture
def tenant(web: Web) -> Tenant:
    return customer(web)[0]


@pytest.fixture
def people(web: Web, tenant: Tenant) -> dict[str, Program]:
    customer(web, "other@example.com", "otto")
    return {
        "nobody": Program(web),
        "shopper": program_of(web, "sam"),
        "editor": program_of(web, "erin", Role.EDITOR),
        "stranger": Program(web, "other@example.com"),
        "owner": Program(web, tenant.email),
        "admin": program_of(web, "ada", Role.ADMIN),
    }


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"), TABLE, ids=[f"{m} {p}" for m, p, _, _ in TABLE]
)
def test_who_may(
    web: Web,
    product: Product,
    tenant: Tenant,
    people: dict[str, Program],
    method: str,
    path: str,
    body: Any,
    expected: tuple[int, ...],
) -> None:
    order = web.run(place_order(tenant.id, {product.id: 1}))
    names = {"PRODUCT": product.id, "TENANT": tenant.id, "ORDER": order.id}
    names["EMAIL"] = tenant.email

    def fill_names(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: fill_names(each) for name, each in value.items()}
        if isinstance(value, list):
            return [fill_names(each) for each in value]
        for name, given in names.items():
            value = value.replace(name, given) if isinstance(value, str) else value
        return value

    seen = []
    for who in WHO:
        answer = people[who].ask(method, fill_names(path), json=fill_names(body) if body else None)
        seen.append(answer.status_code)
        assert answer.status_code < 400 or is_problem(answer)
    assert tuple(seen) == expected
