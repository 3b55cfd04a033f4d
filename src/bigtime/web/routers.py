"""Every router of the site, in the order in which routes are tried."""

from __future__ import annotations

from fastapi import APIRouter

from bigtime.web.api.routes import API
from bigtime.web.editor.routes import EDITOR
from bigtime.web.portal.routes import PORTAL
from bigtime.web.shopper.activity import activity
from bigtime.web.shopper.addresses import addresses
from bigtime.web.shopper.brands import brands
from bigtime.web.shopper.cart import cart
from bigtime.web.shopper.categories import categories
from bigtime.web.shopper.checkout import checkout
from bigtime.web.shopper.deals import deals
from bigtime.web.shopper.front_page import front_page
from bigtime.web.shopper.inbox import inbox
from bigtime.web.shopper.interest import interest
from bigtime.web.shopper.log_in import log_in
from bigtime.web.shopper.me import me
from bigtime.web.shopper.orders import orders
from bigtime.web.shopper.sign_up import sign_up
from bigtime.web.shopper.trending import trending

ROUTERS: tuple[APIRouter, ...] = (
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
    *EDITOR,
    *PORTAL,
    *API,
)
