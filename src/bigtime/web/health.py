"""For whoever watches the site: is it up, can it work, what has it done."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bigtime.site import view_worker_report
from bigtime.store import TransportError
from bigtime.systems import deals
from bigtime.web.http import Meters, json_answer, problem_body
from bigtime.web.pages import context_of
from bigtime.wire import DynamoDBError

log = logging.getLogger("bigtime.web")

health = APIRouter(tags=["operations"])

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
