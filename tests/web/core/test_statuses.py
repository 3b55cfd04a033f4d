"""Every error belongs to one family, and has the status of it."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from importlib import import_module
from pkgutil import walk_packages

import pytest

import bigtime
from bigtime.model import (
    Clash,
    ConditionFailed,
    CursorError,
    DomainError,
    Forbidden,
    ItemExists,
    ItemMissing,
    Malformed,
    NotFound,
    NotReady,
    NotSignedIn,
    RuleBroken,
    TooMany,
    Unavailable,
    Unfinished,
)
from bigtime.site.mailbox_check import UnknownCheck
from bigtime.systems import deals, portal
from bigtime.systems.cart.line import BackAlready
from bigtime.web.http import BadForm, NotAllowed, TooManyTries, status_in_form, status_of

FAMILIES: dict[type[DomainError], int] = {
    Malformed: 400,
    NotSignedIn: 401,
    Forbidden: 403,
    NotFound: 404,
    Clash: 409,
    RuleBroken: 422,
    TooMany: 429,
    Unavailable: 503,
}


def every_error() -> Iterator[type[DomainError]]:
    for found in walk_packages(bigtime.__path__, "bigtime."):
        if found.name.endswith("__main__"):
            continue
        for value in vars(import_module(found.name)).values():
            is_error = isinstance(value, type) and issubclass(value, DomainError)
            if is_error and value.__module__ == found.name and value is not DomainError:
                yield value


def test_every_error_belongs_to_exactly_one_family() -> None:
    errors = [*every_error()]
    homeless = {
        f"{error.__module__}.{error.__name__}": families
        for error in errors
        if len(families := [family for family in FAMILIES if issubclass(error, family)]) != 1
    }
    assert homeless == {}
    assert len(errors) > 200


def test_an_error_has_the_status_of_its_family_and_none_of_its_own() -> None:
    for each in every_error():
        (family,) = (family for family in FAMILIES if issubclass(each, family))
        assert status_of(each.__new__(each)) == FAMILIES[family]
        assert not hasattr(each, "status"), "what HTTP makes of it is for the web to say"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (deals.UnknownDeal, 404),
        (deals.AlreadyLiked, 409),
        (deals.NotLiked, 422),
        (BackAlready, 409),
        (portal.UnknownTenant, 404),
        (portal.EmailTaken, 409),
        (portal.CodeSpent, 403),
        (portal.DatesReversed, 422),
        (UnknownCheck, 404),
        (CursorError, 400),
        (ItemMissing, 404),
        (ItemExists, 409),
        (ConditionFailed, 409),
        (Unfinished, 503),
        (NotReady, 503),
        (NotAllowed, 403),
        (BadForm, 400),
    ],
)
def test_an_error_has_its_status(error: type[DomainError], status: int) -> None:
    assert status_of(error()) is HTTPStatus(status)


def test_an_error_of_no_family_is_against_a_rule() -> None:
    class TooGreen(DomainError):
        """This is too green; wait until it is ripe."""

    assert status_of(TooGreen()) == 422


def test_too_many_tries_are_429_and_what_a_form_names_is_never_404() -> None:
    assert status_of(TooManyTries(1)) == 429
    assert status_in_form(deals.UnknownDeal()) == 422
    assert status_in_form(deals.AlreadyLiked()) == 409
