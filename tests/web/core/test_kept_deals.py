"""Deals that are kept: read once, and again when they have changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import load_many, setup
from bigtime.site.cache_tags import tags_shown
from bigtime.store import Store
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal
from bigtime.web.pages.kept_deals import kept_deals
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Request, Response, Steps
from tests.web.conftest import old_deal

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Place:
    """A store that counts what it is asked, and the cache over it."""

    def __init__(self, engine: Engine) -> None:
        self.asked: list[str] = []
        self.engine = engine
        self.store = Store(self.answer, clock=lambda: NOON)
        self.deals: TaggedCache[Deal] = TaggedCache()
        self.run(setup(SYSTEM))

    def answer(self, request: Request) -> Response:
        self.asked.append(request.operation)
        return self.engine(request)

    def run(self, steps: Any) -> Any:
        return self.store.run(steps)

    def by_id(self, *deals: Deal) -> tuple[list[Deal], int]:
        self.asked.clear()
        fetch: Steps[list[Deal]] = kept_deals(self.deals)([one.deal_id for one in deals])
        return self.run(fetch), len(self.asked)


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
    place.deals.drop(tags_shown(made))
    return made


def test_deals_that_are_kept_are_not_asked_for(place: Place, deals: list[Deal]) -> None:
    assert place.by_id(*deals[:2]) == (deals[:2], 1)
    assert place.by_id(*deals[:2]) == (deals[:2], 0)
    found, requests = place.by_id(*deals)
    assert (found, requests) == (deals, 1)


def test_a_deal_that_changed_is_asked_for_again(place: Place, deals: list[Deal]) -> None:
    place.by_id(*deals)
    deals[2] = changed(place, deals[2])
    assert place.by_id(*deals) == (deals, 1)


def test_a_deal_that_is_not_there_is_left_out_and_asked_for_each_time(place: Place) -> None:
    gone = old_deal(NOON, 1)
    assert place.by_id(gone) == ([], 1)
    assert place.by_id(gone) == ([], 1)
