"""Mail: written to the site's table, sent by the worker.

A mail's id is derived from what it is about (`order-confirmation 2f...`), so that a mail written
twice is sent once. In development, mails stay in the outbox, and a page shows them. Where a mail
server is configured, the worker sends each mail and then deletes it:

1. A mail is tried when it is written, and deleted before the next is tried, so that a failure of
   another mail does not send it again.
2. One that the server refuses permanently stays, with the reason, until it expires. One that it
   refuses for now is tried again, after longer and longer pauses. The others are sent meanwhile.
3. If the server cannot be used at all, this mail and all that follow wait.

Neither a mail with a one-time code nor anything else that is stored, streamed or backed up contains
the code. The mail has a seed, from which the code is derived with a key that is in no table: once
when the code's hash is stored, and again when the mail is sent or shown.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email import policy
from email.message import EmailMessage
from functools import cache
from hashlib import sha256
from typing import Any, Final, TypeAlias

from bigtime import model as bt
from bigtime.site.design import SITE_TABLE, Mail, inserted_item
from bigtime.site.mail_server import NotNow, Refused, mailbox_of
from bigtime.systems import portal
from bigtime.wire import Steps

log = logging.getLogger("bigtime.worker")

EXPIRES_AFTER: Final = timedelta(days=2)
PAGE: Final = 25
FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(hours=1)
CODE: Final = "{code}"
"""The placeholder for the code in a mail's text."""
MOST_REASON: Final = 300
UNFOLDED: Final = policy.default.clone(max_line_length=998)
"""RFC 5322's longest line: folded earlier, a long link would be written in RFC 2047's
encoded words, which mail programs do not decode in a header that holds a link."""

SendMessage: TypeAlias = Callable[[EmailMessage], None]
"""Hands a message to a mail server; raises the errors of `mail_server`."""


# Writing


@bt.pattern("Write Mail", index="Main table")
def write_mail(mail: Mail) -> Steps[None]:
    """Put in the outbox; a mail of that id that is there already stays."""
    with suppress(bt.ItemExists):
        yield from bt.create(mail)


def draft_mail(
    mail_id: str,
    to: str,
    subject: str,
    text: str,
    *,
    seed: bytes | None = None,
    unsubscribe: str | None = None,
    expires_after: timedelta = EXPIRES_AFTER,
) -> Steps[Mail]:
    """A mail as of now, not yet stored: a transaction can store it together with its cause."""
    moment = yield from bt.now()
    return Mail(
        mail_id=mail_id,
        to=to,
        subject=subject,
        text=text,
        seed=seed,
        unsubscribe=unsubscribe,
        written_at=moment,
        expires_at=moment + expires_after,
    )


@bt.pattern("View Outbox", index="GSI1")
def view_outbox(*, after: bt.Position | None = None) -> Steps[bt.Page[Mail]]:
    """A query for each day, newest first, paged; mails expire after two days."""
    oldest = (yield from bt.now()) - EXPIRES_AFTER
    return (yield from bt.newest_first(outbox(), limit=PAGE, after=after, since=oldest))


@cache
def outbox() -> bt.Buckets[Mail]:
    return bt.buckets(Mail, "GSI1")


def mail_text(mail: Mail, pepper: bytes) -> str:
    """The text of a mail, with its code if it has one."""
    if mail.seed is None:
        return mail.text
    return mail.text.replace(CODE, portal.code_from(mail.seed, pepper))


def with_contact(text: str, contact: str) -> str:
    """The text of a mail, with the contact address of the site."""
    return f"{text}\n\nQuestions? Contact us: {contact}" if contact else text


# Sending


@bt.pattern("Fetch Mail", index="Main table")
def fetch_mail(mail_id: str) -> Steps[Mail | None]:
    """Strongly consistent, before it is sent."""
    return (yield from bt.get(Mail.key(mail_id), consistent=True))


@bt.pattern("View Mail to send again", index="GSI1")
def view_mail_to_send_again(*, after: bt.Position | None = None) -> Steps[bt.Page[Mail]]:
    """The mails of the outbox whose next try is due, oldest first, paged."""
    moment = yield from bt.now()
    return (
        yield from bt.oldest_first(
            outbox(),
            since=moment - EXPIRES_AFTER,
            limit=PAGE,
            after=after,
            filter=bt.attr("try_at") <= moment,
        )
    )


@bt.pattern("Delete sent Mail", index="Main table")
def delete_sent_mail(mail_id: str) -> Steps[None]:
    """Before the next mail is tried, so that it is not sent again."""
    yield from bt.delete(Mail.key(mail_id))


@bt.pattern("Record failed Try of Mail", index="Main table", sample={"tries": 1})
def record_failed_try(
    mail_id: str, tries: int, *, try_at: datetime | None = None, refused: str | None = None
) -> Steps[None]:
    """With the time of the next try, or the reason why there is none; not if it has expired."""
    with suppress(bt.ItemMissing):
        yield from bt.update(Mail.key(mail_id), tries=tries, try_at=try_at, refused=refused)


@dataclass(frozen=True, slots=True)
class MailSender:
    """Sends mails with `send`, from the address `sender`; codes are derived with `pepper`.

    `contact` is the address for questions that mails give; none if it is empty.
    """

    send: SendMessage
    sender: str
    pepper: bytes
    contact: str = ""

    @property
    def reaction(self) -> bt.Reaction:
        """Sends each mail as it is written."""
        return bt.reaction(SITE_TABLE, of=[Mail])(self.send_new)

    def send_new(self, change: bt.Change[Any]) -> Steps[None]:
        """Sends a new mail, unless it was sent or tried before."""
        written = inserted_item(change, Mail)
        mail = (yield from fetch_mail(written.mail_id)) if written else None
        if mail is not None and mail.tries == 0:
            yield from self.try_to_send(mail)

    def send_again(self) -> Steps[None]:
        """Sends the mails whose next try is due."""
        position: bt.Position | None = None
        while True:
            page = yield from view_mail_to_send_again(after=position)
            for due in page:
                mail = yield from fetch_mail(due.mail_id)
                if mail is not None and mail.try_at == due.try_at:
                    yield from self.try_to_send(mail)
            position = page.position
            if position is None:
                return

    def try_to_send(self, mail: Mail) -> Steps[None]:
        moment = yield from bt.now()
        if mail.expires_at <= moment:
            return
        tries = mail.tries + 1
        try:
            self.send(self.message_of(mail))
        except Refused as error:
            log.error("mail %s is refused: %s", mail.mail_id, reason_of(error))
            yield from record_failed_try(mail.mail_id, tries, refused=reason_of(error))
        except NotNow as error:
            log.warning("mail %s was not taken: %s", mail.mail_id, reason_of(error))
            try_at = moment + pause_after(mail.tries)
            yield from record_failed_try(mail.mail_id, tries, try_at=try_at)
        else:
            yield from delete_sent_mail(mail.mail_id)

    def message_of(self, mail: Mail) -> EmailMessage:
        try:
            text = with_contact(mail_text(mail, self.pepper), self.contact)
            return new_message(mail, text, self.sender)
        except Exception as error:
            raise Refused(f"no message can be made of it: {error!r}") from error


def new_message(mail: Mail, text: str, sender: str) -> EmailMessage:
    message = EmailMessage(policy=UNFOLDED)
    message["From"] = sender
    message["To"] = mailbox_of(mail.to)
    message["Subject"] = mail.subject
    message["Date"] = mail.written_at
    message["Message-ID"] = f"<{sha256(mail.mail_id.encode()).hexdigest()[:32]}@bigtime>"
    message["Auto-Submitted"] = "auto-generated"
    if mail.unsubscribe is not None:  # RFC 8058: the mail program's own button, one click
        message["List-Unsubscribe"] = f"<{mail.unsubscribe}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(text)
    return message


def pause_after(tries: int) -> timedelta:
    doubled: int = 2 ** min(tries, 10)
    return min(FIRST_PAUSE * doubled, LONGEST_PAUSE)


def reason_of(error: Exception) -> str:
    return str(error)[:MOST_REASON]
