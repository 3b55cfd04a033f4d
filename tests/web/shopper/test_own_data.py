"""One's own data: a download of all of it, and the account deleted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bigtime import site
from bigtime.model import load_many
from bigtime.systems import accounts, catalog, deals
from bigtime.systems.accounts.design import Role
from bigtime.web.shop import own_data
from tests.web.browsing import PASSWORD, Browser, Web, words

SCRIPT = '"><script>alert(1)</script>'


def export(browser: Browser, password: str = PASSWORD) -> Any:
    return browser.submit("/me/data", "/me/data/export", password=password)


def delete(browser: Browser, confirmation: str = "delete", password: str = PASSWORD) -> Any:
    return browser.submit(
        "/me/delete", "/me/data/delete", confirmation=confirmation, password=password
    )


def test_the_account_page_leads_to_both(alex: Browser) -> None:
    assert "/me/data" in alex.links("/me")
    assert "/me/delete" in alex.links("/me/data")


@pytest.mark.parametrize("role", [*Role])
def test_every_role_has_the_pages_and_a_stranger_is_asked_to_sign_in(
    web: Web, visitor: Browser, role: Role
) -> None:
    browser = web.signed_in("kim", role)
    for path in ("/me/data", "/me/delete"):
        assert browser.get(path).status_code == 200
        asked = visitor.get(path)
        assert (asked.status_code, asked.headers["location"]) == (303, f"/log-in?next={path}")
    for path in ("/me/data/export", "/me/data/delete"):
        sent = visitor.post(path, data={"form_token": visitor.token(), "password": PASSWORD})
        assert sent.status_code == 303 and sent.headers["location"].startswith("/log-in")
    assert export(browser).status_code == 200


def test_an_export_is_one_file_with_everything(web: Web, alex: Browser) -> None:
    web.run(deals.like_brand("APPLE", "alex"))
    web.run(site.watch_category("HOME", "alex"))
    sent = export(alex)
    assert sent.headers["cache-control"] == "no-store"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["content-disposition"].startswith('attachment; filename="bigtime-data-')
    found = json.loads(sent.content)
    assert found["account"] == "alex@example.com"
    data = found["data"]
    assert {*data} >= {"deals", "catalog", "cart", "shop", "sessions", "accounts", "portal", "site"}
    assert data["deals"]["BrandLike"] == [{"brand": "APPLE", "username": "alex"}]
    assert [watch["target_name"] for watch in data["catalog"]["UserWatch"]] == ["Home"]
    assert len(data["sessions"]["Session"]) == 1
    assert "argon2" not in sent.text and "password_hash" not in sent.text


def test_a_long_export_is_sent_page_by_page(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = web.store.clock().replace(microsecond=0)
    activities = [
        catalog.UserActivity(
            user_id="alex", timestamp=moment, activity_id=f"a{number}", activity_type="deal_view"
        )
        for number in range(450)
    ]
    web.run(load_many(activities))
    sizes: list[int] = []
    chunks = own_data.item_chunks

    async def count(*given: Any) -> Any:
        async for chunk in chunks(*given):
            sizes.append(chunk.count(b"deal_view"))
            yield chunk

    monkeypatch.setattr(own_data, "item_chunks", count)
    found = json.loads(export(alex).content)["data"]["catalog"]["UserActivity"]
    assert {row["activity_id"] for row in found} == {row.activity_id for row in activities}
    assert max(sizes) <= 100


def test_an_export_takes_the_password(alex: Browser) -> None:
    refused = export(alex, "wrong")
    assert refused.status_code == 422
    assert "This is not your password" in words(refused.text)
    assert export(alex, "").status_code == 422


def test_the_page_says_what_is_kept_and_how_long(alex: Browser) -> None:
    said = words(alex.get("/me/delete").text)
    assert "Your orders, for our books: under a random name, and without your address." in said
    assert "Backups keep a copy for at most 35 days." in said
    assert "The log of what staff did" not in said


def test_a_deleted_account_is_closed_everywhere_at_once(web: Web, alex: Browser) -> None:
    phone = web.session_of("alex@example.com", "phone")
    assert phone.get("/me").status_code == 200
    done = delete(alex)
    assert (done.status_code, done.headers["location"]) == (303, "/account-deleted")
    assert "Your account is closed" in words(alex.get("/account-deleted").text)
    assert alex.get("/me").status_code == phone.get("/me").status_code == 303
    refused = alex.submit("/log-in", "/log-in", email="alex@example.com", password=PASSWORD)
    assert refused.status_code == 422
    (erasure,) = web.run(site.view_erasures())
    assert erasure.username == "alex"


@pytest.mark.parametrize("typed", ["delete", " Delete ", "alex@example.com", "ALEX@example.com"])
def test_what_is_typed_to_confirm(alex: Browser, typed: str) -> None:
    assert delete(alex, typed).status_code == 303


@pytest.mark.parametrize("typed", ["", "yes", "bo@example.com", "del", SCRIPT])
def test_without_it_nothing_is_deleted(web: Web, alex: Browser, typed: str) -> None:
    refused = delete(alex, typed)
    assert refused.status_code == 422
    assert SCRIPT not in refused.text
    assert web.run(site.view_erasures()) == []
    assert alex.get("/me").status_code == 200


def test_a_wrong_password_deletes_nothing(web: Web, alex: Browser) -> None:
    refused = delete(alex, password="wrong")
    assert refused.status_code == 422
    assert "This is not your password" in words(refused.text)
    assert web.run(site.view_erasures()) == []


def test_the_last_administrator_is_told_so(web: Web) -> None:
    ada = web.signed_in("ada", Role.ADMIN)
    refused = delete(ada)
    assert refused.status_code == 409
    assert "This is the only admin" in words(refused.text)
    web.run(accounts.verify_password("ada@example.com", PASSWORD))


def test_nobody_gets_a_code_to_a_closed_account(web: Web, alex: Browser, visitor: Browser) -> None:
    delete(alex)
    visitor.submit("/forgot-password", "/forgot-password", email="alex@example.com")
    assert len(web.run(site.view_outbox())) == 0


def test_both_are_limited(limited_web: Web) -> None:
    alex = limited_web.signed_in("alex")
    statuses = [export(alex).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    refused = [delete(alex, password="wrong") for _ in range(11)]
    assert [answer.status_code for answer in refused] == [422] * 10 + [429]
    assert int(refused[-1].headers["retry-after"]) > 0
