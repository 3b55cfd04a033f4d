"""The admin's part of the portal."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.admin import (campaigns, history, overview, products, reminders, statuses, tenants)

ADMIN: Final[tuple[APIRouter, ...]] = (
    overview.overview, tenants.tenants, statuses.statuses, products.products, campaigns.campaigns,
    reminders.reminders, history.history,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["ADMIN"]
