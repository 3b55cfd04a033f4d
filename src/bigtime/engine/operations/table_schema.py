"""Key schemas, projections, throughput and the other parts of a table's declaration.

Each function reads one part of a CreateTable or UpdateTable request and rejects what AWS rejects,
with AWS's messages, which are undocumented. Sources of the messages and of their order:

- dynalite's tests, recorded from AWS: https://github.com/architect/dynalite/tree/main/test;
- a catalogue of what AWS answers to its own Kubernetes controller, of October 2026:
  https://github.com/aws-controllers-k8s/dynamodb-controller/tree/main/docs/api-quirks;
- a suite that runs on AWS: https://github.com/paritysuite/dynamodb-conformance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.storage import Database, IndexDefinition, KeyAttribute, TableDefinition
from bigtime.wire import Params, Response, ValidationException

MOST_KEY_ATTRIBUTES: Final = 4
PAIR: Final = 2
# AWS: "Constraints in Amazon DynamoDB", "Secondary indexes"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MOST_PROJECTED: Final = 100
TABLE_CLASSES: Final = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
MAX_TABLES: Final = 2_500
MOST_LOCAL_INDEXES: Final = 5
MOST_GLOBAL_INDEXES: Final = 20
GREATEST_THROUGHPUT: Final = 1_000_000_000_000
ON_DEMAND: Final = "PAY_PER_REQUEST"
UNITS: Final = ("ReadCapacityUnits", "WriteCapacityUnits")
PROVISIONED_UNIT: Final = {
    "ReadUnitsPerSecond": "ReadCapacityUnits",
    "WriteUnitsPerSecond": "WriteCapacityUnits",
}
# The key in a definition's notes of its Contributor Insights.
INSIGHTS: Final = "ContributorInsights"
CEILINGS: Final = ("MaxReadRequestUnits", "MaxWriteRequestUnits")


def invalid(reason: str) -> NoReturn:
    raise ValidationException(wire.values.INVALID + reason)


def invalid_request(reason: str) -> NoReturn:
    """Rejects a request in the form that backups, restores, exports and imports use."""
    raise ValidationException(f"Invalid Request: {reason}")


def check_table_class(params: Params) -> None:
    """(DDB-TABLE-442 of the catalogue above)"""
    if params.get("TableClass") not in (None, *TABLE_CLASSES):
        raise ValidationException(
            "Invalid table-class parameter provided. "
            f"Please try again with a valid table-class value: [{', '.join(TABLE_CLASSES)}]."
        )


def check_number_of_tables(count: int) -> None:
    """Rejects a table beyond the account's limit."""
    if count >= MAX_TABLES:
        raise wire.LimitExceededException(
            f"Subscriber limit exceeded: There is a limit of {MAX_TABLES} tables per subscriber"
        )


def with_note(table: TableDefinition, name: str, note: Any) -> TableDefinition:
    return replace(table, notes={**table.notes, name: note})


def in_use(reason: str) -> wire.ResourceInUseException:
    return wire.ResourceInUseException(
        f"Attempt to change a resource which is still in use: {reason}"
    )


def no_index(table: TableDefinition, name: str) -> wire.ResourceNotFoundException:
    return wire.ResourceNotFoundException(
        f"Requested resource not found: Index: {name} not found for table: {table.name}"
    )


def refuse_members(params: Params, members: Sequence[str]) -> None:
    for member in members:
        if member in params:
            invalid(f"{member} is not supported by this engine")


def quoted_list(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def describe(
    database: Database,
    definition: TableDefinition,
    status: str,
    counts: Mapping[int, tuple[int, int]],
) -> Response:
    """A TableDescription; `counts` has the item count and bytes of the table and each index."""
    answer = storage.table_description(
        definition,
        status=status,
        counts=counts,
        region=database.region,
        account=database.account,
        now=database.clock(),
    )
    for replica in answer.get("Replicas", ()):
        if database.regions and not database.regions.has_file(replica["RegionName"]):
            replica["ReplicaStatus"] = "REGION_DISABLED"
    return answer


# --- Keys ---------------------------------------------------------------------------------


def defined_attributes(definitions: Sequence[Params]) -> dict[str, KeyAttribute]:
    found = {
        definition["AttributeName"]: KeyAttribute(
            definition["AttributeName"], definition["AttributeType"]
        )
        for definition in definitions
    }
    if len(found) < len(definitions):
        names = [definition["AttributeName"] for definition in definitions]
        raise ValidationException(f"Attribute Name is duplicated: {first_repeated(names)}")
    return found


def first_repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def shown_schema(elements: Iterable[tuple[KeyAttribute, str]]) -> str:
    """A key schema as AWS's messages print it."""
    shown = (f"SchemaElement: key{{{each.name}:{each.type}:{role}}}" for each, role in elements)
    return f"Schema:[{', '.join(shown)}]"


@dataclass(frozen=True, slots=True)
class KeySchema:
    """A key schema whose attributes are all defined: partition key first, then sort key."""

    hash_key: tuple[KeyAttribute, ...]
    range_key: tuple[KeyAttribute, ...]


def key_schema(elements: Sequence[Params], defined: Mapping[str, KeyAttribute]) -> KeySchema:
    """The key of a table or a local index: one partition key and at most one sort key."""
    check_defined(elements, defined)
    check_starts_with_hash(elements)
    if len(elements) > 1 and elements[1]["KeyType"] != "RANGE":
        raise ValidationException(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
        )
    return split(elements, defined)


def long_key_schema(elements: Sequence[Params], defined: Mapping[str, KeyAttribute]) -> KeySchema:
    """The key of a global index: up to four attributes for each of its two parts."""
    check_defined(elements, defined)
    check_starts_with_hash(elements)
    types = [element["KeyType"] for element in elements]
    if types != sorted(types):
        invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema")
    for key_type in ("HASH", "RANGE"):
        if types.count(key_type) > MOST_KEY_ATTRIBUTES:
            invalid(
                f"The KeySchema exceeds the maximum allowed number of {key_type} key attributes"
            )
    return split(elements, defined)


def check_defined(elements: Sequence[Params], defined: Mapping[str, KeyAttribute]) -> None:
    names = [element["AttributeName"] for element in elements]
    if not all(name in defined for name in names):
        invalid(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: {quoted_list(names)}, AttributeDefinitions: {quoted_list(defined)}"
        )
    if len(set(names)) < len(names):
        raise ValidationException(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
            if len(names) == PAIR
            else "The KeySchema contains multiple key attributes with the same name"
        )


def check_starts_with_hash(elements: Sequence[Params]) -> None:
    if elements[0]["KeyType"] != "HASH":
        raise ValidationException(
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
        )


def split(elements: Sequence[Params], defined: Mapping[str, KeyAttribute]) -> KeySchema:
    def part(key_type: str) -> tuple[KeyAttribute, ...]:
        return tuple(defined[e["AttributeName"]] for e in elements if e["KeyType"] == key_type)

    return KeySchema(part("HASH"), part("RANGE"))


# --- Indexes ------------------------------------------------------------------------------


def local_index(
    declared: Params, table_key: KeySchema, defined: Mapping[str, KeyAttribute]
) -> IndexDefinition:
    key, name = key_schema(declared["KeySchema"], defined), declared["IndexName"]
    if not key.range_key:
        invalid(f"Index KeySchema does not have a range key for index: {name}")
    if key.hash_key != table_key.hash_key:
        invalid(
            "Index KeySchema does not have the same leading hash key as table KeySchema for "
            f"index: {name}. index hash key: {key.hash_key[0].name}, "
            f"table hash key: {table_key.hash_key[0].name}"
        )
    return index_definition(declared, key, is_global=False)


def global_index(declared: Params, defined: Mapping[str, KeyAttribute]) -> IndexDefinition:
    """A global index as declared; whether its throughput fits depends on the billing mode."""
    return index_definition(
        declared, long_key_schema(declared["KeySchema"], defined), is_global=True
    )


def index_definition(declared: Params, key: KeySchema, *, is_global: bool) -> IndexDefinition:
    return IndexDefinition(
        name=declared["IndexName"],
        is_global=is_global,
        hash_key=key.hash_key,
        range_key=key.range_key,
        projection=projection(declared["Projection"]),
        included=tuple(declared["Projection"].get("NonKeyAttributes", ())),
        throughput=throughput(declared.get("ProvisionedThroughput")),
    )


def projection(declared: Params) -> Any:
    kind = declared.get("ProjectionType")
    if kind is None:
        invalid("Unknown ProjectionType: null")
    if kind != "INCLUDE" and declared.get("NonKeyAttributes"):
        invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and not declared.get("NonKeyAttributes"):
        invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    names = declared.get("NonKeyAttributes", ())
    if len(set(names)) < len(names):
        invalid(f"Duplicate element in NonKeyAttributes: {first_repeated(names)}")
    return kind


def check_indexes_together(indexes: Sequence[IndexDefinition]) -> None:
    """Checks the indexes as a set: their names, their number and the total of their attributes."""
    seen: set[str] = set()
    for index in indexes:
        if index.name in seen:
            invalid(f"Duplicate index name: {index.name}")
        seen.add(index.name)
    if sum(not index.is_global for index in indexes) > MOST_LOCAL_INDEXES:
        invalid(f"Number of LocalSecondaryIndexes exceeds per-table limit of {MOST_LOCAL_INDEXES}")
    if sum(index.is_global for index in indexes) > MOST_GLOBAL_INDEXES:
        invalid(f"GlobalSecondaryIndex count exceeds the per-table limit of {MOST_GLOBAL_INDEXES}")
    if sum(len(index.included) for index in indexes) > MOST_PROJECTED:
        invalid(
            "The total number of NonKeyAttributes of all secondary indexes exceeds "
            f"the limit of {MOST_PROJECTED}"
        )


def key_names(table: TableDefinition) -> list[str]:
    """Every attribute that a key uses, in the order in which the keys name them."""
    used = list(table.key_attributes)
    for index in table.indexes:
        used.extend(index.key_attributes)
    for vector_index in table.vectors:
        used.extend(vector_index.search_attributes)
    return list(dict.fromkeys(attribute.name for attribute in used))


def with_used_attributes(table: TableDefinition) -> TableDefinition:
    """The table without the definitions of attributes that no key uses any more."""
    used = set(key_names(table))
    return replace(table, attributes=tuple(each for each in table.attributes if each.name in used))


# --- Throughput ---------------------------------------------------------------------------


def throughput(declared: Params | None) -> storage.Throughput:
    if declared is None:
        return storage.Throughput()
    return storage.Throughput(
        read=declared["ReadCapacityUnits"], write=declared["WriteCapacityUnits"]
    )


def check_table_throughput(params: Params, *, on_demand: bool) -> None:
    declared = params.get("ProvisionedThroughput")
    if on_demand and declared is not None:
        invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
            "when BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand:
        if declared is None:
            invalid(
                "ReadCapacityUnits and WriteCapacityUnits must both be specified "
                "when BillingMode is PROVISIONED"
            )
        check_bounds(declared)


def check_bounds(declared: Params, suffix: str = "") -> None:
    for unit in UNITS:
        if declared[unit] > GREATEST_THROUGHPUT:
            raise ValidationException(
                f"Given value {declared[unit]} for {unit} is out of bounds{suffix}"
            )


def on_demand_ceilings(declared: Params, subject: str, least: int = 1) -> dict[str, int]:
    """On-demand maxima; in an update, -1 removes one."""
    named = subject.replace(":", " :")  # (DDB-TABLE-128)
    for unit in CEILINGS:
        value = declared.get(unit)
        if value is not None and value < 1 and value != least:
            invalid(
                f"Requested {unit} for OnDemandThroughput for {named} is outside of valid range"
            )
    return {unit: declared[unit] for unit in CEILINGS if unit in declared}


def refuse_ceilings(ceilings: Params, subject: str, reason: str) -> None:
    of = "" if subject == "table" else f" for {subject}"
    for unit in CEILINGS:
        if unit in ceilings:
            invalid(f"{unit} for OnDemandThroughput{of} cannot be specified {reason}")


# --- Streams and encryption -----------------------------------------------------------------


def new_stream(view_type: str) -> storage.StreamDefinition:
    """A stream, still without the label and number that the file assigns."""
    return storage.StreamDefinition(label="", view_type=view_type, number=0)


def declared_stream(specification: Params | None) -> storage.StreamDefinition | None:
    if specification is None:
        return None
    view_type = specification.get("StreamViewType")
    if not specification["StreamEnabled"]:
        if view_type is not None:
            invalid(
                "Table is being created with a stream disabled, "
                "UpdateViewType should not be specified"
            )
        return None
    if view_type is None:
        invalid("Table is being created with a stream enabled, UpdateViewType is required")
    return new_stream(view_type)


def encryption(specification: Params | None) -> dict[str, Any] | None:
    """The key that encrypts a table; None is the key that DynamoDB owns and never shows."""
    if specification is None:
        return None
    # A type without Enabled switches it on (DDB-TABLE-036, -044 of the catalogue above).
    if not specification.get("Enabled", "SSEType" in specification):
        for member in ("SSEType", "KMSMasterKeyId"):
            if member in specification:
                invalid(f"{member} can not be specified if Enabled is false")
        return None
    if specification.get("SSEType", "KMS") != "KMS":
        invalid(f"SSEType {specification['SSEType']} is not supported")
    if "KMSMasterKeyId" in specification and "SSEType" not in specification:
        invalid("SSEType KMS is required if KMSMasterKeyId is specified")
    return {
        "SSEType": "KMS",
        "KMSMasterKeyId": specification.get("KMSMasterKeyId", "alias/aws/dynamodb"),
    }
