"""Errors as answers: those of the site's own, and the one shape of all.

What somebody sends can be wrong in two ways. It cannot be read, for it is no JSON, or something is
missing, or of another type, or nobody knows it: 400. Or it can, and is against a rule: 422.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from pydantic import ValidationError

from bigtime.model import (
    Clash,
    DomainError,
    Forbidden,
    Malformed,
    NotFound,
    NotSignedIn,
    RuleBroken,
    TooMany,
    Unavailable,
    ValueRefused,
)

RULES: Final = frozenset(
    {
        "string_too_short",
        "string_too_long",
        "string_pattern_mismatch",
        "greater_than",
        "greater_than_equal",
        "less_than",
        "less_than_equal",
        "multiple_of",
        "too_short",
        "too_long",
        "enum",
        "literal_error",
        "decimal_max_digits",
        "decimal_max_places",
        "decimal_whole_digits",
        "finite_number",
        "value_error",
    }
)
"""What pydantic calls a value that is of the right type, and against a rule."""
STATUSES: Final[dict[type[Exception], HTTPStatus]] = {
    Malformed: HTTPStatus.BAD_REQUEST,
    NotSignedIn: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Clash: HTTPStatus.CONFLICT,
    RuleBroken: HTTPStatus.UNPROCESSABLE_ENTITY,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status of each family of errors."""


class NotAllowed(Forbidden):
    """You do not have access to this page."""


class NoSuchPage(NotFound):
    """This page does not exist."""


class BadForm(Malformed):
    """This form has expired; load the page again and send it once more."""


def status_of(error: Exception) -> HTTPStatus:
    """The status of an error's family; 422 for an error of none."""
    found = (STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return next(found, HTTPStatus.UNPROCESSABLE_ENTITY)


def status_in_form(error: Exception) -> HTTPStatus:
    """The same, where a form or a body names what is not there: that field is wrong, so 422."""
    status = status_of(error)
    return HTTPStatus.UNPROCESSABLE_ENTITY if status == HTTPStatus.NOT_FOUND else status


def status_of_faults(faults: Iterable[Mapping[str, Any]]) -> HTTPStatus:
    """422 where all that is wrong is against a rule; 400 where something cannot be read at all."""
    is_against_rules = all(map(is_against_rule, faults))
    return HTTPStatus.UNPROCESSABLE_ENTITY if is_against_rules else HTTPStatus.BAD_REQUEST


def is_against_rule(fault: Mapping[str, Any]) -> bool:
    """Whether a fault can be read; one that a rule of a system has found says so itself.

    A query is written by programs from links and documents: one out of bounds was not read right.
    """
    told = (fault.get("ctx") or {}).get("status")
    if told is not None:
        return bool(told == HTTPStatus.UNPROCESSABLE_ENTITY)
    return fault["loc"][0] == "body" and fault["type"] in RULES


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field."""

    field: str
    message: str


def code_of(error: Exception) -> str:
    if isinstance(error, DomainError):
        return error.code
    return "invalid-value" if isinstance(error, ValueRefused | ValidationError) else "error"


def problem_body(error: str, message: str, details: Iterable[FieldFault] = ()) -> bytes:
    """The one shape of errors: `{error, message, details: [{field, message}]}`."""
    listed = [{"field": detail.field, "message": detail.message} for detail in details]
    return orjson.dumps({"error": error, "message": message, "details": listed})
