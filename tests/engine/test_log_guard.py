"""The log deleted under a running engine: nothing is acknowledged that would be lost."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.wire import InternalServerError
from tests.engine.calls import call, make_table, s, until

REFUSAL = (
    "notes.db or its log was deleted or replaced while it was open: writes are refused, for they"
    " would be lost. Stop every process that has the file open, and open it again."
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "notes.db", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        put(engine, "before")
        yield engine


def put(engine: Engine, p: str) -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p)})


def is_there(engine: Engine, p: str) -> bool:
    return "Item" in call(engine, "GetItem", TableName="notes", Key={"p": s(p)})


def refusal(engine: Engine, p: str) -> str:
    with pytest.raises(InternalServerError) as caught:
        put(engine, p)
    return caught.value.message


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def move(path: Path) -> None:
    path.rename(path.with_name("moved"))


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("harm", [Path.unlink, move, replace])
def test_a_log_that_is_not_ours_any_more_takes_no_writes(
    engine: Engine, suffix: str, harm: Callable[[Path], None]
) -> None:
    harm(Path(f"{engine.path}{suffix}"))
    assert refusal(engine, "after") == REFUSAL
    assert is_there(engine, "before")
    # For good, also when the file is there again.
    Path(f"{engine.path}{suffix}").touch()
    assert refusal(engine, "later") == REFUSAL


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_what_was_acknowledged_is_saved(engine: Engine, tmp_path: Path, suffix: str) -> None:
    Path(f"{engine.path}{suffix}").unlink()
    refusal(engine, "after")
    # As a kill -9 would leave it: the file alone, with whatever log is in the folder.
    (tmp_path / "killed").mkdir()
    for name in ("notes.db", "notes.db-wal"):
        if (tmp_path / name).exists():
            shutil.copy(tmp_path / name, tmp_path / "killed" / name)
    with Engine.open(tmp_path / "killed" / "notes.db") as found:
        assert is_there(found, "before")


def test_the_keeper_notices_and_saves_what_nobody_writes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Engine.open(tmp_path / "notes.db") as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        put(engine, "before")
        with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
            Path(f"{engine.path}-wal").unlink()
            assert until(lambda: REFUSAL in caplog.text)
        (tmp_path / "killed").mkdir()
        shutil.copy(engine.path, tmp_path / "killed" / "notes.db")
        with Engine.open(tmp_path / "killed" / "notes.db") as found:
            assert is_there(found, "before")


def test_other_files_come_and_go(engine: Engine, tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}").touch()
        put(engine, f"{number}")
        (tmp_path / f"{number}").unlink()
    assert all(is_there(engine, f"{number}") for number in range(50))


def test_a_deletion_right_after_another_change_is_seen(engine: Engine, tmp_path: Path) -> None:
    """Within one tick of the folder's clock."""
    put(engine, "a")
    (tmp_path / "other").touch()
    put(engine, "b")
    Path(f"{engine.path}-wal").unlink()
    assert refusal(engine, "c") == REFUSAL
