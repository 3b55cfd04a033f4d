"""What can be wrong with a cart, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import Conflict, NotFound, RuleBroken


class InvalidAccount(RuleBroken):
    """The id of an account has 1 to 128 printable characters, none of them `#`; correct it."""


class InvalidSku(RuleBroken):
    """A SKU has 1 to 64 printable characters, none of them `#`; correct it."""


class InvalidPrice(RuleBroken):
    """A price is more than 0, at most 1,000,000, and has at most two decimals; correct it."""


class InvalidCount(RuleBroken):
    """A cart holds 1 to 9,999 of a product; correct the number, or remove the product."""


class InvalidOrderId(RuleBroken):
    """The id of an order has 27 letters and digits; copy it whole."""


class InvalidLine(RuleBroken):
    """This is not the sort key of a line; copy it from a view of the cart."""


class UnknownLine(NotFound):
    """This product is not there any more; look at your cart again."""


class InCartAgain(RuleBroken):
    """This product is in your cart again by now, and stays as it is there."""


class PurchasedStays(RuleBroken):
    """What was purchased stays as it is; put the product in the cart to buy it again."""


class NotPurchasedByMoving(RuleBroken):
    """A product becomes PURCHASED by a purchase, which has an order; purchase the cart."""


class PurchaseWithoutOrder(RuleBroken):
    """A line that is PURCHASED has an OrderId; give it the one of its purchase."""


class OrderWithoutPurchase(RuleBroken):
    """Only a line that is PURCHASED has an OrderId; leave it out."""


class EmptyCart(RuleBroken):
    """There is nothing in this cart; put something in first."""


class CartTooLarge(RuleBroken):
    """One purchase has at most 1,000 products; save some for later, and purchase twice."""


class CartChanged(Conflict):
    """This cart has changed meanwhile; look at it again."""
