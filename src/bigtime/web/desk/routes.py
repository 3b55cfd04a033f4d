"""Every router of the desk, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.desk.brands import brands
from bigtime.web.desk.changes import changes
from bigtime.web.desk.deals import deals
from bigtime.web.desk.desk import desk
from bigtime.web.desk.featured import featured
from bigtime.web.desk.hot_deal import hot_deal
from bigtime.web.desk.new_deals import new_deals

DESK: Final[tuple[APIRouter, ...]] = (
    desk,
    new_deals,
    deals,
    hot_deal,
    brands,
    featured,
    changes,
)
