"""What is answered when something is wrong: a page to a person, the one shape to a program."""

from __future__ import annotations

import logging
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from bigtime.model import DomainError, NotSignedIn, Unavailable, ValueRefused
from bigtime.store import TransportError
from bigtime.web.api import faults_of
from bigtime.web.health import health
from bigtime.web.http import (
    FieldFault,
    TooManyTries,
    code_of,
    json_answer,
    problem_body,
    status_of,
    status_of_faults,
)
from bigtime.web.pages import AppContext, Page, context_of
from bigtime.web.routers import ROUTERS

log = logging.getLogger("bigtime.web")

PROGRAMS = ("/api/", "/v1.0/")
AWAY_SECONDS = "5"
HUNG_UP = 499
"""What is counted where nobody waits for an answer any more."""
TITLES = {
    HTTPStatus.BAD_REQUEST: "Bad request",
    HTTPStatus.FORBIDDEN: "No access",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not allowed",
    HTTPStatus.CONFLICT: "Changed by someone else",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Please check your input",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
    HTTPStatus.SERVICE_UNAVAILABLE: "Temporarily unavailable",
}
"""What a person reads over a problem."""


def handle_problems(application: FastAPI) -> None:
    for kind in (DomainError, ValueRefused):
        application.add_exception_handler(kind, answer_domain_error)
    application.add_exception_handler(RequestValidationError, answer_invalid_request)
    application.add_exception_handler(HTTPException, answer_http_error)
    application.add_exception_handler(ClientDisconnect, answer_nobody)
    application.add_exception_handler(TransportError, answer_away)
    application.add_exception_handler(Exception, answer_failure)


def is_program(request: Request) -> bool:
    path: str = request.scope["path"]
    return path.startswith(PROGRAMS)


async def answer_domain_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotSignedIn) and not is_program(request):
        return to_log_in(request)
    status, faults = status_of(error), faults_of(error)
    response = await problem_response(request, status, code_of(error), str(error), faults)
    if isinstance(error, NotSignedIn):
        response.headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooManyTries):
        response.headers["retry-after"] = str(error.seconds)
    if isinstance(error, Unavailable):
        response.headers["retry-after"] = AWAY_SECONDS
    return response


def to_log_in(request: Request) -> Response:
    """To the log-in page, and from there back to where somebody wanted to look."""
    path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    path = f"{path}?{query}" if query else path
    target = f"/log-in?next={quote(path)}" if request.method == "GET" else "/log-in"
    if "hx-request" in request.headers:  # else the log-in page would land in a corner of this one
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"hx-redirect": target})
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)


async def answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [FieldFault(".".join(map(str, one["loc"][1:])), one["msg"]) for one in found]
    status, message = status_of_faults(found), message_of(faults)
    return await problem_response(request, status, "invalid-request", message, faults)


def message_of(faults: list[FieldFault]) -> str:
    """Which field is wrong and why; of several, which they are."""
    first, *others = faults
    if others:
        return f"Check these fields: {', '.join(dict.fromkeys(fault.field for fault in faults))}."
    return f"{first.field}: {first.message}" if first.field else first.message


async def answer_nobody(request: Request, error: Exception) -> Response:
    """Whoever asked has hung up amid the request: no fault of the site's, and nobody hears."""
    return Response(status_code=HUNG_UP)


async def answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if request.method == "GET" and not is_program(request):
        page = page_instead(request.scope["path"], status)
        if page is not None:
            return RedirectResponse(quote(page), status_code=HTTPStatus.SEE_OTHER)
    response = await problem_response(
        request, status, status.phrase.lower().replace(" ", "-"), status.phrase
    )
    response.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["allow"] = ", ".join(sorted(methods_at(request.scope["path"])))
    return response


def page_instead(path: str, status: HTTPStatus) -> str | None:
    """The page that somebody meant who entered an address of none, if there is one.

    Where a form is sent to, it is the page above: the answer to a form that will not do has the
    form's own address, and that is what is entered again. A slash at the end is one too many.
    """
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        above = path
        while above := above.rpartition("/")[0]:
            if "GET" in methods_at(above):
                return above
        return "/"
    bare = path.rstrip("/")
    is_page = status == HTTPStatus.NOT_FOUND and bare != path and "GET" in methods_at(bare)
    return bare if is_page else None


def methods_at(path: str) -> set[str]:
    """The methods of all routes at a path; whoever refused knows those of one."""
    routes = (route for router in (health, *ROUTERS) for route in router.routes)
    there = (one for one in routes if isinstance(one, APIRoute) and one.path_regex.match(path))
    found = {method for route in there for method in route.methods or ()}
    return found | {"HEAD"} if "GET" in found else found


async def answer_away(request: Request, error: Exception) -> Response:
    """The store does not answer. So nobody is looked up there, and the page is as for anybody."""
    log.warning("%s: the store is away: %s", request.state.request_id, error)
    status, message = (
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The service is temporarily unavailable. Please try again soon.",
    )
    if is_program(request):
        response: Response = json_answer(problem_body("store-away", message, ()), status)
    else:
        context = context_of(request)
        response = await context.answer_for(None, problem_page(context, status, message))
    response.headers["retry-after"] = AWAY_SECONDS
    return response


async def answer_failure(request: Request, error: Exception) -> Response:
    """Nothing of the error is told: it is in the log, under the request's id."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    message = f"Something went wrong here. The error id is {request.state.request_id}."
    return await problem_response(request, status, "internal-error", message)


async def problem_response(
    request: Request,
    status: HTTPStatus,
    code: str,
    message: str,
    faults: list[FieldFault] | None = None,
) -> Response:
    if is_program(request):
        body = problem_body(code, message, faults or ())
        return json_answer(body, status)
    context = context_of(request)
    said = "This page does not exist." if message == HTTPStatus.NOT_FOUND.phrase else message
    return await context.answer(request, problem_page(context, status, said))


def problem_page(context: AppContext, status: HTTPStatus, message: str) -> Page:
    title = TITLES.get(status, status.phrase)
    return context.templates.page("problem.html", status=status, title=title, message=message)
