"""The application's context: everything that request handlers use, in one object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from fastapi import Response

from bigtime import site
from bigtime.model import Cursors
from bigtime.site import Codes, Mover, PlanShop, Unsubscribing, Visitor, Visitors
from bigtime.store import AsyncStore
from bigtime.web import http
from bigtime.web.pages.guest_carts import GuestCarts
from bigtime.web.pages.hot_pages import NO_STORE, page_headers
from bigtime.web.pages.page import Page, SlotRenderer
from bigtime.web.pages.page_cache import DealLists, TaggedCache
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.threads import CpuPool, PictureFiles, SiteSearch
from bigtime.web.pages.view_counter import Engagement
from bigtime.wire import Steps

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AppContext:
    """What handlers use; made once."""

    settings: http.Settings
    store: AsyncStore
    cpu_pool: CpuPool
    cache: TaggedCache[Any]
    deals: DealLists
    visitors: Visitors
    slots: SlotRenderer
    templates: Templates
    cookies: http.Cookies
    form_tokens: http.FormTokens
    devices: http.KnownDevices
    limits: http.Limits
    cursors: Cursors
    guest_carts: GuestCarts
    pepper: bytes
    engagement: Engagement
    search: SiteSearch
    pictures: PictureFiles

    async def remember(
        self,
        key: Hashable,
        tags: Collection[str],
        steps: Callable[[], Steps[T]],
        *,
        seconds: float | None = None,
    ) -> T:
        """The result of steps, cached until one of its tags is invalidated, or for some seconds."""

        async def make() -> tuple[T, Collection[str]]:
            return await self.store.run(steps()), tags

        value: T = await self.cache.remember(key, make, seconds=seconds)
        return value

    async def answer_for(
        self,
        visitor: Visitor | None,
        page: Page,
        cache_control: http.Header = NO_STORE,
        *,
        in_cart: int = 0,
    ) -> Response:
        body = await self.slots.fill(page, visitor, in_cart)
        response = Response(status_code=page.status)
        response.body = body
        response.raw_headers = page_headers(page, body, cache_control)
        return response

    async def count_try_of(self, action: str, who: str) -> None:
        """Counts a try of a subject, in memory or in the store; raises TooManyTries."""
        limit = self.limits.limits[action]
        if limit.counted is http.Counted.IN_MEMORY:
            self.limits.take(action, who)
            return
        steps = site.count_try(action, who, tries=limit.tries, seconds=limit.seconds)
        seconds = await self.store.run(steps)
        if seconds:
            raise http.TooManyTries(seconds)

    async def forget_tries(self, action: str, who: str) -> None:
        """Gives back all tries after a success."""
        limit = self.limits.limits[action]
        if limit.counted is http.Counted.IN_MEMORY:
            self.limits.forget(action, who)
            return
        await self.store.run(site.forget_tries(action, who, seconds=limit.seconds))

    # Arguments of the site's steps

    @property
    def plan_shop(self) -> PlanShop:
        return PlanShop(ZoneInfo(self.settings.time_zone), self.settings.base_url)

    @property
    def codes(self) -> Codes:
        return Codes(self.pepper, self.settings.base_url)

    @property
    def mail_links(self) -> Unsubscribing:
        return Unsubscribing(self.pepper, self.settings.base_url)

    def mover(self, visitor: Visitor) -> Mover:
        """The `Mover` of a visitor who moves an order."""
        orders_url = f"{self.settings.base_url}/orders"
        return Mover(visitor.username, orders_url, self.mail_links)
