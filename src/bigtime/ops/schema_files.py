"""Schema files: a table as a JSON document, for people and programs that do not read Python.

The document describes the table and the first of its entities; attributes that only its other
entities have are listed as not required.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from bigtime.advisor import CannotSample, sample_item
from bigtime.model import Attribute as KeyAttribute
from bigtime.model import Entity, Environment, Field, Index, KeyPart, System, Table, global_index
from bigtime.ops.schema_check import SUFFIX, TAGS

Document = dict[str, Any]
FORMATS = {"date-time": "ISO 8601", "date": "ISO 8601 date (YYYY-MM-DD)"}


def schema_path(table: Table) -> str:
    """The document's path: `tenants/tenant.schema.json`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", table.entities[0].__name__)
    return f"{table.name}/{words.lower()}{SUFFIX}"


def schema_text(document: Document) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def schema_document(system: System, table: Table, environments: Sequence[Environment]) -> Document:
    """A table as a schema file."""
    document: Document = {
        "tableName": table.name,
        "description": summary(table.entities[0]),
        "primaryKey": primary_key(table),
        "attributes": list(attributes(table)),
        "globalSecondaryIndexes": [
            index_document(system, table, index) for index in table.indexes if index.is_global
        ],
        "capacityMode": "PROVISIONED" if table.throughput else "ON_DEMAND",
        "pitr": {"enabled": True},
        "backup": None,
        "streams": {"enabled": table.stream is not None},
        "tags": {tag: environments[0].tags.get(tag, "") for tag in TAGS},
    }
    if table in system.saved_tables:
        document["backup"] = {
            there.name: {"frequency": there.backup_frequency, "retention": there.retention_days}
            for there in environments
        }
    if table.stream:
        document["streams"]["viewType"] = table.stream
    if table.ttl:
        document["timeToLive"] = {"attribute": table.ttl}
    return document


def summary(entity: type[Entity]) -> str:
    """The first line of its docstring."""
    return (entity.__doc__ or entity.__name__).strip().splitlines()[0]


# Keys


def primary_key(table: Table) -> Document:
    parts = table.entities[0].layout.keys["main"].parts
    halves = ("partitionKey", "sortKey")
    return {
        half: {
            "name": part.attribute.name,
            "type": part.attribute.type,
            "pattern": pattern_text(table.entities[0], part),
        }
        for half, part in zip(halves, parts, strict=False)
    }


def pattern_text(entity: type[Entity], part: KeyPart) -> str:
    """The template of a key, with fields by their stored names."""
    names = entity.layout.names
    return "".join(
        f"{{{names.get(piece.name, piece.name)}}}" if isinstance(piece, Field) else piece
        for piece in part.template.parts
    )


def index_document(system: System, table: Table, index: Index) -> Document:
    document: Document = {
        "indexName": index.name,
        "partitionKey": half_document(index.hash),
        "sortKey": half_document(index.range),
        "projectionType": index.projection,
        "description": index_text(table, index),
    }
    if index.include:
        document["nonKeyAttributes"] = list(index.include)
    if accepted := system.accepted.get(f"duplicate-index {table.name}.{index.name}"):
        document["accepted"] = accepted
    return document


def half_document(half: Sequence[KeyAttribute]) -> str | list[str] | None:
    """The attribute name of a partition or sort key; several if it has several."""
    names = [attribute.name for attribute in half]
    return None if not names else names[0] if len(names) == 1 else names


def index_text(table: Table, index: Index) -> str:
    """What a query of the index finds: `Tenant by {status}, sorted by {dateCreated}`."""
    return "; ".join(
        f"{entity.__name__} by {key_text(entity, key.hash)}"
        + (f", sorted by {key_text(entity, key.range)}" if key.range else "")
        for entity in table.entities
        if (key := entity.layout.keys.get(index.name))
    )


def key_text(entity: type[Entity], half: Sequence[KeyPart]) -> str:
    return " and ".join(pattern_text(entity, part) for part in half)


# Attributes


def attributes(table: Table) -> Iterator[Document]:
    """The key attributes, those of the first entity, and those of only the others; each once."""
    found = {document["name"]: document for document in key_documents(table)}
    for entity in table.entities:
        for document in field_documents(entity, is_first=entity is table.entities[0]):
            found.setdefault(document["name"], document)
    for index in table.indexes:
        for attribute in index.attributes:
            document = {"name": attribute.name, "type": attribute.type, "required": False}
            found.setdefault(attribute.name, {**document, "description": f"Key of {index.name}"})
    yield from found.values()


def key_documents(table: Table) -> Iterator[Document]:
    titles = ("Partition key", "Sort key")
    for title, part in zip(titles, table.entities[0].layout.keys["main"].parts, strict=False):
        yield {
            "name": part.attribute.name,
            "type": part.attribute.type,
            "required": True,
            "description": f"{title}: {pattern_text(table.entities[0], part)}",
        }


def field_documents(entity: type[Entity], *, is_first: bool) -> Iterator[Document]:
    types = stored_types(entity)
    shape = entity.model_json_schema(mode="serialization")
    for field, name in entity.layout.names.items():
        if name not in types:
            continue  # it is stored only inside a key
        declared = entity.model_fields[field]
        words = declared.description or field.replace("_", " ").capitalize()
        document = {
            "name": name,
            "type": types[name],
            "required": is_first and (declared.is_required() or declared.default is not None),
            "description": words if is_first else f"{words}, of {entity.__name__}",
        }
        yield {**document, **value_document(shape, shape["properties"][field], types[name])}


def stored_types(entity: type[Entity]) -> dict[str, str]:
    """The DynamoDB types of an entity's stored attributes, taken from samples.

    Fields that exclude each other are never in the same sample, so there is one sample for each.
    """
    types: dict[str, str] = {}
    for present in (list(entity.model_fields), *([name] for name in entity.model_fields)):
        with suppress(CannotSample):
            sample = sample_item(entity, present=present)
            types |= {name: next(iter(value)) for name, value in sample.items()}
        if {*entity.layout.names.values()} <= types.keys():
            break
    return types


def value_document(shape: Document, field: Document, stored: str) -> Document:
    """What the schema says about a field's values: enum, default and format."""
    kind = resolve(shape, field)
    found: Document = {}
    is_text = kind.get("type") == "boolean" and stored == "S"
    if is_text or "enum" in kind:
        found["enum"] = ["true", "false"] if is_text else kind["enum"]
    if (default := field.get("default")) not in (None, [], {}, ""):
        found["default"] = str(default).lower() if is_text else default
    if stored == "S" and kind.get("format") in FORMATS:
        found["format"] = FORMATS[kind["format"]]
    return found


def resolve(shape: Document, field: Document) -> Document:
    """A field's schema with its references resolved and null left out."""
    for member in field.get("anyOf", ()):
        if member.get("type") != "null":
            return resolve(shape, member)
    if "$ref" in field:
        definition: Document = shape["$defs"][field["$ref"].rpartition("/")[2]]
        return definition
    return field


# From a document to a table


def table_of(document: Mapping[str, Any]) -> Table:
    """The table that a document describes, without entities."""
    types = {attribute["name"]: attribute["type"] for attribute in document["attributes"]}

    def key(half: str | list[str] | None) -> list[KeyAttribute]:
        names = [half] if isinstance(half, str) else half or []
        return [KeyAttribute(name, types[name]) for name in names]

    main = document["primaryKey"]
    streams = document["streams"]
    return Table(
        document["tableName"],
        KeyAttribute(main["partitionKey"]["name"], main["partitionKey"]["type"]),
        KeyAttribute(main["sortKey"]["name"], main["sortKey"]["type"])
        if main.get("sortKey")
        else None,
        indexes=[
            global_index(
                index["indexName"],
                key(index["partitionKey"]),
                key(index["sortKey"]),
                keys_only=index["projectionType"] == "KEYS_ONLY",
                include=index.get("nonKeyAttributes", ()),
            )
            for index in document["globalSecondaryIndexes"]
        ],
        ttl=document.get("timeToLive", {}).get("attribute"),
        stream=streams["viewType"] if streams["enabled"] else None,
        point_in_time_recovery=document["pitr"]["enabled"],
    )
