"""The generator's schema.json: tables, entities with templates, and access patterns.

Templates have only `{field}`. A key that is one field of a number type is of type N; a number
inside a longer template is written as the generator does, without padding. If an index does not
project all of an entity's fields, its queries return a view. A parameter that is compared with a
field has the field's type, whatever the schema says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bigtime import model as bt
from bigtime.advisor.imports import names
from bigtime.advisor.imports.completion import complete_table
from bigtime.advisor.imports.draft import CannotImport, Draft, EntityDraft, FieldDraft, TableDraft
from bigtime.advisor.imports.schema_patterns import PatternReader
from bigtime.advisor.imports.source import (
    Members,
    check_unique,
    keep_unknown,
    member,
    objects,
    optional_member,
    place_in,
    read_json,
    texts,
)
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
    """The module for a schema.json."""
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
    """The entities by their names in the schema."""
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
        sort = optional_member(config, "sort_key", str, f"{place}.table_config")
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
        sort = optional_member(index, "sort_key", str, where)
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
            required = optional_member(known, "required", bool, where) is not False
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
        """The types of key attributes: N where the template is a single number, otherwise S."""
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
        """The key attributes of an entity: attribute, template and location."""
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
        """Stores the templates, with the fields under their Python names."""
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

        def replace_field(found: re.Match[str]) -> str:
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

        return FIELD.sub(replace_field, text)

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
        place_in(where, "pk_template"),
    )
    sort, template = keys.get("sort_key"), optional_member(members, "sk_template", str, where)
    if sort and not template:
        raise CannotImport(where, f"the key {sort} has no template", "give it an sk_template")
    if template and not sort:
        raise CannotImport(
            where, f"sk_template is {template!r}, and there is no sort key", "leave it out"
        )
    if template:
        yield member(keys, "sort_key", str, where), template, place_in(where, "sk_template")
