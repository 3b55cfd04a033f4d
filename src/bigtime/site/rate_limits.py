"""Rate limits that are counted in the store, and the networks that a login has used.

A limit counted here survives a restart, and applies to all processes together.

1. Tries are counted in windows: one item for each action, subject and window. It expires after the
   following window.
2. A window alone would allow twice the limit around its end. So the tries of the previous window
   count too, in proportion to its overlap with the last `seconds`: of 10 tries in it, 4 count when
   60 % of this window are over.
3. A try is one conditional update, which adds 1 if the count is below the limit. So concurrent
   tries cannot exceed it. A refused try writes nothing: trying again does not make the wait longer.
4. An update whose response was lost is sent again, and may count twice, which errs on the safe
   side.

A subject is stored as its hash: keys have a fixed length, whatever was typed into a form.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import floor
from typing import Final

from bigtime import model as bt
from bigtime.site.design import KnownNetwork, TryCount
from bigtime.wire import Steps

EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
SHORTEST_WAIT: Final = 1.0
KNOWN_FOR: Final = timedelta(days=180)
SAMPLE: Final = {"action": "log in", "seconds": 60}


@bt.pattern("Count Try", index="Main table", sample={**SAMPLE, "tries": 10})
def count_try(action: str, subject: str, *, tries: int, seconds: float) -> Steps[float]:
    """Counts a try and returns 0, or returns the seconds until there is one left."""
    window, digest = timedelta(seconds=seconds), digest_of(subject)
    for _ in range(2):
        moment = yield from bt.now()
        begins_at = window_of(moment, window)
        elapsed = (moment - begins_at) / window
        before, now = yield from counts_in(action, digest, begins_at - window, begins_at)
        most = floor(tries - before * (1 - elapsed))
        if now >= most:
            return max(SHORTEST_WAIT, seconds * wait_in_windows(tries, before, now, elapsed))
        with suppress(bt.Conflict):
            yield from bt.update(
                TryCount.key(action, digest, begins_at),
                count=bt.Add(1),
                expires_at=begins_at + 2 * window,
                upsert=True,
                when=bt.attr("count").missing() | (bt.attr("count") < most),
                otherwise=bt.Conflict,
            )
            return 0.0
    return SHORTEST_WAIT


def counts_in(action: str, digest: str, *windows: datetime) -> Steps[list[int]]:
    keys = [TryCount.key(action, digest, begins_at) for begins_at in windows]
    found = yield from bt.get_many(keys, consistent=True)
    return [0 if counted is None else counted.count for counted in found]


def window_of(moment: datetime, window: timedelta) -> datetime:
    """The beginning of the window that contains a moment."""
    return EPOCH + (moment - EPOCH) // window * window


def wait_in_windows(tries: int, before: int, now: int, elapsed: float) -> float:
    """How long until a try is left, in windows, from the counts of the previous and this window."""
    if now < tries:  # wait until less of the previous window overlaps
        return 1 - (tries - 1 - now) / before - elapsed
    return 1 - elapsed + 1 - (tries - 1) / now


@bt.pattern("Forget Tries", index="Main table", sample=SAMPLE)
def forget_tries(action: str, subject: str, *, seconds: float) -> Steps[None]:
    """Deletes the counts of this window and the one before."""
    window, digest = timedelta(seconds=seconds), digest_of(subject)
    begins_at = window_of((yield from bt.now()), window)
    yield from bt.delete_many(
        TryCount.key(action, digest, start) for start in (begins_at, begins_at - window)
    )


@bt.pattern("Remember Network of Login", index="Main table")
def remember_network(login: str, network: str) -> Steps[None]:
    """For 180 days, after the login has signed in or the mailbox was confirmed there."""
    until = (yield from bt.now()) + KNOWN_FOR
    subject = digest_of(f"{login}\0{network}")
    yield from bt.put(KnownNetwork(subject=subject, expires_at=until))


@bt.pattern("Is Network of Login known", index="Main table")
def is_network_known(login: str, network: str) -> Steps[bool]:
    """Whether the login has signed in, or the mailbox was confirmed, from the network."""
    found = yield from bt.get(KnownNetwork.key(digest_of(f"{login}\0{network}")))
    return found is not None and found.expires_at > (yield from bt.now())


def digest_of(subject: str) -> str:
    return sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()
