"""The site's demo data: that of every system, and what makes one site of them.

The catalogue has the deals of `deals`, some of which trend, instead of deals of its own; and who
can log in is a user of `deals` too. Passwords are drawn from the seed: everybody knows them, so
they are for development alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Final

from bigtime.model import Entity, Scale, load_many
from bigtime.store import Store
from bigtime.systems.accounts.demo import ROLES, drawn_passwords, login_of
from bigtime.systems.accounts.design import Account
from bigtime.systems.catalog.trending import place_of
from bigtime.systems.deals.design import Brand, Deal, User
from bigtime.web.projection import catalog_brand, catalog_deal
from bigtime.web.systems import CATALOG, SYSTEMS

SEED: Final = 1
TRENDING_EVERY: Final = 4
MOST_VIEWS: Final = 2_000
CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class DemoLogin:
    """Somebody of the demo data who can log in."""

    login: str
    password: str


def demo_logins() -> list[DemoLogin]:
    passwords = drawn_passwords(Random(SEED))
    return [DemoLogin(login_of(name), passwords[name]) for name in ROLES]


def load_demo(store: Store, *, until: datetime, scale: Scale = Scale.SMALL) -> None:
    """Writes all of it."""
    made = demo_entities(scale, until)
    while chunk := list(islice(made, CHUNK)):
        store.run(load_many(chunk))


def demo_entities(scale: Scale, until: datetime) -> Iterator[Entity]:
    random = Random(SEED)
    for system in SYSTEMS:
        if system.demo is None or system is CATALOG:
            continue
        for entity in system.demo.entities(scale, Random(SEED), until):
            yield entity
            yield from beside(entity, until, random)


def beside(entity: Entity, until: datetime, random: Random) -> Iterator[Entity]:
    """What another system has of the same."""
    match entity:
        case Deal():
            copy = catalog_deal(entity)
            yield copy
            if random.randrange(TRENDING_EVERY) == 0:
                views = random.randrange(MOST_VIEWS)
                yield place_of(copy, discount_of(entity), views=views, clicks=views // 12)
        case Brand():
            yield catalog_brand(entity, until)
        case Account():
            yield User(
                username=entity.username,
                name=entity.username.title(),
                email=entity.login,
                created_at=until.replace(microsecond=0),
            )


def discount_of(deal: Deal) -> Decimal:
    """How much less it costs, in percent."""
    if deal.list_price is None:
        return Decimal(0)
    return round(100 * (deal.list_price - deal.price) / deal.list_price, 1)
