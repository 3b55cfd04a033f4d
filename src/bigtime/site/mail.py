"""Mail: written into the site's table in one step, sent by the second process in another.

A letter's id follows from what it is about (`order-confirmation 2f...`), so that whoever writes it
twice sends it once. In development letters stay in the outbox, a page that shows them. Where a
mail server is set, the second process sends each and then takes it out of the table:

1. A letter is tried when it is written, and taken out before the next is tried. Whatever happens
   to another, it is not sent again.
2. One that is refused for good stays, with the reason, until it goes by itself. One that is not
   taken now is noted to be tried again, later and later. The others go on meanwhile.
3. If the server cannot be used at all, the letter waits where it is, and all behind it.

A letter with a one-time code does not hold it, nor does anything else that is stored, streamed or
backed up. It has a seed, of which the code is made with a key that is in no table, once when its
hash is stored and once more when the letter is sent or shown.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import EmailMessage
from hashlib import sha256
from typing import Any, Final, TypeAlias

from bigtime.model import (
    Change,
    ItemExists,
    ItemMissing,
    Page,
    Position,
    attr,
    create,
    delete,
    get,
    now,
    query,
    update,
)
from bigtime.site.design import Mail
from bigtime.site.mail_server import NotNow, Refused, mailbox_of
from bigtime.systems import portal
from bigtime.wire import Steps

log = logging.getLogger("bigtime.worker")

KEPT: Final = timedelta(days=2)
FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(hours=1)
CODE: Final = "{code}"
"""What stands in a letter for the code that it is sent with."""
MOST_REASON: Final = 300

Sending: TypeAlias = Callable[[EmailMessage], None]
"""Hands in a letter, or raises what `mail_server` tells of."""


# Writing


def write_mail(written: Steps[Mail]) -> Steps[None]:
    """Puts a letter in the outbox, unless it has been there."""
    with suppress(ItemExists):
        yield from create((yield from written))


def letter(
    mail_id: str,
    to: str,
    subject: str,
    text: str,
    *,
    seed: bytes | None = None,
    kept: timedelta = KEPT,
) -> Steps[Mail]:
    """A letter that is not stored yet, for whoever stores it together with something else."""
    moment = yield from now()
    return Mail(
        mail_id=mail_id,
        to=to,
        subject=subject,
        text=text,
        seed=seed,
        written_at=moment,
        expires_at=moment + kept,
    )


def view_outbox(*, after: Position | None = None) -> Steps[Page[Mail]]:
    """What was written, newest first."""
    return (yield from query(Mail.within("GSI1"), newest_first=True, limit=25, after=after))


def text_of(mail: Mail, pepper: bytes) -> str:
    """What a letter says, with its code if it has one."""
    return (
        mail.text
        if mail.seed is None
        else mail.text.replace(CODE, portal.code_from(mail.seed, pepper))
    )


# Sending


@dataclass(frozen=True, slots=True)
class Post:
    """Sends letters: by whom, from whom, and with the key of their codes."""

    send: Sending
    sender: str
    pepper: bytes

    def deliver(self, change: Change[Any]) -> Steps[None]:
        """Sends a letter that was written, unless that was done or tried before."""
        written = change.of(Mail)
        if written is None or written.kind != "insert" or written.after is None:
            return
        mail = yield from get(written.key, consistent=True)
        if mail is not None and mail.tries == 0:
            yield from self.try_to_send(mail)

    def deliver_again(self) -> Steps[None]:
        """Sends what was not taken before, and is due."""
        position: Position | None = None
        while True:
            due = attr("try_at") <= (yield from now())
            page = yield from query(Mail.within("GSI1"), filter=due, limit=25, after=position)
            for listed in page:
                mail = yield from get(listed.own_key(), consistent=True)
                if mail is not None and mail.try_at == listed.try_at:
                    yield from self.try_to_send(mail)
            position = page.position
            if position is None:
                return

    def try_to_send(self, mail: Mail) -> Steps[None]:
        moment = yield from now()
        if mail.expires_at <= moment:
            return
        try:
            self.send(self.message_of(mail))
        except Refused as error:
            yield from note(mail, refused=reason_of(error), try_at=None)
        except NotNow as error:
            log.warning("letter %s was not taken: %s", mail.mail_id, reason_of(error))
            yield from note(mail, try_at=moment + pause_after(mail.tries))
        else:
            yield from delete(mail.own_key())

    def message_of(self, mail: Mail) -> EmailMessage:
        try:
            return made_of(mail, text_of(mail, self.pepper), self.sender)
        except Exception as error:
            raise Refused(f"no letter can be made of it: {error!r}") from error


def made_of(mail: Mail, text: str, sender: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = mailbox_of(mail.to)
    message["Subject"] = mail.subject
    message["Date"] = mail.written_at
    message["Message-ID"] = f"<{sha256(mail.mail_id.encode()).hexdigest()[:32]}@bigtime>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message


def note(mail: Mail, *, try_at: datetime | None, refused: str | None = None) -> Steps[None]:
    """Notes that a letter was tried; it may have gone by itself meanwhile."""
    if refused is not None:
        log.error("letter %s is refused: %s", mail.mail_id, refused)
    with suppress(ItemMissing):
        yield from update(mail.own_key(), tries=mail.tries + 1, try_at=try_at, refused=refused)


def pause_after(tries: int) -> timedelta:
    doubled: int = 2 ** min(tries, 10)
    return min(FIRST_PAUSE * doubled, LONGEST_PAUSE)


def reason_of(error: Exception) -> str:
    return str(error)[:MOST_REASON]
