"""Orders: what a tenant buys, at the prices of the moment.

An order holds copies: the name and the unit price of each product, the discount taken off, and the
campaign as it was. The transaction that makes it goes through only if tenant, products and
campaign are still what the order was made from; else it is made again from what they are then.

An order's id sorts by time. Who may have to repeat an order that failed halfway makes the id first
and gives it each time: there will be one order.

A quote is what an order would be at this moment, by the same rules. Who has shown one to somebody
gives its total with the order: if it would be another by now, nothing is ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from decimal import Decimal
from typing import Any, Final, TypeAlias

from bigtime.model import (
    Conflict,
    Page,
    Position,
    Write,
    attr,
    check,
    get,
    get_many,
    now,
    pattern,
    query,
    random_bytes,
)
from bigtime.systems.portal.checkout import orderly
from bigtime.systems.portal.design import (
    MOST_LINES,
    MOST_PIECES,
    Campaign,
    CampaignSnapshot,
    Order,
    OrderItem,
    Product,
    Record,
    Tenant,
)
from bigtime.systems.portal.errors import (
    CampaignElsewhere,
    CampaignNotValid,
    IdTaken,
    LinesRefused,
    ProductUnavailable,
    TotalMoved,
    UnknownCampaign,
    UnknownOrder,
    UnknownProduct,
    UnknownTenant,
)
from bigtime.systems.portal.history import TRIES, Overtaken, create_record, is_unchanged
from bigtime.systems.portal.offers import discounted_price, is_valid, today
from bigtime.systems.portal.paging import IS_ACTIVE, PAGE, checked_size
from bigtime.systems.portal.values import (
    AskedCode,
    OrderId,
    ProductId,
    Status,
    TenantId,
    asked_campaign_code,
    checked_tenant_id,
    example_of,
    timed_id,
)
from bigtime.wire import Steps

ONE_OF_IT: Final = {"products": {example_of("prod"): 1}}

Along: TypeAlias = Callable[[Order, Tenant], Steps[tuple[Write[Any], ...]]]
"""The writes of other tables that belong to an order, such as a letter to its tenant."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What an order would be now: its products with their prices, and the campaign, if any."""

    products: Mapping[str, Product]
    items: list[OrderItem]
    campaign: Campaign | None

    @property
    def total(self) -> Decimal:
        return sum((item.quantity * item.unit_price for item in self.items), Decimal(0))


@pattern("Make Order Id", index="N/A")
def make_order_id() -> Steps[str]:
    """before an order that may have to be repeated"""
    return timed_id("order", (yield from now()), (yield from random_bytes(16)))


@pattern("Place Order", index="Main table", sample=ONE_OF_IT)
def place_order(
    tenant_id: TenantId,
    products: Mapping[ProductId, int],
    campaign_code: AskedCode | None = None,
    *,
    order_id: OrderId | None = None,
    total: Decimal | None = None,
    along: Along | None = None,
    zone: tzinfo = UTC,
) -> Steps[Order]:
    """holds copies of prices and campaign; tenant, products and campaign must all be in force

    `total` is what somebody has seen that it costs. `along` is done with it, or nothing is.
    """
    lines = checked_lines(products)
    for _ in range(TRIES):
        made = yield from made_before(tenant_id, order_id)
        if made is not None:
            return made
        quote = yield from make_quote(lines, campaign_code, zone)
        if total is not None and total != quote.total:
            raise TotalMoved
        try:
            return (yield from try_order(tenant_id, quote, order_id, along))
        except Overtaken:
            continue
        except IdTaken:
            made = yield from made_before(tenant_id, order_id)
            if made is None:
                raise
            return made
    raise Conflict


@pattern("Quote Order", index="Main table", sample=ONE_OF_IT)
def quote_order(
    products: Mapping[ProductId, int],
    campaign_code: AskedCode | None = None,
    *,
    zone: tzinfo = UTC,
) -> Steps[Quote]:
    """what an order would cost at this moment, by the same rules"""
    return (yield from make_quote(checked_lines(products), campaign_code, zone))


@pattern("Get Order", index="Main table")
def get_order(tenant_id: TenantId, order_id: OrderId) -> Steps[Order]:
    """strongly consistent"""
    key = Order.key(tenant_id, order_id)
    return (yield from get(key, consistent=True, missing=UnknownOrder))


@pattern("List Orders of Tenant", index="Main table")
def list_orders(
    tenant_id: TenantId, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[Order]]:
    """newest first, paged; those made before it registered too"""
    own = Order.within("main", tenant_id=checked_tenant_id(tenant_id))
    return (
        yield from query(
            own, newest_first=True, limit=checked_size(limit), after=after, consistent=True
        )
    )


# Making one


def checked_lines(products: Any) -> dict[str, int]:
    """How many of each product, as far as that can be judged before any is read."""
    if not isinstance(products, Mapping) or not 1 <= len(products) <= MOST_LINES:
        raise LinesRefused
    for quantity in products.values():
        if isinstance(quantity, bool) or not isinstance(quantity, int):
            raise LinesRefused
        if not 1 <= quantity <= MOST_PIECES:
            raise LinesRefused
    return dict(products)


def made_before(tenant_id: str, order_id: str | None) -> Steps[Order | None]:
    """The order of this id, if it was made already."""
    if order_id is None:
        return None
    return (yield from get(Order.key(tenant_id, order_id), consistent=True))


def make_quote(lines: Mapping[str, int], code: str | None, zone: tzinfo) -> Steps[Quote]:
    """What it would be, from what products and campaign are now."""
    asked = None if code is None else asked_campaign_code(code)
    products = yield from available(lines)
    campaign = None
    if asked is not None:
        campaign = yield from valid_campaign(asked, (yield from today(zone)), products)
    items = [item_of(product, lines[product.id], campaign) for product in products.values()]
    return Quote(products, items, campaign)


def try_order(
    tenant_id: str, quote: Quote, order_id: str | None, along: Along | None
) -> Steps[Order]:
    """One attempt, from what the tenant is now, and what products and campaign were just now."""
    found = yield from get(Tenant.key(tenant_id), consistent=True, missing=UnknownTenant)
    tenant = orderly(found)
    moment = yield from now()
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


def available(lines: Mapping[str, int]) -> Steps[dict[str, Product]]:
    """The products that are ordered, all of which must be on offer."""
    found = yield from get_many([Product.key(line) for line in lines], consistent=True)
    products = {one.id: one for one in found if one is not None}
    if len(products) < len(lines):
        raise UnknownProduct
    if not all(product.active for product in products.values()):
        raise ProductUnavailable
    return products


def valid_campaign(code: str, day: date, products: Mapping[str, Product]) -> Steps[Campaign]:
    """A campaign that holds today, for one of the products."""
    campaign = yield from get(Campaign.key(code), consistent=True, missing=UnknownCampaign)
    if not is_valid(campaign, day):
        raise CampaignNotValid
    if campaign.product_id not in products:
        raise CampaignElsewhere
    return campaign


def item_of(product: Product, quantity: int, campaign: Campaign | None) -> OrderItem:
    price = product.price
    if campaign is not None and campaign.product_id == product.id:
        price = discounted_price(price, campaign.discount_percentage)
    return OrderItem(
        product_id=product.id, product_name=product.name, quantity=quantity, unit_price=price
    )


def snapshot(campaign: Campaign, products: Mapping[str, Product]) -> CampaignSnapshot:
    price = products[campaign.product_id].price
    return CampaignSnapshot(
        **campaign.__dict__,
        is_valid=True,
        original_price=price,
        discounted_price=discounted_price(price, campaign.discount_percentage),
    )


def still_so(
    tenant: Tenant, products: Mapping[str, Product], campaign: Campaign | None
) -> tuple[Write[Any], ...]:
    """What must not have changed while the order was made."""
    may_order = IS_ACTIVE & (attr("status") != Status.SUSPENDED)
    records: list[Record] = [*products.values(), *([campaign] if campaign else [])]
    return (
        check(tenant.own_key(), if_exists=Overtaken, when=may_order, otherwise=Overtaken),
        *(
            check(
                record.own_key(),
                if_exists=Overtaken,
                when=is_unchanged(record),
                otherwise=Overtaken,
            )
            for record in records
        ),
    )
