"""Counts views of deals in memory, and writes them every few seconds; see site.engagement.

The views of the last hour, which do not count again, are known to one process, or to all that serve
one port: these share a table in memory, which is created before they are forked. A view has one
slot in it, by its hash, and a later view may take that slot; then the first one counts again. The
same may happen if two processes write at once: a view is not worth a lock.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import struct
from collections.abc import Sequence
from math import inf
from typing import Final, Protocol
from weakref import WeakValueDictionary

from bigtime import site
from bigtime.model import Conflict, DomainError, ValueRefused
from bigtime.site import DEALS_AT_ONCE, DealEngagement, EngagementCounts, Visitor
from bigtime.store import AsyncStore, TransportError
from bigtime.systems import catalog
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.web.http import Limits, Scope, client_in
from bigtime.wire import DynamoDBError, Steps

log = logging.getLogger("bigtime.web")
SECONDS_BETWEEN: Final = 3.0
MOST_COUNTED: Final = 100_000
HOUR: Final = 3600.0
FOLDER: Final = "/deals/"
OVERTAKEN: Final = (catalog.EngagementMoved, Conflict)
REFUSED: Final = (DomainError, ValueRefused)
PATH_LENGTH: Final = len(FOLDER) + 27
MOST_REMEMBERED: Final = 100_000
"""Views of the last hour; beyond that, the oldest are dropped, and may count again."""
PLACES: Final = 1 << 18
PLACE: Final = struct.Struct("=qd")


class RecentViews(Protocol):
    def last(self, view: int) -> float:
        """When this view was counted last."""

    def note(self, view: int, now: float) -> None: ...


class OwnViews:
    """The latest views of one process, and when each was counted."""

    def __init__(self) -> None:
        self._moments: dict[int, float] = {}

    def last(self, view: int) -> float:
        return self._moments.get(view, -inf)

    def note(self, view: int, now: float) -> None:
        self._moments.pop(view, None)  # the latest are last
        if len(self._moments) >= MOST_REMEMBERED:
            del self._moments[next(iter(self._moments))]
        self._moments[view] = now

    def __len__(self) -> int:
        return len(self._moments)


class SharedViews:
    """The latest views of all processes forked from this one, in 4 MiB of shared memory."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, PLACES * PLACE.size)

    def last(self, view: int) -> float:
        known, moment = PLACE.unpack_from(self._memory, view % PLACES * PLACE.size)
        return moment if known == view and moment else -inf

    def note(self, view: int, now: float) -> None:
        PLACE.pack_into(self._memory, view % PLACES * PLACE.size, view, now)


class Engagement:
    """Counts views, and writes views and clicks. For one event loop."""

    def __init__(
        self,
        store: AsyncStore,
        limits: Limits,
        *,
        proxies: int = 0,
        viewed: RecentViews | None = None,
    ) -> None:
        self.store = store
        self.limits = limits
        self.proxies = proxies
        self.counted = EngagementCounts()
        self.viewed = OwnViews() if viewed is None else viewed
        self._flushing = asyncio.Lock()
        self._moving: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def note(self, scope: Scope, visitor: Visitor | None) -> None:
        """Counts a view, if the response was a deal's page and it is the first in an hour."""
        path: str = scope["path"]
        if len(path) != PATH_LENGTH or not path.startswith(FOLDER):
            return
        who, deal_id = self.subject(scope, visitor), path[len(FOLDER) :]
        view, now = hash((who, deal_id)), self.limits.clock()
        is_first = now - self.viewed.last(view) >= HOUR
        if (visitor is None and not is_first) or self.limits.count_try("view", who):
            return
        counted = self.counted
        if visitor is not None and len(counted.viewers) < MOST_COUNTED:
            counted.viewers.add((visitor.username, deal_id))
        if is_first and len(counted.views) < MOST_COUNTED:
            self.viewed.note(view, now)
            counted.views[deal_id] = counted.views.get(deal_id, 0) + 1

    def subject(self, scope: Scope, visitor: Visitor | None) -> str:
        """The subject of the limits of views and clicks: the visitor, or the client's network."""
        return client_in(scope, proxies=self.proxies) if visitor is None else f"@{visitor.username}"

    async def click(self, deal: Deal, visitor: Visitor | None, scope: Scope) -> None:
        """Records that a visitor opens a deal's offer."""
        if self.limits.count_try("click", self.subject(scope, visitor)):
            return
        username = visitor.username if visitor else None
        lock = self._moving.setdefault(deal.deal_id, asyncio.Lock())
        async with lock:
            try:
                await self.store.run(site.record_click(deal, username))
            except catalog.EngagementMoved:
                await self.click_later(deal, username)

    async def click_later(self, deal: Deal, username: str | None) -> None:
        """Counts a click with the next views, as other requests keep moving the deal's rank."""
        if username is None or await self.store.run(site.record_click_activity(deal, username)):
            clicks = self.counted.clicks
            clicks[deal.deal_id] = clicks.get(deal.deal_id, 0) + 1

    async def run(self) -> None:
        """Writes the counts every few seconds, until it is cancelled."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN)
            try:
                # A cancelled write may have been carried out, and it would be unknown what to keep.
                await asyncio.shield(self.flush())
            except Exception:
                log.exception("views could not be written down; they are kept for the next time")

    async def flush(self) -> None:
        """Writes the counts; what cannot be written is kept for the next time."""
        async with self._flushing:
            if not self.counted:
                return
            counted, self.counted = self.counted, EngagementCounts()
            try:
                await self.write(counted)
            except BaseException:
                self.counted.add(counted)
                raise

    async def write(self, counted: EngagementCounts) -> None:
        """Writes counts, and removes those that were written.

        If deals were overtaken, raises that after all others are written.
        """
        found = await self.store.run(fetch_deals(counted.deal_ids))
        deals = {str(deal.deal_id): deal for deal in found}
        await self.store.run(site.record_views(deals, counted.viewers))
        counted.viewers.clear()
        moves = [move for move in map(counted.of, found) if move.views or move.clicks]
        overtaken: list[DomainError] = []
        for start in range(0, len(moves), DEALS_AT_ONCE):
            chunk = moves[start : start + DEALS_AT_ONCE]
            try:
                await self.move(site.move_to_new_ranks(chunk), chunk, counted)
            except REFUSED:
                overtaken += await self.move_each(chunk, counted)
        if overtaken:
            raise overtaken[0]

    async def move_each(
        self, moves: Sequence[DealEngagement], counted: EngagementCounts
    ) -> list[DomainError]:
        """Moves each deal separately; returns the errors of those that were overtaken again.

        What a rule refuses would be refused every time, so it is dropped.
        """
        overtaken: list[DomainError] = []
        for engagement in moves:
            try:
                await self.move(site.move_to_new_rank(engagement), [engagement], counted)
            except OVERTAKEN as error:
                overtaken.append(error)
            except REFUSED:
                log.exception("views of deal %s cannot be counted", engagement.deal.deal_id)
                counted.forget([engagement])
        return overtaken

    async def move(
        self, steps: Steps[None], moves: Sequence[DealEngagement], counted: EngagementCounts
    ) -> None:
        """Runs the transaction that moves deals, and removes them from the counts.

        Also if no response came: it may have been carried out, and no view must count twice.
        """
        try:
            await self.store.run(steps)
        except BaseException as error:
            if not is_undone(error):
                counted.forget(moves)
            raise
        counted.forget(moves)


def is_undone(error: BaseException) -> bool:
    """Whether a failed request was certainly not carried out."""
    if isinstance(error, TransportError):
        return not error.uncertain
    return isinstance(error, (*REFUSED, DynamoDBError))
