"""Orders: what a tenant buys, at current prices.

An order holds copies: the name and the unit price of each product, the discount taken off, and the
campaign as it was. The transaction that creates it succeeds only if the tenant may still order, and
products and campaign are unchanged since they were read; otherwise all are read again for another
try.

An order's id sorts by time. A caller that may have to repeat an order generates the id first and
passes it each time: there will be one order.

A quote is what an order would be at this moment, by the same rules. A page that has shown a quote
passes its total with the order: if the total has changed, nothing is ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, TypeAlias

from bigtime import model as bt
from bigtime.systems.portal import design, errors, records, values
from bigtime.systems.portal.campaigns import discounted_price, is_valid, today
from bigtime.systems.portal.design import Campaign, Order, OrderItem, Product, Tenant
from bigtime.systems.portal.records import Overtaken, create_record
from bigtime.systems.portal.tenants import orderly

MONTHS: Final = 12
MOST_ORDERS: Final = 1_000
ONE_OF_IT: Final = {"products": {values.example_of("prod"): 1}}

Along: TypeAlias = Callable[[Order, Tenant], bt.Steps[tuple[bt.Write[Any], ...]]]
"""The writes to other tables that belong to an order, such as a mail to its tenant."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What an order would be now: its products with their prices, and the campaign, if any."""

    products: Mapping[str, Product]
    items: list[OrderItem]
    campaign: Campaign | None

    @property
    def total(self) -> Decimal:
        return sum((item.quantity * item.unit_price for item in self.items), Decimal(0))


@bt.pattern("Make Order Id", index="N/A")
def make_order_id() -> bt.Steps[str]:
    """before an order that may have to be repeated"""
    return values.timed_id("order", (yield from bt.now()), (yield from bt.random_bytes(16)))


@bt.pattern("Place Order", index="Main table", sample=ONE_OF_IT)
def place_order(
    tenant_id: values.TenantId,
    products: Mapping[values.ProductId, int],
    campaign_code: values.AskedCode | None = None,
    *,
    order_id: values.OrderId | None = None,
    total: Decimal | None = None,
    along: Along | None = None,
    zone: tzinfo = UTC,
) -> bt.Steps[Order]:
    """holds copies of prices and campaign; tenant, products and campaign must all be in force

    `total` is the total that the tenant has seen. `along` is done with it, or nothing is.
    """
    lines = checked_lines(products)
    for _ in range(records.TRIES):
        placed = yield from find_placed_order(tenant_id, order_id)
        if placed is not None:
            return placed
        quote = yield from make_quote(lines, campaign_code, zone)
        if total is not None and total != quote.total:
            raise errors.TotalMoved
        try:
            return (yield from try_order(tenant_id, quote, order_id, along))
        except Overtaken:
            continue
        except errors.IdTaken:
            placed = yield from find_placed_order(tenant_id, order_id)
            if placed is None:
                raise
            return placed
    raise bt.Conflict


@bt.pattern("Quote Order", index="Main table", sample=ONE_OF_IT)
def quote_order(
    products: Mapping[values.ProductId, int],
    campaign_code: values.AskedCode | None = None,
    *,
    zone: tzinfo = UTC,
) -> bt.Steps[Quote]:
    """what an order would cost at this moment, by the same rules"""
    return (yield from make_quote(checked_lines(products), campaign_code, zone))


@bt.pattern("Get Order", index="Main table")
def get_order(tenant_id: values.TenantId, order_id: values.OrderId) -> bt.Steps[Order]:
    """strongly consistent"""
    key = Order.key(tenant_id, order_id)
    order = yield from bt.get(key, consistent=True, missing=errors.UnknownOrder)
    if not order.active:
        raise errors.UnknownOrder
    return order


@bt.pattern("List Orders of Tenant", index="Main table")
def list_orders(
    tenant_id: values.TenantId, *, limit: int = records.PAGE, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Order]]:
    """newest first, paged; those made before it registered too

    Those that were handed over to another tenant are left out.
    """
    own = Order.within("main", tenant_id=values.checked_tenant_id(tenant_id))
    page = yield from bt.query(
        own,
        newest_first=True,
        limit=records.checked_size(limit),
        after=after,
        consistent=True,
        filter=records.IS_ACTIVE,
    )
    return page


# Plans


@dataclass(frozen=True, slots=True)
class Plan:
    """A product that a tenant has ordered: how many, at which price, and since when."""

    product_id: str
    product_name: str
    unit_price: Decimal
    billing_cycle: values.BillingCycle
    quantity: int
    since: datetime

    @property
    def monthly(self) -> Decimal:
        """The cost per month; a twelfth of a yearly price, to the cent."""
        amount = self.quantity * self.unit_price
        if self.billing_cycle is values.BillingCycle.MONTHLY:
            return amount
        return (amount / MONTHS).quantize(values.CENT, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of a tenant; `is_complete` is whether all of its orders were read."""

    plans: list[Plan]
    is_complete: bool

    @property
    def monthly(self) -> Decimal:
        return sum((plan.monthly for plan in self.plans), Decimal(0))


@bt.pattern("List Plans of Tenant", index="Main table, products")
def list_plans(tenant_id: values.TenantId) -> bt.Steps[Plans]:
    """what its orders add up to, by product and price; of the newest thousand orders"""
    orders, is_complete = yield from newest_orders(tenant_id)
    items = [(order, item) for order in reversed(orders) if order.active for item in order.items]
    cycles = yield from present_cycles({item.product_id for _, item in items})
    plans: dict[tuple[object, ...], Plan] = {}
    for order, item in items:
        cycle = item.billing_cycle or cycles.get(item.product_id, values.BillingCycle.MONTHLY)
        key = (item.product_id, item.unit_price, cycle)
        plans[key] = add_item(plans.get(key), item, cycle, order.date_created)
    return Plans(list(plans.values()), is_complete)


def add_item(
    plan: Plan | None, item: OrderItem, cycle: values.BillingCycle, ordered_at: datetime
) -> Plan:
    """The plan with an item's quantity added, or a new one."""
    if plan is not None:
        return replace(plan, quantity=plan.quantity + item.quantity)
    return Plan(
        item.product_id, item.product_name, item.unit_price, cycle, item.quantity, ordered_at
    )


def newest_orders(tenant_id: str) -> bt.Steps[tuple[list[Order], bool]]:
    """The newest orders of a tenant, newest first, and whether these are all."""
    found: list[Order] = []
    after: bt.Position | None = None
    while len(found) < MOST_ORDERS:
        page = yield from list_orders(tenant_id, limit=records.MOST_ON_A_PAGE, after=after)
        found += page
        after = page.position
        if after is None:
            return found, True
    return found, False


def present_cycles(product_ids: Iterable[str]) -> bt.Steps[dict[str, values.BillingCycle]]:
    """The current billing cycles of products, for orders that do not have them."""
    products = yield from bt.get_many([Product.key(each) for each in sorted(product_ids)])
    return {product.id: product.billing_cycle for product in products if product is not None}


# Creating an order


def checked_lines(products: object) -> dict[str, int]:
    """The quantity of each product, checked as far as possible before any is read."""
    if not isinstance(products, Mapping) or not 1 <= len(products) <= design.MOST_LINES:
        raise errors.LinesRefused
    for quantity in products.values():
        if isinstance(quantity, bool) or not isinstance(quantity, int):
            raise errors.LinesRefused
        if not 1 <= quantity <= design.MOST_PIECES:
            raise errors.LinesRefused
    return dict(products)


def find_placed_order(tenant_id: str, order_id: str | None) -> bt.Steps[Order | None]:
    """The order with this id, if it exists already."""
    if order_id is None:
        return None
    return (yield from bt.get(Order.key(tenant_id, order_id), consistent=True))


def make_quote(lines: Mapping[str, int], code: str | None, zone: tzinfo) -> bt.Steps[Quote]:
    """The quote, from the products and the campaign as they are now."""
    code = None if code is None else values.campaign_code_of(code)
    products = yield from available(lines)
    campaign = None
    if code is not None:
        campaign = yield from valid_campaign(code, (yield from today(zone)), products)
    items = [item_of(product, lines[product.id], campaign) for product in products.values()]
    return Quote(products, items, campaign)


def try_order(
    tenant_id: str, quote: Quote, order_id: str | None, along: Along | None
) -> bt.Steps[Order]:
    """One attempt, from the tenant as it is now, and the products and campaign as just read."""
    found = yield from bt.get(Tenant.key(tenant_id), consistent=True, missing=errors.UnknownTenant)
    tenant = orderly(found)
    moment = yield from bt.now()
    order = Order(
        id=order_id or (yield from make_order_id()),
        tenant_id=tenant.id,
        items=quote.items,
        campaign=snapshot(quote.campaign, quote.products) if quote.campaign else None,
        total=quote.total,
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=tenant.id,
    )
    others = (yield from along(order, tenant)) if along else ()
    checks = still_so(tenant, quote.products, quote.campaign)
    return (yield from create_record(order, checks=(*checks, *others)))


def available(lines: Mapping[str, int]) -> bt.Steps[dict[str, Product]]:
    """The products that are ordered; all must be on sale."""
    found = yield from bt.get_many([Product.key(line) for line in lines], consistent=True)
    products = {product.id: product for product in found if product is not None}
    if len(products) < len(lines):
        raise errors.UnknownProduct
    if not all(product.active for product in products.values()):
        raise errors.ProductUnavailable
    return products


def valid_campaign(code: str, day: date, products: Mapping[str, Product]) -> bt.Steps[Campaign]:
    """The campaign, which must be valid today and for one of the products."""
    campaign = yield from bt.get(
        Campaign.key(code), consistent=True, missing=errors.UnknownCampaign
    )
    if not is_valid(campaign, day):
        raise errors.CampaignNotValid
    if campaign.product_id not in products:
        raise errors.CampaignElsewhere
    return campaign


def item_of(product: Product, quantity: int, campaign: Campaign | None) -> OrderItem:
    price = product.price
    if campaign is not None and campaign.product_id == product.id:
        price = discounted_price(price, campaign.discount_percentage)
    return OrderItem(
        product_id=product.id,
        product_name=product.name,
        quantity=quantity,
        unit_price=price,
        billing_cycle=product.billing_cycle,
    )


def snapshot(campaign: Campaign, products: Mapping[str, Product]) -> design.CampaignSnapshot:
    price = products[campaign.product_id].price
    return design.CampaignSnapshot(
        **campaign.__dict__,
        is_valid=True,
        original_price=price,
        discounted_price=discounted_price(price, campaign.discount_percentage),
    )


def still_so(
    tenant: Tenant, products: Mapping[str, Product], campaign: Campaign | None
) -> tuple[bt.Write[Any], ...]:
    """Checks that the tenant may still order, and that products and campaign are unchanged."""
    may_order = records.IS_ACTIVE & (bt.attr("status") != values.Status.SUSPENDED)
    ordered: list[design.Record] = [*products.values(), *([campaign] if campaign else [])]
    return (
        bt.check(tenant.own_key(), if_exists=Overtaken, when=may_order, otherwise=Overtaken),
        *(
            bt.check(
                record.own_key(),
                if_exists=Overtaken,
                when=bt.unchanged(record),
                otherwise=Overtaken,
            )
            for record in ordered
        ),
    )
