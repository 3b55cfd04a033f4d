"""A run on exports, imports and bulk puts: what each was asked for, and what is told of it.

The three have one life: a request starts one at once, under a ClientToken (every AWS SDK makes
one) that is good for 8 hours; then it runs, ends, and is described and listed for 90 days,
whatever becomes of its table. In these runs it ends when the engine is tidied.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import AnyAnswer, Settings, SettingsRun, table_arn
from tests.reference.sources import Source, make_item

HOUR, DAY = 3600.0, 86_400.0
TOKEN_SECONDS, LISTED_SECONDS = 8 * HOUR, 90 * DAY
MARGIN_SECONDS = 60.0
"""So near to the end of a period nothing is asked: when exactly it begins, AWS does not say."""
INVALID = Refusal("ValidationException")
DUPLICATE = "Duplicate request detected with conflicting parameters"
"""Seen of AWS in scylladb/scylladb#29924 and #31619, like other words that no page gives."""


class Maybe:
    """A member that may be missing, and otherwise has this value."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return self.value == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.value!r} or nothing"


@dataclass(frozen=True)
class Kind:
    """What the operations of one of the three are called, and how they refuse."""

    start: str
    describe: str
    description: str
    arn: str
    status: str
    path: str
    absent: Refusal
    conflict: Refusal
    malformed: Refusal
    """What comes of an ARN that is none of theirs."""
    list: str
    summaries: str
    size: str


@dataclass
class Job:
    """An export, an import or a bulk put."""

    kind: Kind
    arn: str
    table: str
    asked: Params
    told: Params
    started_at: float
    summary: tuple[str, ...]
    """The members of its description that a list shows."""

    def description(self) -> Params:
        return {name: self.told[name] for name in self.summary if name in self.told}


@dataclass
class TransferRun(SettingsRun):
    folder: Path = Path()
    tidy: Callable[[], None] = lambda: None
    jobs: list[Job] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    """By their prefix: also the folders of exports."""

    def of_kind(self, kind: Kind, least: float = 0.0, most: float = LISTED_SECONDS) -> list[Job]:
        """Those that were started so many seconds ago."""
        low, high = least + (MARGIN_SECONDS if least else 0.0), most - MARGIN_SECONDS
        return [
            job
            for job in self.jobs
            if job.kind == kind and low <= self.now - job.started_at <= high
        ]

    def protect(self, name: str) -> None:
        """Switches on what exports need."""
        on = {"PointInTimeRecoveryEnabled": True}
        asked = {"TableName": name, "PointInTimeRecoverySpecification": on}
        self.expect(AnyAnswer(), "UpdateContinuousBackups", **asked)
        self.tables[name].window = (self.now, 35)

    def new_token(self) -> str:
        return f"token-{len(self.history)}"

    def start(
        self, kind: Kind, asked: Params, told: Params | Refusal, table: str, summary: str
    ) -> Job | None:
        """Asks for one, and keeps what is to be told of it."""
        if isinstance(told, Refusal):
            self.expect(told, kind.start, **asked)
            return None
        seen = self.expect(AnyAnswer(), kind.start, **asked)[kind.description]
        self.same(kind.description, present(told, seen), seen)
        arn = seen[kind.arn]
        if arn in [job.arn for job in self.jobs]:
            self.fail("an ARN of another", seen)
        told = {**told, **{name: seen[name] for name in (kind.arn, "TableId") if name in told}}
        job = Job(kind, arn, table, asked, told, self.now, tuple(summary.split()))
        self.jobs.append(job)
        return job

    def end(self, job: Job, **told: object) -> None:
        """Lets the engine finish; from then on it tells this as well, or no more what is None."""
        self.tidy()
        ended = {**job.told, **told, "EndTime": self.now}
        job.told = {name: value for name, value in ended.items() if value is not None}
        self.check(job)

    def check(self, job: Job) -> None:
        kind = job.kind
        seen = self.expect(AnyAnswer(), kind.describe, **{kind.arn: job.arn})[kind.description]
        self.same(kind.description, present(job.told, seen), seen)

    def repeat(self, job: Job, **changes: object) -> None:
        """The same token within 8 hours: the same job, or a refusal if anything else is asked."""
        kind = job.kind
        changed = {**job.asked, **changes}
        asked = {name: value for name, value in changed.items() if value is not None}
        if asked != job.asked:
            self.expect(kind.conflict, kind.start, **asked)
            return
        seen = self.expect(AnyAnswer(), kind.start, **asked)[kind.description]
        self.same(kind.description, present(job.told, seen), seen)

    def list_jobs(self, kind: Kind, most: int | None, **params: Any) -> list[Params]:
        """ListBulkOperations has pages of 10; of the others that was measured, not documented."""
        tokens = ("NextToken", "NextToken")
        return self.pages(kind.list, kind.summaries, *tokens, most, size=kind.size, **params)

    def compare_items(self, table: Settings) -> None:
        """All items of a table, and those of its index."""
        asked = {"TableName": table.name, "ConsistentRead": True}
        seen = self.expect(AnyAnswer(), "Scan", **asked)["Items"]
        found = {key_of(table.has_sort_key, item): item for item in seen}
        self.same("items", (table.items, len(table.items)), (found, len(seen)))

    def note(self, table: Settings) -> None:
        """Keeps what is in a table now, for exports of this moment."""
        table.past.append((self.now, dict(table.items)))

    def put_all(self, table: Settings, items: list[Params]) -> None:
        table.items |= {key_of(table.has_sort_key, item): item for item in items}
        self.note(table)


def present(told: Params, seen: Params) -> Params:
    return {
        name: value for name, value in told.items() if name in seen or not isinstance(value, Maybe)
    }


def key_of(has_sort_key: bool, item: Params) -> str:
    return json.dumps([item["p"], item["s"] if has_sort_key else None])


def write(run: TransferRun, dice: Random) -> None:
    """Puts an item, or deletes one."""
    given, table = run.pick(dice)
    if table is None:
        item = make_item(dice, "a", has_sort_key=True)
        run.expect(Refusal("ResourceNotFoundException"), "PutItem", TableName=given, Item=item)
        return
    item = make_item(dice, dice.choice("abc"), has_sort_key=table.has_sort_key)
    key = key_of(table.has_sort_key, item)
    if dice.random() < 0.3:
        table.items.pop(key, None)
        names = ("p", "s") if table.has_sort_key else ("p",)
        asked = {"Key": {name: item[name] for name in names}}
        run.expect({}, "DeleteItem", TableName=given, **asked)
    else:
        table.items[key] = item
        run.expect({}, "PutItem", TableName=given, Item=item)
    run.note(table)


def wait(run: TransferRun, dice: Random) -> None:
    run.clock.now += dice.choice((1, 1000, 9 * HOUR, 40 * DAY))


def describe(run: TransferRun, dice: Random, kind: Kind) -> None:
    """One of long ago, one that never was, or what is no ARN of one."""
    known = run.of_kind(kind)
    if known and dice.random() < 0.7:
        run.check(dice.choice(known))
        return
    foretold, arn = unknown_arn(run, dice, kind)
    run.expect(foretold, kind.describe, **{kind.arn: arn})


def unknown_arn(run: TransferRun, dice: Random, kind: Kind) -> tuple[Refusal, str]:
    table = table_arn("alpha")
    others = [job.arn for job in run.jobs if job.kind != kind]
    return dice.choice(
        (
            (kind.absent, f"{table}/{kind.path}/01489173575360-b308cd7d"),
            (kind.malformed, dice.choice([table, *others])),
            (INVALID, "arn:aws:dynamodb"),
        )
    )


def repeat(run: TransferRun, dice: Random, kind: Kind, changes: tuple[Params, ...]) -> None:
    """Asks again under the token of one that was asked for within 8 hours."""
    if known := run.of_kind(kind, most=TOKEN_SECONDS):
        run.repeat(dice.choice(known), **dice.choice(({}, *changes)))


def ask_again(run: TransferRun, dice: Random, kind: Kind) -> Params | None:
    """What was asked for over 8 hours ago: from then on its token is that of a new request."""
    if dice.random() < 0.8:
        return None
    known = run.of_kind(kind, TOKEN_SECONDS)
    fresh = {job.asked["ClientToken"] for job in run.of_kind(kind, most=TOKEN_SECONDS * 1.1)}
    free = [job.asked for job in known if job.asked["ClientToken"] not in fresh]
    return dice.choice(free) if free else None
