"""The documentation of the APIs: `/openapi.json` for programs, `/docs` for people.

Generating the OpenAPI of a hundred routes takes a second, which would block the event loop. So it
is done once, on a thread, at the first request; other requests for it wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from bigtime.web.http import page_router
from bigtime.web.pages import Page, Templates, context_of

docs = page_router()

JSON: Final = "application/json"
METHODS: Final = ("get", "post", "put", "patch", "delete")
MOST_DEEP: Final = 4


@docs.get("/openapi.json")
async def show_openapi(request: Request) -> Response:
    """Every route of every API, in OpenAPI."""
    return await answer_from(request, lambda documents: documents.openapi)


@docs.get("/docs")
async def show_docs(request: Request) -> Response:
    """Every route of every API, by its subject."""
    return await answer_from(request, lambda documents: documents.docs)


async def answer_from(request: Request, choose: Callable[[Documents], Page]) -> Response:
    documentation: Documentation = request.app.state.documentation

    async def make() -> tuple[Page, Collection[str]]:
        return choose(await documentation.documents()), ()

    return await context_of(request).cached_page(request, make)


@dataclass(frozen=True, slots=True)
class Documents:
    """The description in OpenAPI, and the page that is made of it."""

    openapi: Page
    docs: Page

    @classmethod
    def of(cls, openapi: dict[str, Any], templates: Templates) -> Documents:
        description = Description(openapi)
        page = templates.page(
            "api/docs.html", subjects=description.subjects(), schemes=description.schemes()
        )
        return cls(Page.json(orjson.dumps(openapi)), page)


class Documentation:
    """Makes the documents at the first request, and keeps them. For one event loop."""

    def __init__(self, describe: Callable[[], dict[str, Any]], templates: Templates) -> None:
        self.describe = describe
        self.templates = templates
        self._making: asyncio.Task[Documents] | None = None

    async def documents(self) -> Documents:
        if self._making is None or has_failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)  # a caller that leaves cancels nothing

    def _make(self) -> Documents:
        return Documents.of(self.describe(), self.templates)


def has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


# The description, read for people


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body: its name, its type, and what it means."""

    name: str
    kind: str
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True)
class OperationResponse:
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
    responses: list[OperationResponse]
    response_example: str


class Description:
    """Reads a description of an API in OpenAPI."""

    def __init__(self, openapi: Mapping[str, Any]) -> None:
        self.openapi = openapi
        self.components: Mapping[str, Any] = openapi.get("components", {})

    def schemes(self) -> list[tuple[str, str]]:
        found = self.components.get("securitySchemes", {})
        return [(name, scheme.get("description", "")) for name, scheme in found.items()]

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
            parameters=[self.parameter(parameter) for parameter in spec.get("parameters", ())],
            body=list(self.fields(body)) if body else [],
            request_example=self.example(body) if body else "",
            responses=[
                OperationResponse(status, responses[status].get("description", ""))
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
        whole = self.resolve(schema)
        required = whole.get("required", ())
        for name, field in whole.get("properties", {}).items():
            yield Field(name, self.kind(field), name in required, field.get("description", ""))

    def kind(self, schema: Mapping[str, Any]) -> str:
        """What a schema allows, in a few words."""
        several = schema.get("anyOf") or schema.get("oneOf")
        if several:
            return " or ".join(self.kind(option) for option in several)
        whole = self.resolve(schema)
        if "enum" in whole:
            return ", ".join(map(str, whole["enum"]))
        if whole.get("type") == "array":
            return f"list of {self.kind(whole.get('items', {}))}"
        words = [str(whole.get("type", "anything")), *limits_in(whole)]
        return " ".join(words)

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in schema:
            return schema
        found: Mapping[str, Any] = self.components["schemas"][schema["$ref"].rpartition("/")[2]]
        return found

    def example(self, schema: Mapping[str, object]) -> str:
        value = self.example_value(schema, MOST_DEEP)
        return "" if value is None else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()

    def example_value(self, schema: Mapping[str, Any], deep: int) -> Any:
        """The example that a schema has, or one made of those of its parts."""
        whole = self.resolve(schema)
        if whole.get("examples"):
            return whole["examples"][0]
        if not deep:
            return None
        match whole.get("type"):
            case "object":
                fields = whole.get("properties", {})
                return {name: self.example_value(field, deep - 1) for name, field in fields.items()}
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


def limits_in(schema: Mapping[str, object]) -> Iterator[str]:
    for name, words in LIMITS:
        if name in schema:
            yield words.format(schema[name])
