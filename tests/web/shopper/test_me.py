"""The page of whoever is signed in, and changing a password."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.accounts.account import verify_password
from bigtime.systems.accounts.design import Identity, WrongCredentials
from bigtime.web.pages.signing_in import begin_session
from tests.web.browsing import PASSWORD, Browser, Web, words

NEW = "battery staple"


def change(browser: Browser, password: str = PASSWORD, new_password: str = NEW) -> Any:
    return browser.submit("/me", "/me/password", password=password, new_password=new_password)


def test_the_page_says_who_one_is(alex: Browser) -> None:
    said = words(alex.get("/me").text)
    assert "Signed in as alex@example.com." in said
    links = [*alex.links("/me")]
    assert {"/inbox", "/me/interests", "/me/activity"} <= {*links}
    assert links.count("/portal") == links.count("/docs") == 2  # there, and at the foot


def test_nobody_has_no_page(visitor: Browser) -> None:
    for path in ("/me", "/me/interests", "/me/activity", "/inbox", "/inbox/x"):
        asked = visitor.get(path)
        assert (asked.status_code, asked.headers["location"]) == (303, f"/log-in?next={path}")


def test_a_new_password_is_good_and_the_old_one_is_not(web: Web, alex: Browser) -> None:
    done = change(alex)
    assert (done.status_code, done.headers["location"]) == (303, "/me?changed=true")
    assert "Password changed." in words(alex.get("/me?changed=true").text)
    web.run(verify_password("alex@example.com", NEW))
    with pytest.raises(WrongCredentials):
        web.run(verify_password("alex@example.com", PASSWORD))


def test_changing_the_password_ends_every_other_session(web: Web, alex: Browser) -> None:
    phone = web.session_of("alex@example.com", "phone")
    bo = web.signed_in("bo")
    assert phone.get("/me").status_code == 200
    change(alex)
    assert phone.get("/me").status_code == 303
    assert alex.get("/me").status_code == bo.get("/me").status_code == 200


def test_a_crash_after_the_change_leaves_no_session_alive(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*told: Any, **more: Any) -> Any:
        raise OSError("the machine is gone")

    phone = web.session_of("alex@example.com", "phone")
    assert phone.get("/me").status_code == 200
    monkeypatch.setattr("bigtime.systems.sessions.delete_sessions", die)
    assert change(alex).status_code == 500
    web.run(verify_password("alex@example.com", NEW))
    assert phone.get("/me").status_code == alex.get("/me").status_code == 303


def test_who_logs_in_with_the_old_password_amid_the_change_is_let_out_again(
    web: Web, alex: Browser
) -> None:
    """The password was right when it was looked at, and the session comes after the change."""
    shown = web.run(verify_password("alex@example.com", PASSWORD))
    change(alex)
    late = begun_by(web, shown)
    assert late.get("/me").status_code == 303
    now = web.run(verify_password("alex@example.com", NEW))
    assert begun_by(web, now).get("/me").status_code == 200


def begun_by(web: Web, identity: Identity) -> Browser:
    """A browser whose session begins with what was shown."""
    assert web.served.portal is not None
    token, _ = web.served.portal.call(begin_session, web.site, identity)
    browser = web.browser()
    browser.keep("session", token)
    return browser


def test_who_changes_the_password_goes_on_in_a_new_session(web: Web, alex: Browser) -> None:
    before = alex.cookies["session"]
    change(alex)
    assert alex.cookies["session"] != before
    old = web.browser()
    old.keep("session", before)
    assert (old.get("/me").status_code, alex.get("/me").status_code) == (303, 200)
    assert words(alex.get("/me").text).count("Since") == 1


@pytest.mark.parametrize(
    ("password", "new", "field", "says"),
    [
        ("wrong", NEW, "password", "This is not your password"),
        ("", NEW, "password", "Please fill out this field."),
        (PASSWORD, "", "new_password", "Please fill out this field."),
        (PASSWORD, "short", "new_password", "at least 8 characters"),
        (PASSWORD, "x" * 257, "new_password", "at most 256 characters"),
        (PASSWORD, "qwertyuiop", "new_password", "This password is easy to guess."),
        (PASSWORD, "alexexample", "new_password", "This password is easy to guess."),
    ],
)
def test_a_wrong_field_is_told_beside_it_and_nothing_changes(
    web: Web, alex: Browser, password: str, new: str, field: str, says: str
) -> None:
    phone = web.session_of("alex@example.com", "phone")
    refused = change(alex, password, new)
    assert refused.status_code == 422
    assert says in refused.text.partition(f'id="{field}-fault">')[2].partition("<")[0]
    web.run(verify_password("alex@example.com", PASSWORD))
    assert phone.get("/me").status_code == 200


def test_where_one_is_logged_in_is_listed(web: Web, alex: Browser) -> None:
    web.session_of("alex@example.com", "phone")
    said = words(alex.get("/me").text)
    assert said.count("Since") == 2 and said.count("This device") == 1


def test_the_same_password_is_no_new_one(alex: Browser) -> None:
    form = alex.form("/me", "/me/password")
    typed = {**form.fields, "password": PASSWORD, "new_password": PASSWORD}
    refused = alex.post("/me/password", data=typed)
    assert refused.status_code == 422 and "differs from your current one" in refused.text
