"""Products for an admin: created, changed, archived and restored.

A new price applies to new orders at once. So a change of price is shown on a page of its own, with
the price that was shown and the one that was typed, and has to be confirmed there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator
from starlette.responses import Response

from bigtime.model import Page, Position
from bigtime.site import RAND
from bigtime.systems import portal
from bigtime.web import pages
from bigtime.web.admin.lists import AT_ONCE, Column, answer_csv, answer_listing, listing_of
from bigtime.web.admin.records import Admin, EntryRow, add_archiving, entry_rows
from bigtime.web.http import TypedPrice, see_other
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

products = page_router()

HERE: Final = "/admin/products"
PAGE: Final = 25
NEWEST: Final = 5
CYCLES: Final = ((portal.BillingCycle.MONTHLY, "Monthly"), (portal.BillingCycle.YEARLY, "Yearly"))

F = TypeVar("F", bound=BaseModel)
Which = Literal["active", "all", "archived"]


def split_lines(text: object) -> object:
    """Splits a text into features, one per line; ignores empty lines."""
    if not isinstance(text, str):
        return text
    return [line.strip() for line in text.splitlines() if line.strip()]


# The list of features: a row for each, and buttons that add, remove and move rows

ROW: Final = "feature_"
BUTTON: Final = "rows"
MOST_ROWS: Final = 100


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """The rows of the form; `focused` is the one that was added or moved."""

    texts: list[str]
    focused: int | None = None

    def press(self, button: str) -> FeatureRows:
        """The rows after a button was pressed; any other text changes nothing."""
        verb, _, place = button.partition(" ")
        if verb == "add" and len(self.texts) < MOST_ROWS:
            return FeatureRows([*self.texts, ""], len(self.texts))
        if not place.isdecimal() or int(place) >= len(self.texts):
            return self
        at, texts = int(place), list(self.texts)
        if verb == "remove":
            del texts[at]
            return FeatureRows(texts, min(at, len(texts) - 1) if texts else None)
        to = at + {"up": -1, "down": 1}.get(verb, 0)
        if 0 <= to < len(texts):
            texts.insert(to, texts.pop(at))
            return FeatureRows(texts, to)
        return self


def rows_of(typed: Mapping[str, str]) -> FeatureRows:
    """The rows of a submitted form, or of one that is shown for the first time."""
    if "features" in typed:
        return FeatureRows(typed["features"].splitlines())
    names = sorted((name for name in typed if is_row(name)), key=row_number)
    return FeatureRows([typed[name] for name in names[:MOST_ROWS]])


def is_row(name: str) -> bool:
    number = name.removeprefix(ROW)
    return name.startswith(ROW) and number.isascii() and number.isdigit() and len(number) < 4


def row_number(name: str) -> int:
    return int(name.removeprefix(ROW))


def with_features(typed: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form, with its rows joined into one field."""
    return {**typed, "features": "\n".join(rows_of(typed).texts)}


async def read_product_form(
    request: AppRequest, kind: type[F]
) -> tuple[pages.SubmittedForm[F], FeatureRows | None]:
    """The form, or the rows as a button has changed them, in which case nothing is saved."""
    typed = await request.read_fields()
    if typed.get(BUTTON):
        return pages.SubmittedForm(typed), rows_of(typed).press(typed[BUTTON])
    return pages.check_form(kind, with_features(typed)), None


def one_newline(text: object) -> object:
    """Replaces CRLF, which browsers send, by LF."""
    return text.replace("\r\n", "\n") if isinstance(text, str) else text


Lines = Annotated[portal.Description, BeforeValidator(one_newline)]
RandPrice = Annotated[Decimal, BeforeValidator(TypedPrice(RAND, portal.checked_price))]


class ProductForm(BaseModel):
    """What a product is."""

    name: portal.Name
    description: Lines
    price: RandPrice
    billing_cycle: portal.Billing
    features: Annotated[portal.Features, BeforeValidator(split_lines)] = []


class Changes(ProductForm):
    """The form that changes a product: what was seen of it, and which new price is meant."""

    seen: str = ""
    confirmed: str = ""

    @property
    def changes(self) -> dict[str, Any]:
        return self.model_dump(exclude={"seen", "confirmed"})


COLUMNS: Final[tuple[Column[portal.Product], ...]] = (
    Column("name", "Name", attrgetter("name")),
    Column("price", "Price", attrgetter("price"), is_number=True),
    Column("billing", "Billing", attrgetter("billing_cycle")),
    Column("created", "Created", attrgetter("date_created"), by_index=True),
    Column("kept", "Archived?", lambda product: not product.active),
    Column("description", "Description", attrgetter("description"), is_shown=False),
    Column("features", "Features", lambda product: "; ".join(product.features), is_shown=False),
    Column("changed", "Last changed", attrgetter("date_last_updated"), is_shown=False),
    Column("id", "Id", attrgetter("id"), is_shown=False),
)


def list_steps(
    which: Which, after: Position | None, *, limit: int = PAGE, newest_first: bool = False
) -> Steps[Page[portal.Product]]:
    query: dict[str, Any] = {"limit": limit, "after": after, "newest_first": newest_first}
    if which == "archived":
        return portal.list_deleted_products(**query)
    return portal.list_products(include_inactive=which == "all", **query)


@products.get(HERE)
async def show_products(request: AppRequest, admin: Admin, which: Which = "active") -> Response:
    """Products, and how many there are."""
    sort = "-created" if which == "archived" else "created"
    listing = listing_of(request, COLUMNS, sort=sort, filters=("which",))
    newest_first = listing.newest_first(default=which == "archived")
    steps = list_steps(which, request.page_start, newest_first=newest_first)
    found = await request.run(steps)
    counts = await request.run(portal.count_products())
    return await answer_listing(
        request, "admin/products.html", listing, found, counts=counts, which=which
    )


@products.get(f"{HERE}.csv")
async def download_products(request: AppRequest, admin: Admin, which: Which = "active") -> Response:
    """All of these products."""
    return await answer_csv(
        request.context, "products", COLUMNS, lambda after: list_steps(which, after, limit=AT_ONCE)
    )


# New products


@products.get(f"{HERE}/new")
async def show_new(request: AppRequest, admin: Admin) -> Response:
    return await new_page(request, pages.empty_form())


@products.post(f"{HERE}/new")
async def create(request: AppRequest, admin: Admin) -> Response:
    form, rows = await read_product_form(request, ProductForm)
    if rows is not None:
        return await new_page(request, form, rows=rows)
    if form.value is None:
        return await new_page(request, form)
    product = await request.run(portal.create_product(**form.value.model_dump(), by=admin.login))
    return see_other(f"{HERE}/{product.id}?done=made")


async def new_page(
    request: AppRequest, form: pages.AnyForm, *, rows: FeatureRows | None = None
) -> Response:
    return await request.form_page(
        "admin/new_product.html",
        form=form,
        rows=rows,
        rows_of=rows_of,
        cycles=CYCLES,
    )


# A product

add_archiving(
    products,
    f"{HERE}/{{product_id}}",
    portal.soft_delete_product,
    portal.restore_product,
    attrgetter("id"),
)


@products.get(f"{HERE}/{{product_id}}")
async def show_product(
    request: AppRequest, admin: Admin, product_id: str, done: str = ""
) -> Response:
    return await product_page(request, product_id, done=done)


@products.post(f"{HERE}/{{product_id}}")
async def change(request: AppRequest, admin: Admin, product_id: str) -> Response:
    """Changes a product; a new price has to be confirmed."""
    form, rows = await read_product_form(request, Changes)
    if rows is not None:
        return await product_page(request, product_id, form=form, rows=rows)
    if form.value is None:
        return await product_page(request, product_id, form=form)
    product = await request.run(portal.get_product(product_id, include_inactive=True))
    sent = form.value
    if sent.price != product.price and sent.confirmed != change_of(product.price, sent.price):
        return await price_page(request, product, sent)
    try:
        steps = portal.update_product(product_id, sent.changes, by=admin.login, seen=sent.seen)
        await request.run(steps)
    except (portal.RecordMoved, portal.ProductDeleted) as error:
        return await product_page(request, product_id, form=form.refuse(error))
    return see_other(f"{HERE}/{product_id}?done=changed")


def change_of(before: Decimal, after: Decimal) -> str:
    return f"{before} to {after}"


async def price_page(request: AppRequest, product: portal.Product, sent: Changes) -> Response:
    """The page that asks to confirm a new price."""
    zone = request.context.plan_shop.zone
    steps = portal.list_campaigns_by_product(product.id, valid_only=True, zone=zone)
    running: Page[portal.Offer] = await request.run(steps)
    return await request.form_page(
        "admin/price.html",
        product=product,
        sent=sent,
        confirmed=change_of(product.price, sent.price),
        running=running.items,
    )


def whole_product(product_id: str) -> Steps[tuple[portal.Product, list[EntryRow]]]:
    """A product, and its newest history."""
    product = yield from portal.get_product(product_id, include_inactive=True)
    log = yield from portal.audit_log(portal.Audited.PRODUCTS, product.id, limit=NEWEST)
    return product, entry_rows(log)


async def product_page(
    request: AppRequest,
    product_id: str,
    *,
    form: pages.AnyForm | None = None,
    rows: FeatureRows | None = None,
    done: str = "",
) -> Response:
    product, entries = await request.run(whole_product(product_id))
    # Row buttons save nothing, so the mark of the product that the admin has seen stays.
    seen = form.typed.get("seen") if form and rows else None
    return await request.form_page(
        "admin/product.html",
        product=product,
        entries=entries,
        form=form or pages.empty_form(**as_typed(product)),
        rows=rows,
        rows_of=rows_of,
        cycles=CYCLES,
        seen=seen or portal.mark_of(product),
        done=done,
    )


def as_typed(product: portal.Product) -> dict[str, str]:
    return {
        "name": product.name,
        "description": product.description,
        "price": str(product.price),
        "billing_cycle": product.billing_cycle,
        "features": "\n".join(product.features),
    }
