"""What somebody gets wrong: each has an error of its own, and leaves no trace in the table."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import DomainError
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals import errors as deals_errors
from bigtime.systems.deals.brands import create_brand, fetch_brand, fetch_category
from bigtime.systems.deals.deals import create_deal, fetch_brand_deals, fetch_deal, update_deal
from bigtime.systems.deals.errors import (
    DescriptionRefused,
    EmailRefused,
    EmptyName,
    ForbiddenCharacter,
    LinkRefused,
    NameTooLong,
    NoDiscount,
    PriceRefused,
    TitleRefused,
    UnknownBrand,
    UnknownCategory,
    UnknownDeal,
    UnknownMessage,
)
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.interests import (
    like_brand,
    like_category,
    unlike_brand,
    watch_brand,
    watch_category,
)
from bigtime.systems.deals.notifications import send_hot_deal_message, view_hot_deal_progress
from bigtime.systems.deals.users import (
    create_user,
    mark_message_as_read,
    read_user,
    update_user,
    view_messages,
)
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.deals.scene import LINK, dump, open_site

LONG = "x" * 101


def deal_with(**wrong: Any) -> Steps[Any]:
    facts: dict[str, Any] = {
        "title": "A lamp",
        "link": LINK,
        "price": Decimal("19.99"),
        "brand_name": "Apple",
        "category_name": "Home",
    }
    return create_deal(**{**facts, **wrong})


def no_id(steps: Callable[[Any], Steps[Any]]) -> Callable[[], Steps[Any]]:
    return lambda: steps("not an id")


WRONG: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "a brand with #": (lambda: create_brand("A#B"), ForbiddenCharacter),
    "a brand with a line break": (lambda: create_brand("A\nB"), ForbiddenCharacter),
    "a brand that hides a character": (lambda: create_brand("APPLE\u200b"), ForbiddenCharacter),
    "a brand that UTF-8 cannot write": (lambda: create_brand("\ud800"), ForbiddenCharacter),
    "an empty brand": (lambda: create_brand(""), EmptyName),
    "a brand of spaces": (lambda: create_brand("   "), EmptyName),
    "an overlong brand": (lambda: create_brand(LONG), NameTooLong),
    "a brand that is overlong in capitals": (lambda: create_brand("ß" * 60), NameTooLong),
    "a logo that is no link": (lambda: create_brand("Bose", logo="logo.svg"), LinkRefused),
    "a like with #": (lambda: like_brand("A#B", "alex"), ForbiddenCharacter),
    "a like of an overlong brand": (lambda: like_brand(LONG, "alex"), NameTooLong),
    "a like by nobody": (lambda: like_brand("Apple", ""), EmptyName),
    "an unlike by a # user": (lambda: unlike_brand("Apple", "a#b"), ForbiddenCharacter),
    "a like of an unknown brand": (lambda: like_brand("Nokia", "alex"), UnknownBrand),
    "a watch of an unknown brand": (lambda: watch_brand("Nokia", "alex"), UnknownBrand),
    "a like of an unknown category": (lambda: like_category("Cars", "alex"), UnknownCategory),
    "a watch of an unknown category": (lambda: watch_category("Cars", "alex"), UnknownCategory),
    "the deals of no brand": (lambda: fetch_brand_deals(""), EmptyName),
    "the deals of a # brand": (lambda: fetch_brand_deals("A#B"), ForbiddenCharacter),
    "the page of a # category": (lambda: fetch_category("A#B"), ForbiddenCharacter),
    "an unknown brand": (lambda: fetch_brand("Nokia"), UnknownBrand),
    "a user with #": (lambda: create_user("a#b"), ForbiddenCharacter),
    "an empty user": (lambda: create_user(""), EmptyName),
    "an overlong user": (lambda: create_user("x" * 51), NameTooLong),
    "a user who is called nothing": (lambda: create_user("alex", name=" "), EmptyName),
    "a user with a bad address": (lambda: create_user("alex", email="alex"), EmailRefused),
    "a user's bad new address": (lambda: update_user("alex", email="a@b"), EmailRefused),
    "to read a # user": (lambda: read_user("a#b"), ForbiddenCharacter),
    "the messages of a # user": (lambda: view_messages("a#b"), ForbiddenCharacter),
    "a deal of an unknown brand": (lambda: deal_with(brand_name="Nokia"), UnknownBrand),
    "a deal of an unknown category": (lambda: deal_with(category_name="Cars"), UnknownCategory),
    "a deal of a # brand": (lambda: deal_with(brand_name="A#B"), ForbiddenCharacter),
    "a price of 0": (lambda: deal_with(price=Decimal(0)), PriceRefused),
    "a negative price": (lambda: deal_with(price=Decimal(-1)), PriceRefused),
    "a price of half a cent": (lambda: deal_with(price=Decimal("0.005")), PriceRefused),
    "a price that is no number": (lambda: deal_with(price=Decimal("NaN")), PriceRefused),
    "a price without end": (lambda: deal_with(price=Decimal("Infinity")), PriceRefused),
    "a price that is text": (lambda: deal_with(price="much"), PriceRefused),
    "a price that floats": (lambda: deal_with(price=19.99), PriceRefused),
    "a price beyond reason": (lambda: deal_with(price=Decimal("1e12")), PriceRefused),
    "a list price below the price": (lambda: deal_with(list_price=Decimal(5)), NoDiscount),
    "a list price of 0": (lambda: deal_with(list_price=Decimal(0)), PriceRefused),
    "an empty title": (lambda: deal_with(title=" "), TitleRefused),
    "an overlong title": (lambda: deal_with(title="x" * 201), TitleRefused),
    "an overlong description": (lambda: deal_with(description="x" * 501), DescriptionRefused),
    "a link that runs": (lambda: deal_with(link="javascript:alert(1)"), LinkRefused),
    "a link to nowhere": (lambda: deal_with(link="https://"), LinkRefused),
    "an overlong link": (lambda: deal_with(link=LINK + "x" * 1_000), LinkRefused),
    "a deal whose id is none": (no_id(fetch_deal), UnknownDeal),
    "to change a deal whose id is none": (no_id(update_deal), UnknownDeal),
    "deals after an id that is none": (no_id(fetch_front_page), UnknownDeal),
    "a hot deal whose id is none": (no_id(send_hot_deal_message), UnknownDeal),
    "progress of an id that is none": (no_id(view_hot_deal_progress), UnknownDeal),
    "a message whose id is none": (
        no_id(lambda message_id: mark_message_as_read("alex", message_id)),
        UnknownMessage,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_has_an_error_of_its_own_and_leaves_no_trace(alone: Place, what: str) -> None:
    steps, error = WRONG[what]
    open_site(alone)
    before = dump(alone)

    with pytest.raises(DomainError) as caught:
        alone.run(steps())

    assert type(caught.value) is error
    assert dump(alone) == before


def test_every_error_has_a_code_and_a_sentence() -> None:
    found = [
        var
        for var in vars(deals_errors).values()
        if isinstance(var, type)
        and issubclass(var, DomainError)
        and var.__module__ == deals_errors.__name__
    ]
    assert len({each.code for each in found}) == len(found) > 25
    for each in found:
        assert str(each()).endswith(".") and each.code == each.code.lower()


def test_an_error_says_what_it_is_about() -> None:
    with pytest.raises(NameTooLong, match="The name of a brand has at most 100 characters"):
        next(create_brand(LONG))
    with pytest.raises(EmptyName, match="Enter a name for the user"):
        next(create_user(""))


def test_a_name_as_long_as_may_be_is_taken(alone: Place) -> None:
    open_site(alone, "x" * 100)
    alone.run(create_user("y" * 50))
    alone.run(like_brand("X" * 100, "Y" * 50))
    assert alone.run(fetch_brand("x" * 100)).like_count == 1
    assert SYSTEM.name == "deals"
