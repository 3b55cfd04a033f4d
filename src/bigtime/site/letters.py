"""Texts of mails, and money and times as people read them, in mails and on pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from bigtime.systems import portal

RAND: Final = "R "


@lru_cache(maxsize=4_096)
def money(amount: Decimal, currency: str = "$") -> str:
    return f"{currency}{amount:,.2f}"


@lru_cache(maxsize=4_096)
def percent(number: Decimal) -> str:
    return f"{number.normalize():f}%"


@lru_cache(maxsize=4_096)
def day(value: datetime) -> str:
    return f"{value:%d %B %Y}".lstrip("0")


@lru_cache(maxsize=4_096)
def moment(value: datetime) -> str:
    return f"{day(value)}, {value:%H:%M} UTC"


# Mails of the portal


class Letter(NamedTuple):
    """The subject and the text of a mail."""

    subject: str
    text: str


def letter(subject: str, *lines: str) -> Letter:
    return Letter(subject, "\n".join(lines))


def code_letter(code: str, link: str) -> Letter:
    minutes = int(portal.VALID_FOR.total_seconds()) // 60
    return letter(
        "Your code for Bigtime Hosting",
        f"Your code is {code}. It is valid for {minutes} minutes.",
        "",
        "Enter it on the page that asks for it, or open this link:",
        link,
        "",
        "If you did not request it, you can ignore this e-mail.",
    )


def closed_letter() -> Letter:
    return letter(
        "Your account with Bigtime Hosting",
        "Someone, perhaps you, tried to order or to sign in with this address.",
        "",
        "The account with this address is closed or suspended, so no code was sent. Please"
        " contact us if you think this is a mistake.",
    )


def order_letter(order: portal.Order, url: str) -> Letter:
    return letter(
        "Your order with Bigtime Hosting",
        "Thank you for your order.",
        "",
        *map(item_line, order.items),
        *discount_lines(order),
        "",
        f"Total: {money(order.total, RAND)}",
        "",
        f"See it at {url}",
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
        "Your Bigtime password was reset",
        f"Someone with access to the mailbox {tenant.email} has set a new password for the"
        " account with this address. All sessions with the old password were signed out.",
        "",
        "If this was not you, someone can read your mail: change the password of your mailbox,"
        " and contact us.",
    )


def reminder_letter(tenant: portal.Tenant, url: str) -> Letter:
    return letter(
        "Please confirm your address",
        f"You gave us the address {tenant.email} and have not confirmed it yet.",
        "",
        "Request a code on this page, and enter it there:",
        url,
        "",
        "If this was not you, you can ignore this e-mail.",
    )
