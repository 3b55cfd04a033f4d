"""Text in HCL, formatted as `terraform fmt` does: aligned equals signs, two spaces per level."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias


class Expression(str):
    """Text that is already HCL: a reference, or a call."""

    __slots__ = ()


Value: TypeAlias = "str | int | bool | Sequence[Value] | Mapping[str, Value] | None"


def block(head: str, *lines: str) -> str:
    """A block with its lines indented; an empty one is written on one line."""
    return "\n".join([f"{head} {{", *indent(lines), "}"])


def indent(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (f"  {line}" if line else "" for line in text.split("\n"))


def arguments(values: Mapping[str, Value]) -> str:
    """Arguments, one per line; those with multi-line values are set apart by empty lines."""
    return "\n\n".join(paragraphs({name: render(value) for name, value in values.items()}))


def paragraphs(texts: Mapping[str, str]) -> Iterator[str]:
    """Groups of assignments; neighbours on single lines have their equals signs aligned."""
    short: dict[str, str] = {}
    for name, text in texts.items():
        if "\n" in text:
            yield from align(short)
            yield f"{name} = {text}"
            short = {}
        else:
            short[name] = text
    yield from align(short)


def align(texts: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, texts), default=0)
    if texts:
        yield "\n".join(f"{name:{width}} = {text}" for name, text in texts.items())


def render(value: Value) -> str:
    match value:
        case Expression():
            return str(value)
        case None:
            return "null"
        case bool() | int():
            return json.dumps(value)
        case str():
            return quote(value)
        case Mapping():
            return render_map(value)
    return render_list(value)


def quote(text: str) -> str:
    """A quoted string; the start of an interpolation is escaped by doubling."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.replace("${", "$${").replace("%{", "%%{")


def render_map(values: Mapping[str, Value]) -> str:
    if not values:
        return "{}"
    texts = {map_key(name): render(value) for name, value in values.items()}
    return "\n".join(["{", *indent(paragraphs(texts)), "}"])


def map_key(name: str) -> str:
    return name if name.isidentifier() else quote(name)


def render_list(values: Sequence[Value]) -> str:
    """A list on one line, unless its members are objects."""
    if not any(isinstance(value, Mapping) for value in values):
        return f"[{', '.join(map(render, values))}]"
    return "\n".join(["[", *indent(f"{render_inline(value)}," for value in values), "]"])


def render_inline(value: Value) -> str:
    if not isinstance(value, Mapping):
        return render(value)
    return f"{{ {', '.join(f'{name} = {render(inner)}' for name, inner in value.items())} }}"
