"""Who calls the API."""

from __future__ import annotations

import pytest

from bigtime.systems.accounts.design import Role
from tests.web.api.portal_client import Program, program_of
from tests.web.browsing import Web


@pytest.fixture
def nobody(web: Web) -> Program:
    """A program without a session."""
    return Program(web)


@pytest.fixture
def ada(web: Web) -> Program:
    """An admin's program."""
    return program_of(web, "ada", Role.ADMIN)
