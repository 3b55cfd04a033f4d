"""Python names for the names in a source: attributes, tables, facets, patterns.

DynamoDB allows any text as an attribute name (`State#Date`, `class`, `2nd`); Python does not. A
name is split into words, joined in the style of its use, and changed if Python, pydantic or the
module itself already uses it.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Collection

from bigtime import model as bt

IMPORTED = (
    *("Annotated", "Any", "Decimal", "Iterator", "Literal", "Random", "UUID", "bt", "date"),
    "datetime",
)
TYPES = ("bool", "bytes", "dict", "int", "list", "set", "str")
"""Types that an entity's annotations use: a field of that name would hide them."""
CONSTANTS = ("SYSTEM",)
PROTECTED = ("model_dump", "model_validate")
"""Prefixes that no field of a pydantic model may have."""
RESERVED = ("main", "self", "cls", "index", "keys", "layout")
"""Names that an entity, or a call to it, already uses."""


def words_of(text: str) -> list[str]:
    """`ItemSKU` and `item-sku` both give item, sku."""
    plain = unicodedata.normalize("NFKC", text)
    parted = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", plain)
    return [word for word in re.split(r"[\W_]+", parted) if word]


def unique_name(name: str, taken: Collection[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def field_name(text: str, taken: Collection[str] = ()) -> str:
    """The name of a field: `state_date`, `class_`, `field_2nd`."""
    name = "_".join(words_of(text)).lower()
    if not name.isidentifier():
        name = f"field_{name}" if name else "field"
        name = name if name.isidentifier() else "field"
    if name.startswith(PROTECTED):
        name = f"field_{name}"
    hidden = hasattr(bt.Entity, name) or name in (*IMPORTED, *TYPES)
    if keyword.iskeyword(name) or name in RESERVED or hidden:
        name = f"{name}_"
    return unique_name(name, taken)


def class_name(text: str, taken: Collection[str] = ()) -> str:
    """The name of a class: `OrderItem`."""
    name = "".join(word[:1].upper() + word[1:] for word in map(lower_word, words_of(text)))
    if not name.isidentifier():
        name = f"Item{name}" if f"Item{name}".isidentifier() else "Item"
    if keyword.iskeyword(name) or name in IMPORTED or hasattr(builtins, name):
        name = f"{name}Entity"
    return unique_name(name, taken)


def lower_word(word: str) -> str:
    return word.lower() if word.isupper() and len(word) > 1 else word


def constant_name(text: str, taken: Collection[str] = ()) -> str:
    """The name of a constant: `CART_TABLE`."""
    name = "_".join(words_of(text)).upper()
    if not name.isidentifier() or keyword.iskeyword(name) or name in CONSTANTS:
        name = f"TABLE_{name}" if f"TABLE_{name}".isidentifier() else "TABLE"
    return unique_name(name, taken)


def function_name(text: str, taken: Collection[str] = ()) -> str:
    name = "_".join(words_of(text)).lower()
    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name):
        name = f"pattern_{name}" if f"pattern_{name}".isidentifier() else "pattern"
    return unique_name(name, (*taken, *IMPORTED, "sys", "sample_rows"))


def system_name(text: str) -> str:
    return "_".join(words_of(text)).lower() or "imported"


def naming_of(table: bt.Table, stored: Collection[tuple[str, str]]) -> None:
    """Gives a table the naming rule that most of its fields, as (name, stored name), follow."""
    rules = (bt.snake_case, bt.pascal_case, bt.camel_case)
    table.naming = max(
        rules, key=lambda rule: sum(rule(name) == attribute for name, attribute in stored)
    )
