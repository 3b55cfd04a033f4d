"""The inbox: what is new, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bigtime.model import load_many
from bigtime.systems.deals.design import Deal, Message, MessageKind
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.users import count_unread_messages, view_unread_messages
from tests.web.browsing import Browser, Reader, Web, words
from tests.web.conftest import old_deal

OldDeals = Callable[[int], list[Deal]]


@pytest.fixture
def tell_alex(web: Web, alex: Browser, old_deals: OldDeals) -> Callable[[int], list[Message]]:
    """Tells Alex of so many deals."""

    def tell(count: int) -> list[Message]:
        messages = [message_for(old_deal, MessageKind.HOT, "alex") for old_deal in old_deals(count)]
        web.run(load_many(messages))
        web.site.cache.clear()
        return messages

    return tell


Told = Callable[[int], list[Message]]


def badge(browser: Browser, path: str = "/") -> str:
    page: str = browser.get(path).text
    return page.partition('class="badge">')[2].partition("<")[0]


def test_who_was_told_nothing_is_told_so(alex: Browser) -> None:
    assert "No messages yet. Watch a brand or a category" in words(alex.get("/inbox").text)
    assert "No unread messages." in words(alex.get("/inbox?show=unread").text)
    assert badge(alex) == ""


def test_messages_are_listed_newest_first_page_by_page(alex: Browser, tell_alex: Told) -> None:
    messages = tell_alex(30)
    for path in ("/inbox", "/inbox?show=unread"):
        page = alex.get(path)
        shown = [link for link in Reader(page.text).links if link.startswith("/inbox/")]
        (more,) = [link for link in Reader(page.text).links if "after=" in link]
        rest = [link for link in alex.links(more) if link.startswith("/inbox/")]
        assert shown + rest == [f"/inbox/{message.message_id}" for message in messages]


@pytest.mark.parametrize(("count", "says"), [(0, ""), (1, "1"), (30, "30"), (120, "99+")])
def test_the_badge_counts_what_is_unread(
    alex: Browser, tell_alex: Told, count: int, says: str
) -> None:
    tell_alex(count)
    for path in ("/", "/brands/APPLE", "/me"):
        assert badge(alex, path) == says


def test_a_message_leads_to_its_deal(alex: Browser, tell_alex: Told) -> None:
    (message,) = tell_alex(1)
    page = alex.get(f"/inbox/{message.message_id}")
    assert "Hot: Lamp 0" in words(page.text)
    assert f"/deals/{message.deal_id}" in Reader(page.text).links


def test_reading_one_takes_it_from_the_unread(web: Web, alex: Browser, tell_alex: Told) -> None:
    messages = tell_alex(3)
    path = f"/inbox/{messages[1].message_id}"
    assert badge(alex) == "3"
    done = alex.submit("/inbox", f"{path}/read")
    assert (done.status_code, done.headers["location"]) == (303, "/inbox")
    assert badge(alex) == "2"
    assert f"{path}/read" not in [form.action for form in Reader(alex.get("/inbox").text).forms]


def test_opening_a_message_reads_it(web: Web, alex: Browser, tell_alex: Told) -> None:
    """S2.4: the badge stayed until a button was pressed."""
    messages = tell_alex(3)
    assert badge(alex) == "3"
    path = f"/inbox/{messages[0].message_id}"
    assert alex.head(path).status_code == 200
    assert badge(alex) == "3"
    assert badge(alex, path) == "2"
    assert badge(alex, path) == "2"


def test_reading_twice_is_reading_once(alex: Browser, tell_alex: Told) -> None:
    (message,) = tell_alex(1)
    form = alex.form("/inbox", f"/inbox/{message.message_id}/read")
    for _ in range(2):
        assert alex.post(form.action, data=form.fields).status_code == 303
    assert badge(alex) == ""


def test_all_on_the_page_are_read_and_no_others(
    web: Web, alex: Browser, tell_alex: Told, old_deals: OldDeals
) -> None:
    messages = tell_alex(30)
    form = alex.form("/inbox", "/inbox/read")
    late = message_for(old_deals(1)[0], MessageKind.BRAND, "alex")
    web.run(load_many([late]))
    assert alex.post("/inbox/read", data=form.fields).status_code == 303
    left = web.run(view_unread_messages("alex")).items
    assert left == [late, *messages[25:]]


def test_from_the_unread_one_is_back_among_the_unread(alex: Browser, tell_alex: Told) -> None:
    tell_alex(2)
    done = alex.submit("/inbox?show=unread", "/inbox/read")
    assert done.headers["location"] == "/inbox?show=unread"
    form = alex.form("/", "/log-out")
    away = {**form.fields, "message_ids": "0" * 27, "back": "//evil.example"}
    assert alex.post("/inbox/read", data=away).status_code == 404


def test_nobody_reads_or_marks_the_messages_of_others(web: Web, tell_alex: Told) -> None:
    (message,) = tell_alex(1)
    bo = web.signed_in("bo")
    path, token = f"/inbox/{message.message_id}", bo.token()
    assert bo.get(path).status_code == 404
    assert bo.post(f"{path}/read", data={"form_token": token}).status_code == 404
    several = {"form_token": token, "message_ids": str(message.message_id)}
    assert bo.post("/inbox/read", data=several).status_code == 404
    assert web.run(count_unread_messages("alex")) == 1


@pytest.mark.parametrize(
    ("ids", "status"),
    [("", 400), (" ", 400), ("x", 404), ("0" * 27, 404), (" ".join(["0" * 26 + "1"] * 2000), 404)],
)
def test_marking_nonsense_changes_nothing(
    web: Web, alex: Browser, tell_alex: Told, ids: str, status: int
) -> None:
    (message,) = tell_alex(1)
    for typed in (ids, f"{message.message_id} {ids}" if status == 404 else ids):
        data = {"form_token": alex.token(), "message_ids": typed}
        assert alex.post("/inbox/read", data=data).status_code == status
    assert web.run(count_unread_messages("alex")) == 1


@pytest.mark.parametrize("path", ["/inbox/x", f"/inbox/{'0' * 27}", "/inbox/%00"])
def test_no_message_is_not_found(alex: Browser, path: str) -> None:
    assert alex.get(path).status_code == 404
    assert alex.post(f"{path}/read", data={"form_token": alex.token()}).status_code == 404


def test_an_unknown_view_and_a_foreign_cursor_are_refused(
    web: Web, alex: Browser, tell_alex: Told
) -> None:
    tell_alex(30)
    (more,) = [link for link in alex.links("/inbox") if "after=" in link]
    bo = web.signed_in("bo")
    assert bo.get(more).status_code == 400
    assert alex.get("/inbox?after=x").status_code == 400
    assert alex.get("/inbox?show=sent").status_code in (400, 422)


def test_a_message_outlives_its_deal(web: Web, alex: Browser) -> None:
    gone = message_for(old_deal(datetime.now(UTC), 7), MessageKind.CATEGORY, "alex")
    web.run(load_many([gone]))
    said = words(alex.get(f"/inbox/{gone.message_id}").text)
    assert "This deal is no longer available." in said
