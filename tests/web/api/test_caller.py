"""Who is let in: a bearer by the token, a browser by its cookie and, to change something, more."""

from __future__ import annotations

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.systems.portal.tenants import list_tenants
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import delete_session
from tests.web.api.portal_client import Program, is_problem
from tests.web.browsing import Browser, Web

TENANTS = "/v1.0/tenants"
NEW = {"email": "new@example.com"}


@pytest.fixture
def browser(web: Web) -> Browser:
    """An admin's browser."""
    return web.signed_in("boss", Role.ADMIN)


def test_a_bearer_token_lets_in(ada: Program) -> None:
    assert ada.get(TENANTS).status_code == 200
    assert ada.post(TENANTS, NEW).status_code == 201


def test_nobody_is_asked_to_sign_in(nobody: Program) -> None:
    asked = nobody.get(TENANTS)
    assert (asked.status_code, asked.json()["error"]) == (401, "not-signed-in")
    assert asked.headers["www-authenticate"] == "Bearer"
    assert is_problem(asked)


@pytest.mark.parametrize(
    "given", ["Bearer wrong", "Bearer ", "Bearer", "Basic YTpi", "", "bearer é", "Bearer  a b"]
)
def test_a_wrong_token_lets_nobody_in(nobody: Program, given: str) -> None:
    headers = {"authorization": given.encode()}
    assert nobody.client.get(TENANTS, headers=headers).status_code == 401


def test_a_wrong_token_is_not_made_good_by_a_cookie(browser: Browser) -> None:
    assert browser.get(TENANTS).status_code == 200
    headers = {"authorization": "Bearer wrong"}
    assert browser.get(TENANTS, headers=headers).status_code == 401
    assert browser.get("/v1.0/products", headers=headers).status_code == 401


def test_a_session_that_is_over_lets_nobody_in(web: Web, ada: Program) -> None:
    web.run(delete_session(hash_token(ada.headers["authorization"].partition(" ")[2])))
    assert ada.get(TENANTS).status_code == 401


def test_a_cookie_reads_and_writes_with_the_form_token_alone(web: Web, browser: Browser) -> None:
    for headers in ({}, {"x-form-token": "x"}, {"x-form-token": web.signed_in("sam").token()}):
        refused = browser.post(TENANTS, json=NEW, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (403, "no-form-token")
    assert web.run(list_tenants()).items == []
    headers = {"x-form-token": browser.token()}
    assert browser.post(TENANTS, json=NEW, headers=headers).status_code == 201


def test_a_bearer_needs_no_form_token_beside_a_cookie(web: Web, browser: Browser) -> None:
    headers = {"authorization": f"Bearer {browser.cookies['session']}"}
    assert browser.post(TENANTS, json=NEW, headers=headers).status_code == 201


def test_no_other_site_may_read_what_is_answered(browser: Browser) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    asked = browser.options(TENANTS, headers=headers)
    assert "access-control-allow-origin" not in asked.headers
    assert "access-control-allow-origin" not in browser.get(TENANTS, headers=headers).headers
