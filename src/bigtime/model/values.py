"""Types for the values of fields: addresses, amounts, names and text.

Each is a validator that raises one of the application's own errors, for use in a field's type:

    EMAIL = EmailAddress(InvalidEmail)
    Email = Annotated[str, AfterValidator(EMAIL)]

    PRICE = Amount(InvalidPrice, least=Decimal("0.01"), most=Decimal(1_000_000))
    Price = Annotated[Decimal, BeforeValidator(PRICE)]

    USERNAME = Name(InvalidUsername, most=64, case=str.lower)
    Username = Annotated[str, AfterValidator(USERNAME)]

- An e-mail address is accepted in its plainest form: a dot-atom (RFC 5322, section 3.2.3) before
  the `@`, without quotes or comments, and a host name after it. Anything that a mail program
  could read as two addresses, or as a different one, is refused: `a<b@c.example>` above all. A host
  name may use letters of any language, and its spellings are treated as one: `BÜCHER.example`,
  `bücher.example` and `xn--bcher-kva.example`. `#` is refused, because it separates the parts of
  a key.
- An amount is exact. A float is refused, because it has already lost digits. DynamoDB drops
  trailing zeros; reading an amount through its type restores them.
- A name takes part in keys, so it is refused or normalised wherever it comes in: in a new entity,
  a key or an update.
- `is_readable` refuses control characters, lone surrogates and line separators: nobody types or
  sees them, and files, mails and labels break on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final
from unicodedata import normalize

from pydantic_core import PydanticCustomError

from bigtime.model.errors import DomainError

ATOM: Final = r"[a-z0-9!$%&'*+/=?^_`{|}~-]+"
MAILBOX: Final = re.compile(rf"{ATOM}(\.{ATOM})*")
LABEL: Final = r"[^\W_](?:-*[^\W_])*"
HOST: Final = re.compile(rf"({LABEL}\.)+(?!\d+$){LABEL}")
OTHER_TODAY: Final = frozenset("ßς\u200c\u200d")
"""Letters that IDNA 2003 maps to another host (RFC 5894, 7.2): mail might reach a stranger."""
MOST_MAILBOX: Final = 64
MOST_LABEL: Final = 63
PAGE: Final = re.compile(r"https?://[^\s/?#]+\S*")


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """An e-mail address, lower-cased and stripped, so that all its spellings are one address."""

    refused: type[DomainError]
    most: int = 254

    def __call__(self, value: Any) -> str:
        text = value.strip().lower() if isinstance(value, str) else ""
        mailbox, _, host = text.partition("@")
        if len(text) > self.most or len(mailbox) > MOST_MAILBOX or not MAILBOX.fullmatch(mailbox):
            raise self.refused
        try:
            address = f"{mailbox}@{host_name(host)}"
        except ValueError:
            raise self.refused from None
        if len(address) > self.most:
            raise self.refused
        return address


@lru_cache(maxsize=1024)
def host_name(text: str) -> str:
    """The canonical spelling of a host name; ValueError if it is not one.

    Cached, because many addresses share few hosts, and each is checked whenever it is read.
    """
    name = ascii_host(text).encode().decode("idna").lower()
    is_too_long = any(len(each) > MOST_LABEL for each in name.split("."))
    if is_too_long or not HOST.fullmatch(name) or OTHER_TODAY & {*text}:
        raise ValueError(f"{text!r} is no host's name")
    return name


def ascii_host(name: str) -> str:
    """A host name in the ASCII form that mail servers and name servers use (RFC 3490)."""
    return name.encode("idna").decode()


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that a browser opens as a page; schemes that run code are refused."""

    refused: type[DomainError]
    most: int = 1_000

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most or not PAGE.fullmatch(value):
            raise self.refused
        return value


@dataclass(frozen=True, slots=True)
class Amount:
    """A decimal from `least` to `most`, with no more than `decimals` decimal places."""

    refused: type[DomainError]
    least: Decimal
    most: Decimal = Decimal("Infinity")
    decimals: int = 2

    def __call__(self, value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
            raise self.refused
        try:
            amount = Decimal(value)
            written = round(amount, self.decimals)
        except InvalidOperation:
            raise self.refused from None
        if written != amount or not self.least <= written <= self.most:
            raise self.refused
        return written


@dataclass(frozen=True, slots=True)
class Name:
    """One to `most` printable characters, except `#`, which separates the parts of a key.

    Surrounding space is dropped; `case` folds several spellings into one name.
    """

    refused: type[DomainError]
    most: int
    case: Callable[[str], str] = str

    def __call__(self, text: str) -> str:
        name = self.case(normalize("NFC", text.strip()))
        if not 1 <= len(name) <= self.most or "#" in name or not name.isprintable():
            raise self.refused
        return name


UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
UNREADABLE_IN_LINES = re.compile(r"(?![\t\n\r])" + UNREADABLE.pattern)


def is_readable(text: str, *, lines: bool = False) -> bool:
    """Whether a text has readable characters only; `lines` allows line breaks and tabs."""
    if text.isprintable():  # nearly every text is, and the check costs next to nothing
        return True
    return (UNREADABLE_IN_LINES if lines else UNREADABLE).search(text) is None


def one_line(text: str) -> str:
    """Returns the text if it is one readable line; for the type of a field."""
    if not is_readable(text):
        raise PydanticCustomError(
            "unreadable_text", "This contains invisible characters; remove them."
        )
    return text
