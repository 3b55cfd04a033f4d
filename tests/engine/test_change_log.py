"""The log behind point-in-time recovery: what each item was before each change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import orjson
import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import Change, last_sequence_of, pin, read_changes, sequence_at, unpin
from bigtime.engine.storage.change_log import is_to_trim, trim_log
from tests.engine.calls import Clock, call, make_table, n, physical_tables, s

DAY = 24 * 3600.0


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        yield engine


def switch(engine: Engine, *, on: bool = True, table: str = "notes", **settings: Any) -> None:
    wanted = {"PointInTimeRecoveryEnabled": on, **settings}
    call(
        engine,
        "UpdateContinuousBackups",
        TableName=table,
        PointInTimeRecoverySpecification=wanted,
    )


def put(engine: Engine, p: str, **more: Any) -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p), **more})


def log_of(engine: Engine, table: str = "notes") -> str:
    log = engine._database.catalogue.table(table).log
    assert log is not None
    return log


def changes(engine: Engine, after: int = 1) -> list[Change]:
    with engine._database.reading() as reader:
        return read_changes(reader, log_of(engine), after)


def befores(engine: Engine) -> list[Any]:
    return [change.item and orjson.loads(change.item) for change in changes(engine)]


def logs(engine: Engine) -> set[str]:
    return {name for name in physical_tables(engine) if name.startswith("l")}


def test_a_table_without_recovery_has_no_log(engine: Engine) -> None:
    put(engine, "a")
    assert logs(engine) == set()
    assert engine._database.catalogue.table("notes").log is None


def test_a_change_is_logged_with_the_item_before_it(engine: Engine) -> None:
    put(engine, "a")
    switch(engine)
    put(engine, "a", v=n(1))
    put(engine, "b")
    call(engine, "DeleteItem", TableName="notes", Key={"p": s("a")})
    call(
        engine,
        "UpdateItem",
        TableName="notes",
        Key={"p": s("b")},
        UpdateExpression="SET v = :v",
        ExpressionAttributeValues={":v": n(5)},
    )
    assert befores(engine) == [{"p": s("a")}, None, {"p": s("a"), "v": n(1)}, {"p": s("b")}]


def test_a_write_that_changes_nothing_logs_nothing(engine: Engine) -> None:
    put(engine, "a")
    switch(engine)
    put(engine, "a")
    call(engine, "DeleteItem", TableName="notes", Key={"p": s("no such")})
    assert changes(engine) == []


def test_batches_transactions_and_expiry_are_logged(engine: Engine, clock: Clock) -> None:
    switch(engine)
    ttl = {"AttributeName": "until", "Enabled": True}
    call(engine, "UpdateTimeToLive", TableName="notes", TimeToLiveSpecification=ttl)
    puts = [{"PutRequest": {"Item": {"p": s(p)}}} for p in "ab"]
    call(engine, "BatchWriteItem", RequestItems={"notes": puts})
    short = {"p": s("c"), "until": n(int(clock.now) + 10)}
    call(
        engine, "TransactWriteItems", TransactItems=[{"Put": {"TableName": "notes", "Item": short}}]
    )
    call(engine, "ExecuteStatement", Statement="DELETE FROM notes WHERE p = 'a'")
    clock.now += 60
    engine.tidy()
    assert befores(engine) == [None, None, None, {"p": s("a")}, short]


def test_a_log_goes_when_recovery_is_switched_off(engine: Engine) -> None:
    switch(engine)
    assert len(logs(engine)) == 1
    switch(engine, on=False)
    assert logs(engine) == set()
    put(engine, "a")
    switch(engine)
    assert changes(engine) == []


def test_stamps_never_go_back(engine: Engine, clock: Clock) -> None:
    switch(engine)
    start = clock.now
    for seconds in (10.0, 4.0, 11.0, -100.0):
        clock.now = start + seconds
        put(engine, "a", v=n(seconds))
    assert [change.at - start for change in changes(engine)] == [10.0, 10.0, 11.0, 11.0]


def test_a_moment_is_found_among_the_stamps(engine: Engine, clock: Clock) -> None:
    switch(engine)
    start = clock.now
    for second in range(1, 50):
        clock.now = start + second
        put(engine, "a", v=n(second))
    with engine._database.reading() as reader:
        found = [
            sequence_at(reader, log_of(engine), start + at) for at in (0, 0.999, 1, 7.5, 49, 99)
        ]
    assert found == [1, 1, 2, 8, 50, 50]


def test_the_log_is_trimmed_and_its_sequences_go_on(engine: Engine, clock: Clock) -> None:
    switch(engine, RecoveryPeriodInDays=2)
    for p in "abc":
        put(engine, p, secret=s("what was here"))
    put(engine, "a")
    clock.now += 2 * DAY + 1
    engine.tidy()
    (left,) = changes(engine, after=0)
    assert (left.sequence, left.partition, left.item) == (5, b"", None)
    put(engine, "b")
    assert [change.sequence for change in changes(engine, after=0)] == [5, 6]
    engine.tidy()
    assert [change.sequence for change in changes(engine, after=0)] == [6]


def test_trimming_keeps_what_a_restore_may_still_reach(engine: Engine, clock: Clock) -> None:
    switch(engine, RecoveryPeriodInDays=1)
    for day in range(4):
        put(engine, "a", v=n(day))
        clock.now += DAY / 2
    engine.tidy()
    assert befores(engine) == [{"p": s("a"), "v": n(2)}]


def test_trimming_goes_by_chunks_and_each_looks_at_its_own_rows_alone(
    engine: Engine, clock: Clock
) -> None:
    switch(engine, RecoveryPeriodInDays=1)
    for number in range(1_300):
        put(engine, "a", v=n(number))
    clock.now += 2 * DAY
    log = int(log_of(engine)[1:])
    steps: list[int] = []
    rounds = 0
    has_more = True
    while has_more:
        visited = 0

        def count() -> bool:
            nonlocal visited
            visited += 1
            return False

        connection = engine._database.file.writer
        connection.set_progress_handler(count, 100)
        has_more = engine._database.committer.run(partial(trim_log, log, clock.now - DAY))
        connection.set_progress_handler(None)
        steps.append(visited)
        rounds += 1
    assert rounds == 3
    assert max(steps) < 3 * min(steps)
    with engine._database.reading() as reader:
        assert not is_to_trim(reader, log, clock.now - DAY)
        assert last_sequence_of(reader, f"l{log}") == 1_301


def test_a_pin_keeps_what_comes_after_it(engine: Engine, clock: Clock) -> None:
    switch(engine, RecoveryPeriodInDays=1)
    for number in range(5):
        put(engine, "a", v=n(number))
    log = int(log_of(engine)[1:])
    run = engine._database.committer.run
    pinned = run(lambda transaction: pin(transaction, log, 3))
    clock.now += 2 * DAY
    engine.tidy()
    assert [change.sequence for change in changes(engine, after=0)] == [4, 5, 6]
    switch(engine, on=False)
    assert logs(engine) == {f"l{log}"}
    run(lambda transaction: unpin(transaction, pinned))
    switch(engine, on=False)
    assert logs(engine) == set()


def test_stamps_of_a_clock_that_was_ahead_are_taken_back(engine: Engine, clock: Clock) -> None:
    switch(engine, RecoveryPeriodInDays=1)
    put(engine, "a")
    clock.now += 400 * DAY
    put(engine, "a", v=n(1))
    clock.now -= 400 * DAY
    engine.tidy()
    assert changes(engine)[-1].at == clock.now
    clock.now += 2 * DAY
    engine.tidy()
    assert [change.partition for change in changes(engine)] == [b""]
