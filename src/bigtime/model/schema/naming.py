"""How a field's Python name becomes the name of its stored attribute: one rule per table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Naming: TypeAlias = Callable[[str], str]


def snake_case(name: str) -> str:
    """`created_at`: as it is."""
    return name


def pascal_case(name: str) -> str:
    """`CreatedAt`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def camel_case(name: str) -> str:
    """`createdAt`."""
    pascal = pascal_case(name)
    return pascal[:1].lower() + pascal[1:]
