"""API tokens: made on a page, shown once, used by a program, revoked."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.routing import APIRoute
from httpx import Response

from bigtime import site
from bigtime.model import Conflict, get, put, scan_all
from bigtime.site.api_tokens import USED_EVERY, ApiArea, ApiToken, TokenList, note_token_use
from bigtime.systems.accounts.account import revoke_role, view_account
from bigtime.systems.accounts.design import Role
from bigtime.web.api import API
from bigtime.web.api.dependencies import AREAS
from bigtime.web.app import LIMITS
from bigtime.web.http.limits import Limit
from tests.web.browsing import PASSWORD, PLENTY, Browser, Reader, Web, words

LIST = "/me/tokens"
NAMES = re.compile(r"{\w+(:path)?}")


def make(browser: Browser, name: str = "alerts", **typed: str) -> Response:
    return browser.submit(LIST, LIST, **{"name": name, "shop": "", "portal": "", **typed})


def token_in(page: Response) -> str:
    (found,) = re.findall(r"bigtime_[\w-]{43}", page.text)
    return str(found)


def make_token(browser: Browser, name: str = "alerts", **typed: str) -> str:
    return token_in(make(browser, name, **typed))


def ask(web: Web, token: str, method: str = "GET", path: str = "/api/v1/me/user") -> Response:
    headers = {"authorization": f"Bearer {token}"}
    answer: Response = web.browser().request(method, path, headers=headers)
    return answer


def revoke(browser: Browser) -> Response:
    return browser.submit(LIST, f"{LIST}/revoke")


def stored_token(web: Web, token: str) -> ApiToken:
    (item,) = [each for each in all_tokens(web) if each.token_hash == site.hash_api_token(token)]
    return item


def all_tokens(web: Web) -> list[ApiToken]:
    found: list[ApiToken] = web.run(site.view_api_tokens(owner(web)))
    return found


def owner(web: Web) -> Any:
    return web.run(view_account("alex@example.com"))


def test_a_token_is_shown_once_and_lets_a_program_in(web: Web, alex: Browser) -> None:
    page = make(alex)
    token = token_in(page)
    assert page.headers["cache-control"] == "no-store"
    assert "It will not be shown again" in page.text
    assert ask(web, token).json()["username"] == "alex"
    later = alex.get(LIST).text
    assert token not in later and "alerts" in later and "Read only: Deals and catalog" in later


def test_what_is_stored_opens_nothing(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    held = stored_token(web, token)
    assert token not in repr(held)
    assert ask(web, held.token_hash).status_code == 401
    assert ask(web, f"bigtime_{held.token_hash}").status_code == 401


def test_a_form_that_is_sent_twice_makes_one_token(web: Web, alex: Browser) -> None:
    form = alex.form(LIST, LIST)
    typed = {**form.fields, "name": "alerts"}
    first, second = (alex.post(LIST, data=typed) for _ in range(2))
    assert token_in(first) == token_in(second)
    assert len(all_tokens(web)) == 1


def test_a_form_that_is_sent_again_brings_no_revoked_token_back(web: Web, alex: Browser) -> None:
    typed = {**alex.form(LIST, LIST).fields, "name": "alerts"}
    token = token_in(alex.post(LIST, data=typed))
    revoke(alex)
    again = alex.post(LIST, data=typed)
    assert again.status_code == 409 and token not in again.text
    assert "Send it again to create another." in words(again.text)
    assert ask(web, token).status_code == 401 and all_tokens(web) == []
    (form,) = [each for each in Reader(again.text).forms if each.action == LIST]
    another = token_in(alex.post(LIST, data=form.fields))
    assert another != token and ask(web, another).status_code == 200


def test_a_form_of_yesterday_asks_to_be_sent_again(web: Web, alex: Browser) -> None:
    typed = {**alex.form(LIST, LIST).fields, "name": "alerts"}
    web.site.store.clock = lambda: datetime.now(UTC) + timedelta(days=1, seconds=2)
    late = alex.post(LIST, data=typed)
    assert late.status_code == 409 and "open for more than a day" in words(late.text)
    assert all_tokens(web) == []


def test_revoked_is_refused_at_once(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    assert ask(web, token).status_code == 200
    assert revoke(alex).headers["location"] == f"{LIST}?revoked=true"
    refused = ask(web, token)
    assert (refused.status_code, refused.json()["error"]) == (401, "not-signed-in")
    assert "No tokens yet" in alex.get(LIST).text


def test_nobody_revokes_the_token_of_another(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    bo = web.signed_in("bo")
    make_token(bo)
    form = bo.form(LIST, f"{LIST}/revoke")
    bo.post(f"{LIST}/revoke", data={**form.fields, "token": stored_token(web, token).token_hash})
    assert ask(web, token).status_code == 200


def test_the_activity_tells_of_both(web: Web, alex: Browser) -> None:
    make_token(alex, "Alerts of <b>mine</b>")
    revoke(alex)
    told = words(alex.get("/me/activity").text)
    assert "Created the API token Alerts of <b>mine</b>" in told
    assert "Revoked the API token Alerts of <b>mine</b>" in told


def test_a_new_password_ends_every_token(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    new = {"password": PASSWORD, "new_password": "another long enough one"}
    assert alex.submit("/me", "/me/password", **new).status_code == 303
    assert ask(web, token).status_code == 401
    assert "No tokens yet" in alex.get(LIST).text


def test_a_token_that_leaves_the_list_is_deleted(web: Web, alex: Browser) -> None:
    """Else no deletion of the account would find it, nor the address in it."""
    make_token(alex)
    new = {"password": PASSWORD, "new_password": "another long enough one"}
    alex.submit("/me", "/me/password", **new)
    token = make_token(alex, "newer")
    assert web.run(scan_all(ApiToken)) == [stored_token(web, token)]


def test_an_expired_token_is_refused_and_makes_room(web: Web, alex: Browser) -> None:
    token = make_token(alex, days="7")
    held = stored_token(web, token)
    assert held.expires_at - held.created_at == timedelta(days=7)
    web.site.store.clock = lambda: datetime.now(UTC) + timedelta(days=7, seconds=1)
    assert ask(web, token).status_code == 401


def test_twenty_are_enough(web: Web, alex: Browser) -> None:
    form = alex.form(LIST, LIST)
    for number in range(site.MOST_TOKENS):
        site_token = site.hash_api_token(f"bigtime_{number}")
        web.run(site.create_api_token(owner(web), site_token, f"t{number}", [ApiArea.DEALS]))
    assert "Revoke one to create another" in alex.get(LIST).text
    refused = alex.post(LIST, data={**form.fields, "name": "one more"})
    assert refused.status_code == 422 and "You have the maximum of 20 API tokens" in words(
        refused.text
    )
    revoke(alex)
    assert make(alex, "one more").status_code == 200


def test_tokens_made_at_once_are_no_more_than_allowed(web: Web, alex: Browser) -> None:
    """The list has a version: of two that read it at once, one is refused."""
    user = owner(web)
    web.run(site.create_api_token(user, site.hash_api_token("bigtime_a"), "a", [ApiArea.DEALS]))
    old = web.run(get(TokenList.key(user.login)))
    web.run(site.create_api_token(user, site.hash_api_token("bigtime_b"), "b", [ApiArea.DEALS]))
    with pytest.raises(Conflict):
        web.run(put(old))


def test_wrong_fields_are_told_and_what_was_typed_stays(alex: Browser) -> None:
    form = alex.form(LIST, LIST)
    typed = {**form.fields, "name": "x" * 61, "deals": "", "shop": "", "portal": ""}
    refused = alex.post(LIST, data=typed)
    told = words(refused.text)
    assert refused.status_code == 422
    assert "1 to 60 printable characters" in told and "Choose at least one area" in told
    assert "x" * 61 in refused.text and "bigtime_" not in refused.text


def test_a_form_without_its_token_makes_nothing(web: Web, alex: Browser) -> None:
    form = alex.form(LIST, LIST)
    assert alex.post(LIST, data={**form.fields, "form_token": "x"}).status_code == 400
    assert alex.post(f"{LIST}/revoke", data={"form_token": "x"}).status_code == 400
    assert all_tokens(web) == []


def test_the_pages_are_for_those_who_are_signed_in(visitor: Browser) -> None:
    assert visitor.get(LIST).headers["location"].startswith("/log-in")


# What a token may


def test_a_token_opens_no_page(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    assert ask(web, token, path="/me").headers["location"].startswith("/log-in")
    browser = web.browser()
    browser.keep("session", token)
    assert browser.get("/me").status_code == 303
    assert browser.get("/api/v1/me/user").status_code == 401


def routes() -> list[tuple[str, str, str]]:
    """The method, the path and the tag of every route that asks who calls."""
    found = []
    for router in API:
        for route in router.routes:
            if isinstance(route, APIRoute) and "401" in map(str, route.responses):
                path = NAMES.sub("x", route.path)
                found.append((min(route.methods or ()), path, str(route.tags[0])))
    return found


SCOPES = {
    "deals:read": {"access": "read", "deals": "yes"},
    "shop:write": {"access": "write", "deals": "", "shop": "yes"},
    "portal:write": {"access": "write", "deals": "", "portal": "yes"},
}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_is_for_its_areas_and_reads_unless_it_may_write(web: Web, scope: str) -> None:
    """Every route against a token of one who has all roles."""
    browser = web.signed_in("robin", Role.EDITOR, Role.ADMIN)
    token, (area, access) = make_token(browser, **SCOPES[scope]), scope.split(":")
    for method, path, tag in routes():
        if path == "/api/v1/sessions":
            continue
        answer = ask(web, token, method, path)
        is_in_scope = AREAS.get(tag) == area and (access == "write" or method == "GET")
        is_refused = answer.status_code == 403 and answer.json()["error"] == "out-of-scope"
        assert is_refused is not is_in_scope, (method, path, answer.text)


def test_no_token_manages_sessions(web: Web, alex: Browser) -> None:
    token = make_token(alex, access="write", shop="yes", portal="yes")
    for method, path in (
        ("GET", "/me/session"),
        ("DELETE", "/me/session"),
        ("GET", "/me/sessions"),
        ("DELETE", "/me/sessions"),
        ("DELETE", "/me/sessions/x"),
    ):
        answer = ask(web, token, method, f"/api/v1{path}")
        assert (answer.status_code, answer.json()["error"]) == (403, "out-of-scope")
    assert alex.get("/me").status_code == 200


def test_a_token_may_no_more_than_its_user(web: Web) -> None:
    edith = web.signed_in("edith", Role.EDITOR)
    token = make_token(edith, access="write")
    assert ask(web, token, "POST", "/api/v1/brands").status_code == 400
    web.run(revoke_role("edith@example.com", Role.EDITOR))
    web.site.visitors.forget_all()
    answer = ask(web, token, "POST", "/api/v1/brands")
    assert (answer.status_code, answer.json()["error"]) == (403, "not-allowed")
    sam = make_token(web.signed_in("sam"), access="write", portal="yes")
    assert ask(web, sam, path="/v1.0/tenants").status_code == 403


# Limits and uses


def test_each_token_has_a_limit_of_its_own(web: Web, alex: Browser) -> None:
    first, second = make_token(alex, "first"), make_token(alex, "second")
    web.site.limits.limits = {**PLENTY, "API token": Limit(2, 3_600)}
    assert [ask(web, first).status_code for _ in range(3)] == [200, 200, 429]
    assert int(ask(web, first).headers["retry-after"]) > 1_000
    assert ask(web, second).status_code == 200
    assert LIMITS["API token"] == Limit(600, 60)


def test_the_last_use_is_written_at_most_hourly(web: Web, alex: Browser) -> None:
    token = make_token(alex)
    assert "Never used" in alex.get(LIST).text
    ask(web, token)
    first = stored_token(web, token).used_at
    assert first is not None and "Last used" in alex.get(LIST).text
    web.site.visitors.forget_all()
    ask(web, token)
    assert stored_token(web, token).used_at == first
    web.site.visitors.forget_all()
    web.site.store.clock = lambda: datetime.now(UTC) + USED_EVERY
    ask(web, token)
    again = stored_token(web, token).used_at
    assert again is not None and again >= first + USED_EVERY


def test_to_note_a_use_brings_no_revoked_token_back(web: Web, alex: Browser) -> None:
    token_hash = stored_token(web, make_token(alex)).token_hash
    revoke(alex)
    with pytest.raises(site.UnknownToken):
        web.run(note_token_use(token_hash))
    assert all_tokens(web) == []
