"""The chore that puts items in bulk: like an import, but into an existing table.

1. Files are read, and chunks committed, as in imports. The items of a chunk are written like those
   of any PutItem: with their indexes, stream records and changes, each under its condition.
2. What could not be written is reported in the output bucket: lines without a valid item (`ERROR`),
   and items whose condition was false (`CONDITION_CHECK_FAILURE`).
3. A cancelled operation ends before its next chunk; what it has written is kept.

AWS: "Running a bulk put items operation", "Bulk put items output and reconciliation"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BulkPutItems.Requesting.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BulkPutItems.Output.html
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from bigtime import wire
from bigtime.engine import expressions, storage
from bigtime.engine.housekeeping import imports
from bigtime.engine.housekeeping.exports import failure_of
from bigtime.engine.housekeeping.imports import Chunk, Imports
from bigtime.engine.operations import PUT_TOO_LARGE, Room, Write
from bigtime.engine.storage import Table, Transaction, Transfer
from bigtime.formats import CONDITION_MEMBERS, BucketError, Record, bucket_folder, prefix_folder
from bigtime.wire import Item

ERROR: Final = "ERROR"
CONDITION: Final = "CONDITION_CHECK_FAILURE"
# The members of the state that hold the lengths of the report files, by OutputType.
REPORTS: Final = {ERROR: "logged", CONDITION: "reported"}
GONE: Final = "The table was deleted, or deleted and made again, while the operation was running"
CANCELLED: Final = "The bulk operation was cancelled by a CancelBulkOperation request"
DELETES: Final = "A record of an incremental export that deletes cannot be put"

Usage = dict[str, Any]


@dataclass(slots=True)
class Outcome:
    """The result of a chunk: its faults, its failed conditions, and the bytes it has put."""

    faults: list[tuple[int, str]] = field(default_factory=list)
    failed: list[tuple[int, Item, Item | None]] = field(default_factory=list)
    usage: Usage = field(default_factory=dict)


class BulkPuts(Imports):
    """The bulk operations in progress, as this process knows them."""

    kind = "bulk"

    def _advance(self, transfer: Transfer) -> bool:
        if transfer.status == "CANCELLING":
            self._places.pop(transfer.arn, None)
            self._end(transfer, "CANCELLED", failure=("OperationCancelled", CANCELLED))
            return False
        return super()._advance(transfer)

    def _begin(self, transfer: Transfer) -> bool:
        try:
            report_path(transfer, ERROR)
        except BucketError as error:
            self._fail(transfer, error)
            return False
        return super()._begin(transfer)

    def _types(self, transfer: Transfer) -> dict[str, str]:
        return {}

    def _commit(self, transfer: Transfer, chunk: Chunk) -> None:
        def work(transaction: Transaction) -> None:
            table = self._database.catalogue.tables_for_writing().get(transfer.table_name)
            if table is None or table.definition.id != transfer.state["table_id"]:
                ended = transfer.end(
                    "FAILED", transaction.now, files=[], failure=("TableNotFound", GONE)
                )
                storage.save_transfer(transaction, ended)
                return
            room = Room(self._database.collection_limit, transaction)
            outcome = put_chunk(transaction, table, chunk, room)
            storage.save_transfer(transaction, advance(transfer, chunk, outcome))

        try:
            self._run_chunk(work, transfer)
        except OSError as error:
            self._fail(transfer, error)

    def _finish(self, transfer: Transfer) -> None:
        has_errors = transfer.state["errors"] > 0
        self._end(transfer, "COMPLETED_WITH_ERRORS" if has_errors else "COMPLETED")

    def _fail(self, transfer: Transfer, error: BucketError | OSError) -> None:
        self._end(transfer, "FAILED", failure=failure_of(error))

    def _end(self, transfer: Transfer, status: storage.Status, **state: Any) -> None:
        ended = transfer.end(status, self._database.clock(), files=[], **state)
        self._run(partial(imports.save, ended), transfer)


def put_chunk(transaction: Transaction, table: Table, chunk: Chunk, room: Room) -> Outcome:
    outcome = Outcome()

    def put(record: Record) -> str:
        try:
            return put_record(transaction, table, record, room, outcome)
        except wire.ConditionalCheckFailedException as error:
            outcome.failed.append((record.line, record.change.put or {}, error.item))
            return ""

    outcome.faults = imports.put_records(chunk, put)
    return outcome


def put_record(
    transaction: Transaction, table: Table, record: Record, room: Room, outcome: Outcome
) -> str:
    """Puts the record's item; returns or raises the reason if it cannot."""
    given = record.change.put
    if given is None:
        return DELETES
    item, size = wire.check_item(given)
    if size > wire.MAX_ITEM_BYTES:
        return PUT_TOO_LARGE
    write = Write("put", table, item, *table.item_blobs(item), size, show_old_on_failure=True)
    if record.condition is not None:
        write.condition = read_condition(record.condition)
    plan = write.plan(transaction)
    if table.collections:
        room.admit(plan)
    plan.apply(transaction)
    add_usage(outcome.usage, table, item, size)
    return ""


def read_condition(params: dict[str, Any]) -> Any:
    text, *placeholders = (params.get(name) for name in CONDITION_MEMBERS)
    if not isinstance(text, str) or not all(p is None or isinstance(p, dict) for p in placeholders):
        raise wire.ValidationException(
            "A condition is a string, ConditionExpression, and its placeholders are objects"
        )
    expressions.check_parameters(params, expressions=("ConditionExpression",), legacy=())
    return expressions.read_expressions(params).condition


def add_usage(usage: Usage, table: Table, item: Item, size: int) -> None:
    """Counts the bytes of an item, and of its entries in the indexes."""
    usage["Table"] = usage.get("Table", 0) + size
    for index in table.indexes:
        arm = "GlobalSecondaryIndexes" if index.is_global else "LocalSecondaryIndexes"
        add_bytes(usage, arm, index.name, storage.index_size(index, item, size))
    for vector_index in table.vectors:
        entry = vector_index.entry(item)
        add_bytes(usage, "VectorIndexes", vector_index.name, entry.size if entry else 0)


def add_bytes(usage: Usage, arm: str, name: str, size: int) -> None:
    if size:
        counted = usage.setdefault(arm, {})
        counted[name] = counted.get(name, 0) + size


def sum_usage(before: Usage, more: Usage) -> Usage:
    total = {arm: dict(used) if arm != "Table" else used for arm, used in before.items()}
    for arm, used in more.items():
        if arm == "Table":
            total["Table"] = total.get("Table", 0) + used
        else:
            for name, size in used.items():
                add_bytes(total, arm, name, size)
    return total


def advance(transfer: Transfer, chunk: Chunk, outcome: Outcome) -> Transfer:
    """The operation's state after a chunk, once failures are in the report."""
    state = transfer.state
    done = state.get("done", 0)
    partly = state["bytes"] - done + chunk.bytes
    if chunk.is_last:
        key = state["files"][state["file"]]
        done, partly = done + file_size(imports.object_path(transfer, key)), 0
    return imports.after_chunk(transfer, chunk, outcome.faults).with_state(
        done=done,
        bytes=done + partly if state["compression"] == "NONE" else done,
        usage=sum_usage(state.get("usage", {}), outcome.usage),
        **write_reports(transfer, outcome),
    )


def file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# --- The report -------------------------------------------------------------------------------


def report_path(transfer: Transfer, output: str) -> Path:
    """The path of a report; raises `BucketError` if it cannot be written there."""
    asked = transfer.state["output"]
    bucket = bucket_folder(Path(transfer.state["root"]), asked["S3Bucket"])
    folder = prefix_folder(bucket, asked.get("S3KeyPrefix", ""))
    return folder / "AWSDynamoDB" / transfer.arn.rpartition("/")[2] / f"{output}.jsonl"


def write_reports(transfer: Transfer, outcome: Outcome) -> dict[str, int]:
    """Appends to the requested reports; returns their lengths."""
    entries: dict[str, list[dict[str, Any]]] = {
        ERROR: [
            {"itemS3Pointer": imports.item_pointer(transfer, line), "errorMessages": [fault]}
            for line, fault in outcome.faults
        ],
        CONDITION: [
            {
                "itemS3Pointer": imports.item_pointer(transfer, line),
                "attemptedItem": item,
                **({"existingItem": existing} if existing else {}),
            }
            for line, item, existing in outcome.failed
        ],
    }
    lengths = {}
    for output, member in REPORTS.items():
        length = transfer.state.get(member, 0)
        if entries[output] and output in transfer.state["output"]["OutputType"]:
            lines = (orjson.dumps(e, option=orjson.OPT_APPEND_NEWLINE) for e in entries[output])
            length = imports.append(report_path(transfer, output), length, b"".join(lines))
        lengths[member] = length
    return lengths
