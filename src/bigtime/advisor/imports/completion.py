"""Completes an imported table, once its kinds of items are entities.

Every index needs an entity, some entity must store the TTL attribute, the table gets the naming
rule that most of its fields follow, and fields that are only in keys get stored names.
"""

from __future__ import annotations

from collections.abc import Iterable

from bigtime import model as bt
from bigtime.advisor.imports.draft import Draft, EntityDraft, FieldDraft, TableDraft
from bigtime.advisor.imports.kinds import Kind
from bigtime.advisor.imports.names import field_name, naming_of
from bigtime.advisor.imports.templates import SCALARS, infer_entity


def add_entities(draft: Draft, table: TableDraft, kinds: Iterable[Kind]) -> None:
    """Adds an entity for each kind, and completes the table."""
    for kind in kinds:
        table.entities.append(infer_entity(draft, table.table, kind))
    complete_table(draft, table)


def complete_table(draft: Draft, table: TableDraft) -> None:
    """Makes sure that every index has an entity, and that one stores the TTL attribute."""
    if not table.accepted_entities:
        return
    map_every_index(draft, table)
    store_expiry(draft, table)
    name_stored(table)


def map_every_index(draft: Draft, table: TableDraft) -> None:
    mapped = {name for entity in table.accepted_entities for name in entity.keys}
    for index in table.table.indexes:
        if index.name in mapped:
            continue
        entity = table.accepted_entities[0]
        draft.tell(
            f"{table.place}, index {index.name}",
            "no item says what its keys look like",
            f"{entity.name} has optional fields for it; give them templates",
        )
        adopt_index(table.table, entity, index)


def adopt_index(table: bt.Table, entity: EntityDraft, index: bt.Index) -> None:
    """Adds an entity to an index, with the key attributes as optional fields."""
    known: dict[str, str] = {}
    for name in entity.keys:
        known |= entity.templates_in(table.index(name))
    for attribute in index.attributes:
        if attribute.name not in known:
            stored = {field.stored: name for name, field in entity.fields.items()}
            name = stored.get(attribute.name) or field_name(attribute.name, entity.fields)
            kind = SCALARS[attribute.type]
            entity.fields.setdefault(name, FieldDraft(name, attribute.name, kind, False))
            known[attribute.name] = f"{{{name}}}"
    entity.enter_index(index, known)


def store_expiry(draft: Draft, table: TableDraft) -> None:
    expiry = table.table.ttl
    stored = {
        known.stored for entity in table.accepted_entities for known in entity.fields.values()
    }
    if expiry is None or expiry in stored:
        return
    entity = table.accepted_entities[0]
    name = field_name(expiry, entity.fields)
    entity.fields[name] = FieldDraft(name, expiry, "int", is_required=False)
    draft.tell(
        f"{table.place}, time to live",
        f"no item has {expiry}, by which items expire",
        f"{entity.name} has it as an optional field; move it to what expires",
    )


def name_stored(table: TableDraft) -> None:
    """Chooses the table's naming rule, and the stored names of fields that are only in keys."""
    fields = [known for entity in table.entities for known in entity.fields.values()]
    naming_of(table.table, [(known.name, known.stored) for known in fields if known.stored])
    for entity in table.entities:
        taken = reserved_names(table.table, entity)
        for known in entity.fields.values():
            if not known.stored:
                stored = table.table.naming(known.name)
                while stored in taken:
                    stored += "_"
                known.stored = stored
                taken.add(stored)


def reserved_names(table: bt.Table, entity: EntityDraft) -> set[str]:
    stored = (known.stored for known in entity.fields.values() if known.stored)
    return {*table.indexed_names, *stored, *filter(None, [table.type_attribute])}


def plain_entity(table: TableDraft, name: str) -> EntityDraft:
    """An entity that any item of the table fits: its fields are the key attributes."""
    entity = EntityDraft(name, "Any item of the table.", table.place)
    for attribute in table.table.main.attributes:
        field = field_name(attribute.name, entity.fields)
        kind = SCALARS[attribute.type]
        entity.fields[field] = FieldDraft(field, attribute.name, kind)
    templates = {each.stored: f"{{{each.name}}}" for each in entity.fields.values()}
    entity.enter_index(table.table.main, templates)
    return entity
