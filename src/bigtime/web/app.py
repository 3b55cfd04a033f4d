"""The application: the site's parts put together, and the routes over them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from fastapi import FastAPI

import bigtime
from bigtime.model import Cursors
from bigtime.site import Visitors, tags_of
from bigtime.store import AsyncStore
from bigtime.systems import cart, catalog, deals, portal
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
from bigtime.web.junction import Junction
from bigtime.web.pages import (
    Apart,
    Engagement,
    Fillings,
    Following,
    Front,
    Page,
    Site,
    TaggedCache,
    Templates,
)
from bigtime.web.routers import ROUTERS
from bigtime.web.shop import fillers

Version: TypeAlias = Callable[[], int]
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[None]]

FILES = MarkedFiles()
SECONDS_ON_AWS = 1.0
"""How long a page lives where nobody tells of changes."""

FOLLOWED = (
    deals.BIG_TIME_DEALS,
    cart.CART,
    portal.PRODUCTS,
    portal.CAMPAIGNS,
    catalog.TRENDING_DEALS,
)
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
) -> Front:
    """The site over a store, as a server wants it.

    `version` is a number that changes with the data, where the store is on an engine.
    """
    meters = meters or Meters()
    site = make_site(settings, store, limits, seconds=None if version else SECONDS_ON_AWS)
    # Every request is looked for among the pages; a miss is one that had to be made and is kept.
    meters.watch_cache("page", lambda: (site.pages.hits, site.pages.fills))
    meters.watch_cache("fact", lambda: (site.facts.hits, site.facts.misses))
    meters.watch_cache("deal", lambda: (site.deals.hits, site.deals.misses))
    meters.watch_cache("place", lambda: (site.places.hits, site.places.misses))
    application = FastAPI(
        title="Bigtime",
        version=bigtime.__version__,
        lifespan=living(site, version),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    application.state.site = site
    application.state.meters = meters
    application.state.documentation = Documentation(application.openapi, site.templates)
    handle_problems(application)
    pages = [router for router in ROUTERS if not router.include_in_schema]
    application.router.routes.append(Junction(route for one in pages for route in one.routes))
    # As they are: `include_router` would make each route again, 240 ms at the first request.
    for router in (health, *(one for one in ROUTERS if one.include_in_schema)):
        application.router.routes.extend(router.routes)
    application.mount(PLACE, FILES, name="static")
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
    settings = with_secret(settings)
    secret = settings.secret.get_secret_value()
    form_tokens = FormTokens(secret.encode())
    shared = {"settings": settings, "version": bigtime.__version__, "static": FILES.address}
    templates = Templates(shared)
    facts: TaggedCache[Any] = TaggedCache(most=50_000, seconds=seconds)
    counted = Limits(limits)
    return Site(
        settings=settings,
        store=store,
        apart=Apart(store),
        pages=TaggedCache[Page](seconds=seconds),
        facts=facts,
        deals=TaggedCache(seconds=seconds),
        places=TaggedCache(seconds=seconds),
        visitors=Visitors(store),
        fillings=Fillings(store, fillers(templates, form_tokens), facts),
        templates=templates,
        cookies=Cookies(secure=settings.is_secure),
        form_tokens=form_tokens,
        limits=counted,
        cursors=Cursors([secret, *(old.get_secret_value() for old in settings.old_secrets)]),
        pepper=pepper_of(settings),
        engagement=Engagement(store, counted, proxies=settings.proxies),
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
    return Following(site.store, FOLLOWED, site.caches, version=version, tags=tags_of)
