"""The names, texts, prices and ids of Big Time Deals: their spelling and their validation.

A name has two forms. It is displayed as it was entered; in keys it has one case, single spaces and
composed letters, so that `Apple` and `APPLE ` are one brand. Characters that could break a key or
hide in a name are refused: `#`, and invisible ones.

Each type raises its own error, whose text says what to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final
from unicodedata import normalize

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from bigtime import model as bt
from bigtime.systems.deals import errors

MOST_NAME: Final = 100
MOST_USERNAME: Final = 50
MOST_TITLE: Final = 200
MOST_DESCRIPTION: Final = 500
MOST_LINK: Final = 1_000
MOST_WHY: Final = 200
YEARS: Final = range(2000, 2100)
MOST_EMAIL: Final = 254
MOST_PRICE: Final = Decimal(10) ** 12
CENT: Final = Decimal("0.01")


# Names


def checked_name(text: str, noun: str, most: int) -> str:
    """The name as it was entered; raises an error if it cannot be a name."""
    if not text.strip():
        raise errors.EmptyName(f"Enter a name for the {noun}.")
    if "#" in text or not text.isprintable():
        raise errors.ForbiddenCharacter(
            f"The name of a {noun} cannot contain # or invisible characters; remove them."
        )
    if len(text) > most:
        raise errors.NameTooLong(f"The name of a {noun} has at most {most} characters; shorten it.")
    return text


def checked_path(text: str, noun: str) -> str:
    """A name that is part of a URL path; browsers resolve `.` and `..` as folders."""
    if any(part and not part.strip(".") for part in text.split("/")):
        raise errors.DotsAlone(f"The name of a {noun} cannot consist of dots alone; add a letter.")
    return text


def one_spelling(text: str, noun: str, most: int, case: Callable[[str], str]) -> str:
    """A name as spelled in keys; changing its case may make it longer."""
    given = normalize("NFC", checked_name(text, noun, most))
    return checked_name(normalize("NFC", " ".join(case(given).split())), noun, most)


@lru_cache(maxsize=4096)
def brand_key(text: str) -> str:
    return checked_path(one_spelling(text, "brand", MOST_NAME, str.upper), "brand")


@lru_cache(maxsize=64)
def category_key(text: str) -> str:
    return checked_path(one_spelling(text, "category", MOST_NAME, str.upper), "category")


@lru_cache(maxsize=4096)
def username_key(text: str) -> str:
    return one_spelling(text, "user", MOST_USERNAME, str.lower)


def person_name(text: str) -> str:
    """A user's name, as people see it."""
    return checked_name(text, "user", MOST_NAME)


# Texts and numbers


def checked_title(text: str) -> str:
    if len(text) > MOST_TITLE or not text.strip() or not text.isprintable():
        raise errors.TitleRefused()
    return text


def checked_description(text: str) -> str:
    """It may have several lines."""
    if len(text) > MOST_DESCRIPTION or not bt.is_readable(text, lines=True):
        raise errors.DescriptionRefused()
    return text


def checked_why(text: str) -> str:
    if len(text) > MOST_WHY or not text.isprintable():
        raise errors.WhyRefused()
    return text


def checked_end(moment: datetime) -> datetime:
    """A deal's end in UTC, to the second."""
    if moment.tzinfo is None or moment.year not in YEARS:
        raise errors.EndRefused()
    return moment.astimezone(UTC).replace(microsecond=0)


checked_link = bt.WebAddress(errors.LinkRefused, most=MOST_LINK)
checked_email = bt.EmailAddress(errors.EmailRefused, most=MOST_EMAIL)
checked_price = bt.Amount(errors.PriceRefused, least=CENT, most=MOST_PRICE - CENT)


def whole_cents(price: Decimal) -> Decimal:
    """Faster than pydantic's `decimal_places`, which matters for every deal of a page."""
    if price % CENT:
        raise errors.PriceRefused()
    return price


CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "name": person_name,
    "title": checked_title,
    "description": checked_description,
    "link": checked_link,
    "logo": checked_link,
    "email": checked_email,
    "price": checked_price,
    "list_price": checked_price,
    "ends_at": checked_end,
    "unpublished_why": checked_why,
}


def given_fields(**fields: object) -> dict[str, Any]:
    """The fields that are not None, each checked."""
    return {name: CHECKS[name](value) for name, value in fields.items() if value is not None}


# Ids


deal_id_of = bt.ksuid_or(errors.UnknownDeal)
message_id_of = bt.ksuid_or(errors.UnknownMessage)
"""Reads an id; text that is no id raises the same error as an id that is not stored."""


# Types


def spelled_by(spell: Callable[[str], str]) -> BeforeValidator:
    """A validator that normalises text, and leaves other values for pydantic to refuse."""

    def spell_text(value: object) -> object:
        return spell(value) if isinstance(value, str) else value

    return BeforeValidator(spell_text)


@dataclass(frozen=True, slots=True)
class Spelling:
    """Normalises stored text, and refuses text that is too long with its own error.

    Pydantic calls it directly, without a validator around it: it runs for every deal of a page.
    """

    spell: Callable[[str], str]
    max_length: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.spell, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "maxLength": self.max_length}


BrandName = Annotated[str, Spelling(brand_key, MOST_NAME)]
CategoryName = Annotated[str, Spelling(category_key, MOST_NAME)]
Username = Annotated[str, Spelling(username_key, MOST_USERNAME)]
ShownName = Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
Title = Annotated[str, Field(min_length=1, max_length=MOST_TITLE)]
Description = Annotated[str, Field(max_length=MOST_DESCRIPTION)]
Why = Annotated[str, Field(max_length=MOST_WHY)]
Link = Annotated[str, Field(min_length=1, max_length=MOST_LINK)]
Email = Annotated[str, Field(min_length=1, max_length=MOST_EMAIL)]
Price = Annotated[Decimal, Field(gt=0, lt=MOST_PRICE), AfterValidator(whole_cents)]
DealId = bt.Ksuid
MessageId = bt.Ksuid


# The same as input, each with its own error. (Stored values leave the check to pydantic, since it
# runs for every deal of a page.)


def brand_shown(text: str) -> str:
    """A brand's name as displayed."""
    brand_key(text)
    return text


GivenBrand = Annotated[ShownName, spelled_by(brand_shown)]
GivenBrandKey = Annotated[ShownName, spelled_by(brand_key)]
GivenCategory = Annotated[ShownName, spelled_by(category_key)]
GivenName = Annotated[ShownName, spelled_by(person_name)]
GivenTitle = Annotated[Title, spelled_by(checked_title)]
GivenDescription = Annotated[Description, spelled_by(checked_description)]
GivenLink = Annotated[Link, Field(examples=["https://shop.example/lamp"]), spelled_by(checked_link)]
GivenEmail = Annotated[Email, Field(examples=["alex@example.com"]), spelled_by(checked_email)]
GivenWhy = Annotated[Why, spelled_by(checked_why)]
GivenEnd = Annotated[
    datetime, AfterValidator(checked_end), Field(examples=["2026-12-24T18:00:00Z"])
]
GivenPrice = Annotated[
    Price,
    BeforeValidator(checked_price),
    WithJsonSchema(
        {
            "type": "number",
            "minimum": float(CENT),
            "exclusiveMaximum": int(MOST_PRICE),
            "examples": [19.99],
        }
    ),
]
