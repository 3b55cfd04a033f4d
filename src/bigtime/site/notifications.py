"""Notifications by mail: what users choose to get in addition to the inbox, and unsubscribing.

Every message is in the inbox. A user can also get those of watched brands and categories, and of
hot deals, by mail, and mails when an order changes its status (see `order_queue`). That an order
was placed or cancelled is always mailed.

1. The mail for an event is written once, in one transaction with a marker, `MailedEvent`, that
   outlives the stream's records: if a record is read again, the marker is there.
2. It goes to the login of the user's account, if that is confirmed, and to no other address.
3. Its text contains nothing that a visitor typed. Titles of deals are the editors' own words, as on
   the site.
4. Each has a link that ends mails of its kind without signing in. The link is signed, names the
   user and the kind, and does not expire. Opening it only asks, and its button ends them, since
   malware scanners open the links in mails. A mail program's own unsubscribe button is one click
   (see RFC 8058).

A hot deal costs half a read unit for each user it is sent to, whether they get mails or not: little
compared with the message itself, which is a write.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from bigtime import model as bt
from bigtime.site import letters
from bigtime.site.checkout import ensure_customer
from bigtime.site.design import MailedEvent, NotificationSettings, inserted_item
from bigtime.site.mail import draft_mail
from bigtime.systems import accounts, deals, shop
from bigtime.wire import Steps

NEWS: Final = timedelta(hours=1)
"""The maximum age of a message that is mailed: older ones were loaded or restored."""
REMEMBERED_FOR: Final = timedelta(days=2)
SIGNATURE_BYTES: Final = 18
MOST_TOKEN: Final = 200


class MailKind(StrEnum):
    """The kinds of mails that a user may end; each is a field of the settings."""

    WATCHED = "watched"
    HOT = "hot"
    ORDERS = "orders"
    DIGEST = "digest"


MAILED_KINDS: Final = {
    deals.MessageKind.HOT: MailKind.HOT,
    deals.MessageKind.TEST: MailKind.HOT,
    deals.MessageKind.BRAND: MailKind.WATCHED,
    deals.MessageKind.CATEGORY: MailKind.WATCHED,
    deals.MessageKind.WATCHED: MailKind.WATCHED,
}
"""An editor's test is mailed as the message itself would be."""


class UnknownLink(bt.NotFound):
    """This link is incomplete or was changed. Open it from the e-mail again, or sign in."""


# Settings


@bt.pattern("Fetch Notification Settings", index="Main table")
def fetch_settings(username: deals.Username) -> Steps[NotificationSettings]:
    """Those that were saved, or else the defaults."""
    saved = yield from bt.get(NotificationSettings.key(username), consistent=True)
    return saved or NotificationSettings(username=username)


@bt.pattern(
    "Save Notification Settings",
    index="Main table",
    sample={"kinds": frozenset({MailKind.DIGEST})},
)
def save_settings(
    username: deals.Username, login: accounts.Login, kinds: frozenset[MailKind]
) -> Steps[None]:
    """These kinds are mailed from now on, to the account's address, and no others."""
    yield from ensure_customer(username, login)
    yield from change_settings(username, **{kind: kind in kinds for kind in MailKind})


@bt.pattern("End Mails of Kind", index="Main table")
def end_mails(username: deals.Username, kind: MailKind) -> Steps[None]:
    """After a click on the link of a mail; once is as good as twice. Of a deleted user, nothing."""
    if (yield from bt.get(deals.User.key(username), consistent=True)) is None:
        return
    yield from change_settings(username, **{kind: False})


class NoSettings(bt.NotFound):
    """Nothing was saved yet."""


def change_settings(username: str, **changes: Any) -> Steps[None]:
    for _ in range(2):
        with suppress(NoSettings):
            key = NotificationSettings.key(username)
            yield from bt.update(key, **changes, if_exists=NoSettings)
            return
        with suppress(bt.ItemExists):
            yield from bt.create(NotificationSettings(username=username, **changes))
            return
    raise bt.Conflict


# Links that end mails


@dataclass(frozen=True, slots=True)
class Unsubscribing:
    """Makes and reads the links that end mails; `pepper` is a key of the site."""

    pepper: bytes
    base_url: str

    def link(self, username: str, kind: MailKind) -> str:
        return f"{self.base_url}/unsubscribe/{self.token(username, kind)}"

    def token(self, username: str, kind: MailKind) -> str:
        text = f"{kind} {username}".encode()
        return urlsafe_b64encode(self.signature(text) + text).decode().rstrip("=")

    def read(self, token: str) -> tuple[str, MailKind]:
        """The user and the kind of a token; raises UnknownLink if its signature is not valid."""
        try:
            given = urlsafe_b64decode(token[:MOST_TOKEN] + "=" * (-len(token) % 4))
        except (NotBase64, ValueError):
            raise UnknownLink from None
        signature, text = given[:SIGNATURE_BYTES], given[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self.signature(text)):
            raise UnknownLink
        kind, _, username = text.decode().partition(" ")
        return username, MailKind(kind)

    def signature(self, text: bytes) -> bytes:
        return hmac.digest(self.pepper, b"unsubscribe\0" + text, sha256)[:SIGNATURE_BYTES]


# Mails of events


def confirmed_address(username: str) -> Steps[str | None]:
    """The login of a user's account, if it is confirmed as their address."""
    customer = yield from bt.get(shop.Customer.key(username), consistent=True)
    if customer is None:
        return None
    try:
        account: accounts.Identity = yield from accounts.view_account(customer.email)
    except accounts.UnknownLogin:
        return None
    is_theirs = account.username == username and account.is_confirmed
    return account.login if is_theirs else None


@dataclass(frozen=True, slots=True)
class Notifier:
    """Mails users what they chose to get by mail."""

    links: Unsubscribing

    @property
    def reaction(self) -> bt.Reaction:
        """Mails each message as it is delivered."""
        return bt.reaction(deals.BIG_TIME_DEALS, of=[deals.Message])(self.mail_message)

    def mail_message(self, change: bt.Change[Any]) -> Steps[None]:
        """Mails a new message, if its user gets mails of its kind."""
        message = inserted_item(change, deals.Message)
        if message is None or change.at - message.message_id.at > NEWS:
            return
        kind = MAILED_KINDS[message.kind]
        settings = yield from bt.get(NotificationSettings.key(message.username))
        if settings is not None and getattr(settings, kind):
            yield from self.mail_once(message, kind)

    def mail_once(self, message: deals.Message, kind: MailKind) -> Steps[None]:
        """One transaction: a mail, and the marker of its event; nothing if the marker exists."""
        to = yield from confirmed_address(message.username)
        if to is None:
            return
        event = f"message {message.username} {message.message_id}"
        link = self.links.link(message.username, kind)
        letter = with_link(letters.message_letter(message, self.links.base_url), link)
        mail = yield from draft_mail(event, to, *letter, unsubscribe=link)
        marker = MailedEvent(event=event, expires_at=mail.written_at + REMEMBERED_FOR)
        with suppress(bt.ItemExists):
            yield from bt.transact(bt.create(marker), bt.create(mail))


def with_link(letter: letters.Letter, link: str) -> letters.Letter:
    """A letter with the link that ends its kind of mails below its text."""
    return letter._replace(text=f"{letter.text}\n\n--\nTo stop these e-mails, open {link}")
