"""A description of an API in OpenAPI, read for people: what each route takes and answers."""

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
    """A parameter, or a field of a body: its name, what it holds, and what is said of it."""

    name: str
    kind: str
    is_required: bool
    told: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer that may come."""

    status: str
    told: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, with all that is said of it."""

    id: str
    method: str
    path: str
    summary: str
    told: list[str]
    parameters: list[Field]
    body: list[Field]
    asked: str
    outcomes: list[Outcome]
    answered: str


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
        for path, method, told in self.operations():
            subject = (told.get("tags") or ["others"])[0]
            found.setdefault(subject, []).append(self.operation(path, method, told))
        return found

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for path, methods in self.openapi["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield path, method, methods[method]

    def operation(self, path: str, method: str, told: Mapping[str, Any]) -> Operation:
        body = content_of(told.get("requestBody"))
        answers: Mapping[str, Any] = told["responses"]
        best = min(answers)
        return Operation(
            id=told["operationId"],
            method=method.upper(),
            path=path,
            summary=told.get("summary", ""),
            told=told.get("description", "").split("\n\n"),
            parameters=[self.parameter(one) for one in told.get("parameters", ())],
            body=list(self.fields(body)) if body else [],
            asked=self.example(body) if body else "",
            outcomes=[Outcome(one, answers[one].get("description", "")) for one in sorted(answers)],
            answered=self.example(content_of(answers[best])),
        )

    def parameter(self, told: Mapping[str, Any]) -> Field:
        return Field(
            told["name"],
            f"{self.kind(told['schema'])}, in the {told['in']}",
            bool(told.get("required")),
            told.get("description", ""),
        )

    def fields(self, schema: Mapping[str, Any]) -> Iterator[Field]:
        """The fields of a body."""
        whole = self.resolved(schema)
        required = whole.get("required", ())
        for name, one in whole.get("properties", {}).items():
            told = one.get("description", "")
            yield Field(name, self.kind(one), name in required, told)

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
        made = self.made(schema, MOST_DEEP)
        return "" if made is None else orjson.dumps(made, option=orjson.OPT_INDENT_2).decode()

    def made(self, schema: Mapping[str, Any], deep: int) -> Any:
        """An example of what a schema allows: the one it tells, or one made of its parts."""
        whole = self.resolved(schema)
        if whole.get("examples"):
            return whole["examples"][0]
        if not deep:
            return None
        match whole.get("type"):
            case "object":
                fields = whole.get("properties", {})
                return {name: self.made(one, deep - 1) for name, one in fields.items()}
            case "array":
                return [self.made(whole.get("items", {}), deep - 1)]
            case "boolean":
                return False
        return None


def content_of(told: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The schema of a body, where there is one in JSON."""
    content: Mapping[str, Any] = (told or {}).get("content", {}).get(JSON, {})
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
