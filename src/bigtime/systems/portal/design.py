"""The six tables of the portal, their entities, and the invariants between them.

A record (tenant, product, campaign, order) has five fields that the portal fills: its id, when it
was created and last changed, by whom, and whether it is `active`. A record is only ever deleted by
setting that to False.

`active` is a key attribute of indexes, and DynamoDB accepts no BOOL in a key. So it is a bool in
Python and the string `true` or `false` in these tables; only the key template `{active}` converts
between the two. (An order, which no index lists, has a plain BOOL.)

An e-mail address belongs to one tenant: a marker, whose key is the address, says to whom. Its
fields are called `address` and `tenantId` to keep it out of the table's indexes.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from bigtime import model as bt
from bigtime.systems.portal import values
from bigtime.systems.portal.errors import EmailTaken

MOST_LINES: Final = 50
MOST_PIECES: Final = 1_000
LAST_SEQUENCE: Final = 999_999_999_999

SYSTEM_ACTOR: Final = "system@portal.example"
"""The actor of changes that the system makes by itself."""


def portal_table(name: str, *indexes: tuple[str, ...], ttl: str | None = None) -> bt.Table:
    """Every table: PK and SK, a stream of new and old images, indexes that project ALL."""
    return bt.Table(
        name,
        "PK",
        "SK",
        indexes=[bt.global_index(*index) for index in indexes],
        naming=bt.camel_case,
        ttl=ttl,
        stream="NEW_AND_OLD_IMAGES",
    )


TENANTS = portal_table(
    "tenants",
    ("EmailIndex", "email"),
    ("TenantStatusIndex", "status", "dateCreated"),
    ("ActiveIndex", "active", "dateCreated"),
)
PRODUCTS = portal_table(
    "products",
    ("ProductActiveIndex", "active", "dateCreated"),
    ("ActiveIndex", "active", "dateCreated"),
)
CAMPAIGNS = portal_table(
    "campaigns",
    ("CampaignActiveIndex", "active", "fromDate"),
    ("CampaignProductIndex", "productId", "fromDate"),
    ("ActiveIndex", "active", "dateCreated"),
)
ORDERS = portal_table("orders")
AUDIT = portal_table("audit")
CODES = portal_table("codes", ttl="expiresAt")


class Record(bt.Entity):
    """What tenants, products, campaigns and orders have in common."""

    id: str
    date_created: values.Moment
    date_last_updated: values.Moment
    last_updated_by: values.Actor
    active: values.Active = True


# Tenants


class Tenant(Record, table=TENANTS):
    """A customer of the portal, known by an e-mail address."""

    keys = bt.Keys(
        main=("TENANT#{id}", "METADATA"),
        EmailIndex="{email}",
        TenantStatusIndex=("{status}", "{date_created:seconds}"),
        ActiveIndex=("{active}", "{date_created:seconds}"),
    )
    id: values.TenantId
    email: values.Email
    status: values.TenantStatus = values.Status.UNVALIDATED
    previous_status: values.TenantStatus | None = None
    """Its status before it was suspended."""
    organization_name: values.Name | None = None
    destination_email: values.Email | None = None

    @property
    def destination(self) -> str:
        """The address that its forms are sent to."""
        return self.destination_email or self.email

    @property
    def is_business(self) -> bool:
        return self.organization_name is not None

    @property
    def is_confirmed(self) -> bool:
        """Whether a code confirmed its address, also if it is suspended now."""
        return values.Status.UNVALIDATED not in (self.status, self.previous_status)


TENANT_SEARCH = bt.search(
    Tenant,
    text=("organization_name",),
    parts=("email",),
    facets=("status",),
    sort=("date_created",),
)


class EmailMarker(bt.Entity, table=TENANTS):
    """The marker of an e-mail address, with the tenant that has it."""

    keys = bt.Keys(main=("EMAIL#{address}", "METADATA"))
    address: values.Email
    tenant_id: values.TenantId


EMAILS = bt.unique(
    Tenant,
    "email",
    marker=EmailMarker,
    taken=EmailTaken,
    by={"email": "address", "id": "tenant_id"},
)


# Products and campaigns


class ProductRecord(Record):
    """The fields of a product, whichever indexes its table has."""

    id: values.ProductId
    name: values.Name
    description: values.Description
    price: values.Price
    features: values.Features = []
    billing_cycle: values.Billing


class Product(ProductRecord, table=PRODUCTS):
    """Something to buy, at a price in ZAR."""

    keys = bt.Keys(
        main=("PRODUCT#{id}", "METADATA"),
        ProductActiveIndex=("{active}", "{date_created:seconds}"),
        ActiveIndex=("{active}", "{date_created:seconds}"),
    )


def products_without_duplicate() -> bt.Table:
    """The table of products without ActiveIndex, which has the keys of ProductActiveIndex.

    No pattern queries that index, so all of them run on this table too.
    """
    table = portal_table("products", ("ProductActiveIndex", "active", "dateCreated"))

    class Product(ProductRecord, table=table):
        """Something to buy, at a price in ZAR."""

        keys = bt.Keys(
            main=("PRODUCT#{id}", "METADATA"),
            ProductActiveIndex=("{active}", "{date_created:seconds}"),
        )

    return table


class Campaign(Record, table=CAMPAIGNS):
    """A discount on one product for some days, known by its code."""

    keys = bt.Keys(
        main=("CAMPAIGN#{code}", "METADATA"),
        CampaignActiveIndex=("{active}", "{from_date}"),
        CampaignProductIndex=("{product_id}", "{from_date}"),
        ActiveIndex=("{active}", "{date_created:seconds}"),
    )
    id: values.CampaignId
    code: values.CampaignCode
    description: values.Description
    discount_percentage: values.Discount
    product_id: values.ProductId
    terms_conditions_link: values.Link
    from_date: values.Day
    to_date: values.Day


# Orders


class OrderItem(BaseModel):
    """A number of a product, each at the price that was paid for it.

    Orders of before billing cycles were kept have none.
    """

    model_config = ConfigDict(frozen=True)

    product_id: values.ProductId
    product_name: values.Name
    quantity: int = Field(ge=1, le=MOST_PIECES)
    unit_price: values.Price
    billing_cycle: values.Billing | None = None


class CampaignSnapshot(BaseModel):
    """A campaign as it was when something was ordered with it."""

    model_config = ConfigDict(frozen=True)

    id: values.CampaignId
    code: values.CampaignCode
    description: values.Description
    discount_percentage: values.Discount
    product_id: values.ProductId
    terms_conditions_link: values.Link
    from_date: values.Day
    to_date: values.Day
    is_valid: bool
    active: bool
    date_created: values.Moment
    date_last_updated: values.Moment
    last_updated_by: values.Actor
    original_price: values.Price
    discounted_price: values.Price


class Order(Record, table=ORDERS):
    """What a tenant has ordered; later changes of products and campaigns do not touch it."""

    keys = bt.Keys(main=("TENANT#{tenant_id}", "ORDER#{id}"))
    id: values.OrderId
    tenant_id: values.TenantId
    items: Annotated[list[OrderItem], Field(min_length=1, max_length=MOST_LINES)]
    campaign: CampaignSnapshot | None = None
    total: values.Total

    @property
    def billing_cycle(self) -> values.BillingCycle | None:
        """How often the total is paid; None if its items differ in that, or it is not known."""
        cycles = {item.billing_cycle for item in self.items}
        return cycles.pop() if len(cycles) == 1 else None


LAKES: Final = (
    bt.lake(
        Tenant,
        name="tenants",
        without=("email", "organization_name", "destination_email", "last_updated_by"),
    ),
    bt.lake(Order, name="plan_orders", without=("last_updated_by",)),
)


# The audit log


class Audited(StrEnum):
    """What has a history: the records of four tables, and the prices of products."""

    TENANTS = "tenants"
    PRODUCTS = "products"
    CAMPAIGNS = "campaigns"
    ORDERS = "orders"
    PRICES = "prices"


class Action(StrEnum):
    """What was done to a record."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DELETED = "DELETED"
    RESTORED = "RESTORED"
    STATUS_CHANGED = "STATUS_CHANGED"
    STATUS_OVERRIDDEN = "STATUS_OVERRIDDEN"
    PRICE_CHANGED = "PRICE_CHANGED"
    ANONYMISED = "ANONYMISED"


SequenceNumber = Annotated[int, Field(ge=1, le=LAST_SEQUENCE)]
Hash = Annotated[str, Field(max_length=64)]
EventId = Annotated[str, Field(max_length=64)]
State = Annotated[dict[str, Any], Field(max_length=40)]
"""The attributes of a record as they are stored, without its key."""


class AuditEntry(bt.Entity, table=AUDIT):
    """Who changed what, when, from and to; linked to the entry before by its hash."""

    keys = bt.Keys(main=("{table}#{id}", "{sequence:012}"))
    table: Audited
    id: Annotated[str, Field(max_length=64)]
    sequence: SequenceNumber
    action: Action
    at: values.Moment
    actor: values.Actor
    reason: values.Reason | None = None
    before: State | None = None
    after: State | None = None
    event: EventId | None = None
    """The stream event that an entry records, if any."""
    salt: Annotated[bytes, Field(max_length=16)] | None = None
    content_hash: Hash
    previous_hash: Hash
    hash: Hash


# One-time codes


class Purpose(StrEnum):
    """What a code proves."""

    VALIDATE = "VALIDATE"
    SIGN_IN = "SIGN_IN"


class OneTimeCode(bt.Entity, table=CODES):
    """A code that was mailed: its hash, and how often it was tried."""

    keys = bt.Keys(main=("CODE#{purpose}#{id}", "METADATA"))
    purpose: Purpose
    id: Annotated[str, Field(max_length=64)]
    hash: Annotated[str, Field(max_length=64), bt.Secret]
    salt: Annotated[bytes, Field(max_length=16), bt.Secret]
    tries: int = 0
    expires_at: Annotated[datetime, bt.EpochSeconds]
    used_at: values.Moment | None = None
