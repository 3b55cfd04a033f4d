"""The desk: the latest deals, and finding one."""

from __future__ import annotations

from collections.abc import Callable

from bigtime.systems.deals.design import Deal
from tests.web.browsing import Browser, words
from tests.web.conftest import PostDeal


def test_the_latest_deals_are_listed_and_go_on(
    erin: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(30)
    links = [f"/editor/deals/{deal.deal_id}" for deal in deals]

    first = [link for link in erin.links("/editor") if link in links]
    (older,) = [link for link in erin.links("/editor") if link.startswith("/editor?after=")]

    assert first == links[:25]
    assert [link for link in erin.links(older) if link in links] == links[25:]


def test_a_deal_is_found_by_its_id_or_its_address(erin: Browser, post_deal: PostDeal) -> None:
    deal_id = post_deal().deal_id
    for typed in (deal_id, f" {deal_id} ", f"https://deals.example/deals/{deal_id}/"):
        answer = erin.get("/editor/find", params={"deal": typed})
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/editor/deals/{deal_id}"


def test_what_is_no_deal_is_told_beside_the_field(erin: Browser) -> None:
    for typed in ("", "x", "2" * 27, "https://deals.example/"):
        answer = erin.get("/editor/find", params={"deal": typed})
        fault = answer.text.partition('id="deal-fault">')[2].partition("<")[0]
        assert answer.status_code == 422 and words(fault) == "There is no such deal."
        assert f'value="{typed}"' in answer.text


def test_telling_everybody_is_a_quiet_link_that_asks_first(
    erin: Browser, post_deal: PostDeal
) -> None:
    asking = f"/editor/deals/{post_deal().deal_id}/hot"
    page = erin.get("/editor").text
    assert f'<a class="note" href="{asking}">' in page
    assert "cannot be undone" in erin.get(asking).text
