"""The last prices of a deal, kept on its item."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import Conflict
from bigtime.systems.deals import MOST_PRICES, SYSTEM, Deal, facts_write, fetch_deal
from bigtime.systems.deals.deals import history_change, rewrite_deal, update_deal
from tests.store.places import START, Place
from tests.systems.deals.scene import LINK, deal, open_site, post_deal, raw


def change_prices(place: Place, made: Deal, *prices: int) -> Deal:
    for price in prices:
        place.time.now += timedelta(hours=1)
        made = place.run(update_deal(made.deal_id, price=Decimal(price)))
    return made


def test_a_new_deal_stores_no_history_and_has_one_price(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone)

    stored = raw(alone, f"DEAL#{made.deal_id}", f"DEAL#{made.deal_id}")
    assert stored is not None and "PriceHistory" not in stored
    assert [(change.at, change.price) for change in made.prices] == [(START, Decimal("19.99"))]


def test_prices_are_kept_with_their_times(place: Place) -> None:
    open_site(place)
    made = post_deal(place)

    change_prices(place, made, 15, 17)

    kept = place.run(fetch_deal(made.deal_id)).prices
    assert [str(change.price) for change in kept] == ["19.99", "15.00", "17.00"]
    assert [change.at for change in kept] == [START + timedelta(hours=hours) for hours in range(3)]


def test_at_most_twenty_prices_are_kept_and_they_are_the_last(alone: Place) -> None:
    open_site(alone)
    made = change_prices(alone, post_deal(alone), *range(100, 130))

    assert [int(change.price) for change in made.prices] == list(range(110, 130))
    assert len(made.prices) == MOST_PRICES


def test_the_same_price_again_is_no_change(alone: Place) -> None:
    open_site(alone)
    made = change_prices(alone, post_deal(alone), 15, 15)

    assert len(change_prices(alone, made, 15).prices) == 2
    assert len(alone.run(update_deal(made.deal_id, title="Another lamp")).prices) == 2


def test_rewriting_a_deal_keeps_its_prices(alone: Place) -> None:
    open_site(alone)
    made = change_prices(alone, post_deal(alone), 15)

    alone.run(rewrite_deal(made.deal_id, "A lamp", LINK, Decimal(12)))

    kept = alone.run(fetch_deal(made.deal_id)).prices
    assert [str(change.price) for change in kept] == ["19.99", "15.00", "12.00"]


def test_a_price_that_went_and_came_back_is_noticed(alone: Place) -> None:
    """The price is as it was seen, its history is not: to write would lose two changes."""
    open_site(alone)
    seen = change_prices(alone, post_deal(alone), 15)
    facts = {"title": seen.title, "link": seen.link, "price": Decimal(9)}
    change_prices(alone, seen, 12, 15)

    with pytest.raises(Conflict):
        alone.run(facts_write(seen, facts, at=alone.time.now))

    assert len(alone.run(fetch_deal(seen.deal_id)).prices) == 4


@given(st.lists(st.integers(1, 5), max_size=60))
def test_the_history_is_the_last_of_all_changes(prices: list[int]) -> None:
    now, all_prices = deal(START), [Decimal("19.99")]
    for number, price in enumerate(map(Decimal, prices)):
        at = START + timedelta(minutes=number)
        now = now.model_copy(update={"price": price, **history_change(now, price, at)})
        all_prices += [price] if price != all_prices[-1] else []

    assert [change.price for change in now.prices] == all_prices[-MOST_PRICES:]


__all__ = ["SYSTEM"]
