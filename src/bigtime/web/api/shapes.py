"""What bodies of requests and answers have in common: camelCase names, and numbers as numbers."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from bigtime.web.api.json_types import Schema, called, fits
from bigtime.web.http import json_answer


def example(**fields: Any) -> ConfigDict:
    """The one example in a model's documentation."""
    return examples(fields)


def examples(*bodies: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [*bodies]})


class Asked(BaseModel):
    """The body of a request. What it does not know, or is of another type, it refuses."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def check_type(
        cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        schema, defs = schema_of(cls, str(info.field_name))
        if fits(value, schema, defs):
            return check(value)
        wanted = called(schema, defs)
        raise PydanticCustomError("json_type", "This is to be {wanted}.", {"wanted": wanted})

    def said(self) -> dict[str, Any]:
        """The fields that were in it, by their names here."""
        return {name: getattr(self, name) for name in self.model_fields_set}


@cache
def schema_of(body: type[Asked], field: str) -> tuple[Schema, Schema]:
    """What is documented of a field, and what that refers to; nothing of one that is not."""
    whole = body.model_json_schema()
    alias = body.model_fields[field].alias or field
    return whole["properties"].get(alias, {}), whole.get("$defs", {})


class Shown(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        from_attributes=True,
        frozen=True,
    )

    def answer(self, status: int = 200) -> Response:
        return json_answer(self.json_bytes(), status)

    def json_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode()


Amount = Annotated[
    Decimal,
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "examples": [299.99]}),
]
"""A number with two decimals. A float has room for all of them, in whatever is priced here."""


def unsaid() -> Any:
    """The value of a field that a request does not mention."""
    return None


def refuse_change(value: Any) -> Any:
    raise PydanticCustomError("immutable", "This field cannot be changed.", {"status": 422})


Immutable = SkipJsonSchema[Annotated[Any, BeforeValidator(refuse_change)]]
"""A field that a record has, and that no request changes."""

UNSAID: Final = Field(default_factory=unsaid)
