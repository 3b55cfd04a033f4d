"""A system as a NoSQL Workbench model, version 3.0: a facet for each entity, with sample rows.

The aliases of a facet's key are its templates. Workbench has no place for index templates, so the
description of the model lists all of them, one per line; `bigtime import workbench` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

from bigtime import model as bt
from bigtime.advisor.imports import KEYS_LINE, VALUES_LINE
from bigtime.advisor.sample import CannotSample, sample_item
from bigtime.wire import Item

SAMPLES: Final = 3
SHOWN_TIME: Final = "%b %d, %Y, %I:%M %p"


def workbench_model(system: bt.System, *, at: datetime) -> dict[str, Any]:
    """The model of a system; `at` is its creation time."""
    bt.check_kind(system, "workbench_model")
    shown = at.strftime(SHOWN_TIME)
    return {
        "ModelName": system.name,
        "ModelMetadata": {
            "Author": "Bigtime",
            "DateCreated": shown,
            "DateLastModified": shown,
            "Description": "\n".join(["Keys, by entity and index:", *key_lines(system)]),
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [table_model(table) for table in system.tables],
    }


def key_lines(system: bt.System) -> Iterator[str]:
    for entity in system.entities:
        layout = entity.layout
        for name, key in layout.keys.items():
            texts = [stored_template(layout, part) for part in key.parts]
            yield KEYS_LINE.format(
                entity=entity.__name__,
                table=layout.table.name,
                index=name,
                templates=" / ".join(texts),
                only=f"; while {only_text(layout, key)}" if key.only else "",
            )
        yield from value_lines(layout)


def value_lines(layout: bt.Layout) -> Iterator[str]:
    """Lines with the allowed values of key fields that are limited to certain texts."""
    fields = {name for key in layout.keys.values() for name in key.fed_by}
    for name in (name for name in layout.names if name in fields):
        kind, _ = bt.unwrap(bt.field_annotation(layout.entity, name))
        is_enum = isinstance(kind, type) and issubclass(kind, Enum)
        choices = [each.value for each in kind] if is_enum else get_args(kind)
        if choices and (is_enum or get_origin(kind) is Literal) and is_text(choices):
            yield VALUES_LINE.format(
                entity=layout.entity.__name__,
                table=layout.table.name,
                attribute=layout.names[name],
                texts=json.dumps(list(choices)),
            )


def is_text(choices: Iterable[object]) -> bool:
    return all(isinstance(choice, str) for choice in choices)


def stored_template(layout: bt.Layout, part: bt.KeyPart) -> str:
    """A template with attribute names in place of field names."""
    text = part.template.text
    for name in sorted(part.template.fields, key=len, reverse=True):
        for end in ("}", ":"):
            text = text.replace(f"{{{name}{end}", f"{{{layout.names[name]}{end}")
    return text


def only_text(layout: bt.Layout, key: bt.EntityKey) -> str:
    values = {
        layout.names[name]: [getattr(value, "value", value) for value in allowed]
        for name, allowed in key.only.items()
    }
    return json.dumps(values)


# Tables


def table_model(table: bt.Table) -> dict[str, Any]:
    rows = {entity.__name__: list(sample_rows(entity)) for entity in table.entities}
    model: dict[str, Any] = {
        "TableName": table.name,
        "KeyAttributes": key_attributes(table.main),
        "NonKeyAttributes": attribute_models(
            table, [row for each in rows.values() for row in each]
        ),
        "TableFacets": [facet(table, entity, rows[entity.__name__]) for entity in table.entities],
    }
    for arm, is_global in (("GlobalSecondaryIndexes", True), ("LocalSecondaryIndexes", False)):
        indexes = [index for index in table.indexes if index.is_global == is_global]
        if indexes:
            model[arm] = [index_model(index) for index in indexes]
    model["TableData"] = [row for each in rows.values() for row in each]
    model["DataAccess"] = {"MySql": {}}
    model["BillingMode"] = "PROVISIONED" if table.throughput else "PAY_PER_REQUEST"
    if table.throughput:
        model["ProvisionedCapacitySettings"] = {
            "ProvisionedThroughput": table.throughput.parameters()
        }
    return model


def sample_rows(entity: type[bt.Entity]) -> Iterator[Item]:
    """Items of an entity, each with its own key; fewer if no more can be made.

    An index that holds the entity under a condition holds the first of them.
    """
    known = set()
    conditions = [key.only for key in entity.layout.keys.values() if key.only]
    for number in range(SAMPLES):
        only = conditions[number] if number < len(conditions) else {}
        given = {name: values[0] for name, values in only.items()}
        try:
            item = sample_item(entity, given, number=number)
        except CannotSample:
            return
        identity = entity.layout.table.identity(item)
        if identity not in known:
            known.add(identity)
            yield item


def key_attributes(index: bt.Index) -> dict[str, Any]:
    """The key attributes of an index; Workbench allows one for each half, so the first."""
    model = {"PartitionKey": attribute_model(index.hash[0])}
    if index.range:
        model["SortKey"] = attribute_model(index.range[0])
    return model


def attribute_model(attribute: bt.Attribute) -> dict[str, str]:
    return {"AttributeName": attribute.name, "AttributeType": attribute.type}


def attribute_models(table: bt.Table, rows: list[Item]) -> list[dict[str, str]]:
    types = {attribute.name: str(attribute.type) for attribute in bt.key_attributes(table)}
    for row in rows:
        types |= {name: next(iter(value)) for name, value in row.items() if name not in types}
    for entity in table.entities:
        forms = entity.layout.forms
        for field, name in entity.layout.names.items():
            types.setdefault(name, forms[field].tag or "S")
    return [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in types.items()
        if name not in table.key_names
    ]


def index_model(index: bt.Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.include:
        projection["NonKeyAttributes"] = list(index.include)
    return {
        "IndexName": index.name,
        "KeyAttributes": key_attributes(index),
        "Projection": projection,
    }


def facet(table: bt.Table, entity: type[bt.Entity], rows: list[Item]) -> dict[str, Any]:
    layout = entity.layout
    templates = [stored_template(layout, part) for part in layout.keys[bt.MAIN].parts]
    aliases = dict(zip(("PartitionKeyAlias", "SortKeyAlias"), templates, strict=False))
    names = dict.fromkeys([*layout.names.values(), *(name for row in rows for name in row)])
    return {
        "FacetName": entity.__name__,
        "KeyAttributeAlias": aliases,
        "NonKeyAttributes": [name for name in names if name not in table.key_names],
        "TableData": rows,
        "DataAccess": {"MySql": {}},
    }
