"""Ordering a plan: what it costs, who orders it, and the button that does.

One page does it all. What is chosen stands in its address, so that it can be changed, sent to
somebody, or come back to with a code. Who is not known yet gives an e-mail address; who is, sees
the button. The form has the order's id, so that one that is sent twice orders once, and the total
that was shown: if it is another by then, nothing is ordered.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.site import RAND, PlanChoice, PlanShop, money, order_plan
from bigtime.systems import portal
from bigtime.web.http import TooManyTries, see_other, status_of
from bigtime.web.pages import (
    SubmittedForm,
    check_form,
    context_of,
    ordering_of,
    read_fields,
    typed_fields,
    with_retry_after,
)
from bigtime.web.portal.confirm import begin_confirmation
from bigtime.web.portal.customer import customer_of, tenant_of_customer
from bigtime.wire import Steps

checkout = APIRouter(include_in_schema=False)

CHECKOUT: Final = "/portal/checkout"
OF_CAMPAIGN: Final = (portal.UnknownCampaign, portal.CampaignNotValid, portal.CampaignElsewhere)
OF_PRODUCT: Final = (portal.UnknownProduct, portal.ProductUnavailable)
OF_ORDER: Final = (portal.TotalMoved, portal.TenantSuspended, portal.TenantDeleted)
MOST_ON_OFFER: Final = 100


def whole_number(text: Any) -> Any:
    if isinstance(text, str) and not (text.isascii() and text.isdigit() and len(text) < 9):
        raise portal.LinesRefused
    return text


class Choice(BaseModel):
    """What somebody wants to order."""

    product: str
    quantity: Annotated[int, Field(ge=1, le=portal.MOST_PIECES), BeforeValidator(whole_number)] = 1
    campaign: str | None = Field(default=None, max_length=50)

    def wanted(self, total: Decimal | None = None) -> PlanChoice:
        return PlanChoice({self.product: self.quantity}, self.campaign, total)

    @property
    def address(self) -> str:
        told = {"product": self.product, "quantity": self.quantity, "campaign": self.campaign}
        return f"{CHECKOUT}?{urlencode({name: one for name, one in told.items() if one})}"


class OrderForm(Choice):
    """The form that orders."""

    order_id: portal.OrderId
    total: portal.Total


class Buyer(BaseModel):
    """The form of somebody who is not known yet."""

    email: portal.Email


@checkout.get(CHECKOUT)
async def show_checkout(request: Request) -> Response:
    """What is chosen, and what it costs now."""
    visitor = await context_of(request).visitor(request)
    usual = {"quantity": "1", "email": visitor.login if visitor else ""}
    typed = {**usual, **request.query_params}
    if "product" not in typed:
        return await checkout_page(request, SubmittedForm(typed))
    form = check_form(Choice, typed)
    return await checkout_page(request, form, status=200 if form.value else 422)


@checkout.post(f"{CHECKOUT}/email")
async def give_address(request: Request) -> Response:
    """Makes a tenant of an address, if it is none, and mails it a code."""
    typed = typed_fields(await read_fields(request, context_of(request)))
    form, buyer = check_form(Choice, typed), check_form(Buyer, typed)
    form.wrong |= buyer.wrong
    if form.value is None or buyer.value is None:
        return await checkout_page(request, form, status=422)
    try:
        return await begin_confirmation(
            request, buyer.value.email, form.value.address, ordering=True
        )
    except TooManyTries as error:
        form.refuse(error)
        return with_retry_after(await checkout_page(request, form, status=429), error)


@checkout.post(f"{CHECKOUT}/order")
async def place_order(request: Request) -> Response:
    """Orders; the same form sent again shows the same order."""
    context = context_of(request)
    typed = typed_fields(await read_fields(request, context))
    form = check_form(OrderForm, typed)
    customer = await customer_of(request)
    if form.value is None or customer is None:
        return await checkout_page(request, form, status=422)
    try:
        context.count_try("plan checkout", request)
    except TooManyTries as error:
        form.refuse(error)
        return with_retry_after(await checkout_page(request, form, status=429), error)
    sent = form.value
    steps = order_plan(
        ordering_of(context), customer.tenant_id, sent.wanted(sent.total), order_id=sent.order_id
    )
    try:
        order = await context.store.run(steps)
    except (*OF_CAMPAIGN, *OF_PRODUCT, *OF_ORDER) as error:
        return await checkout_page(request, form, refused=error)
    return see_other(f"/portal/orders/{order.id}?placed=yes")


# What is shown


@dataclass(frozen=True, slots=True)
class CheckoutView:
    """What there is to choose from, and what is chosen, with a new id for its order."""

    products: list[portal.Product]
    quote: portal.Quote | None
    order_id: str
    refused: DomainError | None


def read_checkout(choice: Choice | None, ordering: PlanShop) -> Steps[CheckoutView]:
    products = yield from portal.list_products(limit=MOST_ON_OFFER)
    order_id = yield from portal.make_order_id()
    quote, refused = None, None
    if choice is not None:
        try:
            quote = yield from quote_choice(choice, ordering)
        except (*OF_CAMPAIGN, *OF_PRODUCT) as error:
            refused = error
    return CheckoutView(products.items, quote, order_id, refused)


def quote_choice(choice: Choice, ordering: PlanShop) -> Steps[portal.Quote]:
    wanted = choice.wanted()
    return (yield from portal.quote_order(wanted.products, wanted.campaign, zone=ordering.zone))


async def checkout_page(
    request: Request,
    form: SubmittedForm[Any],
    *,
    status: int = 200,
    refused: DomainError | None = None,
) -> Response:
    """The page; what is wrong with the choice stands beside it, and then there is no button."""
    context = context_of(request)
    choice = check_form(Choice, form.typed).value
    found = await context.store.run(read_checkout(choice, ordering_of(context)))
    wrong = refused if isinstance(refused, OF_ORDER) else found.refused or refused
    if wrong is not None:
        form.refuse(wrong, field_of(wrong))
        status = status_of(wrong) if isinstance(wrong, OF_ORDER) else 422
    customer = await customer_of(request)
    tenant = await tenant_of_customer(request, customer) if customer else None
    return await context.form_page(
        request,
        "portal/checkout.html",
        status=status,
        form=form,
        shown=found,
        plans=[(product.id, plan_label(product)) for product in found.products],
        choice=choice,
        tenant=tenant,
        has_account=customer is not None and customer.has_account,
        is_closed=tenant is not None and is_closed(tenant),
    )


def is_closed(tenant: portal.Tenant) -> bool:
    """Whether a customer cannot order."""
    try:
        portal.orderly(tenant)
    except (portal.TenantSuspended, portal.TenantDeleted):
        return True
    return False


def plan_label(product: portal.Product) -> str:
    cycle = "a month" if product.billing_cycle == portal.BillingCycle.MONTHLY else "a year"
    return f"{product.name}, {money(product.price, RAND)} {cycle}"


def field_of(error: DomainError) -> str | None:
    if isinstance(error, OF_CAMPAIGN):
        return "campaign"
    return "product" if isinstance(error, OF_PRODUCT) else None
