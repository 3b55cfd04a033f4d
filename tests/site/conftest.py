"""What the tests of the site can ask for."""

from __future__ import annotations

from tests.store.test_transports import certificate, tls
from tests.web.catalog.conftest import scene
from tests.web.conftest import passwords_hashed_quickly, templates_compiled_once

__all__ = ["certificate", "passwords_hashed_quickly", "scene", "templates_compiled_once", "tls"]
