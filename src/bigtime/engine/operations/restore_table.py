"""The definition of a restored table: taken from its source, with the request's overrides.

It keeps the keys, indexes, billing mode, throughput and encryption. It has no tags, stream, time to
live, policies, table class, deletion protection or point-in-time recovery: those must be set up
again (DDB-TABLE-215).

AWS: "Restoring a table from a backup", "Restore a table in DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Restore.Tutorial.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_restores.html
AWS documents none of the error messages; its controller has seen them, DDB-TABLE-273 and -442:
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.create_table import check_index_throughput
from bigtime.engine.operations.quotas import check_quotas
from bigtime.engine.operations.vectors import ON_DEMAND_ONLY, vector_index
from bigtime.engine.storage import Database, IndexDefinition, TableDefinition, Transaction, Work
from bigtime.wire import Params, Response

log = logging.getLogger("bigtime.engine")

MOST_RESTORES: Final = 50
CEILINGS: Final = "OnDemandThroughput"


def check_encryption_elsewhere(database: Database, arn: str, params: Params) -> None:
    """A restore from another region must say which key encrypts the table (DDB-TABLE-274)."""
    is_here = not arn.startswith("arn:") or arn.split(":")[3] == database.region
    if not is_here and "SSESpecificationOverride" not in params:
        table_schema.invalid_request(
            "sseSpecificationOverride must be provided for cross-region restores"
        )


class RestoreSource(NamedTuple):
    """A table as it was, and the RestoreSummary that DescribeTable shows until it is restored."""

    definition: TableDefinition
    summary: Response
    pin_items: Callable[[], dict[str, Any]]
    """Pins the items and says where they are; called once nothing can be rejected any more."""
    in_use: wire.DynamoDBError | None = None
    """The error if the source is a backup that another restore is reading."""


def restore_from(
    database: Database,
    owner: Database,
    params: Params,
    find_source: Callable[[Transaction], RestoreSource],
) -> Work[Response]:
    """The work of a restore; the `owner` of the source may be the database of another region."""

    def start(transaction: Transaction, source: RestoreSource) -> Response:
        arn = owner.table_arn(source.definition.name)
        summary = {"SourceTableArn": arn, **source.summary, "RestoreInProgress": True}
        definition = restored_definition(source.definition, params, summary, transaction.now)
        check_target(database, transaction, definition.name)
        if source.in_use is not None:
            raise source.in_use
        description = start_restore(database, transaction, definition, source.pin_items)
        return {"TableDescription": description}

    if owner is database:
        return lambda transaction: start(transaction, find_source(transaction))
    return from_another_region(owner, find_source, start)


def from_another_region(
    owner: Database,
    find_source: Callable[[Transaction], RestoreSource],
    start: Callable[[Transaction, RestoreSource], Response],
) -> Work[Response]:
    """A restore from items pinned in another region; if it is rejected, the pin is removed.

    AWS: "You can restore the table to the same AWS Region or to a different Region"
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery.Tutorial.html
    """

    def pin(transaction: Transaction) -> tuple[RestoreSource, dict[str, Any]]:
        source = find_source(transaction)
        return source, source.pin_items()

    source, pinned = owner.committer.run(pin)
    there = source._replace(pin_items=lambda: {**pinned, "region": owner.region})

    def work(transaction: Transaction) -> Response:
        try:
            return start(transaction, there)
        except BaseException:
            if "pin" in pinned:
                release_soon(owner, pinned["pin"])
            raise

    return work


def check_target(database: Database, transaction: Transaction, name: str) -> None:
    """Rejects the name of a table that exists, or that a restore is filling (DDB-TABLE-219)."""
    filling = storage.find_restore(transaction.connection, name)
    if filling is not None and filling.backup_arn is not None:
        raise wire.TableInUseException(
            f"Table: {name} is already being restored from backup: {filling.backup_arn}"
        )
    if filling is not None:
        raise wire.TableInUseException(
            "A target table with the specified name is either being created or deleted: " + name
        )
    if name in database.catalogue.tables_for_writing():
        raise wire.TableAlreadyExistsException(f"Table already exists: {name}")


def release_soon(owner: Database, pin: int) -> None:
    """Queues the removal of a pin in another region.

    To wait for it amid a commit could be to wait for ever: that region may be rejecting a restore
    from this one, and be waiting for this region's commit.
    """

    def report(_: object, error: BaseException | None) -> None:
        if error is not None:
            log.warning("a change log in %s is kept for nothing: %s", owner.region, error)

    owner.committer.submit(partial(storage.release_pin, owner.catalogue, pin), report)


def start_restore(
    database: Database,
    transaction: Transaction,
    definition: TableDefinition,
    origin: Callable[[], dict[str, Any]],
) -> Response:
    """Starts filling a new table from `origin`, called once nothing can be rejected any more.

    Any number of users can execute up to 50 concurrent restores in a given account (AWS:
    "RestoreTableFromBackup").
    """
    running = storage.restores(transaction.connection)
    if sum(not each.is_import for each in running) >= MOST_RESTORES:  # (DDB-TABLE-443)
        raise wire.LimitExceededException(
            f"Subscriber limit exceeded: Only {MOST_RESTORES} restore operations can be done "
            "simultaneously"
        )
    names = database.catalogue.tables_for_writing()
    table_schema.check_number_of_tables(len(names) + len(running))
    check_quotas(database, definition)
    table = storage.begin_restore(database.catalogue, transaction, definition, origin())
    return table_schema.describe(database, table.definition, "CREATING", {})


def restored_definition(
    source: TableDefinition, params: Params, summary: Response, now: float
) -> TableDefinition:
    """The new table; `summary` is its RestoreSummary until it is ACTIVE."""
    on_demand = params.get("BillingModeOverride", source.billing_mode) == table_schema.ON_DEMAND
    throughput = restored_throughput(source, params, on_demand=on_demand)
    restored = replace(
        source,
        name=params["TargetTableName"],
        indexes=restored_indexes(source, params, on_demand=on_demand),
        billing_mode="PAY_PER_REQUEST" if on_demand else "PROVISIONED",
        throughput=throughput,
        deletion_protected=False,
        table_class=None,
        sse=restored_encryption(source, params),
        stream=None,
        ttl_attribute=None,
        tags={},
        id=str(uuid.uuid4()),
        created_at=round(now, 3),
        number=0,
        notes=restored_notes(source, params, summary, on_demand=on_demand),
        vectors=restored_vectors(source, params, on_demand=on_demand),
    )
    return table_schema.with_used_attributes(restored)


def restored_throughput(
    source: TableDefinition, params: Params, *, on_demand: bool
) -> storage.Throughput:
    units = params.get("ProvisionedThroughputOverride")
    if units is None and not on_demand and source.billing_mode == "PROVISIONED":
        return source.throughput
    if units is not None and on_demand:
        what = "ProvisionedThroughput"
        if "BillingModeOverride" in params:
            table_schema.invalid_request(
                f"Cannot override {what} if BillingMode is overridden to PAY_PER_REQUEST"
            )
        table_schema.invalid_request(f"Cannot override {what} unless BillingMode is PROVISIONED")
    if units is None and not on_demand:
        table_schema.invalid_request(
            "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"
        )
    declared = {} if units is None else {"ProvisionedThroughput": units}
    table_schema.check_table_throughput(declared, on_demand=on_demand)
    return table_schema.throughput(units)


def restored_encryption(source: TableDefinition, params: Params) -> dict[str, Any] | None:
    if "SSESpecificationOverride" not in params:
        return source.sse
    return table_schema.encryption(params["SSESpecificationOverride"])


def restored_notes(
    source: TableDefinition, params: Params, summary: Response, *, on_demand: bool
) -> dict[str, Any]:
    notes: dict[str, Any] = {storage.SUMMARY: summary}
    ceilings = params.get("OnDemandThroughputOverride")
    if ceilings is not None:
        for unit, value in ceilings.items():
            if not on_demand:
                table_schema.invalid_request(
                    f"Cannot override {unit} for OnDemandThroughput unless BillingModeOverride is "
                    "PAY_PER_REQUEST"
                )
            if value < 1:
                table_schema.invalid_request(
                    f"Requested {unit} for OnDemandThroughput is outside of valid range"
                )
        notes[CEILINGS] = ceilings
    elif on_demand and CEILINGS in source.notes:
        notes[CEILINGS] = source.notes[CEILINGS]
    return notes


# --- Indexes --------------------------------------------------------------------------------


def restored_indexes(
    source: TableDefinition, params: Params, *, on_demand: bool
) -> tuple[IndexDefinition, ...]:
    """The indexes of the source, or only those that the request lists."""
    defined = {attribute.name: attribute for attribute in source.attributes}
    key = table_schema.KeySchema((source.hash_key,), source.key_attributes[1:])
    local = params.get("LocalSecondaryIndexOverride")
    globally = params.get("GlobalSecondaryIndexOverride")
    chosen: list[IndexDefinition] = []
    if local is None:
        chosen += [index for index in source.indexes if not index.is_global]
    else:
        chosen += declared_indexes(
            source, [table_schema.local_index(each, key, defined) for each in local]
        )
    if globally is None:
        chosen += [
            with_throughput(index, source, on_demand=on_demand)
            for index in source.indexes
            if index.is_global
        ]
    else:
        for each in globally:
            check_index_throughput(each, on_demand=on_demand)
        chosen += declared_indexes(
            source, [table_schema.global_index(each, defined) for each in globally]
        )
    table_schema.check_indexes_together(chosen)
    return tuple(replace(index, number=0, building=False) for index in chosen)


def declared_indexes(
    source: TableDefinition, declared: Sequence[IndexDefinition]
) -> Sequence[IndexDefinition]:
    """Indexes may be left out or renamed, but none can be added (DDB-TABLE-280)."""
    for index in declared:
        if not any(is_like(known, index) for known in source.indexes):
            table_schema.invalid_request(
                f"Index {index.name} does not match a secondary index that existed in the source "
                "table and cannot be created during the restore operation"
            )
    return declared


def is_like(known: IndexDefinition, index: IndexDefinition) -> bool:
    """Whether two indexes have the same key and projection."""
    same = replace(known, name=index.name, throughput=index.throughput, number=0, building=False)
    return same == replace(index, included=known.included) and (
        set(known.included) == set(index.included)
    )


def restored_vectors(
    source: TableDefinition, params: Params, *, on_demand: bool
) -> tuple[storage.VectorIndexDefinition, ...]:
    """The vector indexes of the source, or only those that the request lists."""
    kept = tuple(replace(index, number=0, building=False) for index in source.vectors)
    override = params.get("VectorIndexOverride")
    if override is not None:
        defined = {attribute.name: attribute for attribute in source.attributes}
        chosen = tuple(vector_index(each, defined) for each in override)
        for index in chosen:
            if index not in kept:
                table_schema.invalid(
                    f"Index {index.name} does not match an existing vector index of the source "
                    "table"
                )
        kept = chosen
    if kept and not on_demand:
        table_schema.invalid(ON_DEMAND_ONLY)
    return kept


def with_throughput(
    index: IndexDefinition, source: TableDefinition, *, on_demand: bool
) -> IndexDefinition:
    """A global index with the throughput that its table's billing mode requires."""
    if on_demand:
        return replace(index, throughput=storage.Throughput())
    if source.billing_mode != "PROVISIONED":
        table_schema.invalid_request(f"Must specify provisioned throughput for index {index.name}")
    return index
