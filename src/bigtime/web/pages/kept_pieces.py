"""Pieces of pages that show one deal, kept: a card is the same on every page that has it.

When a deal changes, the pages that show it are made anew, and of all their cards one is another.
So each is rendered once, and what it shows is what it is kept by. None can be old, for a deal that
has changed is looked for, and rendered, as another one; and a piece cannot show more of a deal than
it is kept by, for it is given no more.
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
PIECES: Final = ("card", "drafted_deal", "deal_to_add", "deal_at_desk")
MOST_KEPT: Final = 4_096

Piece: TypeAlias = Callable[..., Markup]
"""Shows a deal; what else it is given can be told from others as a key can."""


class ShownDeal(NamedTuple):
    """What pages show of a deal, be it the deal itself or a featured copy of it."""

    deal_id: str
    title: str
    price: Decimal
    list_price: Decimal | None
    brand: str
    brand_name: str
    category: str
    category_name: str


fields_of: Callable[[Any], tuple[Any, ...]] = attrgetter(*ShownDeal._fields)


def kept_pieces(environment: Environment) -> dict[str, Piece]:
    """Every piece by its name, for templates to use as a filter of deals."""
    macros = environment.get_template(TEMPLATE).module
    return {name: kept_piece(getattr(macros, name)) for name in PIECES}


def kept_piece(macro: Macro) -> Piece:
    @lru_cache(maxsize=MOST_KEPT)
    def rendered(deal: ShownDeal, *more: Any) -> Markup:
        return Markup(macro(deal, *more))

    def piece(deal: Any, *more: Any) -> Markup:
        return rendered(ShownDeal._make(fields_of(deal)), *more)

    return piece
