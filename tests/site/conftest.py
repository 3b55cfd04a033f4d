"""What the tests of the site can ask for."""

from __future__ import annotations

from tests.store.test_transports import certificate, tls
from tests.web.catalog.conftest import scene

__all__ = ["certificate", "scene", "tls"]
