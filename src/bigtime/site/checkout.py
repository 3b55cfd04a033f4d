"""Checkout: an order of the shop and a purchase of the cart, in one transaction.

1. A checkout is identified by a key, a KSUID that is generated when its page is rendered and that
   comes back with the form. The order's id is derived from the customer and the key. So a form that
   is sent again, or twice at once, creates one order, and always gets that order.
2. The order, its items, the mail that confirms it (if the address is confirmed), the new address if
   it is to be saved and the purchase are one transaction. A cart of up to 24 products moves with
   it. For a larger cart the transaction has everything but the moves of its lines, so it decides
   what is bought. The moves follow in chunks, and the next to find them undone completes them: this
   checkout, the next request for the cart, or the worker, from the cart's stream.
3. The order is what was shown. The form has a digest of the lines on its page, with the prices that
   their deals had; if lines or prices differ by now, nothing is ordered, and the shopper has to
   review the page again. Lines with an older price get the new one first.

The limits follow from the hundred actions of a transaction: 24 lines at four actions each, plus the
order, the mail, the address and the purchase, are 100; without the moves, so are 96 items plus
those four.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bigtime import model as bt
from bigtime.site import priced_cart
from bigtime.site.design import Mail, transact_once
from bigtime.site.letters import Letter, letter, money
from bigtime.site.mail import draft_mail
from bigtime.systems import accounts, cart, shop
from bigtime.systems.deals import Deal, User, Username
from bigtime.wire import Steps

MOST_AT_ONCE: Final = 24
MOST_PRODUCTS: Final = 96
TRIES: Final = 16
KEY_LASTS: Final = timedelta(days=1)
CLOCKS_DIFFER: Final = timedelta(minutes=5)


class NotAsReviewed(bt.RuleBroken):
    """Your cart or its prices have changed since this page was shown; review it and order again."""


class OldCheckout(bt.RuleBroken):
    """This page has expired. Review your order and place it again."""


class TooManyProducts(bt.RuleBroken):
    """An order has at most 96 products; save some for later and order them separately."""


class AddressNameTaken(bt.Clash):
    """You already have an address with this name; choose another name."""


class AddressesChanged(bt.Conflict):
    """Another address was saved at the same time; try again."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """What a checkout form says: the customer, its key, the address, the digest of what was shown.

    `orders_url` is the URL of the page of orders, for the mail; `keep_as` is the name to save the
    address under, if it is to be saved. `is_confirmed` is whether the e-mail address is known to be
    theirs: only then is a mail sent there.
    """

    username: str
    email: str
    key: bt.Ksuid
    ship_to: shop.Address
    reviewed: str
    orders_url: str
    keep_as: str | None = None
    is_confirmed: bool = False

    @property
    def order_id(self) -> bt.Ksuid:
        return shop.order_id_for(self.username, self.key)


SAMPLE: Final = Checkout(
    username="alex",
    email="alex@example.com",
    key=bt.Ksuid.make(datetime(2026, 1, 1, 12, tzinfo=UTC)),
    ship_to=shop.Address(
        recipient="Alex", street="1 Main St", city="Cape Town", postal_code="8001", country="ZA"
    ),
    reviewed="0" * 32,
    orders_url="https://example.com/orders",
    is_confirmed=True,
)


@bt.pattern("Draw Checkout Key", index="N/A")
def draw_checkout_key() -> Steps[bt.Ksuid]:
    """For the checkout page, which sends it back."""
    moment = yield from bt.now()
    return bt.Ksuid.make(moment, (yield from bt.random_bytes(16)))


@bt.pattern("Check out Cart", index="Main table", sample={"checkout": SAMPLE})
def check_out(checkout: Checkout) -> Steps[bt.Ksuid]:
    """One transaction: order, purchase, mail, address. One order for one key, however often sent.

    Gives the order's id.
    """
    yield from ensure_customer(checkout.username, checkout.email)
    for _ in range(TRIES):
        prepared = yield from cart.prepare(checkout.username, checkout.order_id)
        try:
            if not prepared.has_begun:
                yield from place_order(checkout, prepared)
        except (bt.Conflict, shop.OrderExists):
            continue
        yield from cart.complete_purchase(checkout.username)
        return checkout.order_id
    raise cart.CartChanged


def place_order(checkout: Checkout, prepared: cart.PreparedPurchase) -> Steps[None]:
    """The transaction that decides what is bought."""
    moment = yield from bt.now()
    if not moment - KEY_LASTS < checkout.key.at < moment + CLOCKS_DIFFER:
        raise OldCheckout
    deals = yield from priced_cart.fetch_deals_of(prepared.lines)
    priced = priced_cart.priced_lines(prepared.lines, deals)
    if priced_cart.digest_of_prices(priced) != checkout.reviewed:
        raise NotAsReviewed
    if len(prepared.lines) > MOST_PRODUCTS:
        raise TooManyProducts
    if not all(line.is_available for line in priced):
        raise priced_cart.NotAvailable
    yield from store_new_prices(checkout.username, priced)
    address_writes = yield from new_address_writes(checkout)
    whole = new_order(checkout, prepared.lines, deals)
    is_small = len(prepared.lines) <= MOST_AT_ONCE
    yield from transact_once(
        *shop.save_writes(whole),
        *(yield from mail_writes(checkout, whole)),
        *address_writes,
        *(cart.purchase_writes(prepared) if is_small else (cart.open_write(prepared),)),
    )


def store_new_prices(username: str, lines: Iterable[priced_cart.PricedLine]) -> Steps[None]:
    """Stores the current prices of the deals in their lines; the cart then has to be read again."""
    changed = [line for line in lines if line.new_price is not None]
    for line in changed:
        yield from cart.set_price(username, line.line.item_sku, line.price)
    if changed:
        raise bt.Conflict


def new_order(
    checkout: Checkout, lines: Iterable[cart.CartLine], deals: Mapping[str, Deal]
) -> shop.WholeOrder:
    """An order of these lines; each item has its deal's current title."""
    items = [order_item(line, deals.get(line.item_sku)) for line in lines]
    return shop.new_order(checkout.username, checkout.order_id, items, ship_to=checkout.ship_to)


def order_item(line: cart.CartLine, deal: Deal | None) -> shop.OrderedItem:
    return shop.OrderedItem(
        item_id=line.item_sku,
        price=line.price,
        count=line.count,
        title=deal.title if deal else None,
    )


# A form that was sent again


@dataclass(frozen=True, slots=True)
class PlacedOrder:
    """The order that a checkout form has created, and whether it matches the form."""

    order_id: bt.Ksuid
    is_as_reviewed: bool


@bt.pattern(
    "Find Order of Checkout",
    index="Main table, GSI1",
    sample={"key": SAMPLE.key, "reviewed": SAMPLE.reviewed},
)
def find_placed_order(
    username: Username, key: bt.Ksuid, reviewed: str
) -> Steps[PlacedOrder | None]:
    """The order that a checkout key has made; None if there is none."""
    order_id = shop.order_id_for(username, key)
    order = yield from bt.get(shop.Order.key(username, order_id), consistent=True)
    if order is None:
        return None
    items: tuple[shop.OrderItem, ...] = ()
    with suppress(shop.UnknownOrder):
        items = (yield from shop.view_order(order_id)).items
    # While the index lags, the query finds fewer items than were ordered.
    is_same = len(items) < order.item_count or priced_cart.digest_of_order(items) == reviewed
    return PlacedOrder(order_id, is_same)


# Customers


@bt.pattern("Ensure Customer of User", index="Main table")
def ensure_customer(username: Username, email: accounts.Login) -> Steps[shop.Customer]:
    """The shop's customer of that name, created if there is none."""
    known = yield from bt.get(shop.Customer.key(username), consistent=True)
    if known is not None:
        return known
    user = yield from bt.get(User.key(username))
    try:
        return (yield from shop.create_customer(username, email, user.name if user else username))
    except shop.UsernameTaken:
        return (
            yield from bt.get(
                shop.Customer.key(username), missing=shop.UsernameTaken, consistent=True
            )
        )


@bt.pattern(
    "Save new Address",
    index="Main table",
    sample={"name": "work", "address": SAMPLE.ship_to},
)
def save_new_address(
    username: Username, email: accounts.Login, name: str, address: shop.Address
) -> Steps[None]:
    """Under a name that is free; the same address under the same name changes nothing."""
    customer = yield from ensure_customer(username, email)
    known = customer.addresses.get(name)
    if known is None:
        yield from shop.save_address(username, name, address)
    elif known != address:
        raise AddressNameTaken


def new_address_writes(checkout: Checkout) -> Steps[tuple[bt.Write[shop.Customer], ...]]:
    """The write that saves the address; none if it is already saved, or is not to be saved."""
    if checkout.keep_as is None:
        return ()
    name = shop.ADDRESS_NAME(checkout.keep_as)
    customer = yield from bt.get(
        shop.Customer.key(checkout.username), missing=shop.UnknownCustomer, consistent=True
    )
    known = customer.addresses.get(name)
    if known == checkout.ship_to:
        return ()
    if known is not None:
        raise AddressNameTaken
    if len(customer.addresses) >= shop.MOST_ADDRESSES:
        raise shop.TooManyAddresses
    return (shop.adding_address(customer, name, checkout.ship_to, otherwise=AddressesChanged),)


# Mail


def mail_writes(checkout: Checkout, whole: shop.WholeOrder) -> Steps[tuple[bt.Write[Mail], ...]]:
    """The write of the mail that confirms an order; its id makes it one for each order.

    There is none for an address that is not confirmed, which may be a stranger's.
    """
    if not checkout.is_confirmed:
        return ()
    mail_id = f"order-confirmation {whole.order.order_id}"
    letter = confirmation_letter(whole, checkout.orders_url)
    mail = yield from draft_mail(mail_id, checkout.email, *letter)
    return (bt.create(mail, unless_exists=shop.OrderExists),)


def confirmation_letter(whole: shop.WholeOrder, orders_url: str) -> Letter:
    """Without the shipping address: no mail contains text that a user typed."""
    items = (
        f"{item.count} x {item.title or item.item_id}, {money(item.price)}" for item in whole.items
    )
    return letter(
        "Your order with Big Time Deals",
        f"Thank you for your order {whole.order.order_id}.",
        "\n".join(items),
        f"Total: {money(whole.order.total)}",
        f"See your order at {orders_url}/{whole.order.order_id}",
    )


# After a crash


@bt.reaction(cart.CART, of=[cart.Purchases])
def resume_purchases(change: bt.Change[bt.Entity]) -> Steps[None]:
    """Completes a large purchase that its checkout has left open."""
    purchases = change.of(cart.Purchases)
    if purchases is not None and purchases.after is not None and purchases.after.is_open:
        yield from cart.complete_purchase(purchases.after.account_id)
