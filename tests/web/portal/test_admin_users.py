"""Users for an admin: found, given roles and relieved of them, signed out; and who did it."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from httpx import Response

from bigtime.site import delete_account
from bigtime.systems.accounts.account import view_account
from bigtime.systems.accounts.design import Role
from bigtime.systems.sessions.session import view_sessions
from tests.web.browsing import PASSWORD, Browser, Web, words

HERE = "/admin/users"


def page_of(username: str) -> str:
    return f"{HERE}/user?login={username}%40example.com"


def change(browser: Browser, verb: str, username: str, **fields: str) -> Response:
    data = {"form_token": browser.token(), "login": f"{username}@example.com", **fields}
    sent: Response = browser.post(f"{HERE}/{verb}", data=data)
    return sent


def roles_of(web: Web, username: str) -> frozenset[Role]:
    found: frozenset[Role] = web.run(view_account(f"{username}@example.com")).roles
    return found


def test_users_are_listed_newest_first_with_their_roles(web: Web, ada: Browser) -> None:
    web.join("erin", Role.EDITOR)
    web.join("sam")
    shown = words(ada.get(HERE).text)
    assert shown.index("sam@example.com") < shown.index("erin@example.com")
    assert shown.index("erin@example.com") < shown.index("ada@example.com")
    assert "3 users in all" in shown
    assert "Editor" in shown


def test_a_user_without_roles_is_said_to_have_none(web: Web, ada: Browser) -> None:
    """On a phone each cell stands on a line of its own, with its label."""
    web.join("erin", Role.EDITOR)
    web.join("sam")
    rows = {name: row_of(ada.get(HERE).text, name) for name in ("sam", "erin")}
    assert "No roles" in rows["sam"] and "No roles" not in rows["erin"]


def row_of(page: str, username: str) -> str:
    (row,) = [row for row in page.split("<tr>") if f"<bdi>{username}</bdi>" in row]
    return words(row)


@pytest.mark.parametrize(
    ("which", "there", "not_there"),
    [
        ("staff", ["ada", "erin"], ["sam"]),
        ("editor", ["erin"], ["ada", "sam"]),
        ("admin", ["ada"], ["erin", "sam"]),
    ],
)
def test_users_are_listed_by_role(
    web: Web, ada: Browser, which: str, there: list[str], not_there: list[str]
) -> None:
    web.join("erin", Role.EDITOR)
    web.join("sam")
    shown = words(ada.get(f"{HERE}?which={which}").text)
    assert all(f"{name}@example.com" in shown for name in there)
    assert not any(f"{name}@example.com" in shown for name in not_there)


@pytest.mark.parametrize("text", ["sam@example.com", " SAM@Example.com ", "sam", "Sam"])
def test_a_user_is_found_by_e_mail_or_name(web: Web, ada: Browser, text: str) -> None:
    web.join("sam")
    found = ada.get(f"{HERE}/find", params={"text": text})
    assert found.status_code == 303
    assert found.headers["location"] == page_of("sam")


@pytest.mark.parametrize("text", ["", "nobody", "no#body", "x" * 400, "<b>"])
def test_one_who_is_not_there_is_not_found(ada: Browser, text: str) -> None:
    found = ada.get(f"{HERE}/find", params={"text": text})
    assert found.status_code == 404
    assert "No user has this e-mail address or username." in words(found.text)


def test_a_role_is_given_works_at_once_and_is_noted(web: Web, ada: Browser) -> None:
    sam = web.signed_in("sam")
    assert sam.get("/editor").status_code == 403
    form = ada.form(page_of("sam"), f"{HERE}/grant")
    given = ada.post(f"{HERE}/grant", data={**form.fields, "role": "editor"})
    assert given.headers["location"] == f"{page_of('sam')}&done=granted"
    assert sam.get("/editor").status_code == 200
    shown = words(ada.get(page_of("sam")).text)
    assert "ada gave the role editor" in shown
    assert "ada gave the role editor user sam" in words(ada.get(f"{HERE}/log").text)


def test_a_role_that_is_taken_away_is_gone_from_open_sessions(web: Web, ada: Browser) -> None:
    erin = web.signed_in("erin", Role.EDITOR)
    assert erin.get("/editor").status_code == 200
    taken = change(ada, "revoke", "erin", role="editor")
    assert taken.headers["location"] == f"{page_of('erin')}&done=revoked"
    assert erin.get("/editor").status_code == 403
    assert erin.get("/me").status_code == 200
    assert "took away the role editor" in words(ada.get(page_of("erin")).text)


def test_the_only_admin_stays_one(web: Web, ada: Browser) -> None:
    refused = change(ada, "revoke", "ada", role="admin", confirmed="yes")
    assert refused.status_code == 409
    assert "This is the only admin." in words(refused.text)
    assert Role.ADMIN in roles_of(web, "ada")
    assert ada.get(HERE).status_code == 200


def test_one_s_own_admin_role_takes_a_confirmation(web: Web, ada: Browser) -> None:
    web.join("bea", Role.ADMIN)
    refused = change(ada, "revoke", "ada", role="admin")
    assert refused.status_code == 422
    assert "This is your own admin role." in words(refused.text)
    assert Role.ADMIN in roles_of(web, "ada")
    taken = change(ada, "revoke", "ada", role="admin", confirmed="yes")
    assert (taken.status_code, taken.headers["location"]) == (303, "/")
    assert ada.get(HERE).status_code == 403


def test_another_s_admin_role_takes_none(web: Web, ada: Browser) -> None:
    bea = web.signed_in("bea", Role.ADMIN)
    assert change(ada, "revoke", "bea", role="admin").status_code == 303
    assert bea.get(HERE).status_code == 403


def test_given_twice_is_noted_once(web: Web, ada: Browser) -> None:
    web.join("sam")
    for _ in range(2):
        assert change(ada, "grant", "sam", role="editor").status_code == 303
    assert words(ada.get(page_of("sam")).text).count("gave the role editor") == 1


@pytest.mark.parametrize(
    ("verb", "fields"),
    [("grant", {"role": "king"}), ("grant", {}), ("revoke", {"role": ""}), ("sessions", {})],
)
def test_what_cannot_be_meant_is_refused(ada: Browser, verb: str, fields: dict[str, str]) -> None:
    sent = ada.post(f"{HERE}/{verb}", data={"form_token": ada.token(), "login": "", **fields})
    assert sent.status_code == 400


def test_a_user_who_is_not_there_is_no_page(ada: Browser) -> None:
    assert ada.get(page_of("nobody")).status_code == 404
    assert change(ada, "grant", "nobody", role="editor").status_code == 404
    assert change(ada, "sessions", "nobody").status_code == 404


def test_sessions_are_shown_and_ended(web: Web, ada: Browser) -> None:
    sam = web.signed_in("sam")
    assert sam.get("/me").status_code == 200
    assert "Unknown device" in words(ada.get(page_of("sam")).text)
    assert change(ada, "sessions", "sam").status_code == 303
    assert sam.get("/me").status_code == 303
    assert web.run(view_sessions("sam@example.com")).items == []
    shown = words(ada.get(page_of("sam")).text)
    assert "Not signed in anywhere." in shown
    assert "ada ended all sessions" in shown


def test_users_as_csv_are_all_of_them_and_noted(web: Web, ada: Browser) -> None:
    for number in range(120):
        web.join(f"user-{number}")
    web.join("erin", Role.EDITOR)
    sent = ada.get(f"{HERE}.csv")
    assert sent.headers["content-type"] == "text/csv; charset=utf-8"
    assert sent.headers["content-disposition"] == 'attachment; filename="users.csv"'
    assert sent.headers["cache-control"] == "no-store"
    rows = list(csv.DictReader(StringIO(sent.text)))
    assert len(rows) == 122
    assert rows[0]["E-mail"] == "erin@example.com"
    assert rows[0]["Roles"] == "editor"
    staff = list(csv.DictReader(StringIO(ada.get(f"{HERE}.csv?which=editor").text)))
    assert [row["E-mail"] for row in staff] == ["erin@example.com"]
    log = words(ada.get(f"{HERE}/log").text)
    assert "ada downloaded the list (all) list users" in log
    assert "ada downloaded the list (which editor) list users" in log


def test_a_closed_account_is_marked_and_gets_no_role(web: Web, ada: Browser) -> None:
    web.join("sam")
    web.run(delete_account("sam@example.com", PASSWORD))
    shown = words(ada.get(page_of("sam")).text)
    assert "Closed by its owner" in shown
    assert "Give editor" not in shown
    assert "closed" in words(ada.get(HERE).text)
    assert change(ada, "grant", "sam", role="editor").status_code == 404
