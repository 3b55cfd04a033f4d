"""Customers: made, given addresses, and seen with their orders."""

from __future__ import annotations

from dataclasses import dataclass

from bigtime.model import (
    At,
    DomainError,
    Page,
    Position,
    Remove,
    Write,
    attr,
    collection,
    create,
    partition,
    pattern,
    update,
)
from bigtime.systems.shop.design import (
    ADDRESS_NAME,
    MOST_ADDRESSES,
    USERNAME,
    Address,
    AddressName,
    Customer,
    CustomerName,
    Email,
    Order,
    Username,
)
from bigtime.systems.shop.errors import (
    TooManyAddresses,
    UnknownAddress,
    UnknownCustomer,
    UsernameTaken,
)
from bigtime.wire import Steps

RECENT = 10


@dataclass(frozen=True, slots=True)
class CustomerOrders:
    """A page of orders, newest first; the first page has the customer too."""

    customer: Customer | None
    orders: Page[Order]


@pattern("Create Customer", index="N/A", takes="N/A")
def create_customer(username: Username, email: Email, name: CustomerName) -> Steps[Customer]:
    """Transaction, both unique."""
    customer = Customer(username=username, email=email, name=name)
    return (yield from create(customer, unless_exists=UsernameTaken))


@pattern("Create / Update Address", index="N/A", takes="N/A")
def save_address(username: Username, name: AddressName, address: Address) -> Steps[Customer]:
    """In the map on the customer."""
    name = ADDRESS_NAME(name)
    has_room = attr("addresses").size() < MOST_ADDRESSES
    return (
        yield from update(
            Customer.key(username),
            At(("addresses", name), address),
            if_exists=UnknownCustomer,
            when=has_room | attr("addresses", name).exists(),
            otherwise=TooManyAddresses,
        )
    )


def adding_address(
    customer: Customer, name: AddressName, address: Address, *, otherwise: type[DomainError]
) -> Write[Customer]:
    """The write that keeps an address under a new name, for whoever does it with something else."""
    name = ADDRESS_NAME(name)
    has_room = attr("addresses").size() < MOST_ADDRESSES
    return update(
        customer.own_key(),
        At(("addresses", name), address),
        if_exists=UnknownCustomer,
        when=has_room & attr("addresses", name).missing(),
        otherwise=otherwise,
    )


@pattern("Remove Address", index="N/A", takes="N/A")
def remove_address(username: Username, name: AddressName) -> Steps[Customer]:
    name = ADDRESS_NAME(name)
    return (
        yield from update(
            Customer.key(username),
            At(("addresses", name), Remove()),
            if_exists=UnknownCustomer,
            when=attr("addresses", name).exists(),
            otherwise=UnknownAddress,
        )
    )


@pattern("View Customer and most recent Orders", index="Main table")
def view_customer(
    username: Username,
    *,
    limit: int = RECENT,
    after: Position | None = None,
    consistent: bool = False,
) -> Steps[CustomerOrders]:
    """One Query, descending.

    The customer is on the first page only, so that one asks for an item more.
    """
    page = yield from collection(
        Customer,
        Order,
        within=partition(Customer, "main", username=USERNAME(username)),
        newest_first=True,
        limit=limit if after else limit + 1,
        after=after,
        consistent=consistent,
    )
    customer = next((one for one in page if isinstance(one, Customer)), None)
    if customer is None and after is None:
        raise UnknownCustomer
    orders = [one for one in page if isinstance(one, Order)]
    return CustomerOrders(customer, Page(orders, page.position))
