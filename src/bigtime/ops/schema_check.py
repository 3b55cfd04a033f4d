"""Checks schema files: `python scripts/validate_schemas.py schemas/`, or `bigtime schema validate`.

A schema file describes one DynamoDB table: its key, attributes, indexes, backups and tags. This
module needs nothing but Python, because it is copied as it is into the repositories that
`bigtime infra` writes.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ENVIRONMENTS = ("dev", "sit", "prod")
SUFFIX = ".schema.json"
KEYS = {
    *("tableName", "description", "primaryKey", "attributes", "globalSecondaryIndexes"),
    *("capacityMode", "pitr", "backup", "streams", "tags"),
}
OPTIONAL_KEYS = {"timeToLive"}
TEXTS = ("tableName", "description")
OBJECTS = ("primaryKey", "pitr", "streams", "tags")
LISTS = ("attributes", "globalSecondaryIndexes")
KEY_TYPES = ("S", "N", "B")
TYPES = (*KEY_TYPES, "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
PROJECTIONS = ("ALL", "KEYS_ONLY", "INCLUDE")
CAPACITY = ("ON_DEMAND", "PROVISIONED")
FREQUENCIES = ("hourly", "daily")
VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
TAGS = ("Project", "Application", "Component", "ManagedBy")
MOST_INDEXES = 20


@dataclass(frozen=True)
class Fault:
    """What is wrong with a file. A warning does not fail a run."""

    level: Literal["error", "warning"]
    file: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.level}: {self.file}: {self.sentence}"


def schema_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The given files, and those in given folders, sorted by name."""
    for path in paths:
        yield from sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]


def check_file(path: Path, environments: Sequence[str] = ENVIRONMENTS) -> list[Fault]:
    """All that is wrong with a file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        return [Fault("error", str(path), f"it cannot be read: {error.strerror}")]
    except ValueError as error:
        return [Fault("error", str(path), f"it is not JSON: {error}")]
    errors = list(document_errors(document, environments))
    warnings = [] if errors and not isinstance(document, dict) else list(same_keys(document))
    return [
        *(Fault("error", str(path), sentence) for sentence in errors),
        *(Fault("warning", str(path), sentence) for sentence in warnings),
    ]


def document_errors(document: object, environments: Sequence[str]) -> Iterator[str]:
    if not isinstance(document, dict):
        yield "it is no object"
        return
    for key in sorted(document.keys() - KEYS - OPTIONAL_KEYS):
        yield f"there is no key {key!r}"
    for key in sorted(KEYS - document.keys()):
        yield f"the key {key!r} is missing"
    yield from shape_errors(document)
    types = yield from attribute_errors(members(document, "attributes"))
    if isinstance(document.get("primaryKey"), dict):
        yield from primary_key_errors(document["primaryKey"], types)
    indexes = members(document, "globalSecondaryIndexes")
    yield from index_errors(indexes, types)
    yield from key_type_errors(indexes, types)
    if "capacityMode" in document and document["capacityMode"] not in CAPACITY:
        yield f"capacityMode is {document['capacityMode']!r}, and must be {either(CAPACITY)}"
    if "pitr" in document and part(document, "pitr").get("enabled") is not True:
        yield "pitr is not enabled"
    if document.get("backup", document) is not None:  # null means that nothing is backed up
        yield from backup_errors(part(document, "backup"), environments)
    yield from stream_errors(part(document, "streams"))
    for tag in TAGS:
        if "tags" in document and not part(document, "tags").get(tag):
            yield f"the tag {tag} is missing"


def shape_errors(document: Mapping[str, Any]) -> Iterator[str]:
    """Values of the wrong type; backups may be null, so they are checked elsewhere."""
    for key in TEXTS:
        value = document.get(key, key)
        if not isinstance(value, str) or not value.strip():
            yield f"{key} is {value!r}, and must be a text"
    for key in OBJECTS:
        if not isinstance(document.get(key, {}), dict):
            yield f"{key} is {document[key]!r}, and must be an object"
    for key in LISTS:
        values = document.get(key, [])
        if not isinstance(values, list):
            yield f"{key} is {values!r}, and must be a list of objects"
            continue
        for value in values:
            if not isinstance(value, dict):
                yield f"{key} has {value!r} in it, and must be a list of objects"


def attribute_errors(
    attributes: Sequence[Mapping[str, Any]],
) -> Generator[str, None, dict[str, Any]]:
    """Yields what is wrong with them; returns the types of the attributes by name."""
    names = [str(attribute.get("name")) for attribute in attributes]
    for name in repeats(names):
        yield f"attribute {name!r} is declared twice"
    types = {str(attribute.get("name")): attribute.get("type") for attribute in attributes}
    for name, kind in types.items():
        if kind not in TYPES:
            yield f"attribute {name!r} is of type {kind!r}, and must be {either(TYPES)}"
    return types


def primary_key_errors(key: Mapping[str, Any], types: Mapping[str, Any]) -> Iterator[str]:
    for half in ("partitionKey", "sortKey"):
        declared = key.get(half)
        if declared is None:
            if half == "partitionKey":
                yield "primaryKey has no partitionKey"
            continue
        if not isinstance(declared, dict):
            yield f"{half} is {declared!r}, and must have a name and a type"
            continue
        name, kind = str(declared.get("name")), declared.get("type")
        if name not in types:
            yield f"{half} {name!r} is not among the attributes; declare it"
        elif types[name] != kind:
            yield f"{half} {name!r} is of type {kind!r}, and as an attribute of {types[name]!r}"
        if kind not in KEY_TYPES:
            yield f"{half} {name!r} is of type {kind!r}, and must be {either(KEY_TYPES)}"


def index_errors(indexes: Sequence[Mapping[str, Any]], types: Mapping[str, Any]) -> Iterator[str]:
    if len(indexes) > MOST_INDEXES:
        yield f"there are {len(indexes)} indexes; DynamoDB allows {MOST_INDEXES}"
    for twice in repeats([str(index.get("indexName")) for index in indexes]):
        yield f"index {twice!r} is declared twice"
    for index in indexes:
        name = index.get("indexName")
        for key in key_names(index):
            if key not in types:
                yield f"index {name!r}: its key {key!r} is not among the attributes; declare it"
        if index.get("partitionKey") is None:
            yield f"index {name!r} has no partitionKey"
        elif index.get("sortKey") == index["partitionKey"]:
            yield f"index {name!r} is sorted by its partition key; name another attribute"
        if index.get("projectionType") not in PROJECTIONS:
            yield (
                f"index {name!r} projects {index.get('projectionType')!r}, and must project"
                f" {either(PROJECTIONS)}"
            )


def key_type_errors(
    indexes: Sequence[Mapping[str, Any]], types: Mapping[str, Any]
) -> Iterator[str]:
    """Attributes that are keys of indexes, but have a type that no key can have."""
    for attribute, kind in types.items():
        using = [str(index.get("indexName")) for index in indexes if attribute in key_names(index)]
        if using and kind in TYPES and kind not in KEY_TYPES:
            yield (
                f"attribute {attribute!r} is {kind}, and a key of {', '.join(using)}: a key is"
                f' {either(KEY_TYPES)}; make it "S"'
            )


def same_keys(document: Mapping[str, Any]) -> Iterator[str]:
    """Indexes with the same keys as another: each is paid for, and one would do.

    One that gives a reason, as `"accepted": "reason"`, is left alone.
    """
    found: dict[str, object] = {}
    for index in members(document, "globalSecondaryIndexes"):
        name, keys = index.get("indexName"), str((index.get("partitionKey"), index.get("sortKey")))
        if keys in found and not index.get("accepted"):
            yield f"index {name!r} has the same keys as {found[keys]!r}; one of them would do"
        found.setdefault(keys, name)


def backup_errors(backup: Mapping[str, Any], environments: Sequence[str]) -> Iterator[str]:
    for environment in environments:
        plan = backup.get(environment)
        if not isinstance(plan, dict):
            yield f"backup says nothing of {environment}"
            continue
        if plan.get("frequency") not in FREQUENCIES:
            yield (
                f"backup in {environment} is {plan.get('frequency')!r}, and must be"
                f" {either(FREQUENCIES)}"
            )
        days = plan.get("retention")
        if not isinstance(days, int) or isinstance(days, bool) or days < 1:
            yield f"backup in {environment} is kept for {days!r} days, and must be for 1 or more"


def stream_errors(streams: Mapping[str, Any]) -> Iterator[str]:
    if streams.get("enabled") and streams.get("viewType") not in VIEWS:
        yield f"streams shows {streams.get('viewType')!r}, and must show {either(VIEWS)}"


# Reading a document that may be of any shape


def part(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def members(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = document.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def key_names(index: Mapping[str, Any]) -> list[str]:
    """The attributes of an index's key: partition and sort key are each a name, names, or null."""
    halves = (index.get("partitionKey"), index.get("sortKey"))
    return [
        str(name)
        for half in halves
        for name in (half if isinstance(half, list) else [half])
        if name
    ]


def repeats(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def either(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def main(arguments: Sequence[str]) -> int:
    """Prints the faults of the files; returns 1 if there is an error, or nothing to check."""
    files = list(schema_files(map(Path, arguments)))
    if not files:
        print("There is no schema file to check: name files, or folders with *.schema.json.")
        return 1
    faults = [fault for file in files for fault in check_file(file)]
    for fault in faults:
        print(fault)
    errors = sum(fault.level == "error" for fault in faults)
    print(f"{len(files)} files, {errors} errors, {len(faults) - errors} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
