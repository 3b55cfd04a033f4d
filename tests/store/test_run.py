"""Steps, run in every place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from bigtime.wire import (
    Bytes,
    ConditionalCheckFailedException,
    Now,
    Pause,
    Request,
    ResourceNotFoundException,
    Steps,
    Together,
    TransactionCanceledException,
    ValidationException,
)
from tests.store.places import IN_PROCESS, NETWORKED, START, Place, asking, get, put


class AlreadyThere(Exception):
    pass


@dataclass(frozen=True)
class Put:
    """A value that has steps, as the kit's operations are."""

    pk: str

    def __iter__(self) -> Steps[str]:
        item = {"pk": {"S": self.pk}}
        try:
            yield Request(
                "PutItem",
                {
                    "TableName": "Things",
                    "Item": item,
                    "ConditionExpression": "attribute_not_exists(pk)",
                },
            )
        except ConditionalCheckFailedException as error:
            raise AlreadyThere(self.pk) from error
        return self.pk


def test_steps_return_what_they_make_of_their_responses(things: Place) -> None:
    def rename() -> Steps[str]:
        yield from put("a", name={"S": "before"})
        before = yield from get("a")
        yield from put("a", name={"S": "after"})
        after = yield from get("a")
        assert before is not None and after is not None
        return f"{before['name']['S']} {after['name']['S']}"

    assert things.run(rename()) == "before after"
    assert things.operations == ["PutItem", "GetItem", "PutItem", "GetItem"]


def test_a_value_that_has_steps_can_be_run_again(things: Place) -> None:
    operation = Put("a")
    assert things.run(operation) == "a"
    with pytest.raises(AlreadyThere):
        things.run(operation)


def test_binary_values_and_numbers_cross_as_they_are(things: Place) -> None:
    item: dict[str, dict[str, Any]] = {
        "raw": {"B": "AP8="},
        "n": {"N": "12345678901234567890.5"},
        "none": {"NULL": True},
    }
    things.run(put("a", **item))
    assert things.run(get("a")) == {"pk": {"S": "a"}, **item}


def test_an_error_is_thrown_into_the_steps_which_may_go_on(things: Place) -> None:
    def get_from(table: str) -> Steps[str]:
        try:
            yield Request("GetItem", {"TableName": table, "Key": {"pk": {"S": "a"}}})
        except ResourceNotFoundException as error:
            yield from put("instead")
            return str(error)
        return "found"

    assert things.run(get_from("Nowhere")) == "Requested resource not found"
    assert things.run(get("instead")) is not None


def test_an_error_that_is_not_caught_ends_the_run_with_what_dynamodb_said(things: Place) -> None:
    with pytest.raises(ValidationException) as caught:
        things.ask("GetItem", TableName="Things", Key={"other": {"S": "a"}})
    assert str(caught.value) == "The provided key element does not match the schema"


def test_a_failed_condition_brings_the_item_that_failed_it(things: Place) -> None:
    things.run(put("a", n={"N": "1"}))
    with pytest.raises(ConditionalCheckFailedException) as caught:
        things.ask(
            "DeleteItem",
            TableName="Things",
            Key={"pk": {"S": "a"}},
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.item == {"pk": {"S": "a"}, "n": {"N": "1"}}


def test_a_cancelled_transaction_brings_a_reason_for_each_action(things: Place) -> None:
    things.run(put("a"))
    key = {"pk": {"S": "a"}}
    with pytest.raises(TransactionCanceledException) as caught:
        things.ask(
            "TransactWriteItems",
            TransactItems=[
                {"Put": {"TableName": "Things", "Item": {"pk": {"S": "b"}}}},
                {
                    "ConditionCheck": {
                        "TableName": "Things",
                        "Key": key,
                        "ConditionExpression": "attribute_not_exists(pk)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ],
        )
    assert [reason["Code"] for reason in caught.value.reasons] == ["None", "ConditionalCheckFailed"]
    assert caught.value.reasons[1]["Item"] == key
    assert things.run(get("b")) is None


def test_time_and_randomness_are_the_stores(place: Place) -> None:
    def draw() -> Steps[tuple[datetime, bytes, bytes]]:
        now = yield Now()
        first = yield Bytes(2)
        second = yield Bytes(3)
        return now, first, second

    assert place.run(draw()) == (START, b"\x01\x01", b"\x02\x02\x02")
    assert place.operations == []


def test_a_pause_is_slept_in_the_stores_own_way(place: Place) -> None:
    def wait() -> Steps[tuple[datetime, datetime]]:
        before = yield Now()
        told = yield Pause(1.5)
        yield Pause(0)
        after = yield Now()
        assert told is None
        return before, after

    assert place.run(wait()) == (START, START + timedelta(seconds=1.5))
    assert place.time.slept == [1.5, 0]
    assert place.operations == []


def test_pauses_together_are_all_slept(place: Place) -> None:
    def wait(seconds: float) -> Steps[float]:
        yield Pause(seconds)
        return seconds

    def all_of() -> Steps[list[float]]:
        waited: list[float] = yield Together((wait(1), wait(2), wait(3)))
        return waited

    assert place.run(all_of()) == [1, 2, 3]
    assert sorted(place.time.slept) == [1, 2, 3]


@pytest.mark.parametrize("seconds", [-1, -0.001, float("inf"), float("nan")])
def test_a_pause_has_a_length(seconds: float) -> None:
    with pytest.raises(ValueError, match="a pause lasts some seconds, or none"):
        Pause(seconds)


def pattern_of_nothing() -> Steps[None]:
    yield Now()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pattern_of_nothing, "pattern_of_nothing was not called: run what it returns"),
        ("x", "'x' has no steps to run; run an operation"),
        (iter([1]), "has no steps to run; run an operation"),
        ([Put("a")], r"has no steps to run; .* several of them with together\(...\)"),
        (None, "None has no steps to run; run an operation"),
    ],
    ids=["function", "text", "iterator", "list", "nothing"],
)
def test_what_has_no_steps_is_refused_in_a_sentence(place: Place, given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        place.run(given)


def test_steps_that_are_over_do_not_pass_for_done(things: Place) -> None:
    steps = put("a")
    things.run(steps)
    with pytest.raises(TypeError, match="the steps of asking have been run, and run only once"):
        things.run(steps)


def test_what_is_no_step_fails_where_it_was_yielded(place: Place) -> None:
    def forgetful() -> Iterator[Any]:
        try:
            yield Put("a")
        except TypeError as error:
            raise AssertionError(str(error)) from None

    steps: Any = forgetful()
    with pytest.raises(AssertionError) as caught:
        place.run(steps)
    assert "Put(pk='a')" in str(caught.value)
    assert "yield from" in str(caught.value)


def test_steps_end_at_once_when_the_run_does(place: Place) -> None:
    ended: list[str] = []

    def note_end() -> Steps[None]:
        try:
            yield from asking("GetItem", TableName="Nowhere", Key={"pk": {"S": "a"}})
        finally:
            ended.append("ended")

    with pytest.raises(ResourceNotFoundException):
        place.run(note_end())
    assert ended == ["ended"]


def test_hooks_see_each_attempt_with_its_time_and_its_capacity(things: Place) -> None:
    key = {"pk": {"S": "a"}}
    things.ask("GetItem", TableName="Things", Key=key, ReturnConsumedCapacity="TOTAL")
    things.ask("BatchGetItem", RequestItems={"Things": {"Keys": [key]}})
    with pytest.raises(ResourceNotFoundException):
        things.ask("GetItem", TableName="Nowhere", Key=key)
    measured, unmeasured, failed = things.exchanges
    assert measured.consumed_capacity == ({"TableName": "Things", "CapacityUnits": 0.5},)
    assert measured.seconds > 0 and measured.attempt == 1 and measured.error is None
    assert unmeasured.consumed_capacity == ()
    assert failed.response is None and isinstance(failed.error, ResourceNotFoundException)


def test_a_hook_that_raises_ends_the_run(place: Place) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    place.store.hooks = (broken,)
    with pytest.raises(ZeroDivisionError):
        place.ask("ListTables")


# Together.


def test_what_runs_together_comes_back_in_order(things: Place) -> None:
    def both() -> Steps[list[Any]]:
        yield Together(tuple(put(f"{n}", n={"N": f"{n}"}) for n in range(30)))
        found: list[Any] = yield Together(tuple(get(f"{n}") for n in range(30)))
        return found

    assert [item["n"]["N"] for item in things.run(both())] == [f"{n}" for n in range(30)]


def test_nothing_together_is_nothing(place: Place) -> None:
    def nothing() -> Steps[list[Any]]:
        found: list[Any] = yield Together(())
        return found

    assert place.run(nothing()) == []


def test_together_in_together_does_not_wait_for_itself(things: Place) -> None:
    """Three levels of eight are far more than there are threads."""

    def tree(name: str, depth: int) -> Steps[int]:
        if depth == 0:
            yield from put(name)
            return 1
        counts = yield Together(tuple(tree(f"{name}{n}", depth - 1) for n in range(8)))
        return sum(counts)

    assert things.run(tree("t", 3)) == 512


def test_the_first_error_together_is_raised_as_itself_with_its_cause(things: Place) -> None:
    things.run(Put("a"))

    def both() -> Steps[None]:
        yield Together((get("a"), iter(Put("a"))))

    with pytest.raises(AlreadyThere) as caught:
        things.run(both())
    assert isinstance(caught.value.__cause__, ConditionalCheckFailedException)


def test_an_error_together_can_be_caught_by_the_steps(things: Place) -> None:
    def both() -> Steps[str]:
        try:
            yield Together((iter(Put("a")), asking("GetItem", TableName="Nowhere", Key={})))
        except ResourceNotFoundException:
            return "caught"
        return "not"

    assert things.run(both()) == "caught"


@pytest.mark.parametrize("place", IN_PROCESS, indirect=True)
def test_in_process_steps_together_run_in_turn_up_to_an_error(things: Place) -> None:
    def both() -> Steps[None]:
        yield Together((put("a"), asking("GetItem", TableName="Nowhere", Key={}), put("b")))

    with pytest.raises(ResourceNotFoundException):
        things.run(both())
    assert things.operations == ["PutItem", "GetItem"]


@pytest.mark.parametrize("place", NETWORKED, indirect=True)
def test_over_a_network_steps_together_are_under_way_at_once(things: Place) -> None:
    """Each waits for an item that the other writes."""

    def meet(mine: str, other: str) -> Steps[bool]:
        yield from put(mine)
        for _ in range(5_000):
            if (yield from get(other)):
                return True
        return False

    def both() -> Steps[list[bool]]:
        met: list[bool] = yield Together((meet("a", "b"), meet("b", "a")))
        return met

    assert things.run(both()) == [True, True]


@pytest.mark.parametrize("place", NETWORKED, indirect=True)
def test_an_error_together_ends_the_others_which_tidy_up(things: Place) -> None:
    begun, ended = threading.Semaphore(0), threading.Semaphore(0)
    finished: list[str] = []

    def long() -> Steps[None]:
        try:
            begun.release()
            for _ in range(5_000):
                yield from get("a")
            finished.append("not ended")
        finally:
            ended.release()

    def inner() -> Steps[None]:
        yield Together((long(), long()))

    def failing() -> Steps[None]:
        for _ in range(3):
            while not begun.acquire(blocking=False):
                yield from get("a")
        raise AlreadyThere

    def all_of() -> Steps[None]:
        yield Together((long(), inner(), failing()))

    with pytest.raises(AlreadyThere):
        things.run(all_of())
    assert all(ended.acquire(blocking=False) for _ in range(3))
    assert finished == []
