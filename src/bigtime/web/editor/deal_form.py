"""The form of a deal, and the card that it would make."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from bigtime.model import Conflict, DomainError
from bigtime.systems.deals.categories import CATEGORIES
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.errors import NoDiscount, UnknownBrand, UnknownCategory
from bigtime.systems.deals.values import (
    brand_key,
    category_key,
    checked_description,
    checked_link,
    checked_price,
    checked_title,
)
from bigtime.web.forms import Filled
from bigtime.web.typed_price import TypedPrice

typed_price = TypedPrice("$", checked_price)
FormPrice = Annotated[Decimal, BeforeValidator(typed_price)]


class DealFacts(BaseModel):
    """What an editor says of a deal."""

    title: Annotated[str, AfterValidator(checked_title)]
    price: FormPrice
    list_price: FormPrice | None = None
    link: Annotated[str, AfterValidator(checked_link)]
    description: Annotated[str, AfterValidator(checked_description)] | None = None


class NewDeal(DealFacts):
    """What a new deal is told besides: whose it is, of which kind, and the key of its form."""

    brand_name: Annotated[str, AfterValidator(brand_key)]
    category_name: Annotated[str, AfterValidator(category_key)]
    key: Annotated[str, Field(min_length=16, max_length=64)]


class ChangedDeal(DealFacts):
    """`seen` is a mark of the facts that were changed."""

    seen: str = ""


BESIDE: Final[dict[type[DomainError], str]] = {
    UnknownBrand: "brand_name",
    UnknownCategory: "category_name",
    NoDiscount: "list_price",
}
"""The fields that errors belong beside; others are the whole form's."""


CATEGORY_NAMES: Final = {category_key(name): name for name in CATEGORIES}


class DealChanged(Conflict):
    """Somebody else has changed this deal meanwhile; see both, then take theirs or keep yours."""

    status = HTTPStatus.CONFLICT


def refuse(form: Filled[Any], error: DomainError) -> None:
    form.refuse(error, BESIDE.get(type(error)))


@dataclass(frozen=True, slots=True)
class Preview:
    """A deal as far as its form tells; where it does not, what stands in its place."""

    title: str
    price: Decimal | None
    list_price: Decimal | None
    description: str
    brand_name: str
    category: str
    category_name: str


def preview_of(form: Filled[Any], deal: Deal | None = None) -> Preview:
    """The card that a form would make; a deal, where there is one, says whose and of which kind."""
    category = deal.category if deal else good(form, "category_name")
    return Preview(
        title=good(form, "title") or "A title",
        price=amount(form, "price"),
        list_price=amount(form, "list_price"),
        description=good(form, "description"),
        brand_name=deal.brand_name if deal else good(form, "brand_name") or "A brand",
        category=category,
        category_name=CATEGORY_NAMES.get(category, "a category"),
    )


def good(form: Filled[Any], name: str) -> str:
    """What was typed, unless it will not do."""
    return "" if name in form.wrong else form.typed.get(name, "").strip()


def amount(form: Filled[Any], name: str) -> Decimal | None:
    typed = good(form, name)
    return typed_price(typed) if typed else None


def desk_path(deal: Deal) -> str:
    """Where an editor finds a deal."""
    return f"/editor/deals/{deal.deal_id}"
