"""Analytics for editors and admins: charts and tables over the lake, and their rows as CSV."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.analytics import overview

ANALYTICS: Final[tuple[APIRouter, ...]] = (overview.router,)
"""The routers, in the order in which routes are tried."""

__all__ = ["ANALYTICS"]
