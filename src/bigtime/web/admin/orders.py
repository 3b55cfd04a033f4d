"""The shop's orders for an admin: the queue, each order and its moves, and packing lists.

A move says which status its page showed. If the order has another status by then, because the
customer has cancelled it or someone else has moved it, nothing is moved, and the page says who was
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BaseModel
from starlette.responses import Response

from bigtime import site
from bigtime.model import DomainError, Ksuid, Malformed, Page, Position
from bigtime.site import STATUS_LABELS, StaffOrder
from bigtime.systems import portal, shop
from bigtime.systems.shop import Order, OrderStatus
from bigtime.web import pages
from bigtime.web.admin.lists import AT_ONCE, Column, download_list, with_given
from bigtime.web.admin.records import Admin, check_choice
from bigtime.web.http import key_of, see_other
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

orders = page_router()

HERE: Final = "/admin/orders"
ALL: Final = "all"
NEWEST: Final = "newest"
PACKING: Final = "packing"
PAGE: Final = 25
STATUSES: Final = (
    ("", STATUS_LABELS[OrderStatus.PLACED]),
    *((status.value, STATUS_LABELS[status]) for status in list(OrderStatus)[1:]),
    (ALL, "All"),
)
SORTS: Final = (("", "Oldest first"), (NEWEST, "Newest first"))
VERBS: Final = {
    OrderStatus.PICKED: "Start packing",
    OrderStatus.SHIPPED: "Mark as shipped",
    OrderStatus.DELIVERED: "Mark as delivered",
}
"""The moves that a button makes; cancelling needs a confirmation, on the order's own page."""
FILTERS: Final = ("status", "sort", "since", "until")


class Filters(BaseModel):
    """Which orders to list, and in what order."""

    status: str = ""
    sort: str = ""
    since: portal.Day | None = None
    until: portal.Day | None = None

    @property
    def status_filter(self) -> OrderStatus | None:
        """The status; None for all of them."""
        return None if self.status == ALL else OrderStatus(self.status or OrderStatus.PLACED)

    def steps(self, after: Position | None, *, limit: int = PAGE) -> Steps[Page[Order]]:
        return site.view_order_queue(
            self.status_filter,
            oldest_first=self.sort != NEWEST,
            since=self.since,
            until=self.until,
            after=after,
            limit=limit,
        )


class Move(BaseModel):
    """A move of one order, from the status that its page showed."""

    seen: OrderStatus
    status: OrderStatus


# The queue


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of moving several orders; `stayed` are those that were not moved."""

    moved: int
    status: OrderStatus
    stayed: Sequence[Order]


@orders.get(HERE)
async def show_queue(
    request: AppRequest,
    admin: Admin,
    after: str | None = None,
    moved: int = 0,
    to: str = "",
    stayed: str = "",
) -> Response:
    """Orders by status and by day; `moved`, `to` and `stayed` say what a form has moved."""
    form, found = await read_queue(request.context, dict(request.query_params), after)
    outcome = None
    if to in VERBS:
        shown = await request.run(site.view_orders_to_pack(ids_in(stayed.split())))
        outcome = Outcome(moved, OrderStatus(to), [whole.order for whole in shown])
    return await queue_page(request, form, found, outcome=outcome)


async def read_queue(
    context: pages.AppContext, typed: dict[str, str], after: str | None = None
) -> tuple[pages.AnyForm, Page[Order]]:
    """The filters as typed, and the orders that match; none if a filter is invalid."""
    form = read_filters(typed)
    found: Page[Order] = Page([])
    if form.value is not None:
        try:
            found = await context.store.run(form.value.steps(context.cursors.read(after)))
        except site.DatesReversed as error:
            form.refuse(error, "until")
    return form, found


def read_filters(typed: Mapping[str, str]) -> pages.SubmittedForm[Filters]:
    form = pages.check_form(Filters, dict(typed))
    check_choice(form, "status", STATUSES)
    check_choice(form, "sort", SORTS)
    return form


def of_address(field: str) -> Callable[[Order], str | None]:
    """A part of an order's address; empty if the order has no address any more."""
    return lambda order: getattr(order.ship_to, field, None)


COLUMNS: Final[tuple[Column[Order], ...]] = (
    Column("order", "Order", attrgetter("order_id")),
    Column("placed", "Placed", attrgetter("created_at")),
    Column("status", "Status", lambda order: STATUS_LABELS[order.status]),
    Column("customer", "Customer", attrgetter("username")),
    Column("products", "Products", attrgetter("item_count")),
    Column("total", "Total", attrgetter("total")),
    Column("recipient", "Recipient", of_address("recipient")),
    Column("street", "Street", of_address("street")),
    Column("postal_code", "Postal code", of_address("postal_code")),
    Column("city", "City", of_address("city")),
    Column("region", "Region", of_address("region")),
    Column("country", "Country", of_address("country")),
)


@orders.get(f"{HERE}.csv")
async def download_orders(request: AppRequest, admin: Admin) -> Response:
    """All orders that the filters let through; the download is logged."""
    filters = read_filters(request.query_params).require("These filters do not go together.")
    return await download_list(
        request,
        admin,
        "orders",
        COLUMNS,
        lambda after: filters.steps(after, limit=AT_ONCE),
    )


async def queue_page(
    request: AppRequest,
    form: pages.AnyForm,
    found: Page[Order],
    *,
    outcome: Outcome | None = None,
    customer: str = "",
    fault: str = "",
) -> Response:
    filters = {name: form.typed[name] for name in FILTERS if form.typed.get(name)}
    return await request.form_page(
        "admin/order_queue.html",
        status=422 if fault else None,
        form=form,
        statuses=STATUSES,
        sorts=SORTS,
        orders=found.items,
        after=request.write_cursor(found.position),
        filters=filters,
        csv_link=with_given(f"{HERE}.csv", filters),
        moves=moves_of(found.items),
        is_selected=bool(request.query_params.get("select")),
        labels=STATUS_LABELS,
        outcome=outcome,
        customer=customer,
        fault=fault,
    )


def moves_of(listed: Iterable[Order]) -> dict[OrderStatus, str]:
    """The moves that any of the listed orders can make, with their buttons."""
    possible = {move for order in listed for move in shop.NEXT[order.status]}
    return {status: verb for status, verb in VERBS.items() if status in possible}


@orders.get(f"{HERE}/find")
async def find_orders(
    request: AppRequest, admin: Admin, q: str = "", after: str | None = None
) -> Response:
    """Redirects to an order by its number, or lists those of a customer by their e-mail."""
    text = q.strip()
    with suppress(shop.InvalidOrderId, shop.UnknownOrder):
        whole = await request.run(site.view_staff_order(shop.order_id_of(text)))
        return see_other(f"{HERE}/{whole.order.order_id}")
    form = pages.empty_form(q=q)
    with suppress(shop.InvalidOrderId):
        alike = await request.run(site.view_orders_of_number(text))
        if len(alike) == 1:
            return see_other(f"{HERE}/{alike[0].order_id}")
        if alike:
            return await queue_page(request, form, Page(alike))
    try:
        steps = site.view_orders_of_email(text, after=request.read_cursor(after))
        found = await request.run(steps)
    except (shop.InvalidEmail, shop.UnknownCustomer):
        fault = "No order has this number, and no customer this e-mail address."
        return await queue_page(request, form, Page([]), customer=text, fault=fault)
    return await queue_page(request, form, found, customer=text)


@orders.post(f"{HERE}/selected")
async def use_selected(request: AppRequest, admin: Admin) -> Response:
    """Moves the orders that were selected, or lists them for packing."""
    fields = await request.read_form_data()
    typed = pages.typed_fields(fields)
    selected = seen_in(fields.getlist("order"))
    filters = {name: typed[name] for name in FILTERS if typed.get(name)}
    then = typed.get("then", "")
    if not selected:
        form, found = await read_queue(request.context, filters)
        return await queue_page(request, form, found, fault="Select at least one order.")
    if then == PACKING:
        return see_other(f"{HERE}/{PACKING}?{urlencode([('order', each) for each in selected])}")
    if then not in VERBS:
        raise Malformed("Choose what to do with these orders.")
    steps = site.move_orders(request.context.mover(admin), selected, OrderStatus(then))
    done = await request.run(steps)
    outcome = {"moved": len(done.moved), "to": then, "stayed": " ".join(done.refused)}
    return see_other(f"{HERE}?{urlencode({**filters, **outcome})}")


def seen_in(values: Iterable[Any]) -> dict[Ksuid, OrderStatus]:
    """The selected orders, each with the status that the page showed."""
    found: dict[Ksuid, OrderStatus] = {}
    for value in values:
        order_id, _, status = str(value).partition(" ")
        with suppress(shop.InvalidOrderId, ValueError):
            found[shop.order_id_of(order_id)] = OrderStatus(status)
    return dict(list(found.items())[: site.MOST_MOVED])


# Packing lists


@orders.get(f"{HERE}/{PACKING}")
async def show_packing_list(
    request: AppRequest, admin: Admin, order: Annotated[list[str] | None, Query()] = None
) -> Response:
    """What is in each order and where it goes, to be printed; a sheet for each."""
    found = await request.run(site.view_orders_to_pack(ids_in(order or [])))
    return await request.page(
        "admin/packing.html",
        status=200 if found else 404,
        orders=found,
        labels=STATUS_LABELS,
    )


def ids_in(texts: Iterable[str]) -> list[Ksuid]:
    """The valid order ids among some texts, each once."""
    found: dict[Ksuid, None] = {}
    for text in texts:
        with suppress(shop.InvalidOrderId):
            found[shop.order_id_of(text)] = None
    return list(found)


# An order


@orders.get(f"{HERE}/{{order_id}}")
async def show_order(request: AppRequest, admin: Admin, order_id: str, done: str = "") -> Response:
    return await order_page(request, order_id, pages.empty_form(), done=done)


@orders.post(f"{HERE}/{{order_id}}/status")
async def move(request: AppRequest, admin: Admin, order_id: str) -> Response:
    """Moves an order on, if it still has the status that the page showed."""
    form = await request.read_form(Move)
    if form.value is None:
        form.fault = "Choose what to do with this order."
        return await order_page(request, order_id, form)
    whole = await read_order(request, order_id)
    steps = site.move_order(
        request.context.mover(admin),
        whole.order.username,
        whole.order.order_id,
        form.value.seen,
        form.value.status,
    )
    try:
        await request.run(steps)
    except (shop.OrderMovedOn, shop.StatusOutOfOrder) as error:
        return await refused_page(request, order_id, form, error)
    return see_other(f"{HERE}/{order_id}?done=moved")


async def refused_page(
    request: AppRequest, order_id: str, form: pages.SubmittedForm[Move], error: DomainError
) -> Response:
    """The page of the order as it is now, with why it was not moved."""
    whole = await read_order(request, order_id)
    form.refuse(error)
    if isinstance(error, shop.OrderMovedOn):
        form.fault = who_was_first(whole)
    return await order_page(request, order_id, form)


def who_was_first(whole: StaffOrder) -> str:
    """A sentence about the move that came before."""
    last, label = whole.last_move, STATUS_LABELS[whole.order.status]
    if last is None:
        return f"Nothing was changed: this order is “{label}” by now."
    if last.who is None:
        return "Nothing was changed: the customer has cancelled this order meanwhile."
    return f"Nothing was changed: {last.who} has moved this order to “{label}” meanwhile."


async def read_order(request: AppRequest, order_id: str) -> StaffOrder:
    wanted = key_of(order_id, shop.order_id_of, shop.UnknownOrder)
    return await request.run(site.view_staff_order(wanted))


async def order_page(
    request: AppRequest, order_id: str, form: pages.AnyForm, *, done: str = ""
) -> Response:
    whole = await read_order(request, order_id)
    possible: Mapping[OrderStatus, str] = moves_of([whole.order])
    return await request.form_page(
        "admin/order.html",
        whole=whole,
        form=form,
        moves=possible,
        may_cancel=OrderStatus.CANCELLED in shop.NEXT[whole.order.status],
        labels=STATUS_LABELS,
        done=done,
    )
