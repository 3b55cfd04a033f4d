"""Checking out: an order of the shop and a purchase of the cart, made together.

The two systems do not know each other; what they do at one moment is put together here.

1. A checkout is named by a key, a KSUID that is drawn when its page is shown and that comes back
   with the form. The order's id follows from the customer and the key. So a page that is sent
   again, or twice at once, makes one order, and gives that order every time.
2. The order, its items, the letter that confirms it, the address if it is to be kept and the
   purchase are one transaction. A cart of up to 24 products moves with it. Of a larger one
   everything but the moves is in it: what is bought, and that it is, is decided then. The moves
   follow in chunks, and whoever finds them undone goes on with them: this checkout, the next look
   at the cart, or the second process, which hears of it from the cart's stream.
3. What is ordered is what was shown. The form brings a mark of the lines that its page had; if
   they are others by now, nothing is ordered, and the page has to be looked at again.

A transaction has a hundred actions, which is why there are these numbers: 24 lines of four, the
order, the letter, the address and the purchase are 100; without the moves, 96 items and those four
are.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from bigtime.model import (
    Change,
    Clash,
    Conflict,
    Ksuid,
    RuleBroken,
    Write,
    create,
    get,
    now,
    random_bytes,
    reaction,
    transact,
)
from bigtime.site.design import Mail
from bigtime.site.formatting import money
from bigtime.site.mail import letter
from bigtime.site.priced_cart import deals_of, mark_of, mark_of_order
from bigtime.site.visitor import Visitor
from bigtime.systems import cart, shop
from bigtime.systems.deals import Deal, User
from bigtime.wire import Steps

MOST_AT_ONCE: Final = 24
MOST_PRODUCTS: Final = 96
TRIES: Final = 16
KEY_LASTS: Final = timedelta(days=1)
CLOCKS_DIFFER: Final = timedelta(minutes=5)


class NotAsReviewed(RuleBroken):
    """Your cart has changed since this page was shown; look at it again, and then order."""


class OldCheckout(RuleBroken):
    """This page is no longer good; look at your order once more, and send it again."""


class TooManyProducts(RuleBroken):
    """One order takes at most 96 products; save some for later, and order twice."""


class AddressNameTaken(Clash):
    """You have another address of this name; choose another name."""


class AddressesChanged(Conflict):
    """Somebody has kept another address at the same time."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """What somebody sent off: who, with which key, where to, and the mark of what they saw.

    `orders_url` is the address of the site's page of orders, for the letter; `keep_as` is the name
    under which they want to keep where it goes, if they do.
    """

    username: str
    email: str
    key: Ksuid
    ship_to: shop.Address
    reviewed: str
    orders_url: str
    keep_as: str | None = None

    @property
    def order_id(self) -> Ksuid:
        return shop.order_id_for(self.username, self.key)


def draw_key() -> Steps[Ksuid]:
    """The key of a checkout, for the page that it is sent from."""
    moment = yield from now()
    return Ksuid.make(moment, (yield from random_bytes(16)))


def check_out(asked: Checkout) -> Steps[Ksuid]:
    """One order for one key, whoever sends it, and however often; gives its id."""
    yield from customer_of(asked.username, asked.email)
    for _ in range(TRIES):
        prepared = yield from cart.prepare(asked.username, asked.order_id)
        try:
            if not prepared.has_begun:
                yield from order(asked, prepared)
        except (Conflict, shop.OrderExists):
            continue
        yield from cart.complete_purchase(asked.username)
        return asked.order_id
    raise cart.CartChanged


def order(asked: Checkout, prepared: cart.Prepared) -> Steps[None]:
    """Everything that is decided at one moment."""
    moment = yield from now()
    if not moment - KEY_LASTS < asked.key.at < moment + CLOCKS_DIFFER:
        raise OldCheckout
    if mark_of(prepared.lines) != asked.reviewed:
        raise NotAsReviewed
    if len(prepared.lines) > MOST_PRODUCTS:
        raise TooManyProducts
    keeping = yield from keeping_address(asked)
    whole = yield from order_of(asked, prepared.lines)
    is_small = len(prepared.lines) <= MOST_AT_ONCE
    # With a token, an answer that was lost on the way is asked for again.
    token = (yield from random_bytes(16)).hex()
    yield from transact(
        *shop.saving(whole),
        create((yield from confirmation(asked, whole)), unless_exists=shop.OrderExists),
        *keeping,
        *(cart.purchasing(prepared) if is_small else (cart.opening(prepared),)),
        token=token,
    )


def order_of(asked: Checkout, lines: Iterable[cart.CartLine]) -> Steps[shop.WholeOrder]:
    """The order of some lines; an item has the title that its deal has now."""
    lines = list(lines)
    deals = yield from deals_of(lines)
    wanted = [ordered(line, deals.get(line.item_sku)) for line in lines]
    return shop.new_order(asked.username, asked.order_id, wanted, ship_to=asked.ship_to)


def ordered(line: cart.CartLine, deal: Deal | None) -> shop.Ordered:
    return shop.Ordered(
        item_id=line.item_sku,
        price=line.price,
        count=line.count,
        title=deal.title if deal else None,
    )


# What was ordered before


@dataclass(frozen=True, slots=True)
class OrderedBefore:
    """The order that a page has made, and whether it is of what that page says it is."""

    order_id: Ksuid
    is_as_reviewed: bool


def ordered_before(username: str, key: Ksuid, reviewed: str) -> Steps[OrderedBefore | None]:
    """What came of a page that was sent before; None if it was not, or nothing came of it."""
    order_id = shop.order_id_for(username, key)
    order = yield from get(shop.Order.key(username, order_id), consistent=True)
    if order is None:
        return None
    items: tuple[shop.OrderItem, ...] = ()
    with suppress(shop.UnknownOrder):
        items = (yield from shop.view_order(order_id)).items
    # While the index lags, there are fewer items to be seen than were ordered.
    is_same = len(items) < order.item_count or mark_of_order(items) == reviewed
    return OrderedBefore(order_id, is_same)


# Customers


def customer_of(username: str, email: str) -> Steps[shop.Customer]:
    """The shop's customer that a visitor is; one who never needed to be is made one."""
    known = yield from get(shop.Customer.key(username), consistent=True)
    if known is not None:
        return known
    user = yield from get(User.key(username))
    try:
        return (yield from shop.create_customer(username, email, user.name if user else username))
    except shop.UsernameTaken:
        return (
            yield from get(shop.Customer.key(username), missing=shop.UsernameTaken, consistent=True)
        )


def keep_address(visitor: Visitor, name: str, address: shop.Address) -> Steps[None]:
    """Keeps an address under a new name; the same one again is fine."""
    customer = yield from customer_of(visitor.username, visitor.login)
    there = customer.addresses.get(name)
    if there is None:
        yield from shop.save_address(visitor.username, name, address)
    elif there != address:
        raise AddressNameTaken


def keeping_address(asked: Checkout) -> Steps[tuple[Write[shop.Customer], ...]]:
    """The write that keeps where an order goes; none where it is kept, or is not to be."""
    if asked.keep_as is None:
        return ()
    name = shop.ADDRESS_NAME(asked.keep_as)
    customer = yield from get(
        shop.Customer.key(asked.username), missing=shop.UnknownCustomer, consistent=True
    )
    there = customer.addresses.get(name)
    if there == asked.ship_to:
        return ()
    if there is not None:
        raise AddressNameTaken
    if len(customer.addresses) >= shop.MOST_ADDRESSES:
        raise shop.TooManyAddresses
    return (shop.adding_address(customer, name, asked.ship_to, otherwise=AddressesChanged),)


# The letter


def confirmation(asked: Checkout, whole: shop.WholeOrder) -> Steps[Mail]:
    """The letter that confirms an order: there is one for each."""
    return (
        yield from letter(
            f"order-confirmation {whole.order.order_id}",
            asked.email,
            "Your order with Big Time Deals",
            "\n".join(lines_of_letter(asked, whole)),
        )
    )


def lines_of_letter(asked: Checkout, whole: shop.WholeOrder) -> list[str]:
    to = asked.ship_to
    place = (to.recipient, to.street, to.city, to.region, to.postal_code, to.country)
    return [
        "Thank you for your order.",
        "",
        *(f"{one.count} x {one.title or one.item_id}, {money(one.price)}" for one in whole.items),
        "",
        f"Total: {money(whole.order.total)}",
        "",
        "It goes to:",
        *(line for line in place if line),
        "",
        f"See how it is doing at {asked.orders_url}/{whole.order.order_id}",
    ]


# What a crash left undone


@reaction(cart.CART)
def resume_purchases(change: Change[Any]) -> Steps[None]:
    """Goes on with a large purchase, in case the one who began it does not."""
    begun = change.of(cart.Purchases)
    if begun is not None and begun.after is not None and begun.after.is_open:
        yield from cart.complete_purchase(begun.after.account_id)
