"""Deals: made, mended, fetched."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import Conflict, Ksuid, verify
from bigtime.store.driver import Exchange
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import (
    fetch_brand_deals,
    fetch_deal,
    fetch_deals,
    rewrite_deal,
    update_deal,
)
from bigtime.systems.deals.design import PriceChange
from bigtime.systems.deals.errors import NoDiscount, UnknownDeal
from tests.store.places import START, Place
from tests.systems.deals.scene import LINK, dump, open_site, post_deal, raw

NOBODY = Ksuid.make(START, b"\0" * 16)


def test_a_deal_is_fetched_as_it_was_made(place: Place) -> None:
    open_site(place)
    made = post_deal(place, brand_name="apple", list_price=Decimal("29.99"), description="Oak.")

    assert place.run(fetch_deal(made.deal_id)) == made
    assert (made.title, made.link, made.price) == ("A lamp", LINK, Decimal("19.99"))
    assert (made.brand, made.brand_name) == ("APPLE", "Apple")
    assert (made.category, made.category_name) == ("HOME", "Home")


def test_a_deal_is_made_in_the_second_of_its_id(alone: Place) -> None:
    open_site(alone)
    alone.time.now += timedelta(milliseconds=1_700)

    made = post_deal(alone)

    assert made.created_at == made.deal_id.at == START + timedelta(seconds=1)


def test_the_stored_keys_are_those_of_the_chart(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone)

    stored = raw(alone, f"DEAL#{made.deal_id}", f"DEAL#{made.deal_id}")

    assert stored is not None
    keys = {name: value["S"] for name, value in stored.items() if name.startswith("GSI")}
    assert keys == {
        "GSI1PK": "DEALS#2026-11-15T00:00:00",
        "GSI1SK": f"DEAL#{made.deal_id}",
        "GSI2PK": "BRAND#APPLE#2026-11-15T00:00:00",
        "GSI2SK": f"DEAL#{made.deal_id}",
        "GSI3PK": "CATEGORY#HOME#2026-11-15T00:00:00",
        "GSI3SK": f"DEAL#{made.deal_id}",
    }
    assert stored["Type"] == {"S": "Deal"} and stored["Price"] == {"N": "19.99"}


def test_a_deal_that_is_not_there_is_unknown(place: Place) -> None:
    with pytest.raises(UnknownDeal):
        place.run(fetch_deal(NOBODY))


def test_several_deals_are_fetched_at_once_and_the_missing_left_out(place: Place) -> None:
    open_site(place)
    lamp, rug = post_deal(place), post_deal(place, title="A rug")

    asked = [rug.deal_id, NOBODY, lamp.deal_id, rug.deal_id, "no id"]

    assert place.run(fetch_deals(asked)) == [rug, lamp]
    assert place.run(fetch_deals([])) == []


def test_an_update_changes_what_is_told_and_nothing_else(place: Place) -> None:
    open_site(place)
    made = post_deal(place)

    changed = place.run(update_deal(made.deal_id, price=Decimal("17.50"), title="A better lamp"))

    history = [str(PriceChange(START, Decimal(price))) for price in ("19.99", "17.50")]
    facts = {"price": Decimal("17.50"), "title": "A better lamp", "price_history": history}
    assert changed == made.model_copy(update=facts)
    assert place.run(fetch_deal(made.deal_id)) == changed
    assert place.run(fetch_brand_deals("Apple")).items == [changed]
    assert place.run(verify(SYSTEM)) == []


def test_an_update_of_no_deal_leaves_no_ghost(place: Place) -> None:
    before = dump(place)
    with pytest.raises(UnknownDeal):
        place.run(update_deal(NOBODY, title="Boo"))
    assert dump(place) == before


def test_a_deal_costs_less_than_it_did(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone, list_price=Decimal("29.99"))
    for steps in (
        update_deal(made.deal_id, price=Decimal("29.99")),
        update_deal(made.deal_id, list_price=Decimal("19.99")),
    ):
        with pytest.raises(NoDiscount):
            alone.run(steps)
    assert alone.run(fetch_deal(made.deal_id)) == made


def test_two_editors_do_not_make_a_discount_that_neither_meant(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone, list_price=Decimal("29.99"))

    def dearer_meanwhile(exchange: Exchange) -> None:
        if exchange.request.operation == "GetItem":
            alone.store.hooks = ()
            alone.run(update_deal(made.deal_id, price=Decimal("28.00")))

    alone.store.hooks = (dearer_meanwhile,)
    with pytest.raises(Conflict):
        alone.run(update_deal(made.deal_id, list_price=Decimal("25.00")))
    after = alone.run(fetch_deal(made.deal_id))
    assert (after.price, after.list_price) == (Decimal("28.00"), Decimal("29.99"))


def test_what_a_rewritten_deal_is_not_told_goes(place: Place) -> None:
    open_site(place)
    made = post_deal(place, list_price=Decimal("29.99"), description="Oak.")

    changed = place.run(rewrite_deal(made.deal_id, "A lamp", LINK, Decimal("31.00")))

    history = [str(PriceChange(START, Decimal(price))) for price in ("19.99", "31.00")]
    facts = {"price": Decimal("31.00"), "list_price": None, "description": None}
    assert changed == made.model_copy(update={**facts, "price_history": history})
    assert place.run(fetch_deal(made.deal_id)) == changed
    assert place.run(verify(SYSTEM)) == []


def test_to_rewrite_no_deal_leaves_no_ghost(place: Place) -> None:
    before = dump(place)
    with pytest.raises(UnknownDeal):
        place.run(rewrite_deal(NOBODY, "Boo", LINK, Decimal(1)))
    assert dump(place) == before


def test_a_rewritten_deal_costs_less_than_it_did(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone)
    with pytest.raises(NoDiscount):
        alone.run(
            rewrite_deal(made.deal_id, "A lamp", LINK, Decimal(5), list_price=Decimal("5.00"))
        )
    assert alone.run(fetch_deal(made.deal_id)) == made


def test_who_rewrites_a_deal_that_has_changed_meanwhile_is_told(alone: Place) -> None:
    open_site(alone)
    made = post_deal(alone)

    def retitled_meanwhile(exchange: Exchange) -> None:
        if exchange.request.operation == "GetItem":
            alone.store.hooks = ()
            alone.run(update_deal(made.deal_id, title="A red lamp"))

    alone.store.hooks = (retitled_meanwhile,)
    with pytest.raises(Conflict):
        alone.run(rewrite_deal(made.deal_id, "A blue lamp", LINK, Decimal(5)))
    assert alone.run(fetch_deal(made.deal_id)).title == "A red lamp"
