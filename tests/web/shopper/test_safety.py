"""What comes from outside: forms of other sites, and words that want to be more than words."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from bigtime.model import load_many
from bigtime.systems.catalog.design import UserActivity
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.design import MessageKind
from bigtime.systems.deals.featured import set_front_page_deals
from bigtime.systems.deals.interests import Interest, fetch_brand_interest, like_brand
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.users import count_unread_messages
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import view_sessions
from bigtime.web.http.limits import Limit
from tests.web.browsing import PASSWORD, Browser, Web
from tests.web.conftest import PostDeal

SCRIPT = '"><script>alert(1)</script>'
MESSAGE = "0" * 27
FORMS = {
    "/sign-up": {"username": "bo", "email": "bo@example.com", "password": PASSWORD},
    "/log-in": {"email": "alex@example.com", "password": PASSWORD},
    "/log-out": {},
    "/log-out-everywhere": {},
    "/me/sessions/end": {"session": hash_token("token-of-alex@example.com")},
    "/me/sessions/end-others": {},
    "/me/confirm-email": {},
    "/forgot-password": {"email": "alex@example.com"},
    "/me/data/export": {"password": PASSWORD},
    "/me/data/delete": {"password": PASSWORD, "confirmation": "delete"},
    "/me/password": {"password": PASSWORD, "new_password": "battery staple"},
    "/brands/APPLE/like": {},
    "/brands/APPLE/watch": {},
    "/categories/HOME/like": {},
    "/inbox/read": {"message_ids": MESSAGE},
    f"/inbox/{MESSAGE}/read": {},
}


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("token", ["missing", "empty", "made up", "of another"])
def test_a_form_without_our_token_is_refused_and_does_nothing(
    web: Web, alex: Browser, path: str, token: str
) -> None:
    data: dict[str, str] = {**FORMS[path], "back": "/"}
    if token != "missing":
        told = {"empty": "", "made up": "x" * 32}
        data["form_token"] = told.get(token) or web.signed_in("bo").token()
    refused = alex.post(path, data=data)
    assert refused.status_code == 400
    assert "This form has expired" in refused.text
    assert web.run(fetch_brand_interest("APPLE", "alex")) == Interest(liked=False, watched=False)
    assert len(web.run(view_sessions("alex@example.com")).items) == 1
    assert alex.get("/me").status_code == 200


def test_each_form_of_a_cached_page_has_the_token_of_its_session(
    web: Web, post_deal: PostDeal
) -> None:
    login, path = web.join("alex").login, f"/deals/{post_deal().deal_id}"
    browsers = {session: web.session_of(login, session) for session in ("one", "two")}
    for session, browser in 2 * list(browsers.items()):
        tokens = re.findall(r'name="form_token" value="([^"]*)"', browser.get(path).text)
        assert len(tokens) >= 3  # of signing out, of the cart, of saving
        assert set(tokens) == {web.site.form_tokens.token(session)}


@pytest.mark.parametrize("path", ["/sign-up", "/log-in"])
def test_a_visit_has_a_token_of_its_own_too(web: Web, visitor: Browser, path: str) -> None:
    web.join("alex")
    other = web.browser()
    data = {**FORMS[path], "form_token": other.token()}
    assert visitor.post(path, data=data).status_code == 400
    visitor.get(path)
    assert visitor.post(path, data=data).status_code == 400
    assert "session" not in visitor.cookies


@pytest.mark.parametrize("path", FORMS)
def test_a_form_is_sent_as_a_form_and_not_as_anything_else(alex: Browser, path: str) -> None:
    token = alex.token()
    assert alex.post(path, json={**FORMS[path], "form_token": token}).status_code == 400
    files = {"form_token": (None, token)}
    assert alex.post(path, files=files).status_code == 400
    assert alex.post(path, data={"form_token": token, "x": "y" * 300_000}).status_code == 400
    assert alex.get(path).status_code in (303, 308, 404, 405)


def test_nothing_changes_by_looking(web: Web, alex: Browser) -> None:
    for path in FORMS:
        alex.get(path)
    assert web.run(fetch_brand_interest("APPLE", "alex")) == Interest(liked=False, watched=False)
    assert alex.get("/me").status_code == 200


def test_what_editors_and_others_write_stays_text(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    brand = web.run(create_brand(f"Brand {SCRIPT}"))
    deal = post_deal(
        f"Lamp {SCRIPT}",
        description=f"Bright {SCRIPT}",
        list_price=Decimal(30),
        brand_name=brand.brand,
    )
    web.run(set_front_page_deals([deal.deal_id]))
    web.run(like_brand(brand.brand, "alex"))
    message = message_for(deal, MessageKind.BRAND, "alex")
    web.run(load_many([message]))
    web.run(load_many([UserActivity(user_id="alex", timestamp=deal.created_at, activity_id="a",
                                    activity_type=f"odd {SCRIPT}",
                                    details={"title": SCRIPT})]))  # fmt: skip
    paths = ["/", f"/deals/{deal.deal_id}", "/brands", "/categories/HOME", "/inbox", "/me/activity",
             f"/inbox/{message.message_id}", "/me/interests"]  # fmt: skip
    paths += [link for link in alex.links("/brands") if "BRAND" in link]
    for path in paths:
        page = alex.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text and '"><script' not in page.text, path
        assert "&lt;script&gt;" in page.text or "&lt;SCRIPT&gt;" in page.text, path


@pytest.mark.parametrize("path", ["/sign-up", "/log-in"])
def test_what_is_typed_stays_text(visitor: Browser, path: str) -> None:
    typed = {"username": SCRIPT, "email": SCRIPT, "password": "x", "next": SCRIPT}
    refused = visitor.submit(path, path, **typed)
    assert refused.status_code == 422
    assert "<script>alert" not in refused.text
    assert "&lt;script&gt;" in refused.text


ADDRESSES = (
    f"/brands/{SCRIPT}",
    f"/{SCRIPT}",
    f"/inbox?after={SCRIPT}",
    f"/log-in?next={SCRIPT}",
    f"/me/interests?after={SCRIPT}",
    f"/trending/HOME?least={SCRIPT}",
)


@pytest.mark.parametrize("path", ADDRESSES)
def test_what_is_in_an_address_stays_text(visitor: Browser, alex: Browser, path: str) -> None:
    for browser in (visitor, alex):
        assert "<script>alert" not in browser.get(path).text


def test_every_answer_forbids_what_pages_do_not_need(alex: Browser, visitor: Browser) -> None:
    for browser in (alex, visitor):
        for path in ("/", "/brands", "/nope", "/log-in", "/static/site.css", "/deals/x"):
            for _ in range(2):
                headers = browser.get(path).headers
                assert "script-src 'self'" in headers["content-security-policy"]
                assert "unsafe" not in headers["content-security-policy"]
                assert headers["x-content-type-options"] == "nosniff"
                assert len(headers.get_list("x-request-id")) == 1


EVERYBODYS = ("/", "/brands", "/brands/APPLE", "/categories", "/categories/HOME", "/trending")
ONES_OWN = ("/me", "/inbox", "/me/saved", "/me/interests", "/me/activity", "/nope")


def without_canonical(page: str) -> str:
    """A page without the link to its own address, which nothing is loaded from."""
    return re.sub('<link rel="canonical"[^>]*>', "", page)


def test_no_page_needs_what_the_policy_forbids(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    path = f"/deals/{post_deal(list_price=Decimal(30)).deal_id}"
    for browser, paths in (
        (alex, (*EVERYBODYS, *ONES_OWN, path)),
        (web.browser(), (*EVERYBODYS, "/log-in", "/sign-up", path)),
    ):
        for each in paths:
            page = without_canonical(browser.get(each).text)
            assert " style=" not in page and "<style" not in page, each
            assert page.count("<script") == page.count('<script src="/static/') == 2, each
            assert " onclick=" not in page and "javascript:" not in page and "hx-on" not in page
            assert 'src="http' not in page and 'href="http' not in page, each


def test_likes_are_limited_for_each_user(web: Web, alex: Browser) -> None:
    web.site.limits.limits = {**web.site.limits.limits, "like": Limit(3, 60)}
    token = alex.token()
    sent = [alex.post("/brands/APPLE/like", data={"form_token": token}) for _ in range(4)]
    assert [each.status_code for each in sent] == [303, 303, 303, 429]
    bo = web.signed_in("bo")
    assert bo.submit("/brands/APPLE", "/brands/APPLE/like").status_code == 303


def test_another_users_messages_stay_theirs(web: Web, alex: Browser, post_deal: PostDeal) -> None:
    message = message_for(post_deal(), MessageKind.HOT, "bo")
    web.run(load_many([message]))
    assert str(message.message_id) not in alex.get("/inbox").text
    assert alex.get(f"/inbox/{message.message_id}").status_code == 404
    assert web.run(count_unread_messages("bo")) == 1
