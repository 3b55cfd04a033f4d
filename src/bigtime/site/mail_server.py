"""The mail server that mails are sent through, and how its refusals are classified.

An error before a message is begun concerns the server: it cannot be reached, rejects the login, or
takes no mail from this sender. That is `Unreachable`, and every mail waits. An error with a message
concerns that message alone: a 5xx reply, or an address that the server cannot encode, is permanent
(`Refused`), all others are temporary (`NotNow`). RFC 5321, section 4.2.1.

A password is only ever sent over TLS.
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
    """The mail server cannot be used now, for any mail."""


class Refused(Exception):
    """The mail server will never take this mail."""


class NotNow(Exception):
    """The mail server did not take this mail; it may another time."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """The host, port and login of a mail server."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    is_tls: bool = False

    @classmethod
    def from_url(cls, text: str) -> Self:
        """The server for a URL from the settings; a ValueError says what it has to look like."""
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
        """Sends a message."""
        with self.connection() as connection:
            try:
                connection.send_message(message)
            except smtplib.SMTPSenderRefused as error:
                raise Unreachable(f"it takes nothing from this sender: {error}") from error
            except Exception as error:
                kind = Refused if is_final(error) else NotNow
                raise kind(reason_in(error)) from error

    @contextmanager
    def connection(self) -> Iterator[smtplib.SMTP]:
        try:
            connection = self.connect()
        except (OSError, smtplib.SMTPException) as error:
            raise Unreachable(f"{self.host}:{self.port} does not let us in: {error}") from error
        try:
            yield connection
        finally:
            # An accepted message is accepted, whatever the server replies to QUIT.
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
    """Whether the server would refuse the message again."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            return all(code >= FINAL for code, _ in error.recipients.values())
        case smtplib.SMTPResponseException():
            return error.smtp_code >= FINAL
        case smtplib.SMTPNotSupportedError():
            return True
    return not isinstance(error, OSError | smtplib.SMTPException)


def reason_in(error: Exception) -> str:
    """The server's replies, or the error."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            replies: list[tuple[int, bytes | str]] = [*error.recipients.values()]
        case smtplib.SMTPResponseException():
            replies = [(error.smtp_code, error.smtp_error)]
        case _:
            return f"{type(error).__name__}: {error}"
    return "; ".join(f"{code} {as_text(text)}" for code, text in replies)


def as_text(reply: bytes | str) -> str:
    return reply.decode(errors="replace") if isinstance(reply, bytes) else reply


def mailbox_of(text: str) -> Address:
    """An address for a header, its host in IDNA; a ValueError if it is malformed."""
    mailbox, _, host = text.rpartition("@")
    return Address(username=mailbox, domain=host.encode("idna").decode())


def check_sender(text: str) -> str:
    """Checks the sender's address: with a malformed one every mail would be refused."""
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
