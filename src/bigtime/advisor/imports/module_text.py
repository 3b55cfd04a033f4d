"""Writes a draft as a Python module, in chunks that can be tried one after the other.

Everything from the source is written as a Python literal, a name made by `names`, or a one-line
comment, so that no source can inject code into the module.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bigtime import model as bt
from bigtime.advisor.imports.draft import (
    Draft,
    EntityDraft,
    FieldDraft,
    PatternDraft,
    TableDraft,
    ViewDraft,
)
from bigtime.wire import Item

WIDTH = 100
INDENT = "    "
MOST_ROWS = 100
MOST_KEPT = 2_000
IMPORTS = (
    ("sys", "import sys"),
    ("Iterator", "from collections.abc import Iterator"),
    ("datetime", "from datetime import datetime"),
    ("date", "from datetime import date"),
    ("Decimal", "from decimal import Decimal"),
    ("Random", "from random import Random"),
    ("Annotated", "from typing import Annotated"),
    ("Any", "from typing import Any"),
    ("Literal", "from typing import Literal"),
    ("UUID", "from uuid import UUID"),
)


# Pieces of source


def literal(value: object) -> str:
    """A value as Python source, with text in double quotes."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return text if is_readable(value) else ascii(value)
    if isinstance(value, Mapping):
        pairs = (f"{literal(name)}: {literal(member)}" for name, member in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def is_readable(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


def one_line(text: str) -> str:
    """Text made safe for a one-line comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def comment(text: str) -> Iterator[str]:
    """The text as wrapped comment lines."""
    line = "#"
    for word in one_line(text).split(" "):
        if len(line) + len(word) + 1 > WIDTH and line != "#":
            yield line
            line = "#  "
        line += f" {word}"
    yield line


def docstring(text: str) -> str:
    """A one-line docstring."""
    plain = one_line(text).replace("\\", "/").replace('"""', "'''").strip().rstrip('"')
    return f'"""{plain[: WIDTH - 14]}"""'


def call(head: str, arguments: Sequence[str], *, indent: str = "", tail: str = "") -> str:
    """`head` with arguments, on one line if they fit, otherwise one per line."""
    short = f"{indent}{head}{', '.join(arguments)}){tail}"
    if len(short) <= WIDTH and "\n" not in short:
        return short
    inner = "".join(f"{indent}{INDENT}{argument},\n" for argument in arguments)
    return f"{indent}{head}\n{inner}{indent}){tail}"


# Tables


def table_text(table: TableDraft) -> str:
    declared = table.table
    arguments = [literal(declared.name), *key_names(declared)]
    if declared.indexes:
        arguments.append(indexes_text(declared))
    if declared.naming is not bt.snake_case:
        arguments.append(f"naming=bt.{declared.naming.__name__}")
    arguments += [
        f"{name}={literal(getattr(declared, name))}"
        for name in ("type_attribute", "ttl", "stream", "encryption", "table_class")
        if getattr(declared, name) is not None
    ]
    if declared.throughput is not None:
        paid = declared.throughput
        arguments.append(f"throughput=bt.Throughput(read={paid.read}, write={paid.write})")
    arguments += [
        f"{name}={getattr(declared, name)!r}"
        for name in ("point_in_time_recovery", "deletion_protection")
        if getattr(declared, name)
    ]
    if declared.tags:
        arguments.append(f"tags={literal(dict(declared.tags))}")
    if declared.replicas:
        arguments.append(f"replicas={literal(list(declared.replicas))}")
    return call(f"{table.constant} = bt.Table(", arguments)


def key_names(table: bt.Table) -> Iterator[str]:
    for half in (table.main.hash, table.main.range):
        yield from map(attribute_text, half)


def attribute_text(attribute: bt.Attribute) -> str:
    maker = {"N": "bt.number", "B": "bt.binary"}.get(attribute.type)
    return f"{maker}({literal(attribute.name)})" if maker else literal(attribute.name)


def half_text(half: Sequence[bt.Attribute]) -> str:
    texts = [attribute_text(attribute) for attribute in half]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def indexes_text(table: bt.Table) -> str:
    short = f"indexes=[{', '.join(index_text(index) for index in table.indexes)}]"
    if len(short) + len(INDENT) + 1 <= WIDTH and len(table.indexes) == 1:
        return short
    inner = "".join(f"{index_text(index, INDENT * 2)},\n" for index in table.indexes)
    return f"indexes=[\n{inner}{INDENT}]"


def index_text(index: bt.Index, indent: str = "") -> str:
    maker = "bt.global_index(" if index.is_global else "bt.local_index("
    arguments = [literal(index.name)]
    if index.is_global:
        arguments.append(half_text(index.hash))
    if index.range:
        arguments.append(half_text(index.range))
    if index.keys_only:
        arguments.append("keys_only=True")
    if index.include:
        arguments.append(f"include={literal(list(index.include))}")
    return call(maker, arguments, indent=indent)


# Entities


def entity_text(table: TableDraft, entity: EntityDraft) -> str:
    about = entity.about or f"An item of {table.table.name}."
    lines = [class_line(table, entity), f"{INDENT}{docstring(about)}", ""]
    lines.append(call("keys = bt.Keys(", list(key_arguments(entity)), indent=INDENT))
    lines += [f"{INDENT}{field_text(known)}" for known in fields_in_order(entity)]
    return "\n".join(lines)


def fields_in_order(entity: EntityDraft) -> list[FieldDraft]:
    """The fields: those in keys first, in template order, and optional ones last."""
    halves = [half for both in entity.keys.values() for half in both]
    in_keys = re.findall(r"\{(\w+)", " ".join(text for half in halves for text in half))
    names = [*(name for name in in_keys if name in entity.fields), *entity.fields]
    fields = [entity.fields[name] for name in dict.fromkeys(names)]
    return sorted(fields, key=lambda known: not known.is_required)


def class_line(table: TableDraft, entity: EntityDraft) -> str:
    arguments = ["bt.Entity", f"table={table.constant}"]
    if entity.type_value is not None and entity.type_value != entity.name:
        arguments.append(f"type_name={literal(entity.type_value)}")
    stored = {
        known.name: known.stored
        for known in entity.fields.values()
        if known.stored != table.table.naming(known.name)
    }
    if stored:
        arguments.append(f"stored={literal(stored)}")
    return call(f"class {entity.name}(", arguments, tail=":")


def key_arguments(entity: EntityDraft) -> Iterator[str]:
    for name, halves in entity.keys.items():
        text = halves_text(halves)
        if name in entity.only:
            values = (f"{field}={literal(value)}" for field, value in entity.only[name].items())
            text = f"bt.when({text}, {', '.join(values)})"
        if name.isidentifier() and name != "self" and not keyword.iskeyword(name):
            yield f"{name}={text}"
        else:
            yield f"**{{{literal(name)}: {text}}}"


def halves_text(halves: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    texts = [literal(half[0] if len(half) == 1 else half) for half in halves if half]
    is_alone = len(texts) == 1 and len(halves[0]) == 1
    return texts[0] if is_alone else f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def field_text(known: FieldDraft) -> str:
    if known.is_required:
        return f"{known.name}: {known.type}"
    if known.type.startswith("set["):
        return f"{known.name}: {known.type} = set()"
    optional_member = known.type if known.type == "Any" else f"{known.type} | None"
    return f"{known.name}: {optional_member} = None"


def view_text(view: ViewDraft) -> str:
    arguments = ["bt.View", f"of={view.of}", f"index={literal(view.index)}"]
    head = call(f"class {view.name}(", arguments, tail=":")
    about = docstring(f"What {view.index} has of a {view.of}.")
    fields = "\n".join(f"{INDENT}{field_text(known)}" for known in view.fields)
    return f"{head}\n{INDENT}{about}\n\n{fields}"


# Patterns


def pattern_text(pattern: PatternDraft) -> str:
    arguments = [literal(pattern.title), f"index={literal(pattern.index)}"]
    if pattern.accepted:
        arguments.append(f"accepted={literal(pattern.accepted)}")
    parameters = [f"{name}: {kind}" for name, kind in pattern.parameters]
    lines = [
        call("@bt.pattern(", arguments),
        call(f"def {pattern.name}(", parameters, tail=f" -> bt.Steps[{pattern.result}]:"),
        *([f"{INDENT}{docstring(pattern.about)}"] if pattern.about else []),
        *body_lines(f"return (yield from {pattern.body})"),
    ]
    return "\n".join(lines)


def body_lines(body: str) -> list[str]:
    if len(INDENT + body) <= WIDTH:
        return [INDENT + body]
    inner = body.removeprefix("return (yield from ").removesuffix(")")
    wrapped = wrap_call(f"{INDENT * 2}yield from ", inner, INDENT * 2)
    return [f"{INDENT}return (", wrapped, f"{INDENT})"]


def wrap_call(before: str, text: str, indent: str) -> str:
    """A call after `before`, with its arguments on separate lines if it is too long."""
    if len(before + text) <= WIDTH or not text.endswith(")"):
        return before + text
    head, inner = text.split("(", 1)
    arguments, deeper = split_arguments(inner[:-1]), indent + INDENT
    if len(deeper + inner) - 1 <= WIDTH:
        return f"{before}{head}(\n{deeper}{inner[:-1]}\n{indent})"
    if len(arguments) == 1:
        return f"{before}{head}(\n{wrap_call(deeper, arguments[0], deeper)}\n{indent})"
    lines = "".join(f"{wrap_call(deeper, argument, deeper)},\n" for argument in arguments)
    return f"{before}{head}(\n{lines}{indent})"


def split_arguments(text: str) -> list[str]:
    """Splits arguments at commas outside brackets; no text in them contains either."""
    arguments, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += character
    return [argument.strip() for argument in arguments]


# Sample rows


def row_text(entity: EntityDraft, item: Item) -> str:
    pairs = [f"{literal(name)}: {literal(value)}" for name, value in item.items()]
    short = f"{INDENT}yield {entity.name}.from_item({{{', '.join(pairs)}}})"
    if len(short) <= WIDTH:
        return short
    line = f"{INDENT * 2}{{{', '.join(pairs)}}}"
    if len(line) <= WIDTH:
        return f"{INDENT}yield {entity.name}.from_item(\n{line}\n{INDENT})"
    inner = "".join(f"{INDENT * 3}{pair},\n" for pair in pairs)
    return (
        f"{INDENT}yield {entity.name}.from_item(\n{INDENT * 2}{{\n{inner}{INDENT * 2}}}\n{INDENT})"
    )


ROWS_HEAD = (
    "def sample_rows(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL)"
    " -> Iterator[bt.Entity]:\n"
    '    """The sample rows; `bigtime demo load` writes them."""'
)


def system_text(draft: Draft, rows: int) -> str:
    constants = ", ".join(table.constant for table in draft.tables)
    arguments = [
        literal(draft.name),
        f"({constants}{',' if len(draft.tables) == 1 else ''})",
        "modules=(sys.modules[__name__],)",
    ]
    if draft.accepted:
        inner = "".join(
            f"{INDENT * 2}{literal(key)}: {literal(reason)},\n"
            for key, reason in draft.accepted.items()
        )
        arguments.append(f"accepted={{\n{inner}{INDENT}}}")
    if rows:
        arguments.append(f"demo=bt.Demo(entities=sample_rows, count=lambda scale: {rows})")
    return call("SYSTEM = bt.System(", arguments)


# The module


def chunks(draft: Draft) -> Iterator[str]:
    """The chunks after the imports, in order, without the refused ones."""
    for table in draft.tables:
        yield table_text(table)
        for entity in table.entities:
            text = entity_text(table, entity)
            yield text if entity.refusal is None else comment_out(text, entity.refusal)
    for view in draft.views:
        yield view_text(view)
    for pattern in draft.patterns:
        text = pattern_text(pattern)
        yield text if pattern.refusal is None else comment_out(text, pattern.refusal)
    rows = list(rows_of(draft))
    if rows:
        yield "\n".join([ROWS_HEAD, *rows])
    yield system_text(draft, len(rows))


def rows_of(draft: Draft) -> Iterator[str]:
    for table in draft.tables:
        for entity in table.accepted_entities:
            for _, item in entity.rows[:MOST_ROWS]:
                yield row_text(entity, item)


def comment_out(text: str, reason: str) -> str:
    lines = [f"# {line}".rstrip() for line in text.split("\n")]
    return "\n".join([*comment(f"Undecided: {reason}"), *lines])


def module_text(draft: Draft) -> str:
    """The whole module."""
    body = list(chunks(draft))
    head = [docstring(draft.about or f"Imported from {draft.source}."), "", *head_comments(draft)]
    imports = [*imports_in(" ".join(types_in(draft))), "", "from bigtime import model as bt"]
    return "\n".join(head + imports) + "\n" + "".join(space_chunks(body))


def types_in(draft: Draft) -> Iterator[str]:
    """The types that the module uses."""
    yield "sys"
    if any(entity.rows for table in draft.tables for entity in table.accepted_entities):
        yield "Iterator Random datetime"
    entities = (entity for table in draft.tables for entity in table.accepted_entities)
    for entity in entities:
        yield from (known.type for known in entity.fields.values())
    for view in draft.views:
        yield from (known.type for known in view.fields)
    for pattern in draft.patterns:
        if pattern.refusal is None:
            yield from (kind for _, kind in pattern.parameters)
            yield pattern.result


def head_comments(draft: Draft) -> Iterator[str]:
    yield from comment(f"Imported from {draft.source} by `bigtime import`: a draft to go on with.")
    if draft.notes:
        yield "#"
        yield "# To decide:"
        for note in draft.notes:
            yield from comment(f"- {note}")
    if draft.kept:
        yield "#"
        yield "# Not understood, and kept as it was:"
        for place, text in draft.kept:
            cut = text if len(text) <= MOST_KEPT else f"{text[:MOST_KEPT]}... (cut)"
            yield from comment(f"- {place}: {cut}")
    yield ""


def imports_in(types: str) -> Iterator[str]:
    """The imports that types need, one line per module."""
    merged: dict[str, list[str]] = {}
    for name, line in IMPORTS:
        if re.search(rf"\b{name}\b", types):
            module, _, _ = line.rpartition(" ")
            merged.setdefault(module, []).append(name)
    for module, names in merged.items():
        yield f"{module} {', '.join(sorted(names))}"


def space_chunks(body: Iterable[str]) -> Iterator[str]:
    """Chunks separated by the blank lines of Python style."""
    was_block = False
    for text in body:
        is_block = text.startswith(("class ", "def ", "@", "# Undecided"))
        yield ("\n\n" if is_block or was_block else "\n") + text + "\n"
        was_block = is_block
