"""Every router of the site, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.admin import ADMIN
from bigtime.web.api import API
from bigtime.web.desk import DESK
from bigtime.web.portal import PORTAL
from bigtime.web.shop import SHOP

ROUTERS: Final[tuple[APIRouter, ...]] = (*SHOP, *DESK, *PORTAL, *ADMIN, *API)
