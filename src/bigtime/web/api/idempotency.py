"""The `Idempotency-Key` header: a request with one is carried out once, however often it is sent.

What is recorded of such a request, and why that suffices, is in `bigtime.site.idempotency`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from hashlib import sha256, shake_256
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import orjson
from fastapi import Depends, Header
from starlette.responses import Response

from bigtime import site
from bigtime.model import Clash, DomainError, Write
from bigtime.store import AsyncStore
from bigtime.web.api.bodies import ResponseBody
from bigtime.web.api.dependencies import SignedIn
from bigtime.web.http import json_answer
from bigtime.web.pages import AppRequest
from bigtime.wire import IdempotentParameterMismatchException, Steps

T = TypeVar("T")

PATIENCE_SECONDS: Final = 10.0
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5
TRIES: Final = 8

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


class KeyInUse(Clash):
    """The request with this Idempotency-Key is still being carried out; ask again in a while."""


class MayBeDoneAlready(Clash):
    """This was tried before, and may have been done; look whether it is there."""


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


CarryOut: TypeAlias = Callable[[AsyncStore, site.IdempotencyRecord | None], Awaitable[Answer]]
"""Carries a request out on a store, with its idempotency record if it has a key."""


async def once(request: AppRequest, key: str | None, who: str, make: CarryOut) -> Response:
    """Carries a request out; with a key, only once. Each `who` has its own keys."""
    store = request.context.store
    if key is None:
        return (await make(store, None)).response()
    same = await fingerprint(request)
    for _ in range(TRIES):
        claim = await claim_or_wait(store, who, key, same)
        answer = recorded_answer(claim)
        if answer is not None:
            return answer.response(replayed=True)
        with suppress(site.AnsweredAlready):
            answer = await carry_out(store, claim, make)
            steps = site.record_answer(claim.record, answer.status, answer.body.decode())
            await store.run(steps)
            return answer.response()
    raise KeyInUse


AnswerWrites: TypeAlias = Callable[[Any], tuple[Write[Any], ...]]
"""Returns the writes that record the response, given the result of a request."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A request that its caller may repeat with one key; each `who` has its own keys."""

    request: AppRequest
    key: str | None
    who: str

    async def run(
        self, steps: Callable[[], Steps[T]], show: Callable[[T], ResponseBody]
    ) -> Response:
        """Runs steps once, and answers 201."""
        return await self.run_recorded(lambda answer_writes: steps(), show)

    async def run_recorded(
        self,
        steps: Callable[[AnswerWrites | None], Steps[T]],
        show: Callable[[T], ResponseBody],
        *,
        status: int = HTTPStatus.CREATED,
    ) -> Response:
        """The same for steps that record their response in their own transaction."""

        async def make(store: AsyncStore, record: site.IdempotencyRecord | None) -> Answer:
            def answer_writes(result: T) -> tuple[Write[Any], ...]:
                assert record is not None
                answer = Answer.of(show(result), status)
                return (site.answer_write(record, answer.status, answer.body.decode()),)

            result = await store.run(steps(answer_writes if record else None))
            return Answer.of(show(result), status)

        return await once(self.request, self.key, self.who, make)


async def read_key(
    request: AppRequest, caller: SignedIn, idempotency_key: IdempotencyKey = None
) -> Idempotency:
    return Idempotency(request, idempotency_key, caller.login)


Idempotent: TypeAlias = Annotated[Idempotency, Depends(read_key)]


async def fingerprint(request: AppRequest) -> str:
    """Identifies a request by its address and its body, ignoring whitespace in JSON."""
    content = await request.body()
    spelled = orjson.dumps(orjson.loads(content), option=orjson.OPT_SORT_KEYS) if content else b""
    address = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return sha256(address + spelled).hexdigest()


async def carry_out(store: AsyncStore, claim: site.Claim, make: CarryOut) -> Answer:
    try:
        return await make(replaying_store(store, claim.record), claim.record)
    except site.AnsweredAlready:
        raise
    except DomainError:
        if claim.is_first:
            await store.run(site.release_key(claim.record))
        raise
    except IdempotentParameterMismatchException:
        raise MayBeDoneAlready from None


def replaying_store(store: AsyncStore, noted: site.IdempotencyRecord) -> AsyncStore:
    """The store with the time and the randomness that a request began with."""
    repeated = copy(store)
    repeated.clock = lambda: noted.begun_at
    repeated.randomness = Randomness(noted.seed)
    return repeated


class Randomness:
    """A generator: the same seed gives the same random bytes."""

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.drawn = 0

    def __call__(self, count: int) -> bytes:
        self.drawn += 1
        return shake_256(self.seed + self.drawn.to_bytes(8)).digest(count)


async def claim_or_wait(store: AsyncStore, who: str, key: str, request: str) -> site.Claim:
    """Claims a request, or waits while another attempt holds it."""
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        claim = await store.run(site.claim_request(who, key, request))
        if claim.is_ours or recorded_answer(claim) is not None:
            return claim
        if waited >= PATIENCE_SECONDS:
            raise KeyInUse
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE)


def recorded_answer(claim: site.Claim) -> Answer | None:
    if claim.record.status is None:
        return None
    return Answer(claim.record.status, (claim.record.body or "").encode())
