"""A run on the settings of tables: what is set of each, and what the engine says of it.

ARNs, labels and revisions are taken from the first answer that shows them, and must be the same in
every later one. The clock is the run's own, so dates are foretold.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bigtime.wire import Params, Request, Response, Transport
from tests.reference.outcomes import Refusal, refused_otherwise
from tests.reference.targets import Engine as Target

OWNER = "us-east-1:000000000000"
TABLES = ("alpha", "beta", "gamma")
NOWHERE = "nowhere"
"""A table that is never made."""
INDEX, LOCAL_INDEX, NO_INDEX = "by-colour", "local", "by-nothing"
SECONDS_BETWEEN = 0.5


class Like:
    """Equals every text of a pattern: what AWS makes up."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self.pattern, other) is not None

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"like {self.pattern!r}"


@dataclass
class Insight:
    """What contributor insights were last told of a table or an index."""

    enabled: bool
    mode: str
    at: float


@dataclass
class Stream:
    arn: str
    view: str
    table: str
    created_at: float
    records: list[Params] = field(default_factory=list)
    enabled: bool = True


@dataclass
class Settings:
    """What is set of a table: all gone when it is deleted."""

    name: str
    created_at: float
    id: str = ""
    insights: dict[str, Insight] = field(default_factory=dict)
    destinations: dict[str, tuple[bool, str | None]] = field(default_factory=dict)
    """By the ARN of a Kinesis stream: whether it is active, and its precision."""
    policies: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the ARN of the table or of its stream: a policy and its revision."""
    tags: dict[str, str] = field(default_factory=dict)
    ttl: str | None = None
    window: tuple[float, int] | None = None
    """Since when the table can be restored, and for how many days."""
    stream: Stream | None = None
    items: dict[str, Params] = field(default_factory=dict)
    past: list[tuple[float, dict[str, Params]]] = field(default_factory=list)
    """Its items after each change, for exports of an earlier moment."""

    @property
    def arn(self) -> str:
        return table_arn(self.name)

    @property
    def has_sort_key(self) -> bool:
        return has_sort_key(self.name)


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class SettingsRun:
    """The settings of the model, and the engine that is compared with them."""

    transport: Transport
    clock: Clock
    tables: dict[str, Settings] = field(default_factory=dict)
    backups: dict[str, Params] = field(default_factory=dict)
    """The details of each backup by its ARN, with the name of its table."""
    streams: list[Stream] = field(default_factory=list)
    iterators: list[tuple[str, float]] = field(default_factory=list)
    history: list[Request] = field(default_factory=list)
    performed: int = 0
    excused: Counter[str] = field(default_factory=Counter)

    @property
    def now(self) -> float:
        return self.clock.now

    def expect(self, foretold: object, operation: str, **params: object) -> Response:
        """The answer of the engine, which must be what was foretold."""
        request = Request(operation, {k: v for k, v in params.items() if v is not None})
        self.history.append(request)
        self.performed += 1
        seen = Target(self.transport).ask(request)
        if isinstance(foretold, Refusal) and isinstance(seen, Refusal):
            problem = refused_otherwise(foretold, seen)
        else:
            problem = None if foretold == seen else "another answer"
        if problem:
            self.fail(f"{problem}, foretold {foretold}", seen)
        return {} if isinstance(seen, Refusal) else seen

    def pages(
        self,
        operation: str,
        member: str,
        last: str,
        start: str,
        most: int | None,
        *,
        size: str | None = None,
        **params: object,
    ) -> list[Any]:
        """All entries of a list that is read in pages of so many, or of at most 10."""
        size = size or ("MaxResults" if start == "NextToken" else "Limit")
        found: list[Any] = []
        token = None
        while True:
            page = self.expect(AnyAnswer(), operation, **params, **{size: most, start: token})
            if len(page[member]) > (most or 10):
                self.fail(f"more than {size}", page)
            found += page[member]
            token = page.get(last)
            if token is None:
                return found

    def same(self, what: str, foretold: object, seen: object) -> None:
        if foretold != seen:
            self.fail(f"other {what}, foretold {foretold}", seen)

    def fail(self, problem: str, seen: object) -> None:
        asked = "\n".join(f"  {request.operation} {request.params}" for request in self.history)
        raise AssertionError(f"engine: {problem}\nafter\n{asked}\nseen {seen}")

    def pick(self, dice: Random) -> tuple[str, Settings | None]:
        """The name or the ARN of a table, the first oftenest, and its settings if it is there."""
        (name,) = dice.choices((*TABLES, NOWHERE), (6, 3, 2, 1))
        given = table_arn(name) if dice.random() < 0.3 else name
        return given, self.tables.get(name)

    def create(self, dice: Random) -> None:
        self.make(dice.choice([name for name in TABLES if name not in self.tables] or TABLES), dice)

    def make(self, name: str, dice: Random) -> None:
        view = dice.choice((None, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
        stream = {"StreamEnabled": True, "StreamViewType": view} if view else None
        declared = {**declaration(name), "StreamSpecification": stream}
        if name in self.tables:
            in_use = Refusal("ResourceInUseException", f"Table already exists: {name}")
            self.expect(in_use, "CreateTable", **declared)
            return
        made = self.expect(AnyAnswer(), "CreateTable", **declared)["TableDescription"]
        self.tables[name] = Settings(name, self.now, made["TableId"])
        if view:
            self.note_stream(self.tables[name], made["LatestStreamArn"], view)

    def note_stream(self, table: Settings, arn: str, view: str) -> None:
        if arn != Like(f"{table.arn}/stream/.+") or arn in [each.arn for each in self.streams]:
            self.fail("no new stream", arn)
        table.stream = Stream(arn, view, table.name, self.now)
        self.streams.append(table.stream)

    def drop(self, dice: Random) -> None:
        """Deletes a table; one that could be restored leaves a system backup for 35 days.

        developerguide/PointInTimeRecovery.html: "a system backup is automatically created and is
        retained for 35 days (at no additional cost)"; named table-name$DeletedTableBackup.
        """
        given, table = self.pick(dice)
        self.expect(AnyAnswer() if table else no_table(given), "DeleteTable", TableName=given)
        if table is None:
            return
        del self.tables[table.name]
        if table.stream:
            table.stream.enabled = False
        if table.window:
            listed = self.pages(
                "ListBackups",
                "BackupSummaries",
                "LastEvaluatedBackupArn",
                "ExclusiveStartBackupArn",
                100,
                BackupType="SYSTEM",
                TableName=table.name,
            )
            new = [each for each in listed if each["BackupArn"] not in self.backups]
            self.same("system backups", [foretold_system_backup(table, self.now)], new)
            self.backups[new[0]["BackupArn"]] = new[0]

    def list_tables(self, dice: Random) -> None:
        most = dice.choice((1, 2, 100))
        listed = self.pages(
            "ListTables", "TableNames", "LastEvaluatedTableName", "ExclusiveStartTableName", most
        )
        self.same("tables", sorted(self.tables), sorted(listed))

    def wait(self, dice: Random) -> None:
        self.clock.now += dice.choice((1, 60, 901))


class AnyAnswer:
    """Equals every answer, but no error."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "an answer"


def has_sort_key(table: str) -> bool:
    return table == "beta"


def table_arn(name: str) -> str:
    return f"arn:aws:dynamodb:{OWNER}:table/{name}"


def no_table(given: str) -> Refusal:
    """How AWS spells an ARN in this sentence is not known."""
    if given.startswith("arn:"):
        return Refusal("ResourceNotFoundException")
    return Refusal(
        "ResourceNotFoundException", f"Requested resource not found: Table: {given} not found"
    )


def no_source(given: str) -> Refusal:
    """The same of the calls for backups, which have an error of their own."""
    told = None if given.startswith("arn:") else f"Table not found: {given}"
    return Refusal("TableNotFoundException", told)


def declaration(name: str) -> Params:
    """A table with a global index; one of them has a sort key and a local index too."""
    keys = ["p", "s"] if has_sort_key(name) else ["p"]
    everything = {"Projection": {"ProjectionType": "ALL"}}
    local = {"IndexName": LOCAL_INDEX, "KeySchema": key_schema(["p", "colour"]), **everything}
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": key_schema(keys),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": "S"} for each in [*keys, "colour"]
        ],
        "GlobalSecondaryIndexes": [
            {"IndexName": INDEX, "KeySchema": key_schema(["colour"]), **everything}
        ],
        "LocalSecondaryIndexes": [local] if has_sort_key(name) else None,
    }


def key_schema(names: list[str]) -> list[Params]:
    return [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def foretold_system_backup(table: Settings, now: float) -> Params:
    return {
        "TableName": table.name,
        "TableId": Like(".+"),
        "TableArn": table.arn,
        "BackupArn": Like(f"{table.arn}/backup/.+"),
        "BackupName": f"{table.name}$DeletedTableBackup",
        "BackupSizeBytes": Size(),
        "BackupStatus": "AVAILABLE",
        "BackupType": "SYSTEM",
        "BackupCreationDateTime": now,
        "BackupExpiryDateTime": now + 35 * 86_400,
    }


class Size:
    """Equals every number of bytes: AWS gives it as an estimate."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and other >= 0

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "a size"
