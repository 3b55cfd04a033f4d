"""The form of a deal, the preview of its card, and the role that the desk requires."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from bigtime.model import Conflict, DomainError, RuleBroken
from bigtime.site import CATEGORY_NAMES, Pictured, Visitor, upload_picture
from bigtime.systems import accounts, deals
from bigtime.web.http import TypedPrice
from bigtime.web.pages import AnyForm, AppRequest, CheckedTogether, visitor_with

typed_price = TypedPrice("$", deals.checked_price)
FormPrice = Annotated[Decimal, BeforeValidator(typed_price)]


class EndUnreadable(RuleBroken):
    """Write the end as a date and a time in UTC, such as 2026-12-24T18:00."""


def typed_end(given: str | datetime) -> datetime:
    """Parses a date and time as sent by a browser, in UTC."""
    try:
        moment = datetime.fromisoformat(given.strip()) if isinstance(given, str) else given
    except ValueError:
        raise EndUnreadable from None
    return deals.checked_end(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


FormEnd = Annotated[datetime, BeforeValidator(typed_end)]


class DealPlace(BaseModel):
    """Whose a deal is; this stands first in its form."""

    brand_name: Annotated[str, AfterValidator(deals.brand_key)]
    category_name: Annotated[str, AfterValidator(deals.category_key)]


class DealFacts(CheckedTogether):
    """The fields of a deal that can be changed."""

    title: Annotated[str, AfterValidator(deals.checked_title)]
    price: FormPrice
    list_price: FormPrice | None = None
    link: Annotated[str, AfterValidator(deals.checked_link)]
    description: Annotated[str, AfterValidator(deals.checked_description)] | None = None
    ends_at: FormEnd | None = None

    @classmethod
    def check_together(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, DomainError]]:
        price, list_price = values.get("price"), values.get("list_price")
        if price is not None and list_price is not None and list_price <= price:
            yield "list_price", deals.NoDiscount()


class NewDeal(DealFacts, DealPlace):
    """The fields of a new deal, and the key of its form."""

    key: Annotated[str, Field(min_length=16, max_length=64)]


class ChangedDeal(DealFacts):
    """A changed deal; `seen` are the facts before the change, as text."""

    seen: str = ""
    brand_name: Annotated[str, AfterValidator(deals.brand_key)] | None = None
    category_name: Annotated[str, AfterValidator(deals.category_key)] | None = None


BESIDE: Final[dict[type[DomainError], str]] = {
    deals.UnknownBrand: "brand_name",
    deals.UnknownCategory: "category_name",
    deals.NoDiscount: "list_price",
    deals.EndPassed: "ends_at",
}
"""The field beside which each error is shown; others are shown for the whole form."""
MOST_LISTED: Final = 1_000
"""Brands in the list of completions."""


class DealChanged(Conflict):
    """Someone else has changed this deal meanwhile; see both, then take theirs or keep yours."""


def refuse(form: AnyForm, error: DomainError) -> None:
    form.refuse(error, BESIDE.get(type(error)))


@dataclass(frozen=True, slots=True)
class Preview:
    """The card of a deal, from the fields of its form."""

    title: str
    price: Decimal | None
    list_price: Decimal | None
    description: str
    brand_name: str
    category: str
    category_name: str
    picture: deals.Picture | None = None


def preview_of(form: AnyForm, deal: deals.Deal | None = None) -> Preview:
    """The card that a form would produce, for a new deal or an existing one."""
    category = valid_text(form, "category_name") or (deal.category if deal else "")
    brand_name = valid_text(form, "brand_name")
    if deal and (not brand_name or deals.brand_key(brand_name) == deal.brand):
        brand_name = deal.brand_name
    price, list_price = amount(form, "price"), amount(form, "list_price")
    is_discount = price is not None and list_price is not None and list_price > price
    return Preview(
        title=valid_text(form, "title") or "A title",
        price=price,
        list_price=list_price if is_discount else None,
        description=valid_text(form, "description"),
        brand_name=brand_name or "A brand",
        category=category,
        category_name=CATEGORY_NAMES.get(category, "a category"),
        picture=deal.picture if deal else None,
    )


def valid_text(form: AnyForm, name: str) -> str:
    """The text of a field; empty if it is not valid."""
    return "" if name in form.wrong else form.typed.get(name, "").strip()


def amount(form: AnyForm, name: str) -> Decimal | None:
    typed = valid_text(form, name)
    return typed_price(typed) if typed else None


def deal_id_in(text: str) -> deals.DealId:
    """The id of a deal, from the id itself or the URL of its page."""
    return deals.deal_id_of(text.strip().rstrip("/").rpartition("/")[2])


async def read_deal(request: AppRequest, deal_id: str) -> deals.Deal:
    """The deal with the id in a path, published or not."""
    return await request.run(deals.fetch_deal_for_editor(deals.deal_id_of(deal_id)))


async def keep_picture(request: AppRequest, who: Visitor, of: Pictured, picture: bytes) -> None:
    """Stores a picture for the worker."""
    upload_id = await request.context.pictures.keep_upload(of, picture)
    await request.run(upload_picture(who.username, of, upload_id))


def desk_path(deal: deals.Deal) -> str:
    """The path of a deal's form."""
    return f"/editor/deals/{deal.deal_id}"


# Every route of the desk has an `Editor` parameter, which refuses others.
Editor: TypeAlias = Annotated[Visitor, Depends(visitor_with(accounts.Role.EDITOR))]


# --- Two editors of one form --------------------------------------------------------------


READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "price": Decimal,
    "list_price": Decimal,
    "ends_at": datetime.fromisoformat,
}


def seen_text(facts: Mapping[str, Any]) -> str:
    """Facts as text, for a hidden field of their form."""
    texts = {name: None if fact is None else str(fact) for name, fact in facts.items()}
    return json.dumps(texts, ensure_ascii=False)


def seen_facts(text: str) -> dict[str, Any]:
    """The facts that a form showed when it was opened; none if it lacks them."""
    try:
        return {
            name: None if fact is None else READERS.get(name, str)(fact)
            for name, fact in dict(json.loads(text)).items()
        }
    except (ValueError, TypeError, ArithmeticError):
        return {}


def merge_facts(
    seen: str, yours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """Merges two editors' facts: untouched fields get the other's values; also returns the changes.

    Without the facts that were shown, every difference counts as touched.
    """
    base = seen_facts(seen)
    changed = ", ".join(
        name.replace("_", " ") for name, fact in theirs.items() if base.get(name) != fact
    )
    merged = {
        name: fact if name in base and base[name] == yours[name] else yours[name]
        for name, fact in theirs.items()
    }
    return merged, changed
