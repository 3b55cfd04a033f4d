"""Days that are kept: read once, and again when something in them has changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import load_many, setup
from bigtime.site.cache_tags import brand_deals_tag, list_tags
from bigtime.store import Store
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import fetch_brand_deals, update_deal
from bigtime.systems.deals.design import Deal
from bigtime.web.pages.kept_days import KeptDays
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Request, Response
from tests.web.conftest import old_deal

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
GROUP = brand_deals_tag("APPLE")


class Place:
    """A store that counts what it is asked, and the caches over it."""

    def __init__(self, engine: Engine) -> None:
        self.asked: list[str] = []
        self.engine = engine
        self.store = Store(self.answer, clock=lambda: NOON)
        self.days: TaggedCache[Sequence[Deal]] = TaggedCache()
        self.run(setup(SYSTEM))

    def answer(self, request: Request) -> Response:
        self.asked.append(request.operation)
        return self.engine(request)

    def run(self, steps: Any) -> Any:
        return self.store.run(steps)

    def page(self) -> tuple[list[Deal], int]:
        """The latest of a brand, and how many requests that took."""
        self.asked.clear()
        kept = KeptDays(self.days, GROUP)
        return self.run(fetch_brand_deals("APPLE", kept=kept)).items, len(self.asked)


@pytest.fixture
def place(engine: Engine) -> Place:
    return Place(engine)


@pytest.fixture
def deals(place: Place) -> list[Deal]:
    found = [old_deal(NOON - timedelta(days=days), days) for days in (0, 2, 2, 3)]
    found[2] = old_deal(found[1].created_at, 99)
    found.sort(key=lambda one: one.deal_id, reverse=True)
    place.run(load_many(found))
    return found


def changed(place: Place, deal: Deal) -> Deal:
    made: Deal = place.run(update_deal(deal.deal_id, price=Decimal("1.99")))
    place.days.invalidate(list_tags(made))
    return made


def test_a_page_that_is_made_again_asks_for_nothing(place: Place, deals: list[Deal]) -> None:
    assert place.page() == (deals, 9)
    assert place.page() == (deals, 0)


def test_a_change_has_its_own_day_read_again(place: Place, deals: list[Deal]) -> None:
    place.page()
    deals[1] = changed(place, deals[1])
    assert place.page() == (deals, 1)


def test_a_new_deal_has_its_day_read_again(place: Place, deals: list[Deal]) -> None:
    place.page()
    new = old_deal(NOON, 100)
    place.run(load_many([new]))
    place.days.invalidate(list_tags(new))
    found, requests = place.page()
    assert found == sorted([new, *deals], key=lambda one: one.deal_id, reverse=True)
    assert requests == 1


def test_another_brands_change_has_nothing_read_again(place: Place, deals: list[Deal]) -> None:
    place.page()
    place.days.invalidate(list_tags(deals[0].model_copy(update={"brand": "SONY"})))
    assert place.page() == (deals, 0)


def test_a_day_that_changes_while_it_is_read_is_not_kept(place: Place, deals: list[Deal]) -> None:
    kept = KeptDays(place.days, GROUP)
    place.days.invalidate(list_tags(deals[0]))
    kept.put(NOON, deals[:1])
    assert KeptDays(place.days, GROUP).get(NOON) is None
