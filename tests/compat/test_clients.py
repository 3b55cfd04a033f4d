"""aioboto3 and the AWS CLI against a real `bigtime engine serve`.

Both hold botocore to versions of their own, so they are not in the development environment:
`make compat` installs them, beside the lowest versions that Bigtime takes.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from bigtime.testing import intercept
from tests.cli.program import server
from tests.engine.clients.boto3_round import AWAY, BUCKET, LARGE, key, settings, table, until

AWS = Path(sys.executable).with_name("aws")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("data")
    (folder / "compat.db-s3" / BUCKET).mkdir(parents=True)
    with server("--data", folder / "compat.db") as running:
        yield running.url


def test_aioboto3(url: str) -> None:
    aioboto3 = pytest.importorskip("aioboto3", reason="aioboto3's round is in `make compat`")
    asyncio.run(aioboto3_round(aioboto3.Session(), url))


async def aioboto3_round(session: Any, url: str) -> None:
    async with session.client("dynamodb", **settings(url)) as client:
        await client.create_table(**table("Aioboto3"))
        waiter = client.get_waiter("table_exists")
        await waiter.wait(TableName="Aioboto3")
        await aioboto3_items(client, "Aioboto3")
        await aioboto3_pages(client, "Aioboto3")
        await aioboto3_transactions(client, "Aioboto3")
    async with session.resource("dynamodb", **settings(url)) as resource:
        orders = await resource.Table("Aioboto3")
        async with orders.batch_writer() as batch:
            for number in range(60):
                await batch.put_item(Item={"customer": "kim", "number": number})
        assert (await orders.scan(Limit=10))["Count"] == 10
        await orders.delete()


def test_aioboto3_is_intercepted(monkeypatch: pytest.MonkeyPatch) -> None:
    aioboto3 = pytest.importorskip("aioboto3", reason="aioboto3's round is in `make compat`")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    asyncio.run(intercepted_round(aioboto3.Session(region_name="eu-west-1")))


async def intercepted_round(session: Any) -> None:
    """A client made before is answered too; the endpoint would not be found."""
    nowhere = {"endpoint_url": "http://engine.bigtime.invalid"}
    early = await session.client("dynamodb", **nowhere).__aenter__()
    with intercept() as engine:
        await aioboto3_round(session, nowhere["endpoint_url"])
        await early.create_table(**table("Early"))
        blocking: Any = boto3.client("dynamodb")
        assert blocking.list_tables()["TableNames"] == ["Early"]
        async with session.client("dynamodbstreams") as streams:
            assert (await streams.list_streams())["Streams"] == []
        engine.faults.throttle(next=1)
        await early.scan(TableName="Early")
        with pytest.raises(early.exceptions.ResourceNotFoundException):
            await early.describe_table(TableName="Nothing")
    await early.__aexit__(None, None, None)


async def aioboto3_items(client: Any, name: str) -> None:
    item = {**key("alex", 1), "raw": {"B": b"\x00\xff"}, "tags": {"SS": ["tea"]}}
    await client.put_item(TableName=name, Item=item)
    found = await client.get_item(TableName=name, Key=key("alex", 1))
    assert found["Item"] == item
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        await client.put_item(
            TableName=name, Item=item, ConditionExpression="attribute_not_exists(customer)"
        )
    adds = (
        client.update_item(
            TableName=name,
            Key=key("alex", 1),
            UpdateExpression="ADD seen :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        for _ in range(20)
    )
    await asyncio.gather(*adds)
    found = await client.get_item(TableName=name, Key=key("alex", 1))
    assert found["Item"]["seen"] == {"N": "20"}


async def aioboto3_pages(client: Any, name: str) -> None:
    for number in range(50):
        item = {**key("sam", number), "status": {"S": "paid"}, "text": {"S": LARGE}}
        await client.put_item(TableName=name, Item=item)
    pages = client.get_paginator("query").paginate(
        TableName=name,
        IndexName="ByStatus",
        KeyConditionExpression="#status = :paid",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":paid": {"S": "paid"}},
    )
    sizes = [page["Count"] async for page in pages]
    assert len(sizes) == 2 and sum(sizes) == 50


async def aioboto3_transactions(client: Any, name: str) -> None:
    put = {"Put": {"TableName": name, "Item": key("lee", 1)}}
    check = {
        "ConditionCheck": {
            "TableName": name,
            "Key": key("nobody", 0),
            "ConditionExpression": "attribute_exists(customer)",
        }
    }
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        await client.transact_write_items(TransactItems=[put, check])
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    await client.transact_write_items(TransactItems=[put])
    assert "Item" in await client.get_item(TableName=name, Key=key("lee", 1))


def test_the_aws_cli(url: str) -> None:
    if not AWS.exists():
        pytest.skip("the AWS CLI's round is in `make compat`")
    name = "--table-name=Cli"
    described = aws(url, "create-table", "--cli-input-json", json.dumps(table("Cli")))
    assert described["TableDescription"]["TableName"] == "Cli"
    aws(url, "wait", "table-exists", name)
    for number in range(5):
        item = {**key("alex", number), "status": {"S": "open"}}
        aws(url, "put-item", name, "--item", json.dumps(item))
    found = aws(url, "get-item", name, "--key", json.dumps(key("alex", 3)))
    assert found == {"Item": {**key("alex", 3), "status": {"S": "open"}}}
    values = json.dumps({":alex": {"S": "alex"}})
    condition = ["--key-condition-expression", "customer = :alex"]
    queried = aws(
        url, "query", name, *condition, "--expression-attribute-values", values, "--page-size", "2"
    )
    assert [item["number"]["N"] for item in queried["Items"]] == ["0", "1", "2", "3", "4"]
    refused = run_aws(
        url,
        *("put-item", name, "--item", json.dumps(key("alex", 3))),
        *("--condition-expression", "attribute_not_exists(customer)"),
    )
    assert refused.returncode in (254, 255)  # of version 2 and of version 1
    assert "(ConditionalCheckFailedException)" in refused.stderr
    aws(url, "delete-table", name)
    assert aws(url, "list-tables") == {"TableNames": []}


def test_the_new_operations_of_the_aws_cli(url: str) -> None:
    if not AWS.exists():
        pytest.skip("the AWS CLI's round is in `make compat`")
    name = "--table-name=CliNew"
    created = aws(url, "create-table", "--cli-input-json", json.dumps(table("CliNew")))
    arn = created["TableDescription"]["TableArn"]
    cli_statements(url)
    cli_copies(url, name, arn)
    cli_replicas(url, name)
    cli_states(url, name, arn)


def cli_statements(url: str) -> None:
    insert = "INSERT INTO CliNew VALUE {'customer': 'alex', 'number': 1}"
    aws(url, "execute-statement", "--statement", insert)
    select = "SELECT * FROM CliNew WHERE customer = 'alex'"
    assert aws(url, "execute-statement", "--statement", select)["Items"] == [key("alex", 1)]
    one = f'{select} AND "number" = 1'
    statements = json.dumps([{"Statement": one}])
    batch = aws(url, "batch-execute-statement", "--statements", statements)
    assert batch["Responses"] == [{"TableName": "CliNew", "Item": key("alex", 1)}]
    read = aws(url, "execute-transaction", "--transact-statements", statements)
    assert read["Responses"] == [{"Item": key("alex", 1)}]


def cli_copies(url: str, name: str, arn: str) -> None:
    recovery = "PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=7"
    specification = ("--point-in-time-recovery-specification", recovery)
    aws(url, "update-continuous-backups", name, *specification)
    made = aws(url, "create-backup", name, "--backup-name", "mine")["BackupDetails"]["BackupArn"]
    backup = ("--backup-arn", made)

    def about_backup() -> Any:
        return aws(url, "describe-backup", *backup)["BackupDescription"]["BackupDetails"]

    until(lambda: about_backup()["BackupStatus"] == "AVAILABLE")
    aws(url, "restore-table-from-backup", "--target-table-name", "CliOld", *backup)
    source = ("--source-table-name", "CliNew", "--target-table-name", "CliLatest")
    aws(url, "restore-table-to-point-in-time", *source, "--use-latest-restorable-time")
    for copy in ("CliOld", "CliLatest"):
        aws(url, "wait", "table-exists", "--table-name", copy)
        assert aws(url, "scan", "--table-name", copy)["Items"] == [key("alex", 1)]
    listed = aws(url, "list-backups", name)["BackupSummaries"]
    assert [each["BackupArn"] for each in listed] == [made]
    aws(url, "delete-backup", *backup)
    begun = aws(url, "export-table-to-point-in-time", "--table-arn", arn, "--s3-bucket", BUCKET)
    export = ("--export-arn", begun["ExportDescription"]["ExportArn"])

    def about_export() -> Any:
        return aws(url, "describe-export", *export)["ExportDescription"]

    until(lambda: about_export()["ExportStatus"] == "COMPLETED")
    data = f"{about_export()['ExportManifest'].rpartition('/')[0]}/data/"
    imported = aws(
        url,
        *("import-table", "--s3-bucket-source", f"S3Bucket={BUCKET},S3KeyPrefix={data}"),
        *("--input-format", "DYNAMODB_JSON", "--input-compression-type", "GZIP"),
        *("--table-creation-parameters", json.dumps(table("CliCopy"))),
    )["ImportTableDescription"]["ImportArn"]

    def about_import() -> Any:
        described = aws(url, "describe-import", "--import-arn", imported)
        return described["ImportTableDescription"]

    until(lambda: about_import()["ImportStatus"] == "COMPLETED")
    assert about_import()["ImportedItemCount"] == 1
    assert len(aws(url, "list-exports")["ExportSummaries"]) == 1
    assert len(aws(url, "list-imports")["ImportSummaryList"]) == 1


def cli_replicas(url: str, name: str) -> None:
    def states() -> list[str]:
        replicas = aws(url, "describe-table", name)["Table"].get("Replicas", [])
        return [each["ReplicaStatus"] for each in replicas]

    for verb, wanted in (("Create", ["ACTIVE"]), ("Delete", [])):
        update = json.dumps([{verb: {"RegionName": AWAY}}])
        aws(url, "update-table", name, "--replica-updates", update)
        until(lambda wanted=wanted: states() == wanted)  # type: ignore[misc]


def cli_states(url: str, name: str, arn: str) -> None:
    statement = {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:Scan", "Resource": arn}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    resource = ("--resource-arn", arn)
    aws(url, "put-resource-policy", *resource, "--policy", json.dumps(policy))
    assert json.loads(aws(url, "get-resource-policy", *resource)["Policy"]) == policy
    aws(url, "delete-resource-policy", *resource)
    enable = ("--contributor-insights-action", "ENABLE")
    aws(url, "update-contributor-insights", name, *enable)
    insights = aws(url, "describe-contributor-insights", name)
    assert insights["ContributorInsightsStatus"] in ("ENABLING", "ENABLED")
    stream = ("--stream-arn", f"arn:aws:kinesis:us-east-1:{arn.split(':')[4]}:stream/changes")
    aws(url, "enable-kinesis-streaming-destination", name, *stream)
    found = aws(url, "describe-kinesis-streaming-destination", name)
    assert len(found["KinesisDataStreamDestinations"]) == 1


def aws(url: str, *arguments: str) -> Any:
    """What a verb of `aws dynamodb` prints."""
    done = run_aws(url, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout or "null")


def run_aws(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_PAGER": "",
    }
    return subprocess.run(
        [AWS, "dynamodb", *arguments, "--endpoint-url", url, "--output", "json"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
