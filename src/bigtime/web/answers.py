"""Error responses: a page for a browser, JSON of one shape for a program."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from bigtime.model import DomainError, Malformed, NotSignedIn, Unavailable, ValueRefused
from bigtime.site import save_form
from bigtime.store import TransportError
from bigtime.web import http, pages
from bigtime.web.api import faults_of
from bigtime.web.http import FieldFault, status_of
from bigtime.web.pages import AppContext, AppRequest, Page
from bigtime.wire import InternalServerError

log = logging.getLogger("bigtime.web")

PROGRAMS = ("/api/", "/v1.0/")
AWAY_SECONDS = "5"
CLIENT_CLOSED = 499
"""nginx's status for a client that closed the connection before the response."""
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
"""The headings of error pages."""
SENTENCES = {
    HTTPStatus.NOT_FOUND.phrase: "This page does not exist.",
    HTTPStatus.METHOD_NOT_ALLOWED.phrase: "Nothing can be sent to this address.",
}
"""Sentences for pages, where the server only has a phrase."""


def handle_problems(application: FastAPI) -> None:
    for kind in (DomainError, ValueRefused):
        application.add_exception_handler(kind, answer_domain_error)
    application.add_exception_handler(RequestValidationError, answer_invalid_request)
    application.add_exception_handler(HTTPException, answer_http_error)
    application.add_exception_handler(ClientDisconnect, answer_disconnected)
    application.add_exception_handler(TransportError, answer_away)
    application.add_exception_handler(InternalServerError, answer_away)
    application.add_exception_handler(Exception, answer_failure)


def is_program(request: Request) -> bool:
    path: str = request.scope["path"]
    return path.startswith(PROGRAMS)


async def answer_domain_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotSignedIn) and not is_program(request):
        return await redirect_to_sign_in(request)
    status, faults = status_of(error), faults_of(error)
    response = await problem_response(request, status, http.code_of(error), str(error), faults)
    if isinstance(error, NotSignedIn):
        response.headers["www-authenticate"] = "Bearer"
    if isinstance(error, http.TooManyTries):
        response.headers["retry-after"] = str(error.seconds)
    if isinstance(error, Unavailable):
        response.headers["retry-after"] = AWAY_SECONDS
    return response


async def redirect_to_sign_in(request: Request) -> Response:
    """A redirect to the sign-in page, which leads back to the requested page.

    After a form it leads back to the form, with what was typed.
    """
    if request.method == "GET":
        target = f"/log-in?next={quote(address_of(request))}"
    else:
        page = await page_of_form(AppRequest(request))
        target = "/log-in" if page is None else f"/log-in?next={quote(page)}&ended=yes"
    if "hx-request" in request.headers:  # or htmx would insert the sign-in page into this one
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"hx-redirect": target})
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)


def address_of(request: Request) -> str:
    """The requested path, with its query."""
    path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


async def answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [FieldFault(".".join(map(str, fault["loc"][1:])), fault["msg"]) for fault in found]
    status, message = http.status_of_faults(found), message_of(faults)
    return await problem_response(request, status, "invalid-request", message, faults)


def message_of(faults: list[FieldFault]) -> str:
    """A sentence about one field, or the names of several."""
    first, *others = faults
    if others:
        return f"Check these fields: {', '.join(dict.fromkeys(fault.field for fault in faults))}."
    return f"{first.field}: {first.message}" if first.field else first.message


async def answer_disconnected(request: Request, error: Exception) -> Response:
    """The client has closed the connection; the status is only for the metrics."""
    return Response(status_code=CLIENT_CLOSED)


async def answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if request.method == "GET" and not is_program(request):
        page = page_instead(request, status)
        if page is not None:
            return http.see_other(http.with_query(request, quote(page)))
    response = await problem_response(
        request, status, status.phrase.lower().replace(" ", "-"), status.phrase
    )
    response.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["allow"] = ", ".join(sorted(methods_at(request, request.scope["path"])))
    return response


def page_instead(request: Request, status: HTTPStatus) -> str | None:
    """The page to redirect to from a path without a page, if there is one.

    For a path that forms are posted to, it is the page above: a form that is shown again has that
    path, and may be reloaded. A trailing slash is dropped.
    """
    path: str = request.scope["path"]
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        above = path
        while above := above.rpartition("/")[0]:
            if "GET" in methods_at(request, above):
                return above
        return "/"
    bare = path.rstrip("/")
    is_page = status == HTTPStatus.NOT_FOUND and bare != path and "GET" in methods_at(request, bare)
    return bare if is_page else None


def methods_at(request: Request, path: str) -> set[str]:
    """The methods of all routes at a path; a single route's error only has its own."""
    routes = (route for route in request.app.routes if isinstance(route, APIRoute))
    matching = (route for route in routes if route.path_regex.match(path))
    found = {method for route in matching for method in route.methods or ()}
    return found | {"HEAD"} if "GET" in found else found


async def answer_away(request: Request, error: Exception) -> Response:
    """The store does not respond, or takes no writes: renders the page without another request."""
    log.warning("%s: the store is away: %s", request.state.request_id, error)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = "The service is temporarily unavailable. Please try again soon."
    if is_program(request):
        response = http.json_answer(http.problem_body("store-away", message), status)
    else:
        context = AppRequest(request).context
        response = await context.answer_for(None, problem_page(context, status, message))
    response.headers["retry-after"] = AWAY_SECONDS
    return response


async def answer_failure(request: Request, error: Exception) -> Response:
    """A 500 without details: the error is in the log, under the request's id."""
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
        return http.json_answer(http.problem_body(code, message, faults or ()), status)
    own = AppRequest(request)
    back = await page_of_form(own) if code == http.BadForm.code else None
    switch = await account_switch(own) if status == HTTPStatus.FORBIDDEN else None
    sentence = SENTENCES.get(message, message)
    return await own.answer(problem_page(own.context, status, sentence, back, switch))


class AccountSwitch(NamedTuple):
    """The fields of the form that signs a visitor out to return with another account."""

    username: str
    token: str
    next: str


async def account_switch(request: AppRequest) -> AccountSwitch | None:
    """None for a visitor who is not signed in, or has sent a form."""
    visitor = await request.visitor()
    if visitor is None or request.method != "GET":
        return None
    token = request.context.form_tokens.token(visitor.cookie)
    return AccountSwitch(visitor.username, token, address_of(request))


async def page_of_form(request: AppRequest) -> str | None:
    """The page of a form whose session has ended or changed, with what was typed."""
    path: str = request.scope["path"]
    is_page = "GET" in methods_at(request, path)
    page = path if is_page else page_instead(request, HTTPStatus.METHOD_NOT_ALLOWED) or "/"
    return await page_to_return(request, otherwise=quote(page))


async def page_to_return(request: AppRequest, *, otherwise: str) -> str | None:
    """The page that a form was sent from; what was typed is saved for it.

    None if the form may not be from a page of this site: its token does not match the session that
    it was sent with, and the browser sends no header that says so.
    """
    try:
        request.count_write(request.network)
        is_known = await request.visitor() is not None  # a stranger's file is not read
        typed = pages.typed_fields(await pages.parse_again(request, with_file=is_known))
    except (Malformed, HTTPException, http.TooManyTries):
        return None
    is_ours = request.headers.get("sec-fetch-site") == "same-origin"
    token, session = typed.get(pages.TOKEN), request.cookie(http.SESSION)
    if not is_ours and not request.context.form_tokens.fits(session, token):
        return None
    saved = await request.run(save_form(typed))
    parts = urlsplit(request.headers.get("referer", ""))
    is_here = parts.netloc == request.headers.get("host")
    page = http.local_path(f"{parts.path}?{parts.query}" if is_here else None, default=otherwise)
    query = {**dict(parse_qsl(urlsplit(page).query)), **({pages.RESTORE: saved} if saved else {})}
    path = urlsplit(page).path
    return f"{path}?{urlencode(query)}" if query else path


def problem_page(
    context: AppContext,
    status: HTTPStatus,
    message: str,
    back: str | None = None,
    switch: AccountSwitch | None = None,
) -> Page:
    title = TITLES.get(status, status.phrase)
    return context.templates.page(
        "problem.html", status=status, title=title, message=message, back=back, switch=switch
    )
