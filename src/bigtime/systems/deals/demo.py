"""Demo data: deals over many days, and users with their likes, watches and messages.

Entities are generated one at a time and none is kept but a few hundred of the newest deals, which
pages feature and messages are about. Likes and watches are counted as they are generated, so brands
and categories, which hold the counts, come last.

The newest deal is two hours old, so the reaction announces none of them.
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

from bigtime import model as bt
from bigtime.systems.deals import design
from bigtime.systems.deals.brands import CATEGORIES
from bigtime.systems.deals.design import BrandWatch, CategoryLike, CategoryWatch, Deal, MessageKind
from bigtime.systems.deals.featured import copy_of
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.values import brand_key, category_key

# Words: invented brands, ordinary products, common names

BRANDS: Final = {
    "Electronics": (
        "Lumora", "Voltaic", "Northbeam", "Auralis", "Pixelwood", "Sonitek", "Halcyon Audio",
        "Brightfield",
    ),
    "Computers": (
        "Keystead", "Quillmark", "Nimbus Labs", "Framewright", "Datumworks", "Bytehaven",
        "Corepoint",
    ),
    "Home": (
        "Oakmere", "Linden & Co", "Hearthside", "Casa Verde", "Stillwater Home", "Downfeather",
        "Plumb Line", "Moss & Stone",
    ),
    "Kitchen": (
        "Cast & Crumb", "Copperleaf", "Saltbox", "Whisk & Ladle", "Ember Kitchen", "Grindhouse",
        "Teaworks",
    ),
    "Fashion": (
        "Harrow & Finch", "Threadneedle", "Wolds", "Marlowe", "Sable Row", "Kitefield",
        "Denim Union", "Juniper Lane",
    ),
    "Sports": (
        "Trailhead", "Ridgeback", "Peakline", "Aquastride", "Velo Nord", "Ironbark",
        "Summit Works", "Fieldhouse",
    ),
    "Toys": (
        "Tinkerwood", "Marble Run Co", "Puzzlebury", "Little Atlas", "Brickworks", "Kite & Key",
        "Owl & Otter",
    ),
    "Beauty": (
        "Saffron Skin", "Purewell", "Alder & Bloom", "Glowfern", "Tideline", "Rosehip Row",
        "Velvet Fig",
    ),
}  # fmt: skip
"""Sixty brands, by their main category."""

NEIGHBOURS: Final = {
    "Electronics": "Computers",
    "Computers": "Electronics",
    "Home": "Kitchen",
    "Kitchen": "Home",
    "Fashion": "Sports",
    "Sports": "Fashion",
    "Toys": "Sports",
    "Beauty": "Fashion",
}
"""The second category of a brand."""

PRODUCTS: Final = {
    "Electronics": (
        ("noise-cancelling headphones", 60, 350), ("portable speaker", 25, 180),
        ("4K television", 280, 1600), ("smart watch", 70, 420), ("action camera", 90, 450),
        ("e-reader", 80, 280), ("soundbar", 90, 600), ("power bank", 15, 70),
        ("wireless earbuds", 30, 220), ("digital radio", 40, 160),
    ),
    "Computers": (
        ("mechanical keyboard", 45, 190), ("27-inch monitor", 140, 620), ("laptop", 400, 2200),
        ("wireless mouse", 15, 110), ("external SSD", 60, 320), ("docking station", 70, 280),
        ("webcam", 30, 190), ("mesh router", 80, 380), ("mini PC", 180, 900),
        ("laptop stand", 20, 90),
    ),
    "Home": (
        ("oak desk lamp", 35, 140), ("wool rug", 60, 480), ("duvet", 40, 220),
        ("bookcase", 70, 400), ("air purifier", 80, 420), ("scented candle", 8, 40),
        ("blackout curtains", 25, 120), ("robot vacuum", 160, 800), ("wall clock", 15, 90),
        ("storage basket", 9, 45),
    ),
    "Kitchen": (
        ("cast-iron pan", 25, 150), ("espresso machine", 120, 900), ("chef's knife", 30, 220),
        ("stand mixer", 150, 600), ("pour-over kettle", 30, 140), ("burr grinder", 50, 320),
        ("baking set", 15, 80), ("air fryer", 60, 260), ("glass teapot", 15, 70),
        ("bamboo board", 12, 60),
    ),
    "Fashion": (
        ("merino jumper", 40, 180), ("rain jacket", 50, 320), ("leather belt", 18, 95),
        ("straight jeans", 35, 160), ("linen shirt", 25, 120), ("canvas rucksack", 40, 190),
        ("wool scarf", 20, 110), ("trainers", 45, 200), ("sunglasses", 25, 210),
        ("ankle boots", 60, 280),
    ),
    "Sports": (
        ("two-person tent", 80, 520), ("trail running shoes", 55, 190), ("yoga mat", 15, 90),
        ("road bike helmet", 35, 260), ("kettlebell", 18, 110), ("swim goggles", 9, 55),
        ("hiking poles", 25, 150), ("sleeping bag", 45, 380), ("bike lights", 14, 120),
        ("insulated bottle", 12, 50),
    ),
    "Toys": (
        ("wooden train set", 25, 140), ("1,000-piece puzzle", 10, 35), ("marble run", 20, 110),
        ("building blocks", 15, 160), ("board game", 15, 75), ("stacking rings", 8, 30),
        ("science kit", 18, 90), ("plush fox", 10, 45), ("kite", 12, 70), ("globe", 20, 120),
    ),
    "Beauty": (
        ("vitamin C serum", 10, 60), ("hair dryer", 30, 320), ("shaving set", 20, 130),
        ("night cream", 12, 95), ("electric toothbrush", 25, 220), ("bath salts", 6, 35),
        ("sunscreen", 8, 40), ("perfume", 25, 160), ("lip balm trio", 5, 25),
        ("beard trimmer", 20, 110),
    ),
}  # fmt: skip
"""The products of each category, with their range of prices."""

FINISHES: Final = (
    "graphite", "ivory", "forest green", "navy", "sand", "slate", "black", "white", "terracotta",
    "ocean blue", "in gift box", "last year's model", "new edition", "refurbished", "open box",
    "limited edition",
)  # fmt: skip

SHOPS: Final = (
    "bargainbarn", "dealharbour", "pricewharf", "outletrow", "thriftlane", "lastcrate",
    "clearancehall", "fairmarket",
)  # fmt: skip

FIRST_NAMES: Final = (
    "Ada", "Amir", "Ana", "Ben", "Bo", "Carla", "Chidi", "Dana", "Diego", "Elif", "Emma", "Femi",
    "Gita", "Hana", "Hugo", "Ines", "Ivan", "Jade", "Jonas", "Kai", "Lena", "Leo", "Lucia", "Mara",
    "Mei", "Milo", "Nadia", "Noah", "Omar", "Petra", "Priya", "Quinn", "Rosa", "Sam", "Sofia",
    "Tariq", "Uma", "Vera", "Yuki", "Zane",
)  # fmt: skip

LAST_NAMES: Final = (
    "Abbott", "Aydin", "Baker", "Berg", "Castro", "Chen", "Cole", "Dahl", "Diaz", "Eze", "Fischer",
    "Fox", "Garcia", "Haddad", "Hughes", "Ito", "Jansen", "Kaya", "Khan", "Kowalski", "Larsen",
    "Lopez", "Marsh", "Meyer", "Mensah", "Moreau", "Nakamura", "Novak", "Okafor", "Olsen", "Park",
    "Patel", "Quist", "Reyes", "Rossi", "Sato", "Silva", "Singh", "Stone", "Suzuki", "Tan",
    "Torres", "Urban", "Vargas", "Walsh", "Weber", "Wood", "Yilmaz", "Young", "Zimmer",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """How many deals, over how many days, and how many users."""

    deals: int
    days: int
    users: int


SIZES: Final[Mapping[bt.Scale, Size]] = {
    bt.Scale.SMALL: Size(deals=300, days=30, users=50),
    bt.Scale.MEDIUM: Size(deals=20_000, days=90, users=2_000),
    bt.Scale.LARGE: Size(deals=1_000_000, days=365, users=200_000),
}
AGE: Final = timedelta(hours=2)
RECENT: Final = 200
PRICED_EVERY: Final = 3
"""One deal in this many has changed its price."""
MOST_CHANGES: Final = 8
FEATURED: Final = 8
CENTS: Final = tuple(map(Decimal, ("0.00", "0.49", "0.50", "0.95", "0.99")))

# How many of each a user has, by the last digit of the user's number.
BRAND_LIKES: Final = (0, 1, 1, 1, 2, 2, 2, 3, 3, 5)
BRAND_WATCHES: Final = (0, 0, 1, 1, 1, 1, 1, 2, 2, 3)
CATEGORY_LIKES: Final = (0, 0, 0, 1, 1, 1, 1, 1, 2, 3)
CATEGORY_WATCHES: Final = (0, 0, 0, 0, 0, 1, 1, 1, 1, 2)
MESSAGES: Final = (0, 0, 1, 1, 1, 2, 2, 3, 4, 6)
EACH: Final = (BRAND_LIKES, BRAND_WATCHES, CATEGORY_LIKES, CATEGORY_WATCHES, MESSAGES)

HOMES: Final = tuple((name, home) for home, names in BRANDS.items() for name in names)
ALL_BRANDS: Final = tuple(name for name, _ in HOMES)


def popularity(count: int) -> list[float]:
    """Cumulative weights for `Random.choices`: a few are popular, most are not."""
    order = sorted(range(count), key=lambda place: place * 7 % count)
    return list(accumulate(1 / (rank + 1) ** 0.7 for rank in order))


BRANDS_BY_WEIGHT: Final = popularity(len(ALL_BRANDS))
CATEGORIES_BY_WEIGHT: Final = popularity(len(CATEGORIES))


@dataclass(slots=True)
class Counts:
    """What is kept while entities are generated."""

    recent: list[Deal] = field(default_factory=list)
    by_category: dict[str, list[Deal]] = field(default_factory=dict)
    tally: Counter[tuple[type[bt.Entity], str]] = field(default_factory=Counter)

    def keep(self, deal: Deal) -> None:
        if len(self.recent) < RECENT:
            self.recent.append(deal)
        featured = self.by_category.setdefault(deal.category, [])
        if len(featured) < FEATURED:
            featured.append(deal)

    def count(self, interest: bt.Entity) -> bt.Entity:
        match interest:
            case design.BrandLike(brand=name) | BrandWatch(brand=name):
                self.tally[type(interest), name] += 1
            case CategoryLike(category=name) | CategoryWatch(category=name):
                self.tally[type(interest), name] += 1
        return interest


def entities(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL) -> Iterator[bt.Entity]:
    """All entities, with times before `until`."""
    size, kept = SIZES[scale], Counts()
    for deal in deals(size, random, until):
        kept.keep(deal)
        yield deal
    for number in range(size.users):
        yield from map(kept.count, user(number, random, until, kept.recent))
    yield from brands(until, kept)
    yield from categories(kept)
    yield from pages(kept)


def count(scale: bt.Scale) -> int:
    size = SIZES[scale]
    each = sum(how_many[number % 10] for how_many in EACH for number in range(10))
    fixed = len(ALL_BRANDS) + 1 + len(CATEGORIES) + 2
    return size.deals + size.users + size.users // 10 * each + fixed


# Deals


def deals(size: Size, random: Random, until: datetime) -> Iterator[Deal]:
    """Newest first, one in each of as many equal intervals as there are deals."""
    newest = until - AGE
    stretch = size.days * 86_400 / size.deals
    for number in range(size.deals):
        made = deal(newest - timedelta(seconds=(number + random.random()) * stretch), random)
        yield with_prices(made, until) if number % PRICED_EVERY == 0 else made


def with_prices(deal: Deal, until: datetime) -> Deal:
    """The deal after some price changes between its time and `until`."""
    random = Random(deal.deal_id)
    lived = (until - deal.created_at).total_seconds()
    ages = sorted(random.sample(range(1, 100), random.randrange(1, MOST_CHANGES + 1)))
    times = [deal.created_at + timedelta(seconds=int(lived * age / 100)) for age in (0, *ages)]
    most = deal.list_price or deal.price
    before = [(most * random.randrange(50, 100) / 100).quantize(CENTS[1]) for _ in ages]
    return deal.model_copy(
        update={"price_history": list(map(price_text, times, (*before, deal.price)))}
    )


def price_text(at: datetime, price: Decimal) -> str:
    return str(design.PriceChange(at, price))


def deal(at: datetime, random: Random) -> Deal:
    name, home = random.choices(HOMES, cum_weights=BRANDS_BY_WEIGHT)[0]
    category = home if random.random() < 0.8 else NEIGHBOURS[home]
    product, least, most = random.choice(PRODUCTS[category])
    list_price = random.randrange(least, most)
    price = list_price * random.randrange(45, 92) // 100
    deal_id = bt.Ksuid.make(at, random.randbytes(16))
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


def user(number: int, random: Random, until: datetime, recent: list[Deal]) -> Iterator[bt.Entity]:
    """A user, their likes and watches, and their messages."""
    first = FIRST_NAMES[number % len(FIRST_NAMES)]
    last = LAST_NAMES[number // len(FIRST_NAMES) % len(LAST_NAMES)]
    username = f"{first}.{last}.{number}".lower()
    yield design.User(
        username=username,
        name=f"{first} {last}",
        email=f"{username}@example.com",
        created_at=until - timedelta(minutes=number + 1),
    )
    digit = number % 10
    for name in some_brands(BRAND_LIKES[digit], random):
        yield design.BrandLike(brand=name, username=username)
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
    """The kind of message that a user who watches these gets about a deal."""
    if deal.brand_name in brands:
        return MessageKind.BRAND
    return MessageKind.CATEGORY if deal.category_name in categories else MessageKind.HOT


def some_brands(count: int, random: Random) -> list[str]:
    return draw(ALL_BRANDS, BRANDS_BY_WEIGHT, count, random)


def some_categories(count: int, random: Random) -> list[str]:
    return draw(CATEGORIES, CATEGORIES_BY_WEIGHT, count, random)


def draw(names: tuple[str, ...], weights: list[float], count: int, random: Random) -> list[str]:
    """That many different names, popular ones more often."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[random.choices(names, cum_weights=weights)[0]] = None
    return list(found)


# Brands and categories with their counts, and featured deals


def brands(until: datetime, kept: Counts) -> Iterator[bt.Entity]:
    for name in ALL_BRANDS:
        key = brand_key(name)
        yield design.Brand(
            brand=name,
            name=name,
            logo=f"https://logos.example/{key.lower().replace(' ', '-')}.svg",
            like_count=kept.tally[design.BrandLike, key],
            watch_count=kept.tally[BrandWatch, key],
            created_at=until - timedelta(days=730),
        )
    yield design.Brands(brands=set(ALL_BRANDS))


def categories(kept: Counts) -> Iterator[design.Category]:
    for name in CATEGORIES:
        key = category_key(name)
        yield design.Category(
            category=name,
            name=name,
            featured_deals=list(map(copy_of, kept.by_category[key])),
            like_count=kept.tally[CategoryLike, key],
            watch_count=kept.tally[CategoryWatch, key],
        )


def pages(kept: Counts) -> Iterator[bt.Entity]:
    here_and_there = kept.recent[:: len(kept.recent) // FEATURED]
    yield design.FrontPage(featured_deals=list(map(copy_of, here_and_there[:FEATURED])))
    yield design.EditorsChoice(featured_deals=list(map(copy_of, kept.recent[3:30:5])))


DEMO: Final = bt.Demo(entities=entities, count=count)
