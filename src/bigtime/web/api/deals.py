"""The API of `deals`: everybody reads, editors write, and each has their own likes and messages."""

from __future__ import annotations

from typing import Final

from bigtime.web.api.deals_editing import EDITING
from bigtime.web.api.deals_own import OF_CALLER
from bigtime.web.api.deals_reading import READING
from bigtime.web.api.v1_router import v1_router

DEALS: Final = (*EDITING, *READING, *OF_CALLER)

deals_api = v1_router("deals", DEALS)
