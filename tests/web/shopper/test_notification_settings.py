"""What is mailed is chosen on a page, and ended by the link of a mail, without signing in."""

from __future__ import annotations

import pytest

from bigtime.model import delete, get
from bigtime.site.design import NotificationSettings
from bigtime.site.notifications import MailKind, fetch_settings
from bigtime.systems.shop.design import Customer
from bigtime.web.http.limits import Limit
from tests.web.browsing import Browser, Web, words

PAGE = "/me/notifications"


def chosen_kinds(web: Web, username: str = "alex") -> set[MailKind]:
    settings = web.run(fetch_settings(username))
    return {kind for kind in MailKind if getattr(settings, kind)}


def save(browser: Browser, *kinds: str) -> int:
    data = {"form_token": browser.token(), **dict.fromkeys(kinds, "yes")}
    status: int = browser.post(PAGE, data=data).status_code
    return status


def link(web: Web, kind: MailKind, username: str = "alex") -> str:
    return f"/unsubscribe/{web.site.mail_links.token(username, kind)}"


def test_the_account_page_leads_there_and_it_shows_what_is_mailed(web: Web, alex: Browser) -> None:
    assert PAGE in alex.links("/me")
    shown = alex.get(PAGE).text
    assert shown.count('type="checkbox"') == 4 and shown.count(" checked") == 1
    assert "07:00 UTC" in shown and "Confirmations and cancellations are always sent." in shown
    assert save(alex, "digest", "hot") == 303
    assert chosen_kinds(web) == {MailKind.DIGEST, MailKind.HOT}
    shown = alex.get(f"{PAGE}?saved=true").text
    assert shown.count(" checked") == 2 and "Changes saved." in shown
    assert save(alex) == 303 and chosen_kinds(web) == set()


def test_a_member_without_a_customer_gets_one(web: Web) -> None:
    """Those of the demo's editor, for example: mails go to the customer's address."""
    bo = web.signed_in("bo")
    web.run(delete(Customer.key("bo")))
    assert save(bo, "digest") == 303
    assert web.run(get(Customer.key("bo"))).email == "bo@example.com"


def test_what_is_no_box_is_refused_whole(web: Web, alex: Browser) -> None:
    data = {"form_token": alex.token(), "digest": "yes", "hot": "<b>"}
    assert alex.post(PAGE, data=data).status_code == 422
    assert web.run(get(NotificationSettings.key("alex"))) is None


def test_it_takes_signing_in_and_a_token(web: Web, alex: Browser) -> None:
    visitor = web.browser()
    assert visitor.get(PAGE).headers["location"] == f"/log-in?next={PAGE}"
    sent = visitor.post(PAGE, data={"form_token": visitor.token(), "digest": "yes"})
    assert sent.headers["location"].startswith("/log-in")
    assert alex.post(PAGE, data={"form_token": "x", "digest": "yes"}).status_code == 400
    assert chosen_kinds(web) == {MailKind.ORDERS}


@pytest.mark.parametrize("kind", MailKind)
def test_one_click_ends_mails_without_signing_in(web: Web, alex: Browser, kind: MailKind) -> None:
    save(alex, *MailKind)
    mail_program = web.browser()
    done = mail_program.post(link(web, kind), data={"List-Unsubscribe": "One-Click"})
    assert done.status_code == 200 and not mail_program.cookies.get("session")
    assert chosen_kinds(web) == {*MailKind} - {kind}
    assert mail_program.post(link(web, kind)).status_code == 200


def test_opening_the_link_asks_and_ends_nothing(web: Web, alex: Browser) -> None:
    save(alex, "digest")
    visitor = web.browser()
    path = link(web, MailKind.DIGEST)
    for _ in range(2):
        asked = visitor.get(path)
        assert asked.status_code == 200 and "the daily digest" in words(asked.text)
    assert visitor.head(path).status_code == 200
    assert chosen_kinds(web) == {MailKind.DIGEST}
    done = visitor.submit(path, path)
    assert "You no longer get the daily digest by e-mail." in words(done.text)
    assert chosen_kinds(web) == set()


def test_the_page_does_not_tell_whose_it_is(web: Web, alex: Browser) -> None:
    shown = web.browser().get(link(web, MailKind.HOT)).text
    assert "alex" not in shown.replace(link(web, MailKind.HOT), "")


@pytest.mark.parametrize("token", ["x", "%00", "A" * 500, "%F0%9F%99%82", "QUJD"])
def test_a_link_that_is_not_ours_is_not_found(web: Web, token: str) -> None:
    visitor = web.browser()
    assert visitor.get(f"/unsubscribe/{token}").status_code == 404
    assert visitor.post(f"/unsubscribe/{token}").status_code == 404


def test_links_are_tried_so_often_and_no_more(web: Web) -> None:
    web.site.limits.limits.update({"write": Limit(3, 3600)})
    visitor = web.browser()
    statuses = [visitor.post("/unsubscribe/x").status_code for _ in range(4)]
    assert statuses == [404] * 3 + [429]
