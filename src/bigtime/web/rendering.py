"""Templates: HTML that escapes whatever it is given, with gaps for what is personal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bigtime.web.page import CLOSES, OPENS, Page, slot

FOLDER = Path(__file__).parent / "templates"
TONES = frozenset(
    ("electronics", "computers", "home", "kitchen", "fashion", "sports", "toys", "beauty")
)
"""The categories that have a colour in site.css and a picture in categories.svg."""


def environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=without_marks,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals["slot"] = slot
    templates.filters |= {
        "money": money,
        "day": day,
        "moment": moment,
        "saving": saving,
        "tone": tone,
    }
    return templates


class Templates:
    """Renders templates by their name. `shared` is what every one of them can use."""

    def __init__(self, shared: Mapping[str, Any]) -> None:
        self._environment = environment()
        self._environment.globals.update(shared)

    def page(self, name: str, /, *, status: int = 200, **values: Any) -> Page:
        return Page.rendered(self.text(name, **values), status=status)

    def text(self, name: str, /, **values: Any) -> str:
        return self._environment.get_template(name).render(values)

    def bytes(self, name: str, /, **values: Any) -> bytes:
        return self.text(name, **values).encode()


def without_marks(value: Any) -> Any:
    """Whatever somebody has written, it makes no gap in a page."""
    if type(value) is not Markup and isinstance(value, str) and (OPENS in value or CLOSES in value):
        return value.replace(OPENS, "").replace(CLOSES, "")
    return value


def saving(deal: Any) -> int:
    """How many percent a deal is below its list price, rounded down; 0 where there is none."""
    if not deal.list_price:
        return 0
    return int((deal.list_price - deal.price) * 100 // deal.list_price)


def tone(category: str) -> str:
    """The colour and picture of a category; any other category has those of `other`."""
    name = category.lower()
    return name if name in TONES else "other"


def money(amount: Decimal, currency: str = "$") -> str:
    return f"{currency}{amount:,.2f}"


def day(value: datetime) -> str:
    return f"{value:%d %B %Y}".lstrip("0")


def moment(value: datetime) -> str:
    return f"{day(value)}, {value:%H:%M} UTC"
