"""Demo data: deals over many days, who likes and watches what, and what they have been told.

Everything is made one by one and forgotten, but for a few hundred of the newest deals, which pages
feature and messages tell of. Likes and watches are counted as they are made, so brands and
categories, which hold the counts, come last.

The newest deal is two hours old: nobody is told of it again when the stream is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from random import Random
from typing import Final

from bigtime.model import UNTIL, Demo, Entity, Ksuid, Scale
from bigtime.systems.deals.categories import CATEGORIES
from bigtime.systems.deals.demo_words import (
    BRANDS,
    FINISHES,
    FIRST_NAMES,
    LAST_NAMES,
    NEIGHBOURS,
    PRODUCTS,
    SHOPS,
)
from bigtime.systems.deals.design import (
    Brand,
    BrandLike,
    Brands,
    BrandWatch,
    Category,
    CategoryLike,
    CategoryWatch,
    Deal,
    EditorsChoice,
    FrontPage,
    MessageKind,
    User,
)
from bigtime.systems.deals.featured import copy_of
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.values import brand_key, category_key


@dataclass(frozen=True, slots=True)
class Size:
    """How much of what."""

    deals: int
    days: int
    users: int


SIZES: Final[Mapping[Scale, Size]] = {
    Scale.SMALL: Size(deals=300, days=30, users=50),
    Scale.MEDIUM: Size(deals=20_000, days=90, users=2_000),
    Scale.LARGE: Size(deals=1_000_000, days=365, users=200_000),
}
AGE: Final = timedelta(hours=2)
RECENT: Final = 200
FEATURED: Final = 8
CENTS: Final = tuple(map(Decimal, ("0.00", "0.49", "0.50", "0.95", "0.99")))

# How many of each a user has, by the last digit of its number.
BRAND_LIKES: Final = (0, 1, 1, 1, 2, 2, 2, 3, 3, 5)
BRAND_WATCHES: Final = (0, 0, 1, 1, 1, 1, 1, 2, 2, 3)
CATEGORY_LIKES: Final = (0, 0, 0, 1, 1, 1, 1, 1, 2, 3)
CATEGORY_WATCHES: Final = (0, 0, 0, 0, 0, 1, 1, 1, 1, 2)
MESSAGES: Final = (0, 0, 1, 1, 1, 2, 2, 3, 4, 6)
EACH: Final = (BRAND_LIKES, BRAND_WATCHES, CATEGORY_LIKES, CATEGORY_WATCHES, MESSAGES)

HOMES: Final = tuple((name, home) for home, names in BRANDS.items() for name in names)
ALL_BRANDS: Final = tuple(name for name, _ in HOMES)


def popularity(count: int) -> list[float]:
    """A few are popular, and most are not: weights that add up, for `Random.choices`."""
    order = sorted(range(count), key=lambda place: place * 7 % count)
    return list(accumulate(1 / (rank + 1) ** 0.7 for rank in order))


BRANDS_BY_WEIGHT: Final = popularity(len(ALL_BRANDS))
CATEGORIES_BY_WEIGHT: Final = popularity(len(CATEGORIES))


@dataclass(slots=True)
class Counts:
    """What is remembered of all that is made."""

    recent: list[Deal] = field(default_factory=list)
    by_category: dict[str, list[Deal]] = field(default_factory=dict)
    tally: Counter[tuple[type[Entity], str]] = field(default_factory=Counter)

    def keep(self, deal: Deal) -> None:
        if len(self.recent) < RECENT:
            self.recent.append(deal)
        featured = self.by_category.setdefault(deal.category, [])
        if len(featured) < FEATURED:
            featured.append(deal)

    def count(self, interest: Entity) -> Entity:
        match interest:
            case BrandLike(brand=name) | BrandWatch(brand=name):
                self.tally[type(interest), name] += 1
            case CategoryLike(category=name) | CategoryWatch(category=name):
                self.tally[type(interest), name] += 1
        return interest


def entities(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Entity]:
    """All of it, as it was at a moment."""
    size, kept = SIZES[scale], Counts()
    for deal in deals(size, random, until):
        kept.keep(deal)
        yield deal
    for number in range(size.users):
        yield from map(kept.count, user(number, random, until, kept.recent))
    yield from brands(until, kept)
    yield from categories(kept)
    yield from pages(kept)


def count(scale: Scale) -> int:
    size = SIZES[scale]
    each = sum(how_many[number % 10] for how_many in EACH for number in range(10))
    fixed = len(ALL_BRANDS) + 1 + len(CATEGORIES) + 2
    return size.deals + size.users + size.users // 10 * each + fixed


# Deals


def deals(size: Size, random: Random, until: datetime) -> Iterator[Deal]:
    """Newest first, one in each of as many stretches of time as there are deals."""
    newest = until - AGE
    stretch = size.days * 86_400 / size.deals
    for number in range(size.deals):
        yield deal(newest - timedelta(seconds=(number + random.random()) * stretch), random)


def deal(at: datetime, random: Random) -> Deal:
    name, home = random.choices(HOMES, cum_weights=BRANDS_BY_WEIGHT)[0]
    category = home if random.random() < 0.8 else NEIGHBOURS[home]
    product, least, most = random.choice(PRODUCTS[category])
    list_price = random.randrange(least, most)
    price = list_price * random.randrange(45, 92) // 100
    deal_id = Ksuid.make(at, random.randbytes(16))
    return Deal(
        deal_id=deal_id,
        title=f"{name} {product}, {random.choice(FINISHES)}",
        link=f"https://{random.choice(SHOPS)}.example/{deal_id}",
        price=price + random.choice(CENTS),
        list_price=list_price + CENTS[-1],
        brand=name,
        brand_name=name,
        category=category,
        category_name=category,
    )


# Users


def user(number: int, random: Random, until: datetime, recent: list[Deal]) -> Iterator[Entity]:
    """A user, what they like and watch, and what they have been told."""
    first = FIRST_NAMES[number % len(FIRST_NAMES)]
    last = LAST_NAMES[number // len(FIRST_NAMES) % len(LAST_NAMES)]
    username = f"{first}.{last}.{number}".lower()
    yield User(
        username=username,
        name=f"{first} {last}",
        email=f"{username}@example.com",
        created_at=until - timedelta(minutes=number + 1),
    )
    digit = number % 10
    for name in some_brands(BRAND_LIKES[digit], random):
        yield BrandLike(brand=name, username=username)
    for name in some_categories(CATEGORY_LIKES[digit], random):
        yield CategoryLike(category=name, username=username)
    watched = some_brands(BRAND_WATCHES[digit], random)
    watched_too = some_categories(CATEGORY_WATCHES[digit], random)
    yield from (BrandWatch(brand=name, username=username) for name in watched)
    yield from (CategoryWatch(category=name, username=username) for name in watched_too)
    for place in range(MESSAGES[digit]):
        deal = recent[(number * 7 + place * 13) % len(recent)]
        message = message_for(deal, kind_of(deal, watched, watched_too), username)
        yield message.model_copy(update={"unread": random.random() < 0.6})


def kind_of(deal: Deal, brands: list[str], categories: list[str]) -> MessageKind:
    """Why somebody who watches these was told of a deal."""
    if deal.brand_name in brands:
        return MessageKind.BRAND
    return MessageKind.CATEGORY if deal.category_name in categories else MessageKind.HOT


def some_brands(count: int, random: Random) -> list[str]:
    return draw(ALL_BRANDS, BRANDS_BY_WEIGHT, count, random)


def some_categories(count: int, random: Random) -> list[str]:
    return draw(CATEGORIES, CATEGORIES_BY_WEIGHT, count, random)


def draw(names: tuple[str, ...], weights: list[float], count: int, random: Random) -> list[str]:
    """So many different ones, the popular ones more often."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[random.choices(names, cum_weights=weights)[0]] = None
    return list(found)


# What holds the counts, and what is featured


def brands(until: datetime, kept: Counts) -> Iterator[Entity]:
    for name in ALL_BRANDS:
        key = brand_key(name)
        yield Brand(
            brand=name,
            name=name,
            logo=f"https://logos.example/{key.lower().replace(' ', '-')}.svg",
            like_count=kept.tally[BrandLike, key],
            watch_count=kept.tally[BrandWatch, key],
            created_at=until - timedelta(days=730),
        )
    yield Brands(brands=set(ALL_BRANDS))


def categories(kept: Counts) -> Iterator[Category]:
    for name in CATEGORIES:
        key = category_key(name)
        yield Category(
            category=name,
            name=name,
            featured_deals=[copy_of(one) for one in kept.by_category[key]],
            like_count=kept.tally[CategoryLike, key],
            watch_count=kept.tally[CategoryWatch, key],
        )


def pages(kept: Counts) -> Iterator[Entity]:
    here_and_there = kept.recent[:: len(kept.recent) // FEATURED]
    yield FrontPage(featured_deals=[copy_of(one) for one in here_and_there[:FEATURED]])
    yield EditorsChoice(featured_deals=[copy_of(one) for one in kept.recent[3:30:5]])


DEMO: Final = Demo(entities=entities, count=count)
