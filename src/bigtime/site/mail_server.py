"""The mail server that letters are handed to, and what it says of one that it does not take.

What goes wrong before a letter is begun is the server's: it cannot be reached, does not let us in,
or takes no mail from this sender. That is `Unreachable`, and every letter waits. What goes wrong
with a letter is that letter's alone: a reply of 5xx, or an address that the server has no words
for, is final (`Refused`), all else may be well another time (`NotNow`). RFC 5321, 4.2.1.

A password is sent over TLS or not at all.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from typing import Final, Self
from urllib.parse import unquote, urlsplit

SECONDS_TO_WAIT: Final = 20
FINAL: Final = 500
PORTS: Final = {"smtp": 25, "smtps": 465}
SHAPE: Final = "host:port, or smtp://user:password@host:587, or smtps:// for TLS from the beginning"


class Unreachable(Exception):
    """The mail server cannot be used now, by any letter."""


class Refused(Exception):
    """The mail server will never take this letter."""


class NotNow(Exception):
    """The mail server did not take this letter; it may another time."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where letters are handed in, and as whom."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    is_tls: bool = False

    @classmethod
    def named(cls, text: str) -> Self:
        """The server that a setting names; a ValueError says how to name one."""
        parts = urlsplit(text if "://" in text else f"smtp://{text}")
        if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/"):
            raise ValueError(f"a mail server is named as {SHAPE}")
        return cls(
            parts.hostname,
            parts.port or PORTS[parts.scheme],
            unquote(parts.username or ""),
            unquote(parts.password or ""),
            parts.scheme == "smtps",
        )

    def __call__(self, message: EmailMessage) -> None:
        """Hands in one letter."""
        with self.connected() as connection:
            try:
                connection.send_message(message)
            except smtplib.SMTPSenderRefused as error:
                raise Unreachable(f"it takes nothing from this sender: {error}") from error
            except Exception as error:
                kind = Refused if is_final(error) else NotNow
                raise kind(said_in(error)) from error

    @contextmanager
    def connected(self) -> Iterator[smtplib.SMTP]:
        try:
            connection = self.connect()
        except (OSError, smtplib.SMTPException) as error:
            raise Unreachable(f"{self.host}:{self.port} does not let us in: {error}") from error
        try:
            yield connection
        finally:
            # A letter that was taken is taken, whatever the server says to goodbye.
            with suppress(OSError, smtplib.SMTPException):
                connection.quit()
            connection.close()

    def connect(self) -> smtplib.SMTP:
        if self.is_tls:
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                self.host, self.port, timeout=SECONDS_TO_WAIT, context=ssl.create_default_context()
            )
        else:
            connection = smtplib.SMTP(self.host, self.port, timeout=SECONDS_TO_WAIT)
        try:
            connection.ehlo_or_helo_if_needed()
            if self.user:
                self.log_in(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def log_in(self, connection: smtplib.SMTP) -> None:
        if not self.is_tls:
            connection.starttls(context=ssl.create_default_context())
        connection.login(self.user, self.password)


def is_final(error: Exception) -> bool:
    """Whether a letter would be refused in the same way another time."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            return all(code >= FINAL for code, _ in error.recipients.values())
        case smtplib.SMTPResponseException():
            return error.smtp_code >= FINAL
        case smtplib.SMTPNotSupportedError():
            return True
    return not isinstance(error, OSError | smtplib.SMTPException)


def said_in(error: Exception) -> str:
    """What the server said of a letter, or what went wrong."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            replies: list[tuple[int, bytes | str]] = [*error.recipients.values()]
        case smtplib.SMTPResponseException():
            replies = [(error.smtp_code, error.smtp_error)]
        case _:
            return f"{type(error).__name__}: {error}"
    return "; ".join(f"{code} {as_text(text)}" for code, text in replies)


def as_text(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said


def mailbox_of(text: str) -> Address:
    """An address in a header, its host as name servers know it; a ValueError if it is none."""
    mailbox, _, host = text.rpartition("@")
    return Address(username=mailbox, domain=host.encode("idna").decode())


def check_sender(text: str) -> str:
    """Who letters come from, if it can stand in a letter; else every letter would be refused."""
    message = EmailMessage()
    try:
        message["From"] = text
        (only,) = message["From"].addresses
        if not only.username or not only.domain or message["From"].defects:
            raise ValueError(text)
    except Exception:
        raise ValueError(
            f"mail comes from one address, as Bigtime <hello@example.com>; {text!r} is none"
        ) from None
    return text
