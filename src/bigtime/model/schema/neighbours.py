"""Checks that the entities of one table do not collide.

Entities share a table, and often partitions of it. Four things are checked when one is declared:

1. An attribute that is a key of several indexes (an inverted index, a local index) has one
   template: an item holds one value of it.
2. The main key tells items apart: not all of its fields may be in buckets.
3. No two entities can have the same main key: one would overwrite the other. The languages of
   their templates decide this, and give the shortest key that both could have.
4. In partitions that two entities share, the sort keys of one do not fall among those of the
   other by accident. `ORDER#{id}` and `ORDER#LATEST` do: a query for all that begins with
   `ORDER#` gets both. Two shapes diverge on purpose where a literal meets another literal, or
   where one ends and the other goes on: `TEAM#{team}`, `TEAM#{team}#MEMBER#{name}` and
   `TEAM#{team}#PROJECT#{id}` are a hierarchy. They diverge by accident where one has a field and
   the other a literal. Where nothing at all precedes the field, a query for everything reads
   the whole partition; then it matters only whether the literal could be a value of the field.
   Two entities of one shape in a secondary index are interleaved on purpose, as in a feed.

A last field is written raw unless another entity's template continues it; `continued_by` returns
those that are continued. Escaping is decided per attribute, not per index, because of rule 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.schema.language import ANY_CHARACTER, common_text, repetition_of
from bigtime.model.schema.parts import Field, language_of
from bigtime.model.schema.table import MAIN

if TYPE_CHECKING:
    from bigtime.model.schema.keys import EntityKey, KeyPart
    from bigtime.model.schema.layout import Layout
    from bigtime.model.schema.table import Index
    from bigtime.model.schema.template import Template

Token: TypeAlias = str | Field | None
"""One character of a literal, a field, or the end."""


def continued_by(layout: Layout, layouts: Sequence[Layout]) -> frozenset[tuple[str, str]]:
    """The keys, as (index, attribute), whose last field another entity's template continues."""
    attributes = {
        mine.attribute.name
        for other in layouts
        if other is not layout
        for name, key in layout.keys.items()
        if name in other.keys
        for mine, theirs in zip(key.parts, other.keys[name].parts, strict=True)
        if continues(theirs.template, mine.template)
    }
    return frozenset(
        (name, part.attribute.name)
        for name, key in layout.keys.items()
        for part in key.parts
        if part.attribute.name in attributes
    )


def continues(longer: Template, shorter: Template) -> bool:
    """Whether a template continues after the point where the other ends with a field."""
    ours, theirs = first_difference(shorter, longer)
    return ours is None and theirs is not None and isinstance(shorter.parts[-1], Field)


def check_neighbours(layout: Layout, others: Sequence[Layout]) -> None:
    """Checks an entity by itself, and against each one already in the table."""
    check_one_template(layout)
    check_tells_apart(layout)
    for other in others:
        check_collision(layout, other)
        for name in layout.keys:
            if name in other.keys:
                check_strays(layout, other, name)


def is_alone(layout: Layout, index: str) -> bool:
    """Whether no other entity has items in the entity's partitions of an index."""
    return has_alone(layout, index, len(layout.table.entities))


@lru_cache(maxsize=1024)
def has_alone(layout: Layout, index: str, entities: int) -> bool:
    """The answer of `is_alone`, cached until the table has more entities."""
    others = (entity.layout for entity in layout.table.entities if entity.layout is not layout)
    there = [other for other in others if may_be_in(layout.table.index(index), other)]
    return not any(
        index not in each.keys or share_partitions(layout.keys[index], each.keys[index])
        for each in there
    )


def may_be_in(index: Index, layout: Layout) -> bool:
    """Whether an index can hold an entity's items; an inverted one does, without being declared."""
    stored = {part.attribute.name for key in layout.keys.values() for part in key.parts}
    return stored.union(layout.names.values()).issuperset(
        attribute.name for attribute in index.attributes
    )


def check_one_template(layout: Layout) -> None:
    seen: dict[str, KeyPart] = {}
    for part in chain.from_iterable(key.parts for key in layout.keys.values()):
        before = seen.setdefault(part.attribute.name, part)
        if before.template.text != part.template.text:
            raise DesignError(
                f"{layout.entity.__name__}: attribute {part.attribute.name} is a key of two"
                f" indexes, with the templates {before.template.text!r} and"
                f" {part.template.text!r}; give both the same"
            )


def check_tells_apart(layout: Layout) -> None:
    key = layout.keys[MAIN]
    exact = {name for part in key.parts for name in part.template.fields} - set(lossy(key.parts))
    if key.fields and not exact:
        texts = ", ".join(repr(part.template.text) for part in key.parts)
        raise DesignError(
            f"{layout.entity.__name__}: all fields of its main key ({texts}) are in buckets, so two"
            " items of one bucket would be one; add a field that tells them apart, or declare a"
            " field that is the bucket itself, such as `day: date`"
        )


def lossy(parts: Sequence[KeyPart]) -> tuple[str, ...]:
    """The fields that these keys hold only as buckets."""
    exact = {
        name for part in parts for name in part.template.fields if name not in part.template.lossy
    }
    return tuple(name for part in parts for name in part.template.lossy if name not in exact)


def check_collision(layout: Layout, other: Layout) -> None:
    examples = []
    for mine, theirs in zip(layout.keys[MAIN].parts, other.keys[MAIN].parts, strict=True):
        example = common_text(mine.template.language, theirs.template.language)
        if example is None:
            return
        native = mine.attribute.type != "S"
        examples.append(f"{mine.attribute.name} = {'any' if native else repr(example)}")
    templates = " and ".join(
        f"{each.entity.__name__} ({', '.join(key.template.text for key in each.keys[MAIN].parts)})"
        for each in (layout, other)
    )
    raise DesignError(
        f"{templates} can have the same main key, such as {', '.join(examples)}: one would"
        f" overwrite the other; begin them with different literals, such as"
        f" '{layout.entity.__name__.upper()}#...'"
    )


def check_strays(layout: Layout, other: Layout, index: str) -> None:
    """Rule 4, in one index."""
    mine, theirs = layout.keys[index], other.keys[index]
    if not share_partitions(mine, theirs):
        return
    for part, its in zip(mine.range, theirs.range, strict=True):
        if part.form is not None or its.form is not None:
            continue
        if strays(part.template, its.template):
            raise DesignError(
                f"{layout.entity.__name__} and {other.entity.__name__} share partitions of"
                f" {index}, and the keys of one fall among those of the other:"
                f" {part.template.text!r}, {its.template.text!r}; begin them with different"
                " literals"
            )


def share_partitions(one: EntityKey, other: EntityKey) -> bool:
    return all(
        common_text(mine.template.language, theirs.template.language) is not None
        for mine, theirs in zip(one.hash, other.hash, strict=True)
    )


def strays(one: Template, other: Template) -> bool:
    here, there = first_difference(one, other)
    if isinstance(here, Field) == isinstance(there, Field):
        return False
    field, fielded, plain = (here, one, other) if isinstance(here, Field) else (there, other, one)
    if fielded.parts[0] is not field:
        return True
    values = language_of(fielded.parts[:2]) + repetition_of((ANY_CHARACTER,))
    return common_text(values, plain.language) is not None


def first_difference(one: Template, other: Template) -> tuple[Token, Token]:
    """The tokens at which two shapes first differ; any two fields count as equal."""
    for here, there in zip_longest(tokens(one), tokens(other)):
        if isinstance(here, Field) and isinstance(there, Field):
            continue
        if here != there:
            return here, there
    return None, None


def tokens(template: Template) -> Iterator[str | Field]:
    for part in template.parts:
        if isinstance(part, Field):
            yield part
        else:
            yield from part
