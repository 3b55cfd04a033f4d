"""P6: transactions run as if one after another, whole or not at all, also under kill -9.

Four clients append to lists and move money in write transactions, and read everything in read
transactions, until they are killed. Clients without a response ask again with the same token. Then
the lists must explain everything that was read, in an order that also agrees with the clock; no
value may be there twice or without its transaction; and the total of the money is what it was.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path

from bigtime.engine import Engine
from proofs import pace
from proofs.kills import LONGEST, SHORTEST
from proofs.processes import killed_after
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.serializability import Transaction, faults
from proofs.transfers import (
    ACCOUNTS,
    OPENING_BALANCE,
    Round,
    create_transfers,
    transact_until_killed,
    write,
)

MONEY = ACCOUNTS * OPENING_BALANCE


class Telling:
    """What a killed process reported, line by line, and the outcome of what it was doing."""

    def __init__(self, said: bytes, one: Round) -> None:
        self.one = one
        self.history: list[Transaction] = []
        self.under_way: dict[int, int] = {}
        self.counts: Counter[str] = Counter()
        self.wrong_sums: list[str] = []
        whole, _, _ = said.rpartition(b"\n")
        for line in whole.splitlines():
            self.hear(*line.decode().split("\t"))

    def hear(self, kind: str, number: str, *rest: str) -> None:
        value = int(number)
        if kind == "try":
            self.under_way[value] = int(rest[0])
            return
        called, returned = int(rest[0]), int(rest[1])
        self.counts[kind] += 1
        if kind == "saw":
            seen = json.loads(rest[2])
            name = f"read {value}"
            self.history.append(Transaction(name, called, returned, saw=seen["lists"]))
            self.count_money(seen["money"], name)
        else:
            del self.under_way[value]
            if kind == "done":
                self.note_write(value, called, returned)

    def note_write(self, value: int, called: int, returned: int) -> None:
        lists = tuple(self.one.lists_of(value))
        self.history.append(Transaction(f"write {value}", called, returned, value, lists))

    def count_money(self, money: int, where: str) -> None:
        if money != MONEY:
            self.wrong_sums.append(f"{where} saw {money} in the accounts, not {MONEY}")

    def ask_again(self, engine: Engine) -> None:
        """Sends again, twice, what was in flight: it is applied once, or refused."""
        for value, called in sorted(self.under_way.items()):
            outcomes = {write(engine, self.one, value) for _ in range(2)}
            self.counts["sent again"] += 1
            if "done" in outcomes:
                self.note_write(value, called, time.monotonic_ns())

    def judge(self, engine: Engine) -> list[str]:
        self.ask_again(engine)
        final = self.one.read_state(engine(self.one.read()))
        self.count_money(final["money"], "the last read")
        return self.wrong_sums + faults(self.history, final["lists"])


def crash(path: Path, seed: int, seconds: float, *, is_open: bool) -> tuple[Telling, list[str]]:
    """One round: what was reported, and what is wrong with it."""
    one = Round(seed)
    engine = Engine.open(path, housekeeping=False)
    try:
        for request in one.open_accounts():
            engine(request)
        if not is_open:
            engine.close()
        told = Telling(killed_after(seconds, transact_until_killed, path, seed), one)
        if not is_open:
            engine = Engine.open(path, housekeeping=False)
        return told, told.judge(engine)
    finally:
        engine.close()


def run(transactions: int, *, seed: int = 1) -> Result:
    """Runs rounds until that many transactions were done, refused or read."""
    chance = random.Random(seed)
    total: Counter[str] = Counter()
    violations: list[str] = []
    kills = 0
    with scratch(on_disk=False) as folder:
        while total.total() < transactions and not pace.is_over():
            path = folder / f"transfers-{kills // 50}.db"
            if not path.exists():
                with Engine.open(path) as engine:
                    engine(create_transfers())
            seconds = chance.uniform(SHORTEST, LONGEST)
            told, found = crash(path, chance.getrandbits(32), seconds, is_open=kills % 2 == 1)
            total += told.counts
            violations += found
            kills += 1
    counts = {
        "transactions": total.total(),
        "writes": total["done"],
        "writes refused": total["refused"],
        "reads": total["saw"],
        "writes sent again": total["sent again"],
        "kills": kills,
    }
    return result(counts, violations)
