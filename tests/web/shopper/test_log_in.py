"""Logging in and out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.site.registration import join
from bigtime.systems.sessions.design import UnknownSession, hash_token
from bigtime.systems.sessions.session import get_session, view_sessions
from bigtime.web.app import LIMITS
from tests.web.browsing import PASSWORD, Browser, Reader, Web, make_web, words

GENERIC = "Wrong e-mail or password. Try again."


def log_in_as(browser: Browser, email: str = "alex@example.com", password: str = PASSWORD) -> Any:
    return browser.submit("/log-in", "/log-in", email=email, password=password)


@pytest.fixture
def member(web: Web) -> Browser:
    """Alex, who is not signed in."""
    web.join("alex")
    return web.browser()


def test_who_knows_the_password_is_signed_in(web: Web, member: Browser) -> None:
    done = log_in_as(member, email=" Alex@Example.COM ")
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert "alex" in words(member.get("/").text)
    assert (
        web.run(get_session(hash_token(member.cookies["session"]))).username == "alex@example.com"
    )


def test_the_cookie_is_for_no_script_and_no_other_site(member: Browser) -> None:
    (cookie,) = [
        one for one in log_in_as(member).headers.get_list("set-cookie") if "session=" in one
    ]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie


def test_over_tls_the_cookie_is_of_this_host_alone(engine: Engine, tmp_path: Path) -> None:
    front, store = make_web(engine, tmp_path, secure=True)
    store.run(join("bo@example.com", PASSWORD, "bo"))
    with TestClient(front, base_url="https://testserver") as served:
        browser = Browser(front, base_url="https://testserver", follow_redirects=False)
        browser.portal = served.portal
        cookie = browser.get("/log-in").headers["set-cookie"]
        assert cookie.startswith("__Host-visit=") and "; Secure" in cookie
        assert log_in_as(browser, "bo@example.com").status_code == 303
        assert "__Host-session" in browser.cookies
        assert "Sign out" in words(browser.get("/").text)


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("alex@example.com", "wrong"),
        ("nobody@example.com", PASSWORD),
        ("a#b", PASSWORD),
        ("\x00", "\x00"),
        ("alex@example.com", PASSWORD + " "),
        ("alex@example.com", "x" * 10_000),
    ],
)
def test_a_wrong_login_and_a_wrong_password_are_told_in_the_same_words(
    member: Browser, email: str, password: str
) -> None:
    refused = log_in_as(member, email=email, password=password)
    assert refused.status_code == 422
    assert f'<p class="fault" role="alert">{GENERIC}</p>' in refused.text
    assert "session" not in member.cookies
    assert password not in refused.text or password == "\x00"


def test_an_empty_field_is_told_beside_it(member: Browser) -> None:
    refused = log_in_as(member, email="", password="")
    assert refused.status_code == 422
    assert refused.text.count("Please fill out this field.") == 2
    assert GENERIC not in refused.text


@pytest.mark.parametrize("next", ["/", "/inbox", "/brands/APPLE?after=x", "/me/interests"])
def test_one_goes_on_to_the_page_one_wanted(member: Browser, next: str) -> None:
    form = member.form(f"/log-in?next={next}", "/log-in")
    data = {**form.fields, "email": "alex@example.com", "password": PASSWORD}
    assert member.post("/log-in", data=data).headers["location"] == next


@pytest.mark.parametrize(
    "next",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example",
        "http:evil", "javascript:alert(1)", "/\t/evil.example", "/\n/evil.example",
        " //evil.example", "evil.example", "///evil.example", "/%0d%0aset-cookie:x=1\r\nx:y",
        "/log-in", "/log-out", "x" * 5_000,
    ],
)  # fmt: skip
def test_nobody_is_sent_on_to_another_site(member: Browser, next: str) -> None:
    form = member.form("/log-in", "/log-in")
    assert member.get("/log-in", params={"next": next}).status_code == 200
    shown = member.get("/log-in", params={"next": next}).text
    assert '<input type="hidden" name="next" value="/">' in shown
    data = {**form.fields, "next": next, "email": "alex@example.com", "password": PASSWORD}
    assert member.post("/log-in", data=data).headers["location"] == "/"


def test_a_private_page_leads_through_the_log_in_and_back(member: Browser) -> None:
    asked = member.get("/inbox?show=unread")
    assert asked.status_code == 303
    where = asked.headers["location"]
    form = member.form(where, "/log-in")
    data = {**form.fields, "email": "alex@example.com", "password": PASSWORD}
    assert member.post("/log-in", data=data).headers["location"] == "/inbox?show=unread"


def test_a_session_cannot_be_chosen_beforehand(web: Web, member: Browser) -> None:
    """Fixation: whoever planted the cookie does not know the one that counts."""
    member.keep("session", "planted")
    log_in_as(member)
    assert member.cookies["session"] != "planted"
    thief = web.browser()
    thief.keep("session", "planted")
    assert thief.get("/me").status_code == 303


def test_every_log_in_has_a_token_of_its_own(web: Web, member: Browser) -> None:
    other = web.browser()
    log_in_as(member)
    log_in_as(other)
    assert member.cookies["session"] != other.cookies["session"]
    assert len(web.run(view_sessions("alex@example.com")).items) == 2


def test_logging_in_again_ends_the_session_before(web: Web, member: Browser) -> None:
    log_in_as(member)
    before, token = member.cookies["session"], member.token()
    data = {"email": "alex@example.com", "password": PASSWORD, "form_token": token}
    assert member.post("/log-in", data=data).status_code == 303
    thief = web.browser()
    thief.keep("session", before)
    assert thief.get("/me").status_code == 303


# Logging out


def test_logging_out_ends_the_session_for_good(web: Web, alex: Browser) -> None:
    token = alex.cookies["session"]
    assert alex.get("/me").status_code == 200
    done = alex.submit("/", "/log-out")
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert "session" not in alex.cookies
    with pytest.raises(UnknownSession):
        web.run(get_session(hash_token(token)))
    alex.keep("session", token)
    assert alex.get("/me").status_code == 303
    assert "Sign in" in words(alex.get("/").text)


def test_logging_out_here_leaves_other_places(web: Web, alex: Browser) -> None:
    phone = web.session_of("alex@example.com", "phone")
    alex.submit("/me", "/log-out")
    assert phone.get("/me").status_code == 200


def test_logging_out_everywhere_ends_them_all(web: Web, alex: Browser) -> None:
    phone = web.session_of("alex@example.com", "phone")
    bo = web.signed_in("bo")
    assert phone.get("/me").status_code == bo.get("/me").status_code == 200
    assert alex.submit("/me", "/log-out-everywhere").status_code == 303
    assert phone.get("/me").status_code == 303
    assert bo.get("/me").status_code == 200
    assert web.run(view_sessions("alex@example.com")).items == []


def test_nobody_can_log_out_everywhere_as_nobody(visitor: Browser) -> None:
    sent = visitor.post("/log-out-everywhere", data={"form_token": visitor.token()})
    assert sent.headers["location"] == "/log-in"


# Limits


@pytest.fixture
def limited_web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    front, store = make_web(engine, tmp_path, limits=LIMITS, proxies=1)
    with TestClient(front) as served:
        site: Any = served.app.application.state.context  # type: ignore[attr-defined]
        yield Web(front, site, store, served)


def tries(web: Web, count: int, *, login: str, address: str) -> list[int]:
    browser = web.browser(headers={"x-forwarded-for": f"6.6.6.6, {address}"})
    form = browser.form("/log-in", "/log-in")
    return [
        browser.post(
            "/log-in", data={**form.fields, "email": login.format(number), "password": "wrong"}
        ).status_code
        for number in range(count)
    ]


def test_one_address_cannot_try_many_logins(limited_web: Web) -> None:
    found = tries(limited_web, 12, login="user-{}@example.com", address="1.2.3.4")
    assert found == [422] * 10 + [429] * 2
    assert tries(limited_web, 1, login="user-x@example.com", address="1.2.3.5") == [422]


def test_one_login_cannot_be_tried_from_many_addresses(limited_web: Web) -> None:
    found = [
        tries(limited_web, 1, login="Alex@example.com", address=f"1.2.{n}.4")[0] for n in range(12)
    ]
    assert found == [422] * 10 + [429] * 2
    assert tries(limited_web, 1, login="bo@example.com", address="1.2.3.4") == [422]


def test_too_many_tries_are_told_on_the_form_and_what_was_typed_stays(limited_web: Web) -> None:
    browser = limited_web.browser()
    for _ in range(11):
        last = browser.submit(
            "/log-in?next=/cart", "/log-in", email="bo@example.com", password="a long secret"
        )
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) > 0
    assert "Too many attempts. Try again in" in last.text
    fields = next(form for form in Reader(last.text).forms if form.action == "/log-in").fields
    assert (fields["email"], fields["next"], fields["password"]) == ("bo@example.com", "/cart", "")
    assert "a long secret" not in last.text


def test_a_form_that_is_not_filled_in_is_no_try(limited_web: Web) -> None:
    browser = limited_web.browser()
    assert {browser.submit("/log-in", "/log-in", email="").status_code for _ in range(15)} == {422}
    sent = browser.submit("/log-in", "/log-in", email="bo@example.com", password="x")
    assert "Wrong e-mail or password" in sent.text


def test_many_addresses_of_one_household_are_one(limited_web: Web) -> None:
    found = [
        tries(limited_web, 1, login=f"user-{n}@example.com", address=f"2001:db8:1:2::{n:x}")[0]
        for n in range(11)
    ]
    assert found == [422] * 10 + [429]
