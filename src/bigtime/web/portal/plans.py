"""Plans: the pricing page, the page of each campaign, and the checkout.

The checkout is one page with one form, so that every button sends the choice as typed. The choice
is in its URL, so that it can be shared, or returned to after the mailbox check. A visitor who is
not identified as a customer enters an e-mail address first; a customer sees the order button. The
form has the order's id, so that a form sent twice orders once, and the total that was shown: if the
total has changed, nothing is ordered.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Annotated, Final
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from bigtime import site
from bigtime.model import DomainError, Malformed, Position
from bigtime.model import Page as Found
from bigtime.systems import portal
from bigtime.web import pages
from bigtime.web.http import TooManyTries, redirect_to_canonical, see_other
from bigtime.web.pages import AppRequest, page_router
from bigtime.web.portal.customer import Customer, customer_of, tenant_of_customer
from bigtime.web.portal.mailbox import begin_confirmation
from bigtime.wire import Steps

plans = page_router()

CHECKOUT: Final = "/portal/checkout"
OF_CAMPAIGN: Final = (portal.UnknownCampaign, portal.CampaignNotValid, portal.CampaignElsewhere)
OF_PRODUCT: Final = (portal.UnknownProduct, portal.ProductUnavailable)
OF_ORDER: Final = (portal.TotalMoved, portal.TenantSuspended, portal.TenantDeleted)
MOST_ON_OFFER: Final = 100


# Products and campaigns


@plans.get("/pricing")
async def show_pricing(request: AppRequest, after: str | None = None) -> Response:
    """The products that can be ordered, with the offers of today."""
    zone = request.context.plan_shop.zone

    async def make() -> tuple[pages.Page, Collection[str]]:
        found, offers = await request.run(read_pricing(request.read_cursor(after), zone))
        page = request.context.templates.page(
            "portal/pricing.html",
            products=found.items,
            offers=offers,
            after=request.write_cursor(found.position),
            is_first=after is None,
        )
        return page, (site.PRICING, site.CAMPAIGNS)

    seconds = seconds_of_today(request.context, zone)
    return await request.cached_page(make, after=after, seconds=seconds)


def read_pricing(
    after: Position | None, zone: tzinfo
) -> Steps[tuple[Found[portal.Product], dict[str, portal.Offer]]]:
    """A page of products, and today's best offer for each, by its id."""
    products = yield from portal.list_products(after=after)
    running = yield from portal.list_campaigns(valid_only=True, limit=MOST_ON_OFFER, zone=zone)
    best: dict[str, portal.Offer] = {}
    for offer in sorted(running, key=lambda offer: offer.campaign.discount_percentage):
        if offer.discounted_price is not None:
            best[offer.campaign.product_id] = offer
    return products, best


@plans.get("/campaigns/{code}")
async def show_campaign(request: AppRequest, code: str) -> Response:
    """A campaign, and what its product costs with it; or that it is over, or still to come.

    One that was archived is like one that never was: it cannot be had.
    """
    zone = request.context.plan_shop.zone

    async def make() -> tuple[pages.Page, Collection[str]]:
        offer = await request.run(portal.get_campaign(code, zone=zone))
        is_to_come = (
            request.context.store.clock().astimezone(zone).date() < offer.campaign.from_date
        )
        page = request.context.templates.page(
            "portal/campaign.html", offer=offer, is_to_come=is_to_come
        )
        return page, (site.campaign_tag(code), site.product_tag(offer.campaign.product_id))

    try:
        key = portal.campaign_code_of(code)
        if key != code:
            return redirect_to_canonical("/campaigns/", key)
        return await request.cached_page(make, seconds=seconds_of_today(request.context, zone))
    except portal.UnknownCampaign:
        return await request.page("portal/campaign.html", status=404, offer=None)


def seconds_of_today(context: pages.AppContext, zone: tzinfo) -> float:
    """How long to cache a page that is different tomorrow, up to the usual time."""
    now = context.store.clock().astimezone(zone)
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), zone)
    left = (midnight - now).total_seconds()
    return left if context.cache.seconds is None else min(left, context.cache.seconds)


# Checkout


class InvalidQuantity(Malformed):
    """Enter a number from 1 to 1,000."""


def quantity_of(text: object) -> object:
    if isinstance(text, str):
        is_number = text.isascii() and text.isdigit() and len(text) < 9
        if not is_number or not 1 <= int(text) <= portal.MOST_PIECES:
            raise InvalidQuantity
    return text


class Choice(BaseModel):
    """What is to be ordered."""

    product: str
    quantity: Annotated[int, BeforeValidator(quantity_of)] = 1
    campaign: str | None = Field(default=None, max_length=50)

    def plan_choice(self, total: Decimal | None = None) -> site.PlanChoice:
        return site.PlanChoice({self.product: self.quantity}, self.campaign, total)

    @property
    def address(self) -> str:
        query = {"product": self.product, "quantity": self.quantity, "campaign": self.campaign}
        return f"{CHECKOUT}?{urlencode({name: value for name, value in query.items() if value})}"


class OrderForm(Choice):
    """The form that orders."""

    order_id: portal.OrderId
    total: portal.Total
    again: str = ""
    """The id of an order of the same products, which the customer was shown."""


class Buyer(BaseModel):
    """The form of a buyer who is not known yet."""

    email: portal.Email


@plans.get(CHECKOUT)
async def show_checkout(request: AppRequest) -> Response:
    """What is chosen, and what it costs now."""
    visitor = await request.visitor()
    usual = {"quantity": "1", "email": visitor.login if visitor else ""}
    typed = {**usual, **request.query_params}
    if "product" not in typed:
        return await checkout_page(request, pages.SubmittedForm(typed))
    form = pages.check_form(Choice, typed)
    return await checkout_page(request, form)


@plans.post(f"{CHECKOUT}/price")
async def update_price(request: AppRequest) -> Response:
    """To the page of what is chosen now."""
    typed = await request.read_fields()
    form = pages.check_form(Choice, typed)
    if form.value is None:
        return await checkout_page(request, form)
    return see_other(form.value.address)


@plans.post(f"{CHECKOUT}/email")
async def give_address(request: AppRequest) -> Response:
    """Creates a tenant for the address, unless it has one, and mails a code there."""
    typed = await request.read_fields()
    form, buyer = pages.check_form(Choice, typed), pages.check_form(Buyer, typed)
    form.wrong |= buyer.wrong
    if form.value is None or buyer.value is None:
        return await checkout_page(request, form)
    try:
        return await begin_confirmation(
            request, buyer.value.email, form.value.address, ordering=True
        )
    except TooManyTries as error:
        return await checkout_page(request, form.refuse(error))


@plans.post(f"{CHECKOUT}/order")
async def place_order(request: AppRequest) -> Response:
    """Orders; the same form sent again shows the same order."""
    typed = await request.read_fields()
    form = pages.check_form(OrderForm, typed)
    customer = await customer_of(request)
    if form.value is None or customer is None:
        form.shown_as = 422
        return await checkout_page(request, form)
    try:
        await request.count_try("plan checkout")
        await request.context.count_try_of("order", customer.tenant_id)
    except TooManyTries as error:
        return await checkout_page(request, form.refuse(error))
    sent = form.value
    earlier = await find_same_order(request, customer, sent, order_id=sent.order_id)
    if earlier is not None and sent.again != earlier.id:
        form.shown_as = 409
        return await checkout_page(request, form)
    steps = site.order_plan(
        request.context.plan_shop,
        customer.tenant_id,
        sent.plan_choice(sent.total),
        order_id=sent.order_id,
    )
    try:
        order = await request.run(steps)
    except (*OF_CAMPAIGN, *OF_PRODUCT, *OF_ORDER) as error:
        return await checkout_page(request, form, refused=error)
    return see_other(f"/portal/orders/{order.id}?placed=yes")


# The checkout page


@dataclass(frozen=True, slots=True)
class CheckoutView:
    """The products to choose from, and the choice, with a new id for its order."""

    products: list[portal.Product]
    quote: portal.Quote | None
    order_id: str
    refused: DomainError | None


def read_checkout(choice: Choice | None, ordering: site.PlanShop) -> Steps[CheckoutView]:
    products = yield from portal.list_products(limit=MOST_ON_OFFER)
    order_id = yield from portal.make_order_id()
    quote, refused = None, None
    if choice is not None:
        try:
            quote = yield from quote_choice(choice, ordering)
        except (*OF_CAMPAIGN, *OF_PRODUCT) as error:
            refused = error
    return CheckoutView(products.items, quote, order_id, refused)


def quote_choice(choice: Choice, ordering: site.PlanShop) -> Steps[portal.Quote]:
    wanted = choice.plan_choice()
    return (yield from portal.quote_order(wanted.products, wanted.campaign, zone=ordering.zone))


async def checkout_page(
    request: AppRequest, form: pages.AnyForm, *, refused: DomainError | None = None
) -> Response:
    """The checkout page; without the order button if the choice has an error."""
    choice = pages.check_form(Choice, form.typed).value
    found = await request.run(read_checkout(choice, request.context.plan_shop))
    wrong = refused if isinstance(refused, OF_ORDER) else found.refused or refused
    if wrong is not None:
        form.refuse(wrong, field_of(wrong))
    customer = await customer_of(request)
    tenant = await tenant_of_customer(request, customer) if customer else None
    earlier = await find_same_order(request, customer, choice) if customer and choice else None
    return await request.form_page(
        "portal/checkout.html",
        form=form,
        checkout=found,
        plans=[(product.id, plan_label(product)) for product in found.products],
        choice=choice,
        tenant=tenant,
        has_account=customer is not None and customer.has_account,
        is_closed=tenant is not None and is_closed(tenant),
        earlier=earlier,
        ago=time_since(earlier.date_created, request.context.store.clock()) if earlier else "",
    )


async def find_same_order(
    request: AppRequest, customer: Customer, choice: Choice, *, order_id: str | None = None
) -> portal.Order | None:
    """The customer's recent order of the same products, if any: the form may be sent by mistake.

    If a browser sends the form of an order again, that is not a second one.
    """
    placed = await request.run(portal.find_placed_order(customer.tenant_id, order_id))
    if placed is not None:
        return None
    wanted = choice.plan_choice()
    return await request.run(site.find_same_order(customer.tenant_id, wanted, order_id=order_id))


def time_since(moment: datetime, now: datetime) -> str:
    minutes = int((now - moment).total_seconds()) // 60
    if minutes < 1:
        return "less than a minute ago"
    return "a minute ago" if minutes == 1 else f"{minutes} minutes ago"


def is_closed(tenant: portal.Tenant) -> bool:
    """Whether a customer cannot order."""
    try:
        portal.orderly(tenant)
    except (portal.TenantSuspended, portal.TenantDeleted):
        return True
    return False


def plan_label(product: portal.Product) -> str:
    cycle = "a month" if product.billing_cycle == portal.BillingCycle.MONTHLY else "a year"
    return f"{product.name}, {site.money(product.price, site.RAND)} {cycle}"


def field_of(error: DomainError) -> str | None:
    if isinstance(error, OF_CAMPAIGN):
        return "campaign"
    return "product" if isinstance(error, OF_PRODUCT) else None
