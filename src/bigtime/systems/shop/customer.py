"""Customers: create them, save their addresses, view them with their orders; erase them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bigtime import model as bt
from bigtime.systems.shop import design
from bigtime.systems.shop.design import Address, Customer, CustomerEmail, Order, OrderItem
from bigtime.systems.shop.order import view_order

RECENT = 10
HAS_ROOM = bt.attr("addresses").size() < design.MOST_ADDRESSES


@dataclass(frozen=True, slots=True)
class CustomerOrders:
    """A page of orders, newest first; the first page also has the customer."""

    customer: Customer | None
    orders: bt.Page[Order]


@bt.pattern("Create Customer", index="N/A", takes="N/A")
def create_customer(
    username: design.Username, email: design.Email, name: design.CustomerName
) -> bt.Steps[Customer]:
    """Transaction, both unique."""
    customer = Customer(username=username, email=email, name=name)
    return (yield from bt.create(customer, unless_exists=design.UsernameTaken))


@bt.pattern("Create / Update Address", index="N/A", takes="N/A")
def save_address(
    username: design.Username, name: design.AddressName, address: Address
) -> bt.Steps[Customer]:
    """In the map on the customer."""
    name = design.ADDRESS_NAME(name)
    return (
        yield from bt.update(
            Customer.key(username),
            bt.At(("addresses", name), address),
            if_exists=design.UnknownCustomer,
            when=HAS_ROOM | bt.attr("addresses", name).exists(),
            otherwise=design.TooManyAddresses,
        )
    )


def adding_address(
    customer: Customer,
    name: design.AddressName,
    address: Address,
    *,
    otherwise: type[bt.DomainError],
) -> bt.Write[Customer]:
    """The write that saves an address under a new name, for a transaction with other writes."""
    name = design.ADDRESS_NAME(name)
    return bt.update(
        customer.own_key(),
        bt.At(("addresses", name), address),
        if_exists=design.UnknownCustomer,
        when=HAS_ROOM & bt.attr("addresses", name).missing(),
        otherwise=otherwise,
    )


@bt.pattern("Remove Address", index="N/A", takes="N/A")
def remove_address(username: design.Username, name: design.AddressName) -> bt.Steps[Customer]:
    name = design.ADDRESS_NAME(name)
    return (
        yield from bt.update(
            Customer.key(username),
            bt.At(("addresses", name), bt.Remove()),
            if_exists=design.UnknownCustomer,
            when=bt.attr("addresses", name).exists(),
            otherwise=design.UnknownAddress,
        )
    )


@bt.pattern("View Customer and most recent Orders", index="Main table")
def view_customer(
    username: design.Username,
    *,
    limit: int = RECENT,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[CustomerOrders]:
    """One Query, descending.

    The customer is on the first page only, whose limit is therefore one more.
    """
    page = yield from bt.collection(
        Customer,
        Order,
        within=bt.partition(Customer, "main", username=design.USERNAME(username)),
        newest_first=True,
        limit=limit if after else limit + 1,
        after=after,
        consistent=consistent,
    )
    customer = next((item for item in page if isinstance(item, Customer)), None)
    if customer is None and after is None:
        raise design.UnknownCustomer
    orders = [item for item in page if isinstance(item, Order)]
    return CustomerOrders(customer, bt.Page(orders, page.position))


# Personal data of a customer: name and addresses, and orders, which are kept for the books

ORDERS: Final = 25
KEPT: Final = "Your orders, for our books: under a random name, and without your address."


def anonymise_order(order: Order, pseudonym: str) -> bt.Steps[None]:
    """Moves an order to the pseudonym and removes its address, in one transaction."""
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
    bt.personal(OrderItem, "order_id", find=find_order_items, stays=True, kept=KEPT),
    bt.personal(Order, "username", erase=anonymise_order, kept=KEPT),
)
