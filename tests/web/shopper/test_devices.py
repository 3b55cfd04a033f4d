"""Where a user is signed in: listed by device, ended one by one; editors who are idle are out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cachetools import TTLCache

from bigtime.store import Exchange
from bigtime.systems.accounts.design import Role
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import get_session, view_sessions
from bigtime.wire import DynamoDBError, Request
from tests.web.browsing import PASSWORD, Browser, Web, words
from tests.web.portal.scene import later

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
EMAIL = "alex@example.com"


def log_in(web: Web, agent: str, email: str = EMAIL) -> Browser:
    browser = web.browser(headers={"user-agent": agent})
    sent = browser.submit("/log-in", "/log-in", email=email, password=PASSWORD)
    assert sent.status_code == 303
    return browser


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX, "Firefox on Windows"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/126.0 Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Linux; Android 14) {WEBKIT} Chrome/126.0 Mobile Safari/537.36",
         "Chrome on Android"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/126.0 Safari/537.36 Edg/126.0",
         "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like"
         " Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
         " Version/17.5 Safari/605.1.15", "Safari on Mac"),
        ("Mozilla/5.0 (compatible; Windows)", "A browser on Windows"),
        ("curl/8.5.0", "curl"),
        ("python-httpx/0.27", "python-httpx"),
        ("<script>alert(1)</script>", "Unknown device"),
        ("Mozilla/5.0", "Unknown device"),
        ("", "Unknown device"),
        ("x" * 3_000, "Unknown device"),
    ],
)  # fmt: skip
def test_a_device_is_named_in_plain_words(web: Web, agent: str, device: str) -> None:
    web.join("alex")
    browser = log_in(web, agent)
    page = browser.get("/me").text
    assert f"<strong>{device}</strong>" in page and "<script>alert" not in page


def test_sessions_are_listed_this_one_first_and_ended_one_by_one(web: Web) -> None:
    web.join("alex")
    phone, desk, bo = log_in(web, "curl/8"), log_in(web, FIREFOX), web.signed_in("bo")
    said = words(desk.get("/me").text)
    assert said.index("Firefox on Windows This device") < said.index("curl Since")
    assert said.count("last seen") == 2
    form = desk.form("/me", "/me/sessions/end")
    assert form.fields["session"] == hash_token(phone.cookies["session"])
    other = {"session": form.fields["session"], "form_token": bo.token()}
    assert bo.post("/me/sessions/end", data=other).status_code == 303
    assert phone.get("/me").status_code == 200
    for _ in range(2):
        sent = desk.post("/me/sessions/end", data=form.fields)
        assert (sent.status_code, sent.headers["location"]) == (303, "/me")
    assert phone.get("/me").status_code == 303
    assert desk.get("/me").status_code == bo.get("/me").status_code == 200
    assert "Sign out everywhere else" not in desk.get("/me").text


def test_a_form_that_names_no_session_is_refused(alex: Browser) -> None:
    for session, status in (("", 400), ("x", 422), ("y" * 200, 400)):
        data = {"session": session, "form_token": alex.token()}
        assert alex.post("/me/sessions/end", data=data).status_code == status


def test_everywhere_else_is_signed_out_at_once(web: Web, alex: Browser) -> None:
    others = [web.session_of(EMAIL, f"other-{number}") for number in range(3)]
    bo = web.signed_in("bo")
    sent = alex.submit("/me", "/me/sessions/end-others")
    assert (sent.status_code, sent.headers["location"]) == (303, "/me")
    assert [other.get("/me").status_code for other in others] == [303] * 3
    assert alex.get("/me").status_code == bo.get("/me").status_code == 200


@pytest.mark.parametrize("path", ["/me/sessions/end", "/me/sessions/end-others"])
def test_who_is_not_signed_in_ends_nothing(web: Web, alex: Browser, path: str) -> None:
    visitor = web.browser()
    data = {"session": hash_token(alex.cookies["session"]), "form_token": visitor.token()}
    sent = visitor.post(path, data=data)
    assert (sent.status_code, sent.headers["location"]) == (303, "/log-in")
    assert alex.get("/me").status_code == 200
    alex.post(path, data={**data, "form_token": "made up"})
    assert alex.get("/me").status_code == 200


# Last seen


def pass_time(web: Web, **by: float) -> None:
    later(web, **by)
    web.site.visitors.forget_all()  # which are looked up again after a second


def test_the_last_use_is_written_every_five_minutes_and_not_more_often(
    web: Web, alex: Browser
) -> None:
    written: list[Any] = []

    def note(exchange: Exchange) -> None:
        if exchange.request.operation == "UpdateItem":
            written.append(exchange.request.params["Key"])

    web.site.store.hooks += (note,)
    for _ in range(12):
        alex.get("/")
        pass_time(web, minutes=1)
    assert len(written) == 2
    (session,) = web.run(view_sessions(EMAIL))
    assert timedelta(0) <= web.site.store.clock() - session.last_seen <= timedelta(minutes=6)


def test_pages_can_be_read_where_the_last_use_cannot_be_written(
    web: Web, alex: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    send = web.site.store.send

    async def refuse(request: Request) -> Any:
        if request.operation == "UpdateItem":
            raise DynamoDBError("the disk is full")
        return await send(request)

    web.site.store.send = refuse  # type: ignore[method-assign]
    pass_time(web, minutes=10)
    assert "alex" in words(alex.get("/").text)
    assert "cannot be noted" in caplog.text


# Idle


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_an_editor_or_admin_who_is_idle_is_signed_out(web: Web, role: Role) -> None:
    erin = web.signed_in("erin", role)
    for _ in range(4):
        pass_time(web, minutes=24)
        assert erin.get("/me").status_code == 200
    pass_time(web, minutes=31)
    assert erin.get("/me").headers["location"] == "/log-in?next=/me"
    assert "Sign out" not in words(erin.get("/").text)


def test_a_shopper_stays_signed_in(web: Web, alex: Browser) -> None:
    pass_time(web, days=6)
    assert alex.get("/me").status_code == 200


def test_how_long_is_a_setting(web: Web) -> None:
    web.site.visitors.idle = timedelta(minutes=60)
    erin = web.signed_in("erin", Role.EDITOR)
    pass_time(web, minutes=59)
    assert erin.get("/editor").status_code == 200
    pass_time(web, minutes=61)
    assert erin.get("/editor").status_code == 303


def test_a_session_that_ends_as_its_use_is_noted_has_ended(web: Web, alex: Browser) -> None:
    token = hash_token(alex.cookies["session"])
    pass_time(web, minutes=10)
    web.run(get_session(token))
    other = web.session_of(EMAIL, "other")
    other.post("/me/sessions/end", data={"session": token, "form_token": other.token()})
    assert alex.get("/me").status_code == 303


@pytest.mark.parametrize("action", ["/log-out-everywhere", "/me/sessions/end-others"])
def test_others_who_are_signed_in_are_not_looked_up_again(
    web: Web, alex: Browser, action: str
) -> None:
    bo = web.signed_in("bo")
    web.session_of("alex@example.com", "another-device")
    web.site.visitors._kept = TTLCache(100, 1.0, timer=lambda: 0.0)
    form = alex.form("/me", action)
    assert bo.get("/me").status_code == 200
    known = web.site.visitors._kept[bo.cookies["session"]]
    alex.post(action, data=form.fields)
    assert web.site.visitors._kept[bo.cookies["session"]] is known
