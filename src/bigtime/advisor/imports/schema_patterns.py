"""Writes the access patterns of a schema.json as functions of the kit, or says why it cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from bigtime import model as bt
from bigtime.advisor.imports import names
from bigtime.advisor.imports.draft import (
    MAIN_TABLE,
    Draft,
    EntityDraft,
    FieldDraft,
    PatternDraft,
    TableDraft,
    ViewDraft,
)
from bigtime.advisor.imports.source import Members, member, objects

RANGES: Final = {
    ">=": "bt.at_least",
    "<=": "bt.at_most",
    ">": "bt.more_than",
    "<": "bt.less_than",
    "between": "bt.between",
    "begins_with": "bt.begins_with",
}


class Undecided(Exception):
    """Why a pattern could not be written."""


class Design(Protocol):
    """The tables and entities of a source, by the source's own names."""

    draft: Draft
    classes: dict[str, EntityDraft]
    table_of: dict[str, TableDraft]
    taken: set[str]
    """The class names in the module."""

    def type_of(self, known: Members, where: str) -> str: ...


def add_pattern(
    draft: Draft, name: str, place: str, source: Members, read: Callable[[], PatternDraft]
) -> None:
    """Adds the pattern, or keeps its source with the reason why it could not be written."""
    try:
        draft.patterns.append(read())
    except Undecided as error:
        draft.tell(place, f"the pattern {name} is not written ({error})", "write it by hand")
        draft.kept.append((place, repr(dict(source))))


@dataclass(slots=True)
class PatternReader:
    """Reads one access pattern of an entity."""

    schema: Design
    entity_name: str
    pattern: Members
    place: str

    @property
    def entity(self) -> EntityDraft:
        return self.schema.classes[self.entity_name]

    def add(self) -> None:
        name = member(self.pattern, "name", str, self.place)
        add_pattern(self.schema.draft, name, self.place, self.pattern, self.read)

    def read(self) -> PatternDraft:
        """The pattern; Undecided if it cannot be written."""
        name = member(self.pattern, "name", str, self.place)
        taken = {pattern.name for pattern in self.schema.draft.patterns}
        made = PatternDraft(
            names.function_name(name, taken),
            title_of(name),
            self.pattern.get("index_name") or MAIN_TABLE,
            str(self.pattern.get("description") or ""),
            self.place,
            (self.entity.name,),
            [],
            "",
            self.entity.name,
        )
        if "pattern_id" in self.pattern:
            made.title = f"{made.title} (#{self.pattern['pattern_id']})"
        self.fill(made)
        return made

    def fill(self, made: PatternDraft) -> None:
        operation = member(self.pattern, "operation", str, self.place)
        given = self.parameters()
        write = {
            "GetItem": self.fill_get,
            "PutItem": self.fill_put,
            "DeleteItem": self.fill_delete,
            "UpdateItem": self.fill_update,
            "Query": self.fill_query,
            "Scan": self.fill_scan,
        }.get(operation)
        if write is None:
            raise Undecided(f"{operation} is not written by the import")
        write(made, given)

    def parameters(self) -> dict[str, str]:
        """The types of the parameters, by their names in the schema."""
        return {
            member(each, "name", str, where): self.schema.type_of(each, where)
            for where, each in objects(self.pattern, "parameters", self.place)
        }

    def known_field(self, stored: str) -> FieldDraft | None:
        fields = self.entity.fields.values()
        return next((known for known in fields if known.stored == stored), None)

    def parameter(self, made: PatternDraft, name: str, kind: str, known: FieldDraft | None) -> str:
        """Declares a parameter, with the type of the field that it is compared with."""
        if known is not None and known.type != kind:
            self.schema.draft.tell(
                self.place,
                f"the parameter {name} is {kind}, and the field {known.stored} {known.type}",
                f"it takes {known.type}",
            )
            kind = known.type
        python = names.field_name(name)
        made.parameters.append((python, kind))
        return python

    def key_text(self, made: PatternDraft, given: Mapping[str, str]) -> str:
        fields = key_fields(self.entity, bt.MAIN)
        lacking = [name for name in fields if self.entity.fields[name].stored not in given]
        if lacking:
            raise Undecided(f"it has no parameter for {', '.join(lacking)} of the key")
        arguments = []
        for name in fields:
            known = self.entity.fields[name]
            value = self.parameter(made, known.stored, given[known.stored], known)
            arguments.append(f"{name}={value}")
        return f"{self.entity.name}.key({', '.join(arguments)})"

    def fill_get(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        consistent = ", consistent=True" if self.pattern.get("consistent_read") else ""
        made.body = f"bt.get({self.key_text(made, given)}{consistent})"
        made.result = f"{self.entity.name} | None"

    def fill_put(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        if list(given.values()) != [self.entity.name]:
            raise Undecided(f"it does not take one {self.entity.name}")
        name = self.parameter(made, next(iter(given)), self.entity.name, None)
        made.body = f"bt.put({name})"

    def fill_delete(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        made.body = f"bt.delete({self.key_text(made, given)})"
        made.result = f"{self.entity.name} | None"

    def fill_update(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        key = self.key_text(made, given)
        changes = []
        for name, kind in given.items():
            known = self.known_field(name)
            if known is None:
                raise Undecided(f"the parameter {name} is no field")
            if known.name not in key_fields(self.entity, bt.MAIN):
                changes.append(f"{known.name}={self.parameter(made, name, kind, known)}")
        if not changes:
            raise Undecided("it has no parameter for what it changes")
        made.body = f"bt.update({', '.join([key, *changes])})"

    def fill_scan(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        if given:
            raise Undecided("a scan takes no parameters")
        made.body = f"bt.scan_all({self.entity.name})"
        made.result = f"list[{self.entity.name}]"

    # Queries

    def fill_query(self, made: PatternDraft, given: Mapping[str, str]) -> None:
        index = self.pattern.get("index_name") or bt.MAIN
        if index not in self.entity.keys:
            raise Undecided(f"{self.entity.name} is not in the index {index}")
        partition = template_fields(self.entity.keys[index][0])
        sort = [
            name for name in template_fields(self.entity.keys[index][1]) if name not in partition
        ]
        rest = dict(given)
        arguments = []
        for name in partition:
            known = self.entity.fields[name]
            if known.stored not in rest:
                raise Undecided(f"it has no parameter for {known.stored} of the partition key")
            value = self.parameter(made, known.stored, rest.pop(known.stored), known)
            arguments.append(f"{name}={value}")
        arguments += self.sort_arguments(made, rest, sort)
        if self.pattern.get("return_type") == "mixed_data" and self.view_of(index) is None:
            self.write_collection(made, index, arguments)
        else:
            self.write_query(made, index, arguments)

    def sort_arguments(
        self, made: PatternDraft, rest: Mapping[str, str], sort: Sequence[str]
    ) -> Iterator[str]:
        """The leading sort key fields that are given, and the comparison of the next one."""
        left, fields = dict(rest), list(sort)
        while fields and (stored := self.entity.fields[fields[0]].stored) in left:
            if self.pattern.get("range_condition") and len(left) <= self.operands():
                break
            known = self.entity.fields[fields.pop(0)]
            yield f"{known.name}={self.parameter(made, stored, left.pop(stored), known)}"
        condition = self.pattern.get("range_condition")
        if not condition:
            if left:
                raise Undecided(f"nothing says what {', '.join(left)} is compared with")
            return
        if condition not in RANGES or not fields or len(left) != self.operands():
            raise Undecided(f"its range condition {condition!r} does not fit its parameters")
        known = self.entity.fields[fields[0]]
        values = [self.parameter(made, name, kind, known) for name, kind in left.items()]
        yield f"{known.name}={RANGES[condition]}({', '.join(values)})"

    def operands(self) -> int:
        return 2 if self.pattern.get("range_condition") == "between" else 1

    def write_query(self, made: PatternDraft, index: str, arguments: Sequence[str]) -> None:
        view = self.view_of(index)
        if view is None:
            within = f'{self.entity.name}.within("{index}", {", ".join(arguments)})'
            made.result = f"list[{self.entity.name}]"
        else:
            within = f"{view.name}.within({', '.join(arguments)})"
            made.result = f"list[{view.name}]"
            made.uses = (*made.uses, view.name)
        made.body = f"bt.all_of({within}{self.options()})"

    def options(self) -> str:
        order = ", newest_first=True" if self.pattern.get("newest_first") else ""
        return order + (", consistent=True" if self.pattern.get("consistent_read") else "")

    def write_collection(self, made: PatternDraft, index: str, arguments: Sequence[str]) -> None:
        """Writes a query for all entities of the table that share the partition."""
        table = self.schema.table_of[self.entity_name]
        mine = self.entity.keys[index][0]
        together = [
            each.name
            for each in table.entities
            if index in each.keys and each.keys[index][0] == mine
        ]
        within = f'bt.partition({self.entity.name}, "{index}", {", ".join(arguments)})'
        made.body = f"bt.collection({', '.join(together)}, within={within}{self.options()})"
        made.result = f"bt.Page[{' | '.join(together)}]"
        made.uses = tuple(together)

    def view_of(self, index: str) -> ViewDraft | None:
        """A view of what an index projects, if that is less than the whole entity."""
        table = self.schema.table_of[self.entity_name].table
        declared = table.index(index)
        if declared.projection == "ALL":
            return None
        keys = {attribute.name for attribute in (*table.main.attributes, *declared.attributes)}
        held = {*keys, *declared.include}
        in_keys = {*key_fields(self.entity, bt.MAIN), *key_fields(self.entity, index)}
        fields = [
            replace(known, is_required=known.is_required or known.name in in_keys)
            for known in self.entity.fields.values()
            if known.stored in held or known.name in in_keys
        ]
        if len(fields) == len(self.entity.fields):
            return None
        views = self.schema.draft.views
        for view in views:
            if (view.of, view.index) == (self.entity.name, index):
                return view
        name = names.class_name(f"{self.entity.name} in {index}", self.schema.taken)
        self.schema.taken.add(name)
        views.append(ViewDraft(name, self.entity.name, index, fields))
        return views[-1]


def title_of(name: str) -> str:
    return " ".join(word.capitalize() for word in names.words_of(name)) or name


def template_fields(templates: Sequence[str]) -> list[str]:
    return [name for text in templates for name in re.findall(r"\{(\w+)", text)]


def key_fields(entity: EntityDraft, index: str) -> list[str]:
    partition, sort = entity.keys[index]
    return list(dict.fromkeys(template_fields((*partition, *sort))))
