"""The front page's latest deals, from a copy or from the index."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bigtime.engine import Engine
from bigtime.model import delete, get, load_many, put, verify
from bigtime.store.driver import Exchange
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal, DealsCache
from bigtime.systems.deals.front_page import fetch_front_page, keep_deals_cache, refresh_deals_cache
from tests.store.places import START, Place
from tests.systems.deals.scene import TABLE, deal, deals_of_days, dump, load, open_site, react

COPIES = range(1, 11)


def first_page(place: Place) -> tuple[list[Deal], bool]:
    """The latest deals, and whether the index was asked for them."""
    place.exchanges.clear()
    _, deals = place.run(fetch_front_page())
    return deals.items, "Query" in place.operations


def copies(place: Place) -> list[DealsCache]:
    found = [place.run(get(DealsCache.key(n), consistent=True)) for n in COPIES]
    return [each for each in found if each is not None]


def test_new_deals_are_copied_and_the_first_page_is_read_from_a_copy(place: Place) -> None:
    deals = deals_of_days([20, 20])
    load(place, deals)
    assert first_page(place) == (deals[:25], True)

    react(place, keep_deals_cache)

    assert first_page(place) == (deals[:25], False)
    assert [copy.deals for copy in copies(place)] == [deals[:25]] * 10
    assert place.run(verify(SYSTEM)) == []


def test_the_page_after_a_copy_goes_on_where_it_ends(place: Place) -> None:
    deals = deals_of_days([20, 20])
    load(place, deals)
    react(place, keep_deals_cache)

    _, first = place.run(fetch_front_page())
    _, second = place.run(fetch_front_page(after=first.position))

    assert [*first, *second] == deals


def test_every_copy_is_read_by_somebody(alone: Place) -> None:
    load(alone, deals_of_days([30]))
    alone.run(refresh_deals_cache())
    alone.exchanges.clear()
    for _ in range(200):
        alone.run(fetch_front_page())
    keys = {exchange.request.params["Key"]["PK"]["S"] for exchange in alone.exchanges}
    assert keys == {"FRONTPAGE", *(f"DEALSCACHE#{n}" for n in COPIES)}


def test_a_copy_is_believed_for_a_minute(alone: Place) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    alone.run(refresh_deals_cache())

    alone.time.now += timedelta(seconds=60)
    assert first_page(alone) == (deals[:25], False)
    alone.time.now += timedelta(seconds=1)
    assert first_page(alone) == (deals[:25], True)
    alone.run(refresh_deals_cache())
    assert first_page(alone) == (deals[:25], False)


def test_a_copy_that_is_missing_is_passed_over(alone: Place) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    alone.run(refresh_deals_cache())
    for n in COPIES:
        alone.run(delete(DealsCache.key(n)))
    assert first_page(alone) == (deals[:25], True)


def test_a_copy_that_is_not_full_is_passed_over(alone: Place) -> None:
    """It cannot tell whether a page ends because there are no more, or no more near."""
    deals = deals_of_days([10])
    load(alone, deals)
    react(alone, keep_deals_cache)
    assert first_page(alone) == (deals, True)


def test_to_be_told_again_changes_nothing(place: Place) -> None:
    deals = deals_of_days([30])
    load(place, deals)
    place.run(update_deal(deals[3].deal_id, title="A better lamp"))
    react(place, keep_deals_cache)
    before = dump(place)
    place.time.now += timedelta(minutes=5)

    react(place, keep_deals_cache, name="again")

    assert dump(place) == before


def test_a_deal_that_has_changed_is_copied_again(place: Place) -> None:
    open_site(place)
    deals = deals_of_days([30])
    load(place, deals)
    react(place, keep_deals_cache)

    changed = place.run(update_deal(deals[3].deal_id, title="A better lamp"))
    place.run(update_deal(deals[27].deal_id, title="Too old to be seen"))
    react(place, keep_deals_cache)

    assert [copy.deals[3] for copy in copies(place)] == [changed] * 10


def test_old_deals_write_the_copies_once(alone: Place) -> None:
    deals = deals_of_days([60, 60])
    load(alone, deals)
    alone.exchanges.clear()

    react(alone, keep_deals_cache)

    asked = [
        exchange.request for exchange in alone.exchanges if exchange.request.operation == "Query"
    ]
    assert [each.params["TableName"] for each in asked].count(TABLE) == 2  # the list, and a day
    assert [copy.deals for copy in copies(alone)] == [deals[:25]] * 10


def test_a_deal_is_copied_before_the_index_has_it(alone: Place, engine: Engine) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    react(alone, keep_deals_cache)
    engine.faults.lag_indexes(seconds=float("inf"))

    newer = [deal(START + timedelta(seconds=second), 5_000 + second) for second in (2, 1)]
    for each in reversed(newer):
        load(alone, [each])
        react(alone, keep_deals_cache)

    assert [copy.deals for copy in copies(alone)] == [[*newer, *deals[:23]]] * 10


def test_a_deal_that_has_changed_is_copied_as_it_is_before_the_index_has_it(
    alone: Place, engine: Engine
) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    react(alone, keep_deals_cache)
    engine.faults.lag_indexes(seconds=float("inf"))

    changed = alone.run(update_deal(deals[3].deal_id, title="A better lamp"))
    react(alone, keep_deals_cache)

    assert [copy.deals[3] for copy in copies(alone)] == [changed] * 10


def test_to_refresh_the_copies_takes_nothing_from_them_that_the_index_lacks(
    alone: Place, engine: Engine
) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    react(alone, keep_deals_cache)
    engine.faults.lag_indexes(seconds=float("inf"))
    newest = deal(START + timedelta(seconds=1), 5_000)
    load(alone, [newest])
    react(alone, keep_deals_cache)

    assert alone.run(refresh_deals_cache()) == [newest, *deals[:24]]

    assert [copy.deals for copy in copies(alone)] == [[newest, *deals[:24]]] * 10


def test_a_deal_that_is_gone_goes_from_the_copies_with_the_next_one(alone: Place) -> None:
    deals = deals_of_days([40])
    load(alone, deals)
    react(alone, keep_deals_cache)
    alone.run(delete(Deal.key(deals[3].deal_id)))
    newest = deal(START + timedelta(seconds=1), 5_000)
    load(alone, [newest])

    react(alone, keep_deals_cache)

    expected = [newest, *deals[:3], *deals[4:25]]
    assert [copy.deals for copy in copies(alone)] == [expected] * 10


class Crash(Exception):
    """The process dies here."""


@pytest.mark.parametrize("survived", [1, 2])
def test_a_crash_between_two_copies_is_made_good(alone: Place, survived: int) -> None:
    deals = deals_of_days([30])
    load(alone, deals[1:])
    react(alone, keep_deals_cache)
    load(alone, deals[:1])
    writes = 0

    def crash(exchange: Exchange) -> None:
        nonlocal writes
        writes += exchange.request.operation in ("BatchWriteItem", "PutItem")
        if writes == survived:
            raise Crash

    alone.store.hooks = (crash,)
    with pytest.raises(Crash):
        react(alone, keep_deals_cache)
    alone.store.hooks = (alone.exchanges.append,)
    react(alone, keep_deals_cache)

    assert [copy.deals for copy in copies(alone)] == [deals[:25]] * 10


def test_a_copy_of_the_future_is_not_believed(alone: Place) -> None:
    deals = deals_of_days([30])
    load(alone, deals)
    wrong = DealsCache(n=1, deals=deals[5:30], written_at=START + timedelta(hours=1))
    alone.run(load_many(wrong.model_copy(update={"n": n}) for n in COPIES))
    assert first_page(alone) == (deals[:25], True)


def test_an_empty_site_has_an_empty_front_page(place: Place) -> None:
    page, deals = place.run(fetch_front_page())
    assert page.featured_deals == [] and deals.items == []


def test_other_items_do_not_concern_the_copies(alone: Place) -> None:
    open_site(alone)
    alone.run(put(DealsCache(n=1, deals=[], written_at=START)))
    before = dump(alone)
    react(alone, keep_deals_cache)
    assert dump(alone) == before
