"""`/v1.0/checkout`: ordering, with a code from the mailbox or while signed in.

No response reveals whether an address is a customer's: requesting a code, and sending a wrong one,
get the same response for every address.
"""

from __future__ import annotations

from typing import Annotated, Final, Self

from fastapi import BackgroundTasks
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from bigtime import site
from bigtime.model import NotSignedIn
from bigtime.systems import portal
from bigtime.web.api.bodies import RequestBody, ResponseBody, example, examples
from bigtime.web.api.dependencies import OPEN, CheckoutCaller
from bigtime.web.api.idempotency import Idempotency, IdempotencyKey
from bigtime.web.api.portal_tenants import OrderShown
from bigtime.web.api.routing import PortalRouter, error_responses, header
from bigtime.web.http import NotAllowed
from bigtime.web.pages import AppRequest, count_code, place_of
from bigtime.wire import Steps

checkout = PortalRouter("checkout")

CODE_ID: Final = "X-Code-Id"
SENT: Final = "If this address can be used here, a code is on its way."


class NoCustomer(NotAllowed):
    """This account belongs to no customer; order with an e-mail address and its code."""


# Bodies


class AskedItem(RequestBody):
    """A product and its quantity."""

    model_config = example(productId=portal.example_of("prod"), quantity=1)

    product_id: portal.ProductId
    quantity: Annotated[int, Field(strict=True, ge=1, le=portal.MOST_PIECES)] = 1


class CodeAsked(RequestBody):
    """The address that a one-time code is mailed to."""

    model_config = example(email="customer@example.com")

    email: portal.Email


class CodeSent(ResponseBody):
    """The same response for every address."""

    model_config = example(message=SENT)

    message: str


class CheckoutAsked(RequestBody):
    """An order: by an e-mail address with its code, or by the signed-in customer."""

    model_config = examples(
        {
            "email": "customer@example.com",
            "code": "123456",
            "items": [{"productId": portal.example_of("prod"), "quantity": 2}],
            "campaignCode": "SUMMER2025",
            "total": 479.98,
        },
        {"items": [{"productId": portal.example_of("prod"), "quantity": 2}]},
    )

    email: portal.Email | None = None
    code: Annotated[str, Field(max_length=20)] | None = None
    code_id: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description=f"`{CODE_ID}` of the answer to the request for the code. Without it, the code"
        " works from the network that asked for it.",
    )
    items: Annotated[list[AskedItem], Field(min_length=1, max_length=portal.MOST_LINES)]
    campaign_code: portal.AskedCode | None = None
    total: portal.Total | None = Field(
        default=None, description="What it should cost; if it is something else, nothing is done."
    )

    @model_validator(mode="after")
    def check_proof(self) -> Self:
        if (self.email is None) != (self.code is None):
            raise PydanticCustomError("apart", "Give `email` and `code` together.", {"status": 422})
        if self.code_id is not None and self.code is None:
            raise PydanticCustomError("apart", "Give `codeId` with its `code`.", {"status": 422})
        return self


# Ordering


SENT_ID: Final = header("What to send as `codeId` from another network.", type="string")


@checkout.post(
    "/codes",
    status_code=202,
    response_model=CodeSent,
    summary="Ask for a Code",
    responses={**error_responses(400, 422, 429), 202: {"headers": {CODE_ID: SENT_ID}}},
)
async def ask_for_code(
    request: AppRequest, response: Response, tasks: BackgroundTasks, wanted: CodeAsked
) -> CodeSent:
    """Mails a code to an address, and makes it a customer's if it is new.

    The code is good for ten minutes and five tries, and replaces an earlier one requested from the
    same network. It works from that network; from another one, send the `X-Code-Id` of this
    response with it. Codes that others request and try do not affect it.
    """
    await count_code(request, wanted.email)
    codes = request.context.codes
    check_id = codes.program_check_id(wanted.email, request.network)
    steps = site.begin_check(wanted.email, "/portal", check_id=check_id)
    pending = await request.run(steps)
    response.headers[CODE_ID] = pending.check_id
    tasks.add_task(request.run, site.send_code(codes, pending, ordering=True))
    return CodeSent(message=SENT)


@checkout.post(
    "",
    status_code=201,
    response_model=OrderShown,
    summary=portal.place_order.title,
    responses=error_responses(400, 401, 403, 409, 422, 429),
    openapi_extra=OPEN,
)
async def check_out(
    request: AppRequest, caller: CheckoutCaller, wanted: CheckoutAsked, key: IdempotencyKey = None
) -> Response:
    """Places an order at the current prices, and confirms it by e-mail.

    With `email` and `code`, the customer of that address orders; without them, the caller does. The
    order keeps its prices and its campaign as they are now.
    """
    await request.count_try("plan checkout")
    choice = site.PlanChoice(lines_in(wanted.items), wanted.campaign_code, wanted.total)
    if wanted.email is None:
        tenant_id = tenant_of(caller)
        await request.context.count_try_of("order", tenant_id)
        steps = as_customer(request, tenant_id, choice)
    else:
        await request.context.count_try_of("try code to", place_of(request, wanted.email))
        steps = with_code(request, wanted, choice)
    return await Idempotency(request, key, key_owner(caller, wanted)).run(
        lambda: as_rules(steps), lambda order: OrderShown.of(order, to_admin=False)
    )


def key_owner(caller: site.Visitor | None, wanted: CheckoutAsked) -> str:
    """The owner of an Idempotency-Key: an account or a mailbox.

    The code of the mailbox is checked later. A request with a wrong code frees its key again.
    """
    if wanted.email is not None or caller is None:
        return f"mailbox {wanted.email}"
    return caller.login


def with_code(
    request: AppRequest, wanted: CheckoutAsked, choice: site.PlanChoice
) -> Steps[portal.Order]:
    """Orders with a code; the network is then remembered as one of the mailbox's owner."""
    email, codes, network = wanted.email or "", request.context.codes, request.network
    order = yield from site.order_plan_with_code(
        request.context.plan_shop,
        codes,
        email,
        wanted.code or "",
        choice,
        check_id=wanted.code_id or codes.program_check_id(email, network),
    )
    yield from site.remember_network(email, network)
    return order


def as_customer(
    request: AppRequest, tenant_id: str, wanted: site.PlanChoice
) -> Steps[portal.Order]:
    order_id = yield from portal.make_order_id()
    return (
        yield from site.order_plan(request.context.plan_shop, tenant_id, wanted, order_id=order_id)
    )


def as_rules(steps: Steps[portal.Order]) -> Steps[portal.Order]:
    """Turns a missing item that the body names into a broken rule (422): the URL exists."""
    try:
        return (yield from steps)
    except portal.UnknownProduct as error:
        raise portal.ProductUnavailable(str(error)) from None
    except portal.UnknownCampaign as error:
        raise portal.CampaignNotValid(str(error)) from None


def tenant_of(caller: site.Visitor | None) -> str:
    if caller is None:
        raise NotSignedIn("Give an e-mail address and its code, or sign in first.")
    if caller.tenant_id is None:
        raise NoCustomer()
    return caller.tenant_id


def lines_in(items: list[AskedItem]) -> dict[str, int]:
    lines = {item.product_id: item.quantity for item in items}
    if len(lines) < len(items):
        raise portal.LinesRefused("Each product is named once; say how many of it in its quantity.")
    return lines
