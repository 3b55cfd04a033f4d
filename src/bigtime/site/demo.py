"""The site's demo data: accounts to sign in with, and what they see.

The catalogue has copies of the deals of `deals`, some of them trending, and of the watches, and no
deals of its own; each account has a user of `deals`; only the demo's shopper has a cart, messages
and activities. The orders are the shopper's, and those of customers who never sign in. Passwords
are generated from a fixed seed: everybody knows them, so they are for development only.

Loading takes a while, and may be interrupted. `DemoData` is written before and after it: if it is
incomplete, the next start loads everything again, and writes the same items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Final

from bigtime import model as bt
from bigtime.pictures import PicturePlace
from bigtime.site.catalog_projection import catalog_brand, catalog_deal
from bigtime.site.demo_pictures import DemoPictures
from bigtime.site.design import DEMO_DATA
from bigtime.site.editing import CATEGORY_NAMES
from bigtime.site.engagement import CLICK, VIEW, discount, new_activity
from bigtime.site.order_queue import OrderMove, queue_entry
from bigtime.store import Store
from bigtime.systems import accounts, catalog, deals, portal, shop
from bigtime.systems.cart import LINES, CartLine, Purchases, Status
from bigtime.systems.deals import Deal

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
    return not store.run(bt.scan(accounts.Account, limit=1))


def load_demo(store: Store, *, until: datetime, place: PicturePlace | None = None) -> None:
    """Writes all demo data, dated before `until`, or before the time of an interrupted load.

    Deals and brands get pictures if there is a place to store them.
    """
    begun = store.run(DEMO_DATA.get())
    until = begun.until or until.replace(microsecond=0)
    store.run(DEMO_DATA.update(until=until))
    entities = demo_entities(until)
    if place is not None:
        entities = DemoPictures(place).add_to(entities)
    while chunk := list(islice(entities, CHUNK)):
        store.run(bt.load_many(chunk))
    store.run(DEMO_DATA.update(is_loaded=True))


def demo_entities(until: datetime) -> Iterator[bt.Entity]:
    random = Random(SEED)
    newest: list[deals.Deal] = []
    watchers: defaultdict[str, list[str]] = defaultdict(list)
    for system in (deals.SYSTEM, accounts.SYSTEM, portal.SYSTEM):
        assert system.demo is not None
        for entity in system.demo.entities(bt.Scale.SMALL, Random(SEED), until):
            yield counting_shopper(entity, newest)
            yield from copies_elsewhere(entity, until, random)
            yield from copies_of_watches(entity, until, watchers)
            if isinstance(entity, deals.Deal) and len(newest) < NEWS:
                newest.append(entity)
                if len(newest) == NEWS:
                    for interest in interests(newest):
                        yield interest
                        yield from copies_of_watches(interest, until, watchers)
    yield from shopper_entities(newest[:GOODS], until)
    yield from other_orders(newest, until)
    yield from news(newest)
    yield from activities(newest, until)
    yield saved_deals(newest)


def copies_elsewhere(entity: bt.Entity, until: datetime, random: Random) -> Iterator[bt.Entity]:
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


def copies_of_watches(
    entity: bt.Entity, until: datetime, watchers: dict[str, list[str]]
) -> Iterator[bt.Entity]:
    """The watches in the catalogue. A brand comes after its watchers, and supplies the name."""
    match entity:
        case deals.BrandWatch():
            watchers[entity.brand].append(entity.username)
        case deals.Brand():
            brand = catalog_brand(entity, until)
            for username in watchers.pop(entity.brand, ()):
                yield catalog.brand_watch(username, brand, at=until)
        case deals.CategoryWatch():
            name = CATEGORY_NAMES[entity.category]
            yield catalog.category_watch(entity.username, entity.category, name, at=until)


# --- The demo's shopper: an address, two orders, and a cart, all of the newest deals ------


USERNAME: Final = "shopper"
HOME: Final = shop.Address(
    recipient="Sam Shopper",
    street="17 Mill Lane",
    city="Cape Town",
    postal_code="8001",
    country="ZA",
)
IN_CART: Final = ((Status.ACTIVE, 1), (Status.ACTIVE, 2), (Status.ACTIVE, 1), (Status.SAVED, 1))
ORDERS: Final = (
    (timedelta(days=9), shop.OrderStatus.DELIVERED),
    (timedelta(days=2), shop.OrderStatus.SHIPPED),
)
ITEMS_EACH: Final = 2
GOODS: Final = len(IN_CART) + len(ORDERS) * ITEMS_EACH


def shopper_entities(goods: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    """The shopper's customer, cart and orders, of `GOODS` deals."""
    email = accounts.login_of(USERNAME)
    yield shop.Customer(
        username=USERNAME, email=email, name=HOME.recipient, addresses={"home": HOME}
    )
    yield shop.CustomerEmail(email=email, username=USERNAME)
    yield from cart(goods[: len(IN_CART)], until)
    yield from orders(goods[len(IN_CART) :], until)


def cart(goods: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    for number, (deal, (status, count)) in enumerate(zip(goods, IN_CART, strict=True)):
        line = line_of(deal, status, count, until - timedelta(minutes=number + 1))
        yield line
        if marker := LINES.marker_of(line.__dict__):
            yield marker


def orders(goods: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    """The orders, oldest first, and the cart lines that they bought."""
    for number, (age, status) in enumerate(ORDERS):
        deals, at = goods[number * ITEMS_EACH :][:ITEMS_EACH], until - age
        order_id = bt.Ksuid.make(at, sha256(f"order {number}".encode()).digest()[:16])
        whole = shop.new_order(
            USERNAME, order_id, [order_item(deal) for deal in deals], ship_to=HOME
        )
        yield from order_history(whole, status, until)
        for deal in deals:
            yield line_of(deal, Status.PURCHASED, 1, at, order_id)
    yield Purchases(account_id=USERNAME, order_id=order_id, begun_at=at, version=len(ORDERS))


def line_of(
    deal: Deal, status: Status, count: int, at: datetime, order_id: bt.Ksuid | None = None
) -> CartLine:
    return CartLine(
        account_id=USERNAME,
        status=status,
        entered_at=at,
        item_sku=deal.deal_id,
        price=deal.price,
        count=count,
        create_timestamp=at,
        order_id=order_id,
    )


def order_item(deal: Deal) -> shop.OrderedItem:
    return shop.OrderedItem(item_id=deal.deal_id, price=deal.price, title=deal.title)


# What the shopper likes, watches, was notified of and has looked at


NEWS: Final = 60
LIKED: Final = slice(0, 3)
WATCHED: Final = slice(2, 5)
UNREAD: Final = 5
LOOKED_AT: Final = 8
SAVED: Final = 5


def brands_of(newest: Sequence[Deal], which: slice) -> list[str]:
    """Some of the brands of the newest deals."""
    return list(dict.fromkeys(deal.brand for deal in newest))[which]


def categories_of(newest: Sequence[Deal], which: slice) -> list[str]:
    return list(dict.fromkeys(deal.category for deal in newest))[which]


def interests(newest: Sequence[Deal]) -> Iterator[bt.Entity]:
    for brand in brands_of(newest, LIKED):
        yield deals.BrandLike(brand=brand, username=USERNAME)
    for brand in brands_of(newest, WATCHED):
        yield deals.BrandWatch(brand=brand, username=USERNAME)
    for category in categories_of(newest, slice(2)):
        yield deals.CategoryLike(category=category, username=USERNAME)
        yield deals.CategoryWatch(category=category, username=USERNAME)


def counting_shopper(entity: bt.Entity, newest: Sequence[Deal]) -> bt.Entity:
    """A brand or category, with the shopper added to its likes and watches."""
    match entity:
        case deals.Brand(brand=name):
            likes, watches = brands_of(newest, LIKED), brands_of(newest, WATCHED)
        case deals.Category(category=name):
            likes = watches = categories_of(newest, slice(2))
        case _:
            return entity
    counts = {
        "like_count": entity.like_count + (name in likes),
        "watch_count": entity.watch_count + (name in watches),
    }
    return entity.model_copy(update=counts)


def news(newest: Sequence[Deal]) -> Iterator[bt.Entity]:
    """Messages about what they watch, and about one hot deal; the newest are unread."""
    brands, categories = brands_of(newest, WATCHED), categories_of(newest, slice(2))
    watched = [deal for deal in newest if deal.brand in brands or deal.category in categories]
    for number, deal in enumerate(watched):
        kind = deals.MessageKind.HOT if number == UNREAD - 1 else deals.MessageKind.WATCHED
        message = deals.message_for(deal, kind, USERNAME)
        yield message.model_copy(update={"unread": number < UNREAD})


def activities(newest: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    """Views of deals, and a click for every third of them."""
    for number, deal in enumerate(newest[:LOOKED_AT]):
        at = until - timedelta(hours=5 * number + 1)
        yield new_activity(VIEW, USERNAME, deal, at)
        if number % 3 == 0:
            yield new_activity(CLICK, USERNAME, deal, at)


def saved_deals(newest: Sequence[Deal]) -> deals.SavedDeals:
    """Deals that they saved when posted, whose prices have changed since."""
    changed = [deal for deal in newest if deal.price_history][:SAVED]
    return deals.SavedDeals(
        username=USERNAME, deals={str(deal.deal_id): saved_deal(deal) for deal in changed}
    )


def saved_deal(deal: Deal) -> deals.SavedDeal:
    first = deal.prices[0]
    return deals.SavedDeal(title=deal.title, price=first.price, saved_at=first.at)


# --- Other orders, for the queue of the staff: a few customers, some orders in each status --


STAFF: Final = "admin"
ADDRESSES: Final = (
    ("nadia", "Nadia Okafor", "4 Harbour View", "Lagos", "101233", "NG"),
    ("omar", "عمر حداد", "12 شارع النيل", "القاهرة", "11511", "EG"),
    ("priya", "Priya Tanaka", "88 Station Road", "Leeds", "LS1 4AP", "GB"),
    ("hugo", "Hugo Larsen", "3 Oak Avenue", "Graz", "8010", "AT"),
    ("mei", "Mei Silva", "21 Long Street", "Porto", "4000-069", "PT"),
)
STATUSES: Final = (
    *(shop.OrderStatus.PLACED,) * 6,
    *(shop.OrderStatus.PICKED,) * 3,
    *(shop.OrderStatus.SHIPPED,) * 3,
    *(shop.OrderStatus.DELIVERED,) * 4,
    *(shop.OrderStatus.CANCELLED,) * 2,
)
PATHS: Final = {
    shop.OrderStatus.PLACED: (),
    shop.OrderStatus.PICKED: (shop.OrderStatus.PICKED,),
    shop.OrderStatus.SHIPPED: (shop.OrderStatus.PICKED, shop.OrderStatus.SHIPPED),
    shop.OrderStatus.DELIVERED: (
        shop.OrderStatus.PICKED,
        shop.OrderStatus.SHIPPED,
        shop.OrderStatus.DELIVERED,
    ),
    shop.OrderStatus.CANCELLED: (shop.OrderStatus.CANCELLED,),
}
"""The moves that lead to a status."""
APART: Final = timedelta(hours=7)
FIRST: Final = timedelta(minutes=25)
MOVED_AFTER: Final = timedelta(minutes=20)


def other_orders(goods: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    """The customers and their orders of the newest deals, the newest order first."""
    customers = [customer_of(*facts) for facts in ADDRESSES]
    for customer in customers:
        yield customer
        yield shop.CustomerEmail(email=customer.email, username=customer.username)
    for number, status in enumerate(STATUSES):
        customer = customers[number % len(customers)]
        at = until - FIRST - number * APART
        order_id = bt.Ksuid.make(at, sha256(f"queued {number}".encode()).digest()[:16])
        bought = [goods[(number * 3 + place) % len(goods)] for place in range(1 + number % 3)]
        items = [
            shop.OrderedItem(
                item_id=deal.deal_id, price=deal.price, title=deal.title, count=1 + number % 2
            )
            for deal in bought
        ]
        home = customer.addresses["home"]
        whole = shop.new_order(customer.username, order_id, items, ship_to=home)
        yield from order_history(whole, status, until)


def customer_of(
    username: str, name: str, street: str, city: str, postal_code: str, country: str
) -> shop.Customer:
    home = shop.Address(
        recipient=name, street=street, city=city, postal_code=postal_code, country=country
    )
    email = f"{username}@example.com"
    return shop.Customer(username=username, email=email, name=name, addresses={"home": home})


def order_history(
    whole: shop.WholeOrder, status: shop.OrderStatus, until: datetime
) -> Iterator[bt.Entity]:
    """An order in a status, its items, its entry in the queue, and the moves that led there."""
    order = whole.order.model_copy(update={"status": status})
    yield order
    yield from whole.items
    yield queue_entry(order)
    for number, reached in enumerate(PATHS[status], start=1):
        who = None if reached is shop.OrderStatus.CANCELLED else STAFF
        at = min(order.created_at + number * MOVED_AFTER, until)
        yield OrderMove(order_id=order.order_id, status=reached, who=who, at=at)
