"""Orders as the API has them: what was ordered, and what somebody asks for at checkout."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, Self

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from bigtime.systems import portal
from bigtime.web.api.errors import TOLD
from bigtime.web.api.portal_shapes import CREATED, GivenEmail, RecordShown, seen
from bigtime.web.api.shapes import Amount, Asked, Shown, example, examples

TOTAL: Final = {"type": "number", "minimum": 0.01}
GivenTotal = Annotated[portal.Total, TOLD, WithJsonSchema(TOTAL), Field(examples=[479.98])]


class OrderItemShown(Shown):
    """So many of a product, at the price that was paid for each."""

    product_id: str
    product_name: str
    quantity: int
    unit_price: Amount


class SnapshotShown(RecordShown):
    """A campaign as it was when something was ordered with it."""

    code: str
    description: str
    discount_percentage: Amount
    product_id: str
    terms_conditions_link: str
    from_date: date
    to_date: date
    is_valid: bool
    original_price: Amount
    discounted_price: Amount


class OrderShown(RecordShown):
    """What a customer has ordered; nothing changes it afterwards."""

    model_config = example(
        id="order_0190e8a0-e29b-7d41-a716-446655440000",
        tenantId=portal.example_of("tenant"),
        items=[
            {
                "productId": portal.example_of("prod"),
                "productName": "WordPress Professional Plan",
                "quantity": 1,
                "unitPrice": 299.99,
            }
        ],
        campaign=None,
        total=299.99,
        active=True,
        dateCreated=CREATED,
        dateLastUpdated=CREATED,
        lastUpdatedBy=None,
    )

    tenant_id: str
    items: list[OrderItemShown]
    campaign: SnapshotShown | None
    total: Amount

    @classmethod
    def of(cls, order: portal.Order, *, to_admin: bool) -> Self:
        told = seen(order.__dict__, to_admin)
        if order.campaign is not None:
            told["campaign"] = SnapshotShown(**seen(order.campaign.__dict__, to_admin))
        return cls(**told)


class AskedItem(Asked):
    """So many of a product."""

    model_config = example(productId=portal.example_of("prod"), quantity=1)

    product_id: Annotated[portal.ProductId, TOLD]
    quantity: Annotated[int, Field(strict=True, ge=1, le=portal.MOST_PIECES)] = 1


class CodeAsked(Asked):
    """Whose mailbox a one-time code is to be sent to."""

    model_config = example(email="customer@example.com")

    email: GivenEmail


class CodeSent(Shown):
    """The same answer for every address."""

    model_config = example(message="If this address can be used here, a code is on its way.")

    message: str


class CheckoutAsked(Asked):
    """What is to be ordered, and by whom: an address with its code, or whoever is signed in."""

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

    email: GivenEmail | None = None
    code: Annotated[str, Field(max_length=20)] | None = None
    items: Annotated[list[AskedItem], Field(min_length=1, max_length=portal.MOST_LINES)]
    campaign_code: Annotated[portal.AskedCode, TOLD] | None = None
    total: GivenTotal | None = Field(
        default=None, description="What it should cost; if it is something else, nothing is done."
    )

    @model_validator(mode="after")
    def check_proof(self) -> Self:
        if (self.email is None) != (self.code is None):
            raise PydanticCustomError("apart", "Give `email` and `code` together.", {"status": 422})
        return self
