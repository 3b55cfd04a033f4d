"""Every router of `/api/v1`, and what no route is for."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.api.cart import CART, cart_api
from bigtime.web.api.catalog import CATALOG, catalog_api
from bigtime.web.api.deals import DEALS, deals_api
from bigtime.web.api.endpoint import Endpoint
from bigtime.web.api.sessions import SESSIONS, sessions_api
from bigtime.web.api.shop import SHOP, shop_api

V1: Final[tuple[APIRouter, ...]] = (deals_api, catalog_api, cart_api, shop_api, sessions_api)

ENDPOINTS: Final[dict[str, tuple[Endpoint, ...]]] = {
    "deals": DEALS,
    "catalog": CATALOG,
    "cart": CART,
    "shop": SHOP,
    "sessions": SESSIONS,
}

NOT_FOR_HTTP: Final = {
    "cart.count_products": "a badge of the site's pages; who reads `/me/cart` has the products",
    "cart.import_rows": "a file's worth of other accounts' carts; the command line loads it",
}
"""Patterns that have no route, and why."""
