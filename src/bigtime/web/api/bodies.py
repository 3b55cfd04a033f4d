"""Bodies of requests and responses: camelCase names, and numbers as JSON numbers.

A body's fields have the types of the systems, which serve forms and programs alike and accept a
price as text. In JSON a number is a number: a value of another type than its documented schema is
refused (400) before any rule of the system is checked (422).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final, Generic, Self, TypeAlias, TypeVar

from fastapi import Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from bigtime.model import DomainError
from bigtime.web.http import status_in_form

Schema = Mapping[str, Any]
T = TypeVar("T")
S = TypeVar("S", bound="ResponseBody")


def example(**fields: object) -> ConfigDict:
    """The example in a model's documentation."""
    return examples(fields)


def examples(*bodies: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [*bodies]})


# Requests


class RequestBody(BaseModel):
    """The body of a request; unknown fields and values of another JSON type are refused."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def check_field(
        cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        schema, definitions = schema_of(cls, str(info.field_name))
        if not has_json_type(value, schema, definitions):
            wanted = " or ".join(type_names(schema, definitions))
            raise PydanticCustomError("json_type", "This must be {wanted}.", {"wanted": wanted})
        return check_as_field(value, check)

    def given_fields(self) -> dict[str, Any]:
        """The fields that the request has, by their Python names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def check_as_field(value: object, check: Callable[[Any], Any]) -> object:
    """Turns a system's own error into an error of the field."""
    try:
        return check(value)
    except DomainError as error:
        context = {"sentence": str(error), "status": status_in_form(error)}
        raise PydanticCustomError("refused", "{sentence}", context) from None


FieldErrors: Final = WrapValidator(check_as_field)
"""The same for the type of a query parameter: `Annotated[ProductId, FieldErrors, Query()]`."""

OPTIONAL: Final[Any] = Field(default_factory=lambda: None)
"""A field that a change may omit; `given_fields` then leaves it out."""


def refuse_change(value: object) -> object:
    raise PydanticCustomError("immutable", "This field cannot be changed.", {"status": 422})


Immutable = SkipJsonSchema[Annotated[Any, BeforeValidator(refuse_change)]]
"""A field of a record that no request can change."""


# JSON types

REFERENCE: Final = "#/$defs/"


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


JSON_TYPES: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "string": ("text", lambda value: isinstance(value, str)),
    "number": ("a number", is_number),
    "integer": ("a whole number", lambda value: is_number(value) and value == int(value)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "null": ("null", lambda value: value is None),
}


@cache
def schema_of(body: type[RequestBody], field: str) -> tuple[Schema, Schema]:
    """The documented schema of a field, and the definitions that it refers to."""
    whole = body.model_json_schema()
    alias = body.model_fields[field].alias or field
    return whole["properties"].get(alias, {}), whole.get("$defs", {})


def choices_of(schema: Schema, definitions: Schema) -> list[Schema]:
    """The alternative schemas of a value."""
    choices = schema.get("anyOf") or schema.get("oneOf") or (schema,)
    return [
        definitions[choice["$ref"].removeprefix(REFERENCE)] if "$ref" in choice else choice
        for choice in choices
    ]


def has_json_type(value: object, schema: Schema, definitions: Schema) -> bool:
    """Whether a value has the type of its schema, as do the items of a list."""
    for choice in choices_of(schema, definitions):
        known = JSON_TYPES.get(choice.get("type", ""))
        items = value if isinstance(value, list) and "items" in choice else ()
        if (known is None or known[1](value)) and all(
            has_json_type(item, choice["items"], definitions) for item in items
        ):
            return True
    return False


def type_names(schema: Schema, definitions: Schema) -> list[str]:
    kinds = [choice.get("type", "") for choice in choices_of(schema, definitions)]
    return list(dict.fromkeys(JSON_TYPES[kind][0] for kind in kinds if kind in JSON_TYPES))


# Responses


class ResponseBody(BaseModel):
    """The body of a response, made of anything that has its attributes."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        from_attributes=True,
        frozen=True,
    )

    def json_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode()


Amount = Annotated[
    Decimal,
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "examples": [299.99]}),
]
"""A number with two decimals: a float represents every price of the site exactly enough."""


class PriceShown(ResponseBody):
    """A price of a deal, and when it began."""

    model_config = example(at="2026-11-15T10:30:00Z", price=19.99)

    at: datetime
    price: Amount

    @model_validator(mode="before")
    @classmethod
    def split_text(cls, value: object) -> object:
        """A price may be given as it is stored, `2026-11-15T10:30:00Z 19.99`."""
        if not isinstance(value, str):
            return value
        at, _, price = value.partition(" ")
        return {"at": at, "price": price}


PriceHistory = Annotated[
    list[PriceShown],
    Field(
        validation_alias="prices",
        serialization_alias="priceHistory",
        description="The last 20 prices, oldest first; the present one is the last.",
    ),
]


# Lists


class Listed(ResponseBody, Generic[S]):
    """One page of a list."""

    items: list[S]
    start_at: str | None = Field(description="Where the next page begins; null after the last.")
    more_available: bool


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """What `Listed` is created from: the items and a signed cursor."""

    items: list[T]
    start_at: str | None

    @property
    def more_available(self) -> bool:
        return self.start_at is not None


# Times as text: pydantic would also accept a number of seconds

MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}")
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def check_moment(value: object) -> object:
    if not (isinstance(value, str) and MOMENT.match(value)):
        raise PydanticCustomError("moment", "A time is written as in 2026-03-10T12:00:00Z.")
    return value


def check_day(value: object) -> object:
    if not (isinstance(value, str) and DAY.fullmatch(value)):
        raise PydanticCustomError("day", "A day is written as in 2026-03-10.")
    return value


WrittenMoment: Final = BeforeValidator(check_moment)
WrittenDay: Final = BeforeValidator(check_day)


# Records of `/v1.0`. Only admins see who changed one last: others do not learn who works here

CREATED: Final = "2025-12-19T10:30:00Z"
RECORD: Final[dict[str, Any]] = {
    "active": True,
    "dateCreated": CREATED,
    "dateLastUpdated": CREATED,
    "lastUpdatedBy": None,
}
"""The example of the fields that every record has."""

IncludeInactive: TypeAlias = Annotated[
    bool,
    Query(alias="includeInactive", description="Whether archived ones are listed too; for admins."),
]


InactiveOnly: TypeAlias = Annotated[
    bool,
    Query(alias="inactiveOnly", description="Only archived ones, which can be restored; admins."),
]


class RecordShown(ResponseBody):
    """The fields that the portal fills."""

    id: str
    active: bool = Field(description="Whether it is there; false is what deleting means here.")
    date_created: datetime
    date_last_updated: datetime
    last_updated_by: str | None = Field(description="For admins; null for everybody else.")

    @classmethod
    def of(cls, record: Any, *, to_admin: bool) -> Self:
        """The record with the fields that the caller may see."""
        return cls(**visible_fields(record.__dict__, to_admin))


class RecordChanged(RequestBody):
    """What no request changes of a record."""

    id: Immutable = OPTIONAL
    date_created: Immutable = OPTIONAL
    date_last_updated: Immutable = OPTIONAL
    last_updated_by: Immutable = OPTIONAL


def visible_fields(fields: dict[str, Any], to_admin: bool) -> dict[str, Any]:
    """The fields of a record that the caller may see."""
    return {**fields, "last_updated_by": fields["last_updated_by"] if to_admin else None}
