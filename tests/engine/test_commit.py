"""Group commit: writers share a sync, none is told a falsehood, and none is left asleep."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Event, current_thread
from types import FrameType
from typing import Any, get_args

import pytest

from bigtime.engine.storage import commit, file, writer_lock
from bigtime.engine.storage.commit import Committer, Work
from bigtime.engine.storage.database import Database
from bigtime.engine.storage.file import Durability, Transaction
from bigtime.wire import DynamoDBError, InternalServerError, ValidationException
from tests.engine.calls import PATIENCE_SECONDS, begin, come, failure, until

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=get_args(Durability))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "notes.db", durability=request.param)
    yield database
    come(begin(database.close))


@pytest.fixture
def committer(database: Database) -> Committer:
    return database.committer


def note(name: str) -> Work[str]:
    """A work that writes a row of this name, and gives it back."""

    def work(transaction: Transaction) -> str:
        transaction.execute("INSERT INTO settings VALUES (?, 'note')", (name,))
        return name

    return work


def notes(database: Database) -> list[str]:
    with database.file.reader() as reader:
        query = "SELECT name FROM settings WHERE value = 'note' ORDER BY name"
        return [name for (name,) in reader.execute(query)]


class Group:
    """Works queued in order behind a busy leader, and so committed together."""

    def __init__(self, committer: Committer) -> None:
        self.committer = committer
        self.go = Event()
        started = Event()

        def hold(_: Transaction) -> None:
            started.set()
            self.go.wait(PATIENCE_SECONDS)

        self.leader = begin(lambda: committer.run(hold))
        assert started.wait(PATIENCE_SECONDS)

    def run(self, work: Work[Any]) -> Future[Any]:
        return self._enqueue(lambda: begin(lambda: self.committer.run(work)))

    def run_alone(self, work: Callable[[Any], Any]) -> Future[Any]:
        return self._enqueue(lambda: begin(lambda: self.committer.run_alone(work)))

    def submit(self, work: Work[Any]) -> Future[Any]:
        return self._enqueue(lambda: submit_to(self.committer, work))

    def _enqueue(self, ask: Callable[[], Future[Any]]) -> Future[Any]:
        before = len(self.committer._queue)
        future = ask()
        assert until(lambda: len(self.committer._queue) > before)
        return future

    def commit(self) -> None:
        self.go.set()
        come(self.leader)


def submit_to(committer: Committer, work: Work[Any]) -> Future[Any]:
    future: Future[Any] = Future()

    def done(result: Any, error: BaseException | None) -> None:
        if error:
            future.set_exception(error)
        else:
            future.set_result((result, current_thread().name))

    committer.submit(work, done)
    return future


def lock_is_free(database: Database) -> bool:
    """Whether another process could write now."""
    handle = os.open(f"{database.file.path}-lock", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


# --- One commit for many -------------------------------------------------------------------------


def test_followers_share_one_commit(database: Database, committer: Committer) -> None:
    group = Group(committer)
    followers = [group.run(note(name)) for name in "abcde"]
    before = committer.groups, committer.acknowledged
    group.commit()
    assert [come(follower) for follower in followers] == list("abcde")
    assert notes(database) == list("abcde")
    # The leader's own commit, and one for the five that queued behind it.
    assert (committer.groups, committer.acknowledged) == (before[0] + 2, before[1] + 6)


def test_nobody_is_told_before_the_commit(database: Database, committer: Committer) -> None:
    group = Group(committer)
    seen: list[object] = []

    def look(_: Transaction) -> None:
        seen.extend([first.done(), second.done(), notes(database)])

    first, second = group.run(note("a")), group.submit(note("b"))
    last = group.run(look)
    group.commit()
    come(last)
    assert seen == [False, False, []]
    assert (come(first), come(second)[0], notes(database)) == ("a", "b", ["a", "b"])


def test_works_run_in_the_order_they_came(committer: Committer) -> None:
    def next_place(transaction: Transaction) -> Any:
        return transaction.execute(
            "UPDATE settings SET value = value + 1 WHERE name = 'last number' RETURNING value"
        ).get

    group = Group(committer)
    asks = (group.run, group.submit, group.run, group.submit, group.run)
    followers = [ask(next_place) for ask in asks]
    group.commit()
    places = [come(follower) for follower in followers]
    # Whoever submits is told by whom as well.
    assert [place[0] if isinstance(place, tuple) else place for place in places] == [1, 2, 3, 4, 5]


def test_a_refused_work_undoes_nobody_elses(database: Database, committer: Committer) -> None:
    def refuse(_: Transaction) -> None:
        raise ValidationException("no")

    group = Group(committer)
    followers = [group.run(work) for work in (note("a"), refuse, note("b"))]
    before = committer.groups
    group.commit()
    assert [type(failure(follower)) for follower in followers] == [
        type(None),
        ValidationException,
        type(None),
    ]
    assert notes(database) == ["a", "b"]
    assert committer.groups == before + 2


def test_a_work_that_crashes_fails_alone(database: Database, committer: Committer) -> None:
    def crash(transaction: Transaction) -> None:
        note("half done")(transaction)
        raise ZeroDivisionError

    group = Group(committer)
    followers = [group.run(work) for work in (note("a"), crash, note("b"))]
    submitter = group.submit(crash)
    group.commit()
    assert [type(failure(each)) for each in (*followers, submitter)] == [
        type(None),
        ZeroDivisionError,
        type(None),
        ZeroDivisionError,
    ]
    assert notes(database) == ["a", "b"]


def test_a_work_refused_in_a_group_that_crashed_is_asked_again(committer: Committer) -> None:
    """What refused it was rolled back, so the refusal may be no longer true."""
    notes_seen = []

    def refuse_beside_notes(transaction: Transaction) -> None:
        query = "SELECT count(*) FROM settings WHERE value = 'note'"
        notes_seen.append(transaction.execute(query).get)
        if notes_seen[-1]:
            raise ValidationException("there are notes")

    def note_and_crash(transaction: Transaction) -> None:
        note("half done")(transaction)
        raise ZeroDivisionError

    group = Group(committer)
    crashed = group.run(note_and_crash)
    asked = group.run(refuse_beside_notes)
    group.commit()
    assert isinstance(failure(crashed), ZeroDivisionError)
    assert failure(asked) is None
    assert notes_seen == [0]


def test_a_full_disk_is_worth_a_retry(database: Database, committer: Committer) -> None:
    database.file.writer.pragma("max_page_count", 1)
    before = database.file.writer.pragma("page_count")
    database.file.writer.pragma("max_page_count", before + 1)
    with pytest.raises(InternalServerError) as caught:
        committer.run(note("x" * 100_000))
    assert "The disk is full: nothing was written." in caught.value.message
    database.file.writer.pragma("max_page_count", before + 1_000)
    assert committer.run(note("a")) == "a"
    assert notes(database) == ["a"]


def test_a_checkpoint_takes_its_turn_outside_the_transaction(committer: Committer) -> None:
    group = Group(committer)
    followers = [
        group.run(lambda transaction: transaction.connection.in_transaction),
        group.run_alone(lambda writer: writer.in_transaction),
        group.run(lambda transaction: transaction.connection.in_transaction),
    ]
    group.commit()
    assert [come(follower) for follower in followers] == [True, False, True]


def test_what_fails_alone_is_told_and_no_more(database: Database, committer: Committer) -> None:
    with pytest.raises(ZeroDivisionError):
        committer.run_alone(lambda _: 1 // 0)
    assert lock_is_free(database)
    assert committer.run(note("a")) == "a"


def test_many_threads_lose_no_count(committer: Committer) -> None:
    def increment(transaction: Transaction) -> Any:
        return transaction.execute(
            "UPDATE settings SET value = value + 1 WHERE name = 'last number' RETURNING value"
        ).get

    def write() -> list[int]:
        own = [committer.run(increment) for _ in range(15)]
        return own + [come(submit_to(committer, increment))[0] for _ in range(10)]

    writers = [begin(write) for _ in range(8)]
    assert sorted(place for writer in writers for place in come(writer)) == list(range(1, 201))


# --- Event loops ----------------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["full"], indirect=True)
def test_a_loop_does_not_wait_for_a_sync(database: Database, committer: Committer) -> None:
    go = Event()

    def slow(transaction: Transaction) -> str:
        go.wait(PATIENCE_SECONDS)
        return note("a")(transaction)

    answer = submit_to(committer, slow)
    assert not answer.done()
    go.set()
    assert come(answer) == ("a", "bigtime-commit")
    assert notes(database) == ["a"]


@pytest.mark.parametrize("database", ["relaxed", "none"], indirect=True)
def test_what_is_not_synced_is_answered_at_once(database: Database, committer: Committer) -> None:
    answer = submit_to(committer, note("a"))
    assert answer.done()
    assert come(answer) == ("a", current_thread().name)
    assert notes(database) == ["a"]


def test_a_loop_is_answered_behind_a_busy_leader(database: Database, committer: Committer) -> None:
    group = Group(committer)
    answers = [group.submit(note(name)) for name in "abc"]
    assert not any(answer.done() for answer in answers)
    group.commit()
    assert [come(answer)[0] for answer in answers] == ["a", "b", "c"]
    assert notes(database) == ["a", "b", "c"]


def test_a_loop_is_told_of_a_refusal(committer: Committer) -> None:
    def refuse(_: Transaction) -> None:
        raise ValidationException("no")

    assert isinstance(failure(submit_to(committer, refuse)), ValidationException)
    assert come(submit_to(committer, note("a")))[0] == "a"


# --- Closing --------------------------------------------------------------------------------------


@pytest.fixture(params=get_args(Durability))
def closable(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    return Database(tmp_path / "closed.db", durability=request.param)


def test_closing_waits_for_what_was_taken(closable: Database) -> None:
    committer = closable.committer
    come(submit_to(committer, note("earlier")))
    group = Group(committer)
    followers = [group.run(note("a")), group.submit(note("b"))]
    closing = begin(committer.close)
    assert until(lambda: committer._closed)
    # The leader is at work: nobody else leads meanwhile, here or in another process.
    assert not closing.done() and not followers[0].done() and not lock_is_free(closable)
    group.commit()
    come(closing)
    assert (come(followers[0]), come(followers[1])[0]) == ("a", "b")
    assert notes(closable) == ["a", "b", "earlier"]
    assert lock_is_free(closable)
    closable.file.close()


def test_a_callback_that_fails_ends_nobody_elses_commit(
    committer: Committer, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(result: Any, error: BaseException | None) -> None:
        raise ZeroDivisionError

    group = Group(committer)
    before = len(group.committer._queue)
    group.committer.submit(note("a"), fail)
    assert until(lambda: len(group.committer._queue) > before)
    after = group.submit(note("b"))
    group.commit()
    assert come(after)
    assert come(submit_to(group.committer, note("c")))
    assert caplog.messages == ["the callback of a write failed"]


def test_a_closed_committer_says_so(closable: Database) -> None:
    closable.close()
    for ask in (
        lambda: closable.committer.run(note("a")),
        lambda: closable.committer.run_alone(lambda _: None),
        lambda: closable.committer.submit(note("a"), lambda result, error: None),
    ):
        with pytest.raises(RuntimeError) as caught:
            ask()
        assert str(caught.value) == "This engine is closed: open the file again."


# --- Interrupts -----------------------------------------------------------------------------------


class Interrupt(BaseException):
    """What a signal handler raises."""


class Striking:
    """Raises an interrupt at one of the moments when Python looks for signals.

    It looks when a function begins and when a call into C returns. A profiler is told of the
    same moments, so every one of them can be tried, one after another.
    """

    FILES = (commit.__file__, file.__file__, writer_lock.__file__, contextlib.__file__)

    def __init__(self, moment: int) -> None:
        self.moments_left = moment

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_return") and frame.f_code.co_filename in self.FILES:
            self.moments_left -= 1
            if self.moments_left == 0:
                raise Interrupt

    def strikes(self, act: Callable[[], object]) -> bool:
        """Whether the moment came before all was done."""
        sys.setprofile(self)
        try:
            act()
        except Interrupt:
            return True
        finally:
            sys.setprofile(None)
        return False


def strike_everywhere(act: Callable[[], object], then: Callable[[int], None]) -> int:
    moment = 1
    while Striking(moment).strikes(act):
        then(moment)
        moment += 1
    return moment


def check_works(database: Database, moment: int) -> None:
    """Another thread can write, which it could not behind a leader that is gone."""
    name = f"after {moment}"
    assert come(begin(lambda: database.committer.run(note(name)))) == name
    assert name in notes(database)
    assert not database.file.writer.in_transaction


def test_an_interrupt_at_any_moment_of_a_write_wedges_nothing(
    database: Database, committer: Committer
) -> None:
    moments = strike_everywhere(
        lambda: committer.run(lambda _: None), lambda moment: check_works(database, moment)
    )
    assert moments > 20


def test_an_interrupt_at_any_moment_of_a_checkpoint_wedges_nothing(
    database: Database, committer: Committer
) -> None:
    moments = strike_everywhere(
        lambda: committer.run_alone(lambda _: None), lambda moment: check_works(database, moment)
    )
    assert moments > 20


def test_an_interrupted_leader_hands_over(database: Database, committer: Committer) -> None:
    heirs: list[Future[str]] = []

    def lead() -> None:
        def work(_: Transaction) -> None:
            name = f"heir {len(heirs):03}"
            heirs.append(begin(lambda: committer.run(note(name))))
            assert until(lambda: committer._queue)

        committer.run(work)

    def check(_: int) -> None:
        assert all(failure(heir) is None for heir in heirs)

    strike_everywhere(lead, check)
    assert [come(heir) for heir in heirs] == notes(database)


def test_an_interrupted_sleeper_leaves_the_queue_in_order(database: Database) -> None:
    """The thread that is struck waits behind a leader, and then leads those who came after it."""
    moment = 1
    while strike_sleeper(database, moment):
        check_works(database, moment)
        moment += 1
    assert moment > 20


def strike_sleeper(database: Database, moment: int) -> bool:
    group, gone, name = Group(database.committer), Event(), f"heir {moment}"
    heir = begin(lambda: queue_behind_another(group, gone, note(name)))
    struck = Striking(moment).strikes(lambda: database.committer.run(lambda _: None))
    gone.set()
    told = failure(come(heir))
    if told is None:
        assert name in notes(database)
    else:
        assert "nothing was changed" in str(told)
        assert name not in notes(database)
    return struck


def queue_behind_another(group: Group, gone: Event, work: Work[str]) -> Future[str]:
    """Queues the work once another has queued, or given up, and lets the group commit."""
    until(lambda: group.committer._queue or gone.is_set())
    follower = group.run(work)
    group.go.set()
    return follower


def test_followers_of_an_interrupted_leader_are_told_nothing_was_changed(
    database: Database, committer: Committer
) -> None:
    def interrupt(_: Transaction) -> None:
        raise Interrupt

    group = Group(committer)
    # The first in the queue leads, and it is the leader's thread that a signal strikes.
    leader, follower, interrupted = map(group.run, (note("a"), note("b"), interrupt))
    group.commit()
    assert isinstance(failure(leader), Interrupt)
    for each in (follower, interrupted):
        error = failure(each)
        assert isinstance(error, DynamoDBError)
        assert error.code == "InternalServerError"
        assert "nothing was changed" in error.message
    assert notes(database) == []
    assert committer.run(note("c")) == "c"


INTERRUPTED = """
    import json, random, signal, sys, threading, time
    from bigtime.engine import Engine
    from bigtime.wire import (InternalServerError, Request)

    class Stop(BaseException): pass

    def stop(*_): raise Stop

    def add(name):
        one = {":one": {"N": "1"}}
        engine(Request("UpdateItem", {
            "TableName": "counters", "Key": {"p": {"S": name}},
            "UpdateExpression": "ADD hits :one", "ExpressionAttributeValues": one}))

    def follow(name):
        while not ended.is_set():
            try:
                add(name)
                acknowledged[name] += 1
            except InternalServerError:
                pass

    def interrupted_writes():
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.01))
            while True:
                add("main")
        except (Stop, InternalServerError):
            pass
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            pass

    signal.signal(signal.SIGALRM, stop)
    random.seed(1)
    engine = Engine.open(sys.argv[1], durability=sys.argv[2])
    engine(Request("CreateTable", {
        "TableName": "counters", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}))
    ended, acknowledged = threading.Event(), {"a": 0, "b": 0, "c": 0}
    threads = [threading.Thread(target=follow, args=(name,), daemon=True) for name in acknowledged]
    for thread in threads:
        thread.start()
    end, interrupts = time.monotonic() + 1.5, 0
    while time.monotonic() < end or interrupts <= 10:
        interrupted_writes()
        interrupts += 1
    ended.set()
    for thread in threads:
        thread.join(20)
    items = engine(Request("Scan", {"TableName": "counters"}))["Items"]
    written = {item["p"]["S"]: int(item["hits"]["N"]) for item in items}
    written.pop("main")
    asleep = sum(thread.is_alive() for thread in threads)
    engine.close()
    print(json.dumps([interrupts, asleep, acknowledged, written]))
"""


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_signals_in_a_writing_main_thread_hurt_no_other(tmp_path: Path, durability: str) -> None:
    script = textwrap.dedent(INTERRUPTED)
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "counters.db"), durability],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    interrupts, asleep, acknowledged, written = json.loads(ended.stdout)
    assert interrupts > 10
    assert asleep == 0
    assert acknowledged == written
