"""Invalidation: what changes is told by the requests that write, and by the stream."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import Ksuid, load_many, transact, update
from bigtime.site.cache_tags import (
    ALL_DEALS,
    BRANDS,
    LATEST,
    brand_deals_tag,
    brand_tag,
    cart_tag,
    category_deals_tag,
    deal_tag,
    inbox_tag,
    interests_tag,
    tags_of_record,
)
from bigtime.store import AsyncStore, Exchange, Store
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal, MessageKind
from bigtime.systems.deals.interests import like_brand
from bigtime.systems.deals.notifications import message_for
from bigtime.web.app import make_app
from bigtime.web.http.settings import Settings
from bigtime.web.pages.page_cache import TaggedCache, invalidate_writes
from bigtime.wire import Request
from tests.web.browsing import PLENTY, SECRET, Browser, Web, make_web
from tests.web.conftest import PostDeal


class Invalidated(TaggedCache[Any]):
    """A cache that notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def invalidate(self, tags: Any) -> None:
        self.tags.update(tags)


def told_by(web: Web, steps: Any) -> set[str]:
    """What the writes of steps invalidate."""
    cache = Invalidated()
    Store(web.store.transport, hooks=[partial(invalidate_writes, cache)]).run(steps)
    return cache.tags


def test_a_write_tells_what_shows_its_items(web: Web, post_deal: PostDeal) -> None:
    deal = post_deal()
    assert told_by(web, like_brand("APPLE", "alex")) == {brand_tag("APPLE"), interests_tag("alex")}
    assert told_by(web, create_brand("Sony")) == {BRANDS, brand_tag("SONY")}
    assert told_by(web, load_many([message_for(deal, MessageKind.HOT, "alex")])) == {
        inbox_tag("alex")
    }
    assert cart_tag("alex") in told_by(web, put_in_cart("alex", deal.deal_id, Decimal(5), 1))


def test_a_deal_known_by_its_key_alone_is_found_on_the_pages_that_list_it(
    web: Web, visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal()
    paths = (f"/deals/{deal.deal_id}", "/", "/brands/APPLE", "/categories/HOME")
    for path in paths:
        visitor.get(path)
    changes = update(Deal.key(deal.deal_id), price=Decimal("3.33"))
    assert web.served.portal is not None
    web.served.portal.call(web.site.store.run, transact(changes))
    for path in paths:
        assert "$3.33" in visitor.get(path).text, path


def test_a_new_deal_tells_the_lists_that_it_is_in(web: Web, post_deal: PostDeal) -> None:
    deal = post_deal()
    lists = {LATEST, ALL_DEALS, brand_deals_tag("APPLE"), category_deals_tag("HOME")}
    another = deal.model_copy(update={"deal_id": Ksuid.make(deal.created_at, b"x" * 16)})
    assert told_by(web, load_many([another])) >= lists | {deal_tag(another.deal_id)}


def test_a_write_that_got_no_answer_may_have_taken_place() -> None:
    cache = Invalidated()
    key = {"PK": {"S": "BRAND#APPLE"}, "SK": {"S": "BRAND#APPLE"}}
    request = Request("UpdateItem", {"TableName": BIG_TIME_DEALS.name, "Key": key})
    invalidate_writes(cache, Exchange(request, 1, 0.1, error=TimeoutError()))
    assert cache.tags == {brand_tag("APPLE")}


def record(old: Deal | None, new: Deal | None) -> dict[str, Any]:
    images = {"OldImage": old, "NewImage": new}
    items = {name: each.layout.to_item(each) for name, each in images.items() if each}
    item = next(iter(items.values()))
    return {"dynamodb": {"Keys": {name: item[name] for name in ("PK", "SK")}, **items}}


def test_a_record_tells_lists_only_of_what_comes_goes_or_moves(
    web: Web, post_deal: PostDeal
) -> None:
    deal, table = post_deal(), BIG_TIME_DEALS.name
    cheaper = deal.model_copy(update={"price": Decimal(1)})
    moved = deal.model_copy(update={"brand": "SONY"})
    itself = deal_tag(deal.deal_id)
    lists = {LATEST, ALL_DEALS, brand_deals_tag("APPLE"), category_deals_tag("HOME")}
    assert tags_of_record(table, record(None, deal)) == lists | {itself}
    assert tags_of_record(table, record(deal, None)) == lists | {itself}
    assert tags_of_record(table, record(deal, cheaper)) == {itself}
    assert tags_of_record(table, record(deal, moved)) == {
        itself,
        brand_deals_tag("APPLE"),
        brand_deals_tag("SONY"),
    }


@pytest.fixture
def unfollowed_web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    """A site that follows no stream, as on AWS, and on which nothing expires."""
    _, store = make_web(engine, tmp_path)
    settings = Settings(data=tmp_path, secret=SECRET)  # type: ignore[arg-type]
    front = make_app(settings, AsyncStore(engine), limits=PLENTY)
    with TestClient(front, follow_redirects=False) as served:
        context = served.app.application.state.context  # type: ignore[attr-defined]
        context.cache.seconds = None
        yield Web(front, context, store, served)


def test_where_no_stream_is_followed_ones_own_writes_show_at_once(unfollowed_web: Web) -> None:
    alex = unfollowed_web.signed_in("alex")
    for verb in ("like", "unlike", "like"):
        alex.submit("/brands/APPLE", f"/brands/APPLE/{verb}")
        page = alex.get("/brands/APPLE").text
        assert ('id="like-button" aria-pressed="true"' in page) is (verb == "like")
