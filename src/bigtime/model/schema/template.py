"""Key templates: `BRAND#{brand}#{created_at:day}` as an algebra of texts.

A template is a sequence of literals and fields, compiled once to four functions: encode (to key),
parse (key to fields), prefix (the leading fields to the beginning of their keys) and bounds (a
comparison of a field to a range of keys). They rest on these rules.

Rule 1, no two values share a key. A field either has a fixed width, or nothing follows it, or a
literal follows that begins with the delimiter `#`, which the field's own text never contains.
Reading from left to right, it is always certain where a field ends. Any other template is refused.

Rule 2, keys sort as their values do, field by field. Two keys agree up to the first field that
differs. Fields of one width then differ at some character, and text order is value order. Of two
texts of different widths, one may be the beginning of the other: there `#` meets a character of
the longer text, which is `$` (of an escape) or above. As `#` < `$`, the shorter text comes first,
as it should.

Rule 3, `$` closes a value. What follows a value v begins with `#`. The least text above all that
begins with `v#` is `v$`: no key equals it, because in a key `$` is followed by two hex digits; all
keys of v are below it; all keys of greater values are above it, because those that begin with v
continue with an escape, whose first character is that same `$`, or with a character above it. So
`v$` is a gap between the keys of v and those of the values after it. For a field of fixed width
not followed by `#`, the gap is the least text above all that begins with v.

Rule 4, an entity's keys are those that begin with its prefix; those of others do not (the design
is checked for it). So a comparison becomes a range of keys that starts at the prefix P at the
lowest and ends below its successor P+ (the least text above all that begin with P) at the
highest. Where P is empty, or the entity is alone in its partitions, that end is open.

    comparison      something follows the field     the field is last
    x = v           begins with P v and literal     P v
    x > v           P v$   <= key < P+              P v    <  key < P+
    x >= v          P v    <= key < P+              P v    <= key < P+
    x < v           P      <= key <= P v            P      <= key < P v
    x <= v          P      <= key <= P v$           P      <= key <= P v
    between v, w    P v    <= key <= P w$           P v    <= key <= P w
    begins with v   begins with P v                 begins with P v

P v where something must follow v, and P v$, are never keys, so it does not matter that DynamoDB's
BETWEEN includes them. Only P v of a last field, and P+, must be left out.

Two entities may share a beginning on purpose: `ORDER#{id}` and `ORDER#{id}#ITEM#{item}`. The
shorter is then `continued`: its last field is escaped as if something followed. A range over it
takes the keys of its values with everything that continues them; only `=` means its own key alone.

A bucketed field is compared by its bucket: with `{at:day}`, `at > v` means the days after v's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from bigtime.model.errors import ValueRefused
from bigtime.model.schema.bounds import OPERANDS, Operator, SortBounds, SortCondition, successor
from bigtime.model.schema.encoding import Role
from bigtime.model.schema.language import Language
from bigtime.model.schema.parts import (
    DELIMITER,
    Field,
    Part,
    compile_parts,
    fields_of,
    language_of,
    native_part,
    natural_type,
)
from bigtime.model.schema.table import KeyType

Encode: TypeAlias = Callable[[Mapping[str, Any]], str | None]


class KeyMismatch(ValueError):
    """A stored key that the template cannot have made."""


class Template:
    """A compiled key template. `encode` gives None when a field is None: the index is sparse.

    `type` is the type of the key attribute. Where it is N or B, the template is one bare field,
    and the attribute is that field's value, not text. If no type is given, a bare number is of
    type N, bare bytes are of type B, everything else is text. `lossy` are the bucketed fields,
    which cannot tell one item from another.
    """

    __slots__ = (
        "continued",
        "encode",
        "fields",
        "language",
        "lossy",
        "parts",
        "role",
        "text",
        "type",
    )

    encode: Encode

    def __init__(
        self,
        text: str,
        fields: Mapping[str, Any],
        *,
        role: Role,
        continued: bool = False,
        type: KeyType | None = None,
    ) -> None:
        self.text = text
        self.role: Role = role
        self.continued = continued
        self.type: KeyType = type or natural_type(text, fields)
        if self.type == "S":
            self.parts: tuple[Part, ...] = compile_parts(text, fields, role, continued=continued)
        else:
            self.parts = (native_part(text, fields, self.type),)
        fields_here = fields_of(self.parts)
        self.fields = tuple(field.name for field in fields_here)
        self.lossy = tuple(field.name for field in fields_here if field.encoding.lossy)
        self.language = language_of(self.parts)
        self.encode = encoder_of(text, self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash((self.text, self.role))  # without the language: readers hash it for each item

    def __repr__(self) -> str:
        return f"Template({self.text!r}, role={self.role!r}, continued={self.continued})"

    @property
    def identity(self) -> tuple[str, Role, bool, KeyType, Language]:
        return self.text, self.role, self.continued, self.type, self.language

    def parse(self, text: str) -> dict[str, Any]:
        """The fields of a key; for a bucketed field, the bucket's start."""
        try:
            values = self.decode(text)
            matches = self.encode(values) == text
        except ValueError:
            matches = False
        if not matches:
            raise KeyMismatch(f"{text!r} is no key of the template {self.text!r}")
        return values

    def decode(self, text: str) -> dict[str, Any]:
        """The fields, assuming the text is a key: `parse` encodes them again to make sure."""
        values: dict[str, Any] = {}
        start = 0
        for part in self.parts:
            if isinstance(part, str):
                start += len(part)
            else:
                end = self.end_of(part, text, start)
                values[part.name] = part.encoding.decode(text[start:end])
                start = end
        return values

    def end_of(self, field: Field, text: str, start: int) -> int:
        if field is self.parts[-1]:
            return len(text)
        return text.index(DELIMITER, start) if field.width is None else start + field.width

    def prefix(self, values: Mapping[str, Any]) -> str:
        """The prefix of all keys with these leading values; the whole key when all are given."""
        return self.leading_text(values)[0]

    def leading_text(self, values: Mapping[str, Any]) -> tuple[str, Field | None]:
        """The prefix of all keys with these values, and the first field that is not given."""
        check_leading(self, values)
        text = ""
        for part in self.parts:
            if isinstance(part, str):
                text += part
            elif part.name in values:
                text += part.text(values[part.name], self.text)
            else:
                return text, part
        return text, None

    def condition(
        self,
        values: Mapping[str, Any],
        operator: Operator | None = None,
        operands: Sequence[Any] = (),
        *,
        alone: bool = False,
    ) -> SortCondition | None:
        """The range of `bounds` as one condition; None for the whole partition."""
        return self.bounds(values, operator, operands, alone=alone).condition()

    def bounds(
        self,
        values: Mapping[str, Any],
        operator: Operator | None = None,
        operands: Sequence[Any] = (),
        *,
        alone: bool = False,
    ) -> SortBounds:
        """The range of keys with these leading values whose next field satisfies the comparison.

        Without an operator, all of them. `alone` says that no other entity is in the partition.
        """
        prefix, field = self.leading_text(values)
        guard = "" if alone and not values else prefix
        inside = SortBounds(guard or None, successor(guard), high_inclusive=False)
        if operator is None:
            return inside if field else SortBounds(prefix, prefix)
        field = check_comparison(self, field, operator, operands)
        if operator == "=":
            return self.bounds({**values, field.name: operands[0]})
        keys = [prefix + field.text(operand, self.text) for operand in operands]
        if keys[0] > keys[-1]:
            raise ValueRefused(f"field {field.name!r}: between takes the lower value first")
        return self.comparison_bounds(field, operator, keys, inside)

    def comparison_bounds(
        self, field: Field, operator: Operator, keys: Sequence[str], inside: SortBounds
    ) -> SortBounds:
        """The table in rule 4."""
        first, last = keys[0], field.last_of(keys[-1])
        match operator:
            case "<":
                return inside._replace(high=first, high_inclusive=field is not self.parts[-1])
            case "<=":
                return inside._replace(high=last, high_inclusive=True)
            case ">":
                return inside._replace(low=last, low_inclusive=field.closing is not None)
            case ">=":
                return inside._replace(low=first)
            case "begins_with":
                return SortBounds(first, successor(first), high_inclusive=False)
            case _:
                return SortBounds(first, last)


# What a caller may ask


def check_leading(template: Template, values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in template.fields:
            raise ValueRefused(f"the key {template.text!r} has no field {name!r}")
    for name in template.fields[: len(values)]:
        if name not in values:
            later = ", ".join(each for each in template.fields if each in values)
            raise ValueRefused(
                f"the key {template.text!r} cannot be asked by {later} alone: also give {name}, "
                "which stands before it"
            )


def check_comparison(
    template: Template, field: Field | None, operator: Operator, operands: Sequence[Any]
) -> Field:
    """The field to compare, if it supports that comparison."""
    if template.role == "partition":
        raise ValueRefused(f"the partition key {template.text!r} is only ever asked for whole")
    if field is None:
        raise ValueRefused(f"the key {template.text!r} has no field left to compare")
    where = f"field {field.name!r} of the key {template.text!r}"
    if len(operands) != OPERANDS[operator]:
        raise ValueRefused(f"{where}: {operator} takes {OPERANDS[operator]} operand(s)")
    if operator == "begins_with" and not field.encoding.textual:
        raise ValueRefused(f"{where} is not text: ask by its values, as with between")
    if operator != "=" and not field.encoding.ordered:
        raise ValueRefused(f"{where} gave up its order: pad it, as in {{n:08}}, to ask for a range")
    return field


# From fields to key, on the path of every write: a closure for each shape


def encoder_of(text: str, parts: Sequence[Part]) -> Encode:
    fields = fields_of(parts)
    literals = literals_of(parts)
    if not fields:
        return lambda values: text
    if len(fields) == 1:
        return one_field(text, fields[0], literals)
    if len(fields) == 2:
        return two_fields(text, fields, literals)
    return many_fields(text, fields, literals)


def literals_of(parts: Sequence[Part]) -> list[str]:
    """The literals before each field, and after the last."""
    literals = [""]
    for part in parts:
        if isinstance(part, str):
            literals[-1] = part
        else:
            literals.append("")
    return literals


def one_field(text: str, field: Field, literals: Sequence[str]) -> Encode:
    name, encode, is_plain = field.name, field.encoding.encode, field.encoding.is_plain
    head, tail = literals

    def encode_key(values: Mapping[str, Any]) -> str | None:
        value = values.get(name)
        if value is None:
            return None
        try:
            plain = type(value) is str and is_plain(value)
            key = head + (value if plain else encode(value)) + tail
        except ValueError:
            raise_refusal(text, [field], values)
            raise
        if not key:
            raise ValueRefused(f"field {name!r} of the key {text!r} is empty, and no key may be")
        return key

    return encode_key


def two_fields(text: str, fields: Sequence[Field], literals: Sequence[str]) -> Encode:
    (first, second), (head, middle, tail) = (field.name for field in fields), literals
    encode_first, encode_second = (field.encoding.encode for field in fields)
    is_first_plain, is_second_plain = (field.encoding.is_plain for field in fields)

    def encode_key(values: Mapping[str, Any]) -> str | None:
        one, two = values.get(first), values.get(second)
        if one is None or two is None:
            return None
        try:
            if not (type(one) is str and is_first_plain(one)):
                one = encode_first(one)
            if not (type(two) is str and is_second_plain(two)):
                two = encode_second(two)
            return f"{head}{one}{middle}{two}{tail}"
        except ValueError:
            raise_refusal(text, fields, values)
            raise

    return encode_key


def many_fields(text: str, fields: Sequence[Field], literals: Sequence[str]) -> Encode:
    head = literals[0]
    steps = [
        (field.name, field.encoding.encode, field.encoding.is_plain, after)
        for field, after in zip(fields, literals[1:], strict=True)
    ]

    def encode_key(values: Mapping[str, Any]) -> str | None:
        key = head
        try:
            for name, encode, is_plain, after in steps:
                value = values.get(name)
                if value is None:
                    return None
                plain = type(value) is str and is_plain(value)
                key += (value if plain else encode(value)) + after
        except ValueError:
            raise_refusal(text, fields, values)
            raise
        return key

    return encode_key


def raise_refusal(text: str, fields: Sequence[Field], values: Mapping[str, Any]) -> None:
    """Raises the error of the field that refused its value, with the field's name."""
    for field in fields:
        field.text(values[field.name], text)
