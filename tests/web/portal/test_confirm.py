"""Showing whose a mailbox is: one code, ten minutes, five tries, and nothing told to guessers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import get
from bigtime.site.design import PendingCheck
from bigtime.site.mailbox_check import CodeRefused, redeem_code, redeem_code_by_email
from bigtime.store import Exchange, Store
from bigtime.systems.portal.design import Product
from bigtime.systems.portal.errors import CodeWrong, TenantSuspended
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import list_tenants, soft_delete_tenant
from bigtime.systems.portal.values import Status
from bigtime.web.app import LIMITS
from bigtime.wire import Steps
from tests.systems.portal.scenes import ADMIN, new_product, new_tenant, validated_tenant
from tests.web.browsing import Browser, Reader, Web, make_web, words
from tests.web.portal.scene import (
    EMAIL,
    checkout_page,
    code_for,
    give_address,
    later,
    letters,
    prove,
    tenant,
    wrong,
)

WRONG = "Wrong code. Check the e-mail and try again."
SPENT = "Too many wrong attempts; request a new code."
OLD = "No code was sent, or it has expired; request a new one."


def ask(browser: Browser, email: str = EMAIL) -> str:
    """Asks for a code to come in with; the page that it is typed into."""
    sent = browser.submit("/portal/confirm", "/portal/confirm", email=email)
    assert sent.status_code == 303, sent.text
    location: str = sent.headers["location"]
    return location


def answer_to_code(browser: Browser, page: str, code: str) -> str:
    """What is said of a code that will not do."""
    refused = browser.submit(page, page, code=code)
    assert refused.status_code == 422
    found = re.search(r'id="code-fault">([^<]*)<', refused.text)
    assert found
    return found[1]


def test_an_address_at_checkout_is_a_tenant_and_gets_a_code_and_a_link(
    web: Web, visitor: Browser, product: Product
) -> None:
    page = give_address(visitor, checkout_page(product.id), " Customer@Example.com ")
    made = tenant(web)
    assert (made.email, made.status) == (EMAIL, Status.UNVALIDATED)
    (letter,) = letters(web)
    assert f"{page}?code={code_for(web)}" in letter.text


def test_the_right_code_validates_and_goes_on_to_what_was_chosen(
    web: Web, visitor: Browser, product: Product
) -> None:
    then = prove(web, visitor, checkout_page(product.id, quantity="3"))
    assert then == f"/portal/checkout?product={product.id}&quantity=3"
    assert tenant(web).status == Status.VALIDATED
    assert f"Ordering as {EMAIL}." in words(visitor.get(then).text)


def test_the_link_in_the_letter_fills_the_code_in_and_uses_nothing_up(
    web: Web, visitor: Browser, product: Product
) -> None:
    give_address(visitor, checkout_page(product.id))
    (link,) = [link for link in Reader(visitor.get("/outbox").text).links if "code=" in link]
    for _ in range(7):
        assert f'value="{code_for(web)}"' in visitor.get(link).text
    other = web.browser()
    page = link.partition("?")[0]
    assert other.submit(link, page).status_code == 303
    assert "Ordering as" in words(other.get("/portal").text)
    assert visitor.get("/portal").status_code == 303


def test_a_code_works_once(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    code = code_for(web)
    assert visitor.submit(page, page, code=code).status_code == 303
    other = web.browser()
    assert answer_to_code(other, page, code) == WRONG


def test_a_code_may_have_spaces_in_it(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    code = code_for(web)
    assert visitor.submit(page, page, code=f" {code[:3]} {code[3:]} ").status_code == 303


def test_five_wrong_codes_are_all_there_are(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    code = code_for(web)
    assert [answer_to_code(visitor, page, wrong(code)) for _ in range(6)] == [WRONG] * 4 + [
        SPENT
    ] * 2
    assert answer_to_code(visitor, page, code) == SPENT
    assert tenant(web).status == Status.UNVALIDATED


def test_a_code_is_good_for_ten_minutes(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    later(web, minutes=10, seconds=1)
    assert answer_to_code(visitor, page, code_for(web)) == OLD


def test_another_code_takes_the_place_of_the_first(
    web: Web, visitor: Browser, product: Product
) -> None:
    page = give_address(visitor, checkout_page(product.id))
    first = code_for(web)
    for _ in range(5):
        answer_to_code(visitor, page, wrong(first))
    sent = visitor.submit(page, f"{page}/again")
    assert sent.headers["location"] == f"{page}?sent=again"
    assert "A new code is on its way." in words(visitor.get(sent.headers["location"]).text)
    second = code_for(web)
    if first != second:
        assert answer_to_code(visitor, page, first) == WRONG
    assert visitor.submit(page, page, code=second).status_code == 303


def test_the_page_that_asks_is_gone_after_an_hour(
    web: Web, visitor: Browser, product: Product
) -> None:
    page = give_address(visitor, checkout_page(product.id))
    form = visitor.form(page, page)
    later(web, hours=1, seconds=1)
    assert visitor.get(page).status_code == 404
    assert visitor.post(page, data={**form.fields, "code": "123456"}).status_code == 404
    assert visitor.post(f"{page}/again", data=form.fields).status_code == 404


def test_a_page_that_nobody_was_given_is_unknown(visitor: Browser) -> None:
    assert visitor.get("/portal/confirm/nothing").status_code == 404


@pytest.mark.parametrize("code", ["", "1" * 21])
def test_a_code_that_can_be_none_is_a_wrong_field_and_no_try(
    web: Web, visitor: Browser, product: Product, code: str
) -> None:
    page = give_address(visitor, checkout_page(product.id))
    assert visitor.submit(page, page, code=code).status_code == 422
    found = web.run(get(PendingCheck.key(page.rpartition("/")[2])))
    assert found.tries == 0


# What nobody learns


def test_a_customer_and_nobody_are_answered_in_the_same_words(web: Web) -> None:
    """Step by step: whoever asks with an address learns nothing about it."""
    validated_tenant(web, EMAIL)
    seen = []
    for email in (EMAIL, "nobody@example.com"):
        browser = web.browser()
        page = ask(browser, email)
        shown = browser.get(page).text.replace(email, "?").replace(page, "?")
        shown = re.sub(r'value="[^"]{20,}"', "", shown)
        said = [answer_to_code(browser, page, "x00000") for _ in range(7)]
        browser.submit(page, f"{page}/again")
        later(web, minutes=11)
        said.append(answer_to_code(browser, page, "x00000"))
        seen.append((shown, said))
    assert seen[0] == seen[1]
    assert letters(web, "nobody@example.com") == []


def test_a_wrong_code_is_as_much_work_where_there_is_none(web: Web, engine: Engine) -> None:
    validated_tenant(web, EMAIL)
    codes = web.site.codes
    written = []
    for email in (EMAIL, "nobody@example.com"):
        page = ask(web.browser(), email)
        seen: list[Exchange] = []
        watched = Store(engine, hooks=[seen.append])
        with pytest.raises(CodeWrong):
            watched.run(redeem_code(codes, page.rpartition("/")[2], "x00000"))
        with pytest.raises(CodeRefused):
            watched.run(redeem_code_by_email(codes, email, "x00000"))
        written.append(sum(each.request.operation in ("PutItem", "UpdateItem") for each in seen))
    assert written == [3, 3]


def test_the_answer_does_not_wait_for_the_letter(
    visitor: Browser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*told: Any, **more: Any) -> Steps[None]:
        raise OSError("the table is gone")
        yield

    monkeypatch.setattr("bigtime.site.send_code", fails)
    sent = visitor.submit("/portal/confirm", "/portal/confirm", email=EMAIL)
    assert sent.status_code == 303
    assert "the table is gone" in caplog.text


def test_asking_to_come_in_makes_no_tenant(web: Web, visitor: Browser) -> None:
    ask(visitor, "nobody@example.com")
    assert web.run(list_tenants()).items == []


def test_who_orders_meanwhile_is_found_by_the_next_code(web: Web, visitor: Browser) -> None:
    page = ask(visitor)
    new_tenant(web)
    visitor.submit(page, f"{page}/again")
    assert visitor.submit(page, page, code=code_for(web)).status_code == 303


@pytest.mark.parametrize("close", ["suspended", "archived"])
def test_who_has_a_closed_account_is_written_so_and_others_see_no_difference(
    web: Web, visitor: Browser, product: Product, close: str
) -> None:
    made = validated_tenant(web)
    if close == "suspended":
        web.run(suspend_tenant(made.id, "unpaid", by=ADMIN))
    else:
        web.run(soft_delete_tenant(made.id, by=ADMIN))
    page = give_address(visitor, checkout_page(product.id))
    assert answer_to_code(visitor, page, "123456") == WRONG
    assert visitor.submit(page, f"{page}/again").status_code == 303
    (letter,) = letters(web)
    assert "closed or suspended" in letter.text
    assert tenant(web).id == made.id


def test_a_closed_account_that_never_confirmed_its_address_is_sent_nothing(
    web: Web, visitor: Browser, product: Product
) -> None:
    made = new_tenant(web)
    web.run(soft_delete_tenant(made.id, by=ADMIN))
    page = give_address(visitor, checkout_page(product.id))
    assert answer_to_code(visitor, page, "123456") == WRONG
    assert letters(web) == []


def test_who_is_suspended_after_the_code_was_sent_does_not_come_in(
    web: Web, visitor: Browser, product: Product
) -> None:
    made = validated_tenant(web)
    page = give_address(visitor, checkout_page(product.id))
    web.run(suspend_tenant(made.id, "unpaid", by=ADMIN))
    refused = visitor.submit(page, page, code=code_for(web))
    assert refused.status_code == 403
    assert str(TenantSuspended()).replace("'", "&#39;") in refused.text
    assert visitor.get("/portal").status_code == 303


def test_a_stranger_burns_no_code_of_another(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    code = code_for(web)
    stranger = web.browser()
    theirs = ask(stranger)
    for _ in range(6):
        answer_to_code(stranger, theirs, wrong(code))
    assert answer_to_code(stranger, theirs, code) == SPENT
    assert visitor.submit(page, page, code=code).status_code == 303


def test_a_code_works_on_the_page_that_asked_for_it_alone(web: Web, visitor: Browser) -> None:
    validated_tenant(web)
    first = ask(visitor)
    code = code_for(web)
    second = ask(visitor)
    if code != code_for(web):
        assert answer_to_code(visitor, second, code) == WRONG
    assert visitor.submit(first, first, code=code).status_code == 303


# Who comes in


def test_a_validated_customer_comes_in_with_a_code(web: Web, visitor: Browser) -> None:
    validated_tenant(web)
    page = ask(visitor)
    done = visitor.submit(page, page, code=code_for(web))
    assert (done.status_code, done.headers["location"]) == (303, "/portal")
    assert f"Ordering as {EMAIL}." in words(visitor.get("/portal").text)


def test_the_page_asked_for_is_come_back_to(web: Web, visitor: Browser) -> None:
    validated_tenant(web)
    asked = visitor.get("/portal/orders?after=x")
    assert asked.headers["location"] == "/portal/confirm?next=/portal/orders%3Fafter%3Dx"
    sent = visitor.submit(asked.headers["location"], "/portal/confirm", email=EMAIL)
    page = sent.headers["location"]
    done = visitor.submit(page, page, code=code_for(web))
    assert done.headers["location"] == "/portal/orders?after=x"


@pytest.mark.parametrize("elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_nobody_is_sent_on_to_another_site(web: Web, visitor: Browser, elsewhere: str) -> None:
    validated_tenant(web)
    sent = visitor.submit("/portal/confirm", "/portal/confirm", email=EMAIL, next=elsewhere)
    page = sent.headers["location"]
    done = visitor.submit(page, page, code=code_for(web))
    assert done.headers["location"] == "/portal"


def test_showing_it_draws_a_new_cookie_and_the_old_one_opens_nothing(
    web: Web, visitor: Browser, product: Product
) -> None:
    visitor.get("/portal/confirm")
    planted = visitor.cookies["visit"]
    prove(web, visitor, checkout_page(product.id))
    assert visitor.cookies["visit"] != planted
    thief = web.browser()
    thief.keep("visit", planted)
    assert thief.get("/portal").status_code == 303
    assert visitor.get("/portal").status_code == 200


def test_what_was_shown_is_forgotten_after_an_hour(
    web: Web, visitor: Browser, product: Product
) -> None:
    prove(web, visitor, checkout_page(product.id))
    later(web, hours=1, seconds=1)
    assert visitor.get("/portal").status_code == 303


def test_who_leaves_is_forgotten_at_once(web: Web, visitor: Browser, product: Product) -> None:
    prove(web, visitor, checkout_page(product.id))
    cookie = visitor.cookies["visit"]
    assert visitor.submit("/portal", "/portal/leave").status_code == 303
    assert visitor.get("/portal").status_code == 303
    visitor.keep("visit", cookie)
    assert visitor.get("/portal").status_code == 303


def test_who_has_come_in_is_not_asked_again(web: Web, visitor: Browser, product: Product) -> None:
    prove(web, visitor, checkout_page(product.id))
    assert (
        visitor.get("/portal/confirm?next=/portal/orders").headers["location"] == "/portal/orders"
    )


# Bad input


@pytest.mark.parametrize("email", ["", "nobody", "a b@example.com", "a#b@example.com", "x" * 255])
def test_an_address_that_is_none_is_told_beside_it(
    web: Web, visitor: Browser, product: Product, email: str
) -> None:
    for page, action in (
        ("/portal/confirm", "/portal/confirm"),
        (checkout_page(product.id), "/portal/checkout/email"),
    ):
        refused = visitor.submit(page, action, email=email)
        assert refused.status_code == 422
        assert 'id="email-fault"' in refused.text
        assert f'value="{email}"' in refused.text
    assert web.run(list_tenants()).items == []


def test_a_form_from_elsewhere_does_nothing(web: Web, visitor: Browser, product: Product) -> None:
    page = give_address(visitor, checkout_page(product.id))
    code = code_for(web)
    stranger = web.browser()
    for action, data in (
        ("/portal/confirm", {"email": EMAIL}),
        ("/portal/checkout/email", {"email": EMAIL, "product": product.id}),
        (page, {"code": code}),
        (f"{page}/again", {}),
        ("/portal/leave", {}),
    ):
        assert stranger.post(action, data=data).status_code == 400
    assert len(letters(web)) == 1
    assert tenant(web).status == Status.UNVALIDATED


# Limits


@pytest.fixture
def limited_web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    """A site with the limits that it has in earnest."""
    front, store = make_web(engine, tmp_path, limits=LIMITS)
    with TestClient(front, follow_redirects=False) as served:
        yield Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]


def test_codes_are_limited_by_where_they_are_asked_from(limited_web: Web) -> None:
    browser = limited_web.browser()
    for number in range(5):
        ask(browser, f"c{number}@example.com")
    refused = browser.submit("/portal/confirm", "/portal/confirm", email="c6@example.com")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert "Too many attempts" in refused.text and 'value="c6@example.com"' in refused.text


def test_codes_are_limited_by_the_mailbox_that_gets_them(limited_web: Web) -> None:
    limited_web.site.limits.limits = {**LIMITS, "one-time code": LIMITS["log in as"]}
    product = new_product(limited_web)
    browser = limited_web.browser()
    for _ in range(5):
        give_address(browser, checkout_page(product.id), "Customer@example.com")
    page = checkout_page(product.id)
    refused = browser.submit(page, "/portal/checkout/email", email=EMAIL)
    assert refused.status_code == 429
    assert f'value="{EMAIL}"' in refused.text
    assert len(letters(limited_web)) == 5
    assert give_address(browser, page, "other@example.com")


def test_tries_are_limited_by_where_they_come_from(limited_web: Web) -> None:
    browser = limited_web.browser()
    page = ask(browser)
    answers = [browser.submit(page, page, code="000000") for _ in range(21)]
    assert [answer.status_code for answer in answers] == [422] * 20 + [429]
    assert 'id="code-fault">Too many attempts' in answers[-1].text
    assert 'value="000000"' in answers[-1].text
