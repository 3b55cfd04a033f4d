"""The types of the catalogue's fields: what each accepts, and the error for anything else.

A watch's key joins ids with `#`, so an id must not contain one; otherwise two watches could have
one key.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from bigtime import model as bt
from bigtime.systems.catalog import errors

MOST_ID: Final = 100
MOST_SORT_KEY: Final = 1_024
MOST_NAME: Final = 200
MOST_EMAIL: Final = 254
MOST_LINK: Final = 1_000
MOST_DESCRIPTION: Final = 4_000


# Ids and texts


def an_id(text: str, most: int = MOST_ID) -> str:
    if not text.strip():
        raise errors.EmptyId
    if len(text) > most:
        raise errors.IdTooLong(f"This id has {len(text):,} characters; give one of at most {most}.")
    if "#" in text or not text.isprintable():
        raise errors.ForbiddenCharacter
    return text


def an_activity_id(text: str) -> str:
    """Longer than other ids, as it may contain one."""
    return an_id(text, 2 * MOST_ID)


def a_watch_key(text: str) -> str:
    """Any text that a sort key can be: other programs may have written watches with other keys."""
    if not text:
        raise errors.EmptyId(
            "The key of a watch must not be empty; it is among the user's watches."
        )
    if len(text.encode(errors="replace")) > MOST_SORT_KEY:
        raise errors.IdTooLong("The key of a watch has at most 1,024 bytes; shorten it.")
    return text


def a_name(text: str, most: int = MOST_NAME) -> str:
    """A display name, which is in no key."""
    if not text.strip():
        raise errors.EmptyText
    return no_longer_than(most, text)


def an_email(text: str) -> str:
    return a_name(text, MOST_EMAIL)


def a_link(text: str) -> str:
    return a_name(text, MOST_LINK)


def a_description(text: str) -> str:
    return no_longer_than(MOST_DESCRIPTION, text)


def no_longer_than(length: int, text: str) -> str:
    if len(text) > length:
        raise errors.TextTooLong(
            f"This text has {len(text):,} characters; shorten it to {length:,}."
        )
    return text


def text_schema(most: int, least: int = 1, example: str | None = None) -> WithJsonSchema:
    """The JSON schema of a text; the text's own check enforces it."""
    lengths = {"minLength": least, "maxLength": most} if least else {"maxLength": most}
    return WithJsonSchema(
        {"type": "string", **lengths} | ({"examples": [example]} if example else {})
    )


Id = Annotated[str, AfterValidator(an_id), text_schema(MOST_ID, example="deal-12345")]
DealId = Id
UserId = Id
BrandId = Id
CategoryId = Id
ActivityId = Annotated[str, AfterValidator(an_activity_id), text_schema(2 * MOST_ID)]
WatchKey = Annotated[str, AfterValidator(a_watch_key)]
Name = Annotated[str, AfterValidator(a_name), text_schema(MOST_NAME)]
Email = Annotated[
    str, AfterValidator(an_email), text_schema(MOST_EMAIL, example="john.doe@example.com")
]
Link = Annotated[
    str, AfterValidator(a_link), text_schema(MOST_LINK, example="https://shop.example/1.png")
]
Description = Annotated[str, AfterValidator(a_description), text_schema(MOST_DESCRIPTION, 0)]


# Times


def with_time_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise errors.NoTimeZone
    return moment


Moment = Annotated[datetime, AfterValidator(with_time_zone), bt.Seconds]
"""Stored to the second, as `2024-01-15T10:00:00Z`."""


# Numbers


def exact(value: object) -> object:
    if isinstance(value, float):
        raise errors.InexactNumber
    return value


def positive(price: Decimal) -> Decimal:
    if price <= 0:
        raise errors.PriceNotPositive
    return price


def less_than_all(discount: Decimal) -> Decimal:
    if not 0 <= discount < 100:
        raise errors.DiscountOutOfRange
    return discount


def not_negative(count: int) -> int:
    if count < 0:
        raise errors.NegativeCount
    return count


Exact = Annotated[Decimal, BeforeValidator(exact)]
Price = Annotated[Exact, AfterValidator(positive)]
Percentage = Annotated[Exact, AfterValidator(less_than_all)]
Count = Annotated[int, AfterValidator(not_negative)]


def given_fields(**fields: object) -> dict[str, Any]:
    """The fields to change; there must be at least one."""
    given = {name: value for name, value in fields.items() if value is not None}
    if not given:
        raise errors.NothingToChange
    return given


# The same, as programs give them in JSON

MOST_COUNTED: Final = 10**9

GivenPrice = Annotated[
    Price,
    Field(max_digits=14, decimal_places=2),
    WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 10**11, "examples": [149.99]}),
]
GivenPercentage = Annotated[
    Percentage,
    Field(max_digits=6, decimal_places=4),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 100, "examples": [50]}),
]
GivenCount = Annotated[Count, Field(ge=0, le=MOST_COUNTED)]
