"""Document paths: resolving them in an item, and projections on them.

AWS: "Referring to item attributes when using expressions in DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.Attributes.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.tree import Alias, Path
from bigtime.wire import AttributeValue, Item

Names: TypeAlias = Mapping[str, str]
DocumentPath: TypeAlias = tuple[str | int, ...]
"""A path without placeholders: an attribute's name, then map keys and list indexes."""

Getter: TypeAlias = Callable[[Item], AttributeValue | None]


def resolve(path: Path, names: Names) -> DocumentPath:
    return tuple(
        name_of(element, names) if isinstance(element, Alias) else element
        for element in path.elements
    )


def name_of(alias: Alias, names: Names) -> str:
    try:
        return names[alias.name]
    except KeyError:
        raise ExpressionError(
            "An expression attribute name used in the document path is not defined; "
            f"attribute name: {alias.name}"
        ) from None


def path_text(path: DocumentPath) -> str:
    elements = (f"[{element}]" if isinstance(element, int) else element for element in path)
    return f"[{', '.join(elements)}]"


def top_level_names(paths: Iterable[DocumentPath]) -> frozenset[str]:
    return frozenset(str(path[0]) for path in paths)


def attributes_at(paths: Iterable[Path], names: Names) -> frozenset[str]:
    return top_level_names(resolve(path, names) for path in paths)


def nested_names(paths: Iterable[DocumentPath]) -> frozenset[str]:
    """The attributes that some path leads into; none of them can be a key attribute."""
    return frozenset(str(path[0]) for path in paths if len(path) > 1)


def getter(path: DocumentPath) -> Getter:
    name = str(path[0])
    if len(path) == 1:
        return lambda item: item.get(name)
    inner = path[1:]

    def get(item: Item) -> AttributeValue | None:
        value = item.get(name)
        for element in inner:
            if value is None:
                return None
            value = member(value, element)
        return value

    return get


def member(value: AttributeValue, element: str | int) -> AttributeValue | None:
    found: AttributeValue | None = None
    if isinstance(element, str):
        if "M" in value:
            found = value["M"].get(element)
    elif "L" in value and element < len(value["L"]):
        found = value["L"][element]
    return found


@dataclass(slots=True)
class Branch:
    """The paths of one expression that share a prefix, by their next element.

    A path that ends here is represented by its number in the expression. Paths that were checked
    for conflicts continue with either names or indexes, never both.
    """

    children: dict[str | int, Branch | int] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        return isinstance(next(iter(self.children)), int)


def branches(paths: Sequence[DocumentPath]) -> Branch:
    root = Branch()
    for number, path in enumerate(paths):
        branch = root
        for element in path[:-1]:
            child = branch.children.setdefault(element, Branch())
            assert isinstance(child, Branch), "overlapping paths"
            branch = child
        branch.children[path[-1]] = number
    return root


def check_overlaps(paths: Sequence[DocumentPath]) -> None:
    """Rejects paths equal to or a prefix of another, and a value used as both map and list."""
    conflict = None
    by_name: dict[str | int, list[DocumentPath]] = {}
    for path in paths:
        related = by_name.setdefault(path[0], [])
        for earlier in related:
            problem = clash(earlier, path)
            if problem == "overlap":
                raise clash_error(problem, earlier, path)
            if problem and conflict is None:
                conflict = clash_error(problem, earlier, path)
        related.append(path)
    if conflict is not None:
        raise conflict


def clash(first: DocumentPath, second: DocumentPath) -> str | None:
    for left, right in zip(first, second, strict=False):
        if type(left) is not type(right):
            return "conflict"
        if left != right:
            return None
    return "overlap"


def clash_error(problem: str, first: DocumentPath, second: DocumentPath) -> ExpressionError:
    return ExpressionError(
        f"Two document paths {problem} with each other; must remove or rewrite one of these "
        f"paths; path one: {path_text(first)}, path two: {path_text(second)}"
    )


@dataclass(frozen=True, slots=True)
class Projection:
    project: Callable[[Item], Item]
    attributes: frozenset[str]
    nested_attributes: frozenset[str]

    def __call__(self, item: Item) -> Item:
        return self.project(item)


def check_projection(paths: tuple[Path, ...], names: Names, values: object) -> None:
    check_overlaps([resolve(path, names) for path in paths])


def compile_projection(paths: tuple[Path, ...], names: Names) -> Projection:
    return projection([resolve(path, names) for path in paths])


def projection(paths: Sequence[DocumentPath]) -> Projection:
    """The projection on non-overlapping paths."""
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
    """The parts of a map or a list that the paths select; None if they select nothing."""
    tag = "L" if branch.is_list else "M"
    if tag not in value:
        return None
    part: Any = elements(branch, value["L"]) if tag == "L" else members(branch, value["M"])
    return {tag: part} if part else None


def elements(branch: Branch, content: list[AttributeValue]) -> list[AttributeValue]:
    """The selected elements, in their order but without gaps."""
    found = []
    for index, child in sorted(branch.children.items()):
        assert isinstance(index, int)
        if index < len(content):
            value = content[index]
            part = value if isinstance(child, int) else part_of(child, value)
            if part is not None:
                found.append(part)
    return found
