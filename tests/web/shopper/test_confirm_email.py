"""An address is confirmed by the code that was mailed to it, before anything else is mailed there.

Of a sign-up and of a forgotten password, nobody learns who has an account.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from bigtime.model import scan_all, update
from bigtime.site.design import PendingCheck
from bigtime.store import Exchange
from bigtime.systems.accounts.account import sign_up, verify_password, view_account
from bigtime.systems.accounts.design import Account, Role, WrongCredentials
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.users import create_user
from tests.web.browsing import PASSWORD, Browser, Web, words
from tests.web.checkout.ordering import TYPED
from tests.web.conftest import PostDeal
from tests.web.portal.scene import code_for, later, letters, wrong
from tests.web.shopper.test_sign_up import GOOD, join_as, sign_up_as

EMAIL = "alex@example.com"
LIE = "URGENT go to https://evil.example/login now"


def ask(browser: Browser, **typed: str) -> str:
    """Signs up; the page that asks for the code."""
    location: str = sign_up_as(browser, **typed).headers["location"]
    return location


def answer_to_code(browser: Browser, page: str, code: str, **typed: str) -> str:
    """What is said of a code that will not do."""
    refused = browser.submit(page, page, code=code, **typed)
    assert refused.status_code == 422
    return refused.text.partition('id="code-fault">')[2].partition("<")[0]


def unconfirmed_member(web: Web) -> Browser:
    """A member of the time before addresses were confirmed."""
    browser = web.signed_in("alex")
    web.run(update(Account.key(EMAIL), confirmed_at=None))
    web.site.visitors.forget_all()
    return browser


def buy(browser: Browser, web: Web, post_deal: PostDeal) -> Any:
    deal = post_deal()
    web.run(put_in_cart("alex", deal.deal_id, deal.price))
    typed = {**TYPED, "recipient": LIE, "street": LIE}
    done = browser.submit("/checkout", "/checkout", **typed)
    assert done.status_code == 303, words(done.text)
    return browser.get(done.headers["location"])


# What is mailed


def test_the_mail_with_the_code_has_nothing_that_was_typed(web: Web, visitor: Browser) -> None:
    ask(visitor, username="evil.example go there")
    (mail,) = letters(web, EMAIL)
    assert re.search(r"Your code is \d{6}\.", mail.text)
    assert "evil" not in mail.text + mail.subject and "http" not in mail.text
    assert EMAIL not in mail.text


def test_an_order_is_mailed_to_a_confirmed_address_without_what_was_typed(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    page = buy(alex, web, post_deal)
    assert "A confirmation e-mail is on its way." in page.text and "URGENT" in page.text
    (mail,) = letters(web, EMAIL)
    (order_id,) = re.findall(r"Number</dt><dd>(\w{27})", page.text)
    assert mail.text.splitlines() == [
        f"Thank you for your order {order_id}.",
        "",
        "1 x A lamp, $19.99",
        "",
        "Total: $19.99",
        "",
        f"See your order at {web.site.settings.base_url}/orders/{order_id}",
    ]


def test_nothing_but_the_code_is_mailed_to_an_address_that_is_not_confirmed(
    web: Web, post_deal: PostDeal
) -> None:
    alex = unconfirmed_member(web)
    page = buy(alex, web, post_deal)
    assert "Your order was placed." in page.text and "A lamp" in page.text
    assert "confirmation e-mail is on its way" not in page.text
    assert letters(web, EMAIL) == []


def test_a_banner_says_how_to_confirm_until_it_is_done(web: Web) -> None:
    alex = unconfirmed_member(web)
    for page in ("/", "/me", "/cart"):
        assert "Confirm your e-mail" in alex.get(page).text
    page = alex.submit("/", "/me/confirm-email").headers["location"]
    assert EMAIL in alex.get(page).text
    done = alex.submit(page, page, code=code_for(web, EMAIL))
    assert (done.status_code, done.headers["location"]) == (303, "/me")
    assert web.run(view_account(EMAIL)).is_confirmed
    assert "Confirm your e-mail" not in alex.get("/").text
    assert alex.submit("/me", "/log-out").status_code == 303


def test_who_has_confirmed_is_sent_no_code(web: Web, alex: Browser) -> None:
    sent = alex.post("/me/confirm-email", data={"form_token": alex.token()})
    assert (sent.status_code, sent.headers["location"]) == (303, "/me")
    assert letters(web, EMAIL) == []
    assert "Confirm your e-mail" not in alex.get("/").text


# The code


def test_a_wrong_code_is_refused_five_times_and_then_also_the_right_one(
    web: Web, visitor: Browser
) -> None:
    page = ask(visitor)
    code = code_for(web, EMAIL)
    found = [answer_to_code(visitor, page, wrong(code)) for _ in range(5)]
    assert [text[:11] for text in found] == ["Wrong code."] * 4 + ["Too many wr"]
    assert answer_to_code(visitor, page, code).startswith("Too many wrong attempts")
    assert answer_to_code(visitor, page, "\u00e91\uff12").startswith("Too many wrong attempts")


def test_another_code_is_sent_and_the_former_one_no_longer_works(
    web: Web, visitor: Browser
) -> None:
    page = ask(visitor)
    first = code_for(web, EMAIL)
    again = visitor.submit(page, f"{page}/again")
    assert again.headers["location"] == f"{page}?sent=again"
    assert "A new code is on its way." in visitor.get(again.headers["location"]).text
    second = code_for(web, EMAIL)
    if first != second:
        assert answer_to_code(visitor, page, first).startswith("Wrong code")
    assert visitor.submit(page, page, code=f" {second[:3]} {second[3:]} ").status_code == 303


def test_a_code_is_good_for_ten_minutes_and_once(web: Web, visitor: Browser) -> None:
    page = ask(visitor)
    code = code_for(web, EMAIL)
    later(web, minutes=11)
    assert answer_to_code(visitor, page, code).startswith("No code was sent, or it has expired")
    other = web.browser()
    join_as(web, other, username="bo", email="bo@example.com")
    assert [check.email for check in web.run(scan_all(PendingCheck))] == [EMAIL]


def test_the_code_of_one_check_opens_no_other(web: Web, visitor: Browser) -> None:
    other = web.browser()
    mine = ask(visitor)
    ask(other, username="bo", email="bo@example.com")
    code = code_for(web, "bo@example.com")
    if code != code_for(web, EMAIL):
        assert answer_to_code(visitor, mine, code).startswith("Wrong code")
    assert visitor.post(mine, data={"code": code}).status_code == 400  # without our token


def test_a_name_that_is_taken_meanwhile_is_told_and_nothing_is_created(
    web: Web, visitor: Browser
) -> None:
    page = ask(visitor)
    web.run(create_user("alex"))
    refused = visitor.submit(page, page, code=code_for(web, EMAIL))
    assert refused.status_code == 409 and "This username is taken" in refused.text
    with pytest.raises(Exception, match="no account"):
        web.run(view_account(EMAIL))


def test_the_password_is_stored_nowhere_before_the_code(web: Web, visitor: Browser) -> None:
    ask(visitor)
    (check,) = web.run(scan_all(PendingCheck))
    stored = repr(check.model_dump())
    assert PASSWORD not in stored and check.password_hash in stored
    assert check.password_hash not in repr(check)


# Nobody learns who has an account


def visible_words(browser: Browser, page: str, *codes: str) -> list[str]:
    """All that a sign-up shows, without what is its own: ids, tokens, the address."""
    own = re.compile(r'(confirm-email/|form_token" value=")[\w=-]+|\w+@example.com')
    refused = [browser.submit(page, page, code=code) for code in codes]
    return [own.sub("", answer.text) for answer in (browser.get(page), *refused)]


def test_a_sign_up_with_a_known_address_looks_like_any_other(web: Web) -> None:
    web.join("known")
    new, known = web.browser(), web.browser()
    codes = ["000000"] * 6
    pages = [ask(new, email="new@example.com"), ask(known, email="known@example.com")]
    if code_for(web, "new@example.com") == "000000":
        codes = ["111111"] * 6
    assert visible_words(new, pages[0], *codes) == visible_words(known, pages[1], *codes)
    assert new.submit(pages[0], f"{pages[0]}/again").status_code == 303
    assert known.submit(pages[1], f"{pages[1]}/again").status_code == 303


FOLLOWING = {"DescribeStream", "DescribeTable", "GetRecords", "GetShardIterator"}
"""What the page cache asks meanwhile, to follow the streams."""


def test_a_sign_up_with_a_known_address_costs_the_same_requests(web: Web) -> None:
    web.join("known")
    asked: list[list[str]] = []
    store = web.site.store
    for email in ("new@example.com", "known@example.com"):
        sent: list[str] = []

        def note(exchange: Exchange, sent: list[str] = sent) -> None:
            if exchange.request.operation not in FOLLOWING:
                sent.append(exchange.request.operation)

        store.hooks += (note,)
        browser = web.browser()
        ask(browser, email=email)
        asked.append(sent[: sent.index("PutItem") + 1])  # then the page is answered
        store.hooks = store.hooks[:-1]
    assert asked[0] == asked[1]


def test_the_owner_of_a_known_address_is_told_once_a_day(web: Web, visitor: Browser) -> None:
    web.join("alex")
    page = ask(visitor, username="bo")
    for _ in range(3):
        visitor.submit(page, f"{page}/again")
    (mail,) = letters(web, EMAIL)
    assert mail.subject == "Someone tried to sign up with your address"
    base = web.site.settings.base_url
    assert f"{base}/log-in" in mail.text and f"{base}/forgot-password" in mail.text
    later(web, days=1)
    ask(web.browser(), username="bo")
    assert len(letters(web, EMAIL)) == 2


def test_nobody_signs_in_with_the_password_of_a_sign_up_before_the_code(
    web: Web, visitor: Browser
) -> None:
    """Or a sign-in would tell whether the address was free."""
    ask(visitor)
    with pytest.raises(WrongCredentials):
        web.run(verify_password(EMAIL, GOOD["password"]))


# A forgotten password


NEW = "battery staple 9"


def forget(browser: Browser, email: str = EMAIL) -> str:
    sent = browser.submit("/forgot-password", "/forgot-password", email=email)
    assert sent.status_code == 303, sent.text
    location: str = sent.headers["location"]
    return location


def test_a_forgotten_password_is_reset_by_a_code(web: Web, alex: Browser) -> None:
    visitor = web.browser()
    assert "/forgot-password" in visitor.links("/log-in")
    page = forget(visitor, " Alex@Example.com ")
    code = code_for(web, EMAIL)
    done = visitor.submit(page, page, code=code, password=NEW)
    assert (done.status_code, done.headers["location"]) == (303, "/me?changed=true")
    assert visitor.get("/me").status_code == 200
    assert alex.get("/me").status_code == 303  # its session began with the old password
    web.run(verify_password(EMAIL, NEW))
    assert letters(web, EMAIL)[0].subject == "Your Bigtime password was reset"
    again = web.browser()
    assert again.get(page).status_code == 404


def test_a_reset_with_an_unknown_address_looks_like_any_other(web: Web) -> None:
    web.join("alex")
    known, unknown = web.browser(), web.browser()
    pages = [forget(known), forget(unknown, "nobody@example.com")]
    assert letters(web, "nobody@example.com") == []
    code = wrong(code_for(web, EMAIL))
    found = [
        [answer_to_code(browser, page, code, password=NEW) for _ in range(6)]
        for browser, page in zip((known, unknown), pages, strict=True)
    ]
    assert found[0] == found[1]


def test_a_reset_confirms_the_address(web: Web, visitor: Browser) -> None:
    web.run(sign_up(EMAIL, PASSWORD, "alex"))
    assert not web.run(view_account(EMAIL)).is_confirmed
    page = forget(visitor)
    visitor.submit(page, page, code=code_for(web, EMAIL), password=NEW)
    assert web.run(view_account(EMAIL)).is_confirmed


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_who_may_do_more_than_shop_needs_more_than_a_mailbox(
    web: Web, visitor: Browser, role: Role
) -> None:
    web.join("alex", role)
    page = forget(visitor)
    refused = visitor.submit(page, page, code=code_for(web, EMAIL), password=NEW)
    assert refused.status_code == 403 and "cannot be opened by e-mail alone" in refused.text
    web.run(verify_password(EMAIL, PASSWORD))


def test_a_wrong_address_or_password_is_told_beside_its_field(web: Web, alex: Browser) -> None:
    visitor = web.browser()
    refused = visitor.submit("/forgot-password", "/forgot-password", email="nonsense")
    assert refused.status_code == 422 and 'id="email-fault"' in refused.text
    page = forget(visitor)
    short = visitor.submit(page, page, code=code_for(web, EMAIL), password="short")
    assert short.status_code == 422 and "at least 8 characters" in short.text
    weak = visitor.submit(page, page, code=code_for(web, EMAIL), password="alexexample")
    assert weak.status_code == 422 and 'id="password-fault">This password is easy' in weak.text
    done = visitor.submit(page, page, code=code_for(web, EMAIL), password=NEW)
    assert done.status_code == 303
