"""Imports NoSQL Workbench models of versions 1.0, 2.0 and 3.0.

A facet is a kind of item, and becomes an entity; facets that show the same items become one. Rows
of no facet, and tables without facets, are classified by `kinds`. Workbench has no place for the
templates of index keys: Bigtime's export writes them into the model's description, one per line,
and they are read from there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bigtime import model as bt
from bigtime.advisor.imports.completion import add_entities
from bigtime.advisor.imports.draft import CannotImport, Draft, TableDraft
from bigtime.advisor.imports.kinds import Kind, is_role_name, kinds_in
from bigtime.advisor.imports.names import class_name, constant_name, system_name
from bigtime.advisor.imports.source import (
    Members,
    check_unique,
    keep_unknown,
    member,
    objects,
    optional_member,
    read_json,
    texts,
)
from bigtime.advisor.imports.trial import ImportedModule, finished_module
from bigtime.advisor.imports.workbench_patterns import PATTERNS, add_patterns
from bigtime.wire import DynamoDBError, Item, check_item

VERSIONS: Final = ("1.0", "2.0", "3.0")
MODEL: Final = ("ModelName", "ModelMetadata", "DataModel", PATTERNS)
METADATA: Final = (
    *("Author", "DateCreated", "DateLastModified", "Description", "Version", "AWSService"),
)
TABLE: Final = (
    *("TableName", "KeyAttributes", "NonKeyAttributes", "GlobalSecondaryIndexes"),
    *("LocalSecondaryIndexes", "TableData", "TableFacets", "DataAccess", "BillingMode"),
    *("ProvisionedCapacitySettings", PATTERNS),
)
FACET: Final = ("FacetName", "KeyAttributeAlias", "TableData", "NonKeyAttributes", "DataAccess")
INDEX: Final = ("IndexName", "KeyAttributes", "Projection")

KEYS_LINE: Final = "{entity} in {table}, {index}: {templates}{only}"
VALUES_LINE: Final = "{entity} in {table}, {attribute} is one of {texts}"
VALUES: Final = re.compile(
    r"(?P<entity>\w+) in (?P<table>[\w.-]+), (?P<attribute>.+) is one of (?P<texts>\[.*\])"
)
KEYS: Final = re.compile(
    r"(?P<entity>\w+) in (?P<table>[\w.-]+), (?P<index>[\w.-]+): (?P<templates>[^;]*)"
    r"(; while (?P<only>\{.*\}))?"
)


def import_workbench(path: Path) -> ImportedModule:
    """The module for a model in a file."""
    return finished_module(draft_of_model(read_json(path), str(path)))


def draft_of_model(model: Members, source: str) -> Draft:
    name = optional_member(model, "ModelName", str, source) or Path(source).stem
    metadata = optional_member(model, "ModelMetadata", dict, source) or {}
    draft = Draft(system_name(name), source)
    description = optional_member(metadata, "Description", str, f"{source}: ModelMetadata") or ""
    draft.about = f"{name}, imported from a model of NoSQL Workbench."
    keep_unknown(draft, model, MODEL, source)
    keep_unknown(draft, metadata, METADATA, f"{source}: ModelMetadata")
    check_version(draft, metadata, source)
    member(model, "DataModel", list, source)
    tables = list(objects(model, "DataModel", source))
    named = [(member(table, "TableName", str, place), place) for place, table in tables]
    check_unique(named, "the table")
    taken: set[str] = set()
    constants: set[str] = set()
    for place, table in tables:
        made = table_of(draft, table, place)
        made.constant = constant_name(made.table.name, constants)
        constants.add(made.constant)
        draft.tables.append(made)
        add_entities(draft, made, kinds_of(draft, made, table, description, taken))
    add_patterns(draft, model, source)
    return draft


def check_version(draft: Draft, metadata: Members, source: str) -> None:
    version = metadata.get("Version", VERSIONS[-1])
    if version not in VERSIONS:
        draft.tell(
            f"{source}: ModelMetadata.Version",
            f"it is {version!r}, and {', '.join(VERSIONS)} are known",
            "compare the module with the model",
        )


# Tables


def table_of(draft: Draft, table: Members, place: str) -> TableDraft:
    keep_unknown(draft, table, TABLE, place)
    keys = key_of(table, place)
    indexes = [
        *indexes_of(draft, table, "GlobalSecondaryIndexes", place),
        *indexes_of(draft, table, "LocalSecondaryIndexes", place),
    ]
    check_unique([(index.name, where) for where, index in indexes], "the index")
    try:
        made = bt.Table(
            table["TableName"],
            keys[0],
            keys[1] if len(keys) > 1 else None,
            indexes=[index for _, index in indexes],
            throughput=throughput_of(draft, table, place),
        )
    except bt.DesignError as error:
        raise CannotImport(place, f"{error}", "correct the model") from None
    return TableDraft(made, place)


def key_of(members: Members, place: str) -> list[bt.Attribute]:
    keys = member(members, "KeyAttributes", dict, place)
    where = f"{place}.KeyAttributes"
    partition = member(keys, "PartitionKey", dict, where)
    sort = optional_member(keys, "SortKey", dict, where)
    found = [attribute_of(partition, f"{where}.PartitionKey")]
    if sort:
        found.append(attribute_of(sort, f"{where}.SortKey"))
    return found


def attribute_of(key: Members, place: str) -> bt.Attribute:
    name = member(key, "AttributeName", str, place)
    kind = optional_member(key, "AttributeType", str, place) or "S"
    made = {"S": bt.Attribute, "N": bt.number, "B": bt.binary}.get(kind)
    if made is None:
        raise CannotImport(
            place, f"{name} is of type {kind}, and a key is S, N or B", "correct the type"
        )
    return made(name)


def indexes_of(
    draft: Draft, table: Members, arm: str, place: str
) -> Iterator[tuple[str, bt.Index]]:
    for where, index in objects(table, arm, place):
        keep_unknown(draft, index, INDEX, where)
        name = member(index, "IndexName", str, where)
        keys = key_of(index, where)
        projection = optional_member(index, "Projection", dict, where) or {}
        included = texts(projection, "NonKeyAttributes", f"{where}.Projection")
        is_included = projection.get("ProjectionType") == "INCLUDE"
        keys_only = projection.get("ProjectionType") == "KEYS_ONLY"
        include = included if is_included else ()
        if arm == "LocalSecondaryIndexes":
            if len(keys) < 2:
                raise CannotImport(where, "it is local and has no SortKey", "give it one")
            yield where, bt.local_index(name, keys[1], keys_only=keys_only, include=include)
        else:
            yield (
                where,
                bt.global_index(name, keys[0], keys[1:], keys_only=keys_only, include=include),
            )


def throughput_of(draft: Draft, table: Members, place: str) -> bt.Throughput | None:
    """A table's provisioned throughput, if the model has one; adds a note about autoscaling."""
    settings = optional_member(table, "ProvisionedCapacitySettings", dict, place)
    if table.get("BillingMode") != "PROVISIONED" or not settings:
        return None
    paid = settings.get("ProvisionedThroughput") or {}
    try:
        found = bt.Throughput(int(paid["ReadCapacityUnits"]), int(paid["WriteCapacityUnits"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        found = None
    if found is None or "AutoScalingRead" in settings or "AutoScalingWrite" in settings:
        draft.tell(
            f"{place}.ProvisionedCapacitySettings",
            "how its capacity scales has no place in a design",
            "set it up where the table is deployed",
        )
    return found


# Kinds of items


def kinds_of(
    draft: Draft, made: TableDraft, table: Members, description: str, taken: set[str]
) -> list[Kind]:
    listed = {
        member(attribute, "AttributeName", str, where): str(attribute.get("AttributeType", "S"))
        for where, attribute in objects(table, "NonKeyAttributes", made.place)
    }
    rows = list(rows_of(draft, made.table, table, made.place))
    facets = list(facets_of(draft, made, table, listed, taken))
    merge_facets(draft, made.table, facets)
    left = share_out(made.table, facets, rows)
    if facets and left:
        draft.tell(
            f"{made.place}.TableData",
            f"{len(left)} rows belong to no facet",
            "they have entities of their own; merge or rename them",
        )
    kinds = [*facets, *kinds_in(made.table, left, made.place, taken)] if left else facets
    if not kinds:
        name = class_name(made.table.name, taken)
        taken.add(name)
        kinds = [Kind(name, made.place, listed=listed)]
        draft.tell(
            made.place,
            "it has no sample rows, so its keys are fields as they are",
            "give the keys templates",
        )
    elif len(kinds) == 1:
        kinds[0].listed = {**listed, **kinds[0].listed}
    tell_unused(draft, made, kinds, listed)
    for kind in kinds:
        read_description(made.table, kind, description)
        prefix_unsampled(draft, made.table, kind, kinds)
    return kinds


def rows_of(
    draft: Draft, made: bt.Table, members: Members, place: str
) -> Iterator[tuple[str, Item]]:
    """The sample rows that are items of the table."""
    for where, row in objects(members, "TableData", place):
        try:
            item = check_item(dict(row))[0]
            lacking = [name for name in made.key_names if name not in item]
            if lacking:
                draft.tell(where, f"it has no {', '.join(lacking)}", "it is left out")
                continue
        except (DynamoDBError, TypeError, ValueError, AttributeError, KeyError) as error:
            draft.tell(where, f"it is no item ({error})", "it is left out; correct it")
            continue
        yield where, item


def facets_of(
    draft: Draft, made: TableDraft, table: Members, listed: dict[str, str], taken: set[str]
) -> Iterator[Kind]:
    for where, facet in objects(table, "TableFacets", made.place):
        keep_unknown(draft, facet, FACET, where)
        named = member(facet, "FacetName", str, where)
        name = class_name(named, taken)
        taken.add(name)
        aliases = optional_member(facet, "KeyAttributeAlias", dict, where) or {}
        pairs = zip(made.table.key_names, ("PartitionKeyAlias", "SortKeyAlias"), strict=False)
        attributes = texts(facet, "NonKeyAttributes", where)
        yield Kind(
            name,
            where,
            list(rows_of(draft, made.table, facet, where)),
            about=f"The facet {named}.",
            aliases={
                key: alias
                for key, role in pairs
                if (alias := optional_member(aliases, role, str, f"{where}.KeyAttributeAlias"))
            },
            listed={attribute: listed.get(attribute, "S") for attribute in attributes},
        )


def merge_facets(draft: Draft, table: bt.Table, facets: list[Kind]) -> None:
    """Merges facets that have an item in common: they show one kind of items."""
    owner: dict[object, Kind] = {}
    for kind in list(facets):
        keys = [table.identity(item) for _, item in kind.rows]
        first = next((owner[key] for key in keys if key in owner), None)
        if first is not None:
            facets.remove(kind)
            known = {table.identity(item): number for number, (_, item) in enumerate(first.rows)}
            for where, item in kind.rows:
                number = known.get(table.identity(item))
                if number is None:
                    first.rows.append((where, item))
                else:
                    place, there = first.rows[number]
                    first.rows[number] = (place, {**item, **there})
            first.listed = {**kind.listed, **first.listed}
            draft.tell(
                kind.place,
                f"it shows the same items as {first.name}",
                f"both are the entity {first.name}; make a view of it where needed",
            )
        for key in keys:
            owner.setdefault(key, first or kind)


def share_out(
    table: bt.Table, facets: list[Kind], rows: list[tuple[str, Item]]
) -> list[tuple[str, Item]]:
    """Adds the attributes of the table's rows to the facets' rows; returns the remaining rows."""
    places = {
        table.identity(item): (kind, number)
        for kind in facets
        for number, (_, item) in enumerate(kind.rows)
    }
    if len(facets) == 1 and not facets[0].rows:
        facets[0].rows = rows
        return []
    left = []
    for where, item in rows:
        found = places.get(table.identity(item))
        if found is None:
            left.append((where, item))
        else:
            kind, number = found
            kind.rows[number] = (kind.rows[number][0], {**kind.rows[number][1], **item})
    return left


def tell_unused(draft: Draft, made: TableDraft, kinds: list[Kind], listed: dict[str, str]) -> None:
    there = {name for kind in kinds for _, item in kind.rows for name in item}
    there |= {name for kind in kinds for name in kind.listed}
    unused = [name for name in listed if name not in there | made.table.indexed_names]
    if unused:
        draft.tell(
            f"{made.place}.NonKeyAttributes",
            f"no row has {', '.join(unused)}",
            "give the field to the entity that has it",
        )


def read_description(table: bt.Table, kind: Kind, description: str) -> None:
    """Reads the templates that an export wrote into the model's description."""
    names = {index.name: index for index in (table.main, *table.indexes)}
    for line in map(str.strip, description.splitlines()):
        limited = VALUES.fullmatch(line)
        if limited and (limited["entity"], limited["table"]) == (kind.name, table.name):
            kind.choices[limited["attribute"]] = [
                str(each) for each in json_of(limited["texts"], [])
            ]
        found = KEYS.fullmatch(line)
        if found is None or (found["entity"], found["table"]) != (kind.name, table.name):
            continue
        index = names.get(found["index"])
        templates = found["templates"].split(" / ")
        if index is None or len(templates) != len(index.attributes):
            continue
        for attribute, template in zip(index.attributes, templates, strict=True):
            prefix = "" if index is table.main else f"{index.name} "
            kind.aliases[f"{prefix}{attribute.name}"] = template
        if found["only"]:
            only = json_of(found["only"], {})
            kind.only[index.name] = {name: when_value(value) for name, value in only.items()}


def json_of(text: str, default: Any) -> Any:
    """Parses JSON that may have been edited by hand; the default if bad or of another type."""
    try:
        found = json.loads(text)
    except ValueError:
        return default
    return found if isinstance(found, type(default)) else default


def when_value(value: object) -> object:
    """A value, or several as a tuple, in the form that `when` takes."""
    if not isinstance(value, list):
        return value
    return value[0] if len(value) == 1 else tuple(value)


def prefix_unsampled(draft: Draft, table: bt.Table, kind: Kind, kinds: list[Kind]) -> None:
    """Distinguishes a facet without rows from the others by an unused label."""
    if kind.rows or len(kinds) == 1:
        return
    key = table.key_names[0]
    alias = kind.aliases.get(key, "")
    if "#" in alias or "{" in alias or not is_role_name(key):
        return
    name = alias if alias and alias != key else f"{kind.name} id"
    kind.aliases[key] = f"{kind.name.upper()}#{{{name}}}"
    draft.tell(
        kind.place,
        f"no sample row says how the keys of {kind.name} begin",
        f"they begin with {kind.name.upper()}#; correct that",
    )
