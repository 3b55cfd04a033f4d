"""Saving deals: the button of a deal, and the list of one's own."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from bigtime.model import delete, update
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import MOST_SAVED, Deal, DealStatus, Picture
from bigtime.systems.deals.lifecycle import unpublish_deal
from bigtime.systems.deals.saved import fetch_saved_deals, save_deal
from tests.web.browsing import Browser, Web, words
from tests.web.conftest import PostDeal
from tests.web.portal.waiting import eventually

PRESSED = 'id="save-button" aria-pressed="{}"'


def test_a_button_saves_and_unsaves(alex: Browser, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    assert PRESSED.format("false") in alex.get(path).text
    done = alex.submit(path, f"{path}/save")
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert PRESSED.format("true") in alex.get(path).text
    assert "A lamp $19.99 Saved" in words(alex.get("/me/saved").text)
    alex.submit(path, f"{path}/unsave")
    assert PRESSED.format("false") in alex.get(path).text
    assert "None yet." in words(alex.get("/me/saved").text)


def test_a_saved_deal_is_shown_with_its_picture_or_its_category(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    picture = Picture.make("0" * 32, [320], 240)
    for deal in (post_deal("A rug"), post_deal("A lamp")):
        alex.submit(f"/deals/{deal.deal_id}", f"/deals/{deal.deal_id}/save")
    web.run(update(deal, picture=picture))
    eventually(lambda: f"/pictures/{picture.digest}/320.webp" in alex.get("/me/saved").text)
    page = alex.get("/me/saved").text
    assert page.count('class="picture') == 2 and "categories.svg#home" in page
    web.run(delete(Deal.key(deal.deal_id)))
    eventually(lambda: "categories.svg#other" in alex.get("/me/saved").text)


def test_pressed_twice_is_pressed_once(web: Web, alex: Browser, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    fields = alex.form(path, f"{path}/save").fields
    for verb in ("save", "save", "unsave", "unsave"):
        assert alex.post(f"{path}/{verb}", data=fields).status_code == 303
    assert web.run(fetch_saved_deals("alex")) == {}


def test_what_one_saves_is_ones_own(web: Web, alex: Browser, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    bo = web.signed_in("bo")
    alex.submit(path, f"{path}/save")
    assert PRESSED.format("false") in bo.get(path).text
    assert "A lamp" not in words(bo.get("/me/saved").text)


def test_nobody_saves_for_nobody(visitor: Browser, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    assert f"/log-in?next={path}" in visitor.links(path)
    for answer in (
        visitor.get("/me/saved"),
        visitor.post(f"{path}/save", data={"form_token": visitor.token()}),
    ):
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/log-in")


def test_a_form_without_its_token_saves_nothing(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    path = f"/deals/{post_deal().deal_id}"
    assert alex.post(f"{path}/save").status_code in (400, 403)
    assert web.run(fetch_saved_deals("alex")) == {}


@pytest.mark.parametrize("path", ["/deals/none/save", f"/deals/{'2' * 27}/save", "/deals/x/buy"])
def test_what_is_not_there_cannot_be_saved(alex: Browser, path: str) -> None:
    assert alex.post(path, data={"form_token": alex.token()}).status_code == 404


def test_the_path_of_the_button_leads_to_the_deal(alex: Browser, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    for verb in ("save", "unsave"):
        assert alex.get(f"{path}/{verb}").headers["location"] == path


def test_the_list_says_what_became_of_the_price(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    cheaper, dearer, same = (post_deal(title) for title in ("A lamp", "A rug", "A chair"))
    for deal in (cheaper, dearer, same):
        web.run(save_deal(deal.deal_id, "alex"))
    web.run(update_deal(cheaper.deal_id, price=Decimal("14.99")))
    web.run(update_deal(dearer.deal_id, price=Decimal("21.99")))
    said = words(alex.get("/me/saved").text)
    assert "A lamp $14.99 Down $5.00 Saved" in said and "at $19.99" in said
    assert "A rug $21.99 Up $2.00" in said
    assert "A chair $19.99 Saved" in said


def test_a_deal_that_is_gone_is_named_and_can_be_removed(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal("<b>A lamp</b>")
    web.run(save_deal(deal.deal_id, "alex"))
    web.run(delete(Deal.key(deal.deal_id)))
    page = alex.get("/me/saved").text
    assert "<b>" not in page and "No longer available" in words(page)
    assert f"/deals/{deal.deal_id}" not in alex.links("/me/saved")
    removed = alex.submit("/me/saved", f"/deals/{deal.deal_id}/unsave")
    assert removed.headers["location"] == "/me/saved"
    assert "None yet." in words(alex.get("/me/saved").text)


def test_the_list_says_which_deals_cannot_be_had(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    over, off = post_deal("A lamp"), post_deal("A rug")
    for deal in (over, off):
        web.run(save_deal(deal.deal_id, "alex"))
    web.run(update(over, status=DealStatus.EXPIRED))
    web.run(unpublish_deal(off.deal_id))
    said = words(alex.get("/me/saved").text)
    assert "A lamp Expired $19.99" in said and "A rug No longer available $19.99" in said


def test_when_there_is_no_room_the_list_says_so(
    web: Web, alex: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    *deals, last = old_deals(MOST_SAVED + 1)
    for deal in deals:
        web.run(save_deal(deal.deal_id, "alex"))
    path = f"/deals/{last.deal_id}"
    refused = alex.submit(path, f"{path}/save")
    assert refused.status_code == 422
    assert f"You can save at most {MOST_SAVED} deals; remove one first." in words(refused.text)


def test_what_another_process_saves_is_shown(web: Web, alex: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()
    path = f"/deals/{deal.deal_id}"
    assert PRESSED.format("false") in alex.get(path).text  # and that is kept
    web.run(save_deal(deal.deal_id, "alex"))
    eventually(lambda: PRESSED.format("true") in alex.get(path).text)
