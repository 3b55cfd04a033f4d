"""Names that take part in keys, and what is said of one that cannot.

    USERNAME = Name(InvalidUsername, most=64, case=str.lower)
    Username = Annotated[str, AfterValidator(USERNAME)]

A field of that type refuses a bad name in the domain's own word, wherever one comes in: a new
entity, a key, an update. `USERNAME(text)` does so for what is only asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import normalize

from bigtime.model.errors import DomainError


@dataclass(frozen=True, slots=True)
class Name:
    """From one to `most` printable characters, none of them `#`, which divides the parts of a key.

    Space around it is dropped; `case` makes one name of several spellings.
    """

    refused: type[DomainError]
    most: int
    case: Callable[[str], str] = str

    def __call__(self, text: str) -> str:
        name = self.case(normalize("NFC", text.strip()))
        if not 1 <= len(name) <= self.most or "#" in name or not name.isprintable():
            raise self.refused
        return name
