"""The admin's part of the portal."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.admin import (
    campaigns, operations, orders, overview, products, records, tenants, users,
)

ADMIN: Final[tuple[APIRouter, ...]] = (
    overview.overview, tenants.tenants, products.products, campaigns.campaigns, records.history,
    users.users, orders.orders, operations.operations,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["ADMIN"]
