"""Every router of the shop, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.shop.activity import activity
from bigtime.web.shop.addresses import addresses
from bigtime.web.shop.brands import brands
from bigtime.web.shop.cart import cart
from bigtime.web.shop.categories import categories
from bigtime.web.shop.checkout import checkout
from bigtime.web.shop.deals import deals
from bigtime.web.shop.front_page import front_page
from bigtime.web.shop.inbox import inbox
from bigtime.web.shop.interest import interest
from bigtime.web.shop.log_in import log_in
from bigtime.web.shop.me import me
from bigtime.web.shop.orders import orders
from bigtime.web.shop.sign_up import sign_up
from bigtime.web.shop.trending import trending

SHOP: Final[tuple[APIRouter, ...]] = (
    front_page,
    deals,
    categories,
    brands,
    trending,
    interest,
    sign_up,
    log_in,
    me,
    inbox,
    activity,
    cart,
    checkout,
    orders,
    addresses,
)
