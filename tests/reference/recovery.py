"""Runs whose tables are restored, backed up, exported, imported and put in bulk, then compared.

From developerguide/Point-in-time-recovery.html: a restored table has every write that was
acknowledged up to its RestoreDateTime and none after it. The model needs no word for it: it keeps
a copy of each table at that moment, and a restored table is one more table to be audited.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from bigtime.engine import Engine as Store
from bigtime.wire import Request, Response, Transport
from tests.reference.designs import Design
from tests.reference.machine import Run
from tests.reference.strategies import Plan
from tests.reference.tables import Table
from tests.reference.targets import Engine
from tests.reference.values import Item, Key, decode_item

BUCKET = "model"
MOMENTS = 3
WINDOW_SECONDS = 1_000
"""Between two moments: the changes of 15 minutes to 24 hours can be exported."""

State = dict[str, dict[Key, Item]]


class SteppingClock:
    """Half a second between any two operations, so that a moment lies between two of them."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def step(self) -> float:
        self.now += 0.5
        return self.now


def recover(plan: Plan, wrap: Callable[[Transport], Transport] = lambda engine: engine) -> Run:
    clock = SteppingClock()
    with (
        tempfile.TemporaryDirectory(prefix="bigtime-") as folder,
        Store.memory(clock=clock, housekeeping=False, s3_folder=folder) as store,
    ):
        (Path(folder) / BUCKET).mkdir()
        run = Run(plan.designs, [Engine(wrap(store))])
        recovery = Recovery(run, wrap(store), store.tidy)
        recovery.protect()
        moments = record(run, plan, clock, recovery)
        clock.now += 2 * WINDOW_SECONDS
        for number, (moment, state) in enumerate(moments):
            recovery.restore(number, moment, state)
            recovery.transfer(number, moment, state)
        for number, (earlier, later) in enumerate(pairwise(moments)):
            recovery.export_changes(Path(folder) / BUCKET, earlier, later)
            recovery.put_in_bulk(number, earlier[1])
        recovery.restore_backups()
        run.finish()
        return run


def record(
    run: Run, plan: Plan, clock: SteppingClock, recovery: Recovery
) -> list[tuple[float, State]]:
    """Performs a plan, and keeps the state of the model at a few moments of it."""
    steps = plan.operations()
    every = max(1, len(steps) // MOMENTS)
    moments: list[tuple[float, State]] = []
    for number, step in enumerate(steps):
        clock.step()
        run.perform(step)
        if number % every == 0:
            moments.append((clock.now + 0.25, state_of(run)))
            clock.now += WINDOW_SECONDS
            run.model.tokens.clear()  # they are good for ten minutes
            if number % (2 * every) == 0:
                recovery.back_up(number)
    return moments


def state_of(run: Run) -> State:
    """Items are replaced and never changed, so that a copy of their dict will do."""
    return {design.name: dict(run.model.tables[design.name].items) for design in run.designs}


class Recovery:
    def __init__(self, run: Run, transport: Transport, tidy: Callable[[], None]) -> None:
        self.run = run
        self.transport = transport
        self.tidy = tidy
        self.designs = run.designs
        self.backups: list[tuple[str, Design, dict[Key, Item]]] = []
        self.exports: dict[str, str] = {}
        """The folders of exported tables, by the name of the table that was restored likewise."""

    def call(self, operation: str, **params: Any) -> Response:
        request = Request(operation, params)
        self.run.history.append(request)
        self.run.performed += 1
        return self.transport(request)

    def protect(self) -> None:
        enabled = {"PointInTimeRecoveryEnabled": True}
        for design in self.designs:
            self.call(
                "UpdateContinuousBackups",
                TableName=design.name,
                PointInTimeRecoverySpecification=enabled,
            )

    def adopt(self, copy: Design, items: dict[Key, Item]) -> None:
        """One more table, which the end of the run compares like all others."""
        self.run.model.tables[copy.name] = Table(copy, dict(items))
        self.run.designs = (*self.run.designs, copy)

    def restore(self, number: int, moment: float, state: State) -> None:
        for design in self.designs:
            copy = replace(design, name=restored_name(design, number))
            self.call(
                "RestoreTableToPointInTime",
                SourceTableName=design.name,
                TargetTableName=copy.name,
                RestoreDateTime=moment,
            )
            self.adopt(copy, state[design.name])
        self.tidy()

    def back_up(self, number: int) -> None:
        for design in self.designs:
            made = self.call("CreateBackup", TableName=design.name, BackupName=f"b-{number}")
            items = dict(self.run.model.tables[design.name].items)
            self.backups.append((made["BackupDetails"]["BackupArn"], design, items))

    def restore_backups(self) -> None:
        self.tidy()
        for number, (arn, design, items) in enumerate(self.backups):
            copy = replace(design, name=f"{design.name}-backup-{number}")
            self.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName=copy.name)
            self.adopt(copy, items)
        self.tidy()

    def transfer(self, number: int, moment: float, state: State) -> None:
        """Exports each table as it was, and imports that into another."""
        for design in self.designs:
            arn = self.call("DescribeTable", TableName=design.name)["Table"]["TableArn"]
            export = self.call(
                "ExportTableToPointInTime", TableArn=arn, S3Bucket=BUCKET, ExportTime=moment
            )["ExportDescription"]
            self.tidy()
            name = export["ExportArn"].rpartition("/")[2]
            # ImportTable makes no local indexes.
            indexes = tuple(index for index in design.indexes if index.is_global)
            copy = replace(design, name=f"{design.name}-import-{number}", indexes=indexes)
            folder = self.exports[restored_name(design, number)] = f"AWSDynamoDB/{name}/data/"
            source = {"S3Bucket": BUCKET, "S3KeyPrefix": folder}
            imported = self.call(
                "ImportTable",
                S3BucketSource=source,
                InputFormat="DYNAMODB_JSON",
                InputCompressionType="GZIP",
                TableCreationParameters=dict(copy.creation().params),
            )["ImportTableDescription"]
            self.tidy()
            ended = self.call("DescribeImport", ImportArn=imported["ImportArn"])
            status = ended["ImportTableDescription"]["ImportStatus"]
            assert status == "COMPLETED", ended
            self.adopt(copy, state[design.name])

    def put_in_bulk(self, number: int, earlier: State) -> None:
        """Puts what an earlier export has into the tables as they were at the next moment.

        From developerguide/BulkPutItems.Requesting.html: an item replaces one with its key.
        """
        for design in self.designs:
            name = restored_name(design, number + 1)
            source = {
                "S3Bucket": BUCKET,
                "S3KeyPrefix": self.exports[restored_name(design, number)],
                "InputFormat": "DYNAMODB_JSON",
                "InputCompressionType": "GZIP",
            }
            started = self.call(
                "StartBulkPutItems",
                TableName=name,
                InputS3Configuration=source,
                OutputS3Configuration={"S3Bucket": BUCKET, "OutputType": ["ERROR"]},
            )["BulkOperationDescription"]
            self.tidy()
            arn = started["BulkOperationArn"]
            ended = self.call("DescribeBulkOperation", BulkOperationArn=arn)
            about = ended["BulkOperationDescription"]
            foretold = ("COMPLETED", len(earlier[design.name]))
            seen = (about["BulkOperationStatus"], about["ProcessedItemCount"])
            if seen != foretold:
                self.run.fail("engine: another end of a bulk put", about, foretold, seen)
            self.run.model.tables[name].items.update(earlier[design.name])

    def export_changes(
        self, bucket: Path, earlier: tuple[float, State], later: tuple[float, State]
    ) -> None:
        """Exports what changed between two moments: it must lead from one state to the other."""
        (start, before), (end, after) = earlier, later
        window = {
            "ExportFromTime": start,
            "ExportToTime": end,
            "ExportViewType": "NEW_AND_OLD_IMAGES",
        }
        for design in self.designs:
            arn = self.call("DescribeTable", TableName=design.name)["Table"]["TableArn"]
            export = self.call(
                "ExportTableToPointInTime",
                TableArn=arn,
                S3Bucket=BUCKET,
                ExportType="INCREMENTAL_EXPORT",
                IncrementalExportSpecification=window,
            )["ExportDescription"]["ExportArn"]
            self.tidy()
            about = self.call("DescribeExport", ExportArn=export)["ExportDescription"]
            table = Table(design, dict(before[design.name]))
            for change in read_changes(bucket, about["ExportManifest"]):
                apply(table, change)
            if table.items != after[design.name]:
                self.run.fail("engine: other changes", about, after[design.name], table.items)


def restored_name(design: Design, number: int) -> str:
    return f"{design.name}-at-{number}"


def read_changes(bucket: Path, summary: str) -> Iterator[Response]:
    """The lines of an incremental export, as its manifest lists their files."""
    manifest = json.loads((bucket / summary).read_text())["manifestFilesS3Key"]
    for entry in (bucket / manifest).read_text().splitlines():
        with gzip.open(bucket / json.loads(entry)["dataFileS3Key"], "rt") as lines:
            yield from map(json.loads, lines)


def apply(table: Table, change: Response) -> None:
    key = table.key_of(decode_item(change["Keys"]))
    old = decode_item(change["OldImage"]) if "OldImage" in change else None
    assert table.items.get(key) == old, f"engine: another OldImage in {change}"
    table.items.pop(key, None)
    if "NewImage" in change:
        table.items[key] = decode_item(change["NewImage"])
