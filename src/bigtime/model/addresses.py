"""Addresses of mail and of pages, and what is said of one that is none.

    EMAIL = EmailAddress(InvalidEmail)
    Email = Annotated[str, AfterValidator(EMAIL)]

Whether anybody is there only a letter can tell, or a visit. What is refused is what can be no
address, what could hide in one, and `#`, which divides the parts of a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from bigtime.model.errors import DomainError

MAIL: Final = re.compile(r"[^\s@#]+@[^\s@#]+\.[^\s@#.]+")
PAGE: Final = re.compile(r"https?://[^\s/?#]+\S*")


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """In lower case and without space around it, so that one person's spellings are one address."""

    refused: type[DomainError]
    most: int = 254

    def __call__(self, value: Any) -> str:
        text = value.strip().lower() if isinstance(value, str) else ""
        if len(text) > self.most or not text.isprintable() or not MAIL.fullmatch(text):
            raise self.refused
        return text


@dataclass(frozen=True, slots=True)
class WebAddress:
    """One that a browser opens as a page: it runs nothing."""

    refused: type[DomainError]
    most: int = 1_000

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most or not PAGE.fullmatch(value):
            raise self.refused
        return value
