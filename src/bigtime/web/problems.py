"""Errors as answers: which status each has, and the one shape of all.

A domain error's name says what kind it is, and the kind says the status: `Unknown...` is 404, what
is there or was taken already is 409, everything else that a rule forbids is 422. The few that the
name does not tell are listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import ValidationError

from bigtime.model import CursorError, DomainError, ValueRefused
from bigtime.systems.portal import errors as portal
from bigtime.web.limits import TooManyTries

CONFLICTS = ("Exists", "Taken", "Conflict", "Moved", "Changed", "Already", "InUse")


class NotSignedIn(DomainError):
    """Please log in first."""


class NotAllowed(DomainError):
    """This is not for you to see or to change."""


class NoSuchPage(DomainError):
    """There is no such page."""


class BadForm(DomainError):
    """This form has expired; load the page again and send it once more."""


class Malformed(DomainError):
    """The request cannot be read; correct it and send it again."""


STATUSES: dict[type[Exception], HTTPStatus] = {
    NotSignedIn: HTTPStatus.UNAUTHORIZED,
    NotAllowed: HTTPStatus.FORBIDDEN,
    NoSuchPage: HTTPStatus.NOT_FOUND,
    BadForm: HTTPStatus.BAD_REQUEST,
    Malformed: HTTPStatus.BAD_REQUEST,
    CursorError: HTTPStatus.BAD_REQUEST,
    TooManyTries: HTTPStatus.TOO_MANY_REQUESTS,
    portal.Malformed: HTTPStatus.BAD_REQUEST,
    portal.Forbidden: HTTPStatus.FORBIDDEN,
    portal.Unknown: HTTPStatus.NOT_FOUND,
    portal.Clash: HTTPStatus.CONFLICT,
}


def status_of(error: Exception) -> HTTPStatus:
    """The status that an error is answered with."""
    for kind, status in STATUSES.items():
        if isinstance(error, kind):
            return status
    name = type(error).__name__
    if name.startswith("Unknown"):
        return HTTPStatus.NOT_FOUND
    if any(word in name for word in CONFLICTS):
        return HTTPStatus.CONFLICT
    return HTTPStatus.UNPROCESSABLE_ENTITY


def status_of_faults(faults: Iterable[Mapping[str, Any]]) -> HTTPStatus:
    """422 where all that is wrong is against a rule; 400 where something cannot be read at all.

    A fault that a rule of a system has found says its own status.
    """
    told = {(one.get("ctx") or {}).get("status", HTTPStatus.BAD_REQUEST) for one in faults}
    unreadable = told != {HTTPStatus.UNPROCESSABLE_ENTITY}
    return HTTPStatus.BAD_REQUEST if unreadable else HTTPStatus.UNPROCESSABLE_ENTITY


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field."""

    field: str
    message: str


def faults_in(error: ValidationError) -> list[FieldFault]:
    """A validation error's faults, without the values: they may be secret."""
    return [FieldFault(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]


def code_of(error: Exception) -> str:
    if isinstance(error, DomainError):
        return error.code
    return "invalid-value" if isinstance(error, ValueRefused | ValidationError) else "error"


def problem_body(error: str, message: str, details: Iterable[FieldFault] = ()) -> bytes:
    """The one shape of errors: `{error, message, details: [{field, message}]}`."""
    listed = [{"field": one.field, "message": one.message} for one in details]
    return orjson.dumps({"error": error, "message": message, "details": listed})
