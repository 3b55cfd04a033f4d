"""What is tried again, when, and how often."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.store import (
    ConnectionLost,
    NoCredentials,
    NotConnected,
    Retries,
    ServerFailure,
    TimedOut,
    UnmodelledError,
)
from bigtime.store.retries import READS, is_repeatable
from bigtime.wire import (
    ConditionalCheckFailedException,
    InternalServerError,
    LimitExceededException,
    ProvisionedThroughputExceededException,
    Request,
    Steps,
    Together,
    TransactionCanceledException,
    TransactionConflictException,
    TransactionInProgressException,
    ValidationException,
)
from tests.store.places import Place, asking, get, put

ADD = Request("UpdateItem", {"UpdateExpression": "ADD n :one"})
READ = Request("GetItem", {})
LOST = ConnectionLost("The line is dead.", uncertain=True)


def cancellation(*codes: str) -> TransactionCanceledException:
    return TransactionCanceledException([{"Code": code} for code in codes])


# On faults, in every place.


def test_throttling_passes(things: Place, engine: Engine) -> None:
    engine.faults.throttle(next=2)
    things.run(put("a"))
    assert things.operations == ["PutItem"] * 3
    assert [exchange.attempt for exchange in things.exchanges] == [1, 2, 3]
    assert things.time.slept == [0.05, 0.1]


def test_a_conflict_passes(things: Place, engine: Engine) -> None:
    engine.faults.conflict(next=1)
    things.run(put("a"))
    engine.faults.conflict(next=1)
    item = {"pk": {"S": "b"}}
    things.ask("TransactWriteItems", TransactItems=[{"Put": {"TableName": "Things", "Item": item}}])
    assert things.operations == ["PutItem"] * 2 + ["TransactWriteItems"] * 2
    assert things.run(get("b")) == item


def test_a_throttled_add_counts_once(things: Place, engine: Engine) -> None:
    engine.faults.throttle(rate=0.5)
    for _ in range(20):
        things.ask(
            "UpdateItem",
            TableName="Things",
            Key={"pk": {"S": "a"}},
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    engine.faults.clear()
    assert things.run(get("a")) == {"pk": {"S": "a"}, "n": {"N": "20"}}


def test_what_does_not_pass_is_raised_after_the_last_attempt(things: Place, engine: Engine) -> None:
    engine.faults.throttle(next=4)
    with pytest.raises(ProvisionedThroughputExceededException):
        things.run(put("a"))
    assert things.operations == ["PutItem"] * 4
    assert things.time.slept == [0.05, 0.1, 0.2]


def test_steps_never_hear_of_what_passed(things: Place, engine: Engine) -> None:
    def careful() -> Steps[str]:
        try:
            yield from put("a")
        except ProvisionedThroughputExceededException:
            return "heard"
        return "not"

    engine.faults.throttle(next=1)
    assert things.run(careful()) == "not"


def test_each_of_what_runs_together_is_tried_again(things: Place, engine: Engine) -> None:
    def all_of() -> Steps[None]:
        yield Together(tuple(put(f"{n}") for n in range(6)))

    engine.faults.throttle(next=3)
    things.run(all_of())
    assert len(things.ask("Scan", TableName="Things")["Items"]) == 6
    assert things.operations.count("PutItem") == 9


def test_a_failed_condition_is_not_tried_again(things: Place) -> None:
    with pytest.raises(ConditionalCheckFailedException):
        things.run(
            asking(
                "PutItem",
                TableName="Things",
                Item={"pk": {"S": "a"}},
                ConditionExpression="attribute_exists(pk)",
            )
        )
    assert things.operations == ["PutItem"]


# What may be tried again.


@pytest.mark.parametrize(
    "error",
    [
        ProvisionedThroughputExceededException(),
        TransactionConflictException(),
        TransactionInProgressException(),
        InternalServerError(),
        UnmodelledError("ThrottlingException"),
        UnmodelledError("RequestLimitExceeded"),
        NotConnected("Nobody is there.", uncertain=False),
        cancellation("None", "TransactionConflict"),
        cancellation("ThrottlingError"),
        cancellation("ProvisionedThroughputExceeded", "TransactionConflict", "None"),
    ],
    ids=repr,
)
def test_what_changed_nothing_may_always_be_tried_again(error: Exception) -> None:
    assert Retries().may_repeat(ADD, error)
    assert Retries().may_repeat(READ, error)


@pytest.mark.parametrize(
    "error",
    [
        ValidationException("no"),
        ConditionalCheckFailedException(),
        UnmodelledError("ExpiredTokenException"),
        LimitExceededException("Too many tables"),
        cancellation("None", "ConditionalCheckFailed"),
        cancellation("TransactionConflict", "ConditionalCheckFailed"),
        cancellation("None"),
        cancellation(),
        NoCredentials("Who are you?", uncertain=False),
        ValueError("a bug"),
    ],
    ids=repr,
)
def test_what_will_not_pass_is_never_tried_again(error: Exception) -> None:
    assert not Retries(repeat_uncertain_writes=True).may_repeat(READ, error)


def test_too_many_readers_of_a_stream_pass() -> None:
    busy = LimitExceededException()
    assert Retries().may_repeat(Request("GetRecords", {}), busy)
    assert not Retries().may_repeat(Request("CreateTable", {}), busy)


UNCERTAIN = [
    LOST,
    TimedOut("No answer.", uncertain=True),
    ServerFailure("InternalServerError"),
    ServerFailure("HTTP 503"),
]


@pytest.mark.parametrize("error", UNCERTAIN, ids=repr)
def test_after_an_uncertain_failure_only_the_repeatable_is_tried_again(error: Exception) -> None:
    assert Retries().may_repeat(READ, error)
    assert not Retries().may_repeat(ADD, error)
    assert Retries(repeat_uncertain_writes=True).may_repeat(ADD, error)


@pytest.mark.parametrize("operation", sorted(READS | {"DescribeBackup", "ListImports"}))
def test_reads_are_repeatable(operation: str) -> None:
    assert is_repeatable(Request(operation, {}))


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("PutItem", {"Item": {}}),
        ("PutItem", {"Item": {}, "ReturnValues": "NONE"}),
        ("DeleteItem", {"Key": {}}),
        ("BatchWriteItem", {"RequestItems": {}}),
        ("TransactWriteItems", {"TransactItems": [], "ClientRequestToken": "once"}),
    ],
)
def test_writes_that_twice_do_what_once_does_are_repeatable(
    operation: str, params: dict[str, Any]
) -> None:
    assert is_repeatable(Request(operation, params))


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("PutItem", {"Item": {}, "ConditionExpression": "attribute_not_exists(pk)"}),
        ("PutItem", {"Item": {}, "Expected": {"pk": {"Exists": False}}}),
        ("PutItem", {"Item": {}, "ReturnValues": "ALL_OLD"}),
        ("DeleteItem", {"Key": {}, "ConditionExpression": "attribute_exists(pk)"}),
        ("UpdateItem", {"Key": {}, "UpdateExpression": "ADD n :one"}),
        ("TransactWriteItems", {"TransactItems": []}),
        ("CreateTable", {}),
        ("DeleteTable", {}),
    ],
)
def test_other_writes_are_not(operation: str, params: dict[str, Any]) -> None:
    assert not is_repeatable(Request(operation, params))


# The pause.


@given(
    first=st.floats(0.001, 1.0),
    most=st.floats(0.001, 60.0),
    attempt=st.integers(1, 2_000),
    drawn=st.floats(0.0, 1.0, exclude_max=True),
)
def test_a_pause_is_drawn_from_a_bound_that_doubles_up_to_a_cap(
    first: float, most: float, attempt: int, drawn: float
) -> None:
    retries = Retries(attempts=5_000, first_seconds=first, most_seconds=most, draw=lambda: drawn)
    pause = retries.pause(READ, LOST, attempt)
    assert pause is not None
    bound = min(most, first * 2 ** min(attempt - 1, 100))
    assert pause == pytest.approx(drawn * bound)


@given(attempts=st.integers(1, 20))
def test_attempts_are_counted_with_the_first(attempts: int) -> None:
    retries = Retries(attempts=attempts)
    pauses = [retries.pause(READ, LOST, attempt) for attempt in range(1, attempts + 1)]
    assert pauses[-1] is None
    assert None not in pauses[:-1]


def test_an_attempt_that_took_seconds_is_not_repeated() -> None:
    assert Retries().pause(READ, LOST, 1, took=4.9) is not None
    assert Retries().pause(READ, LOST, 1, took=5.0) is None
    assert Retries(slow_seconds=60.0).pause(READ, LOST, 1, took=30.0) is not None


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(ValueError) as caught:
        Retries(attempts=0)
    assert "first one" in str(caught.value)


@pytest.mark.parametrize("seconds", [(-1.0, 5.0), (1.0, -5.0)])
def test_pauses_of_less_than_nothing_are_refused(seconds: tuple[float, float]) -> None:
    first, most = seconds
    with pytest.raises(ValueError, match=f"or none: {min(seconds):g} is neither"):
        Retries(first_seconds=first, most_seconds=most)
