"""The shape of every request, as AWS publishes it in the service models of its SDKs.

A model has members, types, lengths, ranges, enums and patterns. The shapes of DynamoDB and DynamoDB
Streams are in service_model.json beside this module, which `make service-model` extracts from
botocore; the engine itself does not need botocore. They are read once, at the first request. In a
few places the service differs from its model; those are the tables below, each with its reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

Model: TypeAlias = dict[str, Any]

TABLE: Final = Path(__file__).with_name("service_model.json")

NAME_PATTERN = "[a-zA-Z0-9_.-]+"
TABLE_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:[^:]*:[^:]*:table/([a-zA-Z0-9_.-]{3,255})")

# The order in which the service lists enum values, where it differs from the model's: it is the
# order of a Java hash set. Source: dynalite's tests, recorded from the service.
# (https://github.com/architect/dynalite/tree/main/test)
ENUM_ORDER: dict[str, tuple[str, ...]] = {
    "ComparisonOperator": tuple(
        "IN NULL BETWEEN LT NOT_CONTAINS EQ GT NOT_NULL NE LE BEGINS_WITH GE CONTAINS".split()
    ),
    "ConditionalOperator": ("OR", "AND"),
    # DDB-TABLE-457 and -035 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks.
    "ContributorInsightsMode": ("THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS"),
    "StreamViewType": ("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"),
    # DDB-IMPORT-009 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks.
    "InputCompressionType": ("ZSTD", "NONE", "GZIP"),
    "ProjectionType": ("ALL", "INCLUDE", "KEYS_ONLY"),
    "ReturnValue": ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
    "ScalarAttributeType": ("B", "N", "S"),
    "Select": ("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
}

# The order in which the service reports the members of a structure; members not listed follow in
# the model's order. Source: dynalite, as above.
MEMBER_ORDER: dict[str, str] = {
    "AttributeDefinition": "AttributeType AttributeName",  # DDB-TABLE-457, as above
    "BatchGetItemInput": "ReturnConsumedCapacity RequestItems",
    "BatchWriteItemInput": "ReturnConsumedCapacity ReturnItemCollectionMetrics RequestItems",
    "CreateGlobalSecondaryIndexAction": "Projection IndexName ProvisionedThroughput KeySchema",
    "CreateTableInput": "AttributeDefinitions TableName BillingMode ProvisionedThroughput "
    "KeySchema GlobalSecondaryIndexes LocalSecondaryIndexes",
    "DeleteItemInput": "ReturnConsumedCapacity TableName ReturnValues "
    "ReturnItemCollectionMetrics Key ConditionalOperator Expected",
    "GetItemInput": "ReturnConsumedCapacity AttributesToGet TableName Key",
    "ListTablesInput": "Limit ExclusiveStartTableName",
    "ProvisionedThroughput": "WriteCapacityUnits ReadCapacityUnits",
    "PutItemInput": "ReturnConsumedCapacity TableName Item ConditionalOperator Expected "
    "ReturnValues ReturnItemCollectionMetrics",
    "QueryInput": "Select IndexName ReturnConsumedCapacity QueryFilter TableName "
    "ConditionalOperator AttributesToGet Limit KeyConditions",
    "ScanInput": "Select IndexName TotalSegments ReturnConsumedCapacity TableName "
    "ConditionalOperator ScanFilter Segment Limit AttributesToGet",
    "TimeToLiveSpecification": "AttributeName Enabled",  # DDB-TABLE-457, as above
    "UpdateItemInput": "ReturnConsumedCapacity TableName ReturnItemCollectionMetrics "
    "ReturnValues Key ConditionalOperator Expected AttributeUpdates",
    "UpdateTableInput": "TableName ProvisionedThroughput BillingMode GlobalSecondaryIndexUpdates",
    "WriteRequest": "DeleteRequest PutRequest",
}

# Members that the service requires where the model differs. A table created from a global table
# needs no keys, so the model no longer requires them; other requests cannot omit them. The tag
# calls check the ARN and the tags themselves, with messages of their own.
REQUIRED: dict[str, frozenset[str]] = {
    "CreateTableInput": frozenset({"TableName", "AttributeDefinitions", "KeySchema"}),
    "ListTagsOfResourceInput": frozenset(),
    "TagResourceInput": frozenset(),
    "UntagResourceInput": frozenset(),
    "Tag": frozenset(),
}

# Maxima that the model lacks. KeySchema: only a global secondary index may have a key of many
# attributes; AttributesToGet: dynalite; Limit: the API reference of DynamoDB Streams.
MAXIMUM: dict[tuple[str, str], int] = {
    ("CreateTableInput", "KeySchema"): 2,
    ("DescribeStreamInput", "Limit"): 100,
    ("GetItemInput", "AttributesToGet"): 255,
    ("GetRecordsInput", "Limit"): 1000,
    ("KeysAndAttributes", "AttributesToGet"): 255,
    ("ListStreamsInput", "Limit"): 100,
    ("LocalSecondaryIndex", "KeySchema"): 2,
    ("QueryInput", "AttributesToGet"): 255,
    ("ScanInput", "AttributesToGet"): 255,
}

# A minimum that the model lacks. (DDB-TABLE-457)
MINIMUM: dict[tuple[str, str], int] = {("SSESpecification", "KMSMasterKeyId"): 1}

# Minima that the service does not check as constraints: the operation has its own message.
NO_MINIMUM: frozenset[tuple[str, str]] = frozenset(
    {
        ("BatchGetItemInput", "RequestItems"),
        ("BatchWriteItemInput", "RequestItems"),
        ("DeleteBackupInput", "BackupArn"),
        ("DescribeBackupInput", "BackupArn"),
        ("RestoreTableFromBackupInput", "BackupArn"),
    }
)

# Names whose length the service reports in a sentence, and by which name. (DDB-TABLE-457)
SENTENCES: dict[tuple[str, str], str] = {
    ("DescribeContributorInsightsInput", "IndexName"): "IndexName",
    ("UpdateContributorInsightsInput", "IndexName"): "IndexName",
    ("RestoreTableFromBackupInput", "TargetTableName"): "TableName",
    ("DescribeGlobalTableInput", "GlobalTableName"): "TableName",
    ("DescribeGlobalTableSettingsInput", "GlobalTableName"): "TableName",
    ("UpdateGlobalTableInput", "GlobalTableName"): "TableName",
    ("UpdateGlobalTableSettingsInput", "GlobalTableName"): "TableName",
}

# Values that the service does not check as such: `table_schema.check_table_class` does.
NO_CHOICES: frozenset[tuple[str, str]] = frozenset(
    {("CreateTableInput", "TableClass"), ("UpdateTableInput", "TableClass")}
)

# Strings whose length the service checks with messages of its own: see `operations.tags`.
NO_BOUNDS: frozenset[str] = frozenset({"TagKeyString", "TagValueString"})

# Bounds that the service reports without the value, and with a capitalised path.
# (Seen on AWS in 2026 by
# https://github.com/paritysuite/dynamodb-conformance)
TERSE: dict[tuple[str, str], str] = {
    ("KeysAndAttributes", "Keys"): "less than",
    ("QueryInput", "Limit"): "greater than",
}

# Patterns that Python cannot compile, or would be slow to reject, and their replacements.
PYTHON_PATTERNS: dict[str, str] = {
    r"\p{Print}+": r"[\x20-\x7E]+",
    r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*": (
        r"[\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF\r\n\t]*"
    ),
    r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$": r"[a-z0-9A-Z][.\-\w]*[a-z0-9A-Z]",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """One type of the model.

    `takes_arn` marks a table name that may also be an ARN; `terse` is a phrase in the constraints
    that are reported without the value; `sentence` is the name in the sentence that reports a
    wrong length.
    """

    name: str
    kind: str
    members: dict[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    item: Shape | None = None
    key: Shape | None = None
    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    takes_arn: bool = False
    terse: str = ""
    sentence: str = ""

    @property
    def element(self) -> Shape:
        """The shape of a list's or a map's elements."""
        assert self.item is not None
        return self.item

    def matches(self, text: str) -> bool:
        if self.pattern is None:
            return True
        pattern = PYTHON_PATTERNS.get(self.pattern, self.pattern)
        return re.fullmatch(pattern, text) is not None


@cache
def operations() -> frozenset[str]:
    """Every operation of DynamoDB and DynamoDB Streams, implemented here or not."""
    return frozenset(name for model in models() for name in model["operations"])


@cache
def input_shape(operation: str) -> Shape:
    model = next(model for model in models() if operation in model["operations"])
    name = model["operations"][operation].get("input", {}).get("shape")
    return shape_named(name, model["shapes"], {}) if name else Shape(operation, "structure")


@cache
def models() -> tuple[Model, ...]:
    table = orjson.loads(TABLE.read_bytes())
    return table["dynamodb"], table["dynamodbstreams"]


def shape_named(name: str, raw: Model, known: dict[str, Shape]) -> Shape:
    """A shape and all below it; `known` resolves the recursion of AttributeValue."""
    if name not in known:
        match raw[name]["type"]:
            case "structure":
                known[name] = structure(name, raw, known)
            case "list" | "map":
                known[name] = collection(name, raw, known)
            case _:
                known[name] = scalar(name, raw[name])
    return known[name]


def structure(name: str, raw: Model, known: dict[str, Shape]) -> Shape:
    required = REQUIRED.get(name, frozenset(raw[name].get("required", ())))
    known[name] = shape = Shape(name, "structure", required=required)
    references = raw[name]["members"]
    for member in sorted(references, key=lambda member: reported_at(name, member)):
        found = shape_named(references[member]["shape"], raw, known)
        if member == "TableName":
            found = table_name(takes_arn=found.name == "TableArn" and name != "CreateTableInput")
        shape.members[member] = correct_shape(found, (name, member))
    return shape


def correct_shape(shape: Shape, place: tuple[str, str]) -> Shape:
    """The shape of a member as the service checks it."""
    if place in NO_CHOICES:
        return replace(shape, choices=())
    if not any(place in table for table in (MAXIMUM, MINIMUM, NO_MINIMUM, TERSE, SENTENCES)):
        return shape
    return replace(
        shape,
        minimum=None if place in NO_MINIMUM else MINIMUM.get(place, shape.minimum),
        maximum=MAXIMUM.get(place, shape.maximum),
        terse=TERSE.get(place, ""),
        sentence=SENTENCES.get(place, ""),
    )


def reported_at(structure_name: str, member: str) -> int:
    order = MEMBER_ORDER.get(structure_name, "").split()
    return order.index(member) if member in order else len(order)


def collection(name: str, raw: Model, known: dict[str, Shape]) -> Shape:
    described = raw[name]
    item = shape_named(described.get("member", described.get("value"))["shape"], raw, known)
    key = shape_named(described["key"]["shape"], raw, known) if "key" in described else None
    if key is not None and key.name == "TableArn":
        key = table_name(takes_arn=True)
    return Shape(
        name,
        described["type"],
        item=item,
        key=key,
        minimum=described.get("min"),
        maximum=described.get("max"),
    )


def scalar(name: str, described: Model) -> Shape:
    is_bounded = name not in NO_BOUNDS
    return Shape(
        name,
        described["type"],
        minimum=described.get("min") if is_bounded else None,
        maximum=described.get("max") if is_bounded else None,
        pattern=described.get("pattern"),
        choices=ENUM_ORDER.get(name, tuple(described.get("enum", ()))),
    )


def table_name(*, takes_arn: bool) -> Shape:
    """A table name: the model allows any 1,024 characters, for ARNs; the service is stricter."""
    return Shape(
        "TableName", "string", minimum=3, maximum=255, pattern=NAME_PATTERN, takes_arn=takes_arn
    )
