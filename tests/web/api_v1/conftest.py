"""Who calls."""

from __future__ import annotations

import pytest

from bigtime.systems.accounts.design import Role
from tests.web.api_v1.calling import Caller, caller
from tests.web.api_v1.calling import nobody as without_token
from tests.web.browsing import Web


@pytest.fixture
def nobody(web: Web) -> Caller:
    return without_token(web)


@pytest.fixture
def sam(web: Web) -> Caller:
    """A shopper."""
    return caller(web, "sam")


@pytest.fixture
def bo(web: Web) -> Caller:
    """Another shopper."""
    return caller(web, "bo")


@pytest.fixture
def edith(web: Web) -> Caller:
    """An editor."""
    return caller(web, "edith", Role.EDITOR)


@pytest.fixture
def ada(web: Web) -> Caller:
    """An admin."""
    return caller(web, "ada", Role.ADMIN)
