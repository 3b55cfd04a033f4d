"""P12: a clock that is wrong for less than ten minutes costs nothing.

The engine runs on a clock that is set wrong and right again, by seconds and by years, ahead and
back, while items with a time to live, client tokens and stream records come and go. A clock that
nobody sets is the truth. By it nothing may expire early: no item before its second, no record
within a day, no token within ten minutes. Timestamps never go back. And once the clock is right,
everything that is due expires.
"""

from __future__ import annotations

import logging
import random
from multiprocessing.connection import Connection
from typing import Any

from bigtime.engine import Engine
from bigtime.engine.storage.clock import HOLD_SECONDS, SteadyClock
from bigtime.wire import Request
from proofs import pace
from proofs.endure_mutants import mutate
from proofs.processes import in_child
from proofs.result import Result, result

START = 1_700_000_000.0
DAY = 24 * 3600.0
YEAR = 365 * DAY
TOKEN_SECONDS = 600.0
TABLE = "Notes"
STEPS = 60
HISTORIES_PER_CHILD = 25


class History:
    """One engine, its clocks, and what must exist by the true clock."""

    def __init__(self, engine: Engine, clocks: Clocks, chance: random.Random) -> None:
        self.engine, self.clocks, self.chance = engine, clocks, chance
        self.until: dict[str, int] = {}
        self.written: list[tuple[float, str]] = []
        self.tokens: dict[str, float] = {}
        self.wrong_until = 0.0
        self.jumps = 0
        self.faults: list[str] = []
        create(engine)

    def step(self, number: int) -> None:
        self.pass_time()
        act = self.chance.choice([self.put_mortal, self.put_mortal, self.use_token, self.tidy])
        act(number)

    def pass_time(self) -> None:
        """Advances the time; the clock is wrong for less than ten minutes at a stretch."""
        clocks = self.clocks
        if clocks.set_by:
            left = max(0.0, self.wrong_until - clocks.ticks)
            clocks.ticks += self.chance.uniform(0, left)
            if self.chance.random() < 0.4 or clocks.ticks + 1 >= self.wrong_until:
                clocks.set_by = 0.0
        else:
            clocks.ticks += self.chance.choice([1.0, 30.0, 400.0, 3600.0, 9 * 3600.0])
            # As the housekeeper does four times a second, so that a right clock is recognised.
            self.engine._database.clock()
            if self.chance.random() < 0.4:
                away = self.chance.choice([6.0, 3600.0, 2 * DAY, YEAR])
                clocks.set_by = away * self.chance.choice([-1, 1])
                self.wrong_until = clocks.ticks + HOLD_SECONDS - 1
                self.jumps += 1

    def put_mortal(self, number: int) -> None:
        name = f"mortal/{number}"
        self.until[name] = int(self.clocks.true()) + self.chance.choice([60, 3600, 40 * 3600])
        item = {"name": {"S": name}, "until": {"N": str(self.until[name])}}
        self.engine(Request("PutItem", {"TableName": TABLE, "Item": item}))
        self.written.append((self.clocks.true(), name))

    def use_token(self, number: int) -> None:
        """Sends a transaction for the first time, or again within its ten minutes."""
        fresh = [
            token
            for token, used_at in self.tokens.items()
            if self.clocks.true() - used_at < TOKEN_SECONDS - 10
        ]
        token = self.chance.choice([*fresh, f"token/{number}"])
        self.engine(Request("TransactWriteItems", transaction(token)))
        if token not in self.tokens:
            self.tokens[token] = self.clocks.true()
            self.written.append((self.clocks.true(), token))
        elif self.count(token) != 1:
            self.faults.append("a transaction was applied again under its token")

    def count(self, token: str) -> int:
        key = {"TableName": TABLE, "Key": {"name": {"S": token}}}
        return int(self.engine(Request("GetItem", key))["Item"]["hits"]["N"])

    def tidy(self, number: int) -> None:
        self.engine.tidy()
        true = self.clocks.true()
        there = self.items()
        early = [name for name, until in self.until.items() if until > true and name not in there]
        if early:
            self.faults.append(
                f"{len(early)} items expired early, with {self.clocks.set_by:+.0f} s"
            )
        read = self.records()
        missing = [name for at, name in self.written if true - at < DAY - 10 and name not in read]
        if missing:
            self.faults.append(
                f"{len(missing)} records were trimmed early, with {self.clocks.set_by:+.0f} s"
            )

    def end(self) -> None:
        """Checks that with a right clock, days later, everything that was due is gone."""
        self.clocks.set_by = 0.0
        # The first pass may find timestamps in the future, and an expiry leaves a record too.
        for hours in (1, 30, 30, 30):
            self.clocks.ticks += hours * 3600.0
            self.engine._database.clock()
            self.engine.tidy()
        stamps = self.stamps()
        if stamps:
            self.faults.append(f"{len(stamps)} records are still there after days")
        late = [name for name in self.until if name in self.items()]
        if late:
            self.faults.append(f"{len(late)} items did not expire")

    def items(self) -> set[str]:
        page = self.engine(Request("Scan", {"TableName": TABLE}))
        return {item["name"]["S"] for item in page["Items"]}

    def records(self) -> set[str]:
        arn = self.engine(Request("DescribeTable", {"TableName": TABLE}))["Table"][
            "LatestStreamArn"
        ]
        described = self.engine(Request("DescribeStream", {"StreamArn": arn}))
        names = set()
        for shard in described["StreamDescription"]["Shards"]:
            place = {"StreamArn": arn, "ShardId": shard["ShardId"]}
            start = {**place, "ShardIteratorType": "TRIM_HORIZON"}
            page = self.engine(
                Request("GetRecords", self.engine(Request("GetShardIterator", start)))
            )
            names |= {record["dynamodb"]["Keys"]["name"]["S"] for record in page["Records"]}
        stamps = self.stamps()
        if stamps != sorted(stamps):
            self.faults.append("stamps went back")
        return names

    def stamps(self) -> list[float]:
        with self.engine._database.reading() as reader:
            number = reader.execute("SELECT number FROM streams").get
            return [at for (at,) in reader.execute(f"SELECT at FROM s{number} ORDER BY sequence")]


class Clocks:
    """The machine's clocks: one that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.ticks = 1_000.0
        self.set_by = 0.0

    def true(self) -> float:
        return START + self.ticks

    def wall(self) -> float:
        return START + self.ticks + self.set_by

    def steady(self) -> float:
        return self.ticks


def create(engine: Engine) -> None:
    key = {"AttributeName": "name"}
    table: dict[str, Any] = {
        "TableName": TABLE,
        "AttributeDefinitions": [{**key, "AttributeType": "S"}],
        "KeySchema": [{**key, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    }
    engine(Request("CreateTable", table))
    specification = {"Enabled": True, "AttributeName": "until"}
    ttl = {"TableName": TABLE, "TimeToLiveSpecification": specification}
    engine(Request("UpdateTimeToLive", ttl))


def transaction(token: str) -> dict[str, Any]:
    update = {
        "TableName": TABLE,
        "Key": {"name": {"S": token}},
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return {"TransactItems": [{"Update": update}], "ClientRequestToken": token}


def go_through(seeds: list[int], mutant: str | None, pipe: Connection) -> None:
    """In a child: plays one history for each seed."""
    logging.disable()
    mutate(mutant)
    jumps, writes, faults = 0, 0, []
    for seed in seeds:
        clocks = Clocks()
        clock = SteadyClock(clocks.wall, clocks.steady)
        with Engine.memory(clock=clock, housekeeping=False) as engine:
            history = History(engine, clocks, random.Random(seed))
            for number in range(STEPS):
                history.step(number)
            history.end()
        jumps += history.jumps
        writes += len(history.written)
        faults += [f"seed {seed}: {fault}" for fault in history.faults]
    pipe.send((jumps, writes, faults))


def run(histories: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Plays that many histories; with a mutant, until it is caught."""
    chance = random.Random(seed)
    counts = {"histories": 0, "jumps of the clock": 0, "writes": 0}
    violations: list[str] = []
    while counts["histories"] < histories and not (mutant and violations) and not pace.is_over():
        size = min(HISTORIES_PER_CHILD, histories - counts["histories"])
        seeds = [chance.getrandbits(32) for _ in range(size)]
        jumps, writes, faults = in_child(go_through, seeds, mutant)
        counts["histories"] += size
        counts["jumps of the clock"] += jumps
        counts["writes"] += writes
        violations += faults
    return result(counts, violations)
