"""Rate limits: how often a client or a login may try something.

Limits that protect accounts, mailboxes and orders are counted in the store
(`bigtime.site.rate_limits`), so that they survive a restart and hold over all processes. The others
are counted here, in the memory of one process, at no cost to the store: a limit is a token bucket
that refills with time. There is one for each action and each client or login; a full bucket is the
same as none, so full ones are deleted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from itertools import islice
from typing import Any, TypeAlias

from starlette.requests import Request

from bigtime.model import TooMany

Buckets: TypeAlias = dict[str, tuple[float, float]]
"""By client or login: the tries that were left, and the time of that."""

MOST_BUCKETS = 50_000
"""Per action: filling up those of another action does not delete anybody's tries to sign in."""


class TooManyTries(TooMany):
    """Too many attempts. Wait a little and try again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = math.ceil(seconds)
        wait = "1 second" if self.seconds == 1 else f"{self.seconds:,} seconds"
        super().__init__(f"Too many attempts. Try again in {wait}.")


class Counted(StrEnum):
    """Where the tries of an action are counted."""

    IN_MEMORY = "in memory"
    IN_STORE = "in the store"


@dataclass(frozen=True, slots=True)
class Limit:
    """A number of tries at once, which refills within this many seconds."""

    tries: int
    seconds: float
    counted: Counted = Counted.IN_MEMORY

    @property
    def rate(self) -> float:
        return self.tries / self.seconds


def share_limits(limits: dict[str, Limit], processes: int) -> dict[str, Limit]:
    """The share of each process in the limits that are counted in memory.

    So they hold over all processes together, however a client's connections are spread. A client
    that sends everything over one connection only has that process's share.
    """
    return {
        action: replace(limit, tries=max(1, limit.tries // processes))
        if limit.counted is Counted.IN_MEMORY
        else limit
        for action, limit in limits.items()
    }


class Limits:
    """Counts tries in memory, by action and by client or login. For one event loop."""

    def __init__(
        self, limits: dict[str, Limit], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits
        self.clock = clock
        self._buckets: dict[str, Buckets] = {action: {} for action in limits}

    def take(self, action: str, who: str) -> None:
        """Counts one try; raises TooManyTries where there are none left."""
        seconds = self.count_try(action, who)
        if seconds:
            raise TooManyTries(seconds)

    def count_try(self, action: str, who: str) -> float:
        """Counts one try and returns 0, or returns the seconds until the next one."""
        limit, buckets, now = self.limits[action], self._buckets[action], self.clock()
        left, since = buckets.pop(who, (float(limit.tries), now))  # the latest stand last
        filled = min(limit.tries, left + (now - since) * limit.rate)
        if filled < 1:
            buckets[who] = left, since
            return (1 - filled) / limit.rate
        if len(buckets) >= MOST_BUCKETS:
            make_room(buckets, limit, now)
        buckets[who] = filled - 1, now
        return 0.0

    def give_back(self, action: str, who: str) -> None:
        """Gives back one try, which was counted before its outcome was known."""
        bucket = self._buckets[action].get(who)
        if bucket is not None:
            left, since = bucket
            self._buckets[action][who] = left + 1, since

    def forget(self, action: str, who: str) -> None:
        """Gives all tries back."""
        self._buckets[action].pop(who, None)


def make_room(buckets: Buckets, limit: Limit, now: float) -> None:
    """Deletes full buckets or, if most are not full, the older half.

    So this runs only once in very many tries, from however many addresses they come.
    """
    for who, (left, since) in list(buckets.items()):
        if left + (now - since) * limit.rate >= limit.tries:
            del buckets[who]
    for who in list(islice(buckets, max(0, len(buckets) - MOST_BUCKETS // 2))):
        del buckets[who]


# --- Where a request comes from: the address that tries are counted by --------------------
# A client can send any `X-Forwarded-For`. So only as many addresses from the end of that header are
# trusted as there are proxies of the site's own that add one.


Scope: TypeAlias = MutableMapping[str, Any]
FORWARDED = b"x-forwarded-for"
HOUSEHOLD = 64
"""The prefix length of the IPv6 network that a provider assigns to one customer."""


def client_of(request: Request, *, proxies: int) -> str:
    """The client's address; for IPv6 its network, as one customer has all of its addresses."""
    return client_in(request.scope, proxies=proxies)


def client_in(scope: Scope, *, proxies: int) -> str:
    addresses = forwarded_addresses(scope) if proxies else []
    if addresses and len(addresses) >= proxies:
        return household(addresses[-proxies])
    peer = scope.get("client")
    return household(peer[0] if peer else "")


def forwarded_addresses(scope: Scope) -> list[str]:
    lines = [value.decode("latin-1") for key, value in scope["headers"] if key == FORWARDED]
    return [address.strip() for address in ",".join(lines).split(",")] if lines else []


@lru_cache(maxsize=10_000)
def household(text: str) -> str:
    try:
        address = ip_address(without_port(text))
    except ValueError:
        return text[:100]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(IPv6Network((address, HOUSEHOLD), strict=False))
    return str(address)


def without_port(text: str) -> str:
    """The address only: some proxies add the port, which differs for every connection."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    address, colon, _ = text.partition(":")
    return address if colon and "." in address else text
