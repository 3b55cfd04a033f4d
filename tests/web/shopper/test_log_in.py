"""Logging in and out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import scan
from bigtime.site.design import SavedForm
from bigtime.site.registration import join
from bigtime.systems.accounts.design import Role
from bigtime.systems.sessions.design import UnknownSession, hash_token
from bigtime.systems.sessions.session import delete_sessions, get_session, view_sessions
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
        each for each in log_in_as(member).headers.get_list("set-cookie") if "session=" in each
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


def test_a_page_without_access_is_come_back_to_with_another_account(
    web: Web, alex: Browser
) -> None:
    web.join("erin", Role.EDITOR)
    asked = "/editor?name=Cast%20%26%20Crumb&more=1"
    refused = alex.get(asked)
    assert refused.status_code == 403
    assert "You are signed in as <bdi>alex</bdi>." in refused.text
    form = next(form for form in Reader(refused.text).forms if "next" in form.fields)
    left = alex.post(form.action, data=form.fields)
    assert left.status_code == 303
    assert "session" not in alex.cookies
    page = left.headers["location"]
    signed_in = alex.submit(page, "/log-in", email="erin@example.com", password=PASSWORD)
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, asked)
    assert alex.get(asked).status_code == 200


def test_signing_out_leads_to_no_other_site(alex: Browser) -> None:
    form = alex.form("/", "/log-out")
    done = alex.post("/log-out", data={**form.fields, "next": "https://elsewhere.example/"})
    assert (done.status_code, done.headers["location"]) == (303, "/log-in?next=/")


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


# A form whose session had ended


def forms_kept(web: Web) -> list[SavedForm]:
    return list(web.run(scan(SavedForm)))


def test_after_signing_in_again_the_form_is_back_as_it_was_typed(web: Web) -> None:
    """S2.1: an editor's new deal was lost, and the front page came."""
    erin = web.signed_in("erin", Role.EDITOR)
    form = erin.form("/editor/deals/new", "/editor/deals")
    typed = {**form.fields, "title": "A <lamp>", "description": "Brass,\nand oak", "price": "12.5"}
    web.run(delete_sessions("erin@example.com"))
    web.site.visitors.forget_all()
    page = {"referer": "http://testserver/editor/deals/new"}

    lost = erin.post("/editor/deals", data=typed, headers=page)

    assert lost.status_code == 303
    asked = lost.headers["location"]
    assert "You were signed out." in words(erin.get(asked).text)
    signed_in = erin.submit(asked, "/log-in", email="erin@example.com", password=PASSWORD)
    back = signed_in.headers["location"]
    assert back.startswith("/editor/deals/new?restore=")
    shown = erin.get(back).text
    assert 'value="A &lt;lamp&gt;"' in shown and 'value="12.5"' in shown
    assert ">Brass,\nand oak</textarea>" in shown
    assert "Check it, and send it again." in shown
    assert f'name="key" value="{form.fields["key"]}"' in shown


def test_what_was_typed_is_kept_for_an_hour_without_passwords(web: Web, alex: Browser) -> None:
    form = alex.form("/me", "/me/password")
    web.run(delete_sessions("alex@example.com"))
    web.site.visitors.forget_all()
    typed = {**form.fields, "note": "hello", "current_password": "secret", "code": "123456"}
    location = alex.post("/me/password", data=typed).headers["location"]
    (kept,) = forms_kept(web)
    assert kept.fields.keys() & {"note"} and "secret" not in str(kept) and "123456" not in str(kept)
    assert f"restore%3D{kept.form_id}" in location
    assert kept.expires_at - datetime.now(UTC) <= timedelta(hours=1)
    assert form.fields["form_token"] not in str(kept)


@pytest.mark.parametrize("token", ["", "made-up"])
def test_nothing_is_kept_of_a_form_from_elsewhere(web: Web, alex: Browser, token: str) -> None:
    web.run(delete_sessions("alex@example.com"))
    web.site.visitors.forget_all()
    lost = alex.post("/me/addresses", data={"form_token": token, "name": "x"})
    assert (lost.status_code, lost.headers["location"]) == (303, "/log-in")
    assert forms_kept(web) == []
    assert alex.get("/log-in?restore=" + "0" * 32).status_code == 200


def test_too_much_is_not_kept(web: Web, alex: Browser) -> None:
    form = alex.form("/me/addresses", "/me/addresses")
    web.run(delete_sessions("alex@example.com"))
    web.site.visitors.forget_all()
    lost = alex.post("/me/addresses", data={**form.fields, "street": "x" * 20_001})
    assert lost.headers["location"] == "/log-in?next=/me/addresses&ended=yes"
    assert forms_kept(web) == []


def test_a_form_of_an_older_session_leads_back_to_itself(web: Web, alex: Browser) -> None:
    """S2.1: there is a new session, from another tab."""
    own = {"sec-fetch-site": "same-origin", "referer": "http://testserver/me/addresses"}
    old = {"form_token": "of an older session", "street": "1 Long Lane", "name": "home"}
    refused = alex.post("/me/addresses", data=old, headers=own)
    assert refused.status_code == 400
    (back,) = [link for link in Reader(refused.text).links if "restore=" in link]
    assert 'value="1 Long Lane"' in alex.get(back).text
    assert "restore=" not in alex.post("/me/addresses", data=old).text
