"""An engine's life: opened, used by many threads, forked, forgotten, closed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Request, SerializationException, UnknownOperationException
from tests.engine.calls import begin, call, come, failure, fill, make_table, n, open_files, s, until

ROOT = Path(__file__).parents[2]
CLOSED = "This engine is closed: open the file again."
FILE_CLOSED = "The file is closed: open it again."
FORKED = "This engine was opened before a fork: open the file in the child."


def open_notes(path: Path) -> Engine:
    engine = Engine.open(path, durability="relaxed", housekeeping=False)
    make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    return engine


def put(engine: Engine, p: str) -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p)})


def got(engine: Engine) -> set[str]:
    return {item["p"]["S"] for item in call(engine, "Scan", TableName="notes")["Items"]}


# --- Requests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"TableName": 5}, None, []])
@pytest.mark.parametrize("operation", ["getitem", "", None, "describebackup", "DescribeTables"])
def test_an_unknown_operation_is_unknown_whatever_it_asks(
    engine: Engine, operation: Any, params: Any
) -> None:
    with pytest.raises(UnknownOperationException):
        engine(Request(operation, params))
    errors: list[BaseException | None] = []
    engine.submit(Request(operation, params), lambda _, error: errors.append(error))
    assert [type(error) for error in errors] == [UnknownOperationException]


def test_half_a_surrogate_pair_is_no_text(tmp_path: Path) -> None:
    with open_notes(tmp_path / "notes.db") as engine:
        for asked in ("\ud800", "a\udfff"):
            with pytest.raises(SerializationException):
                put(engine, asked)
            with pytest.raises(SerializationException):
                call(engine, "GetItem", TableName="notes", Key={"p": s(asked)})
        assert got(engine) == set()


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_an_event_loop_is_called_back(tmp_path: Path, durability: Any) -> None:
    with Engine.open(tmp_path / "notes.db", durability=durability) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        answers: list[Any] = []
        requests = [
            Request("PutItem", {"TableName": "notes", "Item": {"p": s("a")}}),
            Request("PutItem", {"TableName": "notes", "Item": {"q": s("a")}}),
            Request("PutItem", {"TableName": "absent", "Item": {"p": s("a")}}),
        ]
        for request in requests:
            engine.submit(request, lambda *answer: answers.append(answer))
        assert until(lambda: len(answers) == 3)
        assert [type(error).__name__ for _, error in answers] == [
            "NoneType",
            "ValidationException",
            "ResourceNotFoundException",
        ]
        engine.submit(
            Request("GetItem", {"TableName": "notes", "Key": {"p": s("a")}}),
            lambda *answer: answers.append(answer),
        )
        # A read has been answered by now.
        assert answers[-1] == ({"Item": {"p": s("a")}}, None)


@pytest.mark.parametrize("durability", ["bogus", "none", "FULL", None])
def test_a_durability_that_is_none_is_refused(tmp_path: Path, durability: Any) -> None:
    path = tmp_path / "notes.db"
    with pytest.raises(ValueError) as caught:
        Engine.open(path, durability=durability)
    assert str(caught.value) == f"durability is 'full' or 'relaxed', not {durability!r}"
    assert not path.exists()


@pytest.mark.parametrize("shards", [0, -1])
def test_a_stream_without_shards_is_refused(tmp_path: Path, shards: int) -> None:
    path = tmp_path / "notes.db"
    with pytest.raises(ValueError) as caught:
        Engine.open(path, stream_shards=shards)
    assert str(caught.value) == f"a stream has one shard at least, not {shards}"
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"replication": "both"}, "replication is 'async' or 'sync', not 'both'"),
        ({"regions": ["eu-west-1", "mars"]}, "'mars' is not the name of a region"),
    ],
)
def test_wrong_options_of_regions_open_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, refusal: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ValueError, match=refusal):
        Engine.open(tmp_path / "notes.db", **options)
    with pytest.raises(ValueError, match=refusal):
        Engine.memory(**options)
    assert not list(tmp_path.iterdir())


# --- Closing --------------------------------------------------------------------------------------


def test_a_closed_engine_says_so(tmp_path: Path) -> None:
    engine = open_notes(tmp_path / "notes.db")
    engine.close()
    engine.close()
    for act in (
        lambda: put(engine, "a"),
        lambda: got(engine),
        lambda: call(engine, "ListTables"),
        lambda: call(engine, "NoSuchOperation"),
    ):
        with pytest.raises(RuntimeError) as caught:
            act()
        assert str(caught.value) == CLOSED
    errors: list[BaseException | None] = []
    engine.submit(Request("ListTables", {}), lambda _, error: errors.append(error))
    assert [str(error) for error in errors] == [CLOSED]


def test_one_engine_closes_and_another_goes_on(tmp_path: Path) -> None:
    one = open_notes(tmp_path / "notes.db")
    with Engine.open(tmp_path / "notes.db", durability="relaxed") as other:
        put(other, "a")
        assert got(one) == {"a"}
        one.close()
        put(other, "b")
        assert got(other) == {"a", "b"}


CLOSABLE: dict[str, Callable[[Path], Engine]] = {
    "memory": lambda _: Engine.memory(),
    "relaxed": lambda path: Engine.open(path, durability="relaxed"),
    "full": Engine.open,
}


@pytest.mark.parametrize("kind", CLOSABLE)
def test_closing_while_twenty_threads_use_it_answers_them_all(tmp_path: Path, kind: str) -> None:
    for number in range(3):
        close_while_used(CLOSABLE[kind](tmp_path / f"{number}.db"))


def close_while_used(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    fill(engine, "notes", 10, text=s("x" * 1_000))
    used = Counter[int]()
    users = [begin(partial(use, engine, name, used)) for name in range(20)]
    busy = until(lambda: used.total() > 20)
    closing = begin(engine.close)
    assert busy
    # Whoever waits for a reader hears of it from the file.
    assert {str(failure(user)) for user in users} <= {CLOSED, FILE_CLOSED}
    come(closing)


def use(engine: Engine, name: int, used: Counter[int]) -> None:
    """Writes or reads for as long as it is answered; more of them read than there are readers."""
    while True:
        if name % 3:
            got(engine)
        else:
            put(engine, f"{name}")
            submit_and_wait(engine, f"{name}")
        used[name] += 1


def submit_and_wait(engine: Engine, p: str) -> None:
    answered = threading.Event()
    errors: list[BaseException | None] = []

    def done(_: object, error: BaseException | None) -> None:
        errors.append(error)
        answered.set()

    engine.submit(Request("PutItem", {"TableName": "notes", "Item": {"p": s(p)}}), done)
    assert answered.wait(20), "nobody called back"
    if errors[0]:
        raise errors[0]


def test_what_was_acknowledged_before_closing_is_there(tmp_path: Path) -> None:
    engine = open_notes(tmp_path / "notes.db")
    acknowledged: list[str] = []

    def write(name: int) -> None:
        for number in range(1_000_000):
            put(engine, f"{name} {number}")
            acknowledged.append(f"{name} {number}")

    writers = [begin(partial(write, name)) for name in range(5)]
    assert until(lambda: len(acknowledged) > 50)
    engine.close()
    assert [str(failure(writer)) for writer in writers] == [CLOSED] * 5
    with Engine.open(tmp_path / "notes.db") as again:
        assert got(again) == set(acknowledged)


# --- What an engine leaves behind -----------------------------------------------------------------


def test_a_memory_engines_folder_goes_with_it() -> None:
    with Engine.memory() as engine:
        folder = engine.path.parent
        assert folder.exists()
    # It is closed, though somebody still knows it.
    assert not folder.exists()


def test_a_memory_engine_that_cannot_be_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ValueError):
        Engine.memory(stream_shards=0)
    assert list(tmp_path.iterdir()) == []


def keepers() -> int:
    """How many threads of engines there are."""
    return sum(thread.name.startswith("bigtime-") for thread in threading.enumerate())


def test_forgotten_engines_are_cleaned_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = keepers()
    for number in range(5):
        make_table(Engine.memory(), {"p": "S"}, keys=("p",))
        submit_and_forget(Engine.open(tmp_path / f"{number}.db"))
        # In a cycle, as an engine is once a boto3 client knows it.
        ring: list[Any] = [Engine.memory()]
        ring.append(ring)
        del ring
    assert until(lambda: not open_files(tmp_path)), open_files(tmp_path)
    assert until(lambda: keepers() <= before)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def submit_and_forget(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    submit_and_wait(engine, "a")


def test_closed_engines_leave_nothing_running(tmp_path: Path) -> None:
    before = keepers()
    for number in range(10):
        with Engine.open(tmp_path / f"{number}.db", durability="relaxed") as engine:
            make_table(engine, {"p": "S"}, keys=("p",))
    assert not open_files(tmp_path)
    assert keepers() <= before


# --- Forks ----------------------------------------------------------------------------------------


def in_child(act: Callable[[], object]) -> str:
    """What came of it in a forked child."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = repr(act())
        except BaseException as error:
            text = str(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def test_a_forked_child_is_told_to_open_the_file(tmp_path: Path) -> None:
    with open_notes(tmp_path / "notes.db") as engine:
        put(engine, "parent")
        assert in_child(lambda: put(engine, "child")) == FORKED
        assert in_child(lambda: got(engine)) == FORKED
        assert in_child(lambda: submit_and_wait(engine, "child")) == FORKED
        # The child's way of closing it is not the parent's.
        assert in_child(engine.close) == "None"
        put(engine, "after")
        assert got(engine) == {"parent", "after"}


def test_a_child_may_open_the_file_itself(tmp_path: Path) -> None:
    def write_in_child() -> object:
        with Engine.open(engine.path, durability="relaxed", housekeeping=False) as own:
            put(own, "child")
            return sorted(got(own))

    with open_notes(tmp_path / "notes.db") as engine:
        put(engine, "parent")
        assert in_child(write_in_child) == "['child', 'parent']"
        put(engine, "after")
        assert got(engine) == {"parent", "child", "after"}


FORKING = """
    import json, os, sys
    from bigtime.engine import Engine
    from bigtime.wire import Request

    engine = Engine.memory()
    child = os.fork()
    if not child:
        sys.exit(0)
    os.waitpid(child, 0)
    engine(Request("CreateTable", {
        "TableName": "notes", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}))
    print(json.dumps(engine.path.parent.exists()))
"""


def test_a_child_that_ends_leaves_its_parents_folder() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKING)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, json.loads(ended.stdout)) == (0, True)


OUTLIVED = """
    import os, signal, sys, time
    from bigtime.engine import Engine

    engine = Engine.open(sys.argv[1], durability="relaxed")
    while not engine._housekeeper.lease.is_held:
        time.sleep(0.01)
    engine._database.file.lock()
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    if sys.argv[2] == "close":
        engine.close()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["close", "kill"])
def test_a_child_keeps_no_lock_of_its_dead_parent(tmp_path: Path, end: str) -> None:
    path = tmp_path / "notes.db"
    script = [sys.executable, "-c", textwrap.dedent(OUTLIVED), str(path), end]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.wait(60)
        try:
            engine = come(begin(lambda: Engine.open(path, durability="relaxed")))
            come(begin(lambda: make_table(engine, {"p": "S"}, name="notes", keys=("p",))))
            assert until(lambda: engine._housekeeper.lease.is_held)
            engine.close()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_fork_in_the_middle_of_writing_hurts_nobody(tmp_path: Path) -> None:
    with open_notes(tmp_path / "notes.db") as engine:
        ended = threading.Event()

        def count() -> int:
            hits = 0
            while not ended.is_set():
                hits += 1
                call(engine, "PutItem", TableName="notes", Item={"p": s("a"), "hits": n(hits)})
            return hits

        counting = begin(count)
        for _ in range(5):
            assert in_child(lambda: put(engine, "child")) == FORKED
        ended.set()
        hits = come(counting)
        found = call(engine, "Scan", TableName="notes")["Items"]
        assert found == [{"p": s("a"), "hits": n(hits)}]
