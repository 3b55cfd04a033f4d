"""Indexes that follow their table after a while, as those of DynamoDB do."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bigtime.engine import Engine
from bigtime.model import verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import (
    create_deal,
    expire_deal,
    get_deal_by_id,
    get_deals_by_brand,
)
from bigtime.systems.catalog.design import DealStatus
from bigtime.systems.catalog.errors import AlreadyTrending
from bigtime.systems.catalog.trending import (
    get_high_discount_deals,
    get_trending_by_category,
    record_engagement,
    start_trending,
)
from bigtime.systems.catalog.users import get_user_notifications
from bigtime.systems.catalog.watches import get_category_watchers, notify_watchers, watch_category
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.catalog.samples import SONY, deal, new_deal

NEVER = float("inf")


def test_where_indexes_lag_they_follow_before_the_next_pattern(
    place: Place, request: pytest.FixtureRequest
) -> None:
    """So that the suites, which run there too, see what they have written."""

    def made_and_listed() -> Steps[int]:
        yield from create_deal(deal())
        return len((yield from get_deals_by_brand(SONY)))

    lags = "lag" in request.node.callspec.params["place"]
    assert place.run(made_and_listed()) == (0 if lags else 1)
    assert len(place.run(get_deals_by_brand(SONY))) == 1


def test_a_list_shows_the_end_of_a_deal_when_its_index_has_followed(
    alone: Place, engine: Engine
) -> None:
    alone.run(create_deal(deal()))
    engine.faults.lag_indexes(seconds=NEVER)
    assert len(alone.run(get_deals_by_brand(SONY))) == 1

    alone.run(expire_deal("deal-12345"))
    assert alone.run(get_deal_by_id("deal-12345")).status is DealStatus.EXPIRED
    assert len(alone.run(get_deals_by_brand(SONY))) == 1
    engine.faults.clear()
    assert alone.run(get_deals_by_brand(SONY)).items == []
    assert alone.run(verify(SYSTEM)) == []


def test_engagement_goes_by_the_table_and_not_by_what_an_index_still_shows(
    alone: Place, engine: Engine
) -> None:
    alone.run(create_deal(deal()))
    engine.faults.lag_indexes(seconds=NEVER)
    seen = alone.run(start_trending("deal-12345", Decimal(50)))
    for _ in range(3):
        alone.run(record_engagement(seen, views=1))
    with pytest.raises(AlreadyTrending):
        alone.run(start_trending("deal-12345", Decimal(50)))

    (found,) = alone.run(get_trending_by_category("electronics", consistent=True))
    assert found.views == 3
    assert alone.run(get_high_discount_deals(SONY, Decimal(50))).items == []
    engine.faults.clear()
    assert alone.run(get_high_discount_deals(SONY, Decimal(50))).items == [found]


def test_a_watch_that_its_index_does_not_show_yet_hears_of_the_next_deal(
    alone: Place, engine: Engine
) -> None:
    run = alone.consumer("Deals", notify_watchers.handle)
    run()  # makes the table of its checkpoints, and no index lags behind a new table
    engine.faults.lag_indexes(seconds=NEVER)
    assert alone.run(get_category_watchers("electronics")).items == []
    alone.run(watch_category("ann", "electronics"))
    alone.run(create_deal(new_deal("deal-1")))
    run()
    engine.faults.clear()
    alone.run(create_deal(new_deal("deal-2")))
    run()

    (told,) = alone.run(get_user_notifications("ann"))
    assert told.details is not None
    assert told.details["deal_id"] == "deal-2"
