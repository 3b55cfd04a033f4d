"""Idempotency records: a request with a key is carried out once, however often it is sent.

1. The first request with a key is recorded before it is carried out, and its response afterwards.
   When the same request comes again with that key, it gets the recorded response and is not carried
   out. A different request with that key is refused.
2. Of two concurrent ones, one holds the record and is carried out. The other waits for its
   response.
3. An attempt may die before its response is recorded. After `HOLD` the next attempt takes over, and
   carries the request out again *exactly*: steps get their time and their randomness from the
   store, so it is given the first attempt's time and seed. It generates the same ids and sends the
   same transaction with the same token, which DynamoDB carries out once.
4. An update that adds to a number would add again, and DynamoDB forgets a token after ten minutes.
   Such a request records its response in the same transaction that carries it out (`answer_write`),
   on condition that none is recorded. So it has been carried out if and only if its response is
   recorded.
5. A request that was refused has changed nothing, so its key is free again. But not after a
   takeover: the attempt that died may have carried it out.

Records expire after a day.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from bigtime import model as bt
from bigtime.site.design import Fingerprint, IdempotencyRecord
from bigtime.wire import Steps

EXPIRES_AFTER: Final = timedelta(days=1)
FORM_EXPIRES_AFTER: Final = timedelta(days=2)
HOLD: Final = timedelta(seconds=30)
TRIES: Final = 8
SEED_BYTES: Final = 32


class KeyReused(bt.RuleBroken):
    """This Idempotency-Key was used for another request; use a new one."""


class AnsweredAlready(bt.Clash):
    """Another attempt has carried out this request, and recorded its response."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The record of a request, and whether this attempt holds it; `is_first` if none did before."""

    record: IdempotencyRecord
    is_ours: bool = False
    is_first: bool = False


@bt.pattern("Claim Request", index="Main table", takes="Who, IdempotencyKey, Fingerprint")
def claim_request(who: str, idempotency_key: str, request: Fingerprint) -> Steps[Claim]:
    """Creates the record, takes it over from a dead attempt, or reads it.

    `request` is the request's fingerprint.
    """
    moment = yield from bt.now()
    for _ in range(TRIES):
        record = yield from fetch_record(who, idempotency_key)
        try:
            if record is None or record.expires_at <= moment:
                new = yield from new_record(who, idempotency_key, request, moment)
                return (yield from claim_first(new, record))
            if record.request != request:
                raise KeyReused
            if record.status is not None or record.held_until > moment:
                return Claim(record)
            return (yield from take_over(record, moment))
        except (bt.ItemExists, bt.Conflict):
            continue
    raise bt.Conflict


@bt.pattern("Fetch Idempotency Record", index="Main table", takes="Who, IdempotencyKey")
def fetch_record(who: str, idempotency_key: str) -> Steps[IdempotencyRecord | None]:
    """Strongly consistent."""
    return (yield from bt.get(IdempotencyRecord.key(who, idempotency_key), consistent=True))


def new_record(who: str, key: str, request: str, moment: datetime) -> Steps[IdempotencyRecord]:
    return IdempotencyRecord(
        who=who,
        idempotency_key=key,
        request=request,
        seed=(yield from bt.random_bytes(SEED_BYTES)),
        begun_at=moment,
        held_until=moment + HOLD,
        expires_at=moment + EXPIRES_AFTER,
    )


def claim_first(record: IdempotencyRecord, expired: IdempotencyRecord | None) -> Steps[Claim]:
    if expired is None:
        yield from bt.create(record)
    else:
        yield from bt.put(record, when=bt.attr("seed") == expired.seed, otherwise=bt.Conflict)
    return Claim(record, is_ours=True, is_first=True)


def take_over(record: IdempotencyRecord, moment: datetime) -> Steps[Claim]:
    yield from bt.update(
        record.own_key(),
        held_until=moment + HOLD,
        if_exists=bt.Conflict,
        when=(bt.attr("held_until") == record.held_until) & bt.attr("status").missing(),
        otherwise=bt.Conflict,
    )
    return Claim(record, is_ours=True)


@bt.pattern(
    "Record Answer", index="Main table", takes="Record, Status, Body", sample={"status": 201}
)
def record_answer(record: IdempotencyRecord, status: int, body: str) -> Steps[None]:
    """An attempt that carried out the same has recorded the same; not if it has expired."""
    with suppress(bt.ItemMissing):
        yield from bt.update(record.own_key(), status=status, body=body)


def answer_write(record: IdempotencyRecord, status: int, body: str) -> bt.Write[Any]:
    """Records the response in the transaction that carries the request out, if none is recorded."""
    return bt.update(
        record.own_key(),
        status=status,
        body=body,
        if_exists=AnsweredAlready,
        when=bt.attr("status").missing(),
        otherwise=AnsweredAlready,
    )


@bt.pattern("Release Idempotency Key", index="Main table", takes="Record")
def release_key(record: IdempotencyRecord) -> Steps[None]:
    """After a refused request, unless another attempt has taken over."""
    ours = (bt.attr("held_until") == record.held_until) & bt.attr("status").missing()
    with suppress(bt.ConditionFailed):
        yield from bt.delete(record.own_key(), when=ours)


def answered_record(
    who: str, key: str, request: str, status: int, body: str
) -> Steps[IdempotencyRecord]:
    """The record of a form whose own transaction records the response: it is never held."""
    moment = yield from bt.now()
    return IdempotencyRecord(
        who=who,
        idempotency_key=key,
        request=request,
        seed=b"",
        begun_at=moment,
        held_until=moment,
        status=status,
        body=body,
        expires_at=moment + FORM_EXPIRES_AFTER,
    )
