"""On-demand backups: created, described, listed, deleted, and restored to a new table.

CreateBackup fixes the moment: the backup has every write acknowledged before it and none made after
it. The copy is made in the background, while the table still accepts writes.

A table deleted with point-in-time recovery on leaves a system backup for 35 days. It is not a file:
its items stay where they were.

AWS: "Using on-demand backup and restore for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-backup-and-restore.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple

import orjson

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.continuous_backups import find_source, pin_items
from bigtime.engine.operations.restore_table import (
    RestoreSource,
    check_encryption_elsewhere,
    restore_from,
)
from bigtime.engine.storage import Backup, Database, Moment, Table, Transaction, Work
from bigtime.wire import Item, Params, Response

DEFAULT_LIST: Final = 100
UPPER_BOUND: Final = "TimeRangeUpperBound"
FOREVER: Final = float("inf")
ARN: Final = re.compile(r"arn:aws:dynamodb:([^:]*):([^:]*):table/([^/]+)/backup/([^/]+)")
ANY_ARN: Final = re.compile(r"arn:[^:]*:[^:]*:[^:]*:[^:]*:table/[^/]+/backup/[^/]+")
IN_USE: Final = (
    "There is another ongoing conflicting backup control plane operation on the table. "
    "The backup is either being created, deleted or restored to a table."
)


def create_backup(database: Database, params: Params) -> Work[Response]:
    name = database.table_name(params["TableName"])

    def work(transaction: Transaction) -> Response:
        backup = begin_backup(database, transaction, name, params["BackupName"])
        return {"BackupDetails": details(database, backup)}

    return work


def create_backups(
    database: Database, names: Mapping[str, str], *, by_caller: bool = False
) -> Work[list[Response]]:
    """Backs up several tables at the same moment; `names` maps table names to backup names."""

    def work(transaction: Transaction) -> list[Response]:
        for table in names:
            find_source(database, transaction, table)
        found = [
            begin_backup(database, transaction, *each, by_caller=by_caller)
            for each in names.items()
        ]
        return [details(database, backup) for backup in found]

    return work


def copy_backups(
    database: Database, names: Mapping[str, str], pause: Callable[[], None]
) -> list[Response]:
    """Backs up several tables at one moment on this thread; calls `pause` after each chunk."""
    with storage.copier_lock(database.file.path):
        work = create_backups(database, names, by_caller=True)
        begun = database.committer.run(work)
        for each in begun:
            for _ in storage.write_backup(database, each["BackupArn"].rpartition("/")[2]):
                pause()
        return [{**each, "BackupStatus": "AVAILABLE"} for each in begun]


class TableChange(NamedTuple):
    """A row of a table's change log: its time, the item's key, and the item before the change."""

    sequence: int
    """The position of this change among the changes to its table."""
    at: float
    """The time of the change, in seconds since 1970."""
    key: Item
    """The key attributes of the item."""
    before: Item | None
    """The item before, or None if it was new."""


def read_changes(database: Database, table_name: str, after: int, limit: int) -> list[TableChange]:
    """The changes to a table after a sequence, in order; fewer than `limit` if they are large.

    Empty for a table without a change log.
    """
    database.catalogue.refresh()
    table = database.catalogue.table(table_name)
    if table.log is None:
        return []
    with database.reading() as reader:
        # The first row of a log may be empty.
        found = storage.read_changes(reader, table.log, after, limit + 1)
    rows = [row for row in found if row.partition][:limit]
    return [change_of(table, row) for row in rows]


def change_of(table: Table, row: storage.Change) -> TableChange:
    key = table.codec.key(row.partition, row.sort)
    try:
        item = None if row.item is None else orjson.loads(row.item)
    except orjson.JSONDecodeError:
        raise storage.explain(storage.UnreadableItem(table.name, key), "read") from None
    return TableChange(row.sequence, row.at, key, item)


def begin_backup(
    database: Database,
    transaction: Transaction,
    name: str,
    title: str,
    *,
    by_caller: bool = False,
) -> Backup:
    """Pins the table's changes from now on, so that the housekeeper can copy its current items."""
    definition = find_source(database, transaction, name)
    logged = storage.ensure_log(database.catalogue, transaction, definition)
    table = database.catalogue.tables_for_writing()[name]
    if logged is not definition:
        table = database.catalogue.change(transaction, logged)
    assert logged.change_log is not None and table.log is not None
    sequence = storage.last_sequence_of(transaction.connection, table.log)
    moment = Moment(table.number, logged.change_log, sequence)
    return add_backup(
        database,
        transaction,
        table,
        {"name": title, "copied_by_caller": by_caller, **pin_items(transaction, moment)},
        kind="USER",
        status="CREATING",
    )


def refuse_while_copied(transaction: Transaction, table: Table) -> None:
    """Rejects the deletion of a table whose backup is not finished.

    AWS: "Using DynamoDB on-demand backup": "While a backup is in progress, you can't ... delete the
    source table of the backup."; its message is not known.
    """
    if table.definition.change_log is None:
        return
    unfinished = storage.unfinished_backups(transaction.connection)
    if any(copy.status == "CREATING" and copy.moment.table == table.number for copy in unfinished):
        raise table_schema.in_use(f"A backup of the table is being created: {table.name}")


def keep_deleted(database: Database, transaction: Transaction, table: Table) -> list[str]:
    """The rows of a deleted table to keep, for its system backup or an unfinished copy."""
    log = table.definition.change_log
    if log is None or table.log is None:
        return []
    storage.keep_table(transaction, table)
    if storage.recovery_window(table.definition):
        sequence = storage.last_sequence_of(transaction.connection, table.log)
        add_backup(
            database,
            transaction,
            table,
            {
                "name": f"{table.name}$DeletedTableBackup",
                "table": table.number,
                "moment": [table.number, log, sequence],
                "expires_at": transaction.now + storage.KEPT_SECONDS,
            },
            kind="SYSTEM",
            status="AVAILABLE",
        )
    return [table.rows, table.log]


def add_backup(
    database: Database,
    transaction: Transaction,
    table: Table,
    about: dict[str, Any],
    *,
    kind: str,
    status: str,
) -> Backup:
    transaction.write_counts()
    transaction.counts.clear()
    items, size = database.catalogue.counts(transaction.connection, table)[table.number]
    backup = Backup(
        id=new_id(transaction, kind),
        table_name=table.name,
        type=kind,
        status=status,
        created_at=round(transaction.now, 3),
        description={
            **about,
            "definition": orjson.loads(table.definition.to_json()),
            "items": items,
            "bytes": size,
        },
    )
    storage.add_backup(transaction, backup)
    return backup


def new_id(transaction: Transaction, kind: str) -> str:
    """A backup's id: the time, and for a system backup only zeros (DDB-BACKUP-015)."""
    at = f"{int(transaction.now * 1000):014d}"
    zeros = f"{at}-00000000"
    if kind == "SYSTEM" and storage.find_backup(transaction.connection, zeros) is None:
        return zeros
    return f"{at}-{token_hex(4)}"


# --- Describing -----------------------------------------------------------------------------


def describe_backup(database: Database, params: Params) -> Response:
    with database.reading() as reader:
        backup = find(database, reader, params["BackupArn"])
    return {"BackupDescription": description(database, backup)}


def list_backups(database: Database, params: Params) -> Response:
    check_list(database, params)
    limit = params.get("Limit", DEFAULT_LIST)
    name = database.table_name(params["TableName"]) if "TableName" in params else None
    with database.reading() as reader:
        found = storage.list_backups(
            reader,
            after=params.get("ExclusiveStartBackupArn", "").rpartition("/")[2],
            kind=params.get("BackupType", "USER"),
            table_name=name,
            # SQLite integers have 64 bits; these may be larger.
            between=(
                float(params.get("TimeRangeLowerBound", 0)),
                float(params.get(UPPER_BOUND, FOREVER)),
            ),
            limit=limit + 1,
        )
    response: Response = {
        "BackupSummaries": [summary(database, backup) for backup in found[:limit]]
    }
    if len(found) > limit:
        response["LastEvaluatedBackupArn"] = backup_arn(database, found[limit - 1])
    return response


def check_list(database: Database, params: Params) -> None:
    """(DDB-BACKUP-012 and -014 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks)"""
    if float(params.get("TimeRangeLowerBound", 0)) > float(params.get(UPPER_BOUND, FOREVER)):
        table_schema.invalid("Time range lower bound must be less than or equal to upper bound")
    start = ARN.fullmatch(params.get("ExclusiveStartBackupArn", ""))
    if start is not None and start[1] != database.region:
        table_schema.invalid_request(
            "The supplied ExclusiveStartBackupArn does not match the region"
        )


def backup_arn(database: Database, backup: Backup) -> str:
    return f"{database.table_arn(backup.table_name)}/backup/{backup.id}"


def details(database: Database, backup: Backup) -> Response:
    expiry = backup.description.get("expires_at")
    return {
        "BackupArn": backup_arn(database, backup),
        "BackupName": backup.description["name"],
        "BackupSizeBytes": backup.description["bytes"],
        "BackupStatus": backup.status,
        "BackupType": backup.type,
        "BackupCreationDateTime": backup.created_at,
        **({} if expiry is None else {"BackupExpiryDateTime": expiry}),
    }


def summary(database: Database, backup: Backup) -> Response:
    table = backup.description["definition"]
    return {
        "TableName": backup.table_name,
        "TableId": table["id"],
        "TableArn": database.table_arn(backup.table_name),
        **details(database, backup),
    }


def description(database: Database, backup: Backup) -> Response:
    """A BackupDescription, with its table as DescribeTable would show it."""
    definition = backup.definition
    counts = {definition.number: (backup.description["items"], backup.description["bytes"])}
    table = table_schema.describe(database, definition, "ACTIVE", counts)
    return {
        "BackupDetails": details(database, backup),
        "SourceTableDetails": {
            **select_members(table, TABLE_INFO),
            "TableCreationDateTime": table["CreationDateTime"],
            "BillingMode": definition.billing_mode,
        },
        "SourceTableFeatureDetails": features(backup, table),
    }


CEILINGS: Final = "OnDemandThroughput"
TABLE_INFO: Final = (
    *"TableName TableId TableArn TableSizeBytes KeySchema ItemCount ProvisionedThroughput".split(),
    CEILINGS,
)
LOCAL_INFO: Final = ("IndexName", "KeySchema", "Projection")
VECTOR_INFO: Final = tuple(
    "IndexName VectorAttribute SearchSchema Projection Dimensions DistanceFunction".split()
)
GLOBAL_INFO: Final = (*LOCAL_INFO, "ProvisionedThroughput", CEILINGS)


def features(backup: Backup, table: Response) -> Response:
    definition = backup.definition
    found: Response = {}
    for member, shown in (
        ("LocalSecondaryIndexes", LOCAL_INFO),
        ("GlobalSecondaryIndexes", GLOBAL_INFO),
        ("VectorIndexes", VECTOR_INFO),
    ):
        if member in table:
            found[member] = [select_members(index, shown) for index in table[member]]
    if "StreamSpecification" in table:
        found["StreamDescription"] = table["StreamSpecification"]
    if definition.ttl_attribute:  # (DDB-BACKUP-004, -009)
        found["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": definition.ttl_attribute,
        }
    if "SSEDescription" in table:
        found["SSEDescription"] = table["SSEDescription"]
    return found


def select_members(described: Response, shown: tuple[str, ...]) -> Response:
    """The members of a table or an index that a backup shows; of its throughput only the units."""
    info = {name: described[name] for name in shown if name in described}
    if "ProvisionedThroughput" in info:
        units = info["ProvisionedThroughput"]
        info["ProvisionedThroughput"] = {name: units[name] for name in table_schema.UNITS}
    return info


def check_backup(database: Database, arn: str) -> str | None:
    """Describes what is wrong with a backup; None if every item can be restored."""
    with database.reading() as reader:
        backup = find(database, reader, arn)
    if backup.status == "CREATING":
        raise wire.BackupInUseException(IN_USE)
    return None if backup.type == "SYSTEM" else storage.backup_fault(database.file.path, backup)


def file_of_backup(database: Database, arn: str) -> Path:
    """The file of a complete backup."""
    with database.reading() as reader:
        backup = find(database, reader, arn)
    if backup.status == "CREATING":
        raise wire.BackupInUseException(IN_USE)
    return storage.backup_path(database.file.path, backup.id)


def adopt_backup(database: Database, source: Path) -> Response:
    """Copies in a backup file, wherever it was made, so that it can be restored.

    A file that was copied in before is recognised by its checksum.
    """
    digest = storage.backup_digest(source)
    with database.reading() as reader:
        for known in storage.backup_files(reader):
            if known.description.get("adopted") == digest:
                return details(database, known)
    now = database.clock()
    id = f"{int(now * 1000):014d}-{token_hex(4)}"
    path = storage.backup_path(database.file.path, id)
    about = storage.copy_backup(source, path)
    backup = Backup(
        id=id,
        table_name=about["definition"]["name"],
        type="USER",
        status="AVAILABLE",
        created_at=round(now, 3),
        description={
            **{name: about[name] for name in ("name", "definition", "items", "bytes")},
            "adopted": digest,
        },
    )

    def work(transaction: Transaction) -> Response:
        storage.add_backup(transaction, backup)
        return details(database, backup)

    try:
        return database.committer.run(work)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


# --- Deleting and restoring -----------------------------------------------------------------


def delete_backup(database: Database, params: Params) -> Work[Response]:
    def work(transaction: Transaction) -> Response:
        backup = find(database, transaction.connection, params["BackupArn"])
        refuse_if_system(database, backup)
        refuse_if_in_use(database, transaction, backup)
        gone = backup._replace(status="DELETED")
        transaction.execute("UPDATE backups SET status = 'DELETED' WHERE id = ?", (backup.id,))
        return {"BackupDescription": description(database, gone)}

    return work


def refuse_if_system(database: Database, backup: Backup) -> None:
    """(DDB-BACKUP-015 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks)"""
    if backup.type == "SYSTEM":
        expiry = datetime.fromtimestamp(backup.description["expires_at"], UTC)
        shown = expiry.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        table_schema.invalid_request(
            "User is not allowed to delete the system backup with arn "
            f"{backup_arn(database, backup)}. It will automatically expire on {shown}"
        )


def is_being_restored(connection: Any, arn: str) -> bool:
    return any(each.backup_arn == arn for each in storage.restores(connection))


def refuse_if_in_use(database: Database, transaction: Transaction, backup: Backup) -> None:
    arn = backup_arn(database, backup)
    if is_being_restored(transaction.connection, arn):
        raise wire.BackupInUseException(f"Backup is being used to restore table: {arn}")
    if backup.status == "CREATING":
        raise wire.BackupInUseException(IN_USE)


def restore_table_from_backup(database: Database, params: Params) -> Work[Response]:
    arn = params["BackupArn"]
    if ARN.fullmatch(arn):
        check_encryption_elsewhere(database, arn, params)
    owner = database.owner(arn)

    def find_backup(transaction: Transaction) -> RestoreSource:
        backup = find(owner, transaction.connection, arn)
        if backup.status == "CREATING":
            raise wire.BackupInUseException(IN_USE)
        in_use = None  # a backup is restored to one table at a time (DDB-BACKUP-010)
        running = is_being_restored(transaction.connection, arn)
        if owner is not database:
            with database.reading() as reader:
                running = running or is_being_restored(reader, arn)
        if running:
            in_use = wire.BackupInUseException(
                f"Backup is being used to restore another table: {arn}"
            )

        def pin() -> dict[str, Any]:
            if backup.type == "SYSTEM":
                return pin_items(transaction, backup.moment)
            if not storage.backup_path(owner.file.path, backup.id).is_file():
                raise not_found(arn)
            return {"backup": backup.id}

        summary = {"SourceBackupArn": arn, "RestoreDateTime": backup.created_at}
        return RestoreSource(backup.definition, summary, pin, in_use)

    return restore_from(database, owner, params, find_backup)


def find(database: Database, connection: Any, arn: str) -> Backup:
    named = ARN.fullmatch(arn)
    if named is None and ANY_ARN.fullmatch(arn):  # (DDB-BACKUP-012)
        table_schema.invalid_request("BackupArn is not valid")
    if named is None:
        raise wire.ValidationException("Invalid Backup ARN")
    if named[2] != database.account:
        raise wire.AccessDeniedException("Access is denied")
    backup = storage.find_backup(connection, named[4])
    if backup is None or backup_arn(database, backup) != arn:
        raise not_found(arn)
    return backup


def not_found(arn: str) -> wire.BackupNotFoundException:
    return wire.BackupNotFoundException(f"Backup not found: {arn}")
