"""Point-in-time recovery: switching it on and off, describing it, and restoring from it.

A table can be restored to any of its commits, to a fraction of a second; the latest restorable time
is now, where AWS is some minutes behind. A table deleted with point-in-time recovery on can be
restored for 35 days, by its ARN or from its system backup.

AWS: "Point-in-time backups for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Point-in-time-recovery.html
The error messages and their order were seen on AWS: DDB-TABLE-100 and DDB-TABLE-272 of
https://github.com/aws-controllers-k8s/dynamodb-controller (docs/api-quirks).
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations.restore_table import (
    RestoreSource,
    check_encryption_elsewhere,
    restore_from,
)
from bigtime.engine.operations.table_schema import invalid, invalid_request
from bigtime.engine.storage import Database, Moment, TableDefinition, Transaction, Window, Work
from bigtime.wire import Params, Response, ValidationException

DEFAULT_DAYS: Final = 35


def update_continuous_backups(database: Database, params: Params) -> Work[Response]:
    name = database.table_name(params["TableName"])
    wanted = params["PointInTimeRecoverySpecification"]
    if not wanted["PointInTimeRecoveryEnabled"] and "RecoveryPeriodInDays" in wanted:
        invalid_request(
            "Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )
    days = wanted.get("RecoveryPeriodInDays", DEFAULT_DAYS)

    def work(transaction: Transaction) -> Response:
        definition = find_source(database, transaction, name)
        if wanted["PointInTimeRecoveryEnabled"]:
            window = new_window(storage.recovery_window(definition), days, transaction.now)
            changed = storage.with_window(definition, window)
            changed = storage.ensure_log(database.catalogue, transaction, changed)
        else:
            changed = storage.with_window(definition, None)
            changed = storage.without_needless_log(transaction, changed)
        if changed != definition:
            database.catalogue.change(transaction, changed)
        return {"ContinuousBackupsDescription": description(changed, transaction.now)}

    return work


def new_window(before: Window | None, days: int, now: float) -> Window:
    """The window after an update; a longer one does not bring back what a shorter one dropped."""
    if before is None:
        return Window(now, days)
    if before.days == days:
        return before
    return Window(Window(before.earliest(now), days).earliest(now), days)


def describe_continuous_backups(database: Database, params: Params) -> Response:
    name = database.table_name(params["TableName"])
    with database.reading() as reader:
        filling = storage.find_restore(reader, name)
    if filling is not None and filling.is_import:
        return {"ContinuousBackupsDescription": description(filling.definition, database.clock())}
    # A restore that has just finished put its table into the catalogue.
    database.catalogue.refresh()
    table = database.catalogue.tables.get(name)
    if table is None:
        raise no_table(name)
    return {"ContinuousBackupsDescription": description(table.definition, database.clock())}


def description(definition: TableDefinition, now: float) -> Response:
    window = storage.recovery_window(definition)
    recovery: Response = {"PointInTimeRecoveryStatus": "DISABLED"}
    if window is not None:
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": window.days,
            "EarliestRestorableDateTime": window.earliest(now),
            "LatestRestorableDateTime": now,
        }
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery}


# --- Restoring ------------------------------------------------------------------------------


def restore_table_to_point_in_time(database: Database, params: Params) -> Work[Response]:
    given = named_source(database, params)
    check_encryption_elsewhere(database, given, params)
    owner = database.owner(given)
    name = source_name(owner, given)
    takes_latest = params.get("UseLatestRestorableTime", False)
    if takes_latest and "RestoreDateTime" in params:
        # The end of AWS's message is not known.
        invalid_request(
            "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
            "restore request. Please specify one of them"
        )
    if not takes_latest and "RestoreDateTime" not in params:
        invalid_request(
            "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, "
            "but not both"
        )

    def find_source(transaction: Transaction) -> RestoreSource:
        source = find_moment(owner, transaction, name, params.get("RestoreDateTime"))
        pin = partial(pin_items, transaction, source.moment)
        return RestoreSource(source.definition, {"RestoreDateTime": source.at}, pin)

    return restore_from(database, owner, params, find_source)


def in_words(at: float) -> str:
    """A time to the second, as AWS's messages print it."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):  # beyond the years that datetime supports
        return str(at)


def named_source(database: Database, params: Params) -> str:
    """The name of the table to restore, given by name or by ARN (DDB-TABLE-272)."""
    name, arn = params.get("SourceTableName"), params.get("SourceTableArn")
    if name is not None and arn is not None:
        invalid_request("Must provide exactly one of: sourceTableArn, sourceTableName")
    if name is not None:
        return str(name)
    if arn is None:
        raise ValidationException(
            "The parameter 'TableName' is required but was not present in the request"
        )
    if not arn.startswith("arn:"):
        invalid(f"ARNs must start with 'arn:': {arn}")
    if arn.count(":") < 5:
        invalid("sourceTableArn is not a valid ARN")
    if arn.split(":")[4] != database.account:
        raise ValidationException(
            "This action is only supported by accounts that match the resource "
            "owner\u2019s account."
        )
    return str(arn)


class TableAtMoment(NamedTuple):
    """A table at a moment: its current definition, the time, and the last change up to then."""

    definition: TableDefinition
    at: float
    moment: Moment


def find_moment(
    database: Database, transaction: Transaction, name: str, at: float | None
) -> TableAtMoment:
    """The table at that time, or at the latest one; raises AWS's error if it cannot be restored.

    To read it later, pin its moment in the same transaction.
    """
    definition, deleted_at = find_restorable(database, transaction, name)
    window, log = storage.recovery_window(definition), definition.change_log
    if window is None or log is None:
        raise wire.PointInTimeRecoveryUnavailableException(
            f"Point in time recovery is not enabled for table '{name}'"
        )
    latest = transaction.now if deleted_at is None else min(deleted_at, transaction.now)
    earliest = window.earliest(transaction.now)
    if at is not None and not earliest <= at <= latest:
        raise wire.InvalidRestoreTimeException(
            f"RestoreDateTime '{in_words(at)}' must be within EarliestRestorableDateTime "
            f"'{in_words(earliest)}' and LatestRestorableDateTime '{in_words(latest)}'"
        )
    connection, rows = transaction.connection, f"l{log}"
    sequence = (
        storage.last_sequence_of(connection, rows)
        if at is None
        else storage.sequence_at(connection, rows, at)
    )
    moment = Moment(definition.number, log, sequence)
    return TableAtMoment(definition, latest if at is None else float(at), moment)


def pin_items(transaction: Transaction, moment: Moment) -> dict[str, Any]:
    """The source of a restored table's items, with the pin that keeps them there."""
    return {"moment": list(moment), "pin": storage.pin(transaction, moment.log, moment.sequence)}


def find_restorable(
    database: Database, transaction: Transaction, name: str
) -> tuple[TableDefinition, float | None]:
    """The table of that name, or the last one deleted, with the time of its deletion."""
    table = database.catalogue.tables_for_writing().get(name)
    if table is not None:
        return table.definition, None
    for kept in storage.kept_tables(transaction.connection):
        if kept.definition.name == name and storage.recovery_window(kept.definition):
            return kept.definition, kept.deleted_at
    raise no_table(name)


# --- Names ----------------------------------------------------------------------------------


def source_name(database: Database, name_or_arn: str) -> str:
    """The name of the table to export or restore; one of another region is not found.

    (DDB-EXPORT-002 and DDB-TABLE-274 of the source above)
    """
    try:
        return database.table_name(name_or_arn)
    except wire.ValidationException:
        raise no_table(name_or_arn) from None


def find_source(database: Database, transaction: Transaction, name: str) -> TableDefinition:
    """The current definition; a table that is still being imported cannot be backed up yet.

    One that is still being restored is not found (DDB-IMPORT-001, DDB-TABLE-217).
    """
    table = database.catalogue.tables_for_writing().get(name)
    filling = storage.find_restore(transaction.connection, name) if table is None else None
    if filling is not None and filling.is_import:
        raise wire.ContinuousBackupsUnavailableException(
            f"Backups are being enabled for the table: {name}. Please retry later"
        )
    if table is None:
        raise no_table(name)
    return table.definition


def no_table(name: str) -> wire.TableNotFoundException:
    return wire.TableNotFoundException(f"Table not found: {name}")
