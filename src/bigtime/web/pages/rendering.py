"""Templates: HTML that escapes all text, with slots for personal content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.runtime import Macro
from jinja2.utils import url_quote
from markupsafe import Markup

from bigtime.model import Ksuid
from bigtime.site import cycle_words, day, moment, money, percent, short_number
from bigtime.systems.deals import Picture
from bigtime.web.http import BOUNDS
from bigtime.web.pages.page import Page, slot

FOLDER = Path(__file__).parents[1] / "templates"
TONES = frozenset(
    ("electronics", "computers", "home", "kitchen", "fashion", "sports", "toys", "beauty")
)
"""The categories that have a colour in site.css and a picture in categories.svg."""


def environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals |= {"slot": slot, "bounds": BOUNDS}
    templates.filters |= {
        "urlencode": urlencode,
        "money": money,
        "percent": percent,
        "cycle": cycle_words,
        "day": day,
        "moment": moment,
        "saving": saving,
        "tone": tone,
        "initials": initials,
        "store": store_name,
        "image": image,
        "number": short_number,
    }
    return templates


class Templates:
    """Renders templates by name. `shared` is available in all of them."""

    def __init__(self, shared: Mapping[str, object]) -> None:
        self._environment = environment()
        self._environment.globals.update(shared)
        self._environment.filters.update(cached_cards(self._environment))

    def page(self, name: str, /, *, status: int = 200, **values: object) -> Page:
        return Page.from_text(self.text(name, **values), status=status)

    def text(self, name: str, /, **values: Any) -> str:
        return self._environment.get_template(name).render(values)

    def bytes(self, name: str, /, **values: object) -> bytes:
        return self.text(name, **values).encode()


@lru_cache(maxsize=4_096)
def urlencode(name: str) -> str:
    """A name encoded for a URL; cached, as the same few are on every card."""
    return url_quote(name)


def saving(deal: Any) -> int:
    """The percentage that a deal is below its list price, rounded down; 0 without one."""
    if not deal.list_price:
        return 0
    return int((deal.list_price - deal.price) * 100 // deal.list_price)


def tone(category: str) -> str:
    """The class for a category's colour and picture; unknown categories get `other`."""
    name = category.lower()
    return name if name in TONES else "other"


@lru_cache(maxsize=4_096)
def store_name(link: str) -> str:
    """The store's name for people: the host of an offer's link."""
    return (urlsplit(link).hostname or "").removeprefix("www.")


IMAGE: Final = Markup(
    '<img src="/pictures/{0}/{1}.webp" srcset="{2}" sizes="{3}" width="{1}" height="{4}"'
    ' alt="{5}" loading="{6}" decoding="async">'
)


@lru_cache(maxsize=4_096)
def image(picture: Picture, sizes: str, alt: str = "", loading: str = "lazy") -> Markup:
    """A picture in its widths; cached, as one is on many pages.

    `sizes` says how wide it is shown, so that browsers choose the file; width and height reserve
    its place while it loads.
    """
    digest, widths = picture.digest, picture.widths
    files = ", ".join(f"/pictures/{digest}/{width}.webp {width}w" for width in widths)
    return IMAGE.format(digest, widths[-1], files, sizes, picture.height, alt, loading)


def initials(name: str) -> str:
    """The first letters or digits of a name's first two words that have any."""
    words = ("".join(filter(str.isalnum, word)) for word in name.split())
    return "".join(word[0] for word in words if word)[:2].upper() or name.strip()[:1]


# --- Cards: the pieces of pages that show one deal, rendered once for all pages -----------
# When a deal changes, the pages that show it are rendered again, but only one of their cards
# differs. So each card is cached under everything that it shows. A changed deal is another key, so
# no card is outdated; and a card cannot show more of a deal than its key, which is all that its
# macro gets.


TEMPLATE: Final = "pieces.html"
CARDS: Final = ("card", "drafted_deal", "deal_to_add", "deal_at_desk", "found_deal")
MOST_CACHED: Final = 4_096
Card: TypeAlias = Callable[..., Markup]
"""Renders a deal; its other arguments are hashable."""


class CardDeal(NamedTuple):
    """The fields that cards show of a deal, or of a featured copy of one."""

    deal_id: Ksuid
    title: str
    link: str
    price: Decimal
    list_price: Decimal | None
    brand: str
    brand_name: str
    category: str
    category_name: str
    picture: Picture | None
    status: str | None


fields_of: Callable[[Any], tuple[Any, ...]] = attrgetter(*CardDeal._fields)


def cached_cards(environment: Environment) -> dict[str, Card]:
    """All cards by name, for templates to use as filters of deals."""
    macros = environment.get_template(TEMPLATE).module
    return {name: cached_card(getattr(macros, name)) for name in CARDS}


def cached_card(macro: Macro) -> Card:
    @lru_cache(maxsize=MOST_CACHED)
    def render(deal: CardDeal, *more: Any) -> Markup:
        return Markup(macro(deal, *more))

    def card(deal: object, *more: object) -> Markup:
        return render(CardDeal._make(fields_of(deal)), *more)

    return card
