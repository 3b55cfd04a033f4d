"""Requests that are carried out once, however often they are sent.

A client that got no answer does not know whether its request was carried out. With a key of its
own making in `Idempotency-Key` it can simply ask again:

1. The first request with a key is noted before it is carried out, and its answer after. The same
   request with that key gets the same answer, and nothing happens. Another request with that key
   is refused.
2. Of two at once, one is carried out. The other waits for its answer.
3. Whoever carries it out may die before the answer is noted. After a while somebody else who asks
   takes over, and carries it out again *exactly*: steps get their time and their randomness from
   the store, so it is given the first moment and the first seed again. It draws the same ids and
   makes the same transaction with the same token, which DynamoDB carries out once.
4. What adds to a number adds to it again, and ten minutes later a token is forgotten. Such a
   request notes its answer in the very transaction that carries it out (`Turn.noting`), on
   condition that none is noted. So it has been carried out if and only if its answer is there.
5. A request that was refused has changed nothing, so its key is free again. But not one that was
   taken over: who died may have done it.

Notes go by themselves after a day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256, shake_256
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import orjson
from fastapi import Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import (
    Clash,
    ConditionFailed,
    Conflict,
    DomainError,
    ItemExists,
    ItemMissing,
    RuleBroken,
    Write,
    attr,
    create,
    delete,
    get,
    now,
    put,
    random_bytes,
    update,
)
from bigtime.site import Once, Visitor
from bigtime.store import AsyncStore
from bigtime.web.api.access import SignedIn
from bigtime.web.api.bodies import ResponseBody
from bigtime.web.api.caching import invalidate
from bigtime.web.http import json_answer
from bigtime.web.pages import Site, site_of
from bigtime.wire import IdempotentParameterMismatchException, Steps

T = TypeVar("T")

KEPT: Final = timedelta(days=1)
HELD: Final = timedelta(seconds=30)
PATIENCE_SECONDS: Final = 10.0
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5
TRIES: Final = 8
SEED_BYTES: Final = 32
NOBODY: Final = "nobody"

IdempotencyKey: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="A name for this request that you make up, such as a UUID. If you get no"
        " answer, send the request again with it: it is carried out once.",
    ),
]


class KeyReused(RuleBroken):
    """This Idempotency-Key was used for another request; make up a new one."""


class KeyInUse(Clash):
    """The request with this Idempotency-Key is still being carried out; ask again in a while."""


class MayBeDoneAlready(Clash):
    """This was tried before, and may have been done; look whether it is there."""


class NotedAlready(Clash):
    """Somebody else has carried out this request, and noted its answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request is answered."""

    status: int
    body: bytes

    @classmethod
    def of(cls, body: ResponseBody, status: int = 201) -> Answer:
        return cls(status, body.json_bytes())

    def response(self, *, replayed: bool = False) -> Response:
        headers = {"idempotent-replayed": "true"} if replayed else {}
        return json_answer(self.body, self.status, headers)


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn to carry a request out: the store to do all of it on, and where it is noted."""

    store: AsyncStore
    noted: Once | None = None

    def noting(self, answer: Answer) -> tuple[Write[Any], ...]:
        """What notes the answer, for the transaction that carries the request out."""
        assert self.noted is not None
        noting = update(
            self.noted.own_key(),
            status=answer.status,
            body=answer.body.decode(),
            if_exists=NotedAlready,
            when=attr("status").missing(),
            otherwise=NotedAlready,
        )
        return (noting,)


Making: TypeAlias = Callable[[Turn], Awaitable[Answer]]


async def once(request: Request, key: str | None, caller: Visitor | None, make: Making) -> Response:
    """Carries a request out; with a key, once."""
    site = site_of(request)
    if key is None:
        return (await make(Turn(site.store))).response()
    asked = Asking(caller.login if caller else NOBODY, key, await fingerprint(request))
    for _ in range(TRIES):
        claim = await claimed(site, asked)
        if claim.answer is not None:
            return claim.answer.response(replayed=True)
        with suppress(NotedAlready):
            answer = await carried_out(site, claim, make)
            await site.store.run(answering(claim.noted, answer))
            return answer.response()
    raise KeyInUse


Noting: TypeAlias = Callable[[Any], tuple[Write[Any], ...]]
"""Makes of the result of a request the writes that note its answer."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A request that its caller may send again under one key."""

    request: Request
    key: str | None
    caller: Visitor

    async def run(
        self,
        steps: Callable[[], Steps[T]],
        show: Callable[[T], ResponseBody],
        *,
        changed: Callable[[T], Iterable[str]] = lambda result: (),
    ) -> Response:
        """Runs steps once, and answers 201; `changed` are the tags that they change."""
        return await self.run_noting(lambda noting: steps(), show, changed=changed)

    async def run_noting(
        self,
        steps: Callable[[Noting | None], Steps[T]],
        show: Callable[[T], ResponseBody],
        *,
        status: int = HTTPStatus.CREATED,
        changed: Callable[[T], Iterable[str]] = lambda result: (),
    ) -> Response:
        """The same for steps that note their answer in their own transaction."""

        async def make(turn: Turn) -> Answer:
            def noting(result: T) -> tuple[Write[Any], ...]:
                return turn.noting(Answer.of(show(result), status))

            result = await turn.store.run(steps(noting if turn.noted else None))
            invalidate(site_of(self.request), changed(result))
            return Answer.of(show(result), status)

        return await once(self.request, self.key, self.caller, make)


async def read_key(
    request: Request, caller: SignedIn, idempotency_key: IdempotencyKey = None
) -> Idempotency:
    return Idempotency(request, idempotency_key, caller)


Idempotent: TypeAlias = Annotated[Idempotency, Depends(read_key)]


async def fingerprint(request: Request) -> str:
    """What makes a request the same: its address and its body, however that is spaced."""
    content = await request.body()
    spelled = orjson.dumps(orjson.loads(content), option=orjson.OPT_SORT_KEYS) if content else b""
    told = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return sha256(told + spelled).hexdigest()


async def carried_out(site: Site, claim: Claim, make: Making) -> Answer:
    try:
        return await make(Turn(repeating(site.store, claim.noted), claim.noted))
    except NotedAlready:
        raise
    except DomainError:
        if claim.is_first:
            await site.store.run(releasing(claim.noted))
        raise
    except IdempotentParameterMismatchException:
        raise MayBeDoneAlready from None


def repeating(store: AsyncStore, noted: Once) -> AsyncStore:
    """The store, at the moment and with the randomness that a request began with."""
    repeated = copy(store)
    repeated.clock = lambda: noted.begun_at
    repeated.randomness = Randomness(noted.seed)
    return repeated


class Randomness:
    """The same random bytes from the same seed."""

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.drawn = 0

    def __call__(self, count: int) -> bytes:
        self.drawn += 1
        return shake_256(self.seed + self.drawn.to_bytes(8)).digest(count)


# Notes


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, under which key, for what."""

    who: str
    key: str
    request: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What is noted of a request, and whether it is ours to carry out."""

    noted: Once
    is_ours: bool = False
    is_first: bool = False

    @property
    def answer(self) -> Answer | None:
        if self.noted.status is None:
            return None
        return Answer(self.noted.status, (self.noted.body or "").encode())


async def claimed(site: Site, asked: Asking) -> Claim:
    """A request that is ours to carry out, or that was; while somebody else does it, we wait."""
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        claim = await site.store.run(claiming(asked))
        if claim.is_ours or claim.answer is not None:
            return claim
        if waited >= PATIENCE_SECONDS:
            raise KeyInUse
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE)


def claiming(asked: Asking) -> Steps[Claim]:
    """Notes a request, or reads what is noted of it."""
    moment = yield from now()
    for _ in range(TRIES):
        found = yield from get(Once.key(asked.who, asked.key), consistent=True)
        try:
            if found is None or found.expires_at <= moment:
                return (yield from first_claim(asked, found, moment))
            if found.request != asked.request:
                raise KeyReused
            if found.status is not None or found.held_until > moment:
                return Claim(found)
            return (yield from taken_over(found, moment))
        except (ItemExists, Conflict):
            continue
    raise Conflict


def first_claim(asked: Asking, before: Once | None, moment: datetime) -> Steps[Claim]:
    noted = Once(
        who=asked.who,
        idempotency_key=asked.key,
        request=asked.request,
        seed=(yield from random_bytes(SEED_BYTES)),
        begun_at=moment,
        held_until=moment + HELD,
        expires_at=moment + KEPT,
    )
    if before is None:
        yield from create(noted)
    else:
        yield from put(noted, when=attr("seed") == before.seed, otherwise=Conflict)
    return Claim(noted, is_ours=True, is_first=True)


def taken_over(noted: Once, moment: datetime) -> Steps[Claim]:
    yield from update(
        noted.own_key(),
        held_until=moment + HELD,
        if_exists=Conflict,
        when=(attr("held_until") == noted.held_until) & attr("status").missing(),
        otherwise=Conflict,
    )
    return Claim(noted, is_ours=True)


def answering(noted: Once, answer: Answer) -> Steps[None]:
    """Notes an answer; another who carried out the same has noted the same."""
    with suppress(ItemMissing):
        yield from update(noted.own_key(), status=answer.status, body=answer.body.decode())


def releasing(noted: Once) -> Steps[None]:
    """Frees a key, unless somebody else has taken over."""
    ours = (attr("held_until") == noted.held_until) & attr("status").missing()
    with suppress(ConditionFailed):
        yield from delete(noted.own_key(), when=ours)
