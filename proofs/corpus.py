"""A valid request of every operation, as a starting point for mutations."""

from __future__ import annotations

from typing import Any

TABLE = "Fuzz"
SIDE_TABLE = "Fuzz-side"
REPLICATED_TABLE = "Fuzz-replicated"
BUCKET = "fuzz"

Params = dict[str, Any]

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM = {
    **KEY,
    "gsi": {"S": "g"},
    "lsi": {"N": "2"},
    "text": {"S": "some text"},
    "blob": {"B": "AAEC"},
    "flag": {"BOOL": True},
    "none": {"NULL": True},
    "list": {"L": [{"N": "1"}, {"S": "two"}, {"M": {"three": {"N": "3"}}}]},
    "map": {"M": {"inner": {"M": {"leaf": {"S": "x"}}}, "count": {"N": "7"}}},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2.5"]},
    "blobs": {"BS": ["AA==", "AQ=="]},
}
NAMES = {"#text": "text", "#map": "map"}
VALUES = {":text": {"S": "some text"}, ":count": {"N": "3"}}
CONDITION = "#text = :text AND (size(#map) > :count OR attribute_exists(pk))"


def create_table(name: str) -> Params:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
            {"AttributeName": "gsi", "AttributeType": "S"},
            {"AttributeName": "lsi", "AttributeType": "N"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_gsi",
                "KeySchema": [{"AttributeName": "gsi", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "by_lsi",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "lsi", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        "Tags": [{"Key": "owner", "Value": "nobody"}],
    }


def item_requests() -> list[tuple[str, Params]]:
    table = {"TableName": TABLE}
    put = {**table, "Item": ITEM}
    update = {
        **table,
        "Key": KEY,
        "UpdateExpression": "SET #text = if_not_exists(#text, :text), #map.#map = :count "
        "REMOVE #list[0] ADD lsi :count DELETE #strings :some",
        "ExpressionAttributeNames": {**NAMES, "#list": "list", "#strings": "strings"},
        "ExpressionAttributeValues": {**VALUES, ":some": {"SS": ["a"]}},
        "ReturnValues": "ALL_NEW",
    }
    condition = {
        "ConditionExpression": CONDITION,
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": VALUES,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return [
        ("PutItem", {**put, "ReturnValues": "ALL_OLD", "ReturnConsumedCapacity": "INDEXES"}),
        ("PutItem", {**put, **condition}),
        ("PutItem", {**put, "Expected": {"text": {"Exists": False}}}),
        ("UpdateItem", update),
        ("UpdateItem", {**table, "Key": KEY, "AttributeUpdates": legacy_updates()}),
        ("DeleteItem", {**table, "Key": KEY, **condition}),
        (
            "GetItem",
            {
                **table,
                "Key": KEY,
                "ProjectionExpression": "#map.inner, #text, #list[2].three",
                "ExpressionAttributeNames": {**NAMES, "#list": "list"},
                "ConsistentRead": True,
            },
        ),
        ("GetItem", {**table, "Key": KEY, "AttributesToGet": ["text", "map"]}),
        *batch_requests(put),
        *transact_requests(put, update, condition),
        *query_requests(),
        *statement_requests(),
    ]


def statement_requests() -> list[tuple[str, Params]]:
    where = "WHERE pk = ? AND sk = 1"
    key = {"Parameters": [KEY["pk"]]}
    select = {"Statement": f'SELECT text, map."inner", "list"[2] FROM "{TABLE}" {where}', **key}
    indexed = f'SELECT * FROM "{TABLE}"."by_gsi" WHERE gsi IN [\'g\', ?] AND size(text) > 3'
    scan = f"SELECT pk FROM \"{TABLE}\" WHERE contains(text, 'some') OR none IS NOT MISSING"
    insert = (
        f"INSERT INTO \"{TABLE}\" VALUE {{'pk': ?, 'sk': 20, 'l': [1, <<'a'>>, {{'b': NULL}}]}}"
    )
    update = (
        f'UPDATE "{TABLE}" SET lsi = lsi + 1 SET strings = set_add(strings, ?) REMOVE "list"[0]'
        " WHERE pk = 'a' AND sk = 1 AND flag = true RETURNING ALL NEW *"
    )
    changed = {"Statement": update, "Parameters": [{"SS": ["c"]}]}
    exists = f'EXISTS(SELECT * FROM "{TABLE}" {where} AND text BETWEEN ? AND ?)'
    check = {"Statement": exists, "Parameters": [KEY["pk"], {"S": "a"}, {"S": "z"}]}
    inserted = {"Statement": insert, **key}
    writes = [inserted, {"Statement": f'DELETE FROM "{TABLE}" {where}', **key}]
    return [
        ("ExecuteStatement", {**select, "ConsistentRead": True}),
        ("ExecuteStatement", {"Statement": indexed, "Parameters": [{"S": "h"}], "Limit": 3}),
        ("ExecuteStatement", {"Statement": scan, "ReturnConsumedCapacity": "INDEXES"}),
        ("ExecuteStatement", inserted),
        ("ExecuteStatement", {**changed, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
        ("BatchExecuteStatement", {"Statements": [select], "ReturnConsumedCapacity": "TOTAL"}),
        ("BatchExecuteStatement", {"Statements": writes}),
        ("ExecuteTransaction", {"TransactStatements": [select]}),
        (
            "ExecuteTransaction",
            {"TransactStatements": [check, inserted], "ClientRequestToken": "statements"},
        ),
    ]


def legacy_updates() -> Params:
    return {
        "text": {"Action": "PUT", "Value": {"S": "new"}},
        "lsi": {"Action": "ADD", "Value": {"N": "1"}},
        "none": {"Action": "DELETE"},
    }


def batch_requests(put: Params) -> list[tuple[str, Params]]:
    writes = [{"PutRequest": {"Item": ITEM}}, {"DeleteRequest": {"Key": {**KEY, "sk": {"N": "2"}}}}]
    keys = [KEY, {**KEY, "sk": {"N": "-3.5"}}]
    return [
        ("BatchWriteItem", {"RequestItems": {TABLE: writes}, "ReturnConsumedCapacity": "TOTAL"}),
        ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys, "ConsistentRead": True}}}),
    ]


def transact_requests(put: Params, update: Params, condition: Params) -> list[tuple[str, Params]]:
    other = {"TableName": TABLE, "Key": {**KEY, "sk": {"N": "9"}}}
    changes = {name: value for name, value in update.items() if name != "ReturnValues"}
    actions = [
        {"Put": put},
        {"Update": {**changes, **other}},
        {"Delete": {**other, "Key": {**KEY, "sk": {"N": "10"}}}},
        {"ConditionCheck": {**other, "Key": {**KEY, "sk": {"N": "11"}}, **condition}},
    ]
    return [
        ("TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": "token"}),
        ("TransactWriteItems", {"TransactItems": actions[:1], "ReturnConsumedCapacity": "TOTAL"}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": TABLE, "Key": KEY}}]}),
    ]


def query_requests() -> list[tuple[str, Params]]:
    table = {"TableName": TABLE}
    by_key = {
        **table,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "FilterExpression": "contains(#text, :text) OR NOT #map.count IN (:low, :high)",
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": {
            ":pk": {"S": "a"},
            ":low": {"N": "0"},
            ":high": {"N": "100"},
            ":text": {"S": "some"},
        },
        "Limit": 10,
        "ScanIndexForward": False,
    }
    by_index = {
        **table,
        "IndexName": "by_gsi",
        "KeyConditionExpression": "gsi = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
        "Select": "ALL_PROJECTED_ATTRIBUTES",
        "ExclusiveStartKey": {**KEY, "gsi": {"S": "g"}},
    }
    legacy = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}
    return [
        ("Query", by_key),
        ("Query", by_index),
        ("Query", {**table, "IndexName": "by_lsi", "KeyConditions": legacy}),
        ("Scan", {**table, "Segment": 1, "TotalSegments": 4, "ReturnConsumedCapacity": "TOTAL"}),
        (
            "Scan",
            {
                **table,
                "FilterExpression": "begins_with(#text, :text) AND attribute_type(pk, :count)",
                "ExpressionAttributeNames": {"#text": "text"},
                "ExpressionAttributeValues": {":text": {"S": "s"}, ":count": {"S": "S"}},
            },
        ),
    ]


def table_requests(arn: str) -> list[tuple[str, Params]]:
    table = {"TableName": TABLE}
    side = {"TableName": SIDE_TABLE}
    return [
        ("CreateTable", create_table(SIDE_TABLE)),
        ("DeleteTable", side),
        ("UpdateTable", {**side, "StreamSpecification": {"StreamEnabled": False}}),
        (
            "UpdateTable",
            {**side, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_gsi"}}]},
        ),
        ("DescribeTable", table),
        ("ListTables", {"Limit": 10, "ExclusiveStartTableName": "A-table"}),
        ("DescribeLimits", {}),
        ("DescribeEndpoints", {}),
        ("DescribeTimeToLive", table),
        (
            "UpdateTimeToLive",
            {**side, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}},
        ),
        ("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "a", "Value": "b"}]}),
        ("UntagResource", {"ResourceArn": arn, "TagKeys": ["a"]}),
        ("ListTagsOfResource", {"ResourceArn": arn}),
        *state_requests(arn),
        *backup_requests(arn),
        *transfer_requests(arn),
        *replica_requests(),
        *global_table_requests(),
    ]


def replica_requests() -> list[tuple[str, Params]]:
    """Uses its own table: a table from which a replica was created cannot be deleted at once."""
    table = {"TableName": REPLICATED_TABLE}
    region = {"RegionName": "eu-west-1"}
    created = {
        **region,
        "TableClassOverride": "STANDARD_INFREQUENT_ACCESS",
        "OnDemandThroughputOverride": {"MaxReadRequestUnits": 10},
        "GlobalSecondaryIndexes": [
            {"IndexName": "by_gsi", "OnDemandThroughputOverride": {"MaxReadRequestUnits": 5}}
        ],
    }
    changed = {**region, "TableClassOverride": "STANDARD"}
    return [
        ("CreateTable", create_table(REPLICATED_TABLE)),
        ("PutItem", {**table, "Item": ITEM}),
        ("UpdateTable", {**table, "ReplicaUpdates": [{"Create": created}]}),
        ("UpdateTable", {**table, "ReplicaUpdates": [{"Update": changed}]}),
        ("UpdateTable", {**table, "ReplicaUpdates": [{"Delete": region}]}),
        ("DescribeTable", table),
    ]


def global_table_requests() -> list[tuple[str, Params]]:
    """The calls of global tables version 2017.11.29."""
    name = {"GlobalTableName": TABLE}
    region = {"RegionName": "eu-west-1"}
    units = {"GlobalTableProvisionedWriteCapacityUnits": 5}
    return [
        ("CreateGlobalTable", {**name, "ReplicationGroup": [region]}),
        ("ListGlobalTables", {"ExclusiveStartGlobalTableName": "A-table", "Limit": 5, **region}),
        ("DescribeGlobalTable", name),
        ("UpdateGlobalTable", {**name, "ReplicaUpdates": [{"Create": region}]}),
        ("DescribeGlobalTableSettings", name),
        ("UpdateGlobalTableSettings", {**name, "GlobalTableBillingMode": "PROVISIONED", **units}),
    ]


def state_requests(arn: str) -> list[tuple[str, Params]]:
    """Settings that are just stored and described: insights, destinations, policies, scaling."""
    table = {"TableName": TABLE}
    stream = {**table, "StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/fuzz"}
    precision = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    policy = (
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*",'
        f' "Action": "dynamodb:GetItem", "Resource": "{arn}"}}]}}'
    )
    return [
        ("UpdateContributorInsights", {**table, "ContributorInsightsAction": "ENABLE"}),
        ("DescribeContributorInsights", {**table, "IndexName": "by_gsi"}),
        ("ListContributorInsights", {**table, "MaxResults": 5}),
        (
            "EnableKinesisStreamingDestination",
            {**stream, "EnableKinesisStreamingConfiguration": precision},
        ),
        (
            "UpdateKinesisStreamingDestination",
            {**stream, "UpdateKinesisStreamingConfiguration": precision},
        ),
        ("DescribeKinesisStreamingDestination", table),
        ("DisableKinesisStreamingDestination", stream),
        ("PutResourcePolicy", {"ResourceArn": arn, "Policy": policy}),
        ("GetResourcePolicy", {"ResourceArn": arn}),
        ("DeleteResourcePolicy", {"ResourceArn": arn}),
        ("DescribeTableReplicaAutoScaling", table),
        ("UpdateTableReplicaAutoScaling", {**table, "ReplicaUpdates": [{"RegionName": "eu"}]}),
    ]


def backup_requests(arn: str) -> list[tuple[str, Params]]:
    table = {"TableName": TABLE}
    backup = {"BackupArn": f"{arn}/backup/01489602797149-73d8d5bc"}
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    index = create_table(TABLE)["GlobalSecondaryIndexes"][0]
    overrides: Params = {
        "TargetTableName": f"{TABLE}-restored",
        "BillingModeOverride": "PROVISIONED",
        "ProvisionedThroughputOverride": units,
        "GlobalSecondaryIndexOverride": [{**index, "ProvisionedThroughput": units}],
        "LocalSecondaryIndexOverride": [],
        "SSESpecificationOverride": {"Enabled": True},
    }
    return [
        ("UpdateContinuousBackups", {**table, "PointInTimeRecoverySpecification": recovery}),
        ("DescribeContinuousBackups", table),
        (
            "RestoreTableToPointInTime",
            {"SourceTableName": TABLE, "UseLatestRestorableTime": True, **overrides},
        ),
        (
            "RestoreTableToPointInTime",
            {"SourceTableArn": arn, "RestoreDateTime": 1.7e9, "TargetTableName": SIDE_TABLE},
        ),
        ("CreateBackup", {**table, "BackupName": "fuzz"}),
        ("DescribeBackup", backup),
        (
            "ListBackups",
            {
                **table,
                "Limit": 5,
                "TimeRangeLowerBound": 1.7e9,
                "TimeRangeUpperBound": 1.8e9,
                "BackupType": "ALL",
                "ExclusiveStartBackupArn": backup["BackupArn"],
            },
        ),
        ("DeleteBackup", backup),
        ("RestoreTableFromBackup", {**backup, **overrides}),
    ]


def transfer_requests(arn: str) -> list[tuple[str, Params]]:
    window = {"ExportFromTime": 1.7e9, "ExportToTime": 1.70001e9, "ExportViewType": "NEW_IMAGE"}
    bucket = {"TableArn": arn, "S3Bucket": BUCKET, "S3Prefix": "a/b"}
    chosen = {
        "FilterExpression": "n > :n",
        "ProjectionExpression": "#p, n",
        "ExpressionAttributeNames": {"#p": "pk"},
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }
    made = {**create_table(f"{TABLE}-imported")}
    made = {name: made[name] for name in ("TableName", "AttributeDefinitions", "KeySchema")}
    source = {
        "S3BucketSource": {"S3Bucket": BUCKET, "S3KeyPrefix": "a/"},
        "InputFormat": "CSV",
        "InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk"]}},
        "InputCompressionType": "GZIP",
    }
    return [
        (
            "ExportTableToPointInTime",
            {**bucket, "ExportTime": 1.7e9, "FilterSpecification": chosen},
        ),
        (
            "ExportTableToPointInTime",
            {
                **bucket,
                "ExportType": "INCREMENTAL_EXPORT",
                "IncrementalExportSpecification": window,
                "ClientToken": "fuzz",
            },
        ),
        ("DescribeExport", {"ExportArn": f"{arn}/export/01489602797149-73d8d5bc"}),
        ("ListExports", {"TableArn": arn, "MaxResults": 5}),
        ("ImportTable", {**source, "TableCreationParameters": made}),
        ("DescribeImport", {"ImportArn": f"{arn}/import/01489602797149-73d8d5bc"}),
        ("ListImports", {"TableArn": arn, "PageSize": 5}),
        *bulk_requests(arn),
    ]


def bulk_requests(arn: str) -> list[tuple[str, Params]]:
    operation = {"BulkOperationArn": f"{arn}/bulk-operation/01489602797149-73d8d5bc"}
    source = {"S3Bucket": BUCKET, "S3KeyPrefix": "a/", "InputFormat": "DYNAMODB_JSON"}
    reports = {"S3Bucket": BUCKET, "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]}
    started = {
        "TableName": TABLE,
        "InputS3Configuration": source,
        "OutputS3Configuration": reports,
        "ClientToken": "fuzz",
    }
    searched = {
        "TableName": TABLE,
        "IndexName": "by-vector",
        "SearchVector": [{"N": "1"}, {"N": "0.5"}],
        "SearchConditionExpression": "kind = :kind",
        "ExpressionAttributeValues": {":kind": {"S": "a"}},
        "TopK": 5,
    }
    return [
        ("StartBulkPutItems", started),
        ("DescribeBulkOperation", operation),
        ("ListBulkOperations", {"MaxResults": 5}),
        ("CancelBulkOperation", operation),
        ("SearchVectors", searched),
    ]


def stream_requests(stream: str, shard: str, iterator: str) -> list[tuple[str, Params]]:
    return [
        ("ListStreams", {"TableName": TABLE, "Limit": 5}),
        ("DescribeStream", {"StreamArn": stream, "Limit": 5}),
        (
            "GetShardIterator",
            {
                "StreamArn": stream,
                "ShardId": shard,
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": "100000000000000000001",
            },
        ),
        ("GetRecords", {"ShardIterator": iterator, "Limit": 5}),
    ]
