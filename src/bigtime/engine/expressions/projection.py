"""Projections: the part of an item that some paths lead to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bigtime.engine.expressions.paths import (
    Branch,
    DocumentPath,
    branches,
    nested_names,
    top_level_names,
)
from bigtime.wire import AttributeValue, Item


@dataclass(frozen=True, slots=True)
class Projection:
    project: Callable[[Item], Item]
    attributes: frozenset[str]
    nested_attributes: frozenset[str]

    def __call__(self, item: Item) -> Item:
        return self.project(item)


def projection(paths: Sequence[DocumentPath]) -> Projection:
    """The projection on paths that do not overlap."""
    attributes = top_level_names(paths)
    nested = nested_names(paths)
    root = branches(paths)
    return Projection(
        (lambda item: members(root, item)) if nested else plain(tuple(attributes)),
        attributes,
        nested,
    )


def plain(names: tuple[str, ...]) -> Callable[[Item], Item]:
    return lambda item: {name: item[name] for name in names if name in item}


def members(branch: Branch, item: Item) -> Item:
    found: Item = {}
    for name, child in branch.children.items():
        value = item.get(str(name))
        part = value if value is None or isinstance(child, int) else part_of(child, value)
        if part is not None:
            found[str(name)] = part
    return found


def part_of(branch: Branch, value: AttributeValue) -> AttributeValue | None:
    """What the paths select of a map or a list; None when they select nothing."""
    tag = "L" if branch.is_list else "M"
    if tag not in value:
        return None
    part: Any = elements(branch, value["L"]) if tag == "L" else members(branch, value["M"])
    return {tag: part} if part else None


def elements(branch: Branch, content: list[AttributeValue]) -> list[AttributeValue]:
    """The selected elements close ranks: they keep their order and lose their places."""
    found = []
    for index, child in sorted(branch.children.items()):
        assert isinstance(index, int)
        if index < len(content):
            value = content[index]
            part = value if isinstance(child, int) else part_of(child, value)
            if part is not None:
                found.append(part)
    return found
