"""A description of an API in OpenAPI, read for people: the requests and responses of each route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

JSON: Final = "application/json"
METHODS: Final = ("get", "post", "put", "patch", "delete")
MOST_DEEP: Final = 4


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body: its name, its type, and what it means."""

    name: str
    kind: str
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Response:
    """A response that a route may give."""

    status: str
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, as the page shows it."""

    id: str
    method: str
    path: str
    summary: str
    paragraphs: list[str]
    parameters: list[Field]
    body: list[Field]
    request_example: str
    responses: list[Response]
    response_example: str


class Description:
    """Reads a description of an API in OpenAPI."""

    def __init__(self, openapi: Mapping[str, Any]) -> None:
        self.openapi = openapi
        self.components: Mapping[str, Any] = openapi.get("components", {})

    def schemes(self) -> list[tuple[str, str]]:
        found = self.components.get("securitySchemes", {})
        return [(name, one.get("description", "")) for name, one in found.items()]

    def subjects(self) -> dict[str, list[Operation]]:
        """The operations by their tag."""
        found: dict[str, list[Operation]] = {}
        for path, method, spec in self.operations():
            subject = (spec.get("tags") or ["others"])[0]
            found.setdefault(subject, []).append(self.operation(path, method, spec))
        return found

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for path, methods in self.openapi["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield path, method, methods[method]

    def operation(self, path: str, method: str, spec: Mapping[str, Any]) -> Operation:
        body = content_of(spec.get("requestBody"))
        responses: Mapping[str, Any] = spec["responses"]
        return Operation(
            id=spec["operationId"],
            method=method.upper(),
            path=path,
            summary=spec.get("summary", ""),
            paragraphs=spec.get("description", "").split("\n\n"),
            parameters=[self.parameter(one) for one in spec.get("parameters", ())],
            body=list(self.fields(body)) if body else [],
            request_example=self.example(body) if body else "",
            responses=[
                Response(status, responses[status].get("description", ""))
                for status in sorted(responses)
            ],
            response_example=self.example(content_of(responses[min(responses)])),
        )

    def parameter(self, spec: Mapping[str, Any]) -> Field:
        return Field(
            spec["name"],
            f"{self.kind(spec['schema'])}, in the {spec['in']}",
            bool(spec.get("required")),
            spec.get("description", ""),
        )

    def fields(self, schema: Mapping[str, Any]) -> Iterator[Field]:
        """The fields of a body."""
        whole = self.resolved(schema)
        required = whole.get("required", ())
        for name, one in whole.get("properties", {}).items():
            yield Field(name, self.kind(one), name in required, one.get("description", ""))

    def kind(self, schema: Mapping[str, Any]) -> str:
        """What a schema allows, in a few words."""
        several = schema.get("anyOf") or schema.get("oneOf")
        if several:
            return " or ".join(self.kind(one) for one in several)
        whole = self.resolved(schema)
        if "enum" in whole:
            return ", ".join(map(str, whole["enum"]))
        if whole.get("type") == "array":
            return f"list of {self.kind(whole.get('items', {}))}"
        words = [str(whole.get("type", "anything")), *limits_in(whole)]
        return " ".join(words)

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in schema:
            return schema
        found: Mapping[str, Any] = self.components["schemas"][schema["$ref"].rpartition("/")[2]]
        return found

    def example(self, schema: Mapping[str, Any]) -> str:
        value = self.example_value(schema, MOST_DEEP)
        return "" if value is None else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()

    def example_value(self, schema: Mapping[str, Any], deep: int) -> Any:
        """The example that a schema has, or one made of those of its parts."""
        whole = self.resolved(schema)
        if whole.get("examples"):
            return whole["examples"][0]
        if not deep:
            return None
        match whole.get("type"):
            case "object":
                fields = whole.get("properties", {})
                return {name: self.example_value(one, deep - 1) for name, one in fields.items()}
            case "array":
                return [self.example_value(whole.get("items", {}), deep - 1)]
            case "boolean":
                return False
        return None


def content_of(spec: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The schema of a body, where there is one in JSON."""
    content: Mapping[str, Any] = (spec or {}).get("content", {}).get(JSON, {})
    schema: Mapping[str, Any] = content.get("schema", {})
    return schema


LIMITS: Final = (
    ("minLength", "of at least {} characters"),
    ("maxLength", "of at most {} characters"),
    ("minimum", "from {}"),
    ("maximum", "to {}"),
    ("exclusiveMaximum", "below {}"),
)


def limits_in(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, words in LIMITS:
        if name in schema:
            yield words.format(schema[name])
