"""Modules that an import has written, loaded as Python loads them."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from typing import Any

from bigtime import model as bt
from bigtime.advisor import ImportedModule, import_workbench, open_findings

FOLDER = Path(__file__).parent
CART = FOLDER / "CartModel.json"
SCHEMA = FOLDER / "schema.json"
NUMBERS = count(1)


def load(made: ImportedModule, folder: Path) -> Any:
    """The module; its system has nothing that `bigtime check` finds and nobody accepted."""
    name = f"imported_{next(NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(made.text)
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    assert open_findings(module.SYSTEM) == []
    return module


def import_model(folder: Path, *tables: dict[str, Any], **members: Any) -> ImportedModule:
    """What a Workbench model of these tables becomes."""
    model = {
        "ModelName": "Shop",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": list(tables),
        **members,
    }
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return import_workbench(path)


def table(
    name: str = "Shop",
    partition: str = "PK",
    sort: str | None = "SK",
    rows: list[dict[str, Any]] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """A table of a model; plain values of rows are texts."""
    keys = {"PartitionKey": {"AttributeName": partition, "AttributeType": "S"}}
    if sort:
        keys["SortKey"] = {"AttributeName": sort, "AttributeType": "S"}
    return {
        "TableName": name,
        "KeyAttributes": keys,
        "NonKeyAttributes": [],
        "TableData": [item(**row) for row in rows or []],
        **members,
    }


def index(name: str, partition: str, sort: str | None = None) -> dict[str, Any]:
    keys = {"PartitionKey": {"AttributeName": partition, "AttributeType": "S"}}
    if sort:
        keys["SortKey"] = {"AttributeName": sort, "AttributeType": "S"}
    return {
        "IndexName": name,
        "KeyAttributes": keys,
        "Projection": {"ProjectionType": "ALL"},
    }


def item(**values: Any) -> dict[str, Any]:
    tags = {bool: "BOOL", int: "N"}
    return {
        name: value
        if isinstance(value, dict)
        else {tags.get(type(value), "S"): str(value) if isinstance(value, int) else value}
        if not isinstance(value, bool)
        else {"BOOL": value}
        for name, value in values.items()
    }


def templates(system: bt.System) -> dict[tuple[str, str], tuple[str, ...]]:
    """By entity and index."""
    return {
        (entity.__name__, name): tuple(part.template.text for part in key.parts)
        for entity in system.entities
        for name, key in entity.layout.keys.items()
    }


def entity(system: bt.System, name: str) -> type[bt.Entity]:
    return next(each for each in system.entities if each.__name__ == name)
