"""The kit's errors.

    DesignError (TypeError)        a declaration that cannot work
    ValueRefused (ValueError)      a value that its entity cannot store: `ItemTooLarge`
    ItemMismatch (ValueError)      a stored item that its entity cannot read
    DomainError                    an error for people to read: a class, a code, a sentence
      Malformed                    a request that cannot be read: `CursorError`
      NotSignedIn                  nobody is signed in
      Forbidden                    the signed-in user is not allowed to do it
      NotFound                     the requested thing does not exist: `ItemMissing`
      Clash                        it contradicts what is stored: `ItemExists`, `ConditionFailed`
        Conflict                   another write came in between; read again and retry
        NotUpgraded                an update met an item in an older form
      RuleBroken                   a well-formed request that breaks a rule of the domain
      TooMany                      too many requests in too little time
      Unavailable                  it cannot be done right now: `Unfinished`, `NotReady`

The subclasses of `DomainError` are families: every error of a system belongs to exactly one. A
caller that handles errors by kind looks at the family and needs no list of classes; `bigtime.web`
has one HTTP status for each. A `DomainError` outside every family counts as `RuleBroken`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from bigtime.wire import MAX_ITEM_BYTES, Item

if TYPE_CHECKING:
    from bigtime.model.schema import Entity, Key


class DesignError(TypeError):
    """A declaration that cannot work; the message names it and says what to change."""


class ValueRefused(ValueError):
    """A value that cannot be stored as its entity declares; nothing was sent."""

    def __init__(self, message: str, entity: type[Entity] | None = None) -> None:
        super().__init__(message)
        self.entity = entity


class ItemTooLarge(ValueRefused):
    """DynamoDB refused an item for its size; nothing was written.

    `size` is the item's size in bytes; None after an update, where only DynamoDB knows it.
    """

    def __init__(self, key: Key[Any] | None = None, size: int | None = None) -> None:
        self.key = key
        self.size = size
        what = "the item" if key is None else repr(key)
        bytes_ = "is too large" if size is None else f"would be {size:,} bytes"
        super().__init__(
            f"{what} {bytes_}, and DynamoDB takes {MAX_ITEM_BYTES:,}; split it, or keep the largest"
            " attribute elsewhere",
            None if key is None else key.entity,
        )


class ItemMismatch(ValueError):
    """A stored item that does not fit its entity; `item` is the whole item."""

    def __init__(self, message: str, item: Item, entity: type[Entity] | None = None) -> None:
        super().__init__(message)
        self.item = item
        self.entity = entity


def kebab_case(name: str) -> str:
    """`UnknownBrand` -> `unknown-brand`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip(
        "-"
    )


class DomainError(Exception):
    """An application's own error: a class, a stable code, and a sentence for the user.

    Where a condition failed or an item was missing, it carries the `entity`, the `key` and the
    `item` as it was.
    """

    entity: type[Entity] | None = None
    """The class of the item whose condition failed."""
    key: Key[Any] | None = None
    """The key of that item."""
    item: Item | None = None
    """That item as it was, in DynamoDB's JSON."""
    code: ClassVar[str] = ""
    """Stable, for programs; derived from the class's name unless given."""
    sentence: ClassVar[str] = ""
    """The message; the docstring of the class, unless it is given."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" not in cls.__dict__:
            cls.code = kebab_case(cls.__name__)

    def __init__(self, sentence: str | None = None) -> None:
        super().__init__(sentence or self.sentence or (type(self).__doc__ or self.code).strip())


# Families


class Malformed(DomainError):
    """The request cannot be read; correct it and send it again."""


class NotSignedIn(DomainError):
    """Please sign in first."""


class Forbidden(DomainError):
    """This is not allowed."""


class NotFound(DomainError):
    """There is no such thing."""


class Clash(DomainError):
    """This contradicts what is there."""


class RuleBroken(DomainError):
    """This breaks a rule."""


class TooMany(DomainError):
    """That was too often; wait a little and try again."""


class Unavailable(DomainError):
    """This cannot be done now; try again soon."""


# Errors about a single item


class ConditionFailed(Clash):
    """The item was not as it had to be."""


class ItemMissing(NotFound):
    """There is no such item."""


class ItemExists(Clash):
    """There is such an item already."""


class Conflict(Clash):
    """Another write changed it meanwhile: read it again and retry."""


class NotUpgraded(Clash):
    """The item is of an older form: put it back as it was read, or repair it, and retry."""
