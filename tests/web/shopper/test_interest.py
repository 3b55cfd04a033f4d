"""Liking and watching, on the pages of brands and categories, and the list of it all."""

from __future__ import annotations

import pytest

from bigtime.model import load_many
from bigtime.store import Store
from bigtime.store.driver import Exchange
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.design import Brands
from bigtime.systems.deals.interests import (
    Interest,
    fetch_brand_interest,
    fetch_category_interest,
    like_brand,
    like_category,
    watch_brand,
)
from bigtime.web.shop import interests as interest_pages
from bigtime.wire import Request, Response
from tests.web.browsing import Browser, Reader, Web, words
from tests.web.portal.waiting import eventually

PAGES = ("/brands/APPLE", "/brands/CAST%20%26%20CRUMB", "/categories/HOME")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("do", "undo", "count"), [("like", "unlike", "1 like"),
                                                   ("watch", "unwatch", "1 watch")])  # fmt: skip
def test_a_button_does_and_undoes(
    alex: Browser, visitor: Browser, page: str, do: str, undo: str, count: str
) -> None:
    done = alex.submit(page, f"{page}/{do}")
    assert (done.status_code, done.headers["location"]) == (303, page)
    assert f"{count} " in words(alex.get(page).text).replace("·", "")
    assert f"{count} " in words(visitor.get(page).text).replace("·", "")
    undone = alex.submit(page, f"{page}/{undo}")
    assert undone.status_code == 303
    assert "0 likes · 0 watches" in words(alex.get(page).text)


def test_a_button_shows_whether_it_is_pressed(alex: Browser) -> None:
    alex.submit("/brands/APPLE", "/brands/APPLE/watch")
    page = alex.get("/brands/APPLE").text
    assert 'id="like-button" aria-pressed="false"' in page
    assert 'id="watch-button" aria-pressed="true"' in page


def test_pressed_twice_is_pressed_once(web: Web, alex: Browser) -> None:
    form = alex.form("/brands/APPLE", "/brands/APPLE/like")
    for _ in range(2):
        assert alex.post("/brands/APPLE/like", data=form.fields).status_code == 303
    assert "1 like " in words(alex.get("/brands/APPLE").text)
    for _ in range(2):
        assert alex.post("/brands/APPLE/unlike", data=form.fields).status_code == 303
    assert "0 likes" in words(alex.get("/brands/APPLE").text)


def test_one_sees_what_one_likes_and_not_what_others_like(web: Web, alex: Browser) -> None:
    bo = web.signed_in("bo")
    alex.submit("/brands/APPLE", "/brands/APPLE/like")
    assert 'id="like-button" aria-pressed="true"' in alex.get("/brands/APPLE").text
    assert 'id="like-button" aria-pressed="false"' in bo.get("/brands/APPLE").text
    assert web.run(fetch_brand_interest("APPLE", "bo")) == Interest(liked=False, watched=False)


def test_nobody_can_press_for_nobody(web: Web, visitor: Browser) -> None:
    assert "/log-in?next=/brands/APPLE" in visitor.links("/brands/APPLE")
    refused = visitor.post("/brands/APPLE/like", data={"form_token": visitor.token()})
    assert (refused.status_code, refused.headers["location"]) == (303, "/log-in")
    assert "0 likes" in words(visitor.get("/brands/APPLE").text)


def test_a_script_is_told_to_go_and_log_in(visitor: Browser) -> None:
    refused = visitor.post("/brands/APPLE/like", headers={"hx-request": "true"})
    assert refused.headers["hx-redirect"] == "/log-in"
    assert refused.content == b""


@pytest.mark.parametrize(
    "path",
    ["/brands/NOPE/like", "/brands/%23/like", "/brands/APPLE/buy", "/categories/NOPE/watch",
     "/categories/HOME/delete"],
)  # fmt: skip
def test_what_is_not_there_cannot_be_liked(alex: Browser, path: str) -> None:
    assert alex.post(path, data={"form_token": alex.token()}).status_code == 404


@pytest.mark.parametrize(
    ("back", "where"),
    [("/me/interests", "/me/interests"), ("//evil.example", "/brands/APPLE"),
     ("https://evil.example", "/brands/APPLE"), ("", "/brands/APPLE")],
)  # fmt: skip
def test_one_is_sent_back_to_a_page_of_this_site_only(alex: Browser, back: str, where: str) -> None:
    sent = alex.post("/brands/APPLE/like", data={"form_token": alex.token(), "back": back})
    assert sent.headers["location"] == where


# The list


def test_the_list_has_what_one_likes_and_watches(web: Web, alex: Browser) -> None:
    assert words(alex.get("/me/interests").text).count("None yet.") == 2
    alex.submit("/brands/APPLE", "/brands/APPLE/like")
    assert "Apple Unlike : Apple" in words(alex.get("/me/interests").text)


def test_the_list_has_what_others_did_for_one_soon_after(web: Web, alex: Browser) -> None:
    assert words(alex.get("/me/interests").text).count("None yet.") == 2
    web.run(like_brand("Apple", "alex"))
    web.run(watch_brand("Cast & Crumb", "alex"))
    web.run(like_category("Home", "alex"))
    web.run(like_category("Toys", "bo"))
    eventually(lambda: "Home Unlike" in words(alex.get("/me/interests").text))
    page = alex.get("/me/interests").text
    said = words(page)
    assert "Home Unlike : Home" in said
    assert "Apple Unlike : Apple" in said
    assert "Cast & Crumb Unwatch : Cast & Crumb" in said
    assert "Toys" not in said
    assert "/brands/CAST%20%26%20CRUMB" in Reader(page).links


def test_the_list_takes_one_batch_after_the_names(web: Web, alex: Browser) -> None:
    web.run(like_brand("Apple", "alex"))
    web.run(like_category("Home", "alex"))
    exchanges: list[Exchange] = []
    store = Store(web.store.transport, hooks=[exchanges.append])
    found = store.run(interest_pages.interests_of("alex", None))
    assert [exchange.request.operation for exchange in exchanges] == ["GetItem", "BatchGetItem"]
    assert [brand.name for brand in (*found.brands, *found.categories)] == ["Apple", "Home"]


def test_a_list_that_is_looked_at_again_is_not_read_again(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    transport = web.site.store.transport

    async def note_and_ask(request: Request) -> Response:
        asked.append(request.operation)
        return await transport(request)

    def is_read() -> bool:
        asked.clear()
        assert "Unlike : Apple" in words(alex.get("/me/interests").text)
        return "BatchGetItem" in asked

    monkeypatch.setattr(web.site.store, "transport", note_and_ask)
    web.run(like_brand("Apple", "alex"))
    assert is_read()
    eventually(lambda: not is_read())


def test_a_list_is_its_own_and_nobody_else_s(web: Web, alex: Browser) -> None:
    alex.submit("/brands/APPLE", "/brands/APPLE/watch")
    assert "Apple Unwatch" in words(alex.get("/me/interests").text)
    assert "Apple" not in words(web.signed_in("bo").get("/me/interests").text)


def test_from_the_list_one_can_like_no_more_and_is_back_there(web: Web, alex: Browser) -> None:
    web.run(like_category("Home", "alex"))
    done = alex.submit("/me/interests", "/categories/HOME/unlike")
    assert done.headers["location"] == "/me/interests"
    assert web.run(fetch_category_interest("Home", "alex")) == Interest(liked=False, watched=False)


def test_a_long_list_of_brands_is_walked_page_by_page(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interest_pages, "BRANDS_ASKED", 2)
    for name in ("Birch", "Dune", "Elm"):
        web.run(create_brand(name))
    for name in ("Apple", "Dune", "Elm"):
        web.run(like_brand(name, "alex"))
    found, path = [], "/me/interests"
    while path:
        links = alex.links(path)
        found += [link for link in links if link.startswith("/brands/")]
        path = next((link for link in links if link.startswith("/me/interests?after=")), "")
    assert found == ["/brands/APPLE", "/brands/DUNE", "/brands/ELM"]


def test_any_place_to_go_on_from_will_do(web: Web, alex: Browser) -> None:
    web.run(like_brand("Apple", "alex"))
    for after, is_there in (("", True), ("APPLE", False), ("ZZZ", False), ("%00", True)):
        page = alex.get(f"/me/interests?after={after}")
        assert page.status_code == 200
        assert ("/brands/APPLE" in Reader(page.text).links) is is_there


def test_a_site_without_brands_has_an_empty_list(web: Web, alex: Browser) -> None:
    web.run(load_many([Brands(brands=set())]))
    assert alex.get("/me/interests").status_code == 200
