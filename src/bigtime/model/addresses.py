"""Addresses of mail and of pages, and what is said of one that is none.

    EMAIL = EmailAddress(InvalidEmail)
    Email = Annotated[str, AfterValidator(EMAIL)]

Whether anybody is there only a letter can tell, or a visit. What is refused is what can be no
address, what could hide in one, and `#`, which divides the parts of a key.

An address of mail is taken in its plainest form: before the `@` a dot-atom (RFC 5322, 3.2.3), which
needs no quotes and has no comments, after it the name of a host. Whatever a mail program would read
as two addresses, or as another one, is none here: `a<b@c.example>` least of all. A host's name may
have letters of any language, and its spellings are one: `BÜCHER.example` is `bücher.example`, and
so is `xn--bcher-kva.example`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from bigtime.model.errors import DomainError

ATOM: Final = r"[a-z0-9!$%&'*+/=?^_`{|}~-]+"
MAILBOX: Final = re.compile(rf"{ATOM}(\.{ATOM})*")
LABEL: Final = r"[^\W_](?:-*[^\W_])*"
HOST: Final = re.compile(rf"({LABEL}\.)+(?!\d+$){LABEL}")
OTHER_TODAY: Final = frozenset("ßς\u200c\u200d")
"""Letters that meant another host once (RFC 5894, 7.2): a letter might go to a stranger."""
MOST_MAILBOX: Final = 64
MOST_LABEL: Final = 63
PAGE: Final = re.compile(r"https?://[^\s/?#]+\S*")


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """In lower case and without space around it, so that one person's spellings are one address."""

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
    """The one spelling of a host's name; a ValueError if it is none.

    Remembered, for many addresses are at few hosts, and each is checked whenever it is read.
    """
    name = ascii_host(text).encode().decode("idna").lower()
    is_too_long = any(len(one) > MOST_LABEL for one in name.split("."))
    if is_too_long or not HOST.fullmatch(name) or OTHER_TODAY & {*text}:
        raise ValueError(f"{text!r} is no host's name")
    return name


def ascii_host(name: str) -> str:
    """A host's name as mail servers and name servers know it (RFC 3490)."""
    return name.encode("idna").decode()


@dataclass(frozen=True, slots=True)
class WebAddress:
    """One that a browser opens as a page: it runs nothing."""

    refused: type[DomainError]
    most: int = 1_000

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most or not PAGE.fullmatch(value):
            raise self.refused
        return value
