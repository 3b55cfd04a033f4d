"""The application: its context, routes, limits and lifespan, health checks and metrics."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from math import inf
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

import bigtime
from bigtime.model import Cursors
from bigtime.pictures import place_at
from bigtime.site import Searches, Visitors, check_writes, view_worker_report
from bigtime.store import AsyncStore, TransportError
from bigtime.web import http, pages
from bigtime.web.admin import ADMIN
from bigtime.web.analytics import analytics
from bigtime.web.answers import handle_problems
from bigtime.web.api import API, Documentation
from bigtime.web.desk import DESK
from bigtime.web.http import Counted, Limit, Meters, Settings, json_answer, problem_body
from bigtime.web.pages import AppContext, AppRequest, HotPages
from bigtime.web.portal import PORTAL
from bigtime.web.shop import SHOP, personal_slots
from bigtime.wire import DynamoDBError

log = logging.getLogger("bigtime.web")

Version: TypeAlias = Callable[[], int]
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[None]]

FILES = http.MarkedFiles()
SECONDS_ON_AWS = 1.0
"""How long a cached page is kept where no stream is followed."""
LOOK_SECONDS: Final = 0.1
SHARED_LOOK_SECONDS: Final = 0.05
"""For several processes: one may be asked for a page after a form was sent to another."""

health = APIRouter(tags=["operations"])
ROUTERS: Final[tuple[APIRouter, ...]] = (*SHOP, *DESK, *PORTAL, *ADMIN, analytics, *API)
"""The routers of the pages and APIs, in the order in which routes are tried."""

IN_STORE: Final = Counted.IN_STORE
LIMITS = {
    # By the client's network
    "log in": Limit(10, 60, IN_STORE),
    "sign up": Limit(5, 60, IN_STORE),
    "one-time code": Limit(5, 300, IN_STORE),
    "try code": Limit(20, 300, IN_STORE),
    "plan checkout": Limit(10, 300, IN_STORE),
    "order from": Limit(30, 300, IN_STORE),
    # By login or mailbox, together with the browser or network of the try
    "log in from": Limit(5, 300, IN_STORE),
    "one-time code to": Limit(5, 3600, IN_STORE),
    "try code to": Limit(20, 3600, IN_STORE),
    # By login or mailbox, over all browsers and networks together in which it is unknown
    "log in as": Limit(10, 300, IN_STORE),
    "any one-time code to": Limit(20, 24 * 3600, IN_STORE),
    # By account
    "change password": Limit(10, 300, IN_STORE),
    "export": Limit(5, 3600, IN_STORE),
    "delete account": Limit(10, 300, IN_STORE),
    "order": Limit(10, 300, IN_STORE),
    "like": Limit(60, 60),
    "write": Limit(120, 60),
    "upload": Limit(30, 300),
    # By API token: every request, whatever other limit it counts for
    "API token": Limit(600, 60),
    # By account, or by the client's network where nobody is signed in
    "view": Limit(120, 60),
    "click": Limit(30, 60),
    # By the client's network: requests for picture files that do not exist
    "missing picture": Limit(60, 60),
}
"""The rate limit of each action, and where it is counted.

Every POST, PUT and DELETE of a signed-in user is a `write`, whatever other limit it counts for.
"""


def make_app(
    settings: Settings,
    store: AsyncStore,
    *,
    version: Version | None = None,
    limits: dict[str, Limit] = LIMITS,
    meters: Meters | None = None,
    viewed: pages.RecentViews | None = None,
    drop_items: pages.DropItems | None = None,
) -> HotPages:
    """The site over a store, as an ASGI application.

    `version` returns a number that changes with every write, if the store is on an engine. `viewed`
    are the views that several processes share. `drop_items` drops changed items from the item
    cache.
    """
    meters = meters or Meters()
    documented = limits
    limits = http.share_limits(limits, settings.workers)
    seconds = None if version else SECONDS_ON_AWS
    context = make_context(settings, store, limits, seconds=seconds, viewed=viewed)
    # A GET of an API is looked up too, but not cached here, so misses count the rendered pages.
    meters.watch_cache("page", lambda: {"hits": context.cache.hits, "misses": context.cache.fills})
    store.hooks += (partial(pages.invalidate_writes, context.cache),)
    application = FastAPI(
        title="Bigtime",
        version=bigtime.__version__,
        lifespan=lifespan(context, version, drop_items),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    application.state.context = context
    application.state.meters = meters
    application.state.readiness = Readiness(store)
    application.state.documentation = Documentation(
        application.openapi, context.templates, documented
    )
    handle_problems(application)
    # Not with `include_router`, which creates each route again: 240 ms at the first request.
    for router in (*ROUTERS, health):
        application.router.routes.extend(router.routes)
    application.mount(http.PLACE, FILES, name="static")
    return HotPages(
        application,
        cache=context.cache,
        visitors=context.visitors,
        slots=context.slots,
        cookies=context.cookies,
        guest_carts=context.guest_carts,
        headers=http.site_headers(secure=settings.is_secure),
        meter=meters,
        views=context.engagement,
    )


def make_context(
    settings: Settings,
    store: AsyncStore,
    limits: dict[str, Limit],
    *,
    seconds: float | None,
    viewed: pages.RecentViews | None,
) -> AppContext:
    settings = http.with_secret(settings)
    secret = settings.secret.get_secret_value()
    form_tokens = http.FormTokens(secret.encode())
    shared = {"settings": settings, "version": bigtime.__version__, "static": FILES.address}
    templates = pages.Templates(shared)
    cache: pages.TaggedCache[Any] = pages.TaggedCache(seconds=seconds)
    counted = http.Limits(limits)
    cookies = http.Cookies(secure=settings.is_secure)
    cursors = Cursors([secret, *(old.get_secret_value() for old in settings.old_secrets)])
    return AppContext(
        settings=settings,
        store=store,
        cpu_pool=pages.CpuPool(store),
        cache=cache,
        deals=pages.DealLists(store, cache),
        visitors=Visitors(store, idle=timedelta(minutes=settings.idle_minutes)),
        slots=pages.SlotRenderer(store, personal_slots(templates, form_tokens), cache),
        templates=templates,
        cookies=cookies,
        form_tokens=form_tokens,
        devices=http.KnownDevices(secret.encode()),
        limits=counted,
        cursors=cursors,
        guest_carts=pages.GuestCarts(cursors, cookies, store.clock),
        pepper=http.pepper_of(settings),
        engagement=pages.Engagement(store, counted, proxies=settings.proxies or 0, viewed=viewed),
        search=pages.SiteSearch(Searches(settings.search_place)),
        pictures=pages.PictureFiles(place_at(settings.picture_place)),
    )


def lifespan(
    context: AppContext, version: Version | None, drop_items: pages.DropItems | None
) -> Lifespan:
    """While the server runs, follows the streams for the cache and writes views."""

    @asynccontextmanager
    async def run(application: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(context.engagement.run())]
        if version is not None:
            look_seconds = SHARED_LOOK_SECONDS if context.settings.workers > 1 else LOOK_SECONDS
            follower = pages.CacheFollower(
                context.store,
                context.cache,
                version=version,
                look_seconds=look_seconds,
                drop_items=drop_items,
            )
            await follower.catch_up()
            tasks.append(asyncio.create_task(follower.run()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await context.engagement.flush()

    return run


# --- Health checks and metrics ------------------------------------------------------------


CHECK_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 3.0
AWAY: Final = (DynamoDBError, TransportError, OSError)
NOT_READY: Final[dict[int | str, dict[str, Any]]] = {503: {"description": "The store is away."}}


@health.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> PlainTextResponse:
    """The process runs."""
    return PlainTextResponse("ok\n")


class Readiness:
    """Whether the store takes writes: checked at most every few seconds, whatever the requests."""

    def __init__(self, store: AsyncStore) -> None:
        self.store = store
        self.tried_at = -inf
        self.trial: asyncio.Task[bool] | None = None

    async def is_ready(self) -> bool:
        now = asyncio.get_running_loop().time()
        if self.trial is None or (self.trial.done() and now - self.tried_at >= CHECK_SECONDS):
            self.tried_at = now
            self.trial = asyncio.create_task(self.try_write())
        done, _ = await asyncio.wait([self.trial], timeout=PATIENCE_SECONDS)
        return bool(done) and self.trial.result()

    async def try_write(self) -> bool:
        try:
            await self.store.run(check_writes())
        except AWAY as error:
            log.warning("the store takes no writes: %s", error)
            return False
        return True


@health.get("/readyz", response_class=PlainTextResponse, responses=NOT_READY)
async def readyz(request: Request) -> Response:
    """The store takes writes; the result of a check is valid for five seconds."""
    readiness: Readiness = request.app.state.readiness
    if await readiness.is_ready():
        return PlainTextResponse("ready\n")
    body = problem_body("store-away", "The store does not answer; try again in a while.")
    return json_answer(body, HTTPStatus.SERVICE_UNAVAILABLE)


@health.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters for Prometheus; while the store is away, what this process knows."""
    check_metrics_token(request)
    meters: Meters = request.app.state.meters
    try:
        meters.note_worker(await AppRequest(request).run(view_worker_report()))
    except AWAY as error:
        log.warning("the worker's figures cannot be read: %s", error)
    return Response(generate_latest(meters.registry_to_expose), media_type=CONTENT_TYPE_LATEST)


def check_metrics_token(request: Request) -> None:
    """Requires the token where one is set, and always in production."""
    settings = AppRequest(request).context.settings
    token = settings.metrics_token.get_secret_value()
    if not token and settings.mode == "development":
        return
    given = request.headers.get("authorization", "").encode()
    if not token or not hmac.compare_digest(given, f"Bearer {token}".encode()):
        raise HTTPException(HTTPStatus.UNAUTHORIZED, headers={"www-authenticate": "Bearer"})
