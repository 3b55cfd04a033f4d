"""The accesses of a request: actions on resources, with the condition keys of each.

An operation on items needs its own action on its table or index; a transaction needs the action of
each of its parts as if it came alone; a PartiQL statement needs `PartiQLSelect` or its like.
`dynamodb:LeadingKeys` are the partition keys in the request, of the table or of the index that is
read. A Scan names none, so a policy cannot restrict it by them.

A restore also needs the actions that read and write items, on the new table. A new or deleted
replica needs more actions in its own region, as does the time to live of a table with replicas.

AWS: "Actions, resources, and condition keys for Amazon DynamoDB", "Using IAM policy conditions for
fine-grained access control", "Using IAM with DynamoDB transactions", "IAM security policies with
PartiQL for DynamoDB", "Using IAM with DynamoDB backup and restore", "Using IAM with global tables"
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/backuprestore_IAM.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2gt_IAM.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from bigtime import wire
from bigtime.engine import expressions, operations, partiql
from bigtime.engine.storage import Database, KeyAttribute, Table, table_name
from bigtime.wire import Item, Params

Keys: TypeAlias = dict[str, tuple[str, ...]]

PARTITION_KEYS: Final = ("first", "second", "third", "fourth")
ACTIONS: Final = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}

RESTORED: Final = (
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "GetItem",
    "Query",
    "Scan",
    "BatchWriteItem",
)
"""What a restore does with the new table."""
REPLICATED: Final = {
    "Create": ("CreateTable", "CreateTableReplica", *RESTORED),
    "Delete": ("DeleteTable", "DeleteTableReplica"),
}
"""What the replica updates of UpdateTable do in the replica's region."""

# The parameters that name a resource, for operations that are not on items.
TABLES: Final = ("TableName", "SourceTableName", "TargetTableName")
ARNS: Final = (
    "ResourceArn",
    "TableArn",
    "SourceTableArn",
    "StreamArn",
    "BackupArn",
    "ExportArn",
    "ImportArn",
    "BulkOperationArn",
)

FINE_GRAINED: Final = frozenset(
    {
        "dynamodb:attributes",
        "dynamodb:leadingkeys",
        "dynamodb:select",
        *(f"dynamodb:{place}partitionkeyvalues" for place in PARTITION_KEYS),
    }
)
"""The condition keys of fine-grained access control."""


@dataclass(slots=True)
class Access:
    """One action on one resource; `missing` is raised if the action is allowed.

    A statement with a condition on an `unsupported` key does not apply to it.
    """

    action: str
    resource: str
    keys: Keys = field(default_factory=dict)
    table: Table | None = None
    missing: wire.DynamoDBError | None = None
    unsupported: frozenset[str] = frozenset()


def accesses(database: Database, operation: str, params: Params) -> list[Access]:
    """The accesses of a request whose shape has been checked."""
    read = ITEM_OPERATIONS.get(operation)
    found = read(database, params) if read else list(control_accesses(database, operation, params))
    capacity = params.get("ReturnConsumedCapacity")
    for access in found:
        if read:
            access.keys["dynamodb:returnconsumedcapacity"] = (capacity or "NONE",)
        if access.table is not None:
            access.keys.update(tag_keys("aws:resourcetag", access.table.definition.tags))
    return found


def tag_keys(prefix: str, tags: Mapping[str, str]) -> Keys:
    return {f"{prefix}/{name.lower()}": (value,) for name, value in tags.items()}


# --- Tables and indexes -----------------------------------------------------------------------


def arn_of(database: Database, name_or_arn: str) -> str:
    if name_or_arn.startswith("arn:"):
        return name_or_arn
    return database.table_arn(name_or_arn)


def on_table(database: Database, action: str, name: str, index: str | None = None) -> Access:
    """An action on a table or index, which may not exist."""
    arn = arn_of(database, name) + (f"/index/{index}" if index else "")
    access = Access(f"dynamodb:{action}", arn)
    try:
        access.table = database.catalogue.table(name)
        operations.find_index(access.table, {"IndexName": index})
    except (wire.ResourceNotFoundException, wire.ValidationException) as error:
        access.missing = error
    return access


def leading_keys(attributes: Sequence[KeyAttribute], keys: Iterable[Item]) -> Keys:
    """The values of each partition key attribute; a table has one such attribute."""
    found: Keys = {}
    keys = list(keys)
    for place, attribute in zip(PARTITION_KEYS, attributes, strict=False):
        values = [key_text(key[attribute.name]) for key in keys if attribute.name in key]
        if values:
            found[f"dynamodb:{place}partitionkeyvalues"] = tuple(dict.fromkeys(values))
    first = found.get("dynamodb:firstpartitionkeyvalues")
    return {**found, "dynamodb:leadingkeys": first} if first else found


def key_text(value: wire.AttributeValue) -> str:
    """A key value as it is stored: 1.0 and 1 are one key."""
    (text,) = wire.check_value(value)[0].values()
    return str(text)


def attribute_names(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for group in groups for name in group}))


# --- Items ------------------------------------------------------------------------------------


def item_access(
    database: Database, action: str, params: Params, items: Sequence[Item], name: str | None = None
) -> Access:
    """An action on items, given in full or by their keys."""
    access = on_table(database, action, name or params["TableName"])
    access.keys["dynamodb:attributes"] = attribute_names(
        expressions.named_attributes(params), *items
    )
    if access.table is not None:
        access.keys.update(leading_keys(access.table.codec.hash_key, items))
    return access


def get_access(
    database: Database, action: str, params: Params, keys: Sequence[Item], name: str | None = None
) -> Access:
    access = item_access(database, action, params, keys, name)
    access.keys["dynamodb:select"] = (select_of(params, has_index=False),)
    return access


def write_access(database: Database, action: str, params: Params, item: Item) -> Access:
    access = item_access(database, action, params, [item])
    access.keys["dynamodb:returnvalues"] = (return_values_of(params),)
    return access


def select_of(params: Params, *, has_index: bool) -> str:
    """The Select parameter, for which AWS assumes a default in every read."""
    if "Select" in params:
        return str(params["Select"])
    if "ProjectionExpression" in params or "AttributesToGet" in params:
        return "SPECIFIC_ATTRIBUTES"
    return "ALL_PROJECTED_ATTRIBUTES" if has_index else "ALL_ATTRIBUTES"


def return_values_of(params: Params) -> str:
    """ReturnValues, or what a failed condition returns, as in AWS's example of transactions.

    Which of the two AWS uses when both are given is not documented.
    """
    if params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
        return "ALL_OLD"
    return str(params.get("ReturnValues", "NONE"))


def walk_access(database: Database, action: str, params: Params) -> Access:
    index = params.get("IndexName")
    access = on_table(database, action, params["TableName"], index)
    access.keys["dynamodb:attributes"] = attribute_names(expressions.named_attributes(params))
    access.keys["dynamodb:select"] = (select_of(params, has_index=index is not None),)
    return access


def query_access(database: Database, params: Params) -> list[Access]:
    access = walk_access(database, "Query", params)
    if access.table is not None and access.missing is None:
        terms = expressions.read_expressions(params).key_condition or ()
        key = {term.attribute: term.operands[0] for term in terms if term.operator == "="}
        hash_key = access.table.codec.hash_key
        if "IndexName" in params:
            hash_key = access.table.by_name[params["IndexName"]].codec.hash_key
        access.keys.update(leading_keys(hash_key, [key]))
    return [access]


def search_access(database: Database, params: Params) -> list[Access]:
    """The accesses of a search, which reads any key.

    AWS: "a policy statement whose condition references one of them does not match a SearchVectors
    request, and DynamoDB denies access rather than granting it", of these condition keys.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearch.Security.html
    """
    name, index = params["TableName"], params["IndexName"]
    access = on_table(database, "SearchVectors", name)
    access.resource = f"{access.resource}/index/{index}"
    access.unsupported = FINE_GRAINED
    return [access]


def batch_get_accesses(database: Database, params: Params) -> list[Access]:
    return [
        get_access(database, "BatchGetItem", given, given["Keys"], name)
        for name, given in params["RequestItems"].items()
    ]


def batch_write_accesses(database: Database, params: Params) -> list[Access]:
    return [
        item_access(database, "BatchWriteItem", {}, list(written_items(given)), name)
        for name, given in params["RequestItems"].items()
    ]


def written_items(requests: Iterable[Params]) -> Iterator[Item]:
    for request in requests:
        if "PutRequest" in request:
            yield request["PutRequest"]["Item"]
        if "DeleteRequest" in request:
            yield request["DeleteRequest"]["Key"]


def transact_get_accesses(database: Database, params: Params) -> list[Access]:
    gets = [entry["Get"] for entry in params["TransactItems"]]
    found = [get_access(database, "GetItem", get, [get["Key"]]) for get in gets]
    return enclose(found, "TransactGetItems")


def transact_write_accesses(database: Database, params: Params) -> list[Access]:
    found = [
        write_access(database, ACTIONS[kind], given, given["Item" if kind == "Put" else "Key"])
        for entry in params["TransactItems"]
        for kind, given in entry.items()
    ]
    return enclose(found, "TransactWriteItems")


def enclose(found: list[Access], operation: str) -> list[Access]:
    for access in found:
        access.keys["dynamodb:enclosingoperation"] = (operation,)
    return found


# --- PartiQL ----------------------------------------------------------------------------------


def statement_access(database: Database, request: Params) -> Access:
    action, name, index = partiql.statement_action(request)
    access = on_table(database, action, name, index)
    if access.table is None or access.missing is not None:
        return access
    subject = partiql.statement_subject(request, access.table)
    hash_key = subject.index.codec.hash_key if subject.index else access.table.codec.hash_key
    access.keys["dynamodb:attributes"] = attribute_names(subject.attributes)
    access.keys.update(leading_keys(hash_key, subject.partitions))
    if action == "PartiQLSelect":
        access.keys["dynamodb:fulltablescan"] = ("false" if subject.partitions else "true",)
    if subject.select is not None:
        access.keys["dynamodb:select"] = (subject.select,)
    if subject.return_values is not None:
        access.keys["dynamodb:returnvalues"] = (subject.return_values,)
    return access


def transaction_accesses(database: Database, params: Params) -> list[Access]:
    found = [statement_access(database, request) for request in params["TransactStatements"]]
    return enclose(found, "ExecuteTransaction")


# --- Everything else --------------------------------------------------------------------------


def control_accesses(database: Database, operation: str, params: Params) -> Iterator[Access]:
    """Operations on tables, streams, backups: one access for each resource in a parameter."""
    action = f"dynamodb:{operation}"
    tags = {each["Key"]: each["Value"] for each in params.get("Tags") or ()}
    keys = tag_keys("aws:requesttag", tags)
    if tags or "TagKeys" in params:
        keys["aws:tagkeys"] = attribute_names(tags, params.get("TagKeys") or ())
    for resource in control_resources(database, operation, params):
        yield Access(action, resource, dict(keys), table_of(database, resource))
        if operation == "CreateTable":
            # AWS: "CreateTable" with tags or a policy needs the permission to set them.
            if tags:
                yield Access("dynamodb:TagResource", resource, dict(keys))
            if "ResourcePolicy" in params:
                yield Access("dynamodb:PutResourcePolicy", resource)
    if operation.startswith("RestoreTable"):
        target = arn_of(database, params["TargetTableName"])
        yield from (Access(f"dynamodb:{action}", target) for action in RESTORED)
    elif operation in ("UpdateTable", "UpdateTimeToLive"):
        yield from replica_accesses(database, operation, params)


def table_of(database: Database, resource: str) -> Table | None:
    """The table of an ARN, which may be in another of the engine's regions."""
    owner = database.owner(resource)
    if owner is not database:
        owner.catalogue.refresh()
    name = table_name(resource)
    arn = owner.table_arn(name)
    is_known = resource == arn or resource.startswith(f"{arn}/")
    return owner.catalogue.tables.get(name) if is_known else None


def replica_accesses(database: Database, operation: str, params: Params) -> Iterator[Access]:
    """What a change to a table with replicas needs in their regions."""
    arn = arn_of(database, params["TableName"])
    if operation == "UpdateTimeToLive":
        table = database.catalogue.tables.get(table_name(arn))
        for region in operations.other_members(table.definition) if table else ():
            yield in_region(database, "UpdateTimeToLive", arn, region)
        return
    for update in params.get("ReplicaUpdates", ()):
        for kind, given in update.items():
            if given["RegionName"] != database.region:
                for action in REPLICATED.get(kind, ()):
                    yield in_region(database, action, arn, given["RegionName"])


def in_region(database: Database, action: str, arn: str, region: str) -> Access:
    """An action on the replica of a table in another region, which may not exist yet."""
    parts = arn.split(":")
    resource = ":".join([*parts[:3], region, *parts[4:]])
    keys: Keys = {"aws:requestedregion": (region,)}
    return Access(f"dynamodb:{action}", resource, keys, table_of(database, resource))


def control_resources(database: Database, operation: str, params: Params) -> list[str]:
    if operation == "GetRecords":
        return [operations.read_iterator(params["ShardIterator"])[0]]
    if operation == "ListStreams":
        return [f"{arn_of(database, params.get('TableName', '*'))}/stream/*"]
    if operation == "ListTables":
        return [arn_of(database, "*")]
    if "GlobalTableName" in params:
        # Of no region: "Resource types defined by Amazon DynamoDB" in the list of actions.
        return [f"arn:aws:dynamodb::{database.account}:global-table/{params['GlobalTableName']}"]
    given: dict[str, Any] = {**params.get("TableCreationParameters", {}), **params}
    found = [arn_of(database, given[member]) for member in TABLES if member in given]
    found += [given[member] for member in ARNS if member in given]
    if "IndexName" in given and found:
        found = [f"{arn}/index/{given['IndexName']}" for arn in found]
    return found or ["*"]


Accesses: TypeAlias = Callable[[Database, Params], list[Access]]

ITEM_OPERATIONS: Final[dict[str, Accesses]] = {
    "GetItem": lambda database, params: [get_access(database, "GetItem", params, [params["Key"]])],
    "PutItem": lambda database, params: [write_access(database, "PutItem", params, params["Item"])],
    "UpdateItem": lambda database, params: [
        write_access(database, "UpdateItem", params, params["Key"])
    ],
    "DeleteItem": lambda database, params: [
        write_access(database, "DeleteItem", params, params["Key"])
    ],
    "Query": query_access,
    "SearchVectors": search_access,
    "Scan": lambda database, params: [walk_access(database, "Scan", params)],
    "BatchGetItem": batch_get_accesses,
    "BatchWriteItem": batch_write_accesses,
    "TransactGetItems": transact_get_accesses,
    "TransactWriteItems": transact_write_accesses,
    "ExecuteStatement": lambda database, params: [statement_access(database, params)],
    "ExecuteTransaction": transaction_accesses,
}
