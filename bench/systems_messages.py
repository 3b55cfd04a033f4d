"""Telling many users about one deal: what a message costs, and how much memory it takes.

Every user watches one brand. A deal of it appears, and the consumer of the stream notifies all of
them; or an editor sends a hot deal to everyone. Each is done in a process of its own, on an
existing file, with few users and with many: the memory of the process must not grow with their
number. (SQLite's caches do fill as the file grows, up to 8 MB per connection. Just holding the
names of 200,000 users would take twice that.)

It may be done several times, each time with another deal. The best run is the cost, since the
others may have been disturbed; the worst is the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from rich.console import Console

from bench.figure import Bar, Figure
from bench.scale import Scale
from bench.systems_filling import check_room, fill
from bench.systems_telling import BRAND, CATEGORY, Told, follower, in_fresh_process
from bigtime.engine import Engine
from bigtime.model import UNTIL, Entity, Reaction, System
from bigtime.store import Store
from bigtime.systems import catalog, deals
from bigtime.systems.catalog.design import Brand as CatalogBrand
from bigtime.systems.catalog.design import User as CatalogUser
from bigtime.systems.catalog.watches import brand_watch, notify_watchers
from bigtime.systems.deals.design import Brand, BrandWatch, Category, User
from bigtime.systems.deals.notifications import announce_deal

BYTES_A_USER: Final = 15_000  # with a watch, four messages, and a stream record of each
ITEMS_A_USER: Final = 2


@dataclass(frozen=True, slots=True)
class Audience:
    """A system with its users, the consumer of its stream, and the ways they are notified."""

    system: System
    users: Callable[[int], Iterator[Entity]]
    reaction: Reaction
    ways: Mapping[str, str]


def users_of_deals(count: int) -> Iterator[Entity]:
    yield Brand(brand=BRAND, name=BRAND, watch_count=count)
    yield Category(category=CATEGORY, name=CATEGORY)
    for name in usernames(count):
        yield User(username=name, name=name, email=f"{name}@example.com", created_at=UNTIL)
        yield BrandWatch(brand=BRAND, username=name)


def users_of_catalog(count: int) -> Iterator[Entity]:
    brand = CatalogBrand(brand_id=BRAND, brand_name=BRAND, created_at=UNTIL)
    yield brand
    for name in usernames(count):
        yield CatalogUser(
            user_id=name,
            username=name,
            email=f"{name}@example.com",
            display_name=name,
            created_at=UNTIL,
        )
        yield brand_watch(name, brand, at=UNTIL)


def usernames(count: int) -> Iterator[str]:
    """Names in an order that no key has, as people sign up."""
    return (f"{Random(number).randbytes(6).hex()}.{number}" for number in range(count))


AUDIENCES: Final = (
    Audience(
        deals.SYSTEM,
        users_of_deals,
        announce_deal,
        {"watchers": "New deal to watchers of its brand", "everyone": "Hot deal to all users"},
    ),
    Audience(
        catalog.SYSTEM,
        users_of_catalog,
        notify_watchers,
        {"catalog": "New deal of the catalogue to watchers of its brand"},
    ),
)


def measure(scale: Scale, folder: Path, screen: Console) -> Iterator[Figure]:
    counts = (scale.few_users, scale.many_users)
    check_room(folder, sum(counts), BYTES_A_USER)
    for audience in AUDIENCES:
        paths = {users: build(audience, users, folder, screen) for users in counts}
        for task, what in audience.ways.items():
            few, many = (
                tell_again(task, path, users, times=scale.tellings) for users, path in paths.items()
            )
            yield from figures(what, few, many)


def build(audience: Audience, users: int, folder: Path, screen: Console) -> Path:
    """A file with so many users, whose consumer has read all records of creating them."""
    path = folder / f"{audience.system.name}-{users}.db"
    with Engine.open(path, durability="relaxed") as engine:
        store = Store(engine)
        fill(store, audience.system, audience.users(users), ITEMS_A_USER * users, screen)
        follower(store, audience.reaction).run_once()
    return path


def tell_again(task: str, path: Path, users: int, *, times: int) -> Told:
    told = [tell(task, path, users) for _ in range(times)]
    least = min(each.microseconds for each in told)
    return Told(users, least, max(each.peak_mb for each in told))


def tell(task: str, path: Path, users: int) -> Told:
    told = in_fresh_process(task, path)
    if told.messages != users:
        raise AssertionError(f"{told.messages:,} of {users:,} users were told")
    return told


def figures(what: str, few: Told, many: Told) -> Iterator[Figure]:
    beside = f"for {few.messages:,}"
    ours, other = many.microseconds, few.microseconds
    yield Figure(
        f"{what}, {many.messages:,} of them, for each message",
        ours,
        "us",
        other,
        beside,
        ours / other,
        Bar("at most", 200, "us"),
    )
    yield Figure(
        f"{what}, {many.messages:,} of them, peak memory of the process",
        many.peak_mb,
        "MB",
        few.peak_mb,
        beside,
        many.peak_mb / few.peak_mb,
        Bar("at most", 1.3, "x"),
    )
