"""Everything a file says about the ledger, read through the engine and compared with the book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from bigtime.engine import Engine, checksum_vfs
from bigtime.wire import Item, Request
from bigtime.wire.values import item_size
from proofs.ledger import GROUPS, INDEX, TABLE, Book, Change


def items(engine: Engine) -> dict[str, Item]:
    return {item["account"]["S"]: item for item in pages(engine, "Scan", {"TableName": TABLE})}


def pages(engine: Engine, operation: str, params: dict[str, Any]) -> Iterator[Item]:
    while True:
        page = engine(Request(operation, params))
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        params = {**params, "ExclusiveStartKey": page["LastEvaluatedKey"]}


def index_faults(engine: Engine, base: dict[str, Item]) -> list[str]:
    """Faults unless the index is exactly the grouped items, each once, in the order of its key."""
    faults = []
    for number in range(GROUPS):
        group = f"group {number}"
        wanted = sorted(
            (item for item in base.values() if item.get("group") == {"S": group}), key=index_order
        )
        found = list(pages(engine, "Query", query_of(group)))
        if sorted(found, key=index_order) != wanted or [n(each) for each in found] != sorted(
            n(each) for each in wanted
        ):
            faults.append(f"the index holds {len(found)} items of {group}, not these {len(wanted)}")
    entries = list(pages(engine, "Scan", {"TableName": TABLE, "IndexName": INDEX}))
    grouped = [item for item in base.values() if "group" in item]
    if sorted(entries, key=index_order) != sorted(grouped, key=index_order):
        faults.append(f"a scan of the index shows {len(entries)} items, not these {len(grouped)}")
    return faults


def n(item: Item) -> int:
    return int(item["number"]["N"])


def index_order(item: Item) -> tuple[int, str]:
    return n(item), item["account"]["S"]


def query_of(group: str) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "IndexName": INDEX,
        "KeyConditionExpression": "#group = :group",
        "ExpressionAttributeNames": {"#group": "group"},
        "ExpressionAttributeValues": {":group": {"S": group}},
    }


def count_faults(engine: Engine, base: dict[str, Item]) -> list[str]:
    """Faults unless DescribeTable states the right counts and sizes."""
    table = engine(Request("DescribeTable", {"TableName": TABLE}))["Table"]
    index = table["GlobalSecondaryIndexes"][0]
    grouped = [item for item in base.values() if "group" in item]
    said = (
        (table["ItemCount"], table["TableSizeBytes"]),
        (index["ItemCount"], index["IndexSizeBytes"]),
    )
    true = tuple((len(each), sum(map(item_size, each))) for each in (list(base.values()), grouped))
    return [] if said == true else [f"DescribeTable says {said} items and bytes, not {true}"]


class StreamReader:
    """Follows the stream of a file from where it last stopped, across crashes of its writers."""

    def __init__(self) -> None:
        self.positions: dict[str, str] = {}

    def new_changes(self, engine: Engine) -> dict[str, list[Change]]:
        arn = engine(Request("DescribeTable", {"TableName": TABLE}))["Table"]["LatestStreamArn"]
        stream = engine(Request("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
        changes: dict[str, list[Change]] = {}
        for shard in stream["Shards"]:
            for record in self.records(engine, arn, shard["ShardId"]):
                account = record["Keys"]["account"]["S"]
                change = record.get("OldImage"), record.get("NewImage")
                changes.setdefault(account, []).append(change)
        return changes

    def records(self, engine: Engine, arn: str, shard: str) -> Iterator[dict[str, Any]]:
        last = self.positions.get(shard)
        start: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if last:
            start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": last}
        place = {"StreamArn": arn, "ShardId": shard, **start}
        iterator = engine(Request("GetShardIterator", place))["ShardIterator"]
        while True:
            page = engine(Request("GetRecords", {"ShardIterator": iterator}))
            if not page["Records"]:
                return
            for record in page["Records"]:
                change = record["dynamodb"]
                assert change["SequenceNumber"] > self.positions.get(shard, "")
                self.positions[shard] = change["SequenceNumber"]
                yield change
            iterator = page["NextShardIterator"]


def stream_faults(found: dict[str, list[Change]], book: Book) -> list[str]:
    """Faults unless the stream has each change of each account exactly once, in order."""
    return [
        f"the stream tells {len(found.get(account, []))} changes of {account}, "
        f"not these {len(book.changes.get(account, []))}"
        for account in sorted(found.keys() | book.changes.keys())
        if found.get(account, []) != book.changes.get(account, [])
    ]


class LogReader:
    """Follows the change log of a file from where it last stopped."""

    def __init__(self) -> None:
        self.sequence = 0

    def new_befores(self, engine: Engine) -> dict[str, list[Item | None]]:
        """The image of each account before each of its changes."""
        befores: dict[str, list[Item | None]] = {}
        while changes := engine.changes(TABLE, after=self.sequence):
            for change in changes:
                befores.setdefault(change.key["account"]["S"], []).append(change.before)
            self.sequence = changes[-1].sequence
        return befores


def log_faults(found: dict[str, list[Item | None]], book: Book) -> list[str]:
    """Faults unless the change log has each change of each account exactly once, in order."""
    expected = {account: [old for old, _ in each] for account, each in book.changes.items()}
    return [
        f"the change log has {len(found.get(account, []))} changes of {account}, "
        f"not these {len(expected.get(account, []))}"
        for account in sorted(found.keys() | expected.keys())
        if found.get(account, []) != expected.get(account, [])
    ]


def integrity_faults(path: Path) -> list[str]:
    """What SQLite finds wrong with the file; no engine in this process may have it open."""
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()
    return [] if found == ["ok"] else [f"integrity_check: {found[0]}"]
