"""Signing up: a code to the address, then an account, a user and a session; or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import verify
from bigtime.site.registration import join
from bigtime.systems.accounts.account import sign_up, verify_password, view_account
from bigtime.systems.accounts.design import Role, UnknownLogin
from bigtime.systems.deals.errors import UnknownUser
from bigtime.systems.deals.users import create_user, read_user
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import get_session, view_sessions
from bigtime.systems.shop import SYSTEM as SHOP
from bigtime.systems.shop.customer import create_customer, view_customer
from bigtime.web.app import LIMITS
from tests.web.browsing import Browser, Web, make_web, words
from tests.web.portal.scene import code_for, letters

GOOD = {"username": "Alex", "email": "Alex@Example.com", "password": "correct horse"}


def sign_up_as(browser: Browser, **typed: str) -> Any:
    return browser.submit("/sign-up", "/sign-up", **{**GOOD, **typed})


def join_as(web: Web, browser: Browser, **typed: str) -> Any:
    """Signs up, and types in the code."""
    sent = sign_up_as(browser, **typed)
    assert sent.status_code == 303, sent.text
    page = sent.headers["location"]
    code = code_for(web, typed.get("email", GOOD["email"]).lower())
    return browser.submit(page, page, code=code)


def nothing_was_made(web: Web, login: str = "alex@example.com", username: str = "alex") -> bool:
    with pytest.raises(UnknownLogin):
        web.run(view_account(login))
    with pytest.raises(UnknownUser):
        web.run(read_user(username))
    return True


def test_who_signs_up_has_an_account_a_user_and_a_session(web: Web, visitor: Browser) -> None:
    asked = sign_up_as(visitor)
    assert asked.headers["location"].startswith("/confirm-email/")
    assert nothing_was_made(web) and "session" not in visitor.cookies
    done = join_as(web, visitor)
    assert (done.status_code, done.headers["location"]) == (303, "/")
    identity = web.run(verify_password("alex@example.com", "correct horse"))
    assert (identity.username, identity.roles) == ("alex", {Role.SHOPPER})
    assert identity.is_confirmed
    user = web.run(read_user("alex"))
    assert (user.name, user.email) == ("Alex", "alex@example.com")
    assert "Sign out" in words(visitor.get("/").text)


def test_the_stored_session_is_the_hash_of_a_long_token(web: Web, visitor: Browser) -> None:
    join_as(web, visitor)
    token = visitor.cookies["session"]
    assert len(token) >= 43
    (session,) = web.run(view_sessions("alex@example.com"))
    assert session.session_token == hash_token(token) != token
    assert session.username == "alex@example.com"


def test_one_goes_on_to_where_one_came_from(web: Web, visitor: Browser) -> None:
    form = visitor.form("/sign-up?next=/brands/APPLE", "/sign-up")
    asked = visitor.post("/sign-up", data={**form.fields, **GOOD}).headers["location"]
    done = visitor.submit(asked, asked, code=code_for(web, "alex@example.com"))
    assert done.headers["location"] == "/brands/APPLE"
    assert visitor.get("/sign-up?next=/brands/APPLE").headers["location"] == "/brands/APPLE"


@pytest.mark.parametrize(
    ("field", "typed", "says"),
    [
        ("username", "", "Please fill out this field."),
        ("username", "   ", "Please fill out this field."),
        ("username", "a#b", "cannot contain #"),
        ("username", "a" * 51, "at most 50 characters"),
        ("username", "a\x07b", "cannot contain"),
        ("email", "", "Please fill out this field."),
        ("email", "alex", "looks like alex@example.com"),
        ("email", "alex@example", "looks like alex@example.com"),
        ("email", "a b@example.com", "looks like alex@example.com"),
        ("email", "a" * 250 + "@example.com", "1 to 254 printable characters"),
        ("password", "", "Please fill out this field."),
        ("password", "short", "at least 8 characters"),
        ("password", "x" * 257, "at most 256 characters"),
        ("password", "password1", "This is a very common password."),
        ("password", "alex@example.com", "This password is easy to guess."),
    ],
)
def test_a_wrong_field_is_told_beside_it_and_nothing_is_made(
    web: Web, visitor: Browser, field: str, typed: str, says: str
) -> None:
    refused = sign_up_as(visitor, **{field: typed})
    assert refused.status_code == 422
    told = refused.text.partition(f'id="{field}-fault">')[2].partition("<")[0]
    assert says in told
    assert f'aria-describedby="{field}-hint {field}-fault"' in refused.text
    assert refused.text.count('-fault">') == 1
    assert nothing_was_made(web)
    assert "session" not in visitor.cookies


def test_what_was_typed_stays_but_not_the_password(visitor: Browser) -> None:
    refused = sign_up_as(visitor, email="nonsense", password="a long secret")
    assert 'value="Alex"' in refused.text and 'value="nonsense"' in refused.text
    assert "a long secret" not in refused.text


def test_all_faults_are_told_at_once(visitor: Browser) -> None:
    refused = sign_up_as(visitor, username="", email="", password="")
    assert refused.text.count('-fault">') == 3
    assert refused.text.count(" autofocus") == 1


def test_a_login_that_is_taken_takes_no_username(web: Web, visitor: Browser) -> None:
    web.join("alex")
    assert sign_up_as(visitor, username="bo").status_code == 303
    (mail,) = letters(web, "alex@example.com")
    assert mail.subject == "Someone tried to sign up with your address"
    with pytest.raises(UnknownUser):
        web.run(read_user("bo"))


def test_a_username_that_is_taken_takes_no_login(web: Web, visitor: Browser) -> None:
    web.run(create_user("ALEX"))
    refused = sign_up_as(visitor)
    assert refused.status_code == 422
    assert 'id="username-fault">This username is taken' in refused.text
    with pytest.raises(UnknownLogin):
        web.run(view_account("alex@example.com"))


def test_an_account_that_others_made_keeps_its_user_apart(web: Web, visitor: Browser) -> None:
    """A login without a user of that name, as imports leave them, gives nobody else's name."""
    web.run(sign_up("alex@example.com", "correct horse", "somebody"))
    assert sign_up_as(visitor).status_code == 303
    assert "code" not in letters(web, "alex@example.com")[0].mail_id
    with pytest.raises(UnknownUser):
        web.run(read_user("alex"))


def test_of_two_who_sign_up_at_once_with_one_name_one_has_it(web: Web) -> None:
    browsers = [web.browser() for _ in range(4)]
    emails = [f"alex-{number}@example.com" for number in range(4)]

    def type_code(browser: Browser, email: str, page: str) -> int:
        return browser.submit(page, page, code=code_for(web, email)).status_code

    asked = [
        sign_up_as(browser, email=email).headers["location"]
        for browser, email in zip(browsers, emails, strict=True)
    ]
    with ThreadPoolExecutor(4) as threads:
        codes = threads.map(type_code, browsers, emails, asked)
        assert sorted(codes) == [303, 409, 409, 409]
    user = web.run(read_user("alex"))
    assert web.run(view_account(user.email)).username == "alex"
    for other in {*emails} - {user.email}:
        with pytest.raises(UnknownLogin):
            web.run(view_account(other))


def test_a_planted_cookie_opens_nothing_after_signing_up(web: Web, visitor: Browser) -> None:
    visitor.keep("session", "planted")
    join_as(web, visitor)
    assert visitor.cookies["session"] != "planted"
    other = web.browser()
    other.keep("session", "planted")
    assert "Sign out" not in words(other.get("/").text)


def test_a_new_member_is_made_in_one_transaction(web: Web) -> None:
    sent = []
    web.store.hooks = (lambda exchange: sent.append(exchange.request.operation),)
    web.run(join("bo@example.com", "correct horse", "bo"))
    assert sent == ["TransactWriteItems"]


@pytest.fixture
def limited_browser(engine: Engine, tmp_path: Path) -> Iterator[Browser]:
    """Somebody at a site that counts tries as it does in earnest."""
    front, _ = make_web(engine, tmp_path, limits=LIMITS)
    with TestClient(front) as served:
        browser = Browser(front, follow_redirects=False)
        browser.portal = served.portal
        yield browser


def test_signing_up_too_often_is_told_on_the_form_and_what_was_typed_stays(
    limited_browser: Browser,
) -> None:
    sign_up_as(limited_browser)
    limited_browser.cookies.clear()
    answers = [sign_up_as(limited_browser, username="Alexa") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [303] * 4 + [429]
    seconds = int(answers[-1].headers["retry-after"])
    assert f"Try again in {seconds} seconds." in answers[-1].text
    assert 'value="Alexa"' in answers[-1].text and 'value="Alex@Example.com"' in answers[-1].text
    assert GOOD["password"] not in answers[-1].text


def test_a_form_that_is_not_filled_in_rightly_is_no_try(limited_browser: Browser) -> None:
    wrong = [sign_up_as(limited_browser, email="nonsense").status_code for _ in range(12)]
    assert wrong == [422] * 12
    assert sign_up_as(limited_browser).status_code == 303


# Who is in the shop already


def test_who_signs_up_is_a_customer_of_the_shop(web: Web, visitor: Browser) -> None:
    join_as(web, visitor)
    customer = web.run(view_customer("alex")).customer
    assert (customer.email, customer.name, customer.addresses) == ("alex@example.com", "Alex", {})
    assert web.run(verify(SHOP)) == []


@pytest.mark.parametrize(
    ("username", "email"), [("alex", "other@example.com"), ("other", "alex@example.com")]
)
def test_nobody_signs_up_as_a_customer_who_is_there_already(
    web: Web, visitor: Browser, username: str, email: str
) -> None:
    """One who was imported has orders and addresses, which are nobody else's to see."""
    web.run(create_customer(username, email, "Ada"))
    answer = sign_up_as(visitor)
    if username == "alex":
        assert answer.status_code == 422
        assert 'id="username-fault"' in answer.text
        assert answer.text.count('-fault">') == 1
    else:  # which would tell who is a customer
        assert answer.status_code == 303
        assert [mail.seed for mail in letters(web, email)] == [None]
    assert nothing_was_made(web)
    assert visitor.get("/orders").status_code == 303


# Where one came from


def test_where_one_came_from_is_kept_between_logging_in_and_signing_up(visitor: Browser) -> None:
    wanted = "/brands/CAST%20%26%20CRUMB?after=x&y=1"
    (link,) = [
        link
        for link in visitor.links(f"/log-in?next={quote(wanted)}")
        if link.startswith("/sign-up?")
    ]
    assert visitor.form(link, "/sign-up").fields["next"] == wanted
    (back,) = [each for each in visitor.links(link) if each.startswith("/log-in?")]
    assert visitor.form(back, "/log-in").fields["next"] == wanted
    assert "/sign-up?next" not in visitor.get("/log-in").text


def test_whoever_is_signed_in_signs_up_no_more(alex: Browser) -> None:
    assert (alex.get("/sign-up").status_code, alex.get("/log-in").status_code) == (303, 303)


def test_a_session_of_before_ends_when_somebody_signs_up(web: Web, alex: Browser) -> None:
    before = alex.cookies["session"]
    token = alex.token()
    sent = alex.post("/sign-up", data={**GOOD, "username": "bo", "email": "bo@example.com",
                                       "form_token": token})  # fmt: skip
    page = sent.headers["location"]
    assert alex.submit(page, page, code=code_for(web, "bo@example.com")).status_code == 303
    assert alex.cookies["session"] != before
    with pytest.raises(Exception, match="not signed in"):
        web.run(get_session(hash_token(before)))
