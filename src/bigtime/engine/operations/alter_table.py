"""Applies an UpdateTable or UpdateTimeToLive request to a table's definition.

Each `with_...` takes the table as the previous step left it and returns the changed table, so that
a request is rejected or applied as a whole. The steps follow the order of AWS's checks.

AWS: "UpdateTable" and "UpdateTimeToLive"; the error messages are catalogued by AWS's controller.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-442.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import replicas, table_schema
from bigtime.engine.operations.vectors import with_vector_updates
from bigtime.engine.storage import IndexDefinition, KeyAttribute, TableDefinition, Throughput
from bigtime.wire import Params

ONE_AT_A_TIME: Final = (
    "Subscriber limit exceeded: "
    "Only 1 online index can be created or deleted simultaneously per table"
)
NOT_FOR_UPDATE: Final = tuple(
    "DisassociationProtectionEnabled GlobalTableSettingsReplicationMode".split()
)
SOMETHING_TO_UPDATE: Final = tuple(
    "BillingMode DeletionProtectionEnabled GlobalSecondaryIndexUpdates OnDemandThroughput"
    " ProvisionedThroughput ReplicaUpdates SSESpecification StreamSpecification TableClass"
    " VectorIndexUpdates WarmThroughput".split()
)
ALONE: Final = {
    "ReplicaUpdates": "Replica modification",
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "WarmThroughput": "WarmThroughput",
}


def check_update_request(params: Params) -> None:
    """What AWS checks of an UpdateTable before it looks for the table (DDB-TABLE-015, -456)."""
    table_schema.refuse_members(params, NOT_FOR_UPDATE)
    updates = params.get("GlobalSecondaryIndexUpdates", ())
    for update in updates:
        if update.get("Update", {}).get("WarmThroughput") == {}:
            table_schema.invalid(
                "WarmThroughput must have at least one of ReadUnitsPerSecond or "
                f"WriteUnitsPerSecond specified for index: {update['Update']['IndexName']}"
            )
    if not given_changes(params):
        consistency = "MultiRegionConsistency"  # by itself it changes nothing (DDB-TABLE-202)
        raise wire.ValidationException(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, "
            "MultiAccountReplicaReady, ReplicaTransitRoleArn, "
            f"{'' if consistency in params else f'{consistency}, '}"
            "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass "
            "is required"
        )
    table_schema.check_table_class(params)
    check_alone(params)
    if params.get("GlobalSecondaryIndexUpdates") == []:  # (DDB-TABLE-359)
        table_schema.invalid("List of GlobalSecondaryIndexUpdates is empty")
    check_apart(params, (*updates, *params.get("VectorIndexUpdates", ())))
    check_index_updates(updates)


def given_changes(params: Params) -> list[str]:
    """The members that change something; an empty list or structure changes nothing.

    An empty SSESpecification asks for the key that DynamoDB owns (DDB-TABLE-437).
    """
    return [
        member
        for member in SOMETHING_TO_UPDATE
        if params.get(member) not in (None, [], {})
        or (member == "SSESpecification" and member in params)
    ]


def updated_table(
    table: TableDefinition, params: Params, *, now: float | None = None
) -> TableDefinition:
    """The table after an UpdateTable; `now` is the time of any change that DescribeTable dates."""
    updates = params.get("GlobalSecondaryIndexUpdates", ())
    check_one_online(table, updates, params.get("VectorIndexUpdates", ()))
    changed = with_billing(table, params, now)
    changed = with_index_updates(changed, updates, params.get("AttributeDefinitions", ()), now)
    changed = with_vector_updates(changed, params)
    changed = replace(changed, notes=changed_notes(changed, params, changed.notes, "table"))
    changed = with_stream(changed, params.get("StreamSpecification"))
    changed = with_encryption(changed, params.get("SSESpecification"))
    return with_settings(with_warmth_kept(table, changed), params, now)


def check_alone(params: Params) -> None:
    """Rejects a change combined with others when AWS requires a request of its own for it."""
    given = given_changes(params)
    for member, change in ALONE.items():
        if member == "WarmThroughput" and given == ["GlobalSecondaryIndexUpdates", member]:
            table_schema.invalid(  # (DDB-TABLE-174)
                "Create global secondary index cannot be specified when updating WarmThroughput"
            )
        if member in given and len(given) > 1:
            table_schema.invalid(f"{change} must be the only operation in the request")
    if "OnDemandThroughput" in given and not {"BillingMode", "OnDemandThroughput"}.issuperset(
        given
    ):
        table_schema.invalid(
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        )


def check_apart(params: Params, updates: Sequence[Params]) -> None:
    """Throughput, the stream and the set of indexes must change in separate requests."""
    throughput, stream = "ProvisionedThroughput" in params, "StreamSpecification" in params
    if throughput and stream:
        table_schema.invalid("You cannot modify stream status while updating table IOPS")
    if (throughput or stream) and any("Update" not in update for update in updates if update):
        other = "updating table IOPS" if throughput else "changing stream status"
        table_schema.invalid(f"You cannot create or delete index while {other}")


def check_index_updates(updates: Sequence[Params]) -> None:
    names: set[str] = set()
    for update in updates:
        if len(update) > 1:
            table_schema.invalid(
                "Only one global secondary index action is allowed per "
                "GlobalSecondaryIndexUpdate object"
            )
        if len(update) == 0:
            table_schema.invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        for action in update.values():
            if action["IndexName"] in names:
                table_schema.invalid(
                    "Only one global secondary index update per index is allowed simultaneously. "
                    f"Index: {action['IndexName']}"
                )
            names.add(action["IndexName"])


def check_one_online(
    table: TableDefinition, updates: Sequence[Params], vector_updates: Sequence[Params]
) -> None:
    """Only one index, secondary or vector, can be created or deleted at a time."""
    actions = [action for update in (*updates, *vector_updates) for action in update]
    if sum(action != "Update" for action in actions) > 1:
        raise wire.LimitExceededException(ONE_AT_A_TIME)
    for update in vector_updates:
        for action in update.values():
            check_no_other_is_built(table, action["IndexName"])


def check_no_other_is_built(table: TableDefinition, name: str) -> None:
    """AWS: "During the backfilling phase, you can't add or delete other indexes on the table."

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.OnlineOps.html
    """
    if any(index.building and index.name != name for index in table.all_indexes):
        raise wire.LimitExceededException(ONE_AT_A_TIME)


def with_billing(table: TableDefinition, params: Params, now: float | None) -> TableDefinition:
    mode = params.get("BillingMode", table.billing_mode)
    declared = params.get("ProvisionedThroughput")
    if mode == table_schema.ON_DEMAND:
        if declared is not None:
            if "BillingMode" in params:  # (DDB-TABLE-056)
                table_schema.invalid(
                    "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST"
                )
            table_schema.check_table_throughput(params, on_demand=True)
        return on_demand_table(table, now)
    if params.get("BillingMode") and declared is None:
        table_schema.invalid(
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
        )
    if declared is None:
        return table
    if table.global_table:
        raise wire.ValidationException(replicas.NOT_SCALED)
    table_schema.check_bounds(declared)
    if table.billing_mode == table_schema.ON_DEMAND:
        return provisioned_table(table, params)
    units = changed_throughput(table.throughput, declared)
    notes = with_change_dates(table.notes, table.throughput, units, now)
    return replace(table, throughput=units, notes=notes)


def on_demand_table(table: TableDefinition, now: float | None) -> TableDefinition:
    if table.billing_mode == table_schema.ON_DEMAND:
        return table
    indexes = tuple(replace(index, throughput=Throughput()) for index in table.indexes)
    return replace(
        table,
        billing_mode="PAY_PER_REQUEST",
        throughput=Throughput(),
        indexes=indexes,
        notes={**table.notes, "LastUpdateToPayPerRequestDateTime": now or table.created_at},
    )


def provisioned_table(table: TableDefinition, params: Params) -> TableDefinition:
    updates = params.get("GlobalSecondaryIndexUpdates", ())
    given = {
        update["Update"]["IndexName"]
        for update in updates
        if "ProvisionedThroughput" in update.get("Update", {})
    }
    missing = [index.name for index in table.indexes if index.is_global and index.name not in given]
    if missing:
        table_schema.invalid(
            f"ProvisionedThroughput must be specified for index: {','.join(missing)}"
        )
    return replace(
        table,
        billing_mode="PROVISIONED",
        throughput=table_schema.throughput(params["ProvisionedThroughput"]),
        notes=notes_without_ceilings(table),
    )


def notes_without_ceilings(table: TableDefinition) -> dict[str, Any]:
    """On-demand maxima are dropped when on-demand billing ends; that it was once used is kept."""
    notes = {"LastUpdateToPayPerRequestDateTime": table.created_at, **table.notes}
    notes.pop("OnDemandThroughput", None)
    indexes = {
        name: {what: note for what, note in kept.items() if what != "OnDemandThroughput"}
        for name, kept in notes.pop("indexes", {}).items()
    }
    return {**notes, "indexes": indexes} if indexes else notes


def with_warmth_kept(before: TableDefinition, changed: TableDefinition) -> TableDefinition:
    """Warm throughput never decreases, whatever happens to throughput (DDB-TABLE-061, -134)."""
    notes = warm_notes(before, changed, before.throughput, changed.throughput, before.notes)
    kept = replace(changed, notes={**changed.notes, **notes})
    for index in changed.indexes:
        known = before.index(index.name)
        if known is not None and index.is_global:
            noted = before.notes.get("indexes", {}).get(index.name, {})
            notes = warm_notes(before, changed, known.throughput, index.throughput, noted)
            if notes:
                now = changed.notes.get("indexes", {}).get(index.name, {})
                kept = noted_index(kept, index.name, {**now, **notes})
    return kept


def warm_notes(
    before: TableDefinition,
    changed: TableDefinition,
    known: Throughput,
    units: Throughput,
    notes: Mapping[str, Any],
) -> dict[str, Any]:
    """A note of the warm throughput that a change of throughput or billing would lower."""
    if (before.billing_mode, known) == (changed.billing_mode, units):
        return {}
    warm, usual = storage.warm(before, known, notes), storage.warm(changed, units, {})
    if all(usual[unit] >= value for unit, value in warm.items()):
        return {}
    return {"WarmThroughput": {unit: max(value, usual[unit]) for unit, value in warm.items()}}


def changed_throughput(current: Throughput, declared: Params, subject: str = "table") -> Throughput:
    units = table_schema.throughput(declared)
    if units == current:
        raise wire.ValidationException(
            f"The provisioned throughput for the {subject} will not change. "
            "The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the {subject}: {current.read}. "
            f"Requested ReadCapacityUnits: {units.read}. "
            f"Current WriteCapacityUnits provisioned for the {subject}: {current.write}. "
            f"Requested WriteCapacityUnits: {units.write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and "
            "how to request higher limits."
        )
    return units


def with_change_dates(
    known: Mapping[str, Any], before: Throughput, units: Throughput, now: float | None
) -> dict[str, Any]:
    """The notes of a table or an index, with the time of its last throughput change."""
    notes = dict(known)
    if now is None or before == Throughput():  # it was on-demand
        return notes
    if units.read > before.read or units.write > before.write:
        notes["LastIncreaseDateTime"] = now
    if units.read < before.read or units.write < before.write:
        notes["NumberOfDecreasesToday"] = 1 + storage.decreases_today(notes, now)
        notes["LastDecreaseDateTime"] = now
    return notes


def with_index_updates(
    table: TableDefinition,
    updates: Sequence[Params],
    definitions: Sequence[Params],
    now: float | None,
) -> TableDefinition:
    for update in updates:
        if "Update" in update:
            table = with_index_throughput(table, update["Update"], now)
        if "Create" in update:
            table = with_new_index(table, update["Create"], definitions)
        if "Delete" in update:
            table = without_index(table, update["Delete"]["IndexName"])
    return table


def with_index_throughput(
    table: TableDefinition, action: Params, now: float | None
) -> TableDefinition:
    index = existing_index(table, action["IndexName"], "update")
    declared = action.get("ProvisionedThroughput")
    is_limited = bool(action.get("OnDemandThroughput") or action.get("WarmThroughput"))
    on_demand = table.billing_mode == table_schema.ON_DEMAND
    if on_demand and (declared is not None or not is_limited):  # (DDB-TABLE-152, -456)
        table_schema.invalid(
            f"The only Updates for index: {index.name} when TableThroughputMode is "
            "PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
        )
    if declared is not None or not is_limited:
        check_new_index_throughput(action, on_demand=False)
    table = with_index_notes(table, action)
    if declared is None:
        return table
    units = changed_throughput(index.throughput, declared, f"index {index.name}")
    changed = replace(index, throughput=units)
    known = table.notes.get("indexes", {}).get(index.name, {})
    notes = with_change_dates(known, index.throughput, units, now)
    return replace(
        noted_index(table, index.name, notes),
        indexes=tuple(changed if each is index else each for each in table.indexes),
    )


def existing_index(table: TableDefinition, name: str, verb: str) -> IndexDefinition:
    index = table.index(name)
    if index is None:
        raise wire.ResourceNotFoundException(
            f"Requested resource not found: Index {name} for table {table.name}"
        )
    if not index.is_global:
        raise wire.ValidationException(
            f"Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}"
        )
    return index


def check_new_index_throughput(action: Params, *, on_demand: bool) -> None:
    name, units = action["IndexName"], action.get("ProvisionedThroughput")
    if on_demand and units is not None:
        table_schema.invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
            f"for index: {name} when BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand:
        if units is None:
            table_schema.invalid(
                f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}"
            )
        table_schema.check_bounds(units, f" for index {name}")


def with_new_index(
    table: TableDefinition, action: Params, definitions: Sequence[Params]
) -> TableDefinition:
    if not definitions:
        table_schema.invalid(
            f"AttributeDefinitions is not specified for index: {action['IndexName']}"
        )
    defined = table_schema.defined_attributes(definitions)
    # The request must define every key attribute, even those that the table already defines.
    if not all(element["AttributeName"] in defined for element in action["KeySchema"]):
        raise wire.ValidationException(
            "Invalid KeySchema: Some index key attribute have no definition"
        )
    check_types_unchanged(table, action["KeySchema"], defined)
    if table.index(action["IndexName"]) or table.vector_index(action["IndexName"]):
        raise wire.ValidationException("Attempting to create an index which already exists")
    check_no_other_is_built(table, action["IndexName"])
    index = replace(table_schema.global_index(action, defined), building=True)
    check_new_index_throughput(action, on_demand=table.billing_mode == table_schema.ON_DEMAND)
    attributes = {attribute.name: attribute for attribute in table.attributes}
    attributes.update((key_attribute.name, key_attribute) for key_attribute in index.key_attributes)
    check_number_of_indexes(table)
    table_schema.check_indexes_together((*table.indexes, index))
    grown = replace(table, indexes=(*table.indexes, index), attributes=tuple(attributes.values()))
    return with_index_notes(grown, action)


def check_number_of_indexes(table: TableDefinition) -> None:
    """The limit that CreateTable reports as a ValidationException (DDB-TABLE-169)."""
    if sum(index.is_global for index in table.indexes) >= table_schema.MOST_GLOBAL_INDEXES:
        raise wire.LimitExceededException(
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table "
            f"limit of {table_schema.MOST_GLOBAL_INDEXES}"
        )


def check_types_unchanged(
    table: TableDefinition, new: Sequence[Params], defined: Mapping[str, KeyAttribute]
) -> None:
    for attribute in table.attributes:
        if defined.get(attribute.name, attribute) != attribute:
            elements = ((defined[each["AttributeName"]], each["KeyType"]) for each in new)
            table_schema.invalid(
                "Attributes cannot be redefined. Please check that your attribute has the same "
                "type as previously defined. Existing schema: "
                f"{table_schema.shown_schema(schema_with(table, attribute))} "
                f"New schema: {table_schema.shown_schema(elements)}"
            )


def schema_with(
    table: TableDefinition, attribute: KeyAttribute
) -> Iterator[tuple[KeyAttribute, str]]:
    """The first key schema that uses an attribute."""
    keys: list[tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]]
    keys = [((table.hash_key,), table.key_attributes[1:])]
    keys += [(index.hash_key, index.range_key) for index in table.indexes]
    keys += [(index.search_attributes, ()) for index in table.vectors]
    hashes, ranges = next(key for key in keys if attribute in (*key[0], *key[1]))
    yield from ((each, "HASH") for each in hashes)
    yield from ((each, "RANGE") for each in ranges)


def without_index(table: TableDefinition, name: str) -> TableDefinition:
    index = existing_index(table, name, "delete")
    check_no_other_is_built(table, name)
    kept = tuple(each for each in table.indexes if each is not index)
    notes = dict(table.notes)
    others = {other: note for other, note in notes.pop("indexes", {}).items() if other != name}
    insights = notes.get(table_schema.INSIGHTS)
    if insights:
        notes[table_schema.INSIGHTS] = {k: v for k, v in insights.items() if k != name}
    shrunk = replace(table, indexes=kept, notes={**notes, "indexes": others} if others else notes)
    return table_schema.with_used_attributes(shrunk)


def with_index_notes(table: TableDefinition, action: Params) -> TableDefinition:
    name = action["IndexName"]
    known = table.notes.get("indexes", {}).get(name, {})
    notes = changed_notes(table, action, known, f"index: {name}")
    return noted_index(table, name, notes)


def noted_index(table: TableDefinition, name: str, notes: dict[str, Any]) -> TableDefinition:
    indexes = table.notes.get("indexes", {})
    if notes == indexes.get(name, {}):
        return table
    return table_schema.with_note(table, "indexes", {**indexes, name: notes})


def changed_notes(
    table: TableDefinition, declared: Params, notes: Mapping[str, Any], subject: str
) -> dict[str, Any]:
    changed = dict(notes)
    if declared.get("OnDemandThroughput"):
        if table.billing_mode != table_schema.ON_DEMAND:
            table_schema.refuse_ceilings(
                declared["OnDemandThroughput"],
                subject.replace(":", " :"),
                "when the table BillingMode is PROVISIONED",
            )
        ceilings = {
            **changed.get("OnDemandThroughput", {}),
            **table_schema.on_demand_ceilings(declared["OnDemandThroughput"], subject, least=-1),
        }
        changed["OnDemandThroughput"] = {k: v for k, v in ceilings.items() if v != -1}
    if declared.get("WarmThroughput"):
        index = table.index(declared.get("IndexName", ""))
        current = storage.warm(table, index.throughput if index else table.throughput, notes)
        for unit, value in declared["WarmThroughput"].items():
            if value < current[unit]:
                table_schema.invalid(
                    f"Requested {unit} for WarmThroughput for {subject.replace(':', '')} is lower "
                    "than current WarmThroughput, decreasing WarmThroughput is not supported"
                )
        changed["WarmThroughput"] = {**current, **declared["WarmThroughput"]}
    return changed


def with_stream(table: TableDefinition, specification: Params | None) -> TableDefinition:
    if specification is None:
        return table
    is_on = table.stream is not None and table.stream.enabled
    view_type = specification.get("StreamViewType")
    if specification["StreamEnabled"]:
        if view_type is None:
            table_schema.invalid("If stream is being enabled then UpdateViewType is required")
        if is_on:
            raise wire.ValidationException(
                f"Table already has an enabled stream: TableName: {table.name}"
            )
        return replace(table, stream=table_schema.new_stream(view_type))
    if view_type is not None:
        table_schema.invalid(
            "If stream is being disabled, then UpdateViewType must not be specified"
        )
    if table.stream is None or not table.stream.enabled:
        raise wire.ValidationException(f"Table has no stream to disable: TableName: {table.name}")
    if table.global_table:
        table_schema.invalid(replicas.STREAM_STAYS)
    return replace(table, stream=replace(table.stream, enabled=False))


def with_encryption(table: TableDefinition, specification: Params | None) -> TableDefinition:
    """The table with that key; only its key's ARN is recognised as no change (DDB-TABLE-141)."""
    if specification is None:
        return table
    key = table_schema.encryption(specification)
    if key is None and table.sse is None:
        table_schema.invalid("Table is already encrypted by default")
    given = specification.get("KMSMasterKeyId", "")
    if table.sse and given.startswith("arn:") and is_same_key(given, table.sse["KMSMasterKeyId"]):
        table_schema.invalid(
            "Table is already encrypted with given KMSMasterKeyId. "
            "Use KMSMasterKeyId parameter if you want to change Master Key"
        )
    return replace(table, sse=key)


def is_same_key(one: str, other: str) -> bool:
    """Whether two names of KMS keys, each an ARN, an id or an alias, name the same one."""
    return len({name.rpartition(":")[2].removeprefix("key/") for name in (one, other)}) == 1


def with_settings(table: TableDefinition, params: Params, now: float | None) -> TableDefinition:
    protected = params.get("DeletionProtectionEnabled", table.deletion_protected)
    table_class = params.get("TableClass", table.table_class)
    if table.table_class is None and table_class == "STANDARD":
        table_class = None  # what it is already, and still not shown (DDB-TABLE-177)
    notes = table.notes
    if table_class != table.table_class and now is not None:
        notes = {**notes, "TableClassUpdateDateTime": now}
    return replace(table, deletion_protected=protected, table_class=table_class, notes=notes)


def with_time_to_live(table: TableDefinition, specification: Params) -> TableDefinition:
    name, current = specification["AttributeName"], table.ttl_attribute
    if current is None:
        if not specification["Enabled"]:
            raise wire.ValidationException("TimeToLive is already disabled")
        return replace(table, ttl_attribute=name)
    if current != name:
        raise wire.ValidationException(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        )
    if specification["Enabled"]:
        raise wire.ValidationException("TimeToLive is already enabled")
    return replace(table, ttl_attribute=None)
