"""Every error of a system has a status of its own choosing, whatever it is called."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest

import bigtime.systems
import bigtime.web
from bigtime.model import DomainError
from bigtime.systems.cart.line import BackAlready
from bigtime.systems.deals.errors import AlreadyLiked, NotLiked, UnknownDeal
from bigtime.systems.portal.errors import CodeSpent, DatesReversed, EmailTaken, UnknownTenant
from bigtime.web.http.statuses import STATUSES, status_of


def errors_in(package: ModuleType, *, ending: str = "") -> Iterator[type[DomainError]]:
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        if found.name.endswith(ending):
            for value in vars(import_module(found.name)).values():
                is_error = isinstance(value, type) and issubclass(value, DomainError)
                if is_error and value.__module__ == found.name:
                    yield value


def test_every_error_of_a_system_is_listed_or_of_a_family_that_is() -> None:
    missing = [
        f"{one.__module__}.{one.__name__}"
        for one in errors_in(bigtime.systems, ending=".errors")
        if not any(kind in STATUSES for kind in one.__mro__)
    ]
    assert missing == []


def test_no_error_of_the_site_has_its_status_from_its_name() -> None:
    for one in errors_in(bigtime.web):
        renamed: type[DomainError] = type("Whatever", (one,), {})
        assert status_of(renamed.__new__(renamed)) == status_of(one.__new__(one))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownDeal, 404),
        (AlreadyLiked, 409),
        (NotLiked, 422),
        (BackAlready, 409),
        (UnknownTenant, 404),
        (EmailTaken, 409),
        (CodeSpent, 403),
        (DatesReversed, 422),
    ],
)
def test_an_error_has_its_status(error: type[DomainError], status: int) -> None:
    assert status_of(error()) is HTTPStatus(status)
