"""Cards: the pieces of pages that show one deal, rendered once for all pages that have them.

When a deal changes, the pages that show it are made anew, and of all their cards one is another.
So each is cached under all that it shows. None can be old, for a deal that has changed is another
key; and a card cannot show more of a deal than its key, for it is given no more.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

from jinja2 import Environment
from jinja2.runtime import Macro
from markupsafe import Markup

TEMPLATE: Final = "pieces.html"
CARDS: Final = ("card", "drafted_deal", "deal_to_add", "deal_at_desk")
MOST_CACHED: Final = 4_096

Card: TypeAlias = Callable[..., Markup]
"""Renders a deal; what else it is given is hashable."""


class CardDeal(NamedTuple):
    """What cards show of a deal, be it the deal itself or a featured copy of it."""

    deal_id: str
    title: str
    price: Decimal
    list_price: Decimal | None
    brand: str
    brand_name: str
    category: str
    category_name: str


fields_of: Callable[[Any], tuple[Any, ...]] = attrgetter(*CardDeal._fields)


def cached_cards(environment: Environment) -> dict[str, Card]:
    """Every card by its name, for templates to use as a filter of deals."""
    macros = environment.get_template(TEMPLATE).module
    return {name: cached_card(getattr(macros, name)) for name in CARDS}


def cached_card(macro: Macro) -> Card:
    @lru_cache(maxsize=MOST_CACHED)
    def render(deal: CardDeal, *more: Any) -> Markup:
        return Markup(macro(deal, *more))

    def card(deal: Any, *more: Any) -> Markup:
        return render(CardDeal._make(fields_of(deal)), *more)

    return card
