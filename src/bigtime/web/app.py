"""The application: the site's parts put together, and the routes over them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

from fastapi import FastAPI

import bigtime
from bigtime.model import Cursors
from bigtime.site import Visitors
from bigtime.store import AsyncStore
from bigtime.web.answers import handle_problems
from bigtime.web.api import Documentation
from bigtime.web.health import health
from bigtime.web.http import (
    PLACE,
    Cookies,
    FormTokens,
    Limit,
    Limits,
    MarkedFiles,
    Meters,
    Settings,
    pepper_of,
    site_headers,
    with_secret,
)
from bigtime.web.pages import (
    AppContext,
    CacheFollower,
    CpuPool,
    DealLists,
    Engagement,
    HotPages,
    SlotRenderer,
    TaggedCache,
    Templates,
    invalidate_writes,
)
from bigtime.web.routers import ROUTERS
from bigtime.web.shop import personal_slots

Version: TypeAlias = Callable[[], int]
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[None]]

FILES = MarkedFiles()
SECONDS_ON_AWS = 1.0
"""How long a page lives where no stream is followed."""

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

    `version` is a number that changes with the data, where the store is on an engine.
    """
    meters = meters or Meters()
    context = make_context(settings, store, limits, seconds=None if version else SECONDS_ON_AWS)
    # Every request is looked for in the cache; a miss is one that had to be made and is kept.
    meters.watch_cache("page", lambda: (context.cache.hits, context.cache.fills))
    store.hooks += (partial(invalidate_writes, context.cache),)
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
    # As they are: `include_router` would make each route again, 240 ms at the first request.
    for router in (*ROUTERS, health):
        application.router.routes.extend(router.routes)
    application.mount(PLACE, FILES, name="static")
    return HotPages(
        application,
        cache=context.cache,
        visitors=context.visitors,
        slots=context.slots,
        cookies=context.cookies,
        headers=site_headers(secure=settings.is_secure),
        meter=meters,
        views=context.engagement,
    )


def make_context(
    settings: Settings, store: AsyncStore, limits: dict[str, Limit], *, seconds: float | None
) -> AppContext:
    settings = with_secret(settings)
    secret = settings.secret.get_secret_value()
    form_tokens = FormTokens(secret.encode())
    shared = {"settings": settings, "version": bigtime.__version__, "static": FILES.address}
    templates = Templates(shared)
    cache: TaggedCache[Any] = TaggedCache(seconds=seconds)
    counted = Limits(limits)
    return AppContext(
        settings=settings,
        store=store,
        cpu_pool=CpuPool(store),
        cache=cache,
        deals=DealLists(store, cache),
        visitors=Visitors(store),
        slots=SlotRenderer(store, personal_slots(templates, form_tokens), cache),
        templates=templates,
        cookies=Cookies(secure=settings.is_secure),
        form_tokens=form_tokens,
        limits=counted,
        cursors=Cursors([secret, *(old.get_secret_value() for old in settings.old_secrets)]),
        pepper=pepper_of(settings),
        engagement=Engagement(store, counted, proxies=settings.proxies),
    )


def lifespan(context: AppContext, version: Version | None) -> Lifespan:
    """While the server runs, the cache follows the data, and views are written down."""

    @asynccontextmanager
    async def run(application: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(context.engagement.run())]
        if version is not None:
            follower = CacheFollower(context.store, context.cache, version=version)
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
