"""P2: whatever a power cut does to the log, the reopened file is a prefix of the commits.

One writer fills a file while a tape records every write and sync. Then, case by case, the file
is assembled as it may be on disk afterwards, opened, and read in full:

- *power cut*: at any moment, half of them during checkpoints. What was synced is there; of the rest
  any part may be. All acknowledged writes must be there.
- *cut*, *zeroed sector*, *garbled tail*, *flipped bit*: the log is damaged at some byte before any
  checkpoint has touched the database. Every commit that lies before the damage must be there.

In each case base, index, stream and counts must be those after some number of writes: no half
transaction, no gap. `integrity_check` must pass.
"""

from __future__ import annotations

import random
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import orjson

from bigtime.engine import Engine
from bigtime.engine.storage.page_gaps import PAGE_BYTES
from bigtime.wire import Item
from proofs import audit, pace
from proofs.ledger import Book, create_table, writes
from proofs.mutants import mutate
from proofs.processes import in_child
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.tape import SECTOR, Event, Image, RecordingVFS, Tape, after_power_cut, play_all

WRITES = 120
CASES_PER_TAPE = 250
WRITER = 0
SHORT_LOG, LONG_LOG = 40, 400  # pages before a checkpoint: many checkpoints, or a long log


# --- Recording ------------------------------------------------------------------------------


def record(path: Path, seed: int, mutant: str | None, pipe: Connection) -> None:
    """In a child: the file as it was before, and the tape of the writes after that."""
    mutate(mutant)
    pages = SHORT_LOG if seed % 2 else LONG_LOG
    with Engine.open(path) as engine:
        engine(create_table())
    base = Image(bytearray(path.read_bytes()), bytearray())
    tape: Tape = []
    vfs = RecordingVFS("bigtime-tape", tape)
    with Engine.open(path, vfs="bigtime-tape", housekeeping=False) as engine:
        for number, request in writes(seed, WRITER, 0):
            engine(request)
            tape.append(Event("ack", at=number))
            if engine.file_figures().wal_bytes > pages * PAGE_BYTES:
                run_checkpoint(engine, restarts=seed % 4 < 2)
            if number == WRITES:
                break
    vfs.unregister()
    pipe.send((base, tape))


def run_checkpoint(engine: Engine, *, restarts: bool) -> None:
    """Runs a checkpoint at a fixed place: a thread would get few turns between the writes."""
    database = engine._database
    database.committer.run_alone(lambda writer: database.file.checkpoint(restarts=restarts))


@dataclass(slots=True)
class Recording:
    """A tape, and what the table must hold after each number of writes."""

    base: Image
    tape: Tape
    books: list[Book]
    checkpoints: list[int]
    """The places on the tape during checkpoints, of which there are few."""
    numbers: dict[bytes, list[int]] = field(default_factory=dict)

    def numbers_of(self, items: dict[str, Item]) -> list[int]:
        """The numbers of writes after which the table holds these items."""
        return self.numbers.get(fingerprint(items), [])


def make_recording(folder: Path, seed: int, mutant: str | None) -> Recording:
    base, tape = in_child(record, folder / f"{seed}.db", seed, mutant)
    recording = Recording(base, tape, books(seed), checkpoint_places(tape))
    for number, book in enumerate(recording.books):
        recording.numbers.setdefault(fingerprint(book.items), []).append(number)
    return recording


def checkpoint_places(tape: Tape) -> list[int]:
    """Every place between a first write to the database and the log's next header."""
    places: list[int] = []
    is_amid = False
    for place, event in enumerate(tape):
        if event.file == "db" and event.kind == "write":
            is_amid = True
        elif event.starts_log and any(event.data):
            is_amid = False
        if is_amid:
            places.append(place)
    return places


def books(seed: int) -> list[Book]:
    book = Book(seed)
    states = [Book(seed)]
    for _ in range(WRITES):
        book.carry_out(WRITER)
        changes = {account: list(told) for account, told in book.changes.items()}
        states.append(Book(seed, dict(book.items), changes))
    return states


def fingerprint(items: dict[str, Item]) -> bytes:
    return orjson.dumps(items, option=orjson.OPT_SORT_KEYS)


# --- Damage ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """An image of the disk, and how many writes must have survived in it."""

    damage: str
    image: Image
    required: int


def power_cut(recording: Recording, chance: random.Random) -> Case:
    places = range(len(recording.tape) + 1)
    tape = recording.tape[: chance.choice(chance.choice([places, recording.checkpoints]))]
    acknowledged = max((event.at for event in tape if event.kind == "ack"), default=0)
    return Case("power cut", after_power_cut(recording.base, tape, chance), acknowledged)


def damaged_log(recording: Recording, chance: random.Random, damage: str) -> Case:
    tape = chance.choice(stretches(recording.tape))
    image = play_all(recording.base, tape)
    at = chance.randrange(len(image.wal))
    if damage == "zeroed sector":
        at -= at % SECTOR
    DAMAGES[damage](image.wal, at, chance)
    return Case(damage, image, writes_before(tape, at))


def stretches(tape: Tape) -> list[Tape]:
    """The prefixes of a tape that end with an ack, before a checkpoint of their log begins."""
    found = []
    is_clean = False
    for place, event in enumerate(tape):
        if event.starts_log:
            is_clean = True
        elif event.file == "db" and event.kind == "write":
            is_clean = False
        elif event.kind == "ack" and is_clean:
            found.append(tape[: place + 1])
    return found


def writes_before(tape: Tape, damage: int) -> int:
    """The number of writes that are in the database already, or in the log before the damage."""
    ends: list[int] = []
    first = end = 0
    for event in tape:
        if event.starts_log:
            first, end, ends = first + len(ends), 0, []
        if event.kind == "write" and event.file == "wal":
            end = max(end, event.at + len(event.data))
        elif event.kind == "ack":
            ends.append(end)
    return first + bisect_right(ends, damage)


def cut(wal: bytearray, at: int, chance: random.Random) -> None:
    del wal[at:]


def zero_sector(wal: bytearray, at: int, chance: random.Random) -> None:
    size = min(SECTOR, len(wal) - at)
    wal[at : at + size] = bytes(size)


def garble_tail(wal: bytearray, at: int, chance: random.Random) -> None:
    wal[at:] = chance.randbytes(len(wal) - at)


def flip_bit(wal: bytearray, at: int, chance: random.Random) -> None:
    wal[at] ^= 1 << chance.randrange(8)


DAMAGES: dict[str, Callable[[bytearray, int, random.Random], None]] = {
    "cut": cut,
    "zeroed sector": zero_sector,
    "garbled tail": garble_tail,
    "flipped bit": flip_bit,
}


# --- Judgement ------------------------------------------------------------------------------


def faults_of(case: Case, recording: Recording, folder: Path) -> list[str]:
    path = folder / "case" / "ledger.db"
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    path.write_bytes(case.image.db)
    path.with_name("ledger.db-wal").write_bytes(case.image.wal)
    try:
        with Engine.open(path, housekeeping=False) as engine:
            faults = state_faults(engine, case, recording)
        faults += audit.integrity_faults(path)
    except Exception as error:  # a damaged file may raise anything
        faults = [f"the file cannot be read: {error!r}"]
    return [f"{case.damage}: {fault}" for fault in faults]


def state_faults(engine: Engine, case: Case, recording: Recording) -> list[str]:
    items = audit.items(engine)
    numbers = recording.numbers_of(items)
    if not numbers:
        return ["the table is not a prefix of the commits"]
    if numbers[-1] < case.required:
        return [f"{case.required} writes were safe, and {numbers[-1]} are there"]
    changes = audit.StreamReader().new_changes(engine)
    # An account that comes and goes leaves the same table behind, but not the same stream.
    told = [
        audit.stream_faults(changes, recording.books[number])
        for number in numbers
        if number >= case.required
    ]
    faults = audit.index_faults(engine, items) + audit.count_faults(engine, items)
    return faults + min(told, key=len)


def run(cases: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Tries that many cases of damage; with a mutant, until it is caught."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    violations: list[str] = []
    commits = 0
    with scratch(on_disk=False) as folder:
        while tried.total() < cases and not (mutant and violations) and not pace.is_over():
            recording = make_recording(folder, chance.getrandbits(32), mutant)
            commits += sum(event.ends_commit for event in recording.tape)
            for _ in range(min(CASES_PER_TAPE, cases - tried.total())):
                case = draw(recording, chance)
                tried[case.damage] += 1
                violations += faults_of(case, recording, folder)
    return result({"torn files": tried.total(), **tried, "commits on tape": commits}, violations)


def draw(recording: Recording, chance: random.Random) -> Case:
    if chance.random() < 0.4:
        return power_cut(recording, chance)
    return damaged_log(recording, chance, chance.choice(list(DAMAGES)))
