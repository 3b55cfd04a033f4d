"""The charts of a system, as Markdown: its entities, its indexes, its access patterns.

A key is shown as its template with the fields in angle brackets, and a bucketed field by the name
of its bucket: `BRAND#<Brand>#<Day>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter
from typing import Any

from bigtime import model as bt

NOT_APPLICABLE = "N/A"


def chart(system: bt.System) -> str:
    """All charts of a system, each with a heading."""
    bt.check_kind(system, "chart")
    parts = [f"# {system.name}"]
    for table in system.tables:
        parts += [f"## Entities in {table.name}", entity_chart(table)]
        for index in table.indexes:
            parts += [f"### {index_title(index)}", index_chart(table, index)]
    if system.patterns:
        parts += ["## Access patterns", pattern_chart(system.patterns.values())]
    return "\n\n".join(parts) + "\n"


def entity_chart(table: bt.Table) -> str:
    """Every entity of a table, and the keys it is found by."""
    return markdown(
        ["entity", *table.key_names, "other keys"],
        [entity_row(entity) for entity in table.entities],
    )


def entity_row(entity: type[bt.Entity]) -> list[str]:
    keys = entity.layout.keys
    others = "; ".join(
        f"{while_text(key)}{name} {key_text(key)}" for name, key in keys.items() if name != bt.MAIN
    )
    return [entity.__name__, *(f"`{part_text(part)}`" for part in keys[bt.MAIN].parts), others]


def index_title(index: bt.Index) -> str:
    kind = "global" if index.is_global else "local"
    held = index.projection if not index.include else f"INCLUDE {', '.join(index.include)}"
    return f"{index.name} ({kind}, {held})"


def index_chart(table: bt.Table, index: bt.Index) -> str:
    """The entities that an index holds."""
    rows = [
        [
            entity.__name__,
            *(f"`{part_text(part)}`" for part in entity.layout.keys[index.name].parts),
        ]
        for entity in table.entities
        if index.name in entity.layout.keys
    ]
    return markdown(["entity", *(each.name for each in index.attributes)], rows)


def pattern_chart(patterns: Iterable[bt.Pattern[..., Any]]) -> str:
    """Every access pattern, the indexes that it uses, and its parameters."""
    rows = [
        [pattern.title, pattern.index, parameters_text(pattern), pattern.notes]
        for pattern in patterns
    ]
    return markdown(["access pattern", "index", "parameters", "notes"], rows)


def parameters_text(pattern: bt.Pattern[..., Any]) -> str:
    """Its positional parameters; keyword-only ones are options of reading, and are left out."""
    if pattern.takes is not None:
        return pattern.takes
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = [
        bt.pascal_case(parameter.name)
        for parameter in pattern.parameters
        if parameter.kind in positional
    ]
    return ", ".join(names) or NOT_APPLICABLE


# Keys


def key_text(key: bt.EntityKey) -> str:
    halves = (" + ".join(f"`{part_text(part)}`" for part in half) for half in (key.hash, key.range))
    return " / ".join(half for half in halves if half)


def while_text(key: bt.EntityKey) -> str:
    """The condition under which the index holds the entity, if there is one."""
    if not key.only:
        return ""
    return f"while {' and '.join(map(values_text, key.only, key.only.values()))} only: "


def values_text(name: str, values: tuple[object, ...]) -> str:
    spoken = name.replace("_", " ")
    if values in ((True,), (False,)):
        return spoken if values[0] else f"not {spoken}"
    return f"{spoken} is {' or '.join(str(getattr(value, 'value', value)) for value in values)}"


def part_text(part: bt.KeyPart) -> str:
    return "".join(
        f"<{field_name(piece)}>" if isinstance(piece, bt.Field) else piece
        for piece in part.template.parts
    )


def field_name(field: bt.Field) -> str:
    return bt.pascal_case(field.encoding.bucket or field.name)


# Markdown


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [in_line(head), "|---" * len(head) + "|", *map(in_line, rows)]
    return "\n".join(lines)


def in_line(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in escaped)}|"
