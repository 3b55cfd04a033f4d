"""For whoever watches the site: is it up, can it work, what has it done."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bigtime.systems.deals.brands import fetch_all_brands
from bigtime.web.design import WORKER
from bigtime.web.meter import Meters
from bigtime.web.site import site_of
from bigtime.wire import DynamoDBError

health = APIRouter(tags=["operations"])


@health.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> PlainTextResponse:
    """The process runs."""
    return PlainTextResponse("ok\n")


@health.get("/readyz", response_class=PlainTextResponse, responses={503: {}})
async def readyz(request: Request) -> PlainTextResponse:
    """The store answers."""
    try:
        await site_of(request).store.run(fetch_all_brands())
    except (DynamoDBError, OSError):
        return PlainTextResponse("the store does not answer\n", status_code=503)
    return PlainTextResponse("ready\n")


@health.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters for Prometheus."""
    meters: Meters = request.app.state.meters
    meters.note_worker(await site_of(request).store.run(WORKER.get()))
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
