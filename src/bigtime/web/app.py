"""The application: its context, routes, limits and lifespan, health checks and metrics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import PlainTextResponse, Response

import bigtime
from bigtime.model import Cursors
from bigtime.site import Visitors, view_worker_report
from bigtime.store import AsyncStore, TransportError
from bigtime.systems import deals
from bigtime.web import http, pages
from bigtime.web.admin import ADMIN
from bigtime.web.answers import handle_problems
from bigtime.web.api import API, Documentation
from bigtime.web.desk import DESK
from bigtime.web.http import Limit, Meters, Settings, json_answer, problem_body
from bigtime.web.pages import AppContext, HotPages, context_of
from bigtime.web.portal import PORTAL
from bigtime.web.shop import SHOP, personal_slots
from bigtime.wire import DynamoDBError

log = logging.getLogger("bigtime.web")

Version: TypeAlias = Callable[[], int]
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[None]]

FILES = http.MarkedFiles()
SECONDS_ON_AWS = 1.0
"""How long a cached page lives where no stream is followed."""

health = APIRouter(tags=["operations"])
ROUTERS: Final[tuple[APIRouter, ...]] = (*SHOP, *DESK, *PORTAL, *ADMIN, *API)
"""The routers of the pages and APIs, in the order in which routes are tried."""

LIMITS = {
    "log in": Limit(10, 60),
    "log in as": Limit(10, 300),
    "sign up": Limit(5, 60),
    "one-time code": Limit(5, 300),
    "one-time code to": Limit(5, 3600),
    "try code": Limit(20, 300),
    "try code to": Limit(20, 3600),
    "plan checkout": Limit(10, 300),
    "like": Limit(60, 60),
    "view": Limit(120, 60),
    "click": Limit(30, 60),
}


def make_app(
    settings: Settings,
    store: AsyncStore,
    *,
    version: Version | None = None,
    limits: dict[str, Limit] = LIMITS,
    meters: Meters | None = None,
) -> HotPages:
    """The site over a store, as an ASGI application.

    `version` returns a number that changes with every write, if the store is on an engine.
    """
    meters = meters or Meters()
    context = make_context(settings, store, limits, seconds=None if version else SECONDS_ON_AWS)
    # A GET of an API is looked up too, and is never cached: misses are the pages that were made.
    meters.watch_cache("page", lambda: (context.cache.hits, context.cache.fills))
    store.hooks += (partial(pages.invalidate_writes, context.cache),)
    application = FastAPI(
        title="Bigtime",
        version=bigtime.__version__,
        lifespan=lifespan(context, version),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    application.state.context = context
    application.state.meters = meters
    application.state.documentation = Documentation(application.openapi, context.templates)
    handle_problems(application)
    # Not with `include_router`, which makes each route again: 240 ms at the first request.
    for router in (*ROUTERS, health):
        application.router.routes.extend(router.routes)
    application.mount(http.PLACE, FILES, name="static")
    return HotPages(
        application,
        cache=context.cache,
        visitors=context.visitors,
        slots=context.slots,
        cookies=context.cookies,
        headers=http.site_headers(secure=settings.is_secure),
        meter=meters,
        views=context.engagement,
    )


def make_context(
    settings: Settings, store: AsyncStore, limits: dict[str, Limit], *, seconds: float | None
) -> AppContext:
    settings = http.with_secret(settings)
    secret = settings.secret.get_secret_value()
    form_tokens = http.FormTokens(secret.encode())
    shared = {"settings": settings, "version": bigtime.__version__, "static": FILES.address}
    templates = pages.Templates(shared)
    cache: pages.TaggedCache[Any] = pages.TaggedCache(seconds=seconds)
    counted = http.Limits(limits)
    return AppContext(
        settings=settings,
        store=store,
        cpu_pool=pages.CpuPool(store),
        cache=cache,
        deals=pages.DealLists(store, cache),
        visitors=Visitors(store, idle=timedelta(minutes=settings.idle_minutes)),
        slots=pages.SlotRenderer(store, personal_slots(templates, form_tokens), cache),
        templates=templates,
        cookies=http.Cookies(secure=settings.is_secure),
        form_tokens=form_tokens,
        limits=counted,
        cursors=Cursors([secret, *(old.get_secret_value() for old in settings.old_secrets)]),
        pepper=http.pepper_of(settings),
        engagement=pages.Engagement(store, counted, proxies=settings.proxies),
    )


def lifespan(context: AppContext, version: Version | None) -> Lifespan:
    """While the server runs, the cache follows the streams, and views are written."""

    @asynccontextmanager
    async def run(application: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(context.engagement.run())]
        if version is not None:
            follower = pages.CacheFollower(context.store, context.cache, version=version)
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


AWAY: Final = (DynamoDBError, TransportError, OSError)
NOT_READY: Final[dict[int | str, dict[str, Any]]] = {503: {"description": "The store is away."}}


@health.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> PlainTextResponse:
    """The process runs."""
    return PlainTextResponse("ok\n")


@health.get("/readyz", response_class=PlainTextResponse, responses=NOT_READY)
async def readyz(request: Request) -> Response:
    """The store answers."""
    try:
        await context_of(request).store.run(deals.fetch_all_brands())
    except AWAY as error:
        log.warning("the store does not answer: %s", error)
        body = problem_body("store-away", "The store does not answer; try again in a while.")
        return json_answer(body, HTTPStatus.SERVICE_UNAVAILABLE)
    return PlainTextResponse("ready\n")


@health.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters for Prometheus; while the store is away, what this process knows."""
    meters: Meters = request.app.state.meters
    try:
        meters.note_worker(await context_of(request).store.run(view_worker_report()))
    except AWAY as error:
        log.warning("the worker's figures cannot be read: %s", error)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
