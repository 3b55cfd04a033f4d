"""Clocks that jump: what is written keeps its order, and nothing expires by a moment's mistake."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage.clock import DAY_SECONDS, HOLD_SECONDS, SteadyClock, is_note_due
from tests.engine.calls import call, describe_table, make_table, n, s

HOUR = 3600.0
YEAR = 365 * DAY_SECONDS
START = 1_700_000_000.0


class Clocks:
    """The machine's clocks: one that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.ticks = 50.0
        self.set_by = 0.0

    def wall(self) -> float:
        return START + self.ticks + self.set_by

    def steady(self) -> float:
        return self.ticks

    def clock(self, last_write: float | None = None) -> SteadyClock:
        return SteadyClock(self.wall, self.steady, last_write=last_write)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.mark.parametrize("by", [YEAR, HOUR, 6.0])
def test_a_jump_ahead_is_believed_after_ten_minutes(clocks: Clocks, by: float) -> None:
    clock = clocks.clock()
    clocks.set_by = by
    assert (clock(), clock.expiry_time()) == (clocks.wall(), clocks.wall() - by)
    clocks.ticks += HOLD_SECONDS - 1
    assert clock.expiry_time() == clocks.wall() - by
    clocks.ticks += 1
    assert clock.expiry_time() == clock() == clocks.wall()
    assert clock.is_settled()


@pytest.mark.parametrize("by", [YEAR, HOUR, 6.0])
def test_a_jump_back_moves_no_stamp_back(clocks: Clocks, by: float) -> None:
    clock = clocks.clock()
    before = clock()
    clocks.set_by = -by
    clocks.ticks += 1
    assert clock() == before + 1
    assert clock.expiry_time() == clocks.wall()
    clocks.ticks += HOLD_SECONDS
    assert clock() == clock.expiry_time() == clocks.wall()


def test_a_clock_that_is_set_back_is_believed_at_once(clocks: Clocks) -> None:
    clock = clocks.clock()
    clocks.set_by = YEAR
    assert not clock.is_settled()
    clocks.ticks += 60
    clocks.set_by = 0.5
    assert clock.is_settled()
    assert clock() == clock.expiry_time() == clocks.wall()


def test_a_second_jump_starts_the_ten_minutes_again(clocks: Clocks) -> None:
    clock = clocks.clock()
    clocks.set_by = HOUR
    assert not clock.is_settled()
    clocks.ticks += HOLD_SECONDS - 1
    clocks.set_by = YEAR
    assert not clock.is_settled()
    clocks.ticks += 2
    assert not clock.is_settled()


def test_a_clock_that_drifts_is_followed(clocks: Clocks) -> None:
    clock = clocks.clock()
    for _ in range(100):
        clocks.ticks += HOUR
        clocks.set_by += 2.0
        assert clock() == clock.expiry_time() == clocks.wall()


def test_a_small_step_back_moves_no_stamp_back(clocks: Clocks) -> None:
    clock = clocks.clock()
    before = clock()
    clocks.set_by = -3.0
    assert clock() == before
    assert clock.expiry_time() == clocks.wall()


@pytest.mark.parametrize("ago", [2 * DAY_SECONDS, YEAR, -2 * DAY_SECONDS])
def test_an_old_file_waits_ten_minutes(clocks: Clocks, ago: float) -> None:
    clock = clocks.clock(last_write=clocks.wall() - ago)
    assert clock() == max(clocks.wall(), clocks.wall() - ago)
    assert clock.expiry_time() == min(clocks.wall(), clocks.wall() - ago)
    clocks.ticks += HOLD_SECONDS
    assert clock() == clock.expiry_time() == clocks.wall()


@pytest.mark.parametrize("ago", [None, 0.0, DAY_SECONDS - 1])
def test_a_file_of_today_does_not_wait(clocks: Clocks, ago: float | None) -> None:
    clock = clocks.clock(None if ago is None else clocks.wall() - ago)
    assert clock.is_settled()


# --- An engine on such a clock --------------------------------------------------------------------


@pytest.fixture
def engine(clocks: Clocks) -> Iterator[Engine]:
    with Engine.memory(clock=clocks.clock(), housekeeping=False, shard_seconds=HOUR) as engine:
        make_table(
            engine,
            {"p": "S"},
            name="notes",
            keys=("p",),
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
        call(
            engine,
            "UpdateTimeToLive",
            TableName="notes",
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
        )
        yield engine


def put(engine: Engine, p: str, **attributes: object) -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p), **attributes})


def add_once(engine: Engine, token: str) -> None:
    update = {
        "TableName": "notes",
        "Key": {"p": s("counter")},
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": n(1)},
    }
    call(engine, "TransactWriteItems", TransactItems=[{"Update": update}], ClientRequestToken=token)


def hits(engine: Engine) -> str:
    found = call(engine, "GetItem", TableName="notes", Key={"p": s("counter")})
    return str(found["Item"]["hits"]["N"])


def records(engine: Engine) -> list[str]:
    """The keys of all records that can be read, by shard."""
    arn = describe_table(engine, "notes")["LatestStreamArn"]
    names = []
    for shard in call(engine, "DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        place = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        page = call(engine, "GetRecords", **call(engine, "GetShardIterator", **place))
        names += [record["dynamodb"]["Keys"]["p"]["S"] for record in page["Records"]]
    return sorted(names)


def stored_records(engine: Engine) -> int:
    with engine._database.reading() as reader:
        number = reader.execute("SELECT number FROM streams").get
        count: int = reader.execute(f"SELECT count(*) FROM s{number}").get
        return count


def test_a_moment_ahead_drops_no_record_no_item_and_no_token(
    engine: Engine, clocks: Clocks
) -> None:
    put(engine, "mortal", until=n(int(clocks.wall()) + 3600))
    add_once(engine, "token")
    clocks.ticks += 30
    clocks.set_by = YEAR
    put(engine, "ahead")
    add_once(engine, "token")
    engine.tidy()
    assert records(engine) == ["ahead", "counter", "mortal"]
    clocks.set_by = 0.0
    clocks.ticks += 30
    add_once(engine, "token")
    engine.tidy()
    assert hits(engine) == "1"
    assert records(engine) == ["ahead", "counter", "mortal"]


def test_a_moment_ahead_does_not_stop_the_trimming(engine: Engine, clocks: Clocks) -> None:
    put(engine, "first")
    clocks.set_by = YEAR
    put(engine, "ahead")
    clocks.set_by = 0.0
    for day in range(14):
        for hour in range(24):
            clocks.ticks += HOUR
            put(engine, f"{day}/{hour}")
            engine.tidy()
    # A day of them, and nothing of before.
    assert 23 <= stored_records(engine) <= 25
    shards = call(
        engine, "DescribeStream", StreamArn=describe_table(engine, "notes")["LatestStreamArn"]
    )
    assert len(shards["StreamDescription"]["Shards"]) > 4


def test_a_clock_that_stays_ahead_is_followed(engine: Engine, clocks: Clocks) -> None:
    put(engine, "mortal", until=n(int(clocks.wall()) + 3600))
    clocks.set_by = 2 * HOUR
    engine.tidy()
    assert records(engine) == ["mortal"]
    clocks.ticks += HOLD_SECONDS + 1
    engine.tidy()
    assert "Item" not in call(engine, "GetItem", TableName="notes", Key={"p": s("mortal")})


def test_records_lie_in_the_order_of_their_stamps(engine: Engine, clocks: Clocks) -> None:
    for number, by in enumerate((0.0, YEAR, 0.0, -YEAR, -3.0, HOUR, 0.0)):
        clocks.set_by = by
        clocks.ticks += 1
        put(engine, f"{number}")
    with engine._database.reading() as reader:
        number = reader.execute("SELECT number FROM streams").get
        stamps = [at for (at,) in reader.execute(f"SELECT at FROM s{number} ORDER BY sequence")]
    assert stamps == sorted(stamps) and len(stamps) == 7


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A file as if it had been written two days ago, with an item to live for a day."""
    path = tmp_path / "old.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        call(
            engine,
            "UpdateTimeToLive",
            TableName="notes",
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
        )
        put(engine, "mortal", until=n(int(time() - DAY_SECONDS)))
    for each in tmp_path.iterdir():
        os.utime(each, (time(), time() - 2 * DAY_SECONDS))
    return path


def test_an_old_file_expires_nothing_at_once(old_file: Path) -> None:
    with Engine.open(old_file, durability="relaxed", housekeeping=False) as engine:
        engine.tidy()
        assert "Item" in call(engine, "GetItem", TableName="notes", Key={"p": s("mortal")})


@pytest.mark.parametrize("is_written", [False, True])
def test_an_old_file_that_was_opened_a_moment_ago_still_waits(
    old_file: Path, is_written: bool
) -> None:
    with Engine.open(old_file, durability="relaxed", housekeeping=False) as engine:
        if is_written:
            engine.tidy()
            put(engine, "new")
    with Engine.open(old_file, durability="relaxed", housekeeping=False) as engine:
        engine.tidy()
        assert "Item" in call(engine, "GetItem", TableName="notes", Key={"p": s("mortal")})


def test_the_time_is_noted_once_an_hour_while_it_is_believed(clocks: Clocks) -> None:
    clock = clocks.clock(last_write=clocks.wall())
    assert not is_note_due(clock, None)
    clocks.ticks += HOUR
    assert is_note_due(clock, None) and is_note_due(clock, clocks.wall() - HOUR)
    assert not is_note_due(clock, clocks.wall() - HOUR + 1)
    clocks.set_by = YEAR
    assert is_note_due(clock, None) and not is_note_due(clock, clocks.wall() - YEAR - HOUR)
    assert not is_note_due(time, None)
