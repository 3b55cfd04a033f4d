"""Hot reads are answered from bytes that are kept, equal their documented twins, and follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from httpx import Response

from bigtime.systems import catalog
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
    "/deals": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
    "/deals?brand=APPLE": lambda web, deal: web.run(update_deal(deal.deal_id, price=Decimal(5))),
    "/deals?category=HOME": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
    "/front-page": lambda web, deal: web.run(set_front_page_deals([deal.deal_id])),
    "/editors-choice": lambda web, deal: web.run(set_editors_choice_deals([deal.deal_id])),
    "/brands": lambda web, deal: web.run(create_brand("Sony")),
    "/brands/APPLE": lambda web, deal: web.run(like_brand("APPLE", "somebody")),
    "/brands/APPLE/deals": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
    "/categories": lambda web, deal: web.run(like_category("HOME", "somebody")),
    "/categories/HOME": lambda web, deal: web.run(update_deal(deal.deal_id, title="A rug")),
    "/catalog/deals/lamp": lambda web, deal: web.run(catalog.update_deal("lamp", title="A rug")),
    "/catalog/brands/APPLE": lambda web, deal: web.run(
        catalog.update_brand("APPLE", brand_name="Apple & Co")
    ),
    "/catalog/brands/APPLE/deals": lambda web, deal: web.run(catalog.put_deal(catalog_deal("rug"))),
    "/catalog/brands/APPLE/deals?pageSize=1": lambda web, deal: web.run(
        catalog.put_deal(catalog_deal("lamp", days=1))
    ),
    "/catalog/categories/HOME/deals": lambda web, deal: web.run(catalog.expire_deal("lamp")),
    "/catalog/categories/HOME/trending": lambda web, deal: click(web),
    "/catalog/categories/HOME/trending/lamp": lambda web, deal: click(web),
}

AT = datetime(2024, 1, 15, 10, tzinfo=UTC)


def catalog_deal(deal_id: str, days: int = 0) -> catalog.Deal:
    return catalog.Deal(
        deal_id=deal_id,
        title="A lamp",
        description="It shines.",
        price=Decimal(5),
        brand_id="APPLE",
        brand_name="Apple",
        category_id="HOME",
        category_name="Home",
        posted_at=AT + timedelta(days=days),
        status=catalog.DealStatus.ACTIVE,
    )


def click(web: Web) -> None:
    trending = web.run(catalog.find_trending("HOME", "lamp"))
    web.run(catalog.record_engagement(trending, clicks=1))


@pytest.fixture
def in_catalog(web: Web) -> None:
    web.run(catalog.put_brand(catalog.Brand(brand_id="APPLE", brand_name="Apple", created_at=AT)))
    web.run(catalog.put_deal(catalog_deal("lamp")))
    web.run(catalog.start_trending("lamp", discount_percentage=Decimal(50)))


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
    path: str, web: Web, nobody: Caller, post_deal: PostDeal, in_catalog: None
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


def test_a_consistent_read_of_the_catalogue_goes_past_the_cache(
    web: Web, nobody: Caller, in_catalog: None
) -> None:
    path = "/catalog/deals/lamp"
    kept, _ = kept_answer(web, nobody, path)
    hits = web.site.cache.hits
    assert nobody.get(path, consistent="true").json() == kept.json()
    assert web.site.cache.hits == hits
    assert web.site.cache.get(f"/api/v1{path}?consistent=true") is None


@pytest.mark.parametrize(
    "query", ["pageSize=1&pageSize=2", "pageSize=1&x=1", "minScore=0", "pageSize=0"]
)
def test_only_the_pages_of_a_list_are_kept_with_their_query(
    query: str, web: Web, nobody: Caller, in_catalog: None
) -> None:
    before = len(web.site.cache)
    nobody.get(f"/catalog/categories/HOME/highly-engaged?{query}")
    nobody.get(f"/catalog/categories/HOME/deals?{query}&consistent=true")
    assert len(web.site.cache) == before


def test_a_path_that_reads_like_a_query_is_not_kept(
    web: Web, nobody: Caller, in_catalog: None
) -> None:
    web.run(catalog.put_deal(catalog_deal("lamp?pageSize=1")))
    before = len(web.site.cache)
    assert nobody.get("/catalog/deals/lamp%3FpageSize=1").status_code == 200
    assert len(web.site.cache) == before
    assert nobody.get("/catalog/deals/lamp?pageSize=1").status_code == 400


def test_what_is_somebodys_own_is_never_kept(web: Web, sam: Caller) -> None:
    before = len(web.site.cache)
    for path in ("/me/user", "/me/messages", "/me/cart", "/me/sessions", "/me/brands/APPLE"):
        assert sam.get(path).status_code == 200
    assert len(web.site.cache) == before
