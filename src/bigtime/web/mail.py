"""Mail: written into the site's table in one step, sent by the second process in another.

A letter's id follows from what it is about (`order-confirmation 2f...`), so that whoever writes it
twice sends it once. In development letters stay in the outbox, a page that shows them. Where a
mail server is set, the second process sends each and then takes it out of the table.
"""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from email.message import EmailMessage
from typing import Any, TypeAlias

from bigtime.model import (
    Change,
    ItemExists,
    Page,
    Position,
    Steps,
    create,
    delete,
    now,
    query,
)
from bigtime.web.design import Mail

KEPT = timedelta(days=2)
SECONDS_TO_WAIT = 20

Sending: TypeAlias = Callable[[EmailMessage], None]


def write_mail(mail_id: str, to: str, subject: str, text: str) -> Steps[None]:
    """Puts a letter in the outbox, unless it has been there."""
    with suppress(ItemExists):
        yield from create((yield from letter(mail_id, to, subject, text)))


def letter(mail_id: str, to: str, subject: str, text: str) -> Steps[Mail]:
    """A letter that is not stored yet, for whoever stores it together with something else."""
    moment = yield from now()
    return Mail(
        mail_id=mail_id,
        to=to,
        subject=subject,
        text=text,
        written_at=moment,
        expires_at=moment + KEPT,
    )


def view_outbox(*, after: Position | None = None) -> Steps[Page[Mail]]:
    """What was written, newest first."""
    return (yield from query(Mail.within("GSI1"), newest_first=True, limit=25, after=after))


def deliver_mail(change: Change[Any], *, send: Sending, sender: str) -> Steps[None]:
    """Sends a letter that was written; if it fails, the change comes again."""
    written = change.of(Mail)
    if written is None or written.kind != "insert" or written.after is None:
        return
    send(message_of(written.after, sender))
    yield from delete(written.key)


def message_of(mail: Mail, sender: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = mail.to
    message["Subject"] = mail.subject
    message["Message-ID"] = f"<{mail.mail_id.replace(' ', '.')}@bigtime>"
    message.set_content(mail.text)
    return message


def smtp(server: str) -> Sending:
    """Sends by a mail server, named as `host:port`."""
    host, _, port = server.partition(":")

    def send(message: EmailMessage) -> None:
        with smtplib.SMTP(host, int(port or 25), timeout=SECONDS_TO_WAIT) as connection:
            connection.send_message(message)

    return send
