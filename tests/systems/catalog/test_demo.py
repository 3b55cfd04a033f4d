"""The demo data: the same each time, as much as it says, and nothing wrong with it."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest

from bigtime.model import UNTIL, Scale, load_many, verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import get_deal_by_id, get_deals_by_brand
from bigtime.systems.catalog.demo import DEMO
from bigtime.systems.catalog.design import Deal, DealStatus, TrendingDeal
from bigtime.systems.catalog.trending import get_trending_by_category
from bigtime.systems.catalog.watches import notify_watchers
from tests.store.places import Place
from tests.systems.catalog.samples import stored_items


def test_the_same_seed_makes_the_same_catalogue() -> None:
    one = [*DEMO.entities(Scale.SMALL, Random(7))]
    assert one == [*DEMO.entities(Scale.SMALL, Random(7))]
    assert one != [*DEMO.entities(Scale.SMALL, Random(8))]


def test_a_small_catalogue_fills_every_table_and_is_as_declared(alone: Place) -> None:
    alone.run(load_many(DEMO.entities(Scale.SMALL, Random(1))))

    held = {table.name: len(stored_items(alone, table.name)) for table in SYSTEM.tables}
    assert sum(held.values()) == DEMO.count(Scale.SMALL)
    assert held == {
        "Deals": 300,
        "Users": 60,
        "Brands": 40,
        "UserWatches": 180,
        "UserActivities": 120,
        "TrendingDeals": 30,
    }
    assert alone.run(verify(SYSTEM)) == []
    assert alone.run(get_deals_by_brand("brand-sony")).items
    for place in alone.run(get_trending_by_category("electronics")):
        assert place.engagement_score == place.views + 5 * place.clicks
        assert alone.run(get_deal_by_id(place.deal_id)).is_listed


@pytest.mark.parametrize(
    ("scale", "deals", "users"),
    [(Scale.MEDIUM, 20_000, 4_000), (Scale.LARGE, 1_000_000, 200_000)],
)
def test_larger_ones_have_as_much_as_they_say(scale: Scale, deals: int, users: int) -> None:
    assert DEMO.count(scale) == 40 + deals + deals // 10 + users * 6


def test_a_medium_catalogue_is_counted_right_and_spread_over_days() -> None:
    entities = [*DEMO.entities(Scale.MEDIUM, Random(1))]

    kinds = Counter(type(entity).__name__ for entity in entities)
    assert kinds.total() == DEMO.count(Scale.MEDIUM)
    deals = [entity for entity in entities if isinstance(entity, Deal)]
    assert len({deal.posted_at.date() for deal in deals}) == 121
    assert {deal.status for deal in deals} == {*DealStatus}
    keys = {
        (entity.category_id, entity.rank) for entity in entities if isinstance(entity, TrendingDeal)
    }
    assert len(keys) == kinds["TrendingDeal"] == 2_000


def test_nobody_is_told_of_it_when_the_stream_is_read(alone: Place) -> None:
    alone.time.now = UNTIL
    alone.run(load_many(DEMO.entities(Scale.SMALL, Random(1))))
    before = stored_items(alone, "UserActivities")
    alone.consumer("Deals", notify_watchers.handle)()
    assert stored_items(alone, "UserActivities") == before


def test_a_large_catalogue_begins_without_delay() -> None:
    """It is made as it is written; nobody waits for a million deals."""
    first = [*islice(DEMO.entities(Scale.LARGE, Random(1)), 100)]
    assert len({each.own_key().item.__repr__() for each in first}) == 100
