"""The editor's desk: deals and brands, featured deals, hot deals, and a log of changes."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.desk import brands, deals, desk, featured, new_deals, pictures

DESK: Final[tuple[APIRouter, ...]] = (
    desk.router, new_deals.router, deals.router, brands.router, featured.router,
    pictures.router,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["DESK"]
