"""What is answered when something is wrong: a page to a person, the one shape to a program."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.model import DomainError, ValueRefused
from bigtime.web.limits import TooManyTries
from bigtime.web.problems import (
    FieldFault,
    NotSignedIn,
    code_of,
    problem_body,
    status_of,
    status_of_faults,
)
from bigtime.web.routers import ROUTERS
from bigtime.web.site import site_of

PROGRAMS = ("/api/", "/v1.0/")
TITLES = {
    HTTPStatus.BAD_REQUEST: "This cannot be read",
    HTTPStatus.FORBIDDEN: "Not for you",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not in this way",
    HTTPStatus.CONFLICT: "Somebody was faster",
    HTTPStatus.UNPROCESSABLE_ENTITY: "This will not do",
    HTTPStatus.TOO_MANY_REQUESTS: "Too often",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
}
"""What a person reads over a problem."""


def handle_problems(application: FastAPI) -> None:
    for kind in (DomainError, ValueRefused):
        application.add_exception_handler(kind, answer_domain_error)
    application.add_exception_handler(RequestValidationError, answer_invalid_request)
    application.add_exception_handler(HTTPException, answer_http_error)
    application.add_exception_handler(Exception, answer_failure)


def is_program(request: Request) -> bool:
    return request.url.path.startswith(PROGRAMS)


async def answer_domain_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotSignedIn) and not is_program(request):
        return to_log_in(request)
    response = await told(request, status_of(error), code_of(error), str(error))
    if isinstance(error, NotSignedIn):
        response.headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooManyTries):
        response.headers["retry-after"] = str(error.seconds)
    return response


def to_log_in(request: Request) -> Response:
    """To the log-in page, and from there back to where somebody wanted to look."""
    path = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    target = f"/log-in?next={quote(path)}" if request.method == "GET" else "/log-in"
    if "hx-request" in request.headers:  # else the log-in page would land in a corner of this one
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"hx-redirect": target})
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)


async def answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [FieldFault(".".join(map(str, one["loc"][1:])), one["msg"]) for one in found]
    status = status_of_faults(found)
    return await told(request, status, "invalid-request", "Some of this will not do.", faults)


async def answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    response = await told(request, status, status.phrase.lower().replace(" ", "-"), status.phrase)
    response.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["allow"] = ", ".join(sorted(methods_at(request.url.path)))
    return response


def methods_at(path: str) -> set[str]:
    """The methods of all routes at a path; whoever refused knows those of one."""
    routes = (route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))
    return {one for route in routes if route.path_regex.match(path) for one in route.methods or ()}


async def answer_failure(request: Request, error: Exception) -> Response:
    """Nothing of the error is told: it is in the log, under the request's id."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    message = f"Something went wrong here. It is noted as {request.state.request_id}."
    return await told(request, status, "internal-error", message)


async def told(
    request: Request,
    status: HTTPStatus,
    code: str,
    message: str,
    faults: list[FieldFault] | None = None,
) -> Response:
    if is_program(request):
        body = problem_body(code, message, faults or ())
        return Response(body, status, media_type="application/json")
    site = site_of(request)
    title = TITLES.get(status, status.phrase)
    said = "There is no such page." if message == HTTPStatus.NOT_FOUND.phrase else message
    page = site.templates.page("problem.html", status=status, title=title, message=said)
    return await site.answer(request, page)
