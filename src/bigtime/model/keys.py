"""The key templates of an entity, as they are declared and as they lie in its table.

`Keys(main=("DEAL#{deal_id}", "DEAL#{deal_id}"), GSI1=(...))` has a template per key attribute of
the table (`main`) and of each index that holds the entity. A half of several attributes is a
tuple of templates. An index that is not named does not hold the entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.model.attribute import Stored
from bigtime.model.errors import DesignError
from bigtime.model.table import MAIN, Attribute, Index, Table
from bigtime.model.template import Template, TemplateError
from bigtime.wire import AttributeValue, Item

HalfText: TypeAlias = str | tuple[str, ...]


class Keys:
    """Templates by index name; each is a partition template, or that and a sort template."""

    __slots__ = ("declared",)

    def __init__(self, main: str | tuple[HalfText, ...], **indexes: str | tuple[HalfText, ...]):
        self.declared: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
            name: halves(name, given) for name, given in {MAIN: main, **indexes}.items()
        }


def halves(name: str, given: str | tuple[HalfText, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pair = (given,) if isinstance(given, str) else given
    if not 1 <= len(pair) <= 2:
        raise DesignError(
            f"keys of {name}: give a partition template, or a partition and a sort template"
        )
    texts = [(half,) if isinstance(half, str) else half for half in pair]
    return texts[0], texts[1] if len(texts) == 2 else ()


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One key attribute of one index, and how an entity fills it.

    `form` is the stored form of the field, where the attribute is that field itself: a number,
    bytes, or a text attribute that the table and the entity name alike.
    """

    attribute: Attribute
    template: Template
    form: Stored | None

    def value(self, fields: Mapping[str, Any]) -> AttributeValue | None:
        """The attribute; None when a field is missing, so that the index stays sparse."""
        if self.form is not None:
            given = fields.get(self.template.fields[0])
            return None if given is None else self.form.write(given)
        text = self.template.encode(fields)
        return None if text is None else {"S": text}

    def parse(self, value: AttributeValue) -> dict[str, Any]:
        """The fields that a stored key attribute tells."""
        if self.form is not None:
            return {self.template.fields[0]: self.form.reading(value)}
        return self.template.parse(value["S"])


@dataclass(frozen=True, slots=True)
class EntityKey:
    """How an entity lies in one index."""

    index: Index
    hash: tuple[KeyPart, ...]
    range: tuple[KeyPart, ...]

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        return self.hash + self.range

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field that takes part, in the order of the templates."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.template.fields))

    def attributes(self, fields: Mapping[str, Any]) -> Item | None:
        """The key attributes; None when the entity is not in this index."""
        item: Item = {}
        for part in self.parts:
            value = part.value(fields)
            if value is None:
                return None
            item[part.attribute.name] = value
        return item


def entity_keys(
    entity: str,
    table: Table,
    keys: Keys,
    fields: Mapping[str, Any],
    forms: Mapping[str, Stored],
    *,
    continued: frozenset[tuple[str, str]] = frozenset(),
) -> dict[str, EntityKey]:
    """Compiles the templates; `continued` are (index, attribute) whose last field must close."""
    compiled = {}
    sorting = {one.name for index in (table.main, *table.indexes) for one in index.range}
    for name, (hash_texts, range_texts) in keys.declared.items():
        index = table.index(name)
        check_counts(entity, index, hash_texts, range_texts)
        compiled[name] = EntityKey(
            index,
            tuple(
                # An attribute that another index sorts by has one value: the one that sorts.
                key_part(
                    entity,
                    index,
                    attribute,
                    text,
                    "sort" if attribute.name in sorting else "partition",
                    fields,
                    forms,
                    continued,
                )
                for attribute, text in zip(index.hash, hash_texts, strict=True)
            ),
            tuple(
                key_part(entity, index, attribute, text, "sort", fields, forms, continued)
                for attribute, text in zip(index.range, range_texts, strict=True)
            ),
        )
    return compiled


def check_counts(
    entity: str, index: Index, hash_texts: tuple[str, ...], range_texts: tuple[str, ...]
) -> None:
    for role, attributes, texts in (
        ("partition", index.hash, hash_texts),
        ("sort", index.range, range_texts),
    ):
        if len(attributes) != len(texts):
            names = ", ".join(one.name for one in attributes) or "none"
            raise DesignError(
                f"{entity}: index {index.name} has {len(attributes)} {role} key attribute(s)"
                f" ({names}) and {len(texts)} template(s); give one for each"
            )


def key_part(
    entity: str,
    index: Index,
    attribute: Attribute,
    text: str,
    role: Any,
    fields: Mapping[str, Any],
    forms: Mapping[str, Stored],
    continued: frozenset[tuple[str, str]],
) -> KeyPart:
    try:
        template = Template(
            text,
            fields,
            role=role,
            continued=(index.name, attribute.name) in continued,
            type=attribute.type,
        )
    except TemplateError as error:
        raise DesignError(f"{entity}, index {index.name}, key {attribute.name}: {error}") from None
    form = forms[template.fields[0]] if template.is_bare else None
    if attribute.type != "S" and (form is None or form.tag != attribute.type):
        raise DesignError(
            f"{entity}, index {index.name}: key {attribute.name} is of type {attribute.type}; its"
            f" template must be one field of that type alone, not {text!r}"
        )
    native = form if form is not None and attribute.type != "S" else None
    return KeyPart(attribute, template, native)
