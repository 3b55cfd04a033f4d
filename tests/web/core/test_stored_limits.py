"""Limits of the whole site: what survives a restart, who is kept out by strangers, who is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

import bigtime
from bigtime.engine import Engine
from bigtime.systems.accounts.design import Role
from bigtime.web.app import LIMITS, ROUTERS
from bigtime.web.http.limits import Counted, Limit
from tests.web.browsing import PASSWORD, PLENTY, Browser, Web, make_web, site_engine

MANY = 429
OWNER = "alex@example.com"


@contextmanager
def serve_web(engine: Engine, data: Path, limits: Any = LIMITS) -> Iterator[Web]:
    """One process of a site; another may serve the same engine."""
    front, store = make_web(engine, data, limits=limits, proxies=1)
    with TestClient(front) as served:
        site: Any = served.app.application.state.context  # type: ignore[attr-defined]
        yield Web(front, site, store, served)


@pytest.fixture
def limited_web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    with serve_web(engine, tmp_path) as web:
        yield web


def at(web: Web, address: str) -> Browser:
    return web.browser(headers={"x-forwarded-for": address})


def log_in(browser: Browser, password: str = PASSWORD, login: str = OWNER) -> int:
    return browser.submit("/log-in", "/log-in", email=login, password=password).status_code


def by_program(browser: Browser, password: str = PASSWORD) -> int:
    body = {"email": OWNER, "password": password}
    status: int = browser.post("/api/v1/sessions", json=body).status_code
    return status


def guess_from_everywhere(web: Web, login: str = OWNER) -> None:
    """Strangers use up the tries of a login, from many networks."""
    found = [log_in(at(web, f"6.6.{n}.6"), "wrong", login) for n in range(14)]
    assert found[-1] == MANY


# In the store


def test_what_guards_accounts_mailboxes_and_orders_is_counted_in_the_store() -> None:
    in_memory = {name for name, limit in LIMITS.items() if limit.counted is Counted.IN_MEMORY}
    uncritical = {"like", "write", "upload", "API token", "view", "click", "missing picture"}
    assert in_memory == uncritical


def test_limits_survive_a_restart_and_hold_over_processes(engine: Engine, tmp_path: Path) -> None:
    with serve_web(engine, tmp_path) as first, serve_web(engine, tmp_path) as second:
        found = [
            log_in(at(web, "1.2.3.4"), "wrong", f"user-{n}-{web is first}@example.com")
            for n in range(5)
            for web in (first, second)
        ]
        assert found == [422] * 10
        assert log_in(at(second, "1.2.3.4"), "wrong", "x@example.com") == MANY
    with serve_web(engine, tmp_path) as third:
        assert log_in(at(third, "1.2.3.4"), "wrong", "y@example.com") == MANY
        assert log_in(at(third, "1.2.3.5"), "wrong", "y@example.com") == 422


def test_a_login_that_is_unknown_is_as_much_work(limited_web: Web) -> None:
    limited_web.join("alex")
    seen: list[str] = []
    limited_web.site.store.hooks += (lambda exchange: seen.append(exchange.request.operation),)
    work = []
    for login in (OWNER, "nobody@example.com"):
        assert log_in(at(limited_web, "1.2.3.4"), "wrong", login) == 422
        work.append([operation for operation in seen if operation != "GetRecords"])
        seen.clear()
    assert work[0] == work[1]


def test_every_limit_is_documented() -> None:
    text = (Path(bigtime.__file__).parents[2] / "docs/site.md").read_text()
    row = re.compile(r"^\| `(.*?)` \| ([\d,]+) in ([\d,]+) s \| (.*?) \|", re.MULTILINE)
    found = {
        action: Limit(number(tries), number(seconds), Counted(counted))
        for action, tries, seconds, counted in row.findall(text)
    }
    assert found == LIMITS


def number(text: str) -> int:
    return int(text.replace(",", ""))


# Strangers and the owner


def test_strangers_cannot_keep_an_owner_from_signing_in(limited_web: Web) -> None:
    limited_web.join("alex")
    owner = at(limited_web, "1.2.3.4")
    assert log_in(owner) == 303
    owner.submit("/me", "/log-out")
    guess_from_everywhere(limited_web)
    owner.headers["x-forwarded-for"] = "9.9.9.9"  # the same browser, somewhere else
    assert log_in(owner) == 303
    assert log_in(at(limited_web, "9.9.8.8")) == MANY


def test_a_program_is_known_by_its_network(limited_web: Web) -> None:
    limited_web.join("alex")
    assert by_program(at(limited_web, "1.2.3.4")) == 201
    guess_from_everywhere(limited_web)
    assert by_program(at(limited_web, "1.2.3.4")) == 201
    assert by_program(at(limited_web, "1.2.3.5")) == MANY


def test_one_network_alone_does_not_use_up_the_tries_of_a_login(limited_web: Web) -> None:
    limited_web.join("alex")
    stranger = at(limited_web, "6.6.6.6")
    assert [log_in(stranger, "wrong") for _ in range(7)] == [422] * 5 + [MANY] * 2
    assert log_in(at(limited_web, "1.2.3.4")) == 303


def test_a_known_browser_may_not_guess_for_ever(limited_web: Web) -> None:
    limited_web.join("alex")
    owner = at(limited_web, "1.2.3.4")
    assert log_in(owner) == 303
    owner.submit("/me", "/log-out")
    assert [log_in(owner, "wrong") for _ in range(7)] == [422] * 5 + [MANY] * 2


def test_signing_in_gives_back_the_tries_of_the_browser(limited_web: Web) -> None:
    limited_web.join("alex")
    owner = at(limited_web, "1.2.3.4")
    for _ in range(2):
        assert [log_in(owner, "wrong") for _ in range(3)] == [422] * 3
        assert log_in(owner) == 303
        owner.submit("/me", "/log-out")


def test_strangers_cannot_keep_an_owner_from_changing_the_password(limited_web: Web) -> None:
    owner = limited_web.signed_in("alex")
    guess_from_everywhere(limited_web)
    changed = owner.submit(
        "/me", "/me/password", password=PASSWORD, new_password="another long secret"
    )
    assert changed.status_code == 303


def test_a_device_is_of_the_logins_that_signed_in_there(limited_web: Web) -> None:
    limited_web.join("alex")
    limited_web.join("bo")
    shared = at(limited_web, "1.2.3.4")
    for login in (OWNER, "bo@example.com"):
        assert log_in(shared, login=login) == 303
        shared.submit("/me", "/log-out")
    shared.headers["x-forwarded-for"] = "9.9.9.9"
    for login in (OWNER, "bo@example.com"):
        guess_from_everywhere(limited_web, login)
        assert log_in(shared, login=login) == 303
        shared.submit("/me", "/log-out")
    guess_from_everywhere(limited_web, "cy@example.com")
    assert log_in(shared, login="cy@example.com") == MANY


def test_the_cookie_of_a_device_is_for_no_script_and_names_nobody(limited_web: Web) -> None:
    limited_web.join("alex")
    browser = at(limited_web, "1.2.3.4")
    sent = browser.submit("/log-in", "/log-in", email=OWNER, password=PASSWORD)
    (cookie,) = [each for each in sent.headers.get_list("set-cookie") if "device=" in each]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie
    assert "alex" not in cookie


@pytest.mark.parametrize("value", ["", "x", "." * 10, "x" * 9_000, "a" * 32, f"{'a' * 32}." * 3])
def test_a_device_that_is_made_up_is_none(limited_web: Web, value: str) -> None:
    limited_web.join("alex")
    guess_from_everywhere(limited_web)
    liar = at(limited_web, "9.9.9.9")
    liar.keep("device", value)
    assert log_in(liar) == MANY


# Signed-in writes


def test_orders_are_limited_by_account_and_by_network(limited_web: Web) -> None:
    limited_web.site.limits.limits = {**PLENTY, "order": LIMITS["order"]}
    token = limited_web.signed_in("alex").cookies["session"]
    program = at(limited_web, "1.2.3.4")
    program.headers["authorization"] = f"Bearer {token}"
    body = {"mark": "x", "addressName": "home"}
    found = [program.post("/api/v1/me/orders", json=body) for _ in range(12)]
    most = LIMITS["order"].tries
    assert [answer.status_code == MANY for answer in found] == [False] * most + [True] * (12 - most)
    assert int(found[-1].headers["retry-after"]) > 0


WRITES = sorted(
    (method, route.path)
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in (route.methods or set()) & {"POST", "PUT", "DELETE", "PATCH"}
)
OPEN = {
    ("POST", "/api/v1/sessions"),
    ("POST", "/v1.0/checkout/codes"),
    ("POST", "/unsubscribe/{token}"),
}
"""What nobody has to be signed in for: it has limits of its own."""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A site in which the admin has used up all writes."""
    slow = {**PLENTY, "write": Limit(1, 10**9)}
    with site_engine() as engine, serve_web(engine, tmp_path_factory.mktemp("data"), slow) as web:
        web.signed_in("ada", Role.EDITOR, Role.ADMIN)
        web.site.limits.take("write", "ada@example.com")
        yield web


@pytest.mark.parametrize(("method", "path"), [write for write in WRITES if write not in OPEN])
def test_every_signed_in_write_is_limited(busy: Web, method: str, path: str) -> None:
    path = path.replace("{name:path}", "HOME").replace(":path", "")
    path = path.replace("{", "").replace("}", "")
    browser = busy.browser()
    token = "token-of-ada@example.com"
    browser.keep("session", token)
    if path.startswith(("/api/", "/v1.0/")):
        headers = {"authorization": f"Bearer {token}"}
        answer = browser.request(method, path, headers=headers, json={})
    else:
        data = {"form_token": busy.site.form_tokens.token(token)}
        answer = browser.request(method, path, data=data)
    assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS, answer.text
    assert int(answer.headers["retry-after"]) > 0
