"""Items on their way between regions: conflicts, streams, expiry, crashes, lags."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine, Replication, scrub_file
from bigtime.engine.replication import Replicator, replicator
from bigtime.engine.replication.applier import Applier
from bigtime.engine.storage import CLOSED
from bigtime.wire import InternalServerError, Request, Transport
from tests.engine.calls import until
from tests.engine.regions import world
from tests.engine.regions.world import AWAY, HOME, THIRD, HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def engine(clock: HandClock) -> Iterator[Engine]:
    with Engine.memory(housekeeping=False, clock=clock) as engine:
        yield engine


# --- Who wins -------------------------------------------------------------------------------


def test_the_later_write_wins_everywhere(engine: Engine, clock: HandClock) -> None:
    away = world.make_replica(engine)
    world.put(engine, "a", who="home")
    clock.now += 1
    world.put(away, "a", who="away")
    engine.tidy()
    assert world.get(engine, "a") == world.get(away, "a")
    assert world.get(engine, "a")["who"] == {"S": "away"}


def test_of_two_writes_at_once_the_region_that_sorts_last_wins(engine: Engine) -> None:
    away = world.make_replica(engine)
    world.put(engine, "a", who="home")
    world.put(away, "a", who="away")
    engine.tidy()
    assert AWAY < HOME
    assert world.get(away, "a")["who"] == {"S": "home"} == world.get(engine, "a")["who"]


def test_a_delete_beats_an_older_write_and_loses_to_a_newer_one(
    engine: Engine, clock: HandClock
) -> None:
    away = world.make_replica(engine)
    for id in ("old", "new"):
        world.put(engine, id)
    engine.tidy()
    world.put(away, "old", who="away")
    clock.now += 1
    world.delete(engine, "old")
    world.delete(engine, "new")
    clock.now += 1
    world.put(away, "new", who="away")
    engine.tidy()
    for region in (engine, away):
        assert world.get(region, "old") is None
        assert world.get(region, "new")["who"] == {"S": "away"}


def test_a_write_that_saw_the_other_wins_though_its_clock_is_behind(
    engine: Engine, clock: HandClock
) -> None:
    away = world.make_replica(engine)
    clock.now += 60
    world.put(engine, "a", who="home")
    engine.tidy()
    clock.now -= 60
    world.put(away, "a", who="away")
    engine.tidy()
    assert world.get(engine, "a")["who"] == {"S": "away"} == world.get(away, "a")["who"]


REGIONS = (HOME, AWAY, THIRD)
IDS = ("a", "b", "c")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from(REGIONS), st.sampled_from(IDS)),
        st.tuples(st.just("delete"), st.sampled_from(REGIONS), st.sampled_from(IDS)),
        st.tuples(st.just("replicate"), st.sampled_from(REGIONS), st.just("")),
        st.tuples(st.just("clock"), st.sampled_from(REGIONS), st.sampled_from(("5", "0", "-5"))),
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(steps)
def test_all_regions_end_alike_whatever_the_order_and_the_clocks(
    plan: list[tuple[str, str, str]],
) -> None:
    """Against a model: a version per item, the greater wins, a local write is always greater."""
    clock = HandClock()
    clocks = dict.fromkeys(REGIONS, clock.now)
    model: dict[str, dict[str, tuple[tuple[int, str], str | None]]] = {r: {} for r in REGIONS}
    with Engine.memory(housekeeping=False, clock=clock) as engine:
        world.make_replica(engine, THIRD)
        for number, (action, region, what) in enumerate(plan):
            clock.now = clocks[region]
            here = engine.in_region(region)
            if action == "clock":
                clocks[region] += float(what)
            elif action == "replicate":
                while engine._replicator.applier(region).advance():
                    pass
                take_over(model, region)
            else:
                deleted = action == "delete"
                if deleted:
                    world.delete(here, what)
                else:
                    world.put(here, what, value=str(number))
                is_there = model[region].get(what, ((0, ""), None))[1] is not None
                if not deleted or is_there:
                    model_write(model[region], what, clock.now, region, deleted, number)
        engine.tidy()
        expected = model_end(model)
        for region in REGIONS:
            items = world.everything(engine.in_region(region))
            assert {id: item["value"]["S"] for id, item in items.items()} == expected


Replica = dict[str, tuple[tuple[int, str], str | None]]


def model_write(
    replica: Replica, id: str, now: float, region: str, deleted: bool, number: int
) -> None:
    (at, _), _ = replica.get(id, ((0, ""), None))
    replica[id] = ((max(int(now * 1_000_000), at + 1), region), None if deleted else str(number))


def take_over(model: dict[str, Replica], target: str) -> None:
    for source in list(model.values()):
        for id, entry in list(source.items()):
            if id not in model[target] or entry[0] > model[target][id][0]:
                model[target][id] = entry


def model_end(model: dict[str, Replica]) -> dict[str, str]:
    for region in model:
        take_over(model, region)
    (first, *_) = model
    return {id: value for id, (_, value) in model[first].items() if value is not None}


# --- Streams, expiry, transactions ----------------------------------------------------------------


def test_each_replica_has_every_change_in_its_own_stream(engine: Engine) -> None:
    away = world.make_replica(engine)
    world.put(engine, "a", value="1")
    world.put(engine, "a", value="2")
    world.put(away, "b")
    engine.tidy()
    world.delete(away, "a")
    engine.tidy()
    expected = [("a", "INSERT"), ("a", "MODIFY"), ("a", "REMOVE"), ("b", "INSERT")]
    assert world.events(engine) == expected
    assert world.events(away) == expected
    assert all("version" not in record["dynamodb"] for record in world.records(away))


def test_what_came_from_a_region_is_not_sent_back(engine: Engine) -> None:
    away = world.make_replica(engine, THIRD)
    world.put(engine, "a")
    engine.tidy()
    states = {(s.source, s.target): s for s in engine.replication()}
    assert states[HOME, AWAY].applied + states[THIRD, AWAY].applied == 1
    assert states[AWAY, HOME].applied == states[THIRD, HOME].applied == 0
    assert world.events(away) == [("a", "INSERT")]


def test_an_expired_item_is_deleted_everywhere_and_by_the_service_in_one_region(
    engine: Engine, clock: HandClock
) -> None:
    """AWS: "DynamoDB Streams and Time to Live": the other regions see an ordinary delete."""
    away = world.make_replica(engine)
    ttl = {"Enabled": True, "AttributeName": "until"}
    world.call(engine, "UpdateTimeToLive", TimeToLiveSpecification=ttl)
    engine.tidy()
    item = {"id": {"S": "a"}, "until": {"N": str(int(clock.now) + 10)}}
    world.call(engine, "PutItem", Item=item)
    engine.tidy()
    clock.now += 60
    engine._housekeepers[0].round()  # the home region is the first to notice
    engine._replicator.round()
    assert world.everything(engine) == {} == world.everything(away)
    ((_, here), (_, there)) = (removals(engine), removals(away))
    assert here["Type"] == "Service" and there is None


def removals(region: Transport) -> tuple[str, Any]:
    """The one item that was removed, and who removed it."""
    (record,) = [r for r in world.records(region) if r["eventName"] == "REMOVE"]
    return record["dynamodb"]["Keys"]["id"]["S"], record.get("userIdentity")


def test_a_transaction_arrives_item_by_item(engine: Engine) -> None:
    away = world.make_replica(engine)
    actions = [{"Put": {"TableName": "orders", "Item": {"id": {"S": id}}}} for id in "abc"]
    engine(Request("TransactWriteItems", {"TransactItems": actions}))
    engine.tidy()
    assert set(world.everything(away)) == set("abc")


# --- Away, locked, killed ------------------------------------------------------------------


def test_a_replica_that_missed_trimmed_records_is_compared_with_all(
    engine: Engine, clock: HandClock
) -> None:
    away = world.make_replica(engine)
    for id in ("kept", "gone"):
        world.put(engine, id)
    engine.tidy()
    world.delete(engine, "gone")
    world.put(engine, "new")
    world.put(away, "away")
    clock.now += 2 * 24 * 3600
    for housekeeper in engine._housekeepers:
        housekeeper.round()
    assert world.records(engine) == []
    engine.tidy()
    assert set(world.everything(away)) == {"kept", "new", "away"} == set(world.everything(engine))


def test_tombstones_go_a_day_after_every_replica_had_them(engine: Engine, clock: HandClock) -> None:
    away = world.make_replica(engine)
    world.put(engine, "a")
    world.delete(engine, "a")
    engine.tidy()
    assert tombstones(engine, HOME) == tombstones(engine, AWAY) == 1
    clock.now += 24 * 3600 + 60
    engine.tidy()
    world.put(away, "b")  # a round after the one in which both were seen to be equal
    engine.tidy()
    assert tombstones(engine, HOME) == tombstones(engine, AWAY) == 0


def tombstones(engine: Engine, region: str) -> int:
    database = engine._regions.open(region)
    versions = database.catalogue.tables["orders"].versions
    with database.reading() as reader:
        count: int = reader.execute(f"SELECT count(*) FROM {versions} WHERE deleted").get
        return count


def test_a_locked_region_does_not_hold_up_the_others(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "shop.db", lock_seconds=2.0) as engine:
        world.create(engine)
        world.add_replica(engine)
        away = engine.in_region(AWAY)
        assert until(lambda: world.statuses(engine) == {AWAY: "ACTIVE"})
        holder = hold_lock(tmp_path / f"shop.{AWAY}.db-lock")
        try:
            started = time.monotonic()
            for number in range(20):
                world.put(engine, str(number))
            # To wait for the lock at each of them would take 40 seconds.
            assert time.monotonic() - started < 20
            assert world.refusal(lambda: world.put(away, "x")).startswith("InternalServerError")
        finally:
            holder.kill()
            holder.wait()
        assert until(lambda: len(world.everything(away)) == 20)


def test_a_region_whose_file_is_gone_is_shown_as_disabled(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "shop.db", housekeeping=False) as engine:
        world.make_replica(engine)
    for file in tmp_path.glob(f"shop.{AWAY}.db*"):
        file.unlink()
    with Engine.open(tmp_path / "shop.db", housekeeping=False) as engine:
        world.put(engine, "a")
        engine.tidy()
        assert world.statuses(engine) == {AWAY: "REGION_DISABLED"}


def hold_lock(path: Path) -> subprocess.Popen[str]:
    program = dedent(f"""
        import fcntl, time
        file = open({str(path)!r}, "r+")
        fcntl.flock(file, fcntl.LOCK_EX)
        print("held", flush=True)
        time.sleep(600)
    """)
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline() == "held\n"
    return holder


WRITER = """
import sys
from bigtime.engine import Engine
from tests.engine.regions import world
engine = Engine.open(sys.argv[1])
away = engine.in_region(world.AWAY)
start = int(sys.argv[2])
print("ready", flush=True)
for number in range(start, start + 100_000):
    world.put(engine if number % 2 else away, str(number % 500), value=str(number))
    print(number, flush=True)
"""


def test_nothing_acknowledged_is_lost_when_the_process_is_killed_amid_replication(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shop.db"
    with Engine.open(path, housekeeping=False) as engine:
        world.make_replica(engine)
    last = 0
    for _ in range(4):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(last + 1)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert writer.stdout and writer.stdout.readline() == "ready\n"
        time.sleep(0.5)
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read().splitlines()
        writer.wait()
        last = max([last, *(int(line) for line in lines)])
    with Engine.open(path, housekeeping=False) as engine:
        engine.tidy()
        home, away = world.everything(engine), world.everything(engine.in_region(AWAY))
        assert home == away
        # The last write of each item is there, but for one whose answer the kill cut off.
        for number in range(max(1, last - 499), last + 1):
            assert int(home[str(number % 500)]["value"]["S"]) in (number, number + 500, last + 1)
    for region in ("shop.db", f"shop.{AWAY}.db"):
        assert scrub_file(tmp_path / region).faults == []


# --- In the background, and in step ------------------------------------------------------------


def _state_from_away(engine: Engine) -> Replication:
    (state,) = [state for state in engine.replication() if state.source == AWAY]
    return state


def test_replication_goes_on_by_itself(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "shop.db", durability="relaxed") as engine:
        world.create(engine)
        for number in range(300):
            world.put(engine, str(number))
        world.add_replica(engine)
        away = engine.in_region(AWAY)
        assert until(lambda: world.statuses(engine) == {AWAY: "ACTIVE"})
        world.put(away, "x")
        assert until(lambda: world.get(engine, "x") is not None)
        assert len(world.everything(away)) == 301
        assert until(lambda: _state_from_away(engine).applied == 1)
        assert until(lambda: engine.replication()[0].pending == 0)
        state = _state_from_away(engine)
        assert (state.table, state.target) == ("orders", HOME)
        assert state.latency_milliseconds > 0
    # Another process, or the next one, takes it up again.
    with Engine.open(tmp_path / "shop.db", durability="relaxed") as engine:
        world.put(engine, "y")
        away = engine.in_region(AWAY)
        assert until(lambda: world.get(away, "y") is not None)


def test_an_engine_that_is_closed_amid_replication_logs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    amid = threading.Event()
    watchers: list[Replicator] = []
    has_replicas, advance = Replicator.has_replicas, Applier.advance

    def look(replicator: Replicator) -> bool:
        watchers.append(replicator)
        return has_replicas(replicator)

    def advance_until_closed(applier: Applier) -> bool:
        amid.set()
        while True:
            advance(applier)

    monkeypatch.setattr(Replicator, "has_replicas", look)
    engine = Engine.open(tmp_path / "shop.db")
    world.make_replica(engine)
    monkeypatch.setattr(Applier, "advance", advance_until_closed)
    assert amid.wait(30)
    engine.close()
    assert watchers[0].watch() is False
    assert not caplog.records


def test_in_step_a_write_is_in_every_region_when_it_is_acknowledged(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "shop.db", replication="sync", lock_seconds=0.3) as engine:
        away = world.make_replica(engine)
        for number in range(20):
            here, there = (engine, away) if number % 2 else (away, engine)
            world.put(here, str(number))
            assert world.get(there, str(number))
        answers: list[object] = []
        item = {"id": {"S": "z"}}
        engine.submit(
            Request("PutItem", {"TableName": "orders", "Item": item}),
            lambda response, error: answers.append((response, error)),
        )
        assert until(lambda: answers == [({}, None)])
        assert world.get(away, "z")
    with pytest.raises(ValueError, match="'async' or 'sync'"):
        Engine.memory(replication="both")  # type: ignore[arg-type]


def submit_puts(engine: Engine, count: int) -> list[BaseException | None]:
    """The errors of the puts that have been answered so far."""
    errors: list[BaseException | None] = []
    for number in range(count):
        params = {"TableName": "orders", "Item": {"id": {"S": str(number)}}}
        engine.submit(Request("PutItem", params), lambda _, error: errors.append(error))
    return errors


def test_in_step_writes_that_meet_the_close_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    amid, closed = threading.Event(), threading.Event()

    def push(_: Replicator, source: object) -> None:
        amid.set()
        assert closed.wait(30)

    engine = Engine.memory(replication="sync")
    world.make_replica(engine)
    monkeypatch.setattr(Replicator, "push", push)
    errors = submit_puts(engine, 20)
    assert amid.wait(30)
    engine.close()
    closed.set()
    assert until(lambda: len(errors) == 20)
    assert {str(error) for error in errors if error} == {CLOSED}


def test_in_step_a_write_whose_commit_meets_the_close_holds_up_nothing() -> None:
    engine = Engine.memory(replication="sync")
    world.make_replica(engine)
    assert engine._waiting
    engine._waiting.shutdown()
    errors = submit_puts(engine, 3)
    assert [str(error) for error in errors] == [CLOSED] * 3
    engine.close()


def test_in_step_a_write_behind_a_long_replication_is_told_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replicator, "PUSH_SECONDS", 0.05)
    with Engine.memory(replication="sync", housekeeping=False) as engine:
        world.make_replica(engine)
        refusal = pytest.raises(InternalServerError, match=f"{HOME}, and is not yet in {AWAY}")
        with engine._replicator.applier(AWAY)._mutex, refusal:
            world.put(engine, "a")
        assert world.get(engine, "a")


def test_a_replica_made_while_writes_go_on_has_them_all(engine: Engine) -> None:
    world.create(engine)
    for number in range(600):
        world.put(engine, str(number))
    world.add_replica(engine)
    away = engine._replicator.applier(AWAY)
    for number in range(40):
        away.advance()
        world.put(engine, str(600 + number))
        world.put(engine, str(number), value="changed")
        world.delete(engine, str(100 + number))
    engine.tidy()
    assert world.everything(engine.in_region(AWAY)) == world.everything(engine)
    assert len(world.everything(engine)) == 600
