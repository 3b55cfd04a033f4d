"""Featured deals: drafted in the address, published at once, within their number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.store import consume
from bigtime.store.driver import Exchange
from bigtime.systems.deals.brands import CATEGORIES
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.featured import follow_featured_deals, set_front_page_deals
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.values import category_key
from bigtime.web.desk.featured import Step, move_deals
from tests.web.browsing import Browser, Reader, Web, titles, words
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes

FRONT, CHOICE = "/editor/featured/front-page", "/editor/featured/editors-choice"
HOME = "/editor/featured/categories/HOME"
OldDeals = Callable[[int], list[Deal]]


@pytest.fixture
def lamps(old_deals: OldDeals) -> list[Deal]:
    return old_deals(12)


def ids(deals: list[Deal]) -> str:
    return ".".join(deal.deal_id for deal in deals)


def draft(html: str) -> list[str]:
    """The deals of the draft that a page shows."""
    text = html.partition('name="deals" value="')[2].partition('"')[0]
    return text.split(".") if text else []


def step(erin: Browser, path: str, **asked: str) -> Any:
    return erin.get(f"{path}?{urlencode(asked)}")


def publish(erin: Browser, path: str, **typed: str) -> Any:
    return erin.post(path, data={**publish_form(erin, path), **typed})


def publish_form(erin: Browser, path: str) -> dict[str, str]:
    """The form that publishes, as it stands on the page."""
    forms = [form.fields for form in Reader(erin.get(path).text).forms if form.action == path]
    (form,) = [form for form in forms if "form_token" in form]
    return form


def featured_titles(web: Web) -> list[str]:
    front, _ = web.run(fetch_front_page())
    return [featured_deal.title for featured_deal in front.featured_deals]


def test_every_place_tells_how_many_it_has_and_may_have(erin: Browser) -> None:
    page = words(erin.get("/editor/featured").text)
    assert "Front page 0 deals 1-10 deals" in page
    assert "Editor's choice 0 deals 1-10 deals" in page
    for name in CATEGORIES:
        assert f"{name} 0 deals 5-10 deals" in page
        assert f"/editor/featured/categories/{category_key(name)}" in erin.links("/editor/featured")


@pytest.mark.parametrize(
    ("path", "public", "count"),
    [(FRONT, "/", 3), (CHOICE, "/editors-choice", 1), (HOME, "/categories/HOME", 5)],
)
def test_what_is_published_stands_first_for_everybody(
    path: str, public: str, count: int, web: Web, erin: Browser, visitor: Browser, lamps: list[Deal]
) -> None:
    visitor.get(public)  # and that is kept
    chosen = lamps[4 : 4 + count]

    answer = publish(erin, path, deals=ids(chosen))

    assert answer.status_code == 303 and answer.headers["location"] == f"{path}?done=true"
    assert "Published." in words(erin.get(answer.headers["location"]).text)
    assert titles(visitor.get(public).text)[:count] == [deal.title for deal in chosen]
    assert draft(erin.get(path).text) == [deal.deal_id for deal in chosen]
    name = {FRONT: "Front page", CHOICE: "Editor's choice", HOME: "Home"}[path]
    words_of = "1 deal" if count == 1 else f"{count} deals"
    assert noted_changes(web) == [("erin", "featured deals", f"{name}: {words_of}")]


def test_deals_are_added_by_id_address_or_from_the_latest(erin: Browser, lamps: list[Deal]) -> None:
    first = step(erin, FRONT, deals="", add=lamps[3].deal_id)
    assert draft(first.text) == [lamps[3].deal_id]
    assert f'name="add" value="{lamps[0].deal_id}"' in first.text
    assert f'name="add" value="{lamps[3].deal_id}"' not in first.text
    address = f"https://deals.example/deals/{lamps[0].deal_id}"
    second = step(erin, FRONT, deals=lamps[3].deal_id, add=address)
    assert draft(second.text) == [lamps[3].deal_id, lamps[0].deal_id]


def test_a_deal_that_cannot_be_added_is_told_beside_the_field(
    erin: Browser, lamps: list[Deal], post_deal: PostDeal
) -> None:
    toy = post_deal("A <toy>", category_name="Toys")
    for path, deals, add, says in [
        (FRONT, ids(lamps[:2]), "nothing", "There is no such deal."),
        (FRONT, ids(lamps[:2]), "", "There is no such deal."),
        (FRONT, ids(lamps[:2]), lamps[1].deal_id, "cannot be featured twice"),
        (FRONT, ids(lamps[:10]), lamps[10].deal_id, "10 deals are enough here"),
        (HOME, ids(lamps[:2]), toy.deal_id, "this one is in Toys"),
    ]:
        answer = step(erin, path, deals=deals, add=add)
        fault = answer.text.partition('id="add-fault">')[2].partition("<")[0]
        assert answer.status_code == 422 and says in words(fault)
        assert ".".join(draft(answer.text)) == deals


def test_deals_are_moved_and_removed_in_the_draft_alone(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    web.run(set_front_page_deals([deal.deal_id for deal in lamps[:3]]))
    one, two, three = (deal.deal_id for deal in lamps[:3])
    assert draft(step(erin, FRONT, up=three).text) == [one, three, two]
    assert draft(step(erin, FRONT, down=one).text) == [two, one, three]
    assert draft(step(erin, FRONT, remove=two).text) == [one, three]
    assert draft(step(erin, FRONT, up=one).text) == [one, two, three]
    assert draft(step(erin, FRONT, remove="nothing").text) == [one, two, three]
    assert featured_titles(web) == [deal.title for deal in lamps[:3]] and noted_changes(web) == []


@given(
    draft=st.lists(st.sampled_from("abcdef"), unique=True),
    steps=st.lists(st.tuples(st.sampled_from(["up", "down"]), st.sampled_from("abcdefg"))),
)
def test_moving_never_loses_or_adds_a_deal(draft: list[str], steps: list[tuple[str, str]]) -> None:
    after = draft
    for how, which in steps:
        after = move_deals(after, Step(**{how: which}))  # type: ignore[arg-type]
    assert sorted(after) == sorted(draft)


def test_too_few_and_too_many_are_refused_and_the_draft_stays(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    for path, count, says in [
        (FRONT, 0, "Feature at least 1 deals; 0 are too few."),
        (FRONT, 11, "Feature at most 10 deals; 11 are too many."),
        (HOME, 4, "Feature at least 5 deals; 4 are too few."),
        (HOME, 11, "Feature at most 10 deals; 11 are too many."),
    ]:
        answer = publish(erin, path, deals=ids(lamps[:count]))
        assert answer.status_code == 422 and says in words(answer.text)
        assert len(draft(answer.text)) == count
    assert featured_titles(web) == [] and noted_changes(web) == []


def test_the_number_that_is_allowed_is_shown(erin: Browser, lamps: list[Deal]) -> None:
    assert "5-10 deals; 2 in this draft." in words(step(erin, HOME, deals=ids(lamps[:2])).text)


def test_a_deal_of_another_category_is_refused(
    web: Web, erin: Browser, lamps: list[Deal], post_deal: PostDeal
) -> None:
    toy = post_deal("A toy", category_name="Toys")
    answer = publish(erin, HOME, deals=ids([*lamps[:4], toy]))
    assert answer.status_code == 422 and "Home features only deals of its own" in answer.text


def test_who_publishes_second_is_told_and_may_publish_again(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    web.run(set_front_page_deals([lamps[0].deal_id]))
    late = publish(erin, FRONT, deals=ids(lamps[2:4]), seen="")

    assert late.status_code == 409
    assert "Someone else has published another choice meanwhile" in late.text
    assert draft(late.text) == [deal.deal_id for deal in lamps[2:4]]
    assert featured_titles(web) == [lamps[0].title] and noted_changes(web) == []
    assert publish(erin, FRONT, deals=ids(lamps[2:4])).status_code == 303
    assert featured_titles(web) == [deal.title for deal in lamps[2:4]]


def test_what_is_published_between_the_look_and_the_write_is_not_lost(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    form = publish_form(erin, FRONT)

    def published_meanwhile(exchange: Exchange) -> None:
        if exchange.request.operation == "BatchGetItem":
            web.site.store.hooks = hooks
            web.run(set_front_page_deals([lamps[0].deal_id]))

    hooks = web.site.store.hooks
    web.site.store.hooks = (*hooks, published_meanwhile)
    late = erin.post(FRONT, data={**form, "deals": ids(lamps[2:4])})

    assert (
        late.status_code == 409
        and featured_titles(web) == [lamps[0].title]
        and noted_changes(web) == []
    )


def test_the_front_page_never_shows_two_prices_of_a_deal(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    """B31: the copy follows by the stream."""
    publish(erin, FRONT, deals=ids(lamps[:1]))
    follow = consume(web.store, "BigTimeDeals", follow_featured_deals.handle, name="test")
    follow.run_once()
    form = erin.form(f"/editor/deals/{lamps[0].deal_id}", f"/editor/deals/{lamps[0].deal_id}")
    assert erin.post(form.action, data={**form.fields, "price": "5"}).status_code == 303
    follow.run_once()

    front, _ = web.run(fetch_front_page())
    assert front.featured_deals[0].price == 5
    page = web.browser().get("/").text
    assert page.count("$5.00") == 1 and page.count(lamps[0].title) >= 1


def test_a_place_that_is_not_there_is_404(erin: Browser) -> None:
    for name in ("CARS", "home", "A#B"):
        assert erin.get(f"/editor/featured/categories/{name}").status_code == 404


def test_the_older_deals_keep_the_draft(erin: Browser, old_deals: OldDeals) -> None:
    deals = old_deals(30)
    page = f"{FRONT}?deals={ids(deals[:2])}"
    (older,) = [link for link in erin.links(page) if "&after=" in link]
    answer = erin.get(older)
    assert draft(answer.text) == [deal.deal_id for deal in deals[:2]]
    assert f'name="add" value="{deals[27].deal_id}"' in answer.text
    assert erin.get(f"{FRONT}?after=made-up").status_code == 400


def focused_id(html: str) -> str:
    """The id of what has the focus when a page comes."""
    (found,) = re.findall(r'<(?:button|input)[^>]* id="([^"]*)"[^>]* autofocus', html)
    return str(found)


def test_the_focus_stays_with_the_deal_that_is_moved(erin: Browser, lamps: list[Deal]) -> None:
    one, two, three = (deal.deal_id for deal in lamps[:3])
    deals = ids(lamps[:3])
    after: list[tuple[dict[str, str], str]] = [
        ({"up": three}, f"up-{three}"),
        ({"up": two}, f"down-{two}"),  # there is no way up from the top
        ({"down": one}, f"down-{one}"),
        ({"down": two}, f"up-{two}"),
        ({"remove": one}, f"remove-{two}"),
        ({"remove": three}, f"remove-{two}"),
        ({"add": lamps[5].deal_id}, f"add-{lamps[6].deal_id}"),
        ({"add": lamps[11].deal_id}, f"add-{lamps[10].deal_id}"),
        ({"add": f"/deals/{lamps[5].deal_id}"}, "add"),
        ({"add": "nonsense"}, "add"),
    ]
    for asked, stays in after:
        assert focused_id(step(erin, FRONT, deals=deals, **asked).text) == stays, asked
    assert focused_id(step(erin, FRONT, deals=one, remove=one).text) == "add"
    assert focused_id(step(erin, FRONT, deals=one, up=one).text) == f"remove-{one}"
    assert "autofocus" not in step(erin, FRONT, deals=deals).text
