"""Demo data: a catalogue of brands, deals over four months, and the users who view them.

Entities are generated one at a time and none is kept, so a million deals take no more memory than a
few hundred. A tenth of the deals are trending; every user watches a brand, a category, and a brand
in a category.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final, NamedTuple

from bigtime import model as bt
from bigtime.systems.catalog.design import Brand, Deal, DealStatus, User, UserActivity
from bigtime.systems.catalog.trending import place_of
from bigtime.systems.catalog.watches import brand_in_category_watch, brand_watch, category_watch

DEALS: Final = {bt.Scale.SMALL: 300, bt.Scale.MEDIUM: 20_000, bt.Scale.LARGE: 1_000_000}
USERS: Final = {bt.Scale.SMALL: 60, bt.Scale.MEDIUM: 4_000, bt.Scale.LARGE: 200_000}
TRENDING_EVERY: Final = 10
WATCHES: Final = 3
ACTIVITIES: Final = 2

RECENT: Final = timedelta(days=120)
QUIET: Final = timedelta(hours=2)
"""The age of the newest data: old enough that the reaction notifies no watcher."""
YEAR: Final = timedelta(days=365)


class Category(NamedTuple):
    name: str
    dearest: int
    kinds: tuple[str, ...]
    products: tuple[str, ...]


# fmt: off
CATEGORIES: Final = {
    "electronics": Category("Electronics", 900, ("Compact", "Wireless", "Portable", "Bluetooth"),
        ("headphones", "speaker", "radio", "camera", "soundbar", "projector")),
    "computers": Category("Computers", 1_500, ("Slim", "Quiet", "Refurbished", "Pro"),
        ("laptop", "monitor", "keyboard", "mini PC", "router", "docking station")),
    "home": Category("Home", 700, ("Oak", "Everyday", "Linen", "Scandinavian"),
        ("floor lamp", "armchair", "rug", "bookcase", "duvet", "desk")),
    "kitchen": Category("Kitchen", 450, ("Stainless", "Everyday", "Compact", "Classic"),
        ("espresso machine", "blender", "chef's knife", "kettle", "toaster", "cast-iron pan")),
    "fashion": Category("Fashion", 250, ("Lightweight", "Everyday", "Waterproof", "Classic"),
        ("rain jacket", "sneakers", "wool coat", "backpack", "scarf")),
    "sports": Category("Sports", 900, ("Lightweight", "Trail", "Foldable", "Beginner's"),
        ("running shoes", "tent", "road bike", "yoga mat", "kayak")),
    "toys": Category("Toys", 120, ("Wooden", "Travel", "Giant", "Collector's"),
        ("building set", "board game", "puzzle", "train set", "kite")),
    "garden": Category("Garden", 600, ("Cordless", "Foldable", "Quiet", "Steel"),
        ("lawn mower", "hammock", "pruning shears", "fire pit", "hose reel")),
}
MAKERS: Final = {
    ("electronics", "computers"):
        "Sony, Apple, Asus, Cobalt, Lumen, Meridian, Umbra Works, Vantage",
    ("home", "kitchen"):
        "Alder & Finch, Boreal, Calder, Graystone, Kitto, Oakhurst, Orla, Saltbox",
    ("fashion", "sports"):
        "Fable, Halden, Harrow, Kestrel, Marlowe, Nordvik, Ridgeline, Tidewell",
    ("toys", "home"):
        "Brightwater, Eastlight, Fernhill, Juniper, Palisade, Solvei, Thistle, Zephyr",
    ("garden", "sports"):
        "Dunmore, Ironbark, Lakemont, Pemberton, Quarry, Tamarack, Wexford, Yarrow",
}
"""The brands of each pair of categories."""
# fmt: on
BRANDS: Final = {
    f"brand-{name.lower().replace(' ', '-')}": (name, categories)
    for categories, names in MAKERS.items()
    for name in names.split(", ")
}
REASONS: Final = ("end of season", "last year's model", "open box", "today only", "new in stock")
FIRST_NAMES: Final = ("Ada", "Ben", "Chloe", "Dev", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jun")
LAST_NAMES: Final = ("Abara", "Berg", "Cole", "Diaz", "Evans", "Fournier", "Gupta", "Hale", "Ito")
SOURCES: Final = ("homepage", "search", "category", "notification")
STATUSES: Final = (DealStatus.ACTIVE,) * 16 + (DealStatus.FEATURED,) + (DealStatus.EXPIRED,) * 3


def count(scale: bt.Scale) -> int:
    deals, users = DEALS[scale], USERS[scale]
    return len(BRANDS) + deals + deals // TRENDING_EVERY + users * (1 + WATCHES + ACTIVITIES)


def entities(scale: bt.Scale, draw: Random, until: datetime = bt.UNTIL) -> Iterator[bt.Entity]:
    brands = [brand(brand_id, name, draw, until) for brand_id, (name, _) in BRANDS.items()]
    yield from brands
    for number in range(1, DEALS[scale] + 1):
        yield from deal_and_place(number, draw.choice(brands), draw, until)
    for number in range(1, USERS[scale] + 1):
        person = user(number, draw, until)
        yield person
        yield from watches(person, draw.choice(brands), draw.choice(brands), draw, until)
        yield from activities(person, DEALS[scale], draw, until)


def brand(brand_id: str, name: str, draw: Random, until: datetime) -> Brand:
    return Brand(
        brand_id=brand_id,
        brand_name=name,
        created_at=long_ago(until, draw),
        description=f"{name} has been at it since {draw.randint(1890, 2020)}.",
        logo_url=f"https://images.example.com/{brand_id}.svg",
    )


def deal_and_place(number: int, maker: Brand, draw: Random, until: datetime) -> Iterator[bt.Entity]:
    """A deal and, for some, its place among the trending deals."""
    _, categories = BRANDS[maker.brand_id]
    category_id = draw.choice(categories)
    category = CATEGORIES[category_id]
    trends = number % TRENDING_EVERY == 0
    discount = draw.randrange(10, 140) * Decimal("0.5")
    thing = f"{draw.choice(category.kinds)} {draw.choice(category.products)}"
    deal = Deal(
        deal_id=deal_id(number),
        title=f"{maker.brand_name} {thing}, {discount.normalize():f}% off",
        description=f"{thing} by {maker.brand_name}: {draw.choice(REASONS)}.",
        price=draw.randrange(8, category.dearest) + Decimal("0.99"),
        brand_id=maker.brand_id,
        brand_name=maker.brand_name,
        category_id=category_id,
        category_name=category.name,
        posted_at=recently(until, draw),
        status=DealStatus.ACTIVE if trends else draw.choice(STATUSES),
    )
    yield deal
    if trends:
        views = draw.randrange(20, 5_000)
        yield place_of(deal, discount, views=views, clicks=views // draw.randint(8, 40))


def user(number: int, draw: Random, until: datetime) -> User:
    first, last = draw.choice(FIRST_NAMES), draw.choice(LAST_NAMES)
    username = f"{first}{last}{number}".lower()
    created_at = long_ago(until, draw)
    return User(
        user_id=f"user-{number:06}",
        username=username,
        email=f"{username}@example.com",
        display_name=f"{first} {last}",
        created_at=created_at,
        last_login=recently(until, draw) if draw.random() < 0.8 else None,
    )


def watches(
    user: User, liked: Brand, sought: Brand, draw: Random, until: datetime
) -> Iterator[bt.Entity]:
    category_id, other = draw.sample(list(CATEGORIES), 2)
    name = CATEGORIES[category_id].name
    yield brand_watch(user.user_id, liked, at=recently(until, draw))
    yield category_watch(user.user_id, category_id, name, at=recently(until, draw))
    yield brand_in_category_watch(user.user_id, sought, other, at=recently(until, draw))


def activities(user: User, deals: int, draw: Random, until: datetime) -> Iterator[bt.Entity]:
    for number in range(1, ACTIVITIES + 1):
        seen = deal_id(draw.randint(1, deals))
        yield UserActivity(
            user_id=user.user_id,
            timestamp=recently(until, draw),
            activity_id=f"activity-{number}-view-{seen}",
            activity_type="deal_view",
            details={
                "deal_id": seen,
                "duration_seconds": draw.randint(2, 180),
                "source": draw.choice(SOURCES),
            },
        )


def deal_id(number: int) -> str:
    return f"deal-{number:07}"


def recently(until: datetime, draw: Random) -> datetime:
    first, last = int(QUIET.total_seconds()), int(RECENT.total_seconds())
    return until - timedelta(seconds=draw.randrange(first, last))


def long_ago(until: datetime, draw: Random) -> datetime:
    return until - RECENT - timedelta(seconds=draw.randrange(int(YEAR.total_seconds())))


DEMO: Final = bt.Demo(entities, count)
