"""Every router of the portal, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.portal.checkout import checkout
from bigtime.web.portal.confirm import confirm
from bigtime.web.portal.home import home
from bigtime.web.portal.orders import orders
from bigtime.web.portal.outbox import outbox
from bigtime.web.portal.pricing import pricing
from bigtime.web.portal.register import register

PORTAL: Final[tuple[APIRouter, ...]] = (
    pricing,
    checkout,
    confirm,
    register,
    home,
    orders,
    outbox,
)
