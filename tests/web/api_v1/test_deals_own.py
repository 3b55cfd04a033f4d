"""Likes, watches, messages and users: each caller's own."""

from __future__ import annotations

from datetime import datetime

import pytest

from bigtime.model import Ksuid
from bigtime.systems.deals.design import MessageKind
from bigtime.systems.deals.notifications import deliver
from bigtime.systems.deals.users import view_messages
from tests.web.api_v1.calling import Caller, faulty, problem
from tests.web.browsing import Web
from tests.web.conftest import PostDeal


def counts(nobody: Caller, kind: str) -> tuple[int, int]:
    if kind == "brands":
        shown = nobody.get("/brands/APPLE").json()
    else:
        shown = nobody.get("/categories/HOME").json()["category"]
    return shown["likeCount"], shown["watchCount"]


def test_to_like_twice_counts_once_and_can_be_taken_back(sam: Caller, nobody: Caller) -> None:
    for kind, name in (("brands", "apple"), ("categories", "home")):
        assert counts(nobody, kind) == (0, 0)  # and that is kept
        for deed, there in (("like", (1, 0)), ("watch", (0, 1))):
            for method, expected in (("PUT", there), ("DELETE", (0, 0))):
                for _ in range(2):
                    answer = sam.ask(method, f"/me/{kind}/{name}/{deed}")
                    assert (answer.status_code, answer.content) == (204, b"")
                    assert counts(nobody, kind) == expected


def test_what_is_not_there_cannot_be_liked(sam: Caller) -> None:
    assert problem(sam.put("/me/brands/Nobody/like")) == (404, "unknown-brand")
    assert problem(sam.put("/me/categories/Cars/watch")) == (404, "unknown-category")
    assert problem(sam.put("/me/brands/A%23B/like")) == (422, "forbidden-character")


def test_each_sees_what_they_like_themselves(sam: Caller, bo: Caller) -> None:
    sam.put("/me/brands/Cast & Crumb/like")
    sam.put("/me/categories/Home/watch")
    assert sam.get("/me/brands/CAST & CRUMB").json() == {"liked": True, "watched": False}
    assert bo.get("/me/brands/CAST & CRUMB").json() == {"liked": False, "watched": False}
    assert sam.get("/me/categories/HOME").json() == {"liked": False, "watched": True}
    many = sam.get("/me/brands", brandNames=["Apple", "Cast & Crumb"]).json()
    assert many == {"items": [{"name": "CAST & CRUMB", "liked": True, "watched": False}]}
    many = sam.get("/me/categories", categoryNames=["Toys", "Home"]).json()
    assert many == {"items": [{"name": "HOME", "liked": False, "watched": True}]}
    assert bo.get("/me/categories", categoryNames=["Home"]).json() == {"items": []}
    assert faulty(sam.get("/me/brands")) == {"brandNames"}
    assert sam.get("/me/brands", brandNames="A#B").status_code == 422


def test_likes_are_limited(web: Web, sam: Caller) -> None:
    limit = web.site.limits.limits["like"]
    answers = [sam.put("/me/brands/APPLE/like") for _ in range(3)]
    assert {answer.status_code for answer in answers} == {204}
    web.site.limits.limits["like"] = type(limit)(1, 600)
    try:
        web.site.limits.take("like", "sam")
        answer = sam.put("/me/brands/APPLE/like")
    finally:
        web.site.limits.limits["like"] = limit
    assert problem(answer) == (429, "too-many-tries")
    assert int(answer.headers["retry-after"]) > 0


def test_somebody_who_has_signed_up_is_a_user(sam: Caller) -> None:
    user = sam.get("/me/user").json()
    assert (user["username"], user["email"]) == ("sam", "sam@example.com")
    assert problem(sam.post("/me/user", {"name": "Sam"})) == (409, "username-taken")
    changed = sam.patch("/me/user", {"name": "Sam S."}).json()
    assert (changed["name"], changed["email"]) == ("Sam S.", "sam@example.com")
    assert faulty(sam.patch("/me/user", {"email": "no", "name": "\x00"})) == {"email", "name"}
    assert faulty(sam.patch("/me/user", {"username": "bo"})) == {"username"}


def test_saved_deals_are_the_callers_own(
    web: Web, sam: Caller, bo: Caller, post_deal: PostDeal
) -> None:
    lamp = post_deal()
    for _ in range(2):
        assert sam.put(f"/me/saved-deals/{lamp.deal_id}").status_code == 204
    (saved,) = sam.get("/me/saved-deals").json()["items"]
    assert (saved["dealId"], saved["title"], saved["price"]) == (lamp.deal_id, "A lamp", 19.99)
    assert bo.get("/me/saved-deals").json() == {"items": []}
    assert problem(sam.put("/me/saved-deals/none")) == (404, "unknown-deal")
    assert problem(sam.put(f"/me/saved-deals/{'2' * 27}")) == (404, "unknown-deal")
    for _ in range(2):
        assert sam.delete(f"/me/saved-deals/{lamp.deal_id}").status_code == 204
    assert sam.get("/me/saved-deals").json() == {"items": []}


def test_messages_are_the_callers_own(
    web: Web, sam: Caller, bo: Caller, post_deal: PostDeal
) -> None:
    deals = [post_deal(f"Lamp {number}") for number in range(3)]
    for deal in deals:
        web.run(deliver(deal, MessageKind.HOT, ["sam"]))
    ids = [item["messageId"] for item in sam.get("/me/messages").json()["items"]]

    assert len(ids) == 3 and bo.get("/me/messages").json()["items"] == []
    first = sam.get(f"/me/messages/{ids[0]}").json()
    assert first["unread"] is True
    assert datetime.fromisoformat(first["sentAt"]) == Ksuid(ids[0]).at
    assert problem(bo.get(f"/me/messages/{ids[0]}")) == (404, "unknown-message")
    assert problem(bo.put(f"/me/messages/{ids[0]}/read")) == (404, "unknown-message")
    assert problem(bo.post("/me/messages/read", {"messageIds": ids})) == (404, "unknown-message")
    assert sam.get("/me/messages/unread/count").json() == {"count": 3}

    assert sam.put(f"/me/messages/{ids[0]}/read").json()["unread"] is False
    assert sam.put(f"/me/messages/{ids[0]}/read").status_code == 200
    unread = sam.get("/me/messages/unread").json()["items"]
    assert [each["messageId"] for each in unread] == ids[1:]
    assert sam.post("/me/messages/read", {"messageIds": ids}).status_code == 204
    assert sam.get("/me/messages/unread/count").json() == {"count": 0}
    assert problem(sam.get("/me/messages/none")) == (404, "unknown-message")
    assert faulty(sam.post("/me/messages/read", {"messageIds": ["x"] * 26})) == {"messageIds"}


def test_all_messages_are_marked_or_none(web: Web, sam: Caller, post_deal: PostDeal) -> None:
    web.run(deliver(post_deal(), MessageKind.HOT, ["sam"]))
    (message,) = web.run(view_messages("sam"))
    answer = sam.post("/me/messages/read", {"messageIds": [message.message_id, "2" * 27]})
    assert problem(answer) == (404, "unknown-message")
    assert sam.get("/me/messages/unread/count").json() == {"count": 1}


@pytest.mark.parametrize("path", ["/me/messages", "/me/messages/unread"])
def test_a_cursor_of_another_is_refused(
    path: str, web: Web, sam: Caller, bo: Caller, post_deal: PostDeal
) -> None:
    for number in range(26):
        web.run(deliver(post_deal(f"Lamp {number}"), MessageKind.HOT, ["sam"]))
    cursor = sam.get(path).json()["startAt"]
    assert len(sam.get(path, startAt=cursor).json()["items"]) == 1
    assert problem(bo.get(path, startAt=cursor)) == (400, "cursor-error")
