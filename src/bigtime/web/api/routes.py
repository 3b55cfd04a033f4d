"""Every router of the APIs, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.api.docs import docs
from bigtime.web.api.portal_campaigns import campaigns
from bigtime.web.api.portal_checkout import checkout
from bigtime.web.api.portal_products import products
from bigtime.web.api.portal_tenants import tenants
from bigtime.web.api.v1_routes import V1

API: Final[tuple[APIRouter, ...]] = (tenants, products, campaigns, checkout, *V1, docs)
