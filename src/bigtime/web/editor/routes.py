"""Every router of the desk, in the order in which routes are tried."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.editor.brands import brands
from bigtime.web.editor.changes import changes
from bigtime.web.editor.deals import deals
from bigtime.web.editor.desk import desk
from bigtime.web.editor.featured import featured
from bigtime.web.editor.hot_deal import hot_deal
from bigtime.web.editor.new_deals import new_deals

EDITOR: Final[tuple[APIRouter, ...]] = (
    desk,
    new_deals,
    deals,
    hot_deal,
    brands,
    featured,
    changes,
)
