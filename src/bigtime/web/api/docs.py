"""The documentation of the APIs: `/openapi.json` for programs, `/docs` for people.

`/docs/getting-started` leads from nothing to a first response; `/docs` has every operation with its
fields and an example, and the schema of every body. All of it is generated from the routes and
their models.

Generating the OpenAPI of a hundred routes takes a second, which would block the event loop. So it
is done once, on a thread, at the first request; other requests for it wait meanwhile.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from starlette.responses import Response

from bigtime.web.api.getting_started import ADDRESS, SECTIONS, limit_rows
from bigtime.web.api.meanings import EXAMPLES, explain_fields
from bigtime.web.http import Limit
from bigtime.web.pages import AppRequest, Page, Templates, page_router

docs = page_router()

JSON: Final = "application/json"
METHODS: Final = ("get", "post", "put", "patch", "delete")
MOST_DEEP: Final = 4


@docs.get("/openapi.json")
async def show_openapi(request: AppRequest) -> Response:
    """Every route of every API, in OpenAPI."""
    return await answer_from(request, lambda documents: documents.openapi)


@docs.get("/docs")
async def show_docs(request: AppRequest) -> Response:
    """Every route of every API, by its subject."""
    return await answer_from(request, lambda documents: documents.docs)


@docs.get("/docs/getting-started")
async def show_getting_started(request: AppRequest) -> Response:
    """From nothing to a first response, with curl."""
    return await answer_from(request, lambda documents: documents.getting_started)


async def answer_from(request: AppRequest, choose: Callable[[Documents], Page]) -> Response:
    documentation: Documentation = request.app.state.documentation

    async def make() -> tuple[Page, Collection[str]]:
        return choose(await documentation.documents()), ()

    return await request.cached_page(make)


@dataclass(frozen=True, slots=True)
class Documents:
    """The OpenAPI description, the page generated from it, and the getting-started page."""

    openapi: Page
    docs: Page
    getting_started: Page

    @classmethod
    def of(
        cls, openapi: dict[str, Any], templates: Templates, limits: Mapping[str, Limit]
    ) -> Documents:
        description = Description(explain_fields(openapi))
        page = templates.page(
            "api/docs.html",
            subjects=description.subjects(),
            schemes=description.schemes(),
            shapes=description.shapes(),
            which=next(section for section in SECTIONS if section.id == "which"),
        )
        guide = templates.page(
            "api/getting_started.html",
            sections=SECTIONS,
            limits=[*limit_rows(limits)],
            address=ADDRESS,
        )
        return cls(Page.json(orjson.dumps(openapi)), page, guide)


class Documentation:
    """Generates the documents at the first request, and keeps them. For one event loop."""

    def __init__(
        self,
        describe: Callable[[], dict[str, Any]],
        templates: Templates,
        limits: Mapping[str, Limit],
    ) -> None:
        self.describe = describe
        self.templates = templates
        self.limits = limits
        self._making: asyncio.Task[Documents] | None = None

    async def documents(self) -> Documents:
        if self._making is None or has_failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)  # a client that disconnects does not cancel it

    def _make(self) -> Documents:
        return Documents.of(self.describe(), self.templates, self.limits)


def has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


# The description, rendered for people


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body: its name, its type, and what it means.

    `shape` is the name of its schema or, for a list, of its items' schema; empty if it has none.
    """

    name: str
    kind: str
    is_required: bool
    description: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class OperationResponse:
    """A response that a route may give."""

    status: str
    description: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A body, or a part of one."""

    name: str
    description: str
    fields: list[Field]


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, as shown on the page."""

    id: str
    method: str
    path: str
    summary: str
    paragraphs: list[str]
    parameters: list[Field]
    body: list[Field]
    command: str
    returns: str
    shape: str
    responses: list[OperationResponse]
    response_example: str


class Description:
    """Reads an OpenAPI description."""

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
        returned = content_of(responses[min(responses)])
        return Operation(
            id=spec["operationId"],
            method=method.upper(),
            path=path,
            summary=spec.get("summary", ""),
            paragraphs=spec.get("description", "").split("\n\n"),
            parameters=[self.parameter(parameter) for parameter in spec.get("parameters", ())],
            body=list(self.fields(body)) if body else [],
            command=self.command(path, method, spec),
            returns=self.kind(returned) if returned else "",
            shape=self.shape(returned) if returned else "",
            responses=[
                OperationResponse(status, responses[status].get("description", ""))
                for status in sorted(responses)
            ],
            response_example=self.example(returned),
        )

    def command(self, path: str, method: str, spec: Mapping[str, Any]) -> str:
        """An example of a request as a curl command."""
        parameters = spec.get("parameters", ())
        examples = {each["name"]: self.parameter_example(each) for each in parameters}
        url = PLACE_IN_PATH.sub(lambda place: quote(str(examples[place[1]]), safe=""), path)
        query = {
            each["name"]: examples[each["name"]]
            for each in parameters
            if each["in"] == "query" and each.get("required")
        }
        lines = [f'curl "$SITE{url}{"?" + urlencode(query) if query else ""}"']
        if method != "get":
            lines.append(f"-X {method.upper()}")
        if {} not in spec.get("security", [{}]):
            lines.append('-H "Authorization: Bearer $TOKEN"')
        body = content_of(spec.get("requestBody"))
        if body:
            lines += [f'-H "Content-Type: {JSON}"', f"-d {shlex.quote(self.example(body))}"]
        return " \\\n  ".join(lines)

    def parameter_example(self, spec: Mapping[str, Any]) -> Any:
        found = EXAMPLES.get(spec["name"])
        return self.example_value(spec["schema"], 1) if found is None else found

    def shapes(self) -> list[Shape]:
        """The bodies and their parts; a page of a list is described once."""
        return [
            Shape(shape_name(name), schema.get("description", ""), [*self.fields(schema)])
            for name, schema in sorted(self.components.get("schemas", {}).items())
            if "properties" in schema and not name.startswith(PAGE_OF)
        ]

    def parameter(self, spec: Mapping[str, Any]) -> Field:
        kind = self.kind(spec["schema"]).removesuffix(" or null")  # which is then left out
        return Field(
            spec["name"],
            f"{kind}, in the {spec['in']}",
            bool(spec.get("required")),
            spec.get("description", ""),
        )

    def fields(self, schema: Mapping[str, Any]) -> Iterator[Field]:
        """The fields of a body."""
        whole = self.resolve(schema)
        required = whole.get("required", ())
        for name, field in whole.get("properties", {}).items():
            description, shape = field.get("description", ""), self.shape(field)
            yield Field(name, self.kind(field), name in required, description, shape)

    def kind(self, schema: Mapping[str, Any]) -> str:
        """The type of a schema, in a few words."""
        several = schema.get("anyOf") or schema.get("oneOf")
        if several:
            return " or ".join(self.kind(option) for option in several)
        whole = self.resolve(schema)
        if "enum" in whole:
            return ", ".join(map(str, whole["enum"]))
        if whole.get("type") == "array":
            return f"list of {self.kind(whole.get('items', {}))}"
        if "properties" in whole and "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return f"{'page of ' if name.startswith(PAGE_OF) else ''}{shape_name(name)}"
        words = [str(whole.get("type", "anything")), *limits_in(whole)]
        return " ".join(words)

    def shape(self, schema: Mapping[str, Any]) -> str:
        """The name of a schema or, for a list, of its items' schema; empty if it has none."""
        for option in schema.get("anyOf") or schema.get("oneOf") or [schema]:
            if "$ref" in option and "properties" in self.resolve(option):
                return shape_name(option["$ref"].rpartition("/")[2])
            if option.get("type") == "array":
                return self.shape(option.get("items", {}))
        return ""

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in schema:
            return schema
        found: Mapping[str, Any] = self.components["schemas"][schema["$ref"].rpartition("/")[2]]
        return found

    def example(self, schema: Mapping[str, object]) -> str:
        value = self.example_value(schema, MOST_DEEP)
        return "" if value is None else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()

    def example_value(self, schema: Mapping[str, Any], deep: int, name: str = "") -> Any:
        """A schema's example, or one composed from its parts; `name` is its field."""
        whole = self.resolve((schema.get("anyOf") or [schema])[0])
        if whole.get("examples"):
            return self.whole_example(whole["examples"][0], whole, deep)
        if name in EXAMPLES and "properties" not in whole:
            return EXAMPLES[name]
        if whole.get("enum"):
            return whole["enum"][0]
        return self.assembled_example(whole, deep - 1) if deep else None

    def whole_example(self, example: Any, schema: Mapping[str, Any], deep: int) -> Any:
        """Adds the required fields that an example lacks, as FastAPI leaves out null ones."""
        missing = [name for name in schema.get("required", ()) if name not in example]
        fields: Mapping[str, Any] = schema.get("properties", {})
        added = {
            name: None if may_be_null(fields[name]) else self.example_value(fields[name], deep - 1)
            for name in missing
        }
        return {**example, **added} if added else example

    def assembled_example(self, whole: Mapping[str, Any], deep: int) -> Any:
        match whole.get("type"):
            case "object":
                fields = whole.get("properties", {}).items()
                return {name: self.example_value(field, deep, name) for name, field in fields}
            case "array":
                return [self.example_value(whole.get("items", {}), deep)]
            case "boolean":
                return False
        return None


def may_be_null(schema: Mapping[str, Any]) -> bool:
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))


def content_of(spec: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The schema of a JSON body, if there is one."""
    content: Mapping[str, Any] = (spec or {}).get("content", {}).get(JSON, {})
    schema: Mapping[str, Any] = content.get("schema", {})
    return schema


PAGE_OF: Final = "Listed_"
PLACE_IN_PATH: Final = re.compile(r"{(\w+)}")


def shape_name(schema: str) -> str:
    """The display name of a schema: `Deal` for `DealShown` and `Listed_DealShown_`."""
    return schema.removeprefix(PAGE_OF).rstrip("_").removesuffix("Shown")


LIMITS: Final = (
    ("minimum", "from {}"),
    ("maximum", "to {}"),
    ("exclusiveMaximum", "below {}"),
)


def limits_in(schema: Mapping[str, object]) -> Iterator[str]:
    if "maxLength" in schema:
        yield f"of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    elif schema.get("minLength"):
        yield "that is not empty"
    for name, words in LIMITS:
        if name in schema:
            yield words.format(schema[name])
