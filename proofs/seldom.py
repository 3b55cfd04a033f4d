"""Requests with the parameters that those of `corpus` lack, as a starting point for mutations.

Requests that would lock or change the fuzzed table use one of their own.
"""

from __future__ import annotations

from proofs.corpus import ITEM, KEY, TABLE, Params, create_table

OTHER_TABLE = "Fuzz-other"
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
ON_DEMAND = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 10}
WARM = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}
ENCRYPTION = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/fuzz"}
COUNTED = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
EXPECTED = {
    "Expected": {
        "text": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "some text"}]},
        "none": {"ComparisonOperator": "NOT_NULL"},
    },
    "ConditionalOperator": "OR",
}
CONDITIONS = {
    "flag": {"ComparisonOperator": "EQ", "AttributeValueList": [{"BOOL": True}]},
    "text": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [{"S": "some"}]},
}
SCALING = {
    "MinimumUnits": 1,
    "MaximumUnits": 10,
    "AutoScalingDisabled": False,
    "ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0}},
}
VECTOR_INDEX = {
    "IndexName": "by-vector",
    "VectorAttribute": {"AttributeName": "vector"},
    "Dimensions": 2,
    "DistanceFunction": "COSINE",
    "Projection": {"ProjectionType": "ALL"},
}
VECTORS = {"VectorIndexes": [VECTOR_INDEX]}


def seldom_requests(arn: str, stream: str) -> list[tuple[str, Params]]:
    return [
        *seldom_item_requests(),
        *seldom_table_requests(arn),
        *seldom_restores(arn),
        *seldom_lists(arn),
        *seldom_settings(arn),
        ("DescribeStream", {"StreamArn": stream, "ExclusiveStartShardId": "shardId-1" + "0" * 20}),
        (
            "DescribeStream",
            {
                "StreamArn": stream,
                "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": "shardId-1" + "0" * 20},
            },
        ),
        (
            "GetShardIterator",
            {
                "StreamArn": stream,
                "ShardId": "shardId-1" + "0" * 20,
                "ShardIteratorType": "AT_TIMESTAMP",
                "Timestamp": 1.7e9,
            },
        ),
        ("ListStreams", {"ExclusiveStartStreamArn": stream}),
    ]


def seldom_item_requests() -> list[tuple[str, Params]]:
    key = {"TableName": TABLE, "Key": KEY}
    where = {"TableName": TABLE, "ConditionalOperator": "AND", "AttributesToGet": ["pk", "lsi"]}
    of_hash = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}
    put = {"Put": {"TableName": TABLE, "Item": ITEM}}
    select = {"Statement": f'SELECT * FROM "{TABLE}"'}
    vector = {"L": [{"N": "0.5"}, {"N": "-1"}]}
    return [
        ("PutItem", {"TableName": TABLE, "Item": ITEM, **COUNTED, **EXPECTED}),
        ("PutItem", {"TableName": OTHER_TABLE, "Item": {**ITEM, "vector": vector}}),
        ("DeleteItem", {**key, **COUNTED, **EXPECTED, "ReturnValues": "ALL_OLD"}),
        ("UpdateItem", {**key, **COUNTED, **EXPECTED}),
        (
            "UpdateItem",
            {
                **key,
                "UpdateExpression": "SET lsi = :n",
                "ConditionExpression": "attribute_exists(pk) AND lsi <> :n",
                "ExpressionAttributeValues": {":n": {"N": "4"}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
        ),
        ("GetItem", {**key, "ReturnConsumedCapacity": "TOTAL"}),
        ("Query", {**where, "KeyConditions": of_hash, "QueryFilter": CONDITIONS}),
        (
            "Query",
            {
                "TableName": TABLE,
                "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": {":pk": KEY["pk"]},
                "ProjectionExpression": "pk, lsi",
                "ConsistentRead": True,
                "ReturnConsumedCapacity": "INDEXES",
            },
        ),
        ("Scan", {**where, "ScanFilter": CONDITIONS, "ConsistentRead": True, "Limit": 2}),
        (
            "Scan",
            {
                "TableName": TABLE,
                "IndexName": "by_lsi",
                "Select": "SPECIFIC_ATTRIBUTES",
                "ProjectionExpression": "pk, lsi",
                "ExclusiveStartKey": {**KEY, "lsi": {"N": "2"}},
            },
        ),
        ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [KEY]}}, **counted_reads()}),
        ("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": ITEM}}]}, **COUNTED}),
        ("TransactGetItems", {"TransactItems": [{"Get": key}], **counted_reads()}),
        ("TransactWriteItems", {"TransactItems": [put], **COUNTED}),
        ("ExecuteStatement", {**select, "NextToken": "bmV4dA=="}),
        ("ExecuteTransaction", {"TransactStatements": [select], **counted_reads()}),
        (
            "SearchVectors",
            {
                "TableName": OTHER_TABLE,
                "IndexName": "by-vector",
                "SearchVector": [{"N": "1"}, {"N": "0.5"}],
                "TopK": 5,
                "ProjectionExpression": "#t",
                "ExpressionAttributeNames": {"#t": "text"},
                **counted_reads(),
            },
        ),
    ]


def counted_reads() -> Params:
    return {"ReturnConsumedCapacity": "INDEXES"}


def seldom_table_requests(arn: str) -> list[tuple[str, Params]]:
    other = {"TableName": OTHER_TABLE}
    stated = {
        **create_table(OTHER_TABLE),
        **VECTORS,
        "DeletionProtectionEnabled": False,
        "OnDemandThroughput": ON_DEMAND,
        "SSESpecification": ENCRYPTION,
        "TableClass": "STANDARD",
        "WarmThroughput": WARM,
        "ResourcePolicy": policy_text(arn),
    }
    provisioned = {**create_table(OTHER_TABLE), **PROVISIONED}
    provisioned["GlobalSecondaryIndexes"] = [
        {**index, "ProvisionedThroughput": UNITS} for index in provisioned["GlobalSecondaryIndexes"]
    ]
    copied = {
        "GlobalTableSourceArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/Fuzz-other",
        "GlobalTableSettingsReplicationMode": "ENABLED",
    }
    changes: tuple[Params, ...] = (
        {"DeletionProtectionEnabled": False},
        {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
        {"OnDemandThroughput": ON_DEMAND},
        {"WarmThroughput": WARM},
        {"SSESpecification": ENCRYPTION},
        {"VectorIndexUpdates": [{"Create": {**VECTOR_INDEX, "IndexName": "again"}}]},
        {"VectorIndexUpdates": [{"Delete": {"IndexName": "by-vector"}}]},
        {
            "AttributeDefinitions": create_table(OTHER_TABLE)["AttributeDefinitions"],
            "GlobalSecondaryIndexUpdates": [
                {"Create": {**create_table(OTHER_TABLE)["GlobalSecondaryIndexes"][0], **WARMED}}
            ],
        },
        {"MultiRegionConsistency": "STRONG", "GlobalTableWitnessUpdates": [WITNESS]},
        {"DisassociationProtectionEnabled": True, "GlobalTableSettingsReplicationMode": "ENABLED"},
    )
    return [
        ("CreateTable", stated),
        ("CreateTable", provisioned),
        ("CreateTable", {**other, **copied}),
        *(("UpdateTable", {**other, **change}) for change in changes),
        ("DeleteTable", other),
    ]


def policy_text(arn: str) -> str:
    allow = '"Effect": "Allow", "Principal": "*", "Action": "dynamodb:GetItem"'
    return f'{{"Version": "2012-10-17", "Statement": [{{{allow}, "Resource": "{arn}"}}]}}'


WARMED = {"IndexName": "warmed", "WarmThroughput": WARM}
WITNESS = {"Create": {"RegionName": "eu-west-1"}}
PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}


def seldom_restores(arn: str) -> list[tuple[str, Params]]:
    overrides = {
        "TargetTableName": OTHER_TABLE,
        "OnDemandThroughputOverride": ON_DEMAND,
        "VectorIndexOverride": [VECTOR_INDEX],
    }
    backup = f"{arn}/backup/01489602797149-73d8d5bc"
    return [
        ("RestoreTableFromBackup", {"BackupArn": backup, **overrides}),
        (
            "RestoreTableToPointInTime",
            {"SourceTableArn": arn, "UseLatestRestorableTime": True, **overrides},
        ),
        (
            "ExportTableToPointInTime",
            {
                "TableArn": arn,
                "S3Bucket": "fuzz",
                "S3BucketOwner": "000000000000",
                "S3SseAlgorithm": "KMS",
                "S3SseKmsKeyId": "alias/fuzz",
                "ExportFormat": "DYNAMODB_JSON",
            },
        ),
        (
            "ImportTable",
            {
                "S3BucketSource": {"S3Bucket": "fuzz", "S3BucketOwner": "000000000000"},
                "InputFormat": "DYNAMODB_JSON",
                "ClientToken": "fuzz",
                "TableCreationParameters": {
                    "TableName": OTHER_TABLE,
                    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                    "BillingMode": "PAY_PER_REQUEST",
                    **VECTORS,
                },
            },
        ),
        (
            "StartBulkPutItems",
            {
                "TableName": arn,
                "InputS3Configuration": {"S3Bucket": "fuzz", "InputFormat": "DYNAMODB_JSON"},
                "OutputS3Configuration": {
                    "S3Bucket": "fuzz",
                    "S3KeyPrefix": "reports",
                    "S3SseAlgorithm": "KMS",
                    "S3SseKmsKeyId": "alias/fuzz",
                    "OutputType": ["ERROR"],
                },
                "MaxWriteRequestUnits": 2048,
                "PerformanceTier": "ACCELERATED",
            },
        ),
    ]


def seldom_lists(arn: str) -> list[tuple[str, Params]]:
    token = {"NextToken": "00" * 56}
    return [
        ("ListBulkOperations", token),
        ("ListContributorInsights", token),
        ("ListExports", token),
        ("ListImports", token),
        ("ListTagsOfResource", {"ResourceArn": arn, **token}),
    ]


def seldom_settings(arn: str) -> list[tuple[str, Params]]:
    index = {"IndexName": "by_gsi", "ProvisionedWriteCapacityAutoScalingUpdate": SCALING}
    insights = {"ContributorInsightsAction": "ENABLE", "ContributorInsightsMode": "THROTTLED_KEYS"}
    revision = {"ResourceArn": arn, "ExpectedRevisionId": "1"}
    kinesis = "arn:aws:kinesis:us-east-1:000000000000:stream/fuzz"
    precision = {"ApproximateCreationDateTimePrecision": "MILLISECOND"}
    return [
        ("UpdateContributorInsights", {"TableName": TABLE, "IndexName": "by_gsi", **insights}),
        (
            "DisableKinesisStreamingDestination",
            {
                "TableName": TABLE,
                "StreamArn": kinesis,
                "EnableKinesisStreamingConfiguration": precision,
            },
        ),
        (
            "PutResourcePolicy",
            {**revision, "Policy": policy_text(arn), "ConfirmRemoveSelfResourceAccess": True},
        ),
        ("DeleteResourcePolicy", revision),
        (
            "UpdateGlobalTableSettings",
            {
                "GlobalTableName": TABLE,
                "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate": SCALING,
                "GlobalTableGlobalSecondaryIndexSettingsUpdate": [
                    {"IndexName": "by_gsi", "ProvisionedWriteCapacityUnits": 5}
                ],
                "ReplicaSettingsUpdate": [{"RegionName": "eu-west-1"}],
            },
        ),
        (
            "UpdateTableReplicaAutoScaling",
            {
                "TableName": TABLE,
                "GlobalSecondaryIndexUpdates": [index],
                "ProvisionedWriteCapacityAutoScalingUpdate": SCALING,
            },
        ),
    ]
