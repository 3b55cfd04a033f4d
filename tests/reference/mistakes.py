"""What is wrong with a request's expressions, whatever the tables hold."""

from __future__ import annotations

from collections.abc import Iterator

from tests.reference import evaluation, updates
from tests.reference import operations as o
from tests.reference import trees as t


def mistakes(operation: o.Operation | o.Write) -> Iterator[str]:
    match operation:
        case o.Update():
            yield from (
                f"Invalid UpdateExpression: {m}" for m in updates.mistakes(operation.actions)
            )
            yield from condition_mistakes(operation)
        case o.Put() | o.Delete() | o.Check():
            yield from condition_mistakes(operation)
        case o.Get():
            yield from projection_mistakes(operation)
        case o.Query() | o.Scan():
            yield from projection_mistakes(operation)
            if operation.filter is not None:
                yield from evaluation.mistakes(operation.filter)
            if isinstance(operation, o.Query):
                yield from key_mistakes(operation)
        case o.BatchGet():
            for get in {get.design.name: get for get in reversed(operation.gets)}.values():
                yield from projection_mistakes(get)
        case o.TransactGet():
            for get in operation.gets:
                yield from projection_mistakes(get)
        case o.BatchWrite() | o.TransactWrite():
            for write in operation.writes:
                yield from mistakes(write)


def condition_mistakes(write: o.Write) -> Iterator[str]:
    if write.condition is not None:
        yield from evaluation.mistakes(write.condition)


def projection_mistakes(read: o.Get | o.Read) -> Iterator[str]:
    for clash in updates.clashes(list(read.projection)):
        yield f"Invalid ProjectionExpression: {clash}"


def key_mistakes(query: o.Query) -> Iterator[str]:
    for test in query.keys:
        if test.operator == "BETWEEN":
            low, high = (t.Literal(value) for value in test.values)
            yield from evaluation.between_mistakes(low, high)
