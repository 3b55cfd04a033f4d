"""Which item is meant, as a value that can be compared and hashed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from bigtime.wire.number import canonical, decimal
from bigtime.wire.requests import Item

Identity: TypeAlias = tuple[Any, ...]
"""A table's name, then the name and the value of each attribute of a key in it."""


def item_identity(table: str, item: Item, names: Iterable[str]) -> Identity:
    """The identity of the item whose key has these attributes.

    A number has one identity however it is spelled, and values of different types never have the
    same. What is no key raises a ValueError, a KeyError or a ValidationException.
    """
    identity: list[Any] = [table]
    for name in names:
        ((tag, content),) = item[name].items()
        identity += (name, content if tag == "S" else key_value(tag, content))
    return tuple(identity)


def key_value(tag: str, content: str) -> Any:
    if tag == "N":
        return decimal(canonical(content))
    if tag == "B":
        return content.encode()  # base64, of which DynamoDB takes one spelling only
    raise ValueError(f"a key attribute is never of type {tag}")
