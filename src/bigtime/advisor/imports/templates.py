"""Infers the fields and key templates of a kind of items from what its sample rows have in common.

A key attribute of type N or B is a field. The texts of one of type S are split at `#`. A part that
all rows share and that looks like a label is a literal. Any other part is a field:

1. the field whose attribute equals that text in every row, or equals it as a number;
2. otherwise the field that another key has in the same place, or with the same texts;
3. otherwise a new field, which is stored only in its key, and named after the label before it.

Text that something follows is escaped in a key, so a part whose texts would need escapes is joined
with everything after it into a last field, which is written unchanged. If rows have different
numbers of parts, everything after the labels is one field.

An index that holds only some rows holds them while a field has a certain value, if there is one
that only these rows have; otherwise its key attributes are optional fields.

An alias of a key attribute helps: if it contains `{...}` it is the template, `USER#name` names a
label and a field, and a plain word names the field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from bigtime import model as bt
from bigtime.advisor.imports.draft import Draft, EntityDraft, FieldDraft
from bigtime.advisor.imports.kinds import LABEL, WORD, Kind, is_constant, is_role_name, prefix_of
from bigtime.advisor.imports.names import field_name, words_of
from bigtime.wire import AttributeValue, Item

ENOUGH: Final = 20
"""What this many items of a partial sample have in common is assumed of all items."""
ESCAPED: Final = {"partition": re.compile("[#$]"), "sort": re.compile("[\0-$]")}
ESCAPE: Final = re.compile(r"\$([0-9A-F]{2})")
MOST_CHOICES: Final = 5
"""The most values of a field that decides whether an index holds an item."""
FIELD: Final = re.compile(r"\{([^{}:]*)(:[^{}]*)?\}")
TIME_FORMATS: Final = ("seconds", "millis", "hour", "day", "month")
SCALARS: Final = {
    "S": "str",
    "BOOL": "bool",
    "B": "bytes",
    "L": "list[Any]",
    "M": "dict[str, Any]",
    "SS": "set[str]",
    "NS": "set[Decimal]",
    "BS": "set[bytes]",
    "N": "Decimal",
}


def type_of(values: Iterable[AttributeValue]) -> str:
    """The type of a field with these values, as source."""
    found = {tag: content for value in values for tag, content in value.items()}
    if len(found) != 1:
        return "Any"
    return SCALARS.get(next(iter(found)), "Any")


def number_type(values: Iterable[AttributeValue]) -> str:
    return "int" if all(is_whole(value.get("N")) for value in values) else "Decimal"


def is_whole(text: object) -> bool:
    try:
        number = Decimal(str(text))
        return number == number.to_integral_value()
    except InvalidOperation:
        return False


@dataclass(slots=True)
class Inference:
    """An entity being inferred from its sample rows."""

    draft: Draft
    table: bt.Table
    kind: Kind
    entity: EntityDraft
    templates: dict[str, str] = field(default_factory=dict)
    """The templates by key attribute."""
    parts: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    """The fields that are only in keys, by the label before them and their texts."""

    items: list[Item] = field(default_factory=list)
    """The rows under consideration: all, or those that an index holds."""

    def column(self, attribute: str) -> list[AttributeValue | None]:
        return [item.get(attribute) for item in self.items]

    def values(self, attribute: str) -> list[AttributeValue]:
        return [value for value in self.column(attribute) if value is not None]

    def is_sure(self, column: Sequence[object]) -> bool:
        """Whether what these rows have in common may be assumed of all items."""
        return self.kind.is_complete or len(column) >= ENOUGH

    def has_always(self, attribute: str) -> bool:
        column = self.column(attribute)
        return bool(column) and self.is_sure(column) and None not in column

    # Fields

    def add_field(self, stored: str, type: str, *, required: bool, wish: str = "") -> str:
        name = field_name(wish or stored, self.entity.fields)
        self.entity.fields[name] = FieldDraft(name, stored, type, required)
        return name

    def stored_field(self, attribute: str, *, required: bool, type: str = "") -> str:
        """The field stored in an attribute; created if missing."""
        for name, known in self.entity.fields.items():
            if known.stored == attribute:
                known.is_required = known.is_required or required
                return name
        values = self.values(attribute)
        kind = type_of(values) if values else SCALARS.get(type, "Any")
        if kind == "Decimal" and values and self.is_sure(values):
            kind = number_type(values)
        return self.add_field(attribute, kind, required=required)

    def plain_fields(self) -> None:
        """Adds a field for every attribute except keys and the type attribute."""
        keys = self.table.indexed_names
        attributes = dict.fromkeys(name for item in self.items for name in item)
        for name in {**attributes, **dict.fromkeys(self.kind.listed)}:
            if name not in keys and name != self.table.type_attribute:
                self.stored_field(
                    name, required=self.has_always(name), type=self.kind.listed.get(name, "")
                )

    # Keys

    def key_fields(self) -> None:
        main = self.table.main.attributes
        for attribute in main:
            self.templates[attribute.name] = self.template(attribute, required=True)
        for attribute in self.whole_index_attributes():
            if attribute.name not in self.templates:
                self.templates[attribute.name] = self.template(attribute, required=True)
        for index in self.table.indexes:
            self.sparse_templates(index)
        for attribute in bt.key_attributes(self.table):
            there = self.values(attribute.name) or attribute.name in self.kind.listed
            if attribute.name not in self.templates and there:
                name = self.stored_field(attribute.name, required=False, type=attribute.type)
                self.templates[attribute.name] = f"{{{name}}}"

    def whole_index_attributes(self) -> Iterator[bt.Attribute]:
        """The key attributes of indexes that hold every row."""
        for index in self.table.indexes:
            names = [attribute.name for attribute in index.attributes]
            given = [self.kind.aliases.get(f"{index.name} {name}", "") for name in names]
            if all(given) or (self.items and all(None not in self.column(name) for name in names)):
                yield from index.attributes

    def sparse_templates(self, index: bt.Index) -> None:
        """Infers the templates of an index that holds some rows, if a field says which."""
        names = [each.name for each in index.attributes if each.name not in self.templates]
        held = [item for item in self.items if all(name in item for name in names)]
        if not names or not held or any(each.type != "S" for each in index.attributes):
            return
        there = {id(item) for item in held}
        others = [item for item in self.items if id(item) not in there]
        if any(name in item for item in others for name in names):
            return
        only = self.deciding_field(held, others)
        if only is None:
            return
        before, known = self.items, dict(self.entity.fields)
        self.items = held
        made = {each.name: self.template(each, required=True) for each in index.attributes}
        self.items = before
        if self.entity.fields.keys() != known.keys():  # its key has parts that no attribute stores
            self.entity.fields = known
            return
        self.templates.update({name: made[name] for name in names})
        self.entity.only[index.name] = only

    def deciding_field(self, held: list[Item], others: list[Item]) -> dict[str, object] | None:
        """The field and values that exactly the rows in an index have."""
        for name, known in self.entity.fields.items():
            if known.type not in ("bool", "str") or not self.has_always(known.stored):
                continue
            tag = "BOOL" if known.type == "bool" else "S"
            held_values = {item[known.stored][tag] for item in held}
            other_values = {item[known.stored][tag] for item in others}
            if (
                len(held_values | other_values) <= MOST_CHOICES
                and other_values
                and not held_values & other_values
            ):
                return {
                    name: held_values.pop() if len(held_values) == 1 else tuple(sorted(held_values))
                }
        return None

    def map_indexes(self) -> None:
        for index in (self.table.main, *self.table.indexes):
            if all(attribute.name in self.templates for attribute in index.attributes):
                self.entity.enter_index(index, self.templates)

    def template(self, attribute: bt.Attribute, *, required: bool) -> str:
        name, alias = attribute.name, self.alias(attribute.name)
        if attribute.type != "S":
            stored = self.stored_field(name, required=required, type=attribute.type)
            return f"{{{stored}}}"
        if "{" in alias:
            return self.given_template(alias)
        texts = [str(value["S"]) for value in self.values(name) if "S" in value]
        if texts and {*texts} == {alias}:  # a constant, the same in every row
            return alias
        if "#" in name or (not texts and "#" in alias):
            return self.named_template(name, alias or name, texts)
        if not texts or any(character in text for text in texts for character in "{}"):
            return self.whole_field(name, alias)
        return self.sampled_template(name, alias, texts)

    def alias(self, attribute: str) -> str:
        aliases = self.kind.aliases
        names = (attribute, *(f"{index.name} {attribute}" for index in self.table.indexes))
        found = next((aliases[name] for name in names if name in aliases), "")
        return "" if found == attribute else found

    def whole_field(self, attribute: str, wish: str = "") -> str:
        """A template of one field: the whole attribute."""
        before = len(self.entity.fields)
        name = self.stored_field(attribute, required=True, type="S")
        if wish and len(self.entity.fields) > before and is_role_name(attribute):
            made = self.entity.fields.pop(name)
            name = self.add_field(attribute, made.type, required=True, wish=wish)
        return f"{{{name}}}"

    def given_template(self, text: str) -> str:
        """A template given in the source; its fields are attributes, or only in the key."""

        def replace_field(found: re.Match[str]) -> str:
            name, format = self.field_called(found[1]), found[2] or ""
            self.retype(name, format.removeprefix(":"))
            return f"{{{name}{format}}}"

        return FIELD.sub(replace_field, text)

    def field_called(self, text: str) -> str:
        """The field with that name, or that attribute name; created if missing."""
        wanted = field_name(text)
        for name, known in self.entity.fields.items():
            if text in (name, known.stored) or wanted == name:
                return name
        keys = {attribute.name: attribute.type for attribute in bt.key_attributes(self.table)}
        if text in keys:
            required = text in self.table.key_names or self.has_always(text)
            return self.stored_field(text, required=required, type=keys[text])
        return self.add_field("", "str", required=True, wish=text)

    def retype(self, name: str, format: str) -> None:
        """Gives a field the type that its key format requires."""
        known = self.entity.fields[name]
        if re.fullmatch(r"0\d+|plain", format):
            known.type = "int"
        elif format in TIME_FORMATS:
            known.type = self.time_type(known.stored)

    def time_type(self, attribute: str) -> str:
        texts = [str(value.get("S", "")) for value in self.values(attribute)] if attribute else []
        if any(value.get("N") for value in self.values(attribute)):
            return "Annotated[datetime, bt.EpochSeconds]"
        if texts and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for text in texts):
            return "date"
        widths = {len(text) for text in texts}
        units = {20: "bt.Seconds", 24: "bt.Millis"}
        unit = units.get(widths.pop()) if len(widths) == 1 else None
        return f"Annotated[datetime, {unit}]" if unit else "datetime"

    def limit_fields(self) -> None:
        """Limits fields to their known values, and indexes to the values that they hold."""
        for attribute, texts in self.kind.choices.items():
            self.entity.fields[self.field_called(attribute)].type = f"Literal[{quote_all(texts)}]"
        for index, only in self.kind.only.items():
            if index in self.entity.keys:
                self.entity.only[index] = {
                    self.field_called(name): value for name, value in only.items()
                }

    # Keys whose attribute or alias names their fields

    def named_template(self, attribute: str, names: str, texts: Sequence[str]) -> str:
        """A template from an attribute's own name that names its parts, such as `Status#Date`."""
        wishes = names.split("#")
        if any(text.count("#") < len(wishes) - 1 for text in texts):
            return self.whole_field(attribute)
        columns = list(zip(*(text.split("#", len(wishes) - 1) for text in texts), strict=True))
        columns = columns or [()] * len(wishes)
        if not self.are_closed(attribute, columns[:-1]):
            return self.whole_field(attribute)
        columns = [*map(unescape, columns[:-1]), columns[-1]]
        pieces = [
            wish if is_label(wish, column) else f"{{{self.named_part(attribute, wish, column)}}}"
            for wish, column in zip(wishes, columns, strict=True)
        ]
        return "#".join(pieces)

    def are_closed(self, attribute: str, columns: Iterable[Sequence[str]]) -> bool:
        """Whether texts that something follows are escaped exactly as the kit escapes them."""
        sorts = (
            each.name for index in (self.table.main, *self.table.indexes) for each in index.range
        )
        escaped = ESCAPED["sort" if attribute in sorts else "partition"]
        return all(
            escaped.sub(lambda found: f"${ord(found[0]):02X}", plain) == text
            for column in columns
            for text, plain in zip(column, unescape(column), strict=True)
        )

    def named_part(self, attribute: str, wish: str, column: Sequence[str]) -> str:
        for name, known in self.entity.fields.items():
            if (
                known.type == "str"
                and "".join(words_of(known.stored)).lower() == "".join(words_of(wish)).lower()
            ):
                known.is_required = True
                self.follow_key(attribute, known, column)
                return name
        return self.part_field(wish, tuple(column), wish=wish)

    def follow_key(self, attribute: str, known: FieldDraft, column: Sequence[str]) -> None:
        """If an attribute disagrees with the key, uses the key, and adds a note."""
        for number, text in enumerate(column):
            place, item = self.kind.rows[number]
            there = item.get(known.stored, {}).get("S")
            if there is not None and there != text:
                self.draft.tell(
                    place,
                    f"{known.stored} is {there!r}, and {attribute} says {text!r}",
                    "the key wins; correct the row if the attribute is right",
                )
            self.kind.rows[number] = (place, {**item, known.stored: {"S": text}})

    # Keys inferred from their rows

    def sampled_template(self, attribute: str, alias: str, texts: list[str]) -> str:
        if not all("#" in text for text in texts):
            return self.prefixed_template(attribute, alias, texts)
        counts = {text.count("#") for text in texts}
        columns = list(zip(*(text.split("#", min(counts)) for text in texts), strict=True))
        labels = leading_labels(columns)
        rest = [tuple(column) for column in columns[len(labels) :]]
        if len(counts) > 1 or not self.are_closed(attribute, rest[:-1]):
            rest = [tuple("#".join(parts) for parts in zip(*rest, strict=True))] if rest else []
        rest = [*map(unescape, rest[:-1]), *rest[-1:]]
        if not labels and len(rest) <= 1:
            return self.whole_field(attribute, alias)
        wishes = [word for word in alias.split("#") if word and not LABEL.fullmatch(word)]
        return "#".join([*labels, *self.pieces(attribute, labels, rest, wishes)])

    def pieces(
        self,
        attribute: str,
        labels: Sequence[str],
        rest: Sequence[tuple[str, ...]],
        wishes: Sequence[str],
    ) -> Iterator[str]:
        label = labels[-1] if labels else ""
        number = 0
        for column in rest:
            if is_label(column[0], column):
                label = column[0]
                yield label
                continue
            wish = wishes[number] if number < len(wishes) else ""
            number += 1
            yield f"{{{self.part(label or attribute, column, wish)}}}"

    def prefixed_template(self, attribute: str, alias: str, texts: list[str]) -> str:
        """The template of a key without `#`: a constant, a word and one field, or a field."""
        if is_role_name(attribute):
            if len(set(texts)) == 1 and self.is_literal(attribute, texts):
                return texts[0]
            prefixes = {prefix_of(text) for text in texts}
            prefix = prefixes.pop() if len(prefixes) == 1 else None
            if prefix and "#" not in prefix:
                rest = tuple(text.removeprefix(prefix) for text in texts)
                if all(rest):
                    return f"{prefix}{{{self.part(prefix, rest, alias)}}}"
            if alias == "":
                found = self.equal_field(tuple(texts), attribute)
                if found and found in self.entity.fields:
                    return f"{{{found}}}"
        return self.whole_field(attribute, alias)

    def is_literal(self, attribute: str, texts: Sequence[str]) -> bool:
        """Whether the single text that all rows share is a literal, not a value.

        Rows that share a sort key are in different partitions, so it is a label of their kind.
        """
        if is_constant(texts[0]):
            return True
        is_sort = attribute in self.table.key_names[1:]
        is_shared = is_sort and len(texts) > 1 and self.is_sure(texts)
        return is_shared and WORD.fullmatch(texts[0]) is not None

    def part(self, label: str, column: tuple[str, ...], wish: str = "") -> str:
        """A part of a key as a template field with its format."""
        return self.equal_field(column, wish or label) or self.part_field(label, column, wish=wish)

    def equal_field(self, column: tuple[str, ...], label: str) -> str | None:
        """The field whose attribute has these texts or numbers; of several, the closest in name."""
        found = []
        for name, known in self.entity.fields.items():
            format = equal_format(known, self.column(known.stored), column)
            if format is not None:
                is_like = words_of(label.lower())[:1] == words_of(known.name)[:1]
                found.append((not is_like, f"{name}{format}", known))
        if not found:
            return None
        _, text, known = min(found, key=lambda each: each[0])
        known.is_required = True
        if known.type == "Decimal":
            known.type = "int"
        return text

    def part_field(self, label: str, column: tuple[str, ...], *, wish: str = "") -> str:
        """A field that is only in keys."""
        words = "_".join(words_of(label)).lower()
        for (before, texts), name in self.parts.items():
            if texts == column and (before == words or len(set(column)) > 1):
                return name
        known = self.parts.get((words, column))
        if known is None:
            known = self.add_field("", "str", required=True, wish=wish or part_wish(label, column))
            self.parts[words, column] = known
        return known


def unescape(column: Sequence[str]) -> tuple[str, ...]:
    return tuple(ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) for text in column)


def quote_all(texts: Iterable[str]) -> str:
    return ", ".join(json.dumps(text) for text in texts)


def part_wish(label: str, column: Sequence[str]) -> str:
    """A name for a part of a key, from the label before it."""
    if column and all(re.match(r"\d{4}-\d\d-\d\d", text) for text in column):
        return "date" if all(len(text) == 10 for text in column) else "timestamp"
    words = words_of(label)
    return "_".join([*words, "id"]) if words and not is_role_name(label) else f"{label} part"


def is_label(text: str, column: Sequence[str]) -> bool:
    """Whether a part of a key is a literal: empty, or an upper-case word that all rows share."""
    return set(column) <= {text} and (not text or LABEL.fullmatch(text) is not None)


def leading_labels(columns: Sequence[Sequence[str]]) -> list[str]:
    """The literals at the start of the keys; the first may be any word."""
    labels: list[str] = []
    for column in columns:
        text = column[0]
        is_first = not any(labels) and len(set(column)) == 1 and WORD.fullmatch(text) is not None
        if not (is_first or is_label(text, column)):
            break
        labels.append(text)
    return labels


def equal_format(
    known: FieldDraft, values: Sequence[AttributeValue | None], column: Sequence[str]
) -> str | None:
    """The format in which a field's values are written as these texts; None if there is none."""
    if not known.stored or not column or None in values or len(values) != len(column):
        return None
    there = [value or {} for value in values]
    if known.type == "str" and [value.get("S") for value in there] == list(column):
        return ""
    if known.type not in ("int", "Decimal") or not all(is_whole(each.get("N")) for each in there):
        return None
    numbers = [int(Decimal(value["N"])) for value in there]
    if [str(number) for number in numbers] == list(column):
        return ":plain"
    widths = {len(text) for text in column}
    width = widths.pop()
    if not widths and [f"{number:0{width}}" for number in numbers] == list(column):
        return f":0{width}" if width < 100 and min(numbers) >= 0 else None
    return None


def infer_entity(draft: Draft, table: bt.Table, kind: Kind) -> EntityDraft:
    entity = EntityDraft(kind.name, kind.about, kind.place, type_value=kind.type_value)
    work = Inference(draft, table, kind, entity, items=[item for _, item in kind.rows])
    work.plain_fields()
    work.key_fields()
    work.map_indexes()
    work.limit_fields()
    entity.rows = kind.rows
    return entity
