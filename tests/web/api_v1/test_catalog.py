"""The catalogue by the API: patterns 1 to 18, and the others."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bigtime.systems.catalog.deals import put_brand
from bigtime.systems.catalog.design import Brand
from tests.web.api_v1.calling import Caller, faulty, problem
from tests.web.browsing import Web
from tests.web.editor.noted import noted_changes

HEADPHONES: dict[str, Any] = {
    "dealId": "deal-1",
    "title": "Headphones",
    "description": "They keep the noise out.",
    "price": 149.99,
    "brandId": "brand-sony",
    "brandName": "Sony",
    "categoryId": "electronics",
    "categoryName": "Electronics",
    "createdAt": "2024-01-15T10:00:00Z",
}
SONY = {"brandId": "brand-sony", "brandName": "Sony"}
DEAL = "/catalog/deals/deal-1"
BRAND = "/catalog/brands/brand-sony"
CATEGORY = "/catalog/categories/electronics"


@pytest.fixture
def deals(edith: Caller) -> list[str]:
    """Three deals of one brand and category, a day apart; the last is the newest."""
    ids = [f"deal-{number}" for number in (1, 2, 3)]
    for number, deal_id in enumerate(ids):
        at = f"2024-01-{15 + number}T10:00:00Z"
        edith.post("/catalog/deals", {**HEADPHONES, "dealId": deal_id, "createdAt": at})
    return ids


def add_brand(web: Web) -> None:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    web.run(put_brand(Brand(brand_id="brand-sony", brand_name="Sony", created_at=at)))


def ids_of(answer: Any) -> list[str]:
    return [item["dealId"] for item in answer.json()["items"]]


# Deals and brands


def test_a_deal_is_made_read_changed_and_expired(web: Web, edith: Caller, nobody: Caller) -> None:
    add_brand(web)
    made = edith.post("/catalog/deals", HEADPHONES)
    assert made.status_code == 201
    prices = [{"at": HEADPHONES["createdAt"], "price": HEADPHONES["price"]}]
    shown = {**HEADPHONES, "status": "active", "priceHistory": prices}
    assert nobody.get(DEAL).json() == made.json() == shown
    assert nobody.get(DEAL, consistent="false").json() == made.json()
    assert problem(edith.post("/catalog/deals", HEADPHONES)) == (409, "deal-exists")

    assert edith.patch(DEAL, {"price": 99.5}).json()["price"] == 99.5
    assert problem(edith.patch(DEAL, {})) == (422, "nothing-to-change")
    assert problem(edith.patch("/catalog/deals/x", {"price": 5})) == (404, "unknown-deal")
    featured = edith.put(f"{DEAL}/status", {"status": "featured", "seen": "active"})
    assert featured.json()["status"] == "featured"
    again = edith.put(f"{DEAL}/status", {"status": "featured", "seen": "active"})
    assert problem(again) == (409, "deal-moved")
    assert ids_of(nobody.get(f"{BRAND}/deals")) == ["deal-1"]
    assert edith.post(f"{DEAL}/expiry").json()["status"] == "expired"
    assert ids_of(nobody.get(f"{BRAND}/deals")) == []
    assert {action for _, action, _ in noted_changes(web)} == {"created deal", "changed deal"}


def test_a_deal_is_put_over_another(edith: Caller, nobody: Caller) -> None:
    body = {
        name: value for name, value in HEADPHONES.items() if name not in ("dealId", "createdAt")
    }
    first = edith.put(DEAL, body).json()
    second = edith.put(DEAL, {**body, "title": "Loudspeakers"}).json()
    assert second == {**first, "title": "Loudspeakers"} == nobody.get(DEAL).json()


def test_wrong_bodies_are_told_field_by_field(edith: Caller, nobody: Caller) -> None:
    wrong: list[tuple[dict[str, Any], set[str]]] = [
        ({"dealId": "a#b"}, {"dealId"}),
        ({"title": " "}, {"title"}),
        ({"price": 0}, {"price"}),
        ({"price": 1e300}, {"price"}),
        ({"status": "gone"}, {"status"}),
        ({"createdAt": "2024-01-15T10:00:00"}, {"createdAt"}),
        ({"createdAt": "0001-01-01T00:00:00+14:00"}, {"createdAt"}),
        ({"unknown": 1}, {"unknown"}),
    ]
    for change, fields in wrong:
        assert faulty(edith.post("/catalog/deals", {**HEADPHONES, **change})) == fields, change
    assert problem(nobody.get(DEAL)) == (404, "unknown-deal")


def test_deals_are_browsed_newest_first_and_page_by_page(nobody: Caller, deals: list[str]) -> None:
    for path in (f"{BRAND}/deals", f"{CATEGORY}/deals"):
        assert ids_of(nobody.get(path)) == deals[::-1]
        assert ids_of(nobody.get(path, ascending="true")) == deals
        first = nobody.get(path, pageSize=2)
        assert ids_of(first) == deals[:0:-1] and first.json()["moreAvailable"]
        rest = nobody.get(path, pageSize=2, startAt=first.json()["startAt"])
        assert ids_of(rest) == deals[:1]
        other = nobody.get(path, ascending="true", startAt=first.json()["startAt"])
        assert problem(other) == (400, "cursor-error")
        for size in ("0", "101", "many"):
            assert faulty(nobody.get(path, pageSize=size)) == {"pageSize"}


def test_recent_deals_are_those_since_a_date(nobody: Caller, deals: list[str]) -> None:
    path = f"{BRAND}/recent-deals"
    assert ids_of(nobody.get(path, sinceDate="2024-01-16T10:00:00Z")) == deals[:0:-1]
    assert faulty(nobody.get(path)) == {"sinceDate"}
    for wrong in ("yesterday", "2024-01-16T10:00:00"):
        assert faulty(nobody.get(path, sinceDate=wrong)) == {"sinceDate"}


def test_a_brand_is_made_read_and_changed(web: Web, edith: Caller, nobody: Caller) -> None:
    made = edith.post("/catalog/brands", SONY)
    assert made.status_code == 201 and nobody.get(BRAND).json() == made.json()
    assert problem(edith.post("/catalog/brands", SONY)) == (409, "brand-exists")
    changed = edith.patch(BRAND, {"description": "Since 1946."}).json()
    assert changed == {**made.json(), "description": "Since 1946."}
    put = edith.put(BRAND, {"brandName": "SONY"}).json()
    assert put == {**made.json(), "brandName": "SONY"}
    assert problem(nobody.get("/catalog/brands/x")) == (404, "unknown-brand")
    assert [action for _, action, _ in noted_changes(web)] == ["changed brand"] * 2 + [
        "created brand"
    ]


# Users, watches, activities


def test_a_user_is_the_caller_and_nobody_else(sam: Caller, bo: Caller) -> None:
    path, wanted = "/me/catalog/user", {"email": "sam@example.com", "displayName": "Sam"}
    assert problem(sam.get(path)) == (404, "unknown-user")
    made = sam.post(path, wanted)
    assert made.status_code == 201
    assert (made.json()["userId"], made.json()["username"]) == ("sam", "sam")
    assert problem(sam.post(path, wanted)) == (409, "user-exists")
    assert problem(bo.get(path)) == (404, "unknown-user")
    at = "2026-01-02T03:04:05Z"
    assert sam.patch(path, {"lastLogin": at}).json()["lastLogin"] == at
    put = sam.put(path, {**wanted, "displayName": "Sam S."}).json()
    assert put == {**made.json(), "displayName": "Sam S.", "lastLogin": at}
    assert sam.get(path, consistent="true").json() == put
    assert faulty(sam.post(path, {**wanted, "userId": "bo"})) == {"userId"}


def test_watches_are_the_callers_own_and_told_of_without_them(
    sam: Caller, bo: Caller, edith: Caller, ada: Caller
) -> None:
    edith.post("/catalog/brands", SONY)
    brand = sam.put("/me/catalog/watches/brands/brand-sony")
    assert brand.json()["watchKey"] == "BRAND#brand-sony"
    assert sam.put("/me/catalog/watches/brands/brand-sony").json() == brand.json()
    named = sam.put("/me/catalog/watches/categories/electronics", categoryName="Electronics")
    assert named.json()["targetName"] == "Electronics"
    both = sam.put("/me/catalog/watches/brands/brand-sony/categories/electronics").json()
    assert both["watchType"] == "brand_category"
    assert problem(sam.put("/me/catalog/watches/brands/none")) == (404, "unknown-brand")

    assert len(sam.get("/me/catalog/watches").json()["items"]) == 3
    assert bo.get("/me/catalog/watches").json()["items"] == []
    for path, count in ((f"{BRAND}/watchers", 2), (f"{CATEGORY}/watchers", 2)):
        found = edith.get(path)
        assert len(found.json()["items"]) == count and "sam" not in found.text
    found = edith.get("/catalog/watches", watchType="brand")
    assert len(found.json()["items"]) == 1 and "sam" not in found.text
    assert faulty(edith.get("/catalog/watches", watchType="x")) == {"watchType"}
    for path, query in (
        (f"{BRAND}/watchers", {}),
        (f"{CATEGORY}/watchers", {}),
        ("/catalog/watches", {"watchType": "category"}),
    ):
        assert {item["userId"] for item in ada.get(path, **query).json()["items"]} == {"sam"}

    key = "BRAND%23brand-sony"
    assert bo.delete(f"/me/catalog/watches/{key}").status_code == 204
    assert len(sam.get("/me/catalog/watches").json()["items"]) == 3
    for _ in range(2):
        assert sam.delete(f"/me/catalog/watches/{key}").status_code == 204
    assert len(sam.get("/me/catalog/watches").json()["items"]) == 2


def test_activities_are_the_callers_own(sam: Caller, bo: Caller) -> None:
    path = "/me/catalog/activities"
    for number in (1, 2, 3):
        wanted = {
            "activityId": f"view-{number}",
            "activityType": "deal_view" if number < 3 else "deal_notification",
            "timestamp": f"2024-01-1{number}T10:00:00Z",
            "details": {"deal_id": "deal-1", "seconds": 4.5, "new": True},
        }
        assert sam.post(path, wanted).status_code == 201
        assert problem(sam.post(path, wanted)) == (409, "activity-exists")

    def ids(*asked: str, **query: str) -> list[str]:
        return [item["activityId"] for item in sam.get(*asked, **query).json()["items"]]

    assert ids(path) == ["view-3", "view-2", "view-1"]
    assert ids(path, ascending="true") == ["view-1", "view-2", "view-3"]
    assert ids(f"{path}/since", sinceTimestamp="2024-01-12T10:00:00Z") == ["view-2", "view-3"]
    assert ids("/me/catalog/notifications") == ["view-3"]
    first = sam.get(path).json()["items"][-1]
    assert first["details"] == {"deal_id": "deal-1", "seconds": 4.5, "new": True}
    assert bo.get(path).json()["items"] == []
    wrong: list[dict[str, Any]] = [
        {"details": {"x": [1]}},
        {"details": {"": 1}},
        {"details": {"n": 1e30}},
        {"activityId": "a#b"},
        {"userId": "bo"},
    ]
    for change in wrong:
        wanted = {"activityId": "v", "activityType": "deal_view", **change}
        assert sam.post(path, wanted).status_code in (400, 422), change


# Trending deals


def test_deals_trend_by_what_people_do(
    web: Web, edith: Caller, nobody: Caller, deals: list[str]
) -> None:
    add_brand(web)
    for deal_id in deals[:2]:
        start = f"/catalog/deals/{deal_id}/trending"
        made = edith.post(start, {"discountPercentage": 25, "views": 10})
        assert (made.status_code, made.json()["engagementScore"]) == (201, 10)
        assert problem(edith.post(start, {"discountPercentage": 25})) == (409, "already-trending")
    place = f"{CATEGORY}/trending/deal-1"
    moved = edith.post(f"{place}/engagement", {"views": 5, "clicks": 2}).json()
    assert (moved["engagementScore"], moved["views"], moved["clicks"]) == (25, 15, 2)
    assert nobody.get(place).json() == moved

    assert ids_of(nobody.get(f"{CATEGORY}/trending")) == ["deal-1", "deal-2"]
    assert ids_of(nobody.get(f"{CATEGORY}/highly-engaged", minScore=25)) == ["deal-1"]
    assert len(ids_of(nobody.get(f"{BRAND}/high-discounts", minDiscount="25"))) == 2
    assert ids_of(nobody.get(f"{BRAND}/high-discounts", minDiscount="25.5")) == []
    for query in ({"minScore": "-1"}, {"minScore": "x"}, {"minScore": "9" * 50}, {}):
        assert faulty(nobody.get(f"{CATEGORY}/highly-engaged", **query)) == {"minScore"}
    for query in ({"minDiscount": "101"}, {"minDiscount": "NaN"}, {}):
        assert faulty(nobody.get(f"{BRAND}/high-discounts", **query)) == {"minDiscount"}

    assert edith.delete(place).status_code == 204
    for answer in (edith.delete(place), nobody.get(place)):
        assert problem(answer) == (404, "unknown-trending-deal")
    assert len([what for _, _, what in noted_changes(web) if "trending" in what]) == 3


@pytest.mark.parametrize(
    "path", ["deals", "recent-deals?sinceDate=2024-01-01T00:00:00Z", "high-discounts?minDiscount=5"]
)
def test_the_lists_of_an_unknown_brand_are_not_found(web: Web, nobody: Caller, path: str) -> None:
    assert problem(nobody.get(f"{BRAND}/{path}")) == (404, "unknown-brand")
    add_brand(web)
    assert nobody.get(f"{BRAND}/{path}").json()["items"] == []


def test_a_time_is_written_out(sam: Caller, ada: Caller) -> None:
    """A number of seconds is no time to whoever reads the description."""
    sam.post("/me/catalog/user", {"email": "sam@example.com", "displayName": "Sam"})
    for moment in (50_000, 50_000.5, "50000", "2026-11-15", True):
        assert faulty(sam.patch("/me/catalog/user", {"lastLogin": moment})) == {"lastLogin"}
    assert sam.patch("/me/catalog/user", {"lastLogin": "2026-11-15T10:00:00Z"}).status_code == 200
    for moment in ("1700000000", "0.5"):
        assert faulty(sam.get("/catalog/brands/b/recent-deals", sinceDate=moment)) == {"sinceDate"}
    for day in ("86400", "2026-11-15T00:00:00"):
        answer = ada.get("/skus/x/carts-of-day", status="ACTIVE", day=day)
        assert faulty(answer) == {"day"}


@pytest.mark.parametrize("content", ["1.5", "-2.9e-66", "[]", "null", "5"])
def test_a_body_that_is_no_object_changes_nothing(sam: Caller, content: str) -> None:
    sam.post("/me/catalog/user", {"email": "sam@example.com", "displayName": "Sam"})
    headers = {"content-type": "application/json"}
    for path in ("/me/catalog/user", "/me/user"):
        answer = sam.ask("PATCH", path, content=content, headers=headers)
        assert problem(answer) == (400, "malformed")
