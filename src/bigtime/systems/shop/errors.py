"""What can be wrong with customers and orders, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import Clash, NotFound, RuleBroken


class InvalidUsername(RuleBroken):
    """A username has 1 to 64 printable characters, none of them `#`; choose another."""


class InvalidEmail(RuleBroken):
    """This is no e-mail address; write one such as name@example.com."""


class InvalidCustomerName(RuleBroken):
    """A name has 1 to 100 printable characters, none of them `#`; write it otherwise."""


class UsernameTaken(Clash):
    """Somebody has this username already; choose another."""


class EmailTaken(Clash):
    """There is an account with this e-mail address; sign in, or use another address."""


class UnknownCustomer(NotFound):
    """There is no such customer; check the username, or sign up."""


class InvalidAddressName(RuleBroken):
    """The name of an address has 1 to 40 printable characters, none of them `#`; choose another."""


class UnknownAddress(NotFound):
    """You have no address of this name; look at your list of addresses."""


class TooManyAddresses(RuleBroken):
    """You can keep 20 addresses; remove one first."""


class InvalidItem(RuleBroken):
    """The id of an item has 1 to 64 printable characters, none of them `#`; correct it."""


class InvalidPrice(RuleBroken):
    """A price is more than 0, at most 1,000,000, and has at most two decimals; correct it."""


class InvalidCount(RuleBroken):
    """One can order 1 to 9,999 of an item; correct the number."""


class EmptyOrder(RuleBroken):
    """An order has at least one item; add one."""


class TooManyItems(RuleBroken):
    """An order has at most 99 items; make two orders of it."""


class DuplicateItem(RuleBroken):
    """An item is in this order twice; order it once, and more of it."""


class InvalidOrderId(RuleBroken):
    """The id of an order has 27 letters and digits; copy it whole."""


class UnknownOrder(NotFound):
    """There is no such order; look at your list of orders."""


class OrderExists(Clash):
    """There is an order with this id already; look at it, or order again with a new one."""


class StatusOutOfOrder(RuleBroken):
    """An order cannot go from this status to that; choose one that comes next."""


class OrderMovedOn(Clash):
    """This order's status has changed meanwhile; look at it again."""
