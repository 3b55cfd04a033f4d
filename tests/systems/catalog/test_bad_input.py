"""Each bad input is an error of its own, with a code and a sentence, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import DomainError, ItemMismatch, ValueRefused, create, verify
from bigtime.store.driver import Runnable
from bigtime.systems.catalog import SYSTEM, errors
from bigtime.systems.catalog.deals import (
    create_brand,
    create_deal,
    get_brand_by_id,
    get_deal_by_id,
    get_deals_by_brand,
    get_deals_by_category,
    get_recent_deals_by_brand,
    put_deal,
    update_brand,
    update_deal,
)
from bigtime.systems.catalog.trending import (
    get_high_discount_deals,
    get_highly_engaged_deals,
    get_trending_by_category,
    record_engagement,
    start_trending,
)
from bigtime.systems.catalog.users import (
    get_user_activities,
    get_user_activities_after,
    get_user_by_id,
    record_activity,
    update_user,
)
from bigtime.systems.catalog.watches import (
    get_brand_watchers,
    get_category_watchers,
    get_user_watches,
    unwatch,
    watch_brand,
    watch_brand_in_category,
    watch_category,
)
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.catalog.samples import (
    SONY,
    TEN,
    activity,
    all_items,
    brand,
    deal,
    trending_deal,
    user,
)

LONG = "x" * 101
NAIVE = datetime(2024, 1, 15)

Make = Callable[[], Runnable[Any]]

TAKING_IDS: dict[str, Callable[[str], Steps[Any]]] = {
    "deal": get_deal_by_id,
    "user": get_user_by_id,
    "brand": get_brand_by_id,
    "deals of a brand": get_deals_by_brand,
    "deals of a category": get_deals_by_category,
    "recent deals": lambda text: get_recent_deals_by_brand(text, TEN),
    "watches of a user": get_user_watches,
    "watchers of a brand": get_brand_watchers,
    "watchers of a category": get_category_watchers,
    "activities": get_user_activities,
    "activities since": lambda text: get_user_activities_after(text, TEN),
    "trending": get_trending_by_category,
    "highly engaged": lambda text: get_highly_engaged_deals(text, 1),
    "high discount": lambda text: get_high_discount_deals(text, Decimal(1)),
    "watch brand": lambda text: watch_brand("ann", text),
    "watch brand as": lambda text: watch_brand(text, SONY),
    "watch category": lambda text: watch_category("ann", text),
    "watch brand in category": lambda text: watch_brand_in_category("ann", SONY, text),
    "unwatch": lambda text: unwatch(text, "BRAND#brand-sony"),
    "create deal": lambda text: create_deal(deal(text)),
    "create deal of brand": lambda text: create_deal(deal("deal-2", brand_id=text)),
    "put deal in category": lambda text: put_deal(deal("deal-2", category_id=text)),
    "create brand": lambda text: create_brand(brand(text)),
    "record activity": lambda text: record_activity(activity("a", user_id=text)),
    "start trending": lambda text: start_trending(text, Decimal(50)),
}

BAD_IDS = [
    ("", errors.EmptyId),
    ("  ", errors.EmptyId),
    (LONG, errors.IdTooLong),
    ("brand#sony", errors.ForbiddenCharacter),
    ("brand\nsony", errors.ForbiddenCharacter),
    ("brand\ud800sony", errors.ForbiddenCharacter),
]


@pytest.fixture
def filled_place(alone: Place) -> Place:
    for steps in (
        create_deal(deal()),
        create_brand(brand()),
        create(user()),
        create(trending_deal()),
    ):
        alone.run(steps)
    alone.run(watch_brand("ann", SONY))
    return alone


def assert_refused(place: Place, make: Make, error: type[DomainError]) -> None:
    """The error comes, says something, and nothing in any table has changed."""
    before = all_items(place)
    with pytest.raises(error) as caught:
        place.run(make())
    assert type(caught.value) is error
    assert str(caught.value).endswith(".")
    assert all_items(place) == before


@pytest.mark.parametrize("taking", TAKING_IDS)
def test_an_id_that_could_break_a_key_is_refused(filled_place: Place, taking: str) -> None:
    ask = TAKING_IDS[taking]
    for text, error in BAD_IDS:
        assert_refused(filled_place, lambda text=text: ask(text), error)  # type: ignore[misc]


BAD: dict[str, tuple[Make, type[DomainError]]] = {
    "a price of 0": (lambda: create_deal(deal("d", price=0)), errors.PriceNotPositive),
    "a price below 0": (
        lambda: update_deal("deal-12345", price=Decimal(-1)),
        errors.PriceNotPositive,
    ),
    "a price that lost digits": (
        lambda: create_deal(deal("d", price=149.99)),
        errors.InexactNumber,
    ),
    "a discount of 100": (
        lambda: start_trending("deal-12345", Decimal(100)),
        errors.DiscountOutOfRange,
    ),
    "a discount below 0": (
        lambda: create(trending_deal(discount_percentage=Decimal("-0.1"))),
        errors.DiscountOutOfRange,
    ),
    "a discount that lost digits": (
        lambda: get_high_discount_deals(SONY, 0.1),  # type: ignore[arg-type]
        errors.InexactNumber,
    ),
    "an empty title": (lambda: create_deal(deal("d", title=" ")), errors.EmptyText),
    "an overlong title": (
        lambda: update_deal("deal-12345", title="x" * 201),
        errors.TextTooLong,
    ),
    "an empty brand name": (lambda: update_brand(SONY, brand_name=""), errors.EmptyText),
    "an overlong description": (
        lambda: create_deal(deal("d", description="x" * 4_001)),
        errors.TextTooLong,
    ),
    "an overlong e-mail address": (
        lambda: update_user("user-67890", email="x" * 255),
        errors.TextTooLong,
    ),
    "an overlong logo": (lambda: update_brand(SONY, logo_url="x" * 1_001), errors.TextTooLong),
    "a time without a zone": (
        lambda: create_deal(deal("d", posted_at=NAIVE)),
        errors.NoTimeZone,
    ),
    "deals since a time without a zone": (
        lambda: get_recent_deals_by_brand(SONY, NAIVE),
        errors.NoTimeZone,
    ),
    "activities since a time without a zone": (
        lambda: get_user_activities_after("ann", NAIVE),
        errors.NoTimeZone,
    ),
    "views below 0": (lambda: record_engagement(trending_deal(), views=-1), errors.NegativeCount),
    "clicks below 0": (
        lambda: start_trending("deal-12345", Decimal(5), clicks=-1),
        errors.NegativeCount,
    ),
    "more engagement than a score holds": (
        lambda: record_engagement(trending_deal(), clicks=2 * 10**9),
        errors.ScoreOutOfRange,
    ),
    "an unknown deal": (lambda: get_deal_by_id("deal-0"), errors.UnknownDeal),
    "an unknown user": (lambda: update_user("nobody", email="x@y.z"), errors.UnknownUser),
    "an unknown brand": (lambda: watch_brand("ann", "brand-0"), errors.UnknownBrand),
    "an unknown watch": (lambda: unwatch("ann", "CATEGORY#toys"), errors.NotWatching),
    "a watch without a key": (lambda: unwatch("ann", ""), errors.EmptyId),
    "a watch with an overlong key": (lambda: unwatch("ann", "é" * 513), errors.IdTooLong),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_an_error_of_its_own(filled_place: Place, what: str) -> None:
    make, error = BAD[what]
    assert_refused(filled_place, make, error)


def test_every_error_has_a_code_and_a_sentence() -> None:
    kinds = [
        var
        for var in vars(errors).values()
        if isinstance(var, type)
        and issubclass(var, DomainError)
        and var.__module__ == errors.__name__
    ]
    codes = [kind.code for kind in kinds]
    assert len({*codes}) == len(codes) == 25
    for each in kinds:
        assert str(each()).endswith(".") and str(each())[0].isupper()


def test_details_that_lost_digits_are_refused(filled_place: Place) -> None:
    before = all_items(filled_place)

    with pytest.raises(ValueRefused, match="pass a Decimal"):
        filled_place.run(record_activity(activity("a", details={"price": 149.99})))
    assert all_items(filled_place) == before


def test_what_others_have_stored_badly_is_told_as_such(filled_place: Place) -> None:
    """Not as if the reader had asked for something bad."""
    (item,) = all_items(filled_place)["Deals"]
    filled_place.ask("PutItem", TableName="Deals", Item={**item, "price": {"N": "0"}})

    with pytest.raises(ItemMismatch, match="A price is more than 0"):
        filled_place.run(get_deal_by_id("deal-12345"))
    with pytest.raises(ItemMismatch, match="A price is more than 0"):
        filled_place.run(get_deals_by_category("electronics"))
    (violation,) = filled_place.run(verify(SYSTEM))
    assert "A price is more than 0" in violation.sentence
