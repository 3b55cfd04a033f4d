"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.shop import (
    addresses, cart, checkout, confirm_email, crawlers, deals, inbox, interests, me, orders, search,
    sign_in, trending,
)
from bigtime.web.shop.slots import personal_slots

SHOP: Final[tuple[APIRouter, ...]] = (
    deals.router, interests.router, trending.router, search.router, sign_in.router,
    confirm_email.router, me.router, inbox.router, cart.router, checkout.router, orders.router,
    addresses.router, crawlers.router,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["SHOP", "personal_slots"]
