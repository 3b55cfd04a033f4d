"""Orders of hosting plans, each in one transaction with its confirmation mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any, Final

from bigtime import model as bt
from bigtime.site.letters import order_letter
from bigtime.site.mail import draft_mail
from bigtime.site.mailbox_check import SAMPLE_CODES, Codes, redeem_code_by_email
from bigtime.systems import portal
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """The products to order and how many of each; `total` is the price that was shown."""

    products: Mapping[str, int]
    campaign: str | None = None
    total: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PlanShop:
    """The time zone of the days on which campaigns begin and end, and the site's address."""

    zone: tzinfo
    base_url: str


CHOICE: Final = {"choice": PlanChoice({portal.example_of("prod"): 1})}
SAMPLE: Final = {"shop": PlanShop(UTC, "https://example.com"), **CHOICE}


RECENT: Final = timedelta(hours=1)
LOOKED_AT: Final = 10


@bt.pattern("Find recent Order of the same Plan", index="Main table", sample=CHOICE)
def find_same_order(
    tenant_id: portal.TenantId, choice: PlanChoice, *, order_id: str | None = None
) -> Steps[portal.Order | None]:
    """An order of the same products and campaign in the last hour, among the newest ten.

    `order_id` is the order that is being placed: it is no second one.
    """
    since = (yield from bt.now()) - RECENT
    newest = yield from portal.list_orders(tenant_id, limit=LOOKED_AT)
    wanted = dict(choice.products), choice.campaign and choice.campaign.upper()
    for order in newest:
        products = {item.product_id: item.quantity for item in order.items}
        same = (products, order.campaign and order.campaign.code) == wanted
        if same and order.date_created >= since and order.id != order_id:
            return order
    return None


@bt.pattern("Order Plan", index="Main table", sample=SAMPLE)
def order_plan(
    shop: PlanShop,
    tenant_id: portal.TenantId,
    choice: PlanChoice,
    *,
    order_id: portal.OrderId | None = None,
) -> Steps[portal.Order]:
    """One transaction: the order and the mail that confirms it.

    The same `order_id` again gives the same order.
    """
    return (
        yield from portal.place_order(
            tenant_id,
            choice.products,
            choice.campaign,
            order_id=order_id,
            total=choice.total,
            along=partial(confirmation_writes, shop),
            zone=shop.zone,
        )
    )


def confirmation_writes(
    shop: PlanShop, order: portal.Order, tenant: portal.Tenant
) -> Steps[tuple[bt.Write[Any], ...]]:
    letter = order_letter(order, f"{shop.base_url}/portal/orders/{order.id}")
    mail = yield from draft_mail(f"order-confirmation {order.id}", tenant.email, *letter)
    return (bt.create(mail, unless_exists=portal.IdTaken),)


@bt.pattern(
    "Order Plan with Code",
    index="Main table",
    sample={**SAMPLE, "codes": SAMPLE_CODES, "code": "123456"},
)
def order_plan_with_code(
    shop: PlanShop,
    codes: Codes,
    email: portal.Email,
    code: str,
    choice: PlanChoice,
    *,
    check_id: str | None = None,
) -> Steps[portal.Order]:
    """For the tenant of the address that the code was mailed to, in the check that it belongs to.

    A choice that cannot be ordered is refused before the code is used up. An exact replay finds
    the order it has made, and needs no code.
    """
    order_id = yield from portal.make_order_id()
    tenant = yield from portal.tenant_of(email)
    earlier = (yield from portal.find_placed_order(tenant.id, order_id)) if tenant else None
    if earlier is not None:
        return earlier
    quote = yield from portal.quote_order(choice.products, choice.campaign, zone=shop.zone)
    if choice.total not in (None, quote.total):
        raise portal.TotalMoved
    tenant_id = yield from redeem_code_by_email(codes, email, code, check_id=check_id)
    return (yield from order_plan(shop, tenant_id, choice, order_id=order_id))
