"""Routes as rows of a table: an access pattern, its method and path, who may, and what it shows.

    Endpoint("GET", "/brands/{brandName:path}/deals", fetch_brand_deals, EVERYBODY,
             page_of(DealShown), asks=("last_deal_id_seen",))

A pattern says itself what it takes, and the name says where that comes from:

1. What stands in the path comes from the path.
2. A `username`, an `account_id` or a `user_id` is the caller's own, and comes from their session.
   No request can say whose, so nobody can ask for another's.
3. `after` is a signed cursor, `limit` the size of a page.
4. What the row `asks` comes from the query, and the fields of its `body` are the rest.

Where a route does more than its pattern, the steps that it `runs` instead take their arguments in
the same way, and may take the `caller`, the `site` and the `request` too. What must not be done
twice takes `noting`, which makes of its result the writes that note it: see `once`.

What many read is cached as bytes with the tags that `keeps` tells.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi import Depends, Path, Query
from pydantic.alias_generators import to_camel, to_snake
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Pattern, Write
from bigtime.site import Visitor
from bigtime.store import AsyncStore
from bigtime.systems import accounts
from bigtime.web.api.caller import Admin, SignedIn
from bigtime.web.api.errors import TOLD
from bigtime.web.api.json_route import WRITING
from bigtime.web.api.once import Answer, IdempotencyKey, Turn, once
from bigtime.web.api.paging import StartAt
from bigtime.web.api.shapes import Asked, unsaid
from bigtime.web.api.showing import Showing
from bigtime.web.http import NotAllowed
from bigtime.web.pages import Page, Site, site_of
from bigtime.wire import Steps

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Arguments: TypeAlias = dict[str, Any]
Running: TypeAlias = Callable[..., Steps[Any] | Awaitable[Any]]
Noting: TypeAlias = Callable[[Any], tuple[Write[Any], ...]]
"""Makes of what came of a request the writes that note it."""

IN_PATH: Final = re.compile(r"{(\w+)(?::path)?}")
OWN: Final = ("username", "account_id", "user_id")
"""What is the caller's own."""
MOST_ITEMS: Final = 100
CREATED: Final = 201


async def editor(caller: SignedIn) -> Visitor:
    if not caller.has(accounts.Role.EDITOR):
        raise NotAllowed()
    return caller


class May(Enum):
    """Who may use a route."""

    EVERYBODY = "everybody"
    SIGNED_IN = "signed in"
    EDITOR = "editor"
    ADMIN = "admin"


CALLERS: Final[Mapping[May, Any]] = {
    May.SIGNED_IN: SignedIn,
    May.EDITOR: Annotated[Visitor, Depends(editor)],
    May.ADMIN: Admin,
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row. `also` are other patterns that the route is for; `limit` is a rate limit's name;
    `refuses` are errors that the rest does not tell.

    `spelled` tells how a name in the path is written in one way only: other spellings of it are
    answered, but not kept.
    """

    method: Method
    path: str
    pattern: Pattern[..., Any]
    may: May
    shows: Showing | None = None
    runs: Running | None = None
    body: type[Asked] | None = None
    asks: tuple[str, ...] = ()
    status: int = 0
    keeps: Callable[[Any, Mapping[str, Any]], Collection[str]] | None = None
    spelled: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    once: bool = False
    limit: str | None = None
    also: tuple[Pattern[..., Any], ...] = ()
    refuses: tuple[int, ...] = ()
    note: str = ""

    @property
    def answered_with(self) -> int:
        usual = HTTPStatus.OK if self.shows else HTTPStatus.NO_CONTENT
        return self.status or usual

    @property
    def in_path(self) -> list[str]:
        return [to_snake(name) for name in IN_PATH.findall(self.path)]

    @property
    def takes(self) -> dict[str, inspect.Parameter]:
        """What the steps take."""
        if self.runs is None:
            return {one.name: one for one in self.pattern.parameters}
        return dict(inspect.signature(self.runs, eval_str=True).parameters)

    @property
    def errors(self) -> list[int]:
        """The errors that it may be answered with."""
        writes, known = self.method != "GET", self.may is not May.EVERYBODY
        may_be = {
            400: self.method in WRITING or bool(self.asks) or "after" in self.takes,
            401: known,
            403: known and (writes or self.may is not May.SIGNED_IN),
            404: True,
            409: writes,
            422: True,
            429: self.limit is not None,
        }
        return [status for status, is_so in may_be.items() if is_so or status in self.refuses]


# What a request brings


def signature_of(endpoint: Endpoint) -> inspect.Signature:
    """What FastAPI reads from a request, for one row."""
    takes = endpoint.takes
    wanted: dict[str, tuple[Any, Any]] = {"request": (Request, ...)}
    if endpoint.may is not May.EVERYBODY:
        wanted["caller"] = CALLERS[endpoint.may], ...
    if endpoint.once:
        wanted["idempotency_key"] = IdempotencyKey, None
    for name in endpoint.in_path:
        wanted[to_camel(name)] = Annotated[str, Path(min_length=1)], ...
    for name in endpoint.asks:
        wanted[to_camel(name)] = in_query(takes[name])
    if "limit" in takes:
        wanted["pageSize"] = page_size(), takes["limit"].default
    if "after" in takes:
        wanted["startAt"] = StartAt, None
    if endpoint.body is not None:
        wanted["body"] = endpoint.body, ...
    return inspect.Signature([parameter(name, *one) for name, one in wanted.items()])


def parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=annotation
    )


def in_query(taken: inspect.Parameter) -> tuple[Any, Any]:
    default = ... if taken.default is inspect.Parameter.empty else taken.default
    return Annotated[taken.annotation, TOLD, Query()], default


def page_size() -> Any:
    return Annotated[int, Query(ge=1, le=MOST_ITEMS, description="How many items at most.")]


@dataclass(frozen=True, slots=True)
class Wiring:
    """A row, and what is found out about it once: the names that its steps take, and where from."""

    endpoint: Endpoint
    takes: frozenset[str]
    given: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, endpoint: Endpoint) -> Wiring:
        named = (*endpoint.in_path, *endpoint.asks)
        return cls(
            endpoint, frozenset(endpoint.takes), tuple((name, to_camel(name)) for name in named)
        )

    def arguments(
        self, request: Request, caller: Visitor | None, given: Mapping[str, Any]
    ) -> Arguments:
        """The arguments of the steps, each from where its name says."""
        takes, site = self.takes, site_of(request)
        found: Arguments = {name: given[alias] for name, alias in self.given}
        if "limit" in takes:
            found["limit"] = given["pageSize"]
        if "after" in takes:
            found["after"] = site.cursors.read(given["startAt"])
        if self.endpoint.body is not None:
            found |= told_by(given["body"])
        if caller is not None:
            found |= {name: caller.username for name in OWN if name in takes}
        around = {"caller": caller, "site": site, "request": request}
        return found | {name: value for name, value in around.items() if name in takes}


def told_by(body: Asked) -> Arguments:
    """The fields of a body with their defaults, but without those that it leaves unsaid."""
    fields = type(body).model_fields
    unsaid_in = {name for name, one in fields.items() if one.default_factory is unsaid}
    return {
        name: getattr(body, name)
        for name in fields
        if name not in unsaid_in - body.model_fields_set
    }


# How it is answered


def handler_of(endpoint: Endpoint) -> Callable[..., Awaitable[Response]]:
    """The function that FastAPI calls, with what the signature asks for."""
    wiring = Wiring.of(endpoint)

    async def handle(request: Request, **given: Any) -> Response:
        caller: Visitor | None = given.get("caller")
        site = site_of(request)
        if endpoint.limit is not None and caller is not None:
            site.limits.take(endpoint.limit, caller.username)
        arguments = wiring.arguments(request, caller, given)
        if endpoint.keeps is not None and is_spelled(endpoint, arguments):
            return await kept(endpoint, request, arguments)
        if endpoint.once:

            async def make(turn: Turn) -> Answer:
                told = arguments | noting_in(endpoint, site, turn)
                return await carried_out(endpoint, site, turn.store, told)

            return await once(request, given["idempotency_key"], caller, make)
        answer = await carried_out(endpoint, site, site.store, arguments)
        if endpoint.shows is None:
            return Response(status_code=endpoint.answered_with)
        return answer.response()

    handle.__signature__ = signature_of(endpoint)  # type: ignore[attr-defined]
    return handle


def noting_in(endpoint: Endpoint, site: Site, turn: Turn) -> Arguments:
    """What notes the answer, for steps that take it; nothing where nobody will ask again."""
    if "noting" not in endpoint.takes or turn.noted is None:
        return {}
    return {"noting": lambda result: turn.noting(answer_of(endpoint, site, result))}


async def carried_out(
    endpoint: Endpoint, site: Site, store: AsyncStore, arguments: Arguments
) -> Answer:
    result = await run(endpoint, store, arguments)
    return answer_of(endpoint, site, result)


def answer_of(endpoint: Endpoint, site: Site, result: Any) -> Answer:
    if endpoint.shows is None:
        return Answer(endpoint.answered_with, b"")
    return Answer.of(endpoint.shows.show(site, result), endpoint.answered_with)


async def run(endpoint: Endpoint, store: AsyncStore, arguments: Arguments) -> Any:
    running = (endpoint.runs or endpoint.pattern)(**arguments)
    if inspect.isawaitable(running):
        return await running
    return await store.run(running)


async def kept(endpoint: Endpoint, request: Request, arguments: Arguments) -> Response:
    """Answers from what was read, and caches the bytes until one of its tags is invalidated."""
    site, shows, keeps = site_of(request), endpoint.shows, endpoint.keeps
    assert shows is not None and keeps is not None

    async def make() -> tuple[Page, Collection[str]]:
        result = await run(endpoint, site.store, arguments)
        return Page.json(shows.show(site, result).json_bytes()), keeps(result, arguments)

    return await site.cached(request, make)


def is_spelled(endpoint: Endpoint, arguments: Arguments) -> bool:
    return all(
        spell(arguments[name]) == arguments[name] for name, spell in endpoint.spelled.items()
    )
