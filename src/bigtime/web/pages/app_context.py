"""The application's context: all that the handlers of requests use, in one object."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from fastapi import Request, Response

from bigtime import site, wire
from bigtime.model import Cursors, NotSignedIn
from bigtime.site import Codes, Mover, PlanShop, Unsubscribing, Visitor, Visitors
from bigtime.store import AsyncStore, Retries, Runnable, Store
from bigtime.systems import accounts
from bigtime.web import http
from bigtime.web.http import SESSION, VISIT
from bigtime.web.pages.guest_carts import GuestCarts
from bigtime.web.pages.hot_pages import NO_STORE, PRIVATE, page_headers
from bigtime.web.pages.page import Page, SlotRenderer
from bigtime.web.pages.page_cache import DealLists, Make, TaggedCache
from bigtime.web.pages.picture_files import PictureFiles
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.site_search import SiteSearch
from bigtime.web.pages.submitted_form import AnyForm, SubmittedForm
from bigtime.web.pages.view_counter import Engagement
from bigtime.wire import Steps

T = TypeVar("T")

RESTORE = "restore"
"""The parameter of a page's query that has the id of a saved form."""
LONGEST_ID = 32
RESTORED = "You were signed out before this was sent. Check it, and send it again."


# A password's hash takes 30 ms, in which an event loop answers nothing else. So such steps run on a
# few threads, and only their requests come back to the loop, which has the store. The number of
# threads also bounds the memory that hashing takes: 19 MiB each.
THREADS = 2


def leave_to_loop(pattern: str | None, units: float) -> None:
    """Requests get their names here; the loop's store, which sends them, counts them."""


class CpuPool:
    """Runs steps beside the event loop, on its store."""

    def __init__(self, store: AsyncStore) -> None:
        self.store = store
        self._threads = ThreadPoolExecutor(THREADS, "bigtime-cpu")

    async def run(self, steps: Runnable[T]) -> T:
        loop = asyncio.get_running_loop()

        def ask(request: wire.Request) -> wire.Response:
            return asyncio.run_coroutine_threadsafe(self.store.send(request), loop).result()

        # The loop's store repeats what failed; to repeat it here too would multiply the tries.
        blocking = Store(
            ask,
            clock=self.store.clock,
            randomness=self.store.randomness,
            meter=leave_to_loop,
            retries=Retries(attempts=1),
        )
        return await loop.run_in_executor(self._threads, blocking.run, steps)


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

    async def visitor(self, request: Request) -> Visitor | None:
        """The visitor who is signed in, if any; looked up once in a request."""
        known: Visitor | None
        try:
            known = request.state.visitor
        except AttributeError:
            known = await self.visitors.of(self.cookies.read(SESSION, request.scope["headers"]))
            request.state.visitor = known
        return known

    async def signed_in(self, request: Request) -> Visitor:
        """The visitor; raises NotSignedIn if there is none."""
        visitor = await self.visitor(request)
        if visitor is None:
            raise NotSignedIn()
        return visitor

    async def with_role(self, request: Request, role: accounts.Role) -> Visitor:
        """The visitor; raises NotAllowed if they do not have the role."""
        visitor = await self.signed_in(request)
        if not visitor.has(role):
            raise http.NotAllowed()
        return visitor

    async def remember(
        self, key: Hashable, tags: Callable[[T], Collection[str]], steps: Callable[[], Steps[T]]
    ) -> T:
        """What steps return, cached until one of its tags is invalidated."""

        async def make() -> tuple[T, Collection[str]]:
            value = await self.store.run(steps())
            return value, tags(value)

        value: T = await self.cache.remember(key, make)
        return value

    async def cached_page(
        self,
        request: Request,
        make: Make[Page],
        *,
        after: str | None = None,
        address: str | None = None,
        seconds: float | None = None,
    ) -> Response:
        """A page, cached under its path and its cursor, `after`, or under an address that is given.

        Other parameters of the query are ignored, so they are not part of the key.
        """
        path: str = request.scope["path"]
        address = address or (path if after is None else f"{path}?after={after}")
        page = await self.cache.remember(address, make, seconds=seconds)
        return await self.answer(request, page, cache_control=PRIVATE)

    async def answer(
        self, request: Request, page: Page, *, cache_control: http.Header = NO_STORE
    ) -> Response:
        """A page as a response, its slots filled for the visitor."""
        visitor = await self.visitor(request)
        in_cart = 0 if visitor else self.guest_carts.count(request.scope["headers"])
        return await self.answer_for(visitor, page, cache_control, in_cart=in_cart)

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

    async def page(
        self, request: Request, template: str, /, *, status: int | None = None, **values: Any
    ) -> Response:
        """A page; its status is that of the form on it, unless another is given."""
        forms = [value for value in values.values() if isinstance(value, SubmittedForm)]
        status = status or max([200, *(form.status for form in forms)])
        response = await self.answer(
            request, self.templates.page(template, status=status, **values)
        )
        for form in forms:
            if form.retry_after is not None:
                response.headers["retry-after"] = str(form.retry_after)
        return response

    async def form_page(
        self, request: Request, template: str, /, *, status: int | None = None, **values: Any
    ) -> Response:
        """A page with forms, for one visitor: its `token` belongs to the session or the visit.

        A form that was kept while its sender signed in is shown as it was typed.
        """
        saved_id = request.query_params.get(RESTORE)
        if saved_id and request.method == "GET" and "form" in values:
            values["form"] = await self.restore_form(saved_id, values["form"])
        holder = self.form_holder(request)
        drawn = holder or secrets.token_urlsafe(32)
        token = self.form_tokens.token(drawn)
        response = await self.page(request, template, status=status, token=token, **values)
        if holder is None:
            response.raw_headers.append(self.cookies.set_header(VISIT, drawn))
        return response

    async def restore_form(self, saved_id: str, form: AnyForm) -> AnyForm:
        """A form with the fields that were typed before its sender signed in."""
        saved = await self.store.run(site.fetch_saved_form(saved_id[:LONGEST_ID]))
        if not saved:
            return form
        typed = {**form.typed, **saved}
        return replace(form, typed=typed, fault=RESTORED, shown_as=form.status)

    def client(self, request: Request) -> str:
        """The network that a request comes from."""
        return http.client_of(request, proxies=self.settings.proxies or 0)

    async def count_try(self, action: str, request: Request) -> None:
        """Counts a try by the client's network; raises TooManyTries."""
        await self.count_try_of(action, self.client(request))

    async def count_try_of(self, action: str, who: str) -> None:
        """Counts a try of a subject, where the action is counted; raises TooManyTries."""
        limit = self.limits.limits[action]
        if limit.counted is http.Counted.IN_MEMORY:
            self.limits.take(action, who)
            return
        steps = site.count_try(action, who, tries=limit.tries, seconds=limit.seconds)
        seconds = await self.store.run(steps)
        if seconds:
            raise http.TooManyTries(seconds)

    async def forget_tries(self, action: str, who: str) -> None:
        """Gives all tries back, after one that succeeded."""
        limit = self.limits.limits[action]
        if limit.counted is http.Counted.IN_MEMORY:
            self.limits.forget(action, who)
            return
        await self.store.run(site.forget_tries(action, who, seconds=limit.seconds))

    async def count_order(self, request: Request, account: str) -> None:
        """Counts an order by the client's network and by account; raises TooManyTries."""
        await self.count_try("order from", request)
        await self.count_try_of("order", account)

    def count_write(self, who: str) -> None:
        """Counts a request that changes something; raises TooManyTries."""
        self.limits.take("write", who)

    def form_holder(self, request: Request) -> str | None:
        """The cookie that a form's token is made from: that of the session, or of the visit."""
        headers = request.scope["headers"]
        return self.cookies.read(SESSION, headers) or self.cookies.read(VISIT, headers)


def context_of(request: Request) -> AppContext:
    context: AppContext = request.app.state.context
    return context


def ordering_of(context: AppContext) -> PlanShop:
    return PlanShop(ZoneInfo(context.settings.time_zone), context.settings.base_url)


def unsubscribing_of(context: AppContext) -> Unsubscribing:
    return Unsubscribing(context.pepper, context.settings.base_url)


def mover_of(context: AppContext, visitor: Visitor) -> Mover:
    """A visitor as the one who moves an order."""
    orders_url = f"{context.settings.base_url}/orders"
    return Mover(visitor.username, orders_url, unsubscribing_of(context))


def codes_of(context: AppContext) -> Codes:
    return Codes(context.pepper, context.settings.base_url)
