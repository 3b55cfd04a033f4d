"""Everything that a request needs, in one object that is made once."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Cursors, NotSignedIn
from bigtime.site import Codes, PlanShop, Visitor, Visitors
from bigtime.store import AsyncStore
from bigtime.systems import accounts
from bigtime.web.http import (
    SESSION,
    VISIT,
    Cookies,
    FormTokens,
    Header,
    Limits,
    NotAllowed,
    Settings,
    client_of,
)
from bigtime.web.pages.cpu_pool import CpuPool
from bigtime.web.pages.deal_lists import DealLists
from bigtime.web.pages.hot_pages import NO_STORE, PRIVATE, page_headers
from bigtime.web.pages.page import Page
from bigtime.web.pages.personal_slots import SlotRenderer
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.tagged_cache import Make, TaggedCache
from bigtime.web.pages.view_counter import Engagement
from bigtime.wire import Steps

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AppContext:
    """The parts that routes use."""

    settings: Settings
    store: AsyncStore
    cpu_pool: CpuPool
    cache: TaggedCache[Any]
    deals: DealLists
    visitors: Visitors
    slots: SlotRenderer
    templates: Templates
    cookies: Cookies
    form_tokens: FormTokens
    limits: Limits
    cursors: Cursors
    pepper: bytes
    engagement: Engagement

    async def visitor(self, request: Request) -> Visitor | None:
        """Who is asking; found once in a request."""
        known: Visitor | None
        try:
            known = request.state.visitor
        except AttributeError:
            known = await self.visitors.of(self.cookies.read(SESSION, request.scope["headers"]))
            request.state.visitor = known
        return known

    async def signed_in(self, request: Request) -> Visitor:
        """Who is asking; nobody is an error."""
        visitor = await self.visitor(request)
        if visitor is None:
            raise NotSignedIn()
        return visitor

    async def with_role(self, request: Request, role: accounts.Role) -> Visitor:
        """Who is asking; somebody without that role is an error."""
        visitor = await self.signed_in(request)
        if not visitor.has(role):
            raise NotAllowed()
        return visitor

    async def remember(
        self, key: Hashable, tags: Callable[[T], Collection[str]], steps: Callable[[], Steps[T]]
    ) -> T:
        """What steps give, cached until one of the tags of what they gave is invalidated."""

        async def make() -> tuple[T, Collection[str]]:
            value = await self.store.run(steps())
            return value, tags(value)

        value: T = await self.cache.remember(key, make)
        return value

    async def cached(
        self,
        request: Request,
        make: Make[Page],
        *,
        after: str | None = None,
        seconds: float | None = None,
    ) -> Response:
        """An answer that is cached under its path and its cursor, `after`.

        Other parameters of the query are ignored, so they are not part of the key.
        """
        path: str = request.scope["path"]
        address = path if after is None else f"{path}?after={after}"
        page = await self.cache.remember(address, make, seconds=seconds)
        return await self.answer(request, page, cache_control=PRIVATE)

    async def answer(
        self, request: Request, page: Page, *, cache_control: Header = NO_STORE
    ) -> Response:
        """A page as an answer, its slots filled for whoever asks."""
        return await self.answer_for(await self.visitor(request), page, cache_control)

    async def answer_for(
        self, visitor: Visitor | None, page: Page, cache_control: Header = NO_STORE
    ) -> Response:
        body = await self.slots.fill(page, visitor)
        response = Response(status_code=page.status)
        response.body = body
        response.raw_headers = page_headers(page, body, cache_control)
        return response

    async def form_page(
        self, request: Request, template: str, /, *, status: int = 200, **values: Any
    ) -> Response:
        """A page with forms, for one visitor: `token` in it belongs to the session or the visit."""
        holder = self.form_holder(request)
        drawn = holder or secrets.token_urlsafe(32)
        token = self.form_tokens.token(drawn)
        page = self.templates.page(template, status=status, token=token, **values)
        response = await self.answer(request, page)
        if holder is None:
            response.raw_headers.append(self.cookies.setting(VISIT, drawn))
        return response

    def count_try(self, action: str, request: Request) -> None:
        """Counts a try by the address that it comes from; one too many is an error."""
        self.limits.take(action, client_of(request, proxies=self.settings.proxies))

    def form_holder(self, request: Request) -> str | None:
        """The cookie that a form's token belongs to: that of the session, or of the visit."""
        headers = request.scope["headers"]
        return self.cookies.read(SESSION, headers) or self.cookies.read(VISIT, headers)


def context_of(request: Request) -> AppContext:
    context: AppContext = request.app.state.context
    return context


def ordering_of(context: AppContext) -> PlanShop:
    return PlanShop(ZoneInfo(context.settings.time_zone), context.settings.base_url)


def codes_of(context: AppContext) -> Codes:
    return Codes(context.pepper, context.settings.base_url)
