"""Tapes: what they play back, what a power cut leaves, and what a judge reads from them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from proofs.ledger import create_table
from proofs.strace import events
from proofs.syncs import Judge
from proofs.tape import Event, Image, RecordingVFS, Tape, after_power_cut, play_all
from proofs.torn import stretches, writes_before

COMMIT_HEADER = b"\0\0\0\1" + b"\0\0\0\2" + bytes(16)


def log_write(at: int, data: bytes) -> Event:
    return Event("write", "wal", at, data)


def commit(*names: str) -> Tape:
    page = b"".join(b'"%s"' % name.encode() for name in names)
    return [log_write(32, COMMIT_HEADER), log_write(56, page)]


def ack(name: str) -> Event:
    return Event("ack", data=name.encode())


SYNC = Event("sync", "wal")


def empty() -> Image:
    return Image(bytearray(), bytearray())


def test_a_tape_of_an_engine_plays_back_to_its_files(tmp_path: Path) -> None:
    tape: Tape = []
    path = tmp_path / "played.db"
    Engine.open(path).close()
    base = Image(bytearray(path.read_bytes()), bytearray())
    vfs = RecordingVFS("test-tape", tape)
    with Engine.open(path, vfs="test-tape") as engine:
        engine(create_table())
        image = play_all(base, tape)
        assert image.db == path.read_bytes()
        assert image.wal == path.with_name("played.db-wal").read_bytes()
    assert play_all(base, tape).db == path.read_bytes()
    vfs.unregister()


@given(st.randoms(use_true_random=False), st.binary(min_size=1, max_size=2_000))
def test_a_power_cut_keeps_what_was_synced(chance: random.Random, data: bytes) -> None:
    tape = [log_write(0, data), SYNC, log_write(len(data), b"later" * 300)]
    assert after_power_cut(empty(), tape, chance).wal.startswith(data)


def test_a_power_cut_may_take_anything_that_was_not_synced() -> None:
    chance = random.Random(1)
    cuts = [after_power_cut(empty(), [log_write(0, b"x")], chance).wal for _ in range(50)]
    assert bytearray() in cuts and bytearray(b"x") in cuts


def test_a_sync_of_one_file_does_not_sync_the_other() -> None:
    tape = [log_write(0, b"log"), Event("sync", "db")]
    cuts = [after_power_cut(empty(), tape, random.Random(seed)).wal for seed in range(50)]
    assert bytearray() in cuts


def test_writes_before_a_damage_are_those_that_end_before_it() -> None:
    tape = [
        log_write(0, bytes(32)),
        log_write(32, bytes(68)),
        Event("ack", at=1),
        log_write(100, bytes(100)),
        Event("ack", at=2),
    ]
    assert [writes_before(tape, damage) for damage in (0, 99, 100, 199, 200)] == [0, 0, 1, 1, 2]


def test_damage_is_done_only_to_a_log_whose_checkpoint_has_not_begun() -> None:
    before = [log_write(0, bytes(32)), Event("ack", at=1)]
    tape = [*before, Event("write", "db", 0, b"page"), Event("ack", at=2)]
    assert stretches(tape) == [before]


def test_an_ack_after_its_sync_is_in_order() -> None:
    judge = Judge().play([*commit("0/1", "1/1"), SYNC, ack("0/1"), ack("1/1")])
    assert (judge.violations, judge.commits, judge.syncs) == ([], 1, 1)


def test_an_ack_before_its_sync_is_found() -> None:
    assert Judge().play([*commit("0/1"), ack("0/1"), SYNC]).violations
    assert Judge().play([*commit("0/0"), SYNC, *commit("0/1"), ack("0/1"), SYNC]).violations


def test_an_ack_of_what_was_never_written_is_found() -> None:
    assert Judge().play([SYNC, ack("0/1")]).violations


def test_the_next_commit_under_way_does_not_make_an_ack_early() -> None:
    tape = [*commit("0/1"), SYNC, *commit("0/2"), ack("0/1"), SYNC, ack("0/2")]
    assert Judge().play(tape).violations == []


def test_the_syncs_of_a_new_log_and_of_a_checkpoint_are_no_commits() -> None:
    tape = [log_write(0, bytes(32)), SYNC, *commit("0/1"), SYNC, SYNC]
    assert Judge().play(tape).syncs == 1


def strace_lines() -> Iterator[str]:
    yield r'7 pwrite64(5</x/a.db-wal>, "\0\1abc\"\\", 7, 32) = 7'
    yield "7 fdatasync(5</x/a.db-wal> <unfinished ...>"
    yield '8 write(1<pipe:[12]>, "ack 0/1\\n", 8) = 8'
    yield "7 <... fdatasync resumed>) = 0"
    yield "7 fsync(4</x/a.db>) = 0"
    yield '8 write(2</dev/null>, "ack 0/2\\n", 8) = 8'
    yield "7 +++ exited with 0 +++"


def test_a_trace_is_read_as_a_tape_with_a_sync_where_it_returned() -> None:
    assert list(events(strace_lines())) == [log_write(32, b'\x00\x01abc"\\'), ack("0/1"), SYNC]
