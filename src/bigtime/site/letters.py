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


# Mails: nothing in them was typed by a user, or they could carry a stranger's words to anybody


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


def login_code_letter(code: str) -> Letter:
    """Without a link: only the browser that asked for the code has the page to enter it."""
    minutes = int(portal.VALID_FOR.total_seconds()) // 60
    return letter(
        "Your code for Big Time Deals",
        f"Your code is {code}. It is valid for {minutes} minutes.",
        "",
        "Enter it on the page that asks for it, and give it to nobody.",
        "",
        "If you did not request it, you can ignore this e-mail.",
    )


def known_letter(base_url: str) -> Letter:
    return letter(
        "Someone tried to sign up with your address",
        "Someone, perhaps you, tried to sign up at Big Time Deals with this e-mail address. There"
        " is an account with it already, so no new one was created.",
        "",
        f"To sign in, go to {base_url}/log-in",
        f"If you forgot your password, set a new one at {base_url}/forgot-password",
        "",
        "If this was not you, you can ignore this e-mail.",
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


def password_letter() -> Letter:
    return letter(
        "Your Bigtime password was reset",
        "Someone with access to this mailbox has set a new password for the account with this"
        " address. All sessions with the old password were signed out.",
        "",
        "If this was not you, someone can read your mail: change the password of your mailbox,"
        " and contact us.",
    )


def reminder_letter(url: str) -> Letter:
    return letter(
        "Please confirm your address",
        "You gave us this e-mail address and have not confirmed it yet.",
        "",
        "Request a code on this page, and enter it there:",
        url,
        "",
        "If this was not you, you can ignore this e-mail.",
    )
