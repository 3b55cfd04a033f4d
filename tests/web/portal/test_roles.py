"""The admin's pages are for admins, and for nobody else: every route of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.systems.portal.design import Campaign, Product
from bigtime.web.admin import ADMIN
from tests.systems.portal.scenes import new_tenant
from tests.web.browsing import Browser, Web
from tests.web.portal.scene import customer

NAMES = {
    "tenant_id": "tenant_00000000-0000-4000-8000-000000000000",
    "product_id": "prod_00000000-0000-4000-8000-000000000000",
    "code": "SUMMER2026",
    "table": "tenants",
    "name": "2026-11-16-pitr-dev.md",
    "record_id": "tenant_00000000-0000-4000-8000-000000000000",
    "order_id": "2" * 27,
}


def routes() -> Iterator[tuple[str, str]]:
    for router in ADMIN:
        for route in router.routes:
            path = route.path  # type: ignore[attr-defined]
            for method in sorted(route.methods - {"HEAD"}):  # type: ignore[attr-defined]
                if path.startswith("/admin"):
                    yield method, path


ROUTES = list(routes())


def ask(browser: Browser, method: str, path: str, **names: str) -> Any:
    data = {"form_token": browser.token()} if method == "POST" else None
    return browser.request(method, path.format(**{**NAMES, **names}), data=data)


def test_every_route_of_the_admin_is_tried() -> None:
    assert len(ROUTES) == 49


def test_who_is_not_signed_in_is_asked_to(visitor: Browser) -> None:
    for method, path in ROUTES:
        answer = ask(visitor, method, path)
        assert answer.status_code == 303, (method, path)
        assert answer.headers["location"].startswith("/log-in")


def test_a_customer_an_editor_and_a_shopper_may_not(web: Web) -> None:
    others = [
        web.signed_in("sam"),
        web.signed_in("erin", Role.EDITOR),
        customer(web)[1],
        customer(web, "other@example.com", "otto")[1],
    ]
    for browser in others:
        for method, path in ROUTES:
            answer = ask(browser, method, path)
            assert answer.status_code == 403, (method, path)


def test_an_admin_may(web: Web, ada: Browser, product: Product, campaign: Campaign) -> None:
    tenant = new_tenant(web)
    names = {"tenant_id": tenant.id, "product_id": product.id, "record_id": tenant.id}
    for method, path in ROUTES:
        answer = ask(ada, method, path, **names)
        assert answer.status_code == EMPTY.get((method, path), 200), (method, path)


EMPTY = {
    ("GET", "/admin/users/find"): 404,
    ("GET", "/admin/users/user"): 422,
    ("POST", "/admin/users/grant"): 400,
    ("POST", "/admin/users/revoke"): 400,
    ("POST", "/admin/users/sessions"): 400,
    ("GET", "/admin/tenants/find"): 422,
    ("POST", "/admin/tenants/new"): 422,
    ("POST", "/admin/tenants/{tenant_id}"): 409,
    ("POST", "/admin/tenants/{tenant_id}/archive"): 303,
    ("POST", "/admin/tenants/{tenant_id}/restore"): 303,
    ("POST", "/admin/tenants/{tenant_id}/status"): 422,
    ("POST", "/admin/tenants/{tenant_id}/override"): 422,
    ("POST", "/admin/products/new"): 422,
    ("POST", "/admin/products/{product_id}"): 422,
    ("POST", "/admin/products/{product_id}/archive"): 303,
    ("POST", "/admin/products/{product_id}/restore"): 303,
    ("POST", "/admin/campaigns/new"): 422,
    ("POST", "/admin/campaigns/{code}"): 422,
    ("POST", "/admin/campaigns/{code}/archive"): 303,
    ("POST", "/admin/campaigns/{code}/restore"): 303,
    ("POST", "/admin/reminders"): 400,
    ("GET", "/admin/operations/drills/{name}"): 404,
    ("GET", "/admin/orders/find"): 422,
    ("POST", "/admin/orders/selected"): 422,
    ("GET", "/admin/orders/packing"): 404,
    ("GET", "/admin/orders/{order_id}"): 404,
    ("POST", "/admin/orders/{order_id}/status"): 404,
}
"""What an admin is answered who sends a form with nothing in it."""


@pytest.mark.parametrize("token", ["", "x", "another's"])
def test_a_form_from_elsewhere_changes_nothing(
    web: Web, ada: Browser, product: Product, campaign: Campaign, token: str
) -> None:
    given = web.signed_in("sam").token() if token == "another's" else token
    names = {**NAMES, "product_id": product.id, "tenant_id": new_tenant(web).id}
    for method, path in ROUTES:
        if method == "POST":
            answer = ada.post(path.format(**names), data={"form_token": given})
            assert answer.status_code == 400, path
