"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.shop import (
    about, addresses, api_tokens, cart, change_email, checkout, confirm_email, crawlers, deals,
    feeds, inbox, interests, me, notifications, orders, own_data, pictures, saved, search, sign_in,
    trending,
)
from bigtime.web.shop.slots import personal_slots

SHOP: Final[tuple[APIRouter, ...]] = (
    feeds.router, deals.router, saved.router, interests.router, trending.router, search.router,
    sign_in.router, confirm_email.router, me.router, inbox.router, cart.router, checkout.router,
    orders.router, addresses.router, own_data.router, change_email.router, notifications.router,
    api_tokens.router, crawlers.router, about.router, pictures.router,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["SHOP", "personal_slots"]
