"""The ids, names, texts, prices and dates of the portal: their formats and their validation.

Each type raises its own error, wherever a value comes in: a new record, a key, a change. Text that
cannot be an id raises the same error as an unknown id.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

from bigtime import model as bt
from bigtime.systems.portal import errors

MOST_EMAIL: Final = 254
MOST_NAME: Final = 200
MOST_REASON: Final = 500
MOST_DESCRIPTION: Final = 2_000
MOST_LINK: Final = 1_000
MOST_FEATURES: Final = 50
CENT: Final = Decimal("0.01")
MOST_PRICE: Final = 10_000_000 - CENT
WHOLE: Final = Decimal(100)

CAMPAIGN_CODE: Final = re.compile(r"[A-Z0-9_]{3,50}")
ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

S = TypeVar("S", bound=StrEnum)


class Status(StrEnum):
    """How far a tenant has come."""

    UNVALIDATED = "UNVALIDATED"
    VALIDATED = "VALIDATED"
    REGISTERED = "REGISTERED"
    SUSPENDED = "SUSPENDED"


class BillingCycle(StrEnum):
    """How often a product is paid for."""

    MONTHLY = "monthly"
    YEARLY = "yearly"


# Texts


checked_email = bt.EmailAddress(errors.EmailRefused, most=MOST_EMAIL)
checked_link = bt.WebAddress(errors.LinkRefused, most=MOST_LINK)


def text_check(most: int, refused: type[bt.DomainError]) -> Callable[[object], str]:
    """Checks a text of visible characters; surrounding space is stripped."""

    def check(value: object) -> str:
        text = value.strip() if isinstance(value, str) else ""
        if not 1 <= len(text) <= most or not text.isprintable():
            raise refused
        return text

    return check


checked_actor = text_check(MOST_EMAIL, errors.ActorRefused)
checked_reason = text_check(MOST_REASON, errors.ReasonRefused)
checked_name = text_check(MOST_NAME, errors.NameRefused)
checked_feature = text_check(MOST_NAME, errors.FeaturesRefused)


def checked_description(value: object) -> str:
    """Unlike a name, a description may have several lines."""
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= len(value) <= MOST_DESCRIPTION:
        raise errors.DescriptionRefused
    if not bt.is_readable(value, lines=True):
        raise errors.DescriptionRefused
    return value


def checked_features(value: object) -> list[str]:
    if not isinstance(value, list | tuple) or len(value) > MOST_FEATURES:
        raise errors.FeaturesRefused
    return list(map(checked_feature, value))


def checked_campaign_code(value: object) -> str:
    if not isinstance(value, str) or not CAMPAIGN_CODE.fullmatch(value):
        raise errors.CampaignCodeRefused
    return value


def campaign_code_of(value: object) -> str:
    """A code to look up; text that cannot be a code raises UnknownCampaign."""
    code = value.strip().upper() if isinstance(value, str) else ""
    if not CAMPAIGN_CODE.fullmatch(code):
        raise errors.UnknownCampaign
    return code


def code_hint(code: str) -> str | None:
    """A hint for the editor if a code is allowed, but hard to remember or to read."""
    if 6 <= len(code) <= 20:
        return None
    return "A code of 6 to 20 characters is easier to remember and to read out."


# Numbers, dates and times


checked_price = bt.Amount(errors.PriceRefused, least=CENT, most=MOST_PRICE)
checked_total = bt.Amount(errors.PriceRefused, least=CENT)
checked_discount = bt.Amount(errors.DiscountRefused, least=Decimal(0), most=WHOLE - CENT)


def checked_date(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not ISO_DATE.fullmatch(value):
        raise errors.DateRefused
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise errors.DateRefused from None


def checked_active(value: object) -> bool:
    if not isinstance(value, bool):
        raise errors.ActiveRefused
    return value


def checked_moment(value: datetime) -> datetime:
    """A moment to the second, in UTC, as records are stamped."""
    if value.tzinfo is None:
        raise errors.MomentRefused
    try:
        return value.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        raise errors.MomentRefused(f"There is no {value} in UTC; give a time between.") from None


def one_of(kind: type[S], refused: type[bt.DomainError]) -> Callable[[Any], S]:
    def check(value: Any) -> S:
        try:
            return kind(value)
        except ValueError:
            raise refused from None

    return check


checked_status = one_of(Status, errors.StatusRefused)


# Ids


def random_id(prefix: str, drawn: bytes) -> str:
    """A new id from sixteen random bytes."""
    return f"{prefix}_{UUID(bytes=drawn, version=4)}"


def timed_id(prefix: str, moment: datetime, drawn: bytes) -> str:
    """A new id that sorts by its time of creation (a UUID of version 7, RFC 9562)."""
    millis = int(moment.timestamp() * 1000).to_bytes(6)
    return f"{prefix}_{uuid_of(millis, drawn[6:])}"


def uuid_of(time: bytes, others: bytes) -> UUID:
    """The UUID of version 7 with the six bytes of a time, and ten other bytes."""
    octets = bytearray(time + others[:10])
    octets[6] = 0x70 | octets[6] & 0x0F
    octets[8] = 0x80 | octets[8] & 0x3F
    return UUID(bytes=bytes(octets))


def id_of(prefix: str, unknown: type[bt.DomainError]) -> Callable[[Any], str]:
    written = re.compile(rf"{prefix}_[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}")

    def check(value: object) -> str:
        if not isinstance(value, str) or not written.fullmatch(value):
            raise unknown
        return value

    return check


checked_tenant_id = id_of("tenant", errors.UnknownTenant)
checked_product_id = id_of("prod", errors.UnknownProduct)
checked_campaign_id = id_of("camp", errors.UnknownCampaign)
checked_order_id = id_of("order", errors.UnknownOrder)


def example_of(prefix: str) -> str:
    return f"{prefix}_550e8400-e29b-41d4-a716-446655440000"


def text_field(example: str, most: int | None = None) -> object:
    """A text of at most `most` characters; None means the length of the example."""
    return Field(max_length=most or len(example), examples=[example])


TenantId = Annotated[str, text_field(example_of("tenant")), BeforeValidator(checked_tenant_id)]
ProductId = Annotated[str, text_field(example_of("prod")), BeforeValidator(checked_product_id)]
CampaignId = Annotated[str, text_field(example_of("camp")), BeforeValidator(checked_campaign_id)]
OrderId = Annotated[str, text_field(example_of("order")), BeforeValidator(checked_order_id)]
CampaignCode = Annotated[str, text_field("SUMMER2025", 50), BeforeValidator(checked_campaign_code)]
AskedCode = Annotated[str, text_field("SUMMER2025", 50), BeforeValidator(campaign_code_of)]
Email = Annotated[
    str, text_field("customer@example.com", MOST_EMAIL), BeforeValidator(checked_email)
]
Actor = Annotated[str, text_field("admin@example.com", MOST_EMAIL), BeforeValidator(checked_actor)]
Link = Annotated[
    str, text_field("https://example.com/terms", MOST_LINK), BeforeValidator(checked_link)
]
Reason = Annotated[
    str, Field(min_length=1, max_length=MOST_REASON), BeforeValidator(checked_reason)
]
Name = Annotated[str, Field(min_length=1, max_length=MOST_NAME), BeforeValidator(checked_name)]
Description = Annotated[
    str, Field(min_length=1, max_length=MOST_DESCRIPTION), BeforeValidator(checked_description)
]
Features = Annotated[
    list[Annotated[str, Field(max_length=MOST_NAME)]],
    Field(max_length=MOST_FEATURES),
    BeforeValidator(checked_features),
]
Price = Annotated[
    Decimal,
    BeforeValidator(checked_price),
    Field(examples=[Decimal("299.99")], json_schema_extra={"examples": [299.99]}),
    WithJsonSchema({"type": "number", "exclusiveMaximum": 10_000_000, "minimum": 0.01}),
]
Total = Annotated[
    Decimal,
    BeforeValidator(checked_total),
    Field(examples=[Decimal("479.98")], json_schema_extra={"examples": [479.98]}),
    WithJsonSchema({"type": "number", "minimum": 0.01}),
]
Discount = Annotated[
    Decimal,
    BeforeValidator(checked_discount),
    Field(examples=[Decimal(20)], json_schema_extra={"examples": [20]}),
    WithJsonSchema({"type": "number", "exclusiveMaximum": 100, "minimum": 0}),
]
Day = Annotated[date, BeforeValidator(checked_date)]
Moment = Annotated[datetime, bt.Seconds]
Active = Annotated[bool, BeforeValidator(checked_active)]
Billing = Annotated[BillingCycle, BeforeValidator(one_of(BillingCycle, errors.BillingCycleRefused))]
TenantStatus = Annotated[Status, BeforeValidator(checked_status)]
