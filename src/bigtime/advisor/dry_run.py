"""Steps on sample tables: each request, what it would consume, and on what assumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from bigtime import wire
from bigtime.advisor.charges import (
    READS,
    WRITES,
    Charge,
    Charged,
    consumed_charges,
    sum_charges,
    units,
)
from bigtime.advisor.request_actions import Action, actions_of, tables_in
from bigtime.advisor.request_text import request_lines
from bigtime.advisor.sample import MOMENT, entity_of
from bigtime.advisor.sample_tables import PAGED, SampleTables
from bigtime.model import MAIN, DesignError, Index, Table

T = TypeVar("T")

MAIN_TABLE = "Main table"
MOST_REQUESTS = 1_000

UsedIndexes: TypeAlias = tuple[tuple[Table, Index], ...]


class CannotExplain(DesignError):
    """A request whose cost is not known before it runs."""


@dataclass(frozen=True, slots=True)
class ExplainedRequest(Charged):
    """One request: its text, the indexes it uses, what it would cost, and why."""

    request: wire.Request
    """The request as it would be sent."""
    used: UsedIndexes
    """The declared tables and indexes that it uses."""
    charged: tuple[Charge, ...]
    """The units, by table and index."""
    assumption: str
    """The assumptions behind the units: how many items, of what size."""

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self.charged

    @property
    def indexes(self) -> tuple[str, ...]:
        """Their names, as in an access-pattern chart."""
        return tuple(dict.fromkeys(chart_name(index.name) for _, index in self.used))

    def __str__(self) -> str:
        tables = ", ".join(dict.fromkeys(table.name for table, _ in self.used))
        on = f"{', '.join(self.indexes)} of {tables}"
        lines = [
            f"{charge.table}.{charge.index}: {units(charge)}"
            for charge in self.charged
            if charge.index
        ]
        if self.index_write_units:
            lines.append(f"indexes make it {self.amplification:.3g} times the writes")
        lines.append(f"assuming {self.assumption}")
        lines += request_lines(self.request, (table for table, _ in self.used))
        head = f"{self.request.operation} on {on}: {units(self)}"
        return "\n".join([head, *(f"  {line}" for line in lines)])


class DryRun:
    """Drives steps on sample tables, and records every request that was answered."""

    def __init__(self, tables: SampleTables) -> None:
        self.tables = tables
        self.requests: list[ExplainedRequest] = []
        self.drawn = 0

    def run(self, steps: wire.Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    result = self.perform(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def perform(self, step: wire.Step) -> object:
        match step:
            case wire.Request():
                return self.answer(step)
            case wire.Together():
                return [self.run(steps) for steps in step.steps]
            case wire.Now():
                return MOMENT
            case wire.Bytes(count):
                self.drawn += 1
                return self.drawn.to_bytes(8).rjust(count, b"\0")[-count:]
            case wire.Pause() | wire.Remember():
                return None
            case wire.Recall():  # a typical write finds its buckets already listed
                return ()
        raise TypeError(f"Steps yielded {step!r}, which is no step: was it meant as `yield from`?")

    def answer(self, request: wire.Request) -> wire.Response:
        if len(self.requests) == MOST_REQUESTS:
            raise CannotExplain(
                f"these steps make more than {MOST_REQUESTS:,} requests on sample answers; say what"
                " the tables hold, with holding=[...], or how many items a query finds, with found"
            )
        if request.operation not in READS | WRITES:
            raise CannotExplain(
                f"explain() knows what reads and writes of items cost, not {request.operation}"
            )
        self.tables.prepare(request)
        before = self.items_named(request)
        response = self.tables(request)
        if request.operation in PAGED:
            assumption = self.page_sentence(request, response)
        else:
            assumption = self.items_sentence(request, before, self.items_named(request))
        charges = sum_charges(consumed_charges(request.operation, response))
        used = tuple(charge for charge in charges if charge.read_units or charge.write_units)
        self.requests.append(
            ExplainedRequest(request, self.used_indexes(request), used, assumption)
        )
        return response

    def used_indexes(self, request: wire.Request) -> UsedIndexes:
        name = request.params.get("IndexName", MAIN)
        tables = [self.tables.table(table_name) for table_name in tables_in(request)]
        return tuple((table, table.index(name)) for table in tables)

    def items_named(self, request: wire.Request) -> list[wire.Item | None]:
        """The current items that a request names by key."""
        return [
            self.tables.item(self.tables.table(action.table), action.key)
            for action in actions_of(request)
        ]

    # The assumptions, as sentences

    def page_sentence(self, request: wire.Request, response: wire.Response) -> str:
        items = self.tables.items_on_page(request.params)
        table = self.tables.table(request.params["TableName"])
        share = "all" if response["Count"] == len(items) else f"{response['Count']}"
        filtered = "FilterExpression" in request.params
        return found_sentence(table, items, share if filtered else None)

    def items_sentence(
        self,
        request: wire.Request,
        before: Sequence[wire.Item | None],
        after: Sequence[wire.Item | None],
    ) -> str:
        return tally(
            item_sentence(self.tables.table(action.table), action, old, new)
            for action, old, new in zip(actions_of(request), before, after, strict=True)
        )


def kind_of(table: Table, key: wire.Item) -> str:
    found = entity_of(table, key)
    return found[0].__name__ if found else f"item of {table.name}"


def item_sentence(
    table: Table, action: Action, old: wire.Item | None, new: wire.Item | None
) -> str:
    kind = kind_of(table, action.key)
    if old is None and new is None:
        is_read = action.kind == "Get"
        return (
            f"there is no such {kind}" if is_read else "nothing is there, and nothing comes of it"
        )
    if old is None or new is None:
        size = wire.item_size(old or new or {})
        return (
            f"a new {kind} of {size:,} bytes"
            if new
            else f"{article(kind)} {kind} of {size:,} bytes goes"
        )
    size = wire.item_size(old)
    match action.kind:
        case "Get":
            return f"{article(kind)} {kind} of {size:,} bytes"
        case "ConditionCheck":
            return f"{article(kind)} {kind} of {size:,} bytes is looked at"
        case _:
            return f"{article(kind)} {kind} of {size:,} bytes, then {wire.item_size(new):,}"


def article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"


def found_sentence(table: Table, items: Sequence[wire.Item], share: str | None) -> str:
    """How many items were found; `share` says how many pass the filter, if there is one."""
    if not items:
        return "it finds nothing"
    size = sum(map(wire.item_size, items))
    kinds = Counter(kind_of(table, item) for item in items)
    listed = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    passed = f", {share} of which pass the filter" if share else ""
    return f"it finds {listed}, {size:,} bytes together{passed}"


def tally(sentences: Iterable[str]) -> str:
    """The distinct sentences, each with its number of occurrences."""
    said = Counter(sentences)
    return "; ".join(
        sentence if count == 1 else f"{count} x {sentence}" for sentence, count in said.items()
    )


def chart_name(index: str) -> str:
    return MAIN_TABLE if index == MAIN else index
