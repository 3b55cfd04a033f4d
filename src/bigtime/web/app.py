"""The application: the site's parts put together, and the routes over them."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

import bigtime
from bigtime.model import Cursors
from bigtime.store import AsyncStore
from bigtime.systems.deals.design import BIG_TIME_DEALS
from bigtime.systems.portal.design import CAMPAIGNS, PRODUCTS
from bigtime.web.answers import handle_problems
from bigtime.web.apart import Apart
from bigtime.web.cookies import Cookies
from bigtime.web.engagement import Engagement
from bigtime.web.filling import Fillings
from bigtime.web.following import Following
from bigtime.web.form_token import FormTokens
from bigtime.web.front import Front
from bigtime.web.headers import site_headers
from bigtime.web.health import health
from bigtime.web.limits import Limit, Limits
from bigtime.web.meter import Meters
from bigtime.web.page import Page
from bigtime.web.rendering import Templates
from bigtime.web.routers import ROUTERS
from bigtime.web.settings import Settings, kept_secret
from bigtime.web.shopper.fillers import fillers
from bigtime.web.site import Site
from bigtime.web.tagged_cache import TaggedCache
from bigtime.web.tags import tags_of
from bigtime.web.visitor import Visitors

Version: TypeAlias = Callable[[], int]
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[None]]

STATIC = Path(__file__).parent / "static"
SECONDS_ON_AWS = 1.0
"""How long a page lives where nobody tells of changes."""

FOLLOWED = (BIG_TIME_DEALS, PRODUCTS, CAMPAIGNS)
"""The tables that pages show which are kept."""

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
}


def make_app(
    settings: Settings,
    store: AsyncStore,
    *,
    version: Version | None = None,
    limits: dict[str, Limit] = LIMITS,
    meters: Meters | None = None,
) -> Front:
    """The site over a store, as a server wants it.

    `version` is a number that changes with the data, where the store is on an engine.
    """
    meters = meters or Meters()
    site = make_site(settings, store, limits, seconds=None if version else SECONDS_ON_AWS)
    meters.watch_cache("page", lambda: (site.pages.hits, site.pages.misses))
    meters.watch_cache("fact", lambda: (site.facts.hits, site.facts.misses))
    application = FastAPI(
        title="Bigtime",
        version=bigtime.__version__,
        lifespan=living(site, version),
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    application.state.site = site
    application.state.meters = meters
    handle_problems(application)
    application.include_router(health)
    for router in ROUTERS:
        application.include_router(router)
    application.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Front(
        application,
        pages=site.pages,
        visitors=site.visitors,
        filling=site.fillings,
        cookies=site.cookies,
        headers=site_headers(secure=settings.is_secure),
        meter=meters,
        views=site.engagement,
    )


def make_site(
    settings: Settings, store: AsyncStore, limits: dict[str, Limit], *, seconds: float | None
) -> Site:
    secret = settings.secret.get_secret_value() or kept_secret(settings.data)
    form_tokens = FormTokens(secret.encode())
    templates = Templates({"settings": settings, "version": bigtime.__version__})
    facts: TaggedCache[Any] = TaggedCache(most=50_000, seconds=seconds)
    return Site(
        settings=settings,
        store=store,
        apart=Apart(store),
        pages=TaggedCache[Page](seconds=seconds),
        facts=facts,
        visitors=Visitors(store),
        fillings=Fillings(store, fillers(templates, form_tokens), facts),
        templates=templates,
        cookies=Cookies(secure=settings.is_secure),
        form_tokens=form_tokens,
        limits=Limits(limits),
        cursors=Cursors([secret, *(old.get_secret_value() for old in settings.old_secrets)]),
        pepper=hmac.digest(secret.encode(), b"one-time code", sha256),
        engagement=Engagement(store),
    )


def living(site: Site, version: Version | None) -> Lifespan:
    """While the server runs, the caches follow the data, and views are written down."""

    @asynccontextmanager
    async def life(application: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(site.engagement.run())]
        if version is not None:
            following = follower(site, version)
            await following.catch_up()
            tasks.append(asyncio.create_task(following.run()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await site.engagement.flush()

    return life


def follower(site: Site, version: Version) -> Following:
    return Following(site.store, FOLLOWED, [site.pages, site.facts], version=version, tags=tags_of)
