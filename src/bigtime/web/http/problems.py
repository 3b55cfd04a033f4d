"""Errors as responses: their status, and the JSON shape that all of them have.

A request can be invalid in two ways. It cannot be read (no JSON, a field missing, of another type
or unknown): 400. Or it can be read, but breaks a rule: 422.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from pydantic import ValidationError

from bigtime import model as bt

RULES: Final = frozenset(
    """
    string_too_short string_too_long string_pattern_mismatch greater_than greater_than_equal
    less_than less_than_equal multiple_of too_short too_long enum literal_error
    decimal_max_digits decimal_max_places decimal_whole_digits finite_number value_error
    """.split()
)
"""Pydantic's error types for values of the right type that break a rule."""
STATUSES: Final[dict[type[Exception], HTTPStatus]] = {
    bt.Malformed: HTTPStatus.BAD_REQUEST,
    bt.NotSignedIn: HTTPStatus.UNAUTHORIZED,
    bt.Forbidden: HTTPStatus.FORBIDDEN,
    bt.NotFound: HTTPStatus.NOT_FOUND,
    bt.Clash: HTTPStatus.CONFLICT,
    bt.RuleBroken: HTTPStatus.UNPROCESSABLE_ENTITY,
    bt.TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    bt.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status of each family of errors."""


class NotAllowed(bt.Forbidden):
    """Your account has no access to this."""


class NoSuchPage(bt.NotFound):
    """This page does not exist."""


class BadForm(bt.Malformed):
    """This form has expired; load the page again and send it once more."""


def status_of(error: Exception) -> HTTPStatus:
    """The status of an error's family; 422 for an error without a family."""
    found = (STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return next(found, HTTPStatus.UNPROCESSABLE_ENTITY)


def status_in_form(error: Exception) -> HTTPStatus:
    """The status for a form or a body, where the name of a missing item is a field error: 422."""
    status = status_of(error)
    return HTTPStatus.UNPROCESSABLE_ENTITY if status == HTTPStatus.NOT_FOUND else status


def status_of_faults(faults: Iterable[Mapping[str, object]]) -> HTTPStatus:
    """422 if all faults break a rule; 400 if anything cannot be read."""
    is_against_rules = all(map(is_against_rule, faults))
    return HTTPStatus.UNPROCESSABLE_ENTITY if is_against_rules else HTTPStatus.BAD_REQUEST


def is_against_rule(fault: Mapping[str, Any]) -> bool:
    """Whether a value was read, but breaks a rule; a system's error has its own status.

    A wrong query parameter is always 400: programs build queries from links and documentation.
    """
    status = (fault.get("ctx") or {}).get("status")
    if status is not None:
        return bool(status == HTTPStatus.UNPROCESSABLE_ENTITY)
    return fault["loc"][0] == "body" and fault["type"] in RULES


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field."""

    field: str
    message: str


def code_of(error: Exception) -> str:
    if isinstance(error, bt.DomainError):
        return error.code
    return "invalid-value" if isinstance(error, bt.ValueRefused | ValidationError) else "error"


def problem_body(error: str, message: str, details: Iterable[FieldFault] = ()) -> bytes:
    """The JSON shape of errors: `{error, message, details: [{field, message}]}`."""
    listed = [{"field": detail.field, "message": detail.message} for detail in details]
    return orjson.dumps({"error": error, "message": message, "details": listed})
