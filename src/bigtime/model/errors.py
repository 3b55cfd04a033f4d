"""What the kit says when a declaration, a value, or a stored item is wrong."""

from __future__ import annotations

from typing import ClassVar

from bigtime.wire import Item


class DesignError(TypeError):
    """A declaration that cannot work; the message names it and says what to change."""


class ValueRefused(ValueError):
    """A value that cannot be stored as its entity declares; nothing was sent."""


class ItemMismatch(ValueError):
    """A stored item that does not fit its entity; `item` is the item, whole."""

    def __init__(self, message: str, item: Item) -> None:
        super().__init__(message)
        self.item = item


def hyphenated(name: str) -> str:
    """`UnknownBrand` -> `unknown-brand`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip(
        "-"
    )


class DomainError(Exception):
    """An application's own error: a class, a stable code, and a sentence for who sees it."""

    code: ClassVar[str] = ""
    sentence: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" not in cls.__dict__:
            cls.code = hyphenated(cls.__name__)

    def __init__(self, sentence: str | None = None) -> None:
        super().__init__(sentence or self.sentence or (type(self).__doc__ or self.code).strip())


class ConditionFailed(DomainError):
    """The item was not as it had to be."""


class ItemMissing(DomainError):
    """There is no such item."""


class ItemExists(DomainError):
    """There is such an item already."""


class Conflict(DomainError):
    """Somebody else changed it meanwhile: read it again and retry."""
