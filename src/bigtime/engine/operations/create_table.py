"""Builds a table definition from what a CreateTable or UpdateTable request declares.

These are pure functions from a request, whose shape `shapes.check` has checked, to a new
definition; they reject what AWS rejects, in AWS's order and with its messages (`table_schema` lists
the sources). What only the file can supply (numbers, a stream's label, the creation time) is left
empty, and a new index has yet to be backfilled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from bigtime.engine import storage
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.policy_document import check_document
from bigtime.engine.operations.tags import checked_tags
from bigtime.engine.operations.vectors import declared_vectors
from bigtime.engine.storage import IndexDefinition, KeyAttribute, TableDefinition
from bigtime.wire import Params, ValidationException

# Parameters of global tables that are not supported. A table that silently ignored them would be
# worse than an error.
NOT_FOR_CREATE: Final = tuple("GlobalTableSettingsReplicationMode GlobalTableSourceArn".split())
INDEXES: Final = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes", "VectorIndexes")
# Seen on AWS: DDB-TABLE-039 of the source in `policy_document`.
WARM_PAGE: Final = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)


def new_table(params: Params) -> TableDefinition:
    table_schema.check_table_class(params)
    on_demand = params.get("BillingMode") == table_schema.ON_DEMAND
    table_schema.check_table_throughput(params, on_demand=on_demand)
    defined = table_schema.defined_attributes(params["AttributeDefinitions"])
    key = table_key(params, defined)
    check_none_is_unused(params, defined)
    indexes = declared_indexes(params, key, defined)
    vectors = declared_vectors(
        params.get("VectorIndexes"),
        defined,
        [index.name for index in indexes],
        on_demand=on_demand,
    )
    table = TableDefinition(
        name=params["TableName"],
        hash_key=key.hash_key[0],
        range_key=key.range_key[0] if key.range_key else None,
        attributes=tuple(defined.values()),
        indexes=indexes,
        billing_mode="PAY_PER_REQUEST" if on_demand else "PROVISIONED",
        throughput=table_schema.throughput(params.get("ProvisionedThroughput")),
        deletion_protected=params.get("DeletionProtectionEnabled", False),
        table_class=params.get("TableClass"),
        sse=table_schema.encryption(params.get("SSESpecification")),
        stream=table_schema.declared_stream(params.get("StreamSpecification")),
        tags=checked_tags(params.get("Tags", ())),
        notes=declared_notes(params, on_demand=on_demand),
        vectors=vectors,
    )
    check_all_used(table)
    if "ResourcePolicy" in params:
        check_document(params["ResourcePolicy"])
    table_schema.refuse_members(params, NOT_FOR_CREATE)
    return table


def table_key(params: Params, defined: Mapping[str, KeyAttribute]) -> table_schema.KeySchema:
    if len(params["KeySchema"]) > len(defined):
        raise ValidationException("Invalid KeySchema: Some index key attribute have no definition")
    key = table_schema.key_schema(params["KeySchema"], defined)
    if not any(member in params for member in INDEXES) and len(params["KeySchema"]) != len(defined):
        table_schema.invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    return key


def check_none_is_unused(params: Params, defined: Mapping[str, KeyAttribute]) -> None:
    """Checked before the indexes, so that it hides what else is wrong (DDB-TABLE-127)."""
    schemas = [params["KeySchema"]]
    for member, schema in zip(INDEXES, ("KeySchema", "KeySchema", "SearchSchema"), strict=True):
        schemas += [index.get(schema, ()) for index in params.get(member) or ()]
    used = list(dict.fromkeys(element["AttributeName"] for schema in schemas for element in schema))
    if all(name in defined for name in used) and len(used) < len(defined):
        refuse_unused(list(defined), used)


def declared_indexes(
    params: Params, key: table_schema.KeySchema, defined: Mapping[str, KeyAttribute]
) -> tuple[IndexDefinition, ...]:
    local = declared_local_indexes(params, key, defined)
    table_schema.check_indexes_together(local)
    indexes = local + declared_global_indexes(params, defined)
    table_schema.check_indexes_together(indexes)
    return indexes


def declared_local_indexes(
    params: Params, key: table_schema.KeySchema, defined: Mapping[str, KeyAttribute]
) -> tuple[IndexDefinition, ...]:
    declared = params.get("LocalSecondaryIndexes")
    if declared is None:
        return ()
    if not declared:
        table_schema.invalid("List of LocalSecondaryIndexes is empty")
    if not key.range_key:
        table_schema.invalid(
            "Table KeySchema does not have a range key, "
            "which is required when specifying a LocalSecondaryIndex"
        )
    return tuple(table_schema.local_index(index, key, defined) for index in declared)


def declared_global_indexes(
    params: Params, defined: Mapping[str, KeyAttribute]
) -> tuple[IndexDefinition, ...]:
    declared = params.get("GlobalSecondaryIndexes")
    if declared is None:
        return ()
    if not declared:
        table_schema.invalid("List of GlobalSecondaryIndexes is empty")
    indexes = []
    for index in declared:
        indexes.append(table_schema.global_index(index, defined))
        check_index_throughput(index, on_demand=params.get("BillingMode") == table_schema.ON_DEMAND)
    return tuple(indexes)


def check_index_throughput(declared: Params, *, on_demand: bool) -> None:
    name, units = declared["IndexName"], declared.get("ProvisionedThroughput")
    if on_demand and units is not None:
        table_schema.invalid(
            f"ProvisionedThroughput should not be specified for index: {name} "
            "when BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand:
        if units is None:
            table_schema.invalid(f"ProvisionedThroughput is not specified for index: {name}")
        table_schema.check_bounds(units, f" for index {name}")


def declared_notes(params: Params, *, on_demand: bool) -> dict[str, Any]:
    """Settings of the table and its indexes that DescribeTable returns and nothing acts on."""
    notes = capacity_notes(params, "table", on_demand=on_demand)
    indexes = {
        index["IndexName"]: found
        for index in params.get("GlobalSecondaryIndexes", ())
        if (found := capacity_notes(index, f"index: {index['IndexName']}", on_demand=on_demand))
    }
    return {**notes, "indexes": indexes} if indexes else notes


def capacity_notes(declared: Params, subject: str, *, on_demand: bool) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    ceilings = declared.get("OnDemandThroughput")
    if ceilings:
        if not on_demand:
            table_schema.refuse_ceilings(
                ceilings, subject, "when table BillingMode is PROVISIONED."
            )
        notes["OnDemandThroughput"] = table_schema.on_demand_ceilings(ceilings, subject)
    if declared.get("WarmThroughput"):
        check_warm(declared, subject, on_demand=on_demand)
        notes["WarmThroughput"] = dict(declared["WarmThroughput"])
    return notes


def check_warm(declared: Params, subject: str, *, on_demand: bool) -> None:
    """Warm throughput must be at least what a new table can serve anyway."""
    if on_demand:
        least: Mapping[str, int] = storage.WARM_ON_DEMAND
        reason = dict.fromkeys(least, f"initial throughput for OnDemand. See: {WARM_PAGE}")
    else:
        given = declared.get("ProvisionedThroughput", {})
        least = {unit: given.get(name, 0) for unit, name in table_schema.PROVISIONED_UNIT.items()}
        reason = {
            unit: f"{name} of ProvisionedThroughput"
            for unit, name in table_schema.PROVISIONED_UNIT.items()
        }
    for unit, value in declared["WarmThroughput"].items():
        if value < least[unit]:
            table_schema.invalid(
                f"Requested {unit} for WarmThroughput for {subject.replace(':', '')} is lower than "
                f"{reason[unit]}"
            )


def check_all_used(table: TableDefinition) -> None:
    defined = [attribute.name for attribute in table.attributes]
    used = table_schema.key_names(table)
    if len(used) < len(defined):
        refuse_unused(defined, used)


def refuse_unused(defined: Sequence[str], used: Sequence[str]) -> NoReturn:
    table_schema.invalid(
        "Some AttributeDefinitions are not used. AttributeDefinitions: "
        f"{table_schema.quoted_list(defined)}, keys used: {table_schema.quoted_list(used)}"
    )
