"""The quotas on throughput that DescribeLimits reports, and the errors of requests beyond them.

A table and an index are limited each by itself, the account by the sum of both over all tables of
the region. AWS raises them on request; the engine has the initial ones.

AWS: "DescribeLimits", and "Quotas in Amazon DynamoDB", "Provisioned throughput"; the messages were
seen on AWS: DDB-TABLE-154, -170 and -443 of aws-controllers-k8s/dynamodb-controller.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeLimits.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.storage import Database, TableDefinition, Throughput
from bigtime.wire import Params, Response

ACCOUNT_MOST: Final = 80_000
TABLE_MOST: Final = 40_000
REFER: Final = (
    "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher "
    "limits."
)
LIMITED: Final = {
    "OnDemandThroughput": ("MaxReadRequestUnits", "MaxWriteRequestUnits"),
    "WarmThroughput": ("ReadUnitsPerSecond", "WriteUnitsPerSecond"),
}
INDEX_SUBJECT: Final = {"OnDemandThroughput": "index : ", "WarmThroughput": "index "}
KINDS: Final = ("Read", "Write")


class Part(NamedTuple):
    """The table (without a name) or one of its global indexes."""

    index_name: str
    throughput: Throughput
    notes: Mapping[str, Any]

    def units(self, kind: str) -> int:
        return self.throughput.read if kind == "Read" else self.throughput.write


def describe_limits(database: Database, params: Params) -> Response:
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_MOST,
        "AccountMaxWriteCapacityUnits": ACCOUNT_MOST,
        "TableMaxReadCapacityUnits": TABLE_MOST,
        "TableMaxWriteCapacityUnits": TABLE_MOST,
    }


def check_quotas(
    database: Database, table: TableDefinition, before: TableDefinition | None = None
) -> None:
    """Rejects a new or changed table that has more throughput than a quota allows.

    What a table had before, as from an earlier version of the engine, it may keep.
    """
    known = {} if before is None else {part.index_name: part for part in warm_parts(before)}
    for part in parts_of(table):
        had = known.get(part.index_name, Part("", Throughput(), {}))
        check_units(database, part, had)
        check_notes(database, part, had)
    check_account(database, table, before)


def parts_of(table: TableDefinition) -> Iterator[Part]:
    yield Part("", table.throughput, table.notes)
    noted = table.notes.get("indexes", {})
    for index in table.indexes:
        if index.is_global:
            yield Part(index.name, index.throughput, noted.get(index.name, {}))


def warm_parts(table: TableDefinition) -> Iterator[Part]:
    """The parts with the warm throughput that they have, noted or not: a change may note it."""
    for part in parts_of(table):
        warm = storage.warm(table, part.throughput, part.notes)
        yield part._replace(notes={**part.notes, "WarmThroughput": warm})


def check_units(database: Database, part: Part, had: Part) -> None:
    for kind in KINDS:
        units = part.units(kind)
        if units > TABLE_MOST and units > had.units(kind):
            of, subject = "table", ""
            if part.index_name:
                of, subject = "index", f" for index {part.index_name}"
            raise wire.LimitExceededException(
                f"The requested {kind}CapacityUnits{subject}, {units}, is above the per {of} "
                f"maximum for the account in {database.region}. Per table maximum: {TABLE_MOST}. "
                + REFER
            )


def check_notes(database: Database, part: Part, had: Part) -> None:
    for member, names in LIMITED.items():
        for kind, name in zip(KINDS, names, strict=True):
            value = part.notes.get(member, {}).get(name, 0)
            if value > TABLE_MOST and value > had.notes.get(member, {}).get(name, 0):
                subject = INDEX_SUBJECT[member] + part.index_name if part.index_name else "table"
                raise wire.LimitExceededException(
                    f"Subscriber limit exceeded: Requested {name} for {member} for {subject} "
                    f"exceeds TableMax{kind}CapacityUnits of the account in region "
                    f"{database.region}"
                )


def check_account(
    database: Database, table: TableDefinition, before: TableDefinition | None
) -> None:
    others = [
        other.definition
        for name, other in database.catalogue.tables_for_writing().items()
        if name != table.name
    ]
    for kind in KINDS:
        wanted, had = total(table, kind), 0 if before is None else total(before, kind)
        reserved = had + sum(total(other, kind) for other in others)
        if wanted > had and reserved - had + wanted > ACCOUNT_MOST:
            raise wire.LimitExceededException(
                f"This request would have caused the {kind}CapacityUnits limit to be exceeded for "
                f"the account in {database.region}. Current {kind}CapacityUnits reserved by the "
                f"account: {reserved}. Limit: {ACCOUNT_MOST}. Requested: {wanted - had}. {REFER}"
            )


def total(table: TableDefinition, kind: str) -> int:
    return sum(part.units(kind) for part in parts_of(table))
