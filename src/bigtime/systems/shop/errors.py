"""What can be wrong with customers and orders, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import DomainError


class InvalidUsername(DomainError):
    """A username has 1 to 64 printable characters, none of them `#`; choose another."""


class InvalidEmail(DomainError):
    """This is no e-mail address; write one such as name@example.com."""


class InvalidCustomerName(DomainError):
    """A name has 1 to 100 printable characters, none of them `#`; write it otherwise."""


class UsernameTaken(DomainError):
    """Somebody has this username already; choose another."""


class EmailTaken(DomainError):
    """There is an account with this e-mail address; sign in, or use another address."""


class UnknownCustomer(DomainError):
    """There is no such customer; check the username, or sign up."""


class InvalidAddressName(DomainError):
    """The name of an address has 1 to 40 printable characters, none of them `#`; choose another."""


class UnknownAddress(DomainError):
    """You have no address of this name; look at your list of addresses."""


class TooManyAddresses(DomainError):
    """You can keep 20 addresses; remove one first."""


class InvalidItem(DomainError):
    """The id of an item has 1 to 64 printable characters, none of them `#`; correct it."""


class InvalidPrice(DomainError):
    """A price is more than 0, at most 1,000,000, and has at most two decimals; correct it."""


class InvalidCount(DomainError):
    """One can order 1 to 9,999 of an item; correct the number."""


class EmptyOrder(DomainError):
    """An order has at least one item; add one."""


class TooManyItems(DomainError):
    """An order has at most 99 items; make two orders of it."""


class DuplicateItem(DomainError):
    """An item is in this order twice; order it once, and more of it."""


class InvalidOrderId(DomainError):
    """The id of an order has 27 letters and digits; copy it whole."""


class UnknownOrder(DomainError):
    """There is no such order; look at your list of orders."""


class OrderExists(DomainError):
    """There is an order with this id already; look at it, or order again with a new one."""


class StatusOutOfOrder(DomainError):
    """An order cannot go from this status to that; choose one that comes next."""


class OrderMovedOn(DomainError):
    """This order's status has changed meanwhile; look at it again."""
