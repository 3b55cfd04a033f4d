"""Deals, brands, categories and pages by the API."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from bigtime.model import get, scan_all, update
from bigtime.site.design import HotDealTask
from bigtime.systems.deals.deals import fetch_brand_deals, fetch_deal, update_deal
from bigtime.systems.deals.design import Brand, Deal, DealsCache, Picture
from tests.web.api_v1.calling import Caller, faulty, problem
from tests.web.browsing import Web
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes

NOBODY = "2" * 27
LAMP = {
    "title": "A brass lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "listPrice": 29.99,
    "description": "It shines.",
    "brandName": "apple",
    "categoryName": "Home",
}
OldDeals = Callable[[int], list[Deal]]


def post_deals(web: Web) -> list[Deal]:
    found: list[Deal] = web.run(fetch_brand_deals("Apple")).items
    return found


# Reading


def test_a_deal_is_read_by_its_id(nobody: Caller, post_deal: PostDeal) -> None:
    deal = post_deal(list_price=Decimal("29.99"), description="Oak.")
    created_at = deal.created_at.isoformat().replace("+00:00", "Z")
    assert nobody.get(f"/deals/{deal.deal_id}").json() == {
        "dealId": deal.deal_id,
        "title": "A lamp",
        "link": "https://shop.example/lamp",
        "price": 19.99,
        "listPrice": 29.99,
        "description": "Oak.",
        "brand": "APPLE",
        "brandName": "Apple",
        "category": "HOME",
        "categoryName": "Home",
        "createdAt": created_at,
        "priceHistory": [{"at": created_at, "price": 19.99}],
        "status": "active",
        "endsAt": None,
        "picture": None,
    }


def test_a_deal_and_a_brand_show_the_files_of_their_pictures(
    web: Web, nobody: Caller, post_deal: PostDeal
) -> None:
    picture = Picture.make("0123456789abcdef" * 2, (320, 640), 480)
    deal = post_deal()
    web.run(update(Deal.key(deal.deal_id), picture=picture))
    web.run(update(Brand.key("APPLE"), picture=picture))
    shown = {
        "width": 640,
        "height": 480,
        "files": [
            {"width": width, "url": f"/pictures/{picture.digest}/{width}.webp"}
            for width in (320, 640)
        ],
    }
    assert nobody.get(f"/deals/{deal.deal_id}").json()["picture"] == shown
    assert nobody.get("/brands/APPLE").json()["picture"] == shown


def test_a_deal_shows_its_last_prices(web: Web, nobody: Caller, post_deal: PostDeal) -> None:
    deal = post_deal()
    web.run(update_deal(deal.deal_id, price=Decimal(15)))
    web.run(update_deal(deal.deal_id, price=Decimal(17)))

    for shown in (
        nobody.get(f"/deals/{deal.deal_id}").json(),
        nobody.get("/deals", dealIds=[deal.deal_id]).json()["items"][0],
        nobody.get("/brands/APPLE/deals").json()["items"][0],
    ):
        assert [change["price"] for change in shown["priceHistory"]] == [19.99, 15, 17]


def test_what_is_not_there_is_404_in_the_one_shape(nobody: Caller) -> None:
    for path in (f"/deals/{NOBODY}", "/deals/none"):
        assert problem(nobody.get(path)) == (404, "unknown-deal")
    assert problem(nobody.get("/brands/Nobody")) == (404, "unknown-brand")
    assert problem(nobody.get("/brands/Nobody/deals")) == (404, "unknown-brand")
    assert problem(nobody.get("/categories/Cars")) == (404, "unknown-category")
    assert problem(nobody.get("/nowhere")) == (404, "not-found")
    assert problem(nobody.ask("DELETE", "/brands")) == (405, "method-not-allowed")


def test_several_deals_are_read_at_once(nobody: Caller, post_deal: PostDeal) -> None:
    lamp, rug = post_deal(), post_deal("A rug")
    answer = nobody.get("/deals", dealIds=[rug.deal_id, NOBODY, "none", lamp.deal_id])
    assert [item["title"] for item in answer.json()["items"]] == ["A rug", "A lamp"]
    assert (answer.json()["startAt"], answer.json()["moreAvailable"]) == (None, False)
    assert faulty(nobody.get("/deals", dealIds=["x"] * 101)) == {"dealIds"}


def test_deals_are_listed_all_or_of_a_brand_or_a_category(
    nobody: Caller, post_deal: PostDeal
) -> None:
    post_deal()
    post_deal("A crumb tray", brand_name="Cast & Crumb", category_name="Electronics")

    def titles(**query: str) -> list[str]:
        return [item["title"] for item in nobody.get("/deals", **query).json()["items"]]

    assert {*titles()} == {"A crumb tray", "A lamp"}  # of one second, so in either order
    assert titles(brand="cast & crumb") == titles(category="electronics") == ["A crumb tray"]
    assert titles(brand="Apple") == titles(category="HOME") == ["A lamp"]
    assert titles(category="Kitchen") == []


def test_a_list_of_nobodys_deals_is_404_and_two_filters_are_400(nobody: Caller) -> None:
    assert problem(nobody.get("/deals", brand="Nobody")) == (404, "unknown-brand")
    assert problem(nobody.get("/deals", category="Cars")) == (404, "unknown-category")
    assert faulty(nobody.get("/deals", brand="Apple", category="HOME")) == {"category"}
    assert faulty(nobody.get("/deals", brand="Apple", dealIds="x")) == {"brand"}
    assert faulty(nobody.get("/deals", brand="")) == {"brand"}
    assert faulty(nobody.get("/deals", limit=1)) == {"limit"}


def test_an_unknown_brand_is_404_in_both_apis(nobody: Caller) -> None:
    for api in ("", "/catalog"):
        for path in ("/brands/Nobody", "/brands/Nobody/deals"):
            assert problem(nobody.get(api + path)) == (404, "unknown-brand")


def test_lists_go_on_page_by_page(nobody: Caller, old_deals: OldDeals) -> None:
    ids = [deal.deal_id for deal in old_deals(60)]
    lists: list[tuple[str, str | None, dict[str, str]]] = [
        ("/deals", None, {}),
        ("/deals", None, {"brand": "APPLE"}),
        ("/deals", None, {"category": "HOME"}),
        ("/brands/APPLE/deals", None, {}),
        ("/categories/HOME", "latest", {}),
        ("/front-page", "latest", {}),
    ]
    for path, inside, asked in lists:
        seen: list[str] = []
        for _ in range(10):
            answer = nobody.get(path, **asked).json()
            page = answer[inside] if inside else answer
            seen += [item["dealId"] for item in page["items"]]
            if not page["moreAvailable"] or len(seen) >= 60:
                break
            asked["startAt"] = page["startAt"]
        assert seen == ids


def test_a_list_goes_on_after_the_last_deal_that_was_seen(
    nobody: Caller, old_deals: OldDeals
) -> None:
    ids = [deal.deal_id for deal in old_deals(4)]
    page = nobody.get("/brands/APPLE/deals", lastDealIdSeen=ids[1]).json()
    assert [item["dealId"] for item in page["items"]] == ids[2:]
    assert faulty(nobody.get("/brands/APPLE/deals", lastDealIdSeen="x")) == {"lastDealIdSeen"}


def test_a_cursor_that_was_tampered_with_or_is_anothers_is_400(
    nobody: Caller, old_deals: OldDeals
) -> None:
    old_deals(30)
    cursor = nobody.get("/brands/APPLE/deals").json()["startAt"]
    last = "A" if cursor[-1] != "A" else "B"
    assert nobody.get("/brands/APPLE/deals", startAt=cursor).status_code == 200
    for wrong in (cursor[:-1] + last, "made-up", "", cursor + "A"):
        answer = nobody.get("/brands/APPLE/deals", startAt=wrong)
        assert problem(answer) == (400, "cursor-error")
    assert problem(nobody.get("/categories/HOME", startAt=cursor)) == (400, "cursor-error")


def test_brands_and_categories_are_listed(nobody: Caller) -> None:
    assert nobody.get("/brands").json() == {"items": ["Apple", "Cast & Crumb"]}
    assert len(nobody.get("/categories").json()["items"]) == 8
    brand = nobody.get("/brands/cast & crumb").json()
    assert (brand["brand"], brand["name"], brand["likeCount"]) == (
        "CAST & CRUMB",
        "Cast & Crumb",
        0,
    )


# Writing


def test_an_editor_posts_a_deal(web: Web, nobody: Caller, edith: Caller) -> None:
    answer = edith.post("/deals", LAMP)

    (deal,) = post_deals(web)
    assert answer.status_code == 201 and answer.json()["dealId"] == deal.deal_id
    assert (deal.price, deal.list_price) == (Decimal("19.99"), Decimal("29.99"))
    assert nobody.get(f"/deals/{deal.deal_id}").json() == answer.json()
    assert noted_changes(web) == [("edith", "created deal", "A brass lamp")]


def test_a_wrong_body_is_told_field_by_field_and_changes_nothing(web: Web, edith: Caller) -> None:
    for change, status, fields in [
        ({"title": ""}, 422, {"title"}),
        ({"title": "a\u202eb"}, 422, {"title"}),
        ({"title": 5}, 400, {"title"}),
        ({"price": 0}, 422, {"price"}),
        ({"price": 1.999}, 422, {"price"}),
        ({"price": "NaN"}, 400, {"price"}),
        ({"price": None}, 400, {"price"}),
        ({"link": "javascript:alert(1)", "price": -1}, 422, {"link", "price"}),
        ({"brandName": "A#B"}, 422, {"brandName"}),
        ({"extra": 1}, 400, {"extra"}),
        ({"description": "x" * 501}, 422, {"description"}),
    ]:
        answer = edith.post("/deals", {**LAMP, **change})  # type: ignore[dict-item]
        assert (answer.status_code, faulty(answer)) == (status, fields), change
    assert problem(edith.post("/deals", {**LAMP, "listPrice": 5})) == (422, "no-discount")
    assert problem(edith.post("/deals", {**LAMP, "brandName": "Nobody"})) == (404, "unknown-brand")
    assert problem(edith.post("/deals", {**LAMP, "categoryName": "Cars"}))[0] == 404
    bodies: list[Any] = [None, [], "x"]
    for body in bodies:
        assert edith.post("/deals", body).status_code == 400
    assert post_deals(web) == [] and noted_changes(web) == []


def test_a_body_that_is_no_json_is_400(edith: Caller) -> None:
    for content, kind in ((b"{", "application/json"), (b'{"price": NaN}', "application/json")):
        answer = edith.ask("POST", "/deals", content=content, headers={"content-type": kind})
        assert problem(answer) == (400, "malformed")
    answer = edith.ask("POST", "/deals", content=b"title=x", headers={"content-type": "text/plain"})
    assert problem(answer) == (400, "malformed")


def test_a_deal_is_changed_in_part_and_as_a_whole(
    web: Web, nobody: Caller, edith: Caller, post_deal: PostDeal
) -> None:
    deal = post_deal(list_price=Decimal("29.99"), description="Oak.")
    path = f"/deals/{deal.deal_id}"
    assert nobody.get(path).json()["price"] == 19.99  # and that is kept

    part = edith.patch(path, {"price": 15, "description": None})
    assert (part.json()["price"], part.json()["description"]) == (15, None)
    assert (part.json()["title"], part.json()["listPrice"]) == ("A lamp", 29.99)
    assert nobody.get(path).json() == part.json()

    whole = edith.put(path, {"title": "A rug", "link": "https://x.example/", "price": 40})
    assert (whole.json()["title"], whole.json()["listPrice"]) == ("A rug", None)
    assert nobody.get(path).json() == whole.json()
    assert [what for _, _, what in noted_changes(web)][::-1] == [
        "A lamp: price, description",
        "A rug: title, link, price, list price",
    ]
    assert web.run(fetch_deal(deal.deal_id)).title == "A rug"


def test_a_change_that_will_not_do_changes_nothing(
    web: Web, edith: Caller, post_deal: PostDeal
) -> None:
    deal = post_deal(list_price=Decimal("29.99"))
    path = f"/deals/{deal.deal_id}"
    assert problem(edith.patch(path, {"price": 30})) == (422, "no-discount")
    assert faulty(edith.patch(path, {"title": None})) == {"title"}
    assert problem(edith.patch(path, {"brandName": "Nobody"})) == (404, "unknown-brand")
    assert faulty(edith.patch(path, {"brandName": None})) == {"brandName"}
    assert faulty(edith.patch(path, {"endsAt": "soon"})) == {"endsAt"}
    assert faulty(edith.patch(path, {"endsAt": "2026-12-24T18:00:00"})) == {"endsAt"}
    assert faulty(edith.put(path, {"title": "A rug"})) == {"link", "price"}
    assert problem(edith.patch(f"/deals/{NOBODY}", {"price": 3})) == (404, "unknown-deal")
    assert edith.patch(path, {}).json()["title"] == "A lamp"
    assert web.run(fetch_deal(deal.deal_id)) == deal and noted_changes(web) == []


def test_a_deal_is_given_an_end_and_another_place(
    web: Web, nobody: Caller, edith: Caller, post_deal: PostDeal
) -> None:
    path = f"/deals/{post_deal().deal_id}"
    later = edith.patch(path, {"endsAt": "2099-01-01T02:00:00+02:00"}).json()
    assert (later["endsAt"], later["status"]) == ("2099-01-01T00:00:00Z", "active")
    assert edith.patch(path, {"endsAt": "2020-01-01T00:00:00Z"}).json()["status"] == "expired"
    assert edith.patch(path, {"endsAt": None}).json()["status"] == "active"
    moved = edith.patch(path, {"brandName": "cast & crumb", "categoryName": "toys"}).json()
    assert (moved["brandName"], moved["categoryName"]) == ("Cast & Crumb", "Toys")
    assert nobody.get("/brands/APPLE/deals").json()["items"] == []
    assert len(nobody.get("/brands/CAST %26 CRUMB/deals").json()["items"]) == 1
    body = {"title": "x", "link": "https://x.example/", "price": 5}
    place = {"brandName": "Apple", "categoryName": "Home"}
    past = {**body, **place, "endsAt": "2020-01-01T00:00:00Z"}
    assert problem(edith.post("/deals", past)) == (422, "end-passed")


def test_a_deal_is_taken_off_and_published_again(
    nobody: Caller, edith: Caller, post_deal: PostDeal
) -> None:
    path = f"/deals/{post_deal().deal_id}"
    for _ in range(2):
        off = edith.post(f"{path}/unpublish", {"why": "A mistake"})
        assert (off.status_code, off.json()["status"]) == (200, "unpublished")
    assert problem(nobody.get(path)) == (404, "deal-unpublished")
    assert nobody.get("/brands/APPLE/deals").json()["items"] == []
    assert nobody.get("/deals", dealIds=[path[-27:]]).json()["items"] == []
    assert edith.post(f"{path}/publish").json()["status"] == "active"
    assert nobody.get(path).json()["status"] == "active"


def test_a_brand_is_changed_but_not_into_another(nobody: Caller, edith: Caller) -> None:
    changed = edith.patch("/brands/apple", {"name": "APPLE", "description": "Phones."}).json()
    assert (changed["name"], changed["description"]) == ("APPLE", "Phones.")
    assert nobody.get("/brands/APPLE").json()["name"] == "APPLE"
    assert nobody.get("/brands").json()["items"].count("APPLE") == 1
    assert problem(edith.patch("/brands/APPLE", {"name": "Pear"})) == (422, "other-brand")
    assert problem(edith.patch("/brands/Nobody", {"logo": None})) == (404, "unknown-brand")


def test_a_test_message_goes_to_the_caller_alone(edith: Caller, post_deal: PostDeal) -> None:
    sent = edith.post(f"/deals/{post_deal().deal_id}/hot-message/test").json()
    assert (sent["kind"], sent["subject"]) == ("test", "Test: Hot: A lamp")


def test_an_editor_makes_a_brand(web: Web, nobody: Caller, edith: Caller) -> None:
    nobody.get("/brands")  # and that is kept
    answer = edith.post("/brands", {"name": "Söhne", "logo": "https://shop.example/1.png"})
    assert (answer.status_code, answer.json()["brand"]) == (201, "SÖHNE")
    assert "Söhne" in nobody.get("/brands").json()["items"]
    assert problem(edith.post("/brands", {"name": "SÖHNE"})) == (409, "brand-exists")
    assert faulty(edith.post("/brands", {"name": "A#B", "logo": "x"})) == {"name", "logo"}
    assert noted_changes(web) == [("edith", "created brand", "Söhne")]


def test_the_categories_are_there_already(edith: Caller) -> None:
    assert len(edith.put("/categories").json()["items"]) == 8


def featured_titles(caller: Caller, path: str) -> Any:
    page = caller.get(path).json()
    return page.get("category", page)["featuredDeals"]


def test_an_editor_features_deals(
    web: Web, nobody: Caller, edith: Caller, old_deals: OldDeals
) -> None:
    ids: list[Any] = [deal.deal_id for deal in old_deals(12)]
    for path in ("/front-page", "/editors-choice", "/categories/HOME"):
        assert featured_titles(nobody, path) == []  # and that is kept
        answer = edith.put(f"{path}/featured-deals", {"dealIds": ids[:5]})
        assert [featured_deal["dealId"] for featured_deal in answer.json()["featuredDeals"]] == ids[
            :5
        ]
        assert featured_titles(nobody, path) == answer.json()["featuredDeals"]
    assert len(noted_changes(web)) == 3


def test_the_number_of_featured_deals_is_enforced(edith: Caller, old_deals: OldDeals) -> None:
    ids = [deal.deal_id for deal in old_deals(12)]
    for path, chosen, code in [
        ("/front-page", [], "too-few-featured"),
        ("/front-page", ids[:11], "too-many-featured"),
        ("/categories/HOME", ids[:4], "too-few-featured"),
        ("/categories/TOYS", ids[:5], "wrong-category"),
        ("/editors-choice", [ids[0], ids[0]], "featured-twice"),
    ]:
        answer = edith.put(f"{path}/featured-deals", {"dealIds": chosen})
        assert problem(answer) == (422, code)
    assert problem(edith.put("/front-page/featured-deals", {"dealIds": [NOBODY]}))[0] == 404
    assert problem(edith.put("/categories/CARS/featured-deals", {"dealIds": ids[:5]}))[0] == 404


def test_featured_deals_are_brought_up_to_date(edith: Caller, old_deals: OldDeals) -> None:
    ids = [deal.deal_id for deal in old_deals(5)]
    for path in ("/front-page", "/editors-choice", "/categories/HOME"):
        edith.put(f"{path}/featured-deals", {"dealIds": ids})
    edith.patch(f"/deals/{ids[0]}", {"price": 5})
    for path in (
        "/pages/FRONTPAGE/refresh",
        "/pages/EDITORSCHOICE/refresh",
        "/pages/EDITORSCHOICEPAGE/refresh",
        "/categories/HOME/featured-deals/refresh",
    ):
        assert edith.post(path).json()["featuredDeals"][0]["price"] == 5
    assert problem(edith.post("/pages/OTHER/refresh")) == (404, "unknown-page")
    assert edith.post("/categories/TOYS/featured-deals/refresh").json() == {"featuredDeals": []}


def test_an_editor_sends_a_hot_message_once(web: Web, edith: Caller, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}/hot-message"
    assert edith.get(path).json() == {"told": 0, "segments": 0, "segmentsDone": 0, "done": False}
    for _ in range(2):
        answer = edith.post(path)
        assert (answer.status_code, answer.json()["done"]) == (202, False)
    assert len(web.run(scan_all(HotDealTask))) == 1
    assert noted_changes(web) == [("edith", "sent hot-deal message", "A lamp")]
    assert problem(edith.post(f"/deals/{NOBODY}/hot-message")) == (404, "unknown-deal")
    assert problem(edith.get(f"/deals/{NOBODY}/hot-message")) == (404, "unknown-deal")


def test_watchers_are_told_once(web: Web, edith: Caller, sam: Caller, post_deal: PostDeal) -> None:
    sam.put("/me/brands/APPLE/watch")
    sam.put("/me/categories/HOME/watch")
    path = f"/deals/{post_deal().deal_id}"
    assert edith.post(f"{path}/brand-message").json() == {"told": 1}
    for kind in ("brand", "category"):  # one message tells of both
        assert edith.post(f"{path}/{kind}-message").json() == {"told": 0}
    assert sam.get("/me/messages/unread/count").json() == {"count": 1}


def test_the_copies_of_the_latest_deals_are_written_anew(
    web: Web, edith: Caller, old_deals: OldDeals
) -> None:
    old_deals(30)
    assert len(edith.post("/front-page/copies").json()["items"]) == 25
    assert len(web.run(get(DealsCache.key(1))).deals) == 25
