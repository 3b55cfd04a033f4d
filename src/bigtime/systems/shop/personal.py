"""What belongs to a customer: name and addresses, and orders, which the books keep."""

from __future__ import annotations

from typing import Final

from bigtime import model as bt
from bigtime.systems.shop.design import Customer, CustomerEmail, Order, OrderItem
from bigtime.systems.shop.order import view_order

ORDERS: Final = 25
KEPT: Final = "Your orders, for our books: under a random name, and without your address."


def anonymise_order(order: Order, pseudonym: str) -> bt.Steps[None]:
    """Moves an order to the pseudonym, without its address, in one transaction."""
    anonymous = order.model_copy(update={"username": pseudonym, "ship_to": None})
    yield from bt.transact(bt.delete(order), bt.create(anonymous))


def find_email(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[CustomerEmail]]:
    """The marker of the customer's address."""
    customer = yield from bt.get(Customer.key(person.username), consistent=True)
    marker = None
    if customer is not None:
        marker = yield from bt.get(CustomerEmail.key(customer.email), consistent=True)
    return bt.Page([] if marker is None else [marker])


def find_order_items(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[OrderItem]]:
    """The items of a page of orders."""
    orders = Order.within("main", username=person.username)
    page = yield from bt.query(orders, limit=ORDERS, after=after, consistent=True)
    wholes = yield from bt.together(*(view_order(order.order_id) for order in page))
    return bt.Page([item for whole in wholes for item in whole.items], page.position)


PERSONAL: Final = (
    bt.personal(Customer, "username", is_last=True),
    bt.personal(CustomerEmail, "username", find=find_email, goes_with=Customer),
    bt.personal(
        OrderItem,
        "order_id",
        find=find_order_items,
        stays=True,
        kept=KEPT,
    ),
    bt.personal(
        Order,
        "username",
        erase=anonymise_order,
        kept=KEPT,
    ),
)
