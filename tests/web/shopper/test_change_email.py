"""Changing one's e-mail address on the account page, with a code to both addresses."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model import get, scan_all, verify
from bigtime.site.design import EmailChange, EmailMove
from bigtime.site.systems import SITE
from bigtime.systems import portal
from bigtime.systems.accounts.account import verify_password
from bigtime.systems.accounts.design import Account
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.web.app import LIMITS
from tests.systems.portal.scenes import ADMIN, new_product
from tests.web.browsing import PASSWORD, Browser, Web, words
from tests.web.portal.scene import code_for, customer, later, letters, wrong

OLD, NEW = "alex@example.com", "alex@new.example"


def ask(browser: Browser, email: str = NEW, password: str = PASSWORD) -> Any:
    return browser.submit("/me/email", "/me/email", email=email, password=password)


def begin(browser: Browser, email: str = NEW) -> str:
    """The page that asks for the codes."""
    sent = ask(browser, email)
    assert sent.status_code == 303, words(sent.text)
    location: str = sent.headers["location"]
    return location


def enter(browser: Browser, page: str, login_code: str, email_code: str) -> Any:
    return browser.submit(page, page, login_code=login_code, email_code=email_code)


def move(web: Web, browser: Browser, old: str = OLD, email: str = NEW) -> Any:
    page = begin(browser, email)
    return enter(browser, page, code_for(web, old), code_for(web, email))


def test_the_account_page_leads_there(alex: Browser) -> None:
    assert "/me/email" in alex.links("/me")
    assert OLD in words(alex.get("/me/email").text)


def test_an_account_moves_and_goes_on_in_a_new_session(web: Web, alex: Browser) -> None:
    phone = web.session_of(OLD, "phone")
    assert phone.get("/me").status_code == 200
    before = alex.cookies["session"]
    done = move(web, alex)
    assert (done.status_code, done.headers["location"]) == (303, "/me?moved=true")
    assert alex.cookies["session"] != before
    said = words(alex.get("/me?moved=true").text)
    assert f"Signed in as {NEW}." in said and "E-mail address changed." in said
    assert phone.get("/me").status_code == 303
    assert web.run(verify_password(NEW, PASSWORD)).username == "alex"
    assert web.run(get(Account.key(OLD))) is None
    assert not web.run(scan_all(EmailMove))
    assert "changed" not in alex.get("/me").text.partition("<main")[2].partition("</h2>")[0]
    assert web.run(verify(SITE)) == []
    visitor = web.browser()
    refused = visitor.submit("/log-in", "/log-in", email=OLD, password=PASSWORD)
    assert refused.status_code == 422
    assert visitor.submit("/log-in", "/log-in", email=NEW, password=PASSWORD).status_code == 303


def test_the_page_says_what_is_wrong(web: Web, alex: Browser) -> None:
    for typed, said in (
        ({"password": "not mine"}, "This is not your password"),
        ({"email": OLD.upper()}, "This is already your e-mail address"),
        ({"email": "nonsense"}, "e-mail"),
        ({"email": ""}, "Please fill out this field."),
        ({"email": "<script>@example.com"}, "e-mail"),
        ({"password": ""}, "Please fill out this field."),
    ):
        refused = ask(alex, **typed)
        assert refused.status_code == 422, typed
        assert said in words(refused.text)
        assert PASSWORD not in refused.text and "<script>@" not in refused.text
    assert letters(web, OLD) == [] and not web.run(scan_all(EmailChange))


def test_each_wrong_code_is_shown_at_its_field(web: Web, alex: Browser) -> None:
    page = begin(alex)
    old, new = code_for(web, OLD), code_for(web, NEW)
    shown = enter(alex, page, wrong(old), new).text
    assert 'id="login_code-fault"' in shown and 'id="email_code-fault"' not in shown
    shown = enter(alex, page, old, wrong(new)).text
    assert 'id="email_code-fault"' in shown and 'id="login_code-fault"' not in shown
    shown = enter(alex, page, wrong(old), wrong(new)).text
    assert 'id="email_code-fault"' in shown and 'id="login_code-fault"' in shown
    assert enter(alex, page, "", "").status_code == 422
    assert enter(alex, page, f" {old[:3]} {old[3:]}", new).status_code == 303


def test_new_codes_replace_the_old_ones(web: Web, alex: Browser) -> None:
    page = begin(alex)
    old = code_for(web, OLD)
    later(web, seconds=1)
    again = alex.submit(page, f"{page}/again")
    assert again.headers["location"] == f"{page}?sent=again"
    assert "New codes are on their way." in words(alex.get(again.headers["location"]).text)
    assert enter(alex, page, old, code_for(web, NEW)).status_code == 422
    assert enter(alex, page, code_for(web, OLD), code_for(web, NEW)).status_code == 303


def test_codes_are_good_for_ten_minutes_and_the_page_for_an_hour(web: Web, alex: Browser) -> None:
    page = begin(alex)
    codes = code_for(web, OLD), code_for(web, NEW)
    later(web, minutes=11)
    refused = enter(alex, page, *codes)
    assert refused.status_code == 422 and "request a new one" in words(refused.text)
    later(web, minutes=50)
    assert alex.get(page).status_code == 404


def test_nobody_learns_whether_the_new_address_has_an_account(web: Web, alex: Browser) -> None:
    web.join("nina")
    pages = {}
    for email in ("nina@example.com", NEW):
        page = begin(alex, email)
        later(web, seconds=1)
        shown = enter(alex, page, code_for(web, OLD), "000000")
        pages[email] = words(shown.text.replace(email, "").replace(page, ""))
    assert len({*pages.values()}) == 1
    (told,) = letters(web, "nina@example.com")
    assert "There is an account with it already" in told.text
    assert OLD not in told.text


def test_another_s_change_is_as_unknown_as_none(web: Web, alex: Browser) -> None:
    page = begin(alex)
    bo = web.signed_in("bo")
    assert bo.get(page).status_code == bo.get("/me/email/nothing").status_code == 404
    data = {"login_code": "1", "email_code": "1", "form_token": bo.token()}
    assert bo.post(page, data=data).status_code == 404
    assert bo.post(f"{page}/again", data=data).status_code == 404


def test_every_route_asks_to_sign_in_and_for_a_token(web: Web, alex: Browser) -> None:
    page = begin(alex)
    visitor = web.browser()
    for path in ("/me/email", page):
        assert visitor.get(path).headers["location"].startswith("/log-in")
    for path in ("/me/email", page, f"{page}/again"):
        data = {"login_code": "1", "email_code": "1", "email": NEW, "password": PASSWORD}
        sent = visitor.post(path, data={**data, "form_token": visitor.token()})
        assert sent.headers["location"].startswith("/log-in")
        assert alex.post(path, data={**data, "form_token": "x"}).status_code == 400


def test_passwords_are_limited(web: Web, alex: Browser) -> None:
    web.site.limits.limits.update({"change password": LIMITS["change password"]})
    for _ in range(10):
        assert ask(alex, password="not mine").status_code == 422
    refused = ask(alex)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
    assert letters(web, OLD) == []


def test_codes_to_one_address_are_limited(web: Web, alex: Browser) -> None:
    page = begin(alex)
    web.site.limits.limits.update({"one-time code to": LIMITS["one-time code to"]})
    statuses = [alex.submit(page, f"{page}/again").status_code for _ in range(6)]
    assert statuses == [303] * 5 + [429]


def test_a_kill_before_the_rest_is_finished_leaves_nobody_signed_in(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> Any:
        raise OSError("the machine is gone")

    phone = web.session_of(OLD, "phone")
    page = begin(alex)
    monkeypatch.setattr("bigtime.web.shop.change_email.pages.sign_in", die)
    assert enter(alex, page, code_for(web, OLD), code_for(web, NEW)).status_code == 500
    assert phone.get("/me").status_code == alex.get("/me").status_code == 303
    assert web.run(verify_password(NEW, PASSWORD)).username == "alex"
    assert len(web.run(scan_all(EmailMove))) == 1  # for the worker


# A customer of the portal


def test_orders_come_along_and_their_old_links_work(web: Web) -> None:
    tenant, cara = customer(web)
    order = web.run(portal.place_order(tenant.id, {new_product(web).id: 1}))
    assert "Your hosting orders move to the new address too" in words(cara.get("/me/email").text)
    assert move(web, cara, tenant.email).status_code == 303
    assert f"Ordering as {NEW}." in words(cara.get("/portal").text)
    successor = web.run(portal.tenant_of(NEW))
    (moved,) = web.run(portal.list_orders(successor.id))
    assert moved.total == order.total and f"/portal/orders/{moved.id}" in cara.links("/portal")
    for order_id in (moved.id, order.id):
        assert moved.id in words(cara.get(f"/portal/orders/{order_id}").text)
    unknown = moved.id[:-1] + ("1" if moved.id.endswith("0") else "0")
    assert cara.get(f"/portal/orders/{unknown}").status_code == 404
    assert cara.get("/portal/orders/x").status_code == 404


def test_who_is_suspended_cannot_leave_it_behind(web: Web) -> None:
    tenant, cara = customer(web)
    page = begin(cara)
    web.run(suspend_tenant(tenant.id, "It owes us money", by=ADMIN))
    refused = enter(cara, page, code_for(web, tenant.email), code_for(web, NEW))
    assert refused.status_code in (403, 422) and "Contact us" in words(refused.text)
    refused = ask(cara)
    assert refused.status_code in (403, 422) and "Contact us" in words(refused.text)
