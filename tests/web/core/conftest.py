"""A certificate that vouches for itself, as the transports' tests have it."""

from __future__ import annotations

from tests.store.test_transports import certificate, tls

__all__ = ["certificate", "tls"]
