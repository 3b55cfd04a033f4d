"""P13: rotten bits and torn pages are never served as data.

A file is filled, copied, and filled further; so each page exists in an older and a current version.
Then, case by case, the file is damaged and everything in it is read, by item, Scan, index and
stream:

- *flipped bit*, *zeroed sector*, *garbled sector*, *zeroed page*: anywhere in the file;
- *torn page*: some sectors of a page are those of the older file.

Each response must be right, or an error that says that the file is damaged and does not ask to
retry; or the file is refused as damaged when it is opened. A page that is whole but old, with its
own valid checksum, is beyond what page checksums can find, and is not tried.

The mutant writes and checks no checksums, and must serve something wrong.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from bigtime.engine import Engine, FileFormatError
from bigtime.engine.storage import DamagedFileException, file
from bigtime.wire import Item, Request
from proofs import audit, pace
from proofs.ledger import INDEX, TABLE, create_table
from proofs.processes import ChildDied, in_child
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.tape import SECTOR

PAGE = 4_096
ITEMS = 60
CASES_PER_FILE = 100
MUTANT_CASES = 200

Outcome = tuple[dict[str, int], list[str]]


def write_no_checksums() -> None:
    file.checksum_vfs = lambda over=None: None  # type: ignore[attr-defined]


def item_of(number: int, version: int) -> Item:
    return {
        "account": {"S": f"account {number}"},
        "group": {"S": f"group {number % 4}"},
        "number": {"N": str(number)},
        "balance": {"N": str(1_000 + number * version)},
        "text": {"S": f"{version}-{number} " * (9_000 if number % 20 == 0 else 20)},
    }


def fill(path: Path, version: int) -> None:
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        if version == 1:
            engine(create_table())
        for number in range(ITEMS):
            if version == 1 or number % 2:
                put = {"TableName": TABLE, "Item": item_of(number, version)}
                engine(Request("PutItem", put))


def expected_items() -> dict[str, Item]:
    items = [item_of(number, 2 if number % 2 else 1) for number in range(ITEMS)]
    return {item["account"]["S"]: item for item in items}


# --- Damage ---------------------------------------------------------------------------------


def flip_bit(content: bytearray, older: bytes, chance: random.Random) -> None:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def zero_sector(content: bytearray, older: bytes, chance: random.Random) -> None:
    start = chance.randrange(0, len(content), SECTOR)
    content[start : start + SECTOR] = bytes(SECTOR)


def garble_sector(content: bytearray, older: bytes, chance: random.Random) -> None:
    start = chance.randrange(0, len(content), SECTOR)
    content[start : start + SECTOR] = chance.randbytes(SECTOR)


def zero_page(content: bytearray, older: bytes, chance: random.Random) -> None:
    start = chance.randrange(0, len(content), PAGE)
    content[start : start + PAGE] = bytes(PAGE)


def tear_page(content: bytearray, older: bytes, chance: random.Random) -> None:
    start = chance.randrange(0, len(older), PAGE)
    whole = content[start : start + PAGE]
    sectors = range(start, start + PAGE, SECTOR)
    for at in chance.sample(sectors, chance.randrange(1, len(sectors))):
        content[at : at + SECTOR] = older[at : at + SECTOR]
    if content[start : start + PAGE] == older[start : start + PAGE]:
        content[start : start + PAGE] = whole  # not torn, but old


DAMAGES: dict[str, Callable[[bytearray, bytes, random.Random], None]] = {
    "flipped bit": flip_bit,
    "zeroed sector": zero_sector,
    "garbled sector": garble_sector,
    "zeroed page": zero_page,
    "torn page": tear_page,
}


# --- Looking --------------------------------------------------------------------------------


def get_item(engine: Engine, request: Request) -> object:
    return engine(request).get("Item")


class Look:
    """Everything that a damaged file returns, compared with what was written."""

    def __init__(self, damage: str, items: dict[str, Item], changes: object) -> None:
        self.damage = damage
        self.items = items
        self.changes = changes
        self.lost: set[str] = set()
        self.said = 0
        self.faults: list[str] = []

    def open(self, path: Path) -> str:
        """The outcome of the damage: refused, reported, or without effect."""
        try:
            engine = Engine.open(path, durability="relaxed", housekeeping=False)
        except FileFormatError as error:
            return "refused when opened" if "damaged" in str(error) else self.odd_refusal(error)
        except Exception as error:
            return self.odd_refusal(error)
        with engine:
            self.ask(engine)
        return "told when read" if self.said else "without effect"

    def odd_refusal(self, error: Exception) -> str:
        # A ruined header looks like another program's file, or no database: both errors count.
        if not isinstance(error, FileFormatError):
            self.faults.append(f"{self.damage}: opening raised {error!r}")
        return "refused when opened"

    def ask(self, engine: Engine) -> None:
        for account, item in self.items.items():
            get = Request("GetItem", {"TableName": TABLE, "Key": {"account": {"S": account}}})
            if not self.compare(partial(get_item, engine, get), item):
                self.lost.add(account)
        self.compare_all(partial(audit.pages, engine, "Scan", {"TableName": TABLE}), self.items)
        for number in range(4):
            group = f"group {number}"
            grouped = {k: each for k, each in self.items.items() if each["group"] == {"S": group}}
            query = audit.query_of(group)
            self.compare_all(partial(audit.pages, engine, "Query", query), grouped)
        self.compare(lambda: audit.StreamReader().new_changes(engine), self.changes)
        whole = {"TableName": TABLE, "IndexName": INDEX}
        self.compare_all(partial(audit.pages, engine, "Scan", whole), self.items)

    def compare_all(self, ask: Callable[[], Iterable[Item]], expected: dict[str, Item]) -> None:
        """Items that were reported as damaged may be missing in a page, and no others."""

        def find_items() -> dict[str, Item]:
            items = {item["account"]["S"]: item for item in ask()}
            left_out = self.lost & (expected.keys() - items.keys())
            return items | {account: expected[account] for account in left_out}

        self.compare(find_items, expected)

    def compare(self, ask: Callable[[], object], expected: object) -> bool:
        """Whether it was right; one neither right nor reported as damaged is a fault."""
        try:
            answer = ask()
        except DamagedFileException as error:
            self.said += 1
            if "retry" in str(error).lower():
                self.faults.append(f"{self.damage}: damage that is to be retried: {error}")
        except Exception as error:
            self.faults.append(f"{self.damage}: {error!r}"[:300])
        else:
            if answer == expected:
                return True
            self.faults.append(f"{self.damage}: wrong data was served")
        return False


def look_at(folder: Path, cases: int, seed: int, mutant: bool, pipe: Connection) -> None:
    """In a child: one file, damaged in so many ways."""
    logging.disable()
    if mutant:
        write_no_checksums()
    chance = random.Random(seed)
    path = folder / f"{seed}.db"
    fill(path, 1)
    older = path.read_bytes()
    fill(path, 2)
    newer = path.read_bytes()
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        changes = audit.StreamReader().new_changes(engine)
    seen: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(cases):
        damage = chance.choice(list(DAMAGES))
        content = bytearray(newer)
        DAMAGES[damage](content, older, chance)
        damaged = folder / f"{seed}-{number}.db"
        damaged.write_bytes(content)
        look = Look(damage, expected_items(), changes)
        seen[damage] += 1
        seen[look.open(damaged)] += 1
        faults += look.faults
        for left in folder.glob(f"{damaged.name}*"):
            left.unlink()
        if mutant and faults:
            break
    pipe.send((dict(seen), faults))


def batch(cases: int, seed: int, *, mutant: bool) -> Outcome:
    with scratch(on_disk=False) as folder:
        try:
            outcome: Outcome = in_child(look_at, folder, cases, seed, mutant)
        except ChildDied as death:
            return {}, [str(death)]
        return outcome


def run(cases: int, *, seed: int = 1) -> Result:
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    violations: list[str] = []
    for done in range(0, cases, CASES_PER_FILE):
        if pace.is_over():
            break
        size = min(CASES_PER_FILE, cases - done)
        counts["damaged files"] += size
        seen, faults = batch(size, chance.getrandbits(32), mutant=False)
        counts.update(seen)
        violations += faults
    _, caught = batch(MUTANT_CASES, seed, mutant=True)
    if not caught:
        violations.append("a build without checksums was not caught")
    return result({**counts, "mutants caught": int(bool(caught))}, violations)
