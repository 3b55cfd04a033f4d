"""The customer portal: pricing, campaigns, checkout, and the admin lists."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.portal import (checkout, confirm, home, outbox, pricing, register)

PORTAL: Final[tuple[APIRouter, ...]] = (
    pricing.pricing, checkout.checkout, confirm.confirm, register.register, home.home, home.orders,
    outbox.outbox,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["PORTAL"]
