"""A run: the same operations on the model and on the targets, compared one by one.

At its end the whole of every table and of every index is compared as well, and the counts that
DescribeTable gives: a wrong write that no later operation met is found there.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace

from bigtime.wire import Request, Response
from tests.reference import operations as o
from tests.reference import spoken
from tests.reference.designs import Design
from tests.reference.differences import Difference
from tests.reference.model import Model
from tests.reference.outcomes import Answer, Observation, Pages, Prediction, Refusal, unlike
from tests.reference.statements import Spoken, Statement, Statements
from tests.reference.strategies import Plan
from tests.reference.targets import Target

MOST_PAGES = 500


@dataclass
class Run:
    designs: tuple[Design, ...]
    targets: list[Target]
    differences: tuple[Difference, ...] = ()
    model: Model = field(init=False)
    history: list[Request] = field(default_factory=list)
    performed: int = 0
    excused: Counter[str] = field(default_factory=Counter)
    latest: o.TransactWrite | None = None

    def __post_init__(self) -> None:
        self.model = Model(self.designs)
        for target in self.targets:
            for design in self.designs:
                create(target, design)

    def perform(self, given: o.Operation | o.Replay | Spoken) -> None:
        if isinstance(given, Statement | Statements):
            self.execute(given)
            return
        operation = self.again(given) if isinstance(given, o.Replay) else given
        if operation is not None and any(rule.respells for rule in self.differences):
            operation = o.spelled_simply(operation)
        if operation is None or self.is_excluded(operation):
            return
        self.history.append(operation.request())
        foretold = self.model.perform(operation)
        if isinstance(operation, o.TransactWrite) and isinstance(foretold, Answer):
            self.latest = operation if operation.token else self.latest
        self.performed += 1
        seen = [observe(target, operation) for target in self.targets]
        for target, observation in zip(self.targets, seen, strict=True):
            self.compare(operation, foretold, target, observation)
        if len(seen) > 1:
            self.compare_words(operation, seen)

    def execute(self, statement: Spoken) -> None:
        """Performs a statement of PartiQL, or several."""
        self.history.append(statement.request())
        foretold = spoken.foretell(self.model, statement)
        self.performed += 1
        for target in self.targets:
            seen = spoken.observe(target, statement)
            problem = spoken.difference(foretold, seen, exact=target.exact)
            if problem is not None:
                self.fail(f"{target.name}: {problem}", statement, foretold, seen)

    def again(self, replay: o.Replay) -> o.TransactWrite | None:
        if self.latest is None or not replay.changed:
            return self.latest
        first, *others = self.latest.writes
        key = {name: first.names()[name] for name in first.design.keys}
        instead: o.Write = o.Delete(design=first.design, key=key)
        if isinstance(first, o.Delete):
            instead = o.Put(design=first.design, item=key)
        return replace(self.latest, writes=(instead, *others))

    def is_excluded(self, operation: o.Operation) -> bool:
        for rule in self.differences:
            if rule.excludes(operation, self.model):
                self.excused[rule.name] += 1
                return True
        return False

    def compare(
        self, operation: o.Operation, foretold: Prediction, target: Target, seen: Observation
    ) -> None:
        problem = unlike(foretold, seen, exact=target.exact)
        if problem is not None:
            self.fail(f"{target.name}: {problem}", operation, foretold, seen)

    def compare_words(self, operation: o.Operation, seen: list[Observation]) -> None:
        first, *others = seen
        for other in others:
            match first, other:
                case Refusal(), Refusal() if first.message != other.message:
                    self.excuse(operation, first, other)
                case _:
                    pass

    def excuse(self, operation: o.Operation, ours: Refusal, theirs: Refusal) -> None:
        for rule in self.differences:
            if rule.excuses(operation, ours, theirs):
                self.excused[rule.name] += 1
                return
        self.fail("another message", operation, ours, theirs)

    def fail(self, problem: str, operation: object, foretold: object, seen: object) -> None:
        asked = "\n".join(f"  {request.operation} {request.params}" for request in self.history)
        raise AssertionError(
            f"{problem}\nafter\n{asked}\noperation {operation}\nexpected {foretold}\nseen {seen}"
        )

    def finish(self) -> None:
        for design in self.designs:
            for index in (None, *design.indexes):
                audit = o.Scan(design=design, index=index.name if index else None)
                foretold = self.model.perform(audit)
                for target in self.targets:
                    self.compare(audit, foretold, target, observe(target, audit))
            self.compare_counts(design)

    def compare_counts(self, design: Design) -> None:
        if any(rule.hides_counts for rule in self.differences):
            return
        table = self.model.tables[design.name]
        foretold = {"": len(table.items)}
        foretold |= {index.name: len(table.view(index)) for index in design.indexes}
        for target in self.targets:
            seen = counts(target, design)
            if seen != foretold:
                self.fail(f"{target.name}: other ItemCounts", design.name, foretold, seen)


def execute(plan: Plan, targets: list[Target], differences: tuple[Difference, ...] = ()) -> Run:
    run = Run(plan.designs, targets, differences)
    for operation in plan.operations():
        run.perform(operation)
    run.finish()
    for target in targets:
        for design in plan.designs:
            drop(target, design)
    return run


def observe(target: Target, operation: o.Operation) -> Observation:
    request = operation.request()
    if not isinstance(operation, o.Query | o.Scan) or operation.fault is not None:
        return target.ask(request)
    segments = operation.segments if isinstance(operation, o.Scan) else None
    walked: list[tuple[Response, ...]] = []
    for segment in range(segments or 1):
        params = dict(request.params) | ({"Segment": segment} if segments else {})
        pages = walk(target, Request(request.operation, params))
        if isinstance(pages, Refusal):
            return pages
        walked.append(pages)
    return Pages(tuple(walked))


def walk(target: Target, request: Request) -> tuple[Response, ...] | Refusal:
    pages: list[Response] = []
    params = dict(request.params)
    while len(pages) < MOST_PAGES:
        page = target.ask(Request(request.operation, params))
        if isinstance(page, Refusal):
            return page
        pages.append(page)
        if not page.get("LastEvaluatedKey"):
            return tuple(pages)
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    raise AssertionError(f"{target.name}: pages without end for {request}")


def create(target: Target, design: Design) -> None:
    drop(target, design)
    answer = target.ask(design.creation())
    assert not isinstance(answer, Refusal), answer
    deadline = time.monotonic() + 60
    while describe(target, design)["TableStatus"] != "ACTIVE":
        assert time.monotonic() < deadline, f"{design.name} never became active"
        time.sleep(0.001)


def drop(target: Target, design: Design) -> None:
    named = {"TableName": design.name}
    if isinstance(target.ask(Request("DescribeTable", named)), Refusal):
        return
    answer = target.ask(Request("DeleteTable", named))
    assert not isinstance(answer, Refusal), answer
    deadline = time.monotonic() + 60
    while not isinstance(target.ask(Request("DescribeTable", named)), Refusal):
        assert time.monotonic() < deadline, f"{design.name} was never gone"
        time.sleep(0.001)


def describe(target: Target, design: Design) -> Response:
    answer = target.ask(Request("DescribeTable", {"TableName": design.name}))
    assert not isinstance(answer, Refusal), answer
    return answer["Table"]  # type: ignore[no-any-return]


def counts(target: Target, design: Design) -> dict[str, int]:
    table = describe(target, design)
    kinds = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
    indexes = [index for kind in kinds for index in table.get(kind, [])]
    return {"": table["ItemCount"], **{ix["IndexName"]: ix["ItemCount"] for ix in indexes}}
