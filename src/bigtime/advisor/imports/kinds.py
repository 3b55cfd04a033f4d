"""Finds the kinds of items in a table from the items themselves.

1. A type attribute (`Type`, `entityType`, ...) tells them apart, if every item has it and no key
   shape has two values of it; otherwise it is an ordinary attribute.
2. Otherwise the shape of the main key does: the text before the first delimiter in either half
   (`ORDER#1`, `d#12345`), or the whole half where a key attribute named only for its role (`PK`,
   `SK`) has a constant such as `METADATA` or `metadata`.

An attribute whose own name is composed, such as `Status#Date`, has a field before its delimiter,
not a label of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from bigtime import model as bt
from bigtime.advisor.imports.names import class_name, words_of
from bigtime.wire import Item

DELIMITERS: Final = "#|:"
ROLE_NAME: Final = re.compile(
    r"(?i)[\W_]*((gsi|lsi|g|l|index)[\W_]*\d*)?[\W_]*(pk|sk|hash|range|partition|sort)"
    r"[\W_]*(key)?[\W_]*\d*[\W_]*"
)
TYPE_NAMES: Final = frozenset(
    {
        *("type", "entitytype", "entity", "kind", "itemtype", "typename", "et", "datatype"),
        *("recordtype", "objecttype", "entityname", "model"),
    }
)
WORD: Final = re.compile(r"[^\W\d]+([_ -][^\W\d]+)*")
LABEL: Final = re.compile(r"[A-Z]+([_-][A-Z]+)*")
PLAIN_SORTS: Final = frozenset({"metadata", "meta", "info", "profile", "details", "data", "root"})
"""Sort key constants that add nothing to what the partition key says about a kind."""

Shape: TypeAlias = tuple[str, ...]

FEW: Final = 10
"""With fewer items than this, how often a key prefix recurs is not significant."""
MOST_KINDS: Final = 60
"""With more distinct key prefixes than this, the prefixes are values, not labels."""


@dataclass(slots=True)
class Kind:
    """Items that become one entity. `aliases` are other names of key attributes, or templates.

    `listed` are the attributes that the source lists, with their DynamoDB types, `choices` the
    texts that an attribute can have, and `only` the values for which an index holds it.
    `is_complete` says that `rows` are all the items, so that what all rows have in common holds
    for every item.
    """

    name: str
    place: str
    rows: list[tuple[str, Item]] = field(default_factory=list)
    about: str = ""
    type_value: str | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    listed: dict[str, str] = field(default_factory=dict)
    only: dict[str, dict[str, object]] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    is_complete: bool = True


def is_role_name(attribute: str) -> bool:
    """Whether an attribute is named for its role in a key, not for its content."""
    return ROLE_NAME.fullmatch(attribute) is not None


def prefix_of(text: str) -> str | None:
    """The label up to and including its delimiter: `ORDER#`, `#ORDER#`; None if there is none."""
    found = re.match(rf"([{DELIMITERS}]?)({WORD.pattern})([{DELIMITERS}])", text)
    return None if found is None else found[0]


def shape_of(table: bt.Table, item: Item, varied: Collection[str] = ()) -> Shape:
    """The shape of an item's main key; prefixes of `varied` attributes are ignored."""
    return tuple(
        "" if attribute.name in varied else half_shape(attribute.name, item.get(attribute.name, {}))
        for attribute in table.main.attributes
    )


def varied_attributes(table: bt.Table, items: Sequence[Item]) -> list[str]:
    """The key attributes whose prefixes are values, not labels: hardly any two items share one."""
    found = []
    for attribute in table.main.attributes:
        shapes = {half_shape(attribute.name, item.get(attribute.name, {})) for item in items}
        is_rare = len(items) >= FEW and 2 * len(shapes) > len(items)
        if is_rare or len(shapes) > MOST_KINDS:
            found.append(attribute.name)
    return found


def half_shape(attribute: str, value: dict[str, object]) -> str:
    text = value.get("S")
    if not isinstance(text, str) or "#" in attribute:
        return ""
    prefix = prefix_of(text)
    if prefix is not None:
        return prefix
    return text if is_role_name(attribute) and is_constant(text) else ""


def is_constant(text: str) -> bool:
    """Whether a whole half of a key looks like a constant of its kind."""
    return LABEL.fullmatch(text) is not None or text.lower() in PLAIN_SORTS


def type_attribute_of(
    table: bt.Table, items: Sequence[Item], varied: Collection[str]
) -> str | None:
    """The type attribute of a table, if it has one."""
    if not items:
        return None
    keys = table.indexed_names
    for name in items[0]:
        if name not in keys and "".join(words_of(name)).lower() in TYPE_NAMES:
            if tells_kinds(table, items, name, varied):
                return name
    return None


def tells_kinds(table: bt.Table, items: Sequence[Item], name: str, varied: Collection[str]) -> bool:
    value_of: dict[Shape, str] = {}
    for item in items:
        value = item.get(name, {}).get("S")
        if not value or value_of.setdefault(shape_of(table, item, varied), value) != value:
            return False
    return True


def kinds_in(
    table: bt.Table, rows: Iterable[tuple[str, Item]], place: str, taken: set[str]
) -> Iterator[Kind]:
    """The kinds of a table's items; sets the table's type attribute if that distinguishes them."""
    placed = list(rows)
    items = [item for _, item in placed]
    varied = varied_attributes(table, items)
    table.type_attribute = type_attribute_of(table, items, varied)
    groups: dict[Shape, list[tuple[str, Item]]] = {}
    for where, item in placed:
        groups.setdefault(group_of(table, item, varied), []).append((where, item))
    for group, members in groups.items():
        typed = group[0] if table.type_attribute else None
        name = class_name(typed or shape_name(table, group))
        if name in taken and not typed:
            name = class_name(" ".join(part.strip(DELIMITERS) for part in group), taken)
        name = class_name(name, taken)
        taken.add(name)
        yield Kind(name, place, members, type_value=typed)


def group_of(table: bt.Table, item: Item, varied: Collection[str]) -> Shape:
    if table.type_attribute:
        return (str(item[table.type_attribute]["S"]),)
    return shape_of(table, item, varied)


def shape_name(table: bt.Table, shape: Shape) -> str:
    """A name for a kind from its key: `CUSTOMER#`, `#ORDER#` is an order."""
    parts = [part.strip(DELIMITERS) for part in shape]
    partition, sort = (*parts, "")[:2]
    if sort and sort.lower() not in PLAIN_SORTS:
        return sort
    return partition or table.name
