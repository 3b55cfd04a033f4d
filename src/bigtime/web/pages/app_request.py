"""The application's requests, as handlers get them: their visitor, form, limits and response.

Every route of a page or an API wraps the framework's request in its own. So an error response is
built from another object for the same request: what both need, the visitor and the fields of a
form, is in `request.state`.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, Final, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile
from starlette.routing import Match
from starlette.types import Scope

from bigtime import site
from bigtime.model import NotSignedIn, Position
from bigtime.model import Page as ListPage
from bigtime.pictures import PictureFault, read_header
from bigtime.site import Visitor
from bigtime.store import Runnable
from bigtime.systems import accounts
from bigtime.web import http
from bigtime.web.http import SESSION, VISIT
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.forms import (
    PICTURE,
    TOKEN,
    AnyForm,
    SubmittedForm,
    check_form,
    is_same_origin,
    parse_form,
    typed_fields,
)
from bigtime.web.pages.hot_pages import NO_STORE, PRIVATE
from bigtime.web.pages.page import Page
from bigtime.web.pages.page_cache import Make

F = TypeVar("F", bound=BaseModel)
T = TypeVar("T")

AFTER: Final = "after"
"""The query parameter with the cursor of a further page of a list."""
RESTORE: Final = "restore"
"""The query parameter with the id of a saved form."""
LONGEST_ID: Final = 32
RESTORED: Final = "You were signed out before this was sent. Check it, and send it again."


class AppRequest(Request):
    """A request, with the application's context."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.scope, request.receive)
        self.context: AppContext = request.app.state.context

    async def run(self, steps: Runnable[T]) -> T:
        """Runs steps on the store, and returns their result."""
        return await self.context.store.run(steps)

    def read_cursor(self, text: str | None) -> Position | None:
        """The position that a cursor stands for; None is the first page."""
        return self.context.cursors.read(text)

    @property
    def page_start(self) -> Position | None:
        """The position of the requested page of a list, from `after`; None is the first page."""
        return self.read_cursor(self.query_params.get(AFTER))

    def write_cursor(self, position: Position | None) -> str | None:
        return self.context.cursors.write(position)

    def cookie(self, name: str) -> str | None:
        """The value of one of the site's cookies."""
        return self.context.cookies.read(name, self.scope["headers"])

    # The visitor

    async def visitor(self) -> Visitor | None:
        """The visitor who is signed in, if any; looked up once in a request."""
        known: Visitor | None
        try:
            known = self.state.visitor
        except AttributeError:
            known = self.state.visitor = await self.context.visitors.of(self.cookie(SESSION))
        return known

    async def signed_in(self) -> Visitor:
        """The visitor; raises NotSignedIn if there is none."""
        visitor = await self.visitor()
        if visitor is None:
            raise NotSignedIn()
        return visitor

    async def with_role(self, *roles: accounts.Role) -> Visitor:
        """The visitor; raises NotAllowed if they have none of the roles."""
        visitor = await self.signed_in()
        if visitor.roles.isdisjoint(roles):
            raise http.NotAllowed()
        return visitor

    @property
    def network(self) -> str:
        """The client's network."""
        return http.client_of(self, proxies=self.context.settings.proxies or 0)

    @property
    def form_holder(self) -> str | None:
        """The cookie from which a form's token is derived: that of the session, or of the visit."""
        return self.cookie(SESSION) or self.cookie(VISIT)

    # Its form

    async def read_form_data(self, *, with_file: bool = False) -> FormData:
        """A form as sent, after its token has shown that it is from a page of this site.

        Every page that changes something reads its form here, so this is where writes are counted.
        """
        fields = await parse_form(self, with_file=with_file)
        token = typed_fields(fields).get(TOKEN)
        if not self.context.form_tokens.fits(self.form_holder, token):
            raise http.BadForm()
        visitor = await self.visitor()
        self.count_write(visitor.login if visitor else self.network)
        return fields

    async def read_fields(self) -> dict[str, str]:
        """The fields of a form, as typed."""
        return typed_fields(await self.read_form_data())

    async def read_open_fields(self) -> dict[str, str]:
        """The fields of a form that guests may also send, from a cached page.

        Such a page is the same for all guests and sets no cookie, so its form has no token. The
        browser's header about the page's origin replaces it: all send `Sec-Fetch-Site` or `Origin`.
        """
        if await self.visitor() is not None or not is_same_origin(self):
            return await self.read_fields()
        self.count_write(self.network)
        return typed_fields(await parse_form(self))

    async def read_form(self, kind: type[F]) -> SubmittedForm[F]:
        """A form, checked."""
        return check_form(kind, await self.read_fields())

    async def read_visitor_form(self, kind: type[F]) -> tuple[Visitor, SubmittedForm[F]]:
        """A form that requires a signed-in visitor, with the visitor."""
        visitor = await self.signed_in()
        return visitor, await self.read_form(kind)

    async def read_picture_form(self, kind: type[F]) -> tuple[SubmittedForm[F], bytes | None]:
        """A form that may have a picture, and the picture; None if it cannot be used."""
        fields = await self.read_form_data(with_file=True)
        form = check_form(kind, typed_fields(fields))
        file = fields.get(PICTURE)
        content = await file.read() if isinstance(file, UploadFile) else b""
        await fields.close()
        if not content:
            return form, None
        visitor = await self.signed_in()
        await self.context.count_try_of("upload", visitor.login)
        try:
            read_header(content)
        except PictureFault as fault:
            form.value, form.wrong[PICTURE] = None, str(fault)
            return form, None
        return form, content

    # Limits

    def count_write(self, who: str) -> None:
        """Counts a request that changes something; raises TooManyTries."""
        self.context.limits.take("write", who)

    async def count_try(self, action: str) -> None:
        """Counts a try by the client's network; raises TooManyTries."""
        await self.context.count_try_of(action, self.network)

    async def count_order(self, account: str) -> None:
        """Counts an order by the client's network and by account; raises TooManyTries."""
        await self.count_try("order from")
        await self.context.count_try_of("order", account)

    # The response

    async def cached_page(
        self,
        make: Make[Page],
        *,
        after: str | None = None,
        address: str | None = None,
        seconds: float | None = None,
    ) -> Response:
        """A page, cached under its path and its cursor, `after`, or under the given address.

        Other parameters of the query are ignored, so they are not part of the key.
        """
        path: str = self.scope["path"]
        address = address or (path if after is None else f"{path}?after={after}")
        page = await self.context.cache.remember(address, make, seconds=seconds)
        return await self.answer(page, cache_control=PRIVATE)

    async def answer(self, page: Page, *, cache_control: http.Header = NO_STORE) -> Response:
        """A page as a response, with its slots filled for the visitor."""
        visitor = await self.visitor()
        in_cart = 0 if visitor else self.context.guest_carts.count(self.scope["headers"])
        return await self.context.answer_for(visitor, page, cache_control, in_cart=in_cart)

    async def page(self, template: str, /, *, status: int | None = None, **values: Any) -> Response:
        """A page; its status is that of the form on it, unless another is given."""
        forms = [value for value in values.values() if isinstance(value, SubmittedForm)]
        status = status or max([200, *(form.status for form in forms)])
        response = await self.answer(self.context.templates.page(template, status=status, **values))
        for form in forms:
            if form.retry_after is not None:
                response.headers["retry-after"] = str(form.retry_after)
        return response

    async def list_page(self, template: str, found: ListPage[Any], **values: Any) -> Response:
        """A page of a list, with the next page's cursor, `after`, and whether it is the first."""
        after = self.write_cursor(found.position)
        return await self.page(
            template, after=after, is_first=AFTER not in self.query_params, **values
        )

    async def form_page(
        self, template: str, /, *, status: int | None = None, **values: Any
    ) -> Response:
        """A page with forms, for one visitor: its `token` belongs to the session or the visit.

        A form that was saved while its sender signed in is shown as typed.
        """
        saved_id = self.query_params.get(RESTORE)
        if saved_id and self.method == "GET" and "form" in values:
            values["form"] = await self.restore_form(saved_id, values["form"])
        holder = self.form_holder
        drawn = holder or secrets.token_urlsafe(32)
        token = self.context.form_tokens.token(drawn)
        response = await self.page(template, status=status, token=token, **values)
        if holder is None:
            response.raw_headers.append(self.context.cookies.set_header(VISIT, drawn))
        return response

    async def restore_form(self, saved_id: str, form: AnyForm) -> AnyForm:
        """A form with the fields that were typed before its sender signed in."""
        saved = await self.run(site.fetch_saved_form(saved_id[:LONGEST_ID]))
        if not saved:
            return form
        typed = {**form.typed, **saved}
        return replace(form, typed=typed, fault=RESTORED, shown_as=form.status)


def visitor_with(*roles: accounts.Role) -> Callable[[AppRequest], Awaitable[Visitor]]:
    """The dependency of a route that requires a visitor with one of the roles."""

    async def find_visitor(request: AppRequest) -> Visitor:
        return await request.with_role(*roles)

    return find_visitor


class Route(APIRoute):
    """A route that compares the beginning of the path before its regular expression.

    Routes are tried in turn: a hundred of them before those of an admin, at 1 us each.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.beginning = path.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not scope["path"].startswith(self.beginning):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_own(request: Request) -> Response:
            return await handle(await self.own_request(request))

        return handle_own

    async def own_request(self, request: Request) -> AppRequest:
        return AppRequest(request)


def page_router() -> APIRouter:
    """A router of pages, which are not in the documentation of the APIs."""
    return APIRouter(include_in_schema=False, route_class=Route)
