"""Texts of the portal's mails: a code, a confirmation, a reminder, a change of an account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from bigtime.site.formatting import money
from bigtime.systems import portal

RAND: Final = "R "


class Letter(NamedTuple):
    """The subject and the text of a mail."""

    subject: str
    text: str


def letter(subject: str, lines: Iterable[str]) -> Letter:
    return Letter(subject, "\n".join(lines))


def code_letter(code: str, link: str) -> Letter:
    minutes = int(portal.VALID_FOR.total_seconds()) // 60
    return letter(
        "Your code for Bigtime Hosting",
        (
            f"Your code is {code}. It is good for {minutes} minutes.",
            "",
            "Type it on the page that asks for it, or open this one:",
            link,
            "",
            "If you did not ask for it, somebody has mistyped an address. Ignore this letter.",
        ),
    )


def closed_letter() -> Letter:
    return letter(
        "Your account with Bigtime Hosting",
        (
            "Somebody, perhaps you, wanted to order or to sign in with this address.",
            "",
            "The account that belongs to it is closed or suspended, so no code was sent. Please"
            " write to us if you think that this is wrong.",
        ),
    )


def order_letter(order: portal.Order, url: str) -> Letter:
    return letter(
        "Your order with Bigtime Hosting",
        (
            "Thank you for your order.",
            "",
            *map(item_line, order.items),
            *discount_lines(order),
            "",
            f"Total: {money(order.total, RAND)}",
            "",
            f"See it at {url}",
        ),
    )


def item_line(item: portal.OrderItem) -> str:
    return f"{item.quantity} x {item.product_name}, {money(item.unit_price, RAND)} each"


def discount_lines(order: portal.Order) -> Sequence[str]:
    if order.campaign is None:
        return ()
    percent = order.campaign.discount_percentage.normalize()
    return (f"With {order.campaign.code}: {percent:f} percent off.",)


def password_letter(tenant: portal.Tenant) -> Letter:
    return letter(
        "Your password with Bigtime was set anew",
        (
            f"Somebody who gets the mail of {tenant.email} has set a new password for the account"
            " with this address. Whoever was logged in with the old one is logged out.",
            "",
            "If it was not you, somebody reads your mail: change the password of your mailbox, and"
            " write to us.",
        ),
    )


def reminder_letter(tenant: portal.Tenant, url: str) -> Letter:
    return letter(
        "Please confirm your address",
        (
            f"You gave us the address {tenant.email} and have not confirmed it yet.",
            "",
            "Ask for a code on this page, and type it in there:",
            url,
            "",
            "If it was not you, ignore this letter.",
        ),
    )
