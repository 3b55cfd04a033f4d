"""The editor's desk: deals and brands are made here, featured, and told of to everybody."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.desk import (brands, deals, desk, featured, hot_deal, new_deals)

DESK: Final[tuple[APIRouter, ...]] = (
    desk.desk, new_deals.new_deals, deals.deals, hot_deal.hot_deal, brands.brands,
    featured.featured, desk.changes,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["DESK"]
