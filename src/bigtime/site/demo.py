"""The site's demo data: accounts to sign in to, and what they find there.

The catalogue has copies of the deals of `deals`, some of which trend, and no deals of its own; each
account has a user of `deals`; only the demo's shopper has a cart and orders. Passwords are drawn
from a fixed seed: everybody knows them, so they are for development alone.

Loading takes a while, and may be interrupted. `DemoData` is written before and after it: until it
is complete, the next start loads it again, and writes the same items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from random import Random
from typing import Final

from bigtime.model import Entity, Scale, load_many, scan
from bigtime.site.catalog_projection import catalog_brand, catalog_deal
from bigtime.site.demo_shopper import GOODS, shopper_entities
from bigtime.site.design import DEMO_DATA
from bigtime.site.engagement import discount
from bigtime.store import Store
from bigtime.systems import accounts, catalog, deals, portal

SEED: Final = 1
TRENDING_EVERY: Final = 4
MOST_VIEWS: Final = 2_000
CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class DemoLogin:
    """The login and password of a demo account."""

    login: str
    password: str


def demo_logins() -> list[DemoLogin]:
    passwords = accounts.drawn_passwords(Random(SEED))
    return [DemoLogin(accounts.login_of(name), passwords[name]) for name in accounts.ROLES]


def wants_demo(store: Store) -> bool:
    """Whether there is no account yet, or the demo data is incomplete."""
    begun = store.run(DEMO_DATA.get())
    if begun.until is not None:
        return not begun.is_loaded
    return not store.run(scan(accounts.Account, limit=1))


def load_demo(store: Store, *, until: datetime) -> None:
    """Writes all of it, dated before `until`, or before the moment of an interrupted load."""
    begun = store.run(DEMO_DATA.get())
    until = begun.until or until.replace(microsecond=0)
    store.run(DEMO_DATA.update(until=until))
    entities = demo_entities(until)
    while chunk := list(islice(entities, CHUNK)):
        store.run(load_many(chunk))
    store.run(DEMO_DATA.update(is_loaded=True))


def demo_entities(until: datetime) -> Iterator[Entity]:
    random = Random(SEED)
    newest: list[deals.Deal] = []
    for system in (deals.SYSTEM, accounts.SYSTEM, portal.SYSTEM):
        assert system.demo is not None
        for entity in system.demo.entities(Scale.SMALL, Random(SEED), until):
            yield entity
            yield from copies_elsewhere(entity, until, random)
            if isinstance(entity, deals.Deal) and len(newest) < GOODS:
                newest.append(entity)
    yield from shopper_entities(newest, until)


def copies_elsewhere(entity: Entity, until: datetime, random: Random) -> Iterator[Entity]:
    """The copies of an entity in other systems."""
    match entity:
        case deals.Deal():
            copy = catalog_deal(entity)
            yield copy
            if random.randrange(TRENDING_EVERY) == 0:
                views = random.randrange(MOST_VIEWS)
                yield catalog.place_of(copy, discount(entity), views=views, clicks=views // 12)
        case deals.Brand():
            yield catalog_brand(entity, until)
        case accounts.Account():
            yield deals.User(
                username=entity.username,
                name=entity.username.title(),
                email=entity.login,
                created_at=until.replace(microsecond=0),
            )
