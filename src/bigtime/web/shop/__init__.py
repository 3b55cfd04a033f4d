"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.shop import (
    activity, addresses, brands, cart, categories, checkout, deals, front_page, inbox, interest,
    log_in, me, orders, sign_up, trending,
)
from bigtime.web.shop.slots import personal_slots

SHOP: Final[tuple[APIRouter, ...]] = (
    front_page.front_page, deals.deals, categories.categories, brands.brands, trending.trending,
    interest.interest, sign_up.sign_up, log_in.log_in, me.me, inbox.inbox, activity.activity,
    cart.cart, checkout.checkout, orders.orders, addresses.addresses,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["SHOP", "personal_slots"]
