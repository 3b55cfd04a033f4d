"""Hot reads are answered from bytes that are kept, equal their documented twins, and follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal

import pytest
from httpx import Response

from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.featured import set_editors_choice_deals, set_front_page_deals
from bigtime.systems.deals.interests import like_brand, like_category
from tests.web.api_v1.calling import Caller
from tests.web.browsing import Web
from tests.web.conftest import PostDeal

Write = Callable[[Web, Deal], object]

HOT: dict[str, Write] = {
    "/deals/{deal}": lambda web, deal: web.run(update_deal(deal.deal_id, price=Decimal(5))),
    "/front-page": lambda web, deal: web.run(set_front_page_deals([deal.deal_id])),
    "/editors-choice": lambda web, deal: web.run(set_editors_choice_deals([deal.deal_id])),
    "/brands": lambda web, deal: web.run(create_brand("Sony")),
    "/brands/APPLE": lambda web, deal: web.run(like_brand("APPLE", "somebody")),
    "/brands/APPLE/deals": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
    "/categories": lambda web, deal: web.run(like_category("HOME", "somebody")),
    "/categories/HOME": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
}


PATIENCE_SECONDS = 60.0  # the bench measures how soon it is


def kept_answer(web: Web, nobody: Caller, path: str) -> tuple[Response, Response]:
    """An answer, and the next one, which is from memory.

    Until the caches know what was written before, an answer is not kept, or dropped again.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        first = nobody.get(path)
        hits = web.site.cache.hits
        kept = nobody.get(path)
        if web.site.cache.hits == hits + 1:
            return first, kept
        assert time.monotonic() < deadline, "it is never kept"


@pytest.mark.parametrize("path", HOT)
def test_a_kept_answer_equals_the_one_that_is_not_and_follows_a_write(
    path: str, web: Web, nobody: Caller, post_deal: PostDeal
) -> None:
    deal = post_deal()
    path = path.format(deal=deal.deal_id)
    write = HOT[path.replace(deal.deal_id, "{deal}")]
    first, kept = kept_answer(web, nobody, path)
    web.site.cache.clear()
    uncached = nobody.get(path)

    assert first.content == kept.content == uncached.content
    assert first.headers["content-type"] == kept.headers["content-type"] == "application/json"
    assert "x-request-id" in kept.headers

    write(web, deal)  # as another process would
    deadline = time.monotonic() + PATIENCE_SECONDS
    while nobody.get(path).content == kept.content:
        assert time.monotonic() < deadline, "a write does not show"
        time.sleep(0.02)
    followed = nobody.get(path)
    web.site.cache.clear()
    assert nobody.get(path).content == followed.content


def test_other_spellings_and_queries_are_answered_and_not_kept(
    web: Web, nobody: Caller, post_deal: PostDeal
) -> None:
    post_deal()
    before = len(web.site.cache)
    for path in ("/brands/apple", "/brands/ApPlE/deals", "/categories/home", "/deals/none"):
        nobody.get(path)
    nobody.get("/front-page", lastDealIdSeen="2" * 27)
    assert len(web.site.cache) == before


def test_what_is_somebodys_own_is_never_kept(web: Web, sam: Caller) -> None:
    before = len(web.site.cache)
    for path in ("/me/user", "/me/messages", "/me/cart", "/me/sessions", "/me/brands/APPLE"):
        assert sam.get(path).status_code == 200
    assert len(web.site.cache) == before
