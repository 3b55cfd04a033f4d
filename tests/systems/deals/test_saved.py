"""Deals that users save."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import Ksuid, load_many
from bigtime.systems.deals import (
    MOST_SAVED,
    SYSTEM,
    TooManySaved,
    UnknownDeal,
    fetch_saved_deals,
    save_deal,
    unsave_deal,
)
from bigtime.systems.deals.deals import update_deal
from tests.store.places import START, Place
from tests.systems.deals.scene import deals_of_days, open_site, post_deal


def test_a_saved_deal_keeps_the_price_it_had(place: Place) -> None:
    open_site(place)
    made = post_deal(place)

    place.run(save_deal(made.deal_id, "Alex"))
    place.run(update_deal(made.deal_id, price=Decimal(5)))
    place.run(save_deal(made.deal_id, "alex"))

    [(deal_id, saved)] = place.run(fetch_saved_deals("alex")).items()
    assert (deal_id, saved.title, saved.price) == (made.deal_id, "A lamp", Decimal("19.99"))
    assert saved.saved_at == START


def test_the_last_saved_is_first(alone: Place) -> None:
    open_site(alone)
    posted = [post_deal(alone, title=f"Lamp {number}") for number in range(3)]
    for deal in posted:
        alone.time.now += timedelta(minutes=1)
        alone.run(save_deal(deal.deal_id, "alex"))

    assert list(alone.run(fetch_saved_deals("alex"))) == [deal.deal_id for deal in posted[::-1]]
    assert alone.run(fetch_saved_deals("bo")) == {}


def test_unsaving_takes_it_off_and_twice_is_no_error(place: Place) -> None:
    open_site(place)
    made = post_deal(place)
    place.run(unsave_deal(made.deal_id, "alex"))
    place.run(save_deal(made.deal_id, "alex"))

    place.run(unsave_deal(made.deal_id, "alex"))
    place.run(unsave_deal(made.deal_id, "alex"))

    assert place.run(fetch_saved_deals("alex")) == {}


def test_what_is_no_deal_is_not_saved(alone: Place) -> None:
    with pytest.raises(UnknownDeal):
        alone.run(save_deal(Ksuid.make(START, b"\0" * 16), "alex"))


def test_no_more_than_a_hundred_are_saved(alone: Place) -> None:
    deals = deals_of_days([MOST_SAVED + 1])
    alone.run(load_many(deals))
    for deal in deals[:MOST_SAVED]:
        alone.run(save_deal(deal.deal_id, "alex"))

    with pytest.raises(TooManySaved, match=f"{MOST_SAVED} deals"):
        alone.run(save_deal(deals[-1].deal_id, "alex"))
    alone.run(save_deal(deals[0].deal_id, "alex"))
    alone.run(unsave_deal(deals[0].deal_id, "alex"))
    alone.run(save_deal(deals[-1].deal_id, "alex"))

    assert len(alone.run(fetch_saved_deals("alex"))) == MOST_SAVED


__all__ = ["SYSTEM"]
