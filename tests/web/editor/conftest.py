"""Somebody at the desk."""

from __future__ import annotations

import pytest

from bigtime.systems.accounts.design import Role
from tests.web.browsing import Browser, Web


@pytest.fixture
def erin(web: Web) -> Browser:
    """An editor who is signed in."""
    return web.signed_in("erin", Role.EDITOR)
