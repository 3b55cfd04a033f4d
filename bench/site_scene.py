"""A site with content on every page, and the path of each of its pages.

The demo's people start without any data. So its shopper gets as much as fits on one page: messages,
a cart, orders, activities; and the desk gets a list of changes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bigtime.model import create, load_many, put_many
from bigtime.site.checkout import Checkout, check_out, draw_checkout_key, save_new_address
from bigtime.site.design import WORKER, EditorAction, Worker
from bigtime.site.editing import new_change
from bigtime.site.engagement import VIEW, new_activity
from bigtime.site.mailbox_check import remember_mailbox, session_holder
from bigtime.site.priced_cart import view_cart
from bigtime.store import Store
from bigtime.systems.accounts.account import login_of
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.design import PAGE, Deal, MessageKind
from bigtime.systems.deals.errors import AlreadyLiked, AlreadyWatched
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.interests import like_brand, watch_brand
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.shop.design import Address

SHOPPER: Final = "shopper"
EDITOR: Final = "editor"
ADMIN: Final = "admin"
LOOK_SECONDS: Final = 0.5
LAG_SECONDS: Final = 2.0
"""The lake is polled once a second, so it may be a second behind when all is done."""
LONGEST_SECONDS: Final = 120
LINES: Final = 10
ITEMS: Final = 3
HOME: Final = Address(
    recipient="Sam Shopper",
    street="1 Main Street",
    city="Springfield",
    region="NE",
    postal_code="12345",
    country="US",
)


@dataclass(frozen=True, slots=True)
class PageOf:
    """A page, its path, and who views it."""

    name: str
    path: str
    who: str | None = None


Read = Callable[[str, str | None], bytes]
"""Reads a page by its path, as one of the demo's people or signed out."""


def get_request(path: str, cookie: str = "") -> bytes:
    sent = f"Cookie: {cookie}\r\n" if cookie else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{sent}\r\n".encode()


# Content on every page


def furnish(store: Store) -> None:
    deals = newest_deals(store, 2 * PAGE)
    store.run(load_many([message_for(deal, MessageKind.HOT, SHOPPER) for deal in deals[:PAGE]]))
    moment = datetime.now(UTC)
    store.run(put_many(new_activity(VIEW, SHOPPER, deal, moment) for deal in deals[:PAGE]))
    for deal in deals[:LINES]:
        with suppress(AlreadyLiked, AlreadyWatched):
            store.run(like_brand(deal.brand, SHOPPER))
            store.run(watch_brand(deal.brand, SHOPPER))
    for number in range(PAGE):
        order(store, deals[number : number + ITEMS])
    fill_cart(store, deals[:LINES])
    for deal in deals[:PAGE]:
        link = f"/deals/{deal.deal_id}"
        change = store.run(new_change(EDITOR, EditorAction.CREATED_DEAL, deal.title, link))
        store.run(create(change))


def wait_for_worker(store: Store) -> None:
    """Waits until the second process has reported that no consumer is behind the demo data."""
    since = datetime.now(UTC) + timedelta(seconds=LAG_SECONDS)
    deadline = time.monotonic() + LONGEST_SECONDS
    while not has_caught_up(store.run(WORKER.get()), since):
        assert time.monotonic() < deadline, "the worker does not come to an end"
        time.sleep(LOOK_SECONDS)


def has_caught_up(worker: Worker, since: datetime) -> bool:
    if worker.seen_at is None or worker.seen_at < since:
        return False
    return all(lag < LAG_SECONDS for lag in worker.lag_seconds.values())


def newest_deals(store: Store, count: int) -> list[Deal]:
    found: list[Deal] = []
    position = None
    while len(found) < count:
        _, page = store.run(fetch_front_page(after=position))
        found += page.items
        position = page.position
    return found[:count]


def fill_cart(store: Store, deals: list[Deal]) -> None:
    for deal in deals:
        store.run(put_in_cart(SHOPPER, deal.deal_id, deal.price))


def order(store: Store, deals: list[Deal]) -> None:
    """Orders deals, as the checkout does."""
    fill_cart(store, deals)
    login = login_of(SHOPPER)
    store.run(save_new_address(SHOPPER, login, "Home", HOME))
    reviewed = store.run(view_cart(SHOPPER)).mark
    key = store.run(draw_checkout_key())
    url = "http://127.0.0.1/orders"
    wanted = Checkout(SHOPPER, login, key, HOME, reviewed, url, is_confirmed=True)
    store.run(check_out(wanted))


def make_customer(store: Store, read: Read, session: str) -> None:
    """Verifies the shopper's mailbox, which is that of a tenant with orders."""
    for tenant in records_of(read, "tenants"):
        store.run(remember_mailbox(session_holder(session), tenant))
        if b"/portal/orders/" in read("/portal/orders", SHOPPER):
            return
    raise AssertionError("no tenant of the first page has an order")


# The paths


def kept_pages(read: Read) -> Iterator[PageOf]:
    """Public pages, which are cached until something on them changes."""
    front = read("/", None)
    deal = first(rb'"(/deals/\w{27})"', front)
    brands = by_length(read)
    many, more = with_more(read, reversed(brands))
    yield PageOf("front page", "/")
    yield PageOf("front page, more", first(rb'"(/\?after=[^"]+)"', front))
    yield PageOf("deal", deal)
    yield PageOf("categories", "/categories")
    yield PageOf("category", "/categories/HOME")
    yield PageOf("category, more", next_page(read, "/categories/HOME"))
    yield PageOf("brands", "/brands")
    yield PageOf("brand with many deals", many)
    yield PageOf("brand with few deals", brands[len(brands) // 2])
    yield PageOf("brand, more", more)
    yield PageOf("editor's choice", "/editors-choice")
    yield PageOf("trending", "/trending")
    yield PageOf("trending in a category", "/trending/HOME")
    yield PageOf("hosting plans", "/pricing")
    codes = records_of(read, "campaigns")
    offered = (f"/campaigns/{code}" for code in codes)
    yield PageOf("campaign", next(each for each in offered if b"Order with" in read(each, None)))


def own_pages(read: Read) -> Iterator[PageOf]:
    """Personal pages, which are rendered on every request."""
    yield PageOf("sign in", "/log-in")
    yield PageOf("sign up", "/sign-up")
    yield from of(SHOPPER, SHOPPERS)
    yield PageOf("message", first(rb'"(/inbox/\w{27})"', read("/inbox", SHOPPER)), SHOPPER)
    yield PageOf("order", first(rb'"(/orders/\w{27})"', read("/orders", SHOPPER)), SHOPPER)
    placed = first(rb'"(/portal/orders/[^"?]+)"', read("/portal/orders", SHOPPER))
    yield PageOf("customer's order", placed, SHOPPER)
    plan = first(rb'"(/portal/checkout\?product=[^"]+)"', read("/pricing", None))
    yield PageOf("checkout of a plan", plan, SHOPPER)
    deal = first(rb'"/deals/(\w{27})"', read("/", None))
    more = first(rb'"/(\?after=[^"]+)"', read("/", None))
    yield from of(EDITOR, EDITORS)
    yield PageOf("desk, more", f"/editor{more}", EDITOR)
    yield PageOf("deal at the desk", f"/editor/deals/{deal}", EDITOR)
    yield PageOf("hot deal", f"/editor/deals/{deal}/hot", EDITOR)
    yield from of(ADMIN, ADMINS)
    for noun in ("tenant", "product", "campaign"):
        here = f"/admin/{noun}s/{record_of(read, f'{noun}s')}"
        yield PageOf(f"{noun}, for an admin", here, ADMIN)
    tenant = record_of(read, "tenants")
    yield PageOf("tenant's orders", f"/admin/tenants/{tenant}/orders", ADMIN)
    yield PageOf("tenant's history", f"/admin/history/tenants/{tenant}", ADMIN)


def of(who: str, paths: dict[str, str]) -> Iterator[PageOf]:
    return (PageOf(name, path, who) for name, path in paths.items())


SHOPPERS: Final = {
    "inbox": "/inbox",
    "likes and watches": "/me/interests",
    "activity": "/me/activity",
    "account": "/me",
    "cart": "/cart",
    "checkout": "/checkout",
    "orders": "/orders",
    "addresses": "/me/addresses",
    "outbox": "/outbox",
    "customer's page": "/portal",
    "customer's orders": "/portal/orders",
    "customer's registration": "/portal/register",
}
EDITORS: Final = {
    "desk": "/editor",
    "new deal": "/editor/deals/new",
    "new brand": "/editor/brands/new",
    "places for featured deals": "/editor/featured",
    "featured on the front page": "/editor/featured/front-page",
    "featured in the editor's choice": "/editor/featured/editors-choice",
    "featured in a category": "/editor/featured/categories/HOME",
    "changes": "/editor/changes",
}
ADMINS: Final = {
    "overview": "/admin",
    "tenants": "/admin/tenants",
    "new tenant": "/admin/tenants/new",
    "products": "/admin/products",
    "new product": "/admin/products/new",
    "campaigns": "/admin/campaigns",
    "new campaign": "/admin/campaigns/new",
    "tenants to remind": "/admin/reminders",
}


def first(pattern: bytes, page: bytes) -> str:
    found = re.search(pattern, page)
    assert found, f"a page has no {pattern!r}"
    return found[1].decode()


def next_page(read: Read, path: str) -> str:
    return first(rb'"([^"]+\?after=[^"]+)"', read(path, None))


def with_more(read: Read, paths: Iterable[str]) -> tuple[str, str]:
    """A page of deals that has a next one, and that next page."""
    for path in paths:
        if b"?after=" in read(path, None) and b'class="card"' in read(next_page(read, path), None):
            return path, next_page(read, path)
    raise AssertionError("every page has all deals there are")


def by_length(read: Read) -> list[str]:
    """The pages of all brands, those with few deals first."""
    paths = [each.decode() for each in re.findall(rb'"(/brands/[^"]+)"', read("/brands", None))]
    return sorted(paths, key=lambda path: read(path, None).count(b'class="card"'))


def record_of(read: Read, noun: str) -> str:
    return records_of(read, noun)[0]


def records_of(read: Read, noun: str) -> list[str]:
    listed = re.findall(rf'"/admin/{noun}/([^"/?]+)"'.encode(), read(f"/admin/{noun}", ADMIN))
    return [
        fromkey.decode() for fromkey in dict.fromkeys(listed) if fromkey not in (b"new", b"find")
    ]
