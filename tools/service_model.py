"""Writes the shapes of DynamoDB's requests and responses, which ship with the engine.

They are AWS's service models of DynamoDB and DynamoDB Streams from the installed botocore, without
their documentation and without what only tells a client where to send a request.

    python -m tools.service_model
"""

from __future__ import annotations

import gzip
from importlib import resources
from typing import Any, TypeAlias

import botocore
import orjson

from bigtime.engine.validation.service_model import TABLE

Model: TypeAlias = dict[str, Any]

SERVICES = ("dynamodb", "dynamodbstreams")
OF_AN_OPERATION = ("input", "output", "errors")
FOR_CLIENTS = frozenset({"documentation", "contextParam"})


def service_models() -> dict[str, Model]:
    """The operations and shapes of each service, from the installed botocore."""
    return {service: shapes_of(published_model(service)) for service in SERVICES}


def published_model(service: str) -> Model:
    path = resources.files("botocore") / "data" / service / "2012-08-10" / "service-2.json.gz"
    model: Model = orjson.loads(gzip.decompress(path.read_bytes()))
    return model


def shapes_of(model: Model) -> Model:
    return {
        "operations": {
            name: {part: operation[part] for part in OF_AN_OPERATION if part in operation}
            for name, operation in model["operations"].items()
        },
        "shapes": {name: shape_of(shape) for name, shape in model["shapes"].items()},
    }


def shape_of(shape: Model) -> Model:
    """A shape without prose and what is only for clients; a member with such a name stays."""
    kept = {part: value for part, value in shape.items() if part not in FOR_CLIENTS}
    for part in ("member", "key", "value"):
        if part in kept:
            kept[part] = reference(kept[part])
    if "members" in kept:
        kept["members"] = {name: reference(member) for name, member in kept["members"].items()}
    return kept


def reference(member: Model) -> Model:
    return {part: value for part, value in member.items() if part not in FOR_CLIENTS}


def readable(value: Any, levels: int = 3) -> str:
    """JSON with an operation or a shape per line, so that a change by AWS can be read in a diff."""
    if not levels or not isinstance(value, dict):
        return orjson.dumps(value).decode()
    entries = (f'"{name}": {readable(entry, levels - 1)}' for name, entry in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"


if __name__ == "__main__":
    TABLE.write_text(readable({"botocore": botocore.__version__, **service_models()}) + "\n")
