"""Tenants, products and campaigns as the API has them.

Who changed a record last is for admins: everybody else is told nothing of who works here.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Self

from pydantic import Field, WithJsonSchema

from bigtime.systems import portal
from bigtime.web.api.errors import TOLD
from bigtime.web.api.shapes import UNSAID, Amount, Asked, Immutable, Shown, example

CREATED: Final = "2025-12-19T10:30:00Z"


NUMBER: Final = {"type": "number", "exclusiveMaximum": 10_000_000, "minimum": 0.01}
PERCENT: Final = {"type": "number", "exclusiveMaximum": 100, "minimum": 0}
GivenPrice = Annotated[portal.Price, TOLD, WithJsonSchema(NUMBER), Field(examples=[299.99])]
GivenDiscount = Annotated[portal.Discount, TOLD, WithJsonSchema(PERCENT), Field(examples=[20])]
GivenEmail = Annotated[portal.Email, TOLD]
GivenName = Annotated[portal.Name, TOLD, Field(min_length=1)]
GivenDescription = Annotated[portal.Description, TOLD, Field(min_length=1)]
GivenFeatures = Annotated[portal.Features, TOLD]
GivenBilling = Annotated[portal.Billing, TOLD]
GivenLink = Annotated[portal.Link, TOLD]
GivenDay = Annotated[portal.Day, TOLD]
GivenActive = Annotated[portal.Active, TOLD]


# What every record has


class RecordShown(Shown):
    """The fields that the portal fills."""

    id: str
    active: bool = Field(description="Whether it is there; false is what deleting means here.")
    date_created: datetime
    date_last_updated: datetime
    last_updated_by: str | None = Field(description="For admins; null for everybody else.")


class RecordChanged(Asked):
    """What no request changes of a record."""

    id: Immutable = UNSAID
    date_created: Immutable = UNSAID
    date_last_updated: Immutable = UNSAID
    last_updated_by: Immutable = UNSAID


# Tenants


class TenantShown(RecordShown):
    """A customer."""

    model_config = example(
        id=portal.example_of("tenant"),
        email="customer@example.com",
        status="VALIDATED",
        previousStatus=None,
        organizationName="Example Corp",
        destinationEmail="forms@example.com",
        active=True,
        dateCreated=CREATED,
        dateLastUpdated=CREATED,
        lastUpdatedBy="admin@example.com",
    )

    email: str
    status: portal.Status
    previous_status: portal.Status | None = Field(description="What a suspended one was before.")
    organization_name: str | None
    destination_email: str | None = Field(description="Where its forms go, if not to `email`.")

    @classmethod
    def of(cls, tenant: portal.Tenant, *, to_admin: bool) -> Self:
        return cls(**seen(tenant.__dict__, to_admin))


class NewTenant(Asked):
    """A customer to be made; it is UNVALIDATED at first."""

    model_config = example(email="customer@example.com", organizationName="Example Corp")

    email: GivenEmail
    organization_name: GivenName | None = None
    destination_email: GivenEmail | None = None


class TenantChanged(RecordChanged):
    """What is to change of a customer; the rest stays.

    A status changes along the lifecycle, or with a `reason` to any. It changes by itself.
    """

    model_config = example(organizationName="Example Corp")

    organization_name: GivenName | None = UNSAID
    destination_email: GivenEmail | None = UNSAID
    active: GivenActive = UNSAID
    status: Annotated[portal.TenantStatus, TOLD] = UNSAID
    reason: Annotated[portal.Reason, TOLD, Field(min_length=1)] = UNSAID
    email: Immutable = UNSAID
    previous_status: Immutable = UNSAID


# Products


class ProductShown(RecordShown):
    """Something to buy; its price is in ZAR."""

    model_config = example(
        id=portal.example_of("prod"),
        name="WordPress Professional Plan",
        description="Professional WordPress hosting with advanced features",
        price=299.99,
        features=["Up to 10 WordPress sites", "100GB storage"],
        billingCycle="monthly",
        active=True,
        dateCreated=CREATED,
        dateLastUpdated=CREATED,
        lastUpdatedBy=None,
    )

    name: str
    description: str
    price: Amount
    features: list[str]
    billing_cycle: portal.BillingCycle

    @classmethod
    def of(cls, product: portal.Product, *, to_admin: bool) -> Self:
        return cls(**seen(product.__dict__, to_admin))


class NewProduct(Asked):
    """A product to be made."""

    model_config = example(
        name="WordPress Professional Plan",
        description="Professional WordPress hosting with advanced features",
        price=299.99,
        features=["Up to 10 WordPress sites", "100GB storage"],
        billingCycle="monthly",
    )

    name: GivenName
    description: GivenDescription
    price: GivenPrice
    features: GivenFeatures = []
    billing_cycle: GivenBilling


class ProductChanged(RecordChanged):
    """What is to change of a product; a new price holds for new orders at once."""

    model_config = example(price=249.99)

    name: GivenName = UNSAID
    description: GivenDescription = UNSAID
    price: GivenPrice = UNSAID
    features: GivenFeatures = UNSAID
    billing_cycle: GivenBilling = UNSAID
    active: GivenActive = UNSAID


# Campaigns


class CampaignShown(RecordShown):
    """A discount on one product for some days, with what it makes of the price today."""

    model_config = example(
        id=portal.example_of("camp"),
        code="SUMMER2025",
        description="Summer 2025 special offer",
        discountPercentage=20,
        productId=portal.example_of("prod"),
        productName="WordPress Professional Plan",
        originalPrice=299.99,
        discountedPrice=239.99,
        termsConditionsLink="https://example.com/terms/summer2025",
        fromDate="2025-06-01",
        toDate="2025-08-31",
        isValid=False,
        active=True,
        dateCreated=CREATED,
        dateLastUpdated=CREATED,
        lastUpdatedBy=None,
    )

    code: str
    description: str
    discount_percentage: Amount
    product_id: str
    product_name: str
    original_price: Amount | None = Field(description="null while the product is not to be had.")
    discounted_price: Amount | None
    terms_conditions_link: str
    from_date: date
    to_date: date
    is_valid: bool = Field(description="Whether it is active, and today lies in its dates.")

    @classmethod
    def of(cls, offer: portal.Offer, *, to_admin: bool) -> Self:
        return cls(
            **seen(offer.campaign.__dict__, to_admin),
            product_name=offer.product_name,
            original_price=offer.original_price,
            discounted_price=offer.discounted_price,
            is_valid=offer.is_valid,
        )


class NewCampaign(Asked):
    """A campaign to be made. Its code is in capitals, and nobody's."""

    model_config = example(
        code="SUMMER2025",
        description="Summer 2025 special offer",
        discountPercentage=20,
        productId=portal.example_of("prod"),
        termsConditionsLink="https://example.com/terms/summer2025",
        fromDate="2025-06-01",
        toDate="2025-08-31",
    )

    code: Annotated[portal.CampaignCode, TOLD]
    description: GivenDescription
    discount_percentage: GivenDiscount
    product_id: Annotated[portal.ProductId, TOLD]
    terms_conditions_link: GivenLink
    from_date: GivenDay
    to_date: GivenDay


class CampaignChanged(RecordChanged):
    """What is to change of a campaign; dates are judged as the pair that they become."""

    model_config = example(discountPercentage=15)

    description: GivenDescription = UNSAID
    discount_percentage: GivenDiscount = UNSAID
    terms_conditions_link: GivenLink = UNSAID
    from_date: GivenDay = UNSAID
    to_date: GivenDay = UNSAID
    active: GivenActive = UNSAID
    code: Immutable = UNSAID
    product_id: Immutable = UNSAID


def seen(fields: dict[str, Any], to_admin: bool) -> dict[str, Any]:
    """The fields of a record, as far as somebody may see them."""
    return {**fields, "last_updated_by": fields["last_updated_by"] if to_admin else None}
