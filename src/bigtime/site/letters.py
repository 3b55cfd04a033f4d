"""Texts of mails; money and times formatted for people, in mails and on pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from bigtime.systems import deals, portal

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


def cycle_words(cycle: portal.BillingCycle | None) -> str:
    """The words after an amount that is billed monthly or yearly."""
    if cycle is None:
        return ""
    return " a month" if cycle == portal.BillingCycle.MONTHLY else " a year"


# Mails contain no text typed by a user: otherwise a stranger could mail their own words to anybody


class Letter(NamedTuple):
    """The subject and the text of a mail."""

    subject: str
    text: str


IGNORE_IT: Final = "If you did not request it, you can ignore this e-mail."
NOT_YOU: Final = "If this was not you, you can ignore this e-mail."


def letter(subject: str, *paragraphs: str) -> Letter:
    return Letter(subject, "\n\n".join(paragraphs))


def code_words(code: str) -> str:
    minutes = int(portal.VALID_FOR.total_seconds()) // 60
    return f"Your code is {code}. It is valid for {minutes} minutes."


def code_letter(code: str, link: str) -> Letter:
    return letter(
        "Your code for Bigtime Hosting",
        code_words(code),
        f"Enter it on the page that asks for it, or open this link:\n{link}",
        IGNORE_IT,
    )


def login_code_letter(code: str) -> Letter:
    """Without a link: only the browser that asked for the code has the page to enter it."""
    return letter(
        "Your code for Big Time Deals",
        code_words(code),
        "Enter it on the page that asks for it, and give it to nobody.",
        IGNORE_IT,
    )


def leave_code_letter(code: str, base_url: str) -> Letter:
    """To the address that an account is to move away from."""
    return letter(
        "Your code to change your e-mail address",
        code_words(code),
        "Someone who knows your password asked to move your account at Big Time Deals to another"
        " e-mail address. It moves only if this code is entered, so give it to nobody.",
        f"If this was not you, change your password at {base_url}/me",
    )


def arrive_code_letter(code: str) -> Letter:
    """To the address that an account is to move to."""
    return letter(
        "Your code for Big Time Deals",
        code_words(code),
        "It makes this the e-mail address of an account at Big Time Deals. Enter it on the page"
        " that asks for it, and give it to nobody.",
        IGNORE_IT,
    )


def known_to_mover_letter(base_url: str) -> Letter:
    return letter(
        "Someone tried to move an account to your address",
        "Someone, perhaps you, tried to move an account at Big Time Deals to this e-mail address."
        " There is an account with it already, so nothing was moved.",
        f"To sign in to it, go to {base_url}/log-in",
        NOT_YOU,
    )


def moved_away_letter() -> Letter:
    return letter(
        "Your account's e-mail address has changed",
        "The account at Big Time Deals with this e-mail address was moved to another address, with"
        " the codes that were sent to both. This address no longer signs in to it. All other"
        " sessions were signed out.",
        "If this was not you, someone knows your password and can read your mail: change the"
        " password of your mailbox, and contact us.",
    )


def moved_here_letter(base_url: str) -> Letter:
    return letter(
        "This is now your account's e-mail address",
        "Your account at Big Time Deals was moved to this e-mail address. Sign in with it from now"
        " on; your password is the same.",
        f"Your account: {base_url}/me",
    )


def known_letter(base_url: str) -> Letter:
    return letter(
        "Someone tried to sign up with your address",
        "Someone, perhaps you, tried to sign up at Big Time Deals with this e-mail address. There"
        " is an account with it already, so no new one was created.",
        f"To sign in, go to {base_url}/log-in\n"
        f"If you forgot your password, set a new one at {base_url}/forgot-password",
        NOT_YOU,
    )


def closed_letter() -> Letter:
    return letter(
        "Your account with Bigtime Hosting",
        "Someone, perhaps you, tried to order or to sign in with this address.",
        "The account with this address is closed or suspended, so no code was sent. Please"
        " contact us if you think this is a mistake.",
    )


def order_letter(order: portal.Order, url: str) -> Letter:
    return letter(
        "Your order with Bigtime Hosting",
        "Thank you for your order.",
        "\n".join([*map(item_line, order.items), *discount_lines(order)]),
        f"Total: {money(order.total, RAND)}{cycle_words(order.billing_cycle)}",
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
        "If this was not you, someone can read your mail: change the password of your mailbox,"
        " and contact us.",
    )


def deleted_letter() -> Letter:
    return letter(
        "Your account was deleted",
        "Your account with this e-mail address was deleted, as you asked.",
        "What you ordered is kept for our books, without your name and address. Copies of the rest"
        " are in our analytics files and search for at most a day, and in backups until they"
        " expire.",
        "You can sign up again with this address at any time.",
    )


def reminder_letter(url: str) -> Letter:
    return letter(
        "Please confirm your address",
        "You gave us this e-mail address and have not confirmed it yet.",
        f"Request a code on this page, and enter it there:\n{url}",
        NOT_YOU,
    )


def message_letter(message: deals.Message, base_url: str) -> Letter:
    """The subject is fixed: a deal's own words are only in the text."""
    is_hot = message.kind in (deals.MessageKind.HOT, deals.MessageKind.TEST)
    subject = "A hot deal" if is_hot else "A new deal from what you watch"
    return letter(
        subject,
        message_line(message),
        f"See it at {base_url}/inbox/{message.message_id}",
    )


def digest_letter(news: Sequence[deals.Message], unread: int, base_url: str) -> Letter:
    """`news` are the newest unread messages; there may be more."""
    count = "99+" if unread >= 100 else str(unread)
    lines = [
        line
        for message in news
        for line in (f"- {message_line(message)}", f"  {base_url}/inbox/{message.message_id}")
    ]
    return letter(
        "Your unread messages",
        f"You have {count} unread {'message' if unread == 1 else 'messages'} at Big Time Deals.",
        "\n".join(lines),
        f"See all at {base_url}/inbox?show=unread",
    )


def message_line(message: deals.Message) -> str:
    return " ".join(message.subject.split())
