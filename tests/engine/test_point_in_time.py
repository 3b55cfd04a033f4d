"""A restore to any commit gives the items of that commit, whatever is written meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.storage import backup_path, read_backup, scrub
from bigtime.engine.storage.point_in_time import RowNumbers
from bigtime.wire import Item
from tests.engine.calls import Clock, call, index, key_schema, make_table, n, s

KEYS = 7
State = dict[tuple[str, str], Item]

writes = st.tuples(st.sampled_from("PPPUD"), st.integers(0, KEYS - 1), st.integers(0, 9))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.lists(writes, min_size=1, max_size=4)),
        st.tuples(st.just("restore"), st.floats(0.0, 1.0)),
        st.tuples(st.just("back up"), st.none()),
        st.tuples(st.just("copy"), st.none()),
    ),
    max_size=25,
)


def key_of(number: int) -> Item:
    return {"p": s(f"p{number % 3}"), "s": n(number)}


class Story:
    """An engine and what its table should have been after each commit."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.engine = Engine.memory(clock=self.clock, housekeeping=False)
        make_table(
            self.engine,
            {"p": "S", "s": "N", "v": "N"},
            name="notes",
            local=(index("local", key_schema("p", "v")),),
            globally=(index("global", key_schema("v")),),
        )
        self.write([("P", number, 0) for number in range(KEYS) if number % 2])
        self.call(
            "UpdateContinuousBackups",
            TableName="notes",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        self.commits = [(self.clock.now, self.items("notes"))]
        self.expected: dict[str, State] = {}
        self.waiting: dict[str, State] = {}

    def call(self, operation: str, **params: Any) -> Any:
        return call(self.engine, operation, **params)

    def items(self, table: str, **index: str) -> State:
        found = self.call("Scan", TableName=table, **index)["Items"]
        return {(item["p"]["S"], item["s"]["N"]): item for item in found}

    def write(self, actions: list[tuple[str, int, int]]) -> None:
        """The actions, of which each item has its last, in one transaction."""
        self.clock.now += 0.125
        last = {number: (kind, value) for kind, number, value in actions}
        self.call(
            "TransactWriteItems",
            TransactItems=[action(kind, number, value) for number, (kind, value) in last.items()],
        )

    def step(self, kind: str, argument: Any) -> None:
        if kind == "write":
            self.write(argument)
            self.commits.append((self.clock.now, self.items("notes")))
        elif kind == "restore":
            at, state = self.commits[int(argument * (len(self.commits) - 1))]
            self.restore(
                state,
                "RestoreTableToPointInTime",
                SourceTableName="notes",
                RestoreDateTime=at + 0.0625 * (at < self.clock.now),
            )
        elif kind == "back up":
            details = self.call("CreateBackup", TableName="notes", BackupName="backup")
            self.waiting[details["BackupDetails"]["BackupArn"]] = self.commits[-1][1]
        else:
            self.engine._housekeeper.copy()

    def restore(self, state: State, operation: str, **params: Any) -> None:
        name = f"restored-{len(self.expected)}"
        self.call(operation, TargetTableName=name, **params)
        self.expected[name] = state

    def check(self) -> None:
        self.engine.tidy()
        for arn, state in self.waiting.items():
            path = backup_path(self.engine.path, arn.rpartition("/")[2])
            assert sum(len(rows) for rows in read_backup(path)) == len(state)
            self.restore(state, "RestoreTableFromBackup", BackupArn=arn)
        self.engine.tidy()
        for name, state in self.expected.items():
            assert self.items(name) == state
            for each in ("local", "global"):
                assert self.items(name, IndexName=each) == state
        assert scrub(self.engine._database).faults == []


def action(kind: str, number: int, value: int) -> Any:
    key = key_of(number)
    if kind == "P":
        return {"Put": {"TableName": "notes", "Item": {**key, "v": n(value)}}}
    if kind == "D":
        return {"Delete": {"TableName": "notes", "Key": key}}
    return {
        "Update": {
            "TableName": "notes",
            "Key": key,
            "UpdateExpression": "SET v = :v, changed = :v",
            "ExpressionAttributeValues": {":v": n(value)},
        }
    }


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bigtime.engine.storage.backfill.CHUNK", 2)
    monkeypatch.setattr("bigtime.engine.storage.change_log.read_changes.__defaults__", (2,))


@pytest.mark.usefixtures("small_chunks")
@given(steps=steps)
@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_restore_is_the_table_as_it_was(steps: list[tuple[str, Any]]) -> None:
    story = Story()
    with story.engine:
        for step in steps:
            story.step(*step)
        story.check()


def test_a_deleted_table_is_restored_to_any_of_its_commits() -> None:
    story = Story()
    with story.engine:
        for number in range(20):
            story.step("write", [("PUD"[number % 3], number % KEYS, number)])
        story.call("DeleteTable", TableName="notes")
        arn = "arn:aws:dynamodb:us-east-1:000000000000:table/notes"
        for at, state in story.commits[::3]:
            story.restore(
                state, "RestoreTableToPointInTime", SourceTableArn=arn, RestoreDateTime=at
            )
        (backup,) = story.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"]
        last = story.commits[-1][1]
        story.restore(last, "RestoreTableFromBackup", BackupArn=backup["BackupArn"])
        story.check()


@given(st.lists(st.one_of(st.integers(0, 99), st.integers(0, 1 << 40)), max_size=30))
def test_row_numbers_are_a_set(numbers: list[int]) -> None:
    ours, theirs = RowNumbers(), set[int]()
    for number in numbers:
        assert ours.add(number) == (number not in theirs)
        theirs.add(number)
    for number in [*numbers, *range(100)]:
        assert (number in ours) == (number in theirs)
