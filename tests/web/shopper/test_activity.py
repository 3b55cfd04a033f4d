"""What somebody did here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from bigtime.model import load_many
from bigtime.systems.catalog.design import UserActivity
from bigtime.systems.deals.design import Deal
from tests.web.browsing import Browser, Reader, Web, words

AT = datetime(2026, 11, 15, 10, tzinfo=UTC)


def did(number: int, kind: str, details: dict[str, Any] | None, user: str = "alex") -> UserActivity:
    return UserActivity(
        user_id=user,
        timestamp=AT - timedelta(minutes=number),
        activity_id=f"activity-{number}",
        activity_type=kind,
        details=details,
    )


def test_who_did_nothing_is_told_so(alex: Browser) -> None:
    assert "No activity yet." in words(alex.get("/me/activity").text)


def test_activities_are_told_in_words_newest_first(
    web: Web, alex: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    (deal,) = old_deals(1)
    here = {"deal_id": str(deal.deal_id), "title": "Its old name"}
    web.run(
        load_many(
            [
                did(0, "deal_view", here),
                did(1, "deal_click", here),
                did(2, "deal_notification", {"deal_id": "0" * 27, "title": "A lost rug"}),
                did(3, "deal_view", {"deal_id": 7, "title": ["odd"]}),
                did(4, "odd_thing", None),
                did(5, "deal_view", here, user="bo"),
            ]
        )
    )
    page = alex.get("/me/activity").text
    said = words(page)
    assert "Viewed Lamp 0 15 November 2026, 10:00 UTC" in said
    assert "Opened Lamp 0 15 November 2026, 09:59 UTC" in said
    assert "Notified about A lost rug" in said and "Odd thing" in said
    assert "09:55" not in said and "Its old name" not in said
    links = [link for link in Reader(page).links if link.startswith("/deals/")]
    assert links == [f"/deals/{deal.deal_id}"] * 2


def test_an_activity_of_an_hour_has_the_moment_of_the_last(web: Web, alex: Browser) -> None:
    last = {"title": "A rug", "at": "2026-11-15T10:42:00+00:00"}
    odd = {"title": "A kettle", "at": "yesterday"}
    web.run(load_many([did(0, "deal_view", last), did(1, "deal_view", odd)]))
    said = words(alex.get("/me/activity").text)
    assert "A rug 15 November 2026, 10:42 UTC" in said
    assert "A kettle 15 November 2026, 09:59 UTC" in said


def test_pages_of_activities_join_up(web: Web, alex: Browser) -> None:
    web.run(load_many([did(n, "deal_view", {"title": f"Thing {n}."}) for n in range(30)]))
    page = alex.get("/me/activity")
    (more,) = [link for link in Reader(page.text).links if "after=" in link]
    said = words(page.text) + words(alex.get(more).text)
    assert [n for n in range(30) if f"Thing {n}." in said] == list(range(30))
    assert web.signed_in("bo").get(more).status_code == 400
