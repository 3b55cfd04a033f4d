"""Every router of the admin's pages, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.admin.campaigns import campaigns
from bigtime.web.admin.history import history
from bigtime.web.admin.overview import overview
from bigtime.web.admin.products import products
from bigtime.web.admin.reminders import reminders
from bigtime.web.admin.statuses import statuses
from bigtime.web.admin.tenants import tenants

ADMIN: Final[tuple[APIRouter, ...]] = (
    overview,
    tenants,
    statuses,
    products,
    campaigns,
    reminders,
    history,
)
