"""The generator's schema.json: tables, entities with templates, and access patterns.

Templates have `{field}` only. A key that is one field of a number type is of type N; a number
inside a longer template is written as the generator does, without padding. Where an index does not
project all that an entity has, its queries return a view. A parameter that is compared with a
field has the field's type, whatever the schema says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bigtime import model as bt
from bigtime.advisor.imports import names
from bigtime.advisor.imports.draft import (
    MAIN_TABLE,
    CannotImport,
    Draft,
    EntityDraft,
    FieldDraft,
    PatternDraft,
    TableDraft,
    ViewDraft,
)
from bigtime.advisor.imports.source import (
    Members,
    check_unique,
    inside,
    keep_unknown,
    member,
    objects,
    optional,
    read_json,
    texts,
)
from bigtime.advisor.imports.templates import complete_table
from bigtime.advisor.imports.trial import ImportedModule, finished_module

TYPES: Final = {
    "string": "str",
    "integer": "int",
    "decimal": "Decimal",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "uuid": "UUID",
}
NATIVE: Final = {"int": "N", "Decimal": "N"}
RANGES: Final = {
    ">=": "bt.at_least",
    "<=": "bt.at_most",
    ">": "bt.more_than",
    "<": "bt.less_than",
    "between": "bt.between",
    "begins_with": "bt.begins_with",
}
FIELD: Final = re.compile(r"\{([^{}]*)\}")

SCHEMA: Final = ("tables", "cross_table_access_patterns")
TABLE: Final = ("table_config", "gsi_list", "entities")
CONFIG: Final = ("table_name", "partition_key", "sort_key")
INDEX: Final = ("name", "partition_key", "sort_key", "projection", "included_attributes")
ENTITY: Final = (
    *("entity_type", "pk_template", "sk_template", "gsi_mappings", "fields", "access_patterns"),
)
PATTERN: Final = (
    *("pattern_id", "name", "description", "operation", "index_name", "range_condition"),
    *("consistent_read", "parameters", "return_type"),
)


def import_schema(path: Path) -> ImportedModule:
    """The module of a schema.json."""
    return finished_module(draft_of_schema(read_json(path), str(path)))


def draft_of_schema(schema: Members, source: str) -> Draft:
    draft = Draft(names.system_name(Path(source).stem), source)
    draft.about = "A design imported from the schema of a generator."
    keep_unknown(draft, schema, SCHEMA, source)
    member(schema, "tables", list, source)
    tables = list(objects(schema, "tables", source))
    configs = [member(table, "table_config", dict, place) for place, table in tables]
    named = [
        (member(config, "table_name", str, f"{place}.table_config"), place)
        for config, (place, _) in zip(configs, tables, strict=True)
    ]
    check_unique(named, "the table")
    check_unique(
        [
            (name, f"{place}.entities.{name}")
            for place, table in tables
            for name in member(table, "entities", dict, place)
        ],
        "the entity",
    )
    reader = SchemaReader(draft)
    for place, table in tables:
        reader.add_table(table, place)
    for place, table in tables:
        reader.add_patterns(table, place)
    for where, pattern in objects(schema, "cross_table_access_patterns", source):
        keep_unknown(draft, {"pattern": pattern}, (), where)
    return draft


@dataclass(slots=True)
class SchemaReader:
    draft: Draft
    constants: set[str] = field(default_factory=set)
    classes: dict[str, EntityDraft] = field(default_factory=dict)
    """By the name in the schema."""
    table_of: dict[str, TableDraft] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    # Tables and entities

    def add_table(self, table: Members, place: str) -> None:
        keep_unknown(self.draft, table, TABLE, place)
        config = table["table_config"]
        keep_unknown(self.draft, config, CONFIG, f"{place}.table_config")
        indexes = list(objects(table, "gsi_list", place))
        check_unique(
            [(member(index, "name", str, where), where) for where, index in indexes], "the index"
        )
        entities = {
            name: self.entity_of(name, members, f"{place}.entities.{name}")
            for name, members in table["entities"].items()
        }
        if not entities:
            raise CannotImport(f"{place}.entities", "there is no entity", "declare one")
        types = self.key_types(table, entities, place)
        sort = optional(config, "sort_key", str, f"{place}.table_config")
        try:
            made = bt.Table(
                config["table_name"],
                key_attribute(member(config, "partition_key", str, place), types),
                key_attribute(sort, types) if sort else None,
                indexes=[self.index_of(index, where, types) for where, index in indexes],
            )
        except bt.DesignError as error:
            raise CannotImport(place, f"{error}", "correct the schema") from None
        draft = TableDraft(made, place, names.constant_name(made.name, self.constants))
        self.constants.add(draft.constant)
        for name, entity in entities.items():
            self.store_fields(made, entity, table["entities"][name])
            draft.entities.append(entity)
            self.table_of[name] = draft
        self.draft.tables.append(draft)
        complete_table(self.draft, draft)

    def index_of(self, index: Members, where: str, types: Mapping[str, str]) -> bt.Index:
        keep_unknown(self.draft, index, INDEX, where)
        sort = optional(index, "sort_key", str, where)
        included = texts(index, "included_attributes", where)
        projection = index.get("projection") or "ALL"
        return bt.global_index(
            index["name"],
            key_attribute(member(index, "partition_key", str, where), types),
            [key_attribute(sort, types)] if sort else (),
            keys_only=projection == "KEYS_ONLY",
            include=included if projection == "INCLUDE" else (),
        )

    def entity_of(self, name: str, members: object, place: str) -> EntityDraft:
        if not isinstance(members, Mapping):
            raise CannotImport(place, "it is no object", "give its templates and fields")
        keep_unknown(self.draft, members, ENTITY, place)
        made = names.class_name(name, self.taken)
        self.taken.add(made)
        kind = members.get("entity_type")
        about = f"{made}; its entity_type is {kind}." if kind else f"{made}."
        entity = EntityDraft(made, about, place)
        member(members, "fields", list, place)
        for where, known in objects(members, "fields", place):
            stored = member(known, "name", str, where)
            kind = self.type_of(known, where)
            required = optional(known, "required", bool, where) is not False
            field_name = names.field_name(stored, entity.fields)
            entity.fields[field_name] = FieldDraft(field_name, stored, kind, required)
        self.classes[name] = entity
        return entity

    def type_of(self, known: Members, where: str) -> str:
        kind = member(known, "type", str, where)
        if kind == "array":
            inner = TYPES.get(str(known.get("item_type")), "Any")
            return f"list[{inner}]"
        if kind == "entity":
            return names.class_name(str(known.get("entity_type")))
        if kind not in TYPES:
            raise CannotImport(
                f"{where}.type", f"{kind!r} is no type", f"use array or {', '.join(TYPES)}"
            )
        return TYPES[kind]

    def key_types(
        self, table: Members, entities: Mapping[str, EntityDraft], place: str
    ) -> dict[str, str]:
        """The types of key attributes: N where the template is one number, else S."""
        types: dict[str, str] = {}
        for name, entity in entities.items():
            for attribute, text, where in self.key_parts(table, name, place):
                found = FIELD.fullmatch(text)
                stored = {known.stored: known.type for known in entity.fields.values()}
                kind = NATIVE.get(stored.get(found[1], ""), "S") if found else "S"
                if types.setdefault(attribute, kind) != kind:
                    raise CannotImport(
                        where,
                        f"the key {attribute} is of type {types[attribute]} in another template,"
                        f" and {text!r} makes it {kind}",
                        "let all templates of an attribute be numbers alone, or none",
                    )
        return types

    def key_parts(self, table: Members, name: str, place: str) -> Iterator[tuple[str, str, str]]:
        """The key attributes of an entity: attribute, template and place."""
        members, where = table["entities"][name], f"{place}.entities.{name}"
        config = table["table_config"]
        yield from half_parts(members, config, where)
        indexes = {index["name"]: index for _, index in objects(table, "gsi_list", place)}
        for spot, mapping in objects(members, "gsi_mappings", where):
            index = indexes.get(member(mapping, "name", str, spot))
            if index is None:
                raise CannotImport(
                    spot, f"there is no index {mapping['name']!r}", "add it to gsi_list"
                )
            yield from half_parts(mapping, index, spot)

    def store_fields(self, table: bt.Table, entity: EntityDraft, members: Members) -> None:
        """The templates, with the fields by their Python names."""
        mappings = [(bt.MAIN, members, entity.place)]
        mappings += [
            (mapping["name"], mapping, spot)
            for spot, mapping in objects(members, "gsi_mappings", entity.place)
        ]
        for name, mapping, where in mappings:
            index = table.index(name)
            partition = self.template(entity, mapping["pk_template"], where, index.hash[0])
            sort = mapping.get("sk_template")
            halves = (self.template(entity, sort, where, index.range[0]),) if sort else ()
            entity.keys[name] = ((partition,), halves)

    def template(self, entity: EntityDraft, text: str, where: str, attribute: bt.Attribute) -> str:
        by_stored = {known.stored: known for known in entity.fields.values()}
        is_alone = FIELD.fullmatch(text) is not None

        def named(found: re.Match[str]) -> str:
            known = by_stored.get(found[1])
            if known is None:
                raise CannotImport(
                    where,
                    f"the template {text!r} has no field {found[1]!r} to use",
                    f"use one of {', '.join(by_stored)}",
                )
            if known.type == "int" and not (is_alone and attribute.type == "N"):
                self.draft.tell(
                    where,
                    f"the number {found[1]} is not padded in {text!r}, and sorts as text",
                    f"pad it, as in {{{known.name}:08}}, and rewrite the keys",
                )
                return f"{{{known.name}:plain}}"
            return f"{{{known.name}}}"

        return FIELD.sub(named, text)

    # Patterns

    def add_patterns(self, table: Members, place: str) -> None:
        for name, members in table["entities"].items():
            where = f"{place}.entities.{name}"
            for spot, pattern in objects(members, "access_patterns", where):
                keep_unknown(self.draft, pattern, PATTERN, spot)
                PatternReader(self, name, pattern, spot).add()


def key_attribute(name: str, types: Mapping[str, str]) -> bt.Attribute:
    return bt.number(name) if types.get(name) == "N" else bt.Attribute(name)


def half_parts(members: Members, keys: Members, where: str) -> Iterator[tuple[str, str, str]]:
    yield (
        member(keys, "partition_key", str, where),
        member(members, "pk_template", str, where),
        inside(where, "pk_template"),
    )
    sort, template = keys.get("sort_key"), optional(members, "sk_template", str, where)
    if sort and not template:
        raise CannotImport(where, f"the key {sort} has no template", "give it an sk_template")
    if template and not sort:
        raise CannotImport(
            where, f"sk_template is {template!r}, and there is no sort key", "leave it out"
        )
    if template:
        yield member(keys, "sort_key", str, where), template, inside(where, "sk_template")


class Undecided(Exception):
    """Why a pattern could not be written."""


@dataclass(slots=True)
class PatternReader:
    """One access pattern of an entity."""

    schema: SchemaReader
    entity_name: str
    pattern: Members
    place: str

    @property
    def entity(self) -> EntityDraft:
        return self.schema.classes[self.entity_name]

    def add(self) -> None:
        draft = self.schema.draft
        name = member(self.pattern, "name", str, self.place)
        taken = {pattern.name for pattern in draft.patterns}
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
        try:
            self.fill(made)
        except Undecided as error:
            draft.tell(
                self.place,
                f"the pattern {name} is not written ({error})",
                "write it by hand",
            )
            draft.kept.append((self.place, repr(dict(self.pattern))))
            return
        draft.patterns.append(made)

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
        """The parameters with their types, by their names in the schema."""
        return {
            member(one, "name", str, where): self.schema.type_of(one, where)
            for where, one in objects(self.pattern, "parameters", self.place)
        }

    def known(self, stored: str) -> FieldDraft | None:
        fields = self.entity.fields.values()
        return next((known for known in fields if known.stored == stored), None)

    def parameter(self, made: PatternDraft, name: str, kind: str, known: FieldDraft | None) -> str:
        """Declares a parameter; it has the type of the field that it is compared with."""
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
            known = self.known(name)
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
        sort = template_fields(self.entity.keys[index][1])
        rest = dict(given)
        arguments = []
        for name in partition:
            known = self.entity.fields[name]
            if known.stored not in rest:
                raise Undecided(f"it has no parameter for {known.stored} of the partition key")
            value = self.parameter(made, known.stored, rest.pop(known.stored), known)
            arguments.append(f"{name}={value}")
        arguments += self.sort_arguments(made, rest, sort)
        if self.pattern.get("return_type") == "mixed_data" and index == bt.MAIN:
            self.write_collection(made, arguments)
        else:
            self.write_query(made, index, arguments)

    def sort_arguments(
        self, made: PatternDraft, rest: Mapping[str, str], sort: Sequence[str]
    ) -> Iterator[str]:
        """Leading fields of the sort key that are given, and the comparison of the next."""
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
        consistent = ", consistent=True" if self.pattern.get("consistent_read") else ""
        made.body = f"bt.all_of({within}{consistent})"

    def write_collection(self, made: PatternDraft, arguments: Sequence[str]) -> None:
        """All entities of the table that share the partition."""
        table = self.schema.table_of[self.entity_name]
        mine = self.entity.keys[bt.MAIN][0]
        together = [one.name for one in table.entities if one.keys[bt.MAIN][0] == mine]
        within = f'bt.partition({self.entity.name}, "main", {", ".join(arguments)})'
        made.body = f"bt.collection({', '.join(together)}, within={within})"
        made.result = f"bt.Page[{' | '.join(together)}]"
        made.uses = tuple(together)

    def view_of(self, index: str) -> ViewDraft | None:
        """The view of what an index projects, if that is less than the entity has."""
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
