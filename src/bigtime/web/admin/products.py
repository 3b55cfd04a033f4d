"""Products for an admin: made, changed, archived and restored.

A new price holds for new orders at once. So a change of price is first shown on a page
of its own, and confirmed there: from the price that was shown to the one that was typed.
"""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Page, Position
from bigtime.site import RAND
from bigtime.systems import portal
from bigtime.web.admin.records import Admin, EntryRow, add_archiving, answer_list, entry_rows
from bigtime.web.http import TypedPrice, page_router, see_other, status_of
from bigtime.web.pages import AnyForm, context_of, empty_form, ordering_of, read_form
from bigtime.wire import Steps

products = page_router()

HERE: Final = "/admin/products"
PAGE: Final = 25
NEWEST: Final = 5
CYCLES: Final = ((portal.BillingCycle.MONTHLY, "Monthly"), (portal.BillingCycle.YEARLY, "Yearly"))

Which = Literal["active", "all", "archived"]


def split_lines(text: object) -> object:
    """A feature to a line; empty lines do not count."""
    if not isinstance(text, str):
        return text
    return [line.strip() for line in text.splitlines() if line.strip()]


def one_newline(text: object) -> object:
    """Browsers end lines with two characters, programs with one."""
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


def list_steps(which: Which, after: Position | None) -> Steps[Page[portal.Product]]:
    if which == "archived":
        return portal.list_deleted_products(limit=PAGE, after=after)
    return portal.list_products(include_inactive=which == "all", limit=PAGE, after=after)


@products.get(HERE)
async def show_products(
    request: Request, admin: Admin, which: Which = "active", after: str | None = None
) -> Response:
    """Products, and how many there are."""
    context = context_of(request)
    found = await context.store.run(list_steps(which, context.cursors.read(after)))
    counts = await context.store.run(portal.count_products())
    return await answer_list(
        request, "admin/products.html", found, products=found.items, counts=counts, which=which
    )


# New products


@products.get(f"{HERE}/new")
async def show_new(request: Request, admin: Admin) -> Response:
    return await new_page(request, empty_form())


@products.post(f"{HERE}/new")
async def create(request: Request, admin: Admin) -> Response:
    context = context_of(request)
    form = await read_form(request, context, ProductForm)
    if form.value is None:
        return await new_page(request, form, status=422)
    product = await context.store.run(
        portal.create_product(**form.value.model_dump(), by=admin.login)
    )
    return see_other(f"{HERE}/{product.id}?done=made")


async def new_page(request: Request, form: AnyForm, *, status: int = 200) -> Response:
    return await context_of(request).form_page(
        request, "admin/new_product.html", form=form, cycles=CYCLES, status=status
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
async def show_product(request: Request, admin: Admin, product_id: str, done: str = "") -> Response:
    return await product_page(request, product_id, done=done)


@products.post(f"{HERE}/{{product_id}}")
async def change(request: Request, admin: Admin, product_id: str) -> Response:
    """Changes a product; a new price has to be confirmed."""
    context = context_of(request)
    form = await read_form(request, context, Changes)
    if form.value is None:
        return await product_page(request, product_id, form=form, status=422)
    product = await context.store.run(portal.get_product(product_id, include_inactive=True))
    sent = form.value
    if sent.price != product.price and sent.confirmed != change_of(product.price, sent.price):
        return await price_page(request, product, sent)
    try:
        steps = portal.update_product(product_id, sent.changes, by=admin.login, seen=sent.seen)
        await context.store.run(steps)
    except (portal.RecordMoved, portal.ProductDeleted) as error:
        form.refuse(error)
        return await product_page(request, product_id, form=form, status=status_of(error))
    return see_other(f"{HERE}/{product_id}?done=changed")


def change_of(before: Decimal, after: Decimal) -> str:
    return f"{before} to {after}"


async def price_page(request: Request, product: portal.Product, sent: Changes) -> Response:
    """The page that says what a new price means."""
    context = context_of(request)
    zone = ordering_of(context).zone
    steps = portal.list_campaigns_by_product(product.id, valid_only=True, zone=zone)
    running: Page[portal.Offer] = await context.store.run(steps)
    return await context.form_page(
        request,
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
    request: Request,
    product_id: str,
    *,
    form: AnyForm | None = None,
    status: int = 200,
    done: str = "",
) -> Response:
    context = context_of(request)
    product, entries = await context.store.run(whole_product(product_id))
    return await context.form_page(
        request,
        "admin/product.html",
        status=status,
        product=product,
        entries=entries,
        form=form or empty_form(**as_typed(product)),
        cycles=CYCLES,
        seen=portal.mark_of(product),
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
