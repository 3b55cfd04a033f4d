"""Counts views of deals in memory, and writes them every few seconds; see site.engagement."""

from __future__ import annotations

import asyncio
import logging
from typing import Final
from weakref import WeakValueDictionary

from bigtime import site
from bigtime.site import DEALS_AT_ONCE, EngagementCounts, Visitor
from bigtime.store import AsyncStore
from bigtime.systems import catalog
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.web.http import Limits, Scope, client_in

log = logging.getLogger("bigtime.web")
SECONDS_BETWEEN: Final = 3.0
MOST_COUNTED: Final = 100_000
FOLDER: Final = "/deals/"
PATH_LENGTH: Final = len(FOLDER) + 27


class Engagement:
    """Counts views, and writes views and clicks. For one event loop."""

    def __init__(self, store: AsyncStore, limits: Limits, *, proxies: int = 0) -> None:
        self.store = store
        self.limits = limits
        self.proxies = proxies
        self.counted = EngagementCounts()
        self._moving: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def note(self, scope: Scope, visitor: Visitor | None) -> None:
        """Counts a view, if the response was a deal's page."""
        path: str = scope["path"]
        if len(path) != PATH_LENGTH or not path.startswith(FOLDER):
            return
        if not self.is_counted("view", scope, visitor):
            return
        counted, deal_id = self.counted, path[len(FOLDER) :]
        if len(counted.views) < MOST_COUNTED:
            counted.views[deal_id] = counted.views.get(deal_id, 0) + 1
        if visitor is not None and len(counted.viewers) < MOST_COUNTED:
            counted.viewers.add((visitor.username, deal_id))

    def is_counted(self, action: str, scope: Scope, visitor: Visitor | None) -> bool:
        """Whether the limit of the visitor, or of the client's address, allows one more."""
        if visitor is None:
            return not self.limits.tried(action, client_in(scope, proxies=self.proxies))
        return not self.limits.tried(action, f"@{visitor.username}")

    async def click(self, deal: Deal, visitor: Visitor | None, scope: Scope) -> None:
        """Records that a visitor opens the offer of a deal."""
        if not self.is_counted("click", scope, visitor):
            return
        username = visitor.username if visitor else None
        lock = self._moving.setdefault(deal.deal_id, asyncio.Lock())
        async with lock:
            try:
                await self.store.run(site.record_click(deal, username))
            except catalog.EngagementMoved:
                await self.click_later(deal, username)

    async def click_later(self, deal: Deal, username: str | None) -> None:
        """Counts a click with the next views: other requests keep moving the deal's rank."""
        if username is None or await self.store.run(site.record_click_activity(deal, username)):
            clicks = self.counted.clicks
            clicks[deal.deal_id] = clicks.get(deal.deal_id, 0) + 1

    async def run(self) -> None:
        """Writes the counts every few seconds, until it is cancelled."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN)
            try:
                await self.flush()
            except Exception:
                log.exception("views could not be written down; they are kept for the next time")

    async def flush(self) -> None:
        """Writes the counts; what cannot be written is kept for the next time."""
        if not self.counted:
            return
        counted, self.counted = self.counted, EngagementCounts()
        try:
            found = await self.store.run(fetch_deals(counted.deal_ids))
            deals = {str(deal.deal_id): deal for deal in found}
            await self.store.run(site.record_views(deals, counted.viewers))
            counted.viewers.clear()
            listed = list(deals.values())
            for start in range(0, len(listed), DEALS_AT_ONCE):
                chunk = listed[start : start + DEALS_AT_ONCE]
                await self.store.run(site.move_to_new_ranks([counted.of(deal) for deal in chunk]))
                for deal in chunk:
                    counted.views.pop(deal.deal_id, None)
                    counted.clicks.pop(deal.deal_id, None)
        except BaseException:
            self.take_back(counted)
            raise

    def take_back(self, counted: EngagementCounts) -> None:
        new = self.counted
        for mine, theirs in ((new.views, counted.views), (new.clicks, counted.clicks)):
            for deal_id, number in theirs.items():
                mine[deal_id] = mine.get(deal_id, 0) + number
        new.viewers |= counted.viewers
