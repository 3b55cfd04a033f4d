"""The site: everything that a request needs, in one object that is made once."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Cursors, NotSignedIn
from bigtime.site import Codes, DealsById, PlanShop, Visitor, Visitors
from bigtime.store import AsyncStore
from bigtime.systems import accounts
from bigtime.systems.deals import Deal
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
from bigtime.web.pages.cpu_pool import Apart
from bigtime.web.pages.hot_pages import NO_STORE, PRIVATE, address_of, page_headers
from bigtime.web.pages.kept_deals import kept_deals
from bigtime.web.pages.kept_places import FirstPlaces, Places, kept_places
from bigtime.web.pages.page import Page
from bigtime.web.pages.personal_slots import Fillings
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.web.pages.view_counter import Engagement


@dataclass(frozen=True, slots=True)
class Site:
    """The parts that routes use."""

    settings: Settings
    store: AsyncStore
    apart: Apart
    pages: TaggedCache[Page]
    facts: TaggedCache[Any]
    deals: TaggedCache[Deal]
    places: TaggedCache[Places]
    visitors: Visitors
    fillings: Fillings
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

    async def cached(
        self,
        request: Request,
        make: Callable[[], Awaitable[tuple[Page, Collection[str]]]],
        *,
        after: str | None = None,
        seconds: float | None = None,
    ) -> Response:
        """An answer that is kept under the request's address, with the tags that `make` tells.

        `after` is the cursor in the query, where the page has one. With any other query a page is
        answered, but not kept: whoever made up enough of them would push out all others.
        """
        begun = self.pages.begin()
        page, tags = await make()
        if page.status == 200 and is_plain(request.scope["query_string"], after):
            self.pages.put(address_of(request.scope), page, tags, begun=begun, seconds=seconds)
        return await self.answer(request, page, keeping=PRIVATE)

    def drop(self, tags: Iterable[str]) -> None:
        """Forgets what shows what was changed just now: who changed it sees it on the next page.

        Other processes hear of it from the data.
        """
        gone = set(tags)
        for cache in self.caches:
            cache.drop(gone)

    @property
    def caches(self) -> tuple[TaggedCache[Any], ...]:
        """All that shows what is in the tables, and so has to follow them."""
        return self.pages, self.facts, self.deals, self.places

    @property
    def deals_by_id(self) -> DealsById:
        """For pages that show deals; whoever changes something asks the store."""
        return kept_deals(self.deals)

    @property
    def first_places(self) -> FirstPlaces:
        """For the page of all that is trending."""
        return kept_places(self.places)

    async def answer(self, request: Request, page: Page, *, keeping: Header = NO_STORE) -> Response:
        """A page as an answer, its gaps filled for whoever asks."""
        return await self.answer_for(await self.visitor(request), page, keeping=keeping)

    async def answer_for(
        self, visitor: Visitor | None, page: Page, *, keeping: Header = NO_STORE
    ) -> Response:
        body = await self.fillings.fill(page, visitor)
        response = Response(status_code=page.status)
        response.body = body
        response.raw_headers = page_headers(page, body, keeping)
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


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def is_plain(query: bytes, after: str | None) -> bool:
    """Whether a query holds that cursor and nothing else, as the links on our pages have it."""
    return query == (b"" if after is None else f"after={after}".encode())


def ordering_of(site: Site) -> PlanShop:
    return PlanShop(ZoneInfo(site.settings.time_zone), site.settings.base_url)


def codes_of(site: Site) -> Codes:
    return Codes(site.pepper, site.settings.base_url)
