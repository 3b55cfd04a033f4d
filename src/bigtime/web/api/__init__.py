"""The JSON APIs."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.api.cart import cart_api
from bigtime.web.api.catalog import catalog_api
from bigtime.web.api.catalog_editing import catalog_editing
from bigtime.web.api.catalog_own import catalog_own
from bigtime.web.api.deals import deals_api
from bigtime.web.api.deals_editing import deals_editing
from bigtime.web.api.deals_own import deals_own
from bigtime.web.api.docs import Documentation, docs
from bigtime.web.api.getting_started import guide_in_markdown
from bigtime.web.api.portal_campaigns import campaigns
from bigtime.web.api.portal_checkout import checkout
from bigtime.web.api.portal_products import products
from bigtime.web.api.portal_tenants import tenants
from bigtime.web.api.search import search_api
from bigtime.web.api.sessions import sessions_api
from bigtime.web.api.shop import shop_api
from bigtime.web.api.routing import faults_of

PORTAL: Final[tuple[APIRouter, ...]] = (tenants, products, campaigns, checkout)
V1: Final[tuple[APIRouter, ...]] = (
    deals_editing, deals_api, deals_own, catalog_editing, catalog_api, catalog_own, cart_api,
    shop_api, sessions_api,
)
API: Final[tuple[APIRouter, ...]] = (*PORTAL, *V1, search_api, docs)
"""Every router of the APIs, in the order in which routes are tried."""

NOT_FOR_HTTP: Final = {
    "cart.purchase": "part of the transaction of `POST /me/orders`",
    "cart.count_products": "a badge of the site's pages; who reads `/me/cart` has the products",
    "cart.import_rows": "a file's worth of other accounts' carts; the command line loads it",
    "deals.expire_deals": "the worker does it, every quarter of a minute",
    "deals.view_unpublished_deals": "editors have the list at their desk",
    "sessions.note_use": "part of any request with a session, every five minutes",
}
"""Patterns that have no route, and why."""

__all__ = ["API", "NOT_FOR_HTTP", "V1", "Documentation", "faults_of", "guide_in_markdown"]
