"""The rounds of boto3: its client, its resource, its streams, and every family of operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from time import monotonic, sleep
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.config import Config
from botocore.exceptions import ClientError

LARGE = "x" * 30_000  # fifty of these are more than a page


BUCKET = "rounds"
AWAY = "eu-west-1"


def settings(url: str) -> Any:
    # The legacy retry mode is the one that checks x-amz-crc32; without retries it would tell.
    return {
        "endpoint_url": url,
        "region_name": "us-east-1",
        "config": Config(retries={"mode": "legacy", "max_attempts": 0}),
        "aws_access_key_id": "local",
        "aws_secret_access_key": "local",
    }


def table(name: str) -> Any:
    return {
        "TableName": name,
        "KeySchema": [
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "number", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "status", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "ByStatus",
                "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def key(customer: str, number: int) -> Any:
    return {"customer": {"S": customer}, "number": {"N": str(number)}}


def client_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Client"
    client.create_table(**table(name))
    client.get_waiter("table_exists").wait(TableName=name)
    client_items(client, name)
    client_pages(client, name)
    client_transactions(client, name)
    client.delete_table(TableName=name)
    client.get_waiter("table_not_exists").wait(TableName=name)


def client_items(client: Any, name: str) -> None:
    item = {**key("alex", 1), "raw": {"B": b"\x00\xff"}, "tags": {"SS": ["tea"]}}
    client.put_item(TableName=name, Item=item)
    assert client.get_item(TableName=name, Key=key("alex", 1))["Item"] == item
    updated = client.update_item(
        TableName=name,
        Key=key("alex", 1),
        UpdateExpression="ADD seen :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    assert updated["Attributes"] == {"seen": {"N": "1"}}
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.delete_item(
            TableName=name, Key=key("alex", 1), ConditionExpression="attribute_not_exists(seen)"
        )
    client.delete_item(TableName=name, Key=key("alex", 1))
    assert "Item" not in client.get_item(TableName=name, Key=key("alex", 1))


def client_pages(client: Any, name: str) -> None:
    for number in range(50):
        status = {"S": "open" if number % 5 else "paid"}
        item = {**key("sam", number), "status": status, "text": {"S": LARGE}}
        client.put_item(TableName=name, Item=item)
    sam = {":sam": {"S": "sam"}}
    pages = client.get_paginator("query").paginate(
        TableName=name, KeyConditionExpression="customer = :sam", ExpressionAttributeValues=sam
    )
    sizes = [page["Count"] for page in pages]
    assert len(sizes) == 2 and sum(sizes) == 50
    limited = client.get_paginator("scan").paginate(
        TableName=name, PaginationConfig={"PageSize": 20}
    )
    numbers = [int(item["number"]["N"]) for page in limited for item in page["Items"]]
    assert sorted(numbers) == list(range(50))
    paid = client.query(
        TableName=name,
        IndexName="ByStatus",
        KeyConditionExpression="#status = :paid",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":paid": {"S": "paid"}},
    )
    assert paid["Count"] == 10


def client_transactions(client: Any, name: str) -> None:
    puts = [{"Put": {"TableName": name, "Item": key("kim", number)}} for number in (1, 2, 3)]
    check = {"TableName": name, "Key": key("nobody", 0)}
    failing = {"ConditionCheck": {**check, "ConditionExpression": "attribute_exists(customer)"}}
    client.transact_write_items(TransactItems=puts[:2])
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.transact_write_items(TransactItems=[puts[2], failing])
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    gets = [{"Get": {"TableName": name, "Key": key("kim", number)}} for number in (1, 2, 3)]
    found = client.transact_get_items(TransactItems=gets)["Responses"]
    assert ["Item" in response for response in found] == [True, True, False]


def streams_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Streams"
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    client.create_table(**table(name), StreamSpecification=stream)
    client.put_item(TableName=name, Item=key("alex", 1))
    streams: Any = boto3.client("dynamodbstreams", **settings(url))
    arn = streams.list_streams(TableName=name)["Streams"][0]["StreamArn"]
    shards = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterators = [
        streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        for shard in shards
    ]
    records = [r for i in iterators for r in streams.get_records(ShardIterator=i)["Records"]]
    assert [record["dynamodb"]["Keys"] for record in records] == [key("alex", 1)]


def resource_round(url: str) -> None:
    resource: Any = boto3.resource("dynamodb", **settings(url))
    orders = resource.create_table(**table("Boto3Resource"))
    orders.wait_until_exists()
    item = {
        "customer": "alex",
        "number": 1,
        "price": Decimal("19.99"),
        "photo": Binary(b"\x89PNG"),
        "tags": {"tea"},
        "lines": [{"gift": True, "note": None}],
    }
    orders.put_item(Item=item)
    assert orders.get_item(Key={"customer": "alex", "number": 1})["Item"] == item
    with orders.batch_writer() as batch:
        for number in range(60):
            batch.put_item(Item={"customer": "sam", "number": number, "text": LARGE})
    resource_pages(orders)
    orders.update_item(
        Key={"customer": "alex", "number": 1},
        UpdateExpression="SET price = price - :off REMOVE photo",
        ExpressionAttributeValues={":off": Decimal("0.99")},
        ConditionExpression=Attr("photo").exists(),
    )
    assert orders.get_item(Key={"customer": "alex", "number": 1})["Item"]["price"] == 19
    orders.delete()
    orders.wait_until_not_exists()


def resource_pages(orders: Any) -> None:
    ask = {"KeyConditionExpression": Key("customer").eq("sam") & Key("number").gte(10)}
    page = orders.query(**ask)
    numbers = [item["number"] for item in page["Items"]]
    while "LastEvaluatedKey" in page:
        page = orders.query(**ask, ExclusiveStartKey=page["LastEvaluatedKey"])
        numbers += [item["number"] for item in page["Items"]]
    assert numbers == list(range(10, 60))


def threads_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Threads"
    client.create_table(**table(name))

    def increment(_: int) -> None:
        client.update_item(
            TableName=name,
            Key=key("alex", 1),
            UpdateExpression="ADD hits :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(increment, range(400)))
    assert client.get_item(TableName=name, Key=key("alex", 1))["Item"]["hits"] == {"N": "400"}


def backups_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Backups"
    client.create_table(**table(name))
    put_note(client, name, "before")
    specification = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=specification)
    about = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert about["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    backup = client.create_backup(TableName=name, BackupName="mine")["BackupDetails"]
    arn = backup["BackupArn"]
    put_note(client, name, "after")
    client.restore_table_to_point_in_time(
        SourceTableName=name, TargetTableName=f"{name}Latest", UseLatestRestorableTime=True
    )
    while (
        client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"]
        != "AVAILABLE"
    ):
        sleep(0.05)
    restored = client.restore_table_from_backup(TargetTableName=f"{name}Old", BackupArn=arn)
    summary = restored["TableDescription"]["RestoreSummary"]
    assert summary["SourceBackupArn"] == arn and summary["RestoreInProgress"] is True
    assert read_note(client, f"{name}Latest") == "after"
    assert read_note(client, f"{name}Old") == "before"
    assert "RestoreSummary" not in client.describe_table(TableName=f"{name}Old")["Table"]
    assert [summary["BackupArn"] for summary in client.list_backups()["BackupSummaries"]] == [arn]
    client.delete_backup(BackupArn=arn)
    with pytest.raises(client.exceptions.BackupNotFoundException):
        client.describe_backup(BackupArn=arn)
    client.delete_table(TableName=name)
    (kept,) = client.list_backups(TableName=name, BackupType="SYSTEM")["BackupSummaries"]
    assert kept["BackupName"] == f"{name}$DeletedTableBackup"


def statements_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Statements"
    client.create_table(**table(name))
    insert = f"INSERT INTO \"{name}\" VALUE {{'customer': ?, 'number': ?, 'raw': ?}}"
    for number in range(15):
        values = [{"S": "alex"}, {"N": str(number)}, {"B": b"\x00\xff"}]
        client.execute_statement(Statement=insert, Parameters=values)
    with pytest.raises(client.exceptions.DuplicateItemException):
        client.execute_statement(Statement=insert, Parameters=values)
    select = f'SELECT "number" FROM "{name}" WHERE customer = ? AND "number" >= 5'
    asked = {"Statement": select, "Parameters": [{"S": "alex"}], "Limit": 4}
    page = client.execute_statement(**asked)
    numbers = [int(item["number"]["N"]) for item in page["Items"]]
    while "NextToken" in page:
        page = client.execute_statement(**asked, NextToken=page["NextToken"])
        numbers += [int(item["number"]["N"]) for item in page["Items"]]
    assert numbers == list(range(5, 15))
    where = "WHERE customer = 'alex' AND \"number\" = {}"
    update = f"UPDATE \"{name}\" SET status = 'paid' {where} RETURNING ALL NEW *"
    (paid,) = client.execute_statement(Statement=update.format(3))["Items"]
    assert paid == {**key("alex", 3), "raw": {"B": b"\x00\xff"}, "status": {"S": "paid"}}
    reads = [f'SELECT status FROM "{name}" {where.format(n)}' for n in (3, 99)]
    found = client.batch_execute_statement(Statements=[{"Statement": read} for read in reads])
    assert [each.get("Item") for each in found["Responses"]] == [{"status": {"S": "paid"}}, None]
    transact_statements(client, name, where)


def transact_statements(client: Any, name: str, where: str) -> None:
    delete = {"Statement": f'DELETE FROM "{name}" {where.format(3)}'}
    exists = f"EXISTS(SELECT * FROM \"{name}\" {where.format(4)} AND status = 'paid')"
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.execute_transaction(TransactStatements=[delete, {"Statement": exists}])
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    client.execute_transaction(TransactStatements=[delete], ClientRequestToken="once")
    assert "Item" not in client.get_item(TableName=name, Key=key("alex", 3))


def transfers_round(url: str) -> None:
    """Needs a bucket in the folder that stands for S3."""
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Transfers"
    arn = client.create_table(**table(name))["TableDescription"]["TableArn"]
    recovery = {"PointInTimeRecoveryEnabled": True}
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)
    item = {**key("alex", 1), "status": {"S": "open"}, "raw": {"B": b"\x00\xff"}}
    client.put_item(TableName=name, Item=item)
    export = client.export_table_to_point_in_time(TableArn=arn, S3Bucket=BUCKET)
    export_arn = export["ExportDescription"]["ExportArn"]

    def about_export() -> Any:
        return client.describe_export(ExportArn=export_arn)["ExportDescription"]

    until(lambda: about_export()["ExportStatus"] != "IN_PROGRESS")
    about = about_export()
    assert (about["ExportStatus"], about["ItemCount"]) == ("COMPLETED", 1)
    listed = client.list_exports(TableArn=arn)["ExportSummaries"]
    assert [each["ExportArn"] for each in listed] == [export_arn]
    data = f"{about['ExportManifest'].rpartition('/')[0]}/data/"
    imported = client.import_table(
        S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": data},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters=table(f"{name}Copy"),
    )["ImportTableDescription"]["ImportArn"]

    def about_import() -> Any:
        return client.describe_import(ImportArn=imported)["ImportTableDescription"]

    until(lambda: about_import()["ImportStatus"] != "IN_PROGRESS")
    assert about_import()["ImportedItemCount"] == 1
    assert client.scan(TableName=f"{name}Copy", IndexName="ByStatus")["Items"] == [item]


def replicas_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    away: Any = boto3.client("dynamodb", **{**settings(url), "region_name": AWAY})
    name = "Boto3Replicas"
    client.create_table(**table(name))
    put_note(client, name, "from home")
    client.update_table(TableName=name, ReplicaUpdates=[{"Create": {"RegionName": AWAY}}])
    until(lambda: replica_states(client, name) == {AWAY: "ACTIVE"})
    assert read_note(away, name) == "from home"
    assert away.describe_table(TableName=name)["Table"]["TableArn"].split(":")[3] == AWAY
    put_note(away, name, "from away")
    until(lambda: read_note(client, name) == "from away")
    client.update_table(TableName=name, ReplicaUpdates=[{"Delete": {"RegionName": AWAY}}])
    until(lambda: replica_states(client, name) == {})
    with pytest.raises(away.exceptions.ResourceNotFoundException):
        away.describe_table(TableName=name)
    assert read_note(client, name) == "from away"


def replica_states(client: Any, name: str) -> dict[str, str]:
    replicas = client.describe_table(TableName=name)["Table"].get("Replicas", [])
    return {each["RegionName"]: each["ReplicaStatus"] for each in replicas}


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = monotonic() + seconds
    while not holds():
        assert monotonic() < end, "it never held"
        sleep(0.05)


def policies_round(url: str) -> None:
    client: Any = boto3.client("dynamodb", **settings(url))
    name = "Boto3Policies"
    arn = client.create_table(**table(name))["TableDescription"]["TableArn"]
    account = arn.split(":")[4]
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{account}:user/reader"},
                "Action": "dynamodb:GetItem",
                "Resource": arn,
            }
        ],
    }
    put = client.put_resource_policy(ResourceArn=arn, Policy=json.dumps(policy))
    found = client.get_resource_policy(ResourceArn=arn)
    assert json.loads(found["Policy"]) == policy and found["RevisionId"] == put["RevisionId"]
    put_note(client, name, "readable")
    reader: Any = boto3.client(
        "dynamodb",
        **{**settings(url), "aws_access_key_id": "reader", "aws_secret_access_key": "secret"},
    )
    assert reader.get_item(TableName=name, Key=key("alex", 1))["Item"]["note"] == {"S": "readable"}
    client.delete_resource_policy(ResourceArn=arn)
    with pytest.raises(client.exceptions.PolicyNotFoundException):
        client.get_resource_policy(ResourceArn=arn)


def denials_round(url: str) -> None:
    """As `policies_round`, where the endpoint has users: a reader may read and nothing else."""
    reader: Any = boto3.client(
        "dynamodb",
        **{**settings(url), "aws_access_key_id": "reader", "aws_secret_access_key": "secret"},
    )
    for attempt in (reader.get_item, reader.delete_item):
        with pytest.raises(ClientError, match=r"AccessDeniedException.*user/reader"):
            attempt(TableName="Boto3Policies", Key=key("alex", 1))


def put_note(client: Any, name: str, note: str) -> None:
    client.put_item(TableName=name, Item={**key("alex", 1), "note": {"S": note}})


def read_note(client: Any, name: str) -> str:
    waiter = client.get_waiter("table_exists")
    waiter.wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    note: str = client.get_item(TableName=name, Key=key("alex", 1))["Item"]["note"]["S"]
    return note
