"""Sends what a description of an API allows, and what it forbids, as anybody who may call it.

For each operation there are its examples, data that fits its description and data that does not.
All of it is sent as each party, and each answer is held against the description. What is named in
a path or a body is sometimes made up, and sometimes something that is there: else nearly all would
be unknown.

The data is drawn from no chance: the same is sent each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final
from urllib.parse import quote, unquote

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.browsing import Browser

BASE: Final = "http://testserver"
CURSOR: Final = "startAt"
"""Nobody can make one up: with it, everything is refused."""
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who calls: with a token or without, and what they know that is there.

    Both are asked for a path: what is called a deal here is another thing there, and a request
    that ends its session needs one of its own.
    """

    name: str
    browser: Browser
    token: Callable[[str], str | None]
    known: Callable[[str], Mapping[str, str]]

    def send(self, case: Any) -> Any:
        """What is answered to a case."""
        sent = case.as_transport_kwargs(base_url=BASE)
        sent.pop("cookies", None)
        if isinstance(sent.get("data"), bytes | str):
            sent["content"] = sent.pop("data")
        token = self.token(case.path)
        if token is not None:
            sent["headers"] = {**sent["headers"], "authorization": f"Bearer {token}"}
        return self.browser.request(**sent)

    def knowing(self, case: Any) -> Any:
        """The case, with what is there in its path and in its body."""
        there = self.known(case.path)
        path = replace_names(case.path_parameters or {}, there)
        query = {name: value for name, value in (case.query or {}).items() if name != CURSOR}
        return case.operation.Case(
            path_parameters={name: quote(unquote(each), safe="") for name, each in path.items()},
            query=query,
            headers=case.headers,
            body=replace_names(case.body, there),
            media_type=case.media_type,
        )


def replace_names(value: Any, there: Mapping[str, str]) -> Any:
    """The same data, with what is there wherever something of that name is told."""
    if isinstance(value, dict):
        return {name: there.get(name, replace_names(each, there)) for name, each in value.items()}
    return [replace_names(each, there) for each in value] if isinstance(value, list) else value


def operations(told: Mapping[str, Any], prefix: str) -> dict[str, list[Any]]:
    """The operations of an API by their first tag."""
    found: dict[str, list[Any]] = defaultdict(list)
    for result in schema_of(told, prefix).get_all_operations():
        one = result.ok()
        found[one.tags[0]].append(one)
    return dict(found)


def schema_of(told: Mapping[str, Any], prefix: str) -> Any:
    """An API, without who may: credentials are a party's own."""
    paths = {
        path: {
            method: {name: each for name, each in operation.items() if name != "security"}
            for method, operation in methods.items()
        }
        for path, methods in told["paths"].items()
    }
    schema: Any = schemathesis.openapi.from_dict({**told, "paths": paths})
    return schema.include(path_regex=f"^{prefix}")


class Attack:
    """Sends cases as each party, and remembers with what they were answered."""

    def __init__(self, parties: Iterable[Party], *, examples: int) -> None:
        self.parties = list(parties)
        self.examples = examples
        self.answers: dict[str, set[int]] = defaultdict(set)

    def on(self, operation: Any) -> None:
        for case in told_examples(operation):
            self.send(case, knowing=False)
            self.send(case, knowing=True)
        for mode in GenerationMode:
            if mode is GenerationMode.POSITIVE or can_be_wrong(operation):
                self.fuzz(operation, mode)

    def fuzz(self, operation: Any, mode: GenerationMode) -> None:
        """Every other case that fits has something in its path that is there."""
        knowing = cycle((mode is GenerationMode.POSITIVE, False))

        @given(case=operation.as_strategy(generation_mode=mode))
        @exactly(self.examples)
        def send(case: Any) -> None:
            self.send(case, knowing=next(knowing))

        with suppress(Unsatisfiable):  # whatever is sent there fits
            send()

    def send(self, case: Any, *, knowing: bool) -> None:
        for party in self.parties:
            sent = party.knowing(case) if knowing else case
            answer = party.send(sent)
            self.answers[case.operation.label].add(int(answer.status_code))
            try:
                sent.validate_response(answer, checks=CHECKS)
            except BaseException as failure:
                failure.add_note(f"sent by: {party.name}")
                raise

    def too_often(self, operations: Iterable[Any]) -> None:
        """Of those that say it may be too often, every one is, sooner or later."""
        for operation in operations:
            if "429" not in operation.responses.status_codes:
                continue
            self.on(operation)
            assert 429 in self.answers[operation.label], operation.label

    def never_well(self) -> set[str]:
        """The operations that nobody was ever answered well."""
        return {name for name, found in self.answers.items() if min(found) >= 400}


def told_examples(operation: Any) -> Iterator[Any]:
    """The cases that the description has as examples."""
    found: list[Any] = []
    for strategy in operation.schema.get_strategies_from_examples(operation):

        @given(case=strategy)
        @exactly(1)
        def note(case: Any) -> None:
            found.append(case)

        note()
    yield from found


def can_be_wrong(operation: Any) -> bool:
    """A path alone takes any word, and then there is nothing that does not fit."""
    return bool(operation.query or operation.body)


def exactly(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def walk(told: Mapping[str, Any], prefix: str, party: Party, *, walks: int, steps: int) -> set[str]:
    """Goes from answers on to what they lead to; gives the operations that were met."""
    met: set[str] = set()

    class Walk(schema_of(told, prefix).as_state_machine()):  # type: ignore[misc]
        """One who walks."""

        def call(self, case: Any, **options: Any) -> Any:
            met.add(case.operation.label)
            return schemathesis.Response.from_any(party.send(case))

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    Walk.run(settings=settings(exactly(walks), stateful_step_count=steps))
    return met
