"""ImportTable and its sisters: a table from files in a folder that stands for S3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.formats import item_line
from bigtime.wire import (
    ImportConflictException,
    ImportNotFoundException,
    Item,
    ResourceInUseException,
    ResourceNotFoundException,
    Response,
    ValidationException,
)
from tests.cli.program import server
from tests.engine.calls import call, key_schema, n, refusal_of, s
from tests.formats.test_lines import EVERY_TYPE

TABLE = {
    "TableName": "Films",
    "AttributeDefinitions": [
        {"AttributeName": "id", "AttributeType": "S"},
        {"AttributeName": "year", "AttributeType": "N"},
    ],
    "KeySchema": key_schema("id"),
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_year",
            "KeySchema": key_schema("year"),
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def engine(tmp_path: Path, bucket: Path) -> Any:
    with Engine.open(tmp_path / "films.db", durability="relaxed", housekeeping=False) as engine:
        yield engine


def start(engine: Engine, **changes: Any) -> Response:
    params = {
        "S3BucketSource": {"S3Bucket": "films-bucket"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": TABLE,
        **changes,
    }
    description: Response = call(engine, "ImportTable", **params)["ImportTableDescription"]
    return description


def finish(engine: Engine, started: Response) -> Response:
    engine.tidy()
    return describe(engine, started)


def describe(engine: Engine, started: Response) -> Response:
    found = call(engine, "DescribeImport", ImportArn=started["ImportArn"])
    description: Response = found["ImportTableDescription"]
    return description


def scan(engine: Engine) -> list[Item]:
    return sorted(
        call(engine, "Scan", TableName="Films")["Items"], key=lambda item: item["id"]["S"]
    )


def lines(*items: Item) -> bytes:
    return b"".join(map(item_line, items))


def test_an_import_makes_the_table_with_its_indexes(engine: Engine, bucket: Path) -> None:
    other: Item = {"id": s("b"), "year": n(1985)}
    (bucket / "one.json").write_bytes(lines(EVERY_TYPE))
    (bucket / "two.json").write_bytes(lines(other))
    started = start(engine)
    assert started["ImportStatus"] == "IN_PROGRESS"
    assert started["TableArn"].endswith(":table/Films")
    assert started["ImportArn"].startswith(f"{started['TableArn']}/import/0")
    ended = finish(engine, started)
    assert ended["ImportStatus"] == "COMPLETED"
    assert (ended["ProcessedItemCount"], ended["ImportedItemCount"], ended["ErrorCount"]) == (
        2,
        2,
        0,
    )
    size = sum(path.stat().st_size for path in bucket.iterdir())
    assert ended["ProcessedSizeBytes"] == size
    assert ended["EndTime"] >= ended["StartTime"]
    assert scan(engine) == [EVERY_TYPE, other]
    found = call(
        engine,
        "Query",
        TableName="Films",
        IndexName="by_year",
        KeyConditionExpression="#y = :y",
        ExpressionAttributeNames={"#y": "year"},
        ExpressionAttributeValues={":y": n(1985)},
    )
    assert found["Items"] == [other]
    table = call(engine, "DescribeTable", TableName="Films")["Table"]
    assert (table["TableStatus"], table["ItemCount"]) == ("ACTIVE", 2)


def test_a_table_is_creating_until_its_import_has_ended(engine: Engine, bucket: Path) -> None:
    (bucket / "one.json").write_bytes(lines({"id": s("a")}))
    started = start(engine)
    table = call(engine, "DescribeTable", TableName="Films")["Table"]
    assert (table["TableStatus"], table["TableId"]) == ("CREATING", started["TableId"])
    assert call(engine, "ListTables")["TableNames"] == ["Films"]
    with pytest.raises(ResourceNotFoundException):
        call(engine, "Scan", TableName="Films")
    expiry = {"Enabled": True, "AttributeName": "expires"}
    name = {"TableName": "Films"}
    in_use = "Attempt to change a resource which is still in use: Table"
    for operation, params, message in (
        ("CreateTable", TABLE, " is being created: Films"),
        ("DeleteTable", name, " is being created: Films"),
        ("UpdateTable", {**name, "TableClass": "STANDARD"}, " is being created: Films"),
        (
            "UpdateTimeToLive",
            {**name, "TimeToLiveSpecification": expiry},
            " Films is being created",
        ),
    ):
        with pytest.raises(ResourceInUseException, match=f"{in_use}{message}$"):
            call(engine, operation, **params)
    with pytest.raises(ValidationException, match="Current table state is CREATING"):
        call(engine, "DescribeTimeToLive", **name)
    assert call(engine, "DescribeContinuousBackups", **name)
    with pytest.raises(ResourceInUseException, match="Table already exists: Films"):
        start(engine)
    finish(engine, started)
    assert scan(engine) == [{"id": s("a")}]
    call(engine, "DeleteTable", TableName="Films")
    assert describe(engine, started)["ImportStatus"] == "COMPLETED"


def test_gzip_prefixes_and_later_items_of_the_same_key(engine: Engine, bucket: Path) -> None:
    (bucket / "in").mkdir()
    (bucket / "in" / "1.gz").write_bytes(gzip.compress(lines({"id": s("a"), "v": n(1)})))
    (bucket / "in" / "2.gz").write_bytes(gzip.compress(lines({"id": s("a"), "v": n(2)})))
    (bucket / "input.gz").write_bytes(b"never read")
    source = {"S3Bucket": "films-bucket", "S3KeyPrefix": "in/"}
    started = start(engine, S3BucketSource=source, InputCompressionType="GZIP")
    ended = finish(engine, started)
    assert (ended["ImportStatus"], ended["ImportedItemCount"]) == ("COMPLETED", 2)
    assert scan(engine) == [{"id": s("a"), "v": n(2)}]


def test_csv_with_its_options(engine: Engine, bucket: Path) -> None:
    (bucket / "films.csv").write_text('a;1985;"Brazil; the film"\nb;;\n')
    csv = {"Delimiter": ";", "HeaderList": ["id", "year", "title"]}
    ended = finish(engine, start(engine, InputFormat="CSV", InputFormatOptions={"Csv": csv}))
    assert ended["ImportStatus"] == "COMPLETED"
    assert ended["InputFormatOptions"] == {"Csv": csv}
    assert scan(engine) == [
        {"id": s("a"), "year": n(1985), "title": s("Brazil; the film")},
        {"id": s("b"), "title": s("")},
    ]


def test_bad_lines_are_counted_and_logged(engine: Engine, bucket: Path) -> None:
    good = lines({"id": s("a")})
    refused = lines({"id": n(1)}, {"id": s("b"), "year": s("x")}, {"title": s("no key")})
    (bucket / "1.json").write_bytes(good + refused + lines({"id": s("c")}))
    (bucket / "2.json").write_bytes(lines({"id": s("d")}) + b"{broken\n" + lines({"id": s("e")}))
    (bucket / "3.json").write_bytes(lines({"id": s("f")}))
    ended = finish(engine, start(engine))
    assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert ended["FailureMessage"].startswith("Some of the items failed validation checks")
    assert (ended["ErrorCount"], ended["ImportedItemCount"], ended["ProcessedItemCount"]) == (
        4,
        4,
        8,
    )
    assert [item["id"]["S"] for item in scan(engine)] == ["a", "c", "d", "f"]
    (log,) = (bucket.parent / "_imports").iterdir()
    assert str(log) in ended["FailureMessage"]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    places = [
        (entry["itemS3Pointer"]["key"], entry["itemS3Pointer"]["itemIndex"]) for entry in entries
    ]
    assert places == [("1.json", 2), ("1.json", 3), ("1.json", 4), ("2.json", 2)]
    assert "Type mismatch for key id expected: S actual: N" in entries[0]["errorMessages"][0]
    assert "The rest of the file was not read." in entries[3]["errorMessages"][0]


def test_damaged_gzip_is_an_error_of_its_file(engine: Engine, bucket: Path) -> None:
    packed = gzip.compress(lines(*({"id": s(f"{i:05}" * 9)} for i in range(9000))))
    (bucket / "1.gz").write_bytes(packed[: len(packed) // 2])
    (bucket / "2.gz").write_bytes(gzip.compress(lines({"id": s("z")})))
    ended = finish(engine, start(engine, InputCompressionType="GZIP"))
    assert (ended["ImportStatus"], ended["ErrorCount"]) == ("FAILED", 1)
    assert call(engine, "Scan", TableName="Films", Select="COUNT")["Count"] > 1000
    (log,) = (bucket.parent / "_imports").iterdir()
    assert "1.gz, after line" in log.read_text()


@pytest.mark.parametrize("name", ["missing-bucket", "linked"])
def test_a_bucket_that_is_not_there_fails(
    engine: Engine, bucket: Path, tmp_path: Path, name: str
) -> None:
    (bucket.parent / "linked").symlink_to(tmp_path)
    ended = finish(engine, start(engine, S3BucketSource={"S3Bucket": name}))
    assert ended["ImportStatus"] == "FAILED"
    assert ended["FailureCode"] == {"linked": "S3AccessDenied"}.get(name, "S3NoSuchBucket")
    assert call(engine, "ListTables")["TableNames"] == []
    call(engine, "CreateTable", **TABLE)


def test_what_is_not_supported_is_refused_by_name(engine: Engine) -> None:
    for changes, name in (
        ({"InputFormat": "ION"}, "Amazon Ion"),
        ({"InputCompressionType": "ZSTD"}, "ZSTD"),
        ({"InputFormatOptions": {"Csv": {"Delimiter": ";"}}}, "InputFormatOptions"),
        ({"S3BucketSource": {"S3Bucket": "../films"}}, "s3Bucket"),
        ({"TableCreationParameters": {**TABLE, "KeySchema": key_schema("other")}}, "Keys: .other."),
    ):
        with pytest.raises(ValidationException, match=name):
            start(engine, **changes)


def test_a_client_token_makes_an_import_once(engine: Engine, bucket: Path) -> None:
    (bucket / "1.json").write_bytes(lines({"id": s("a")}))
    started = start(engine, ClientToken="once")
    # DDB-IMPORT-017 of https://github.com/aws-controllers-k8s/dynamodb-controller
    for changes in ({}, {"InputCompressionType": "GZIP"}, {"S3BucketSource": {"S3Bucket": "new"}}):
        again = start(engine, ClientToken="once", **changes)
        assert again["ImportArn"] == started["ImportArn"]
    other = {**TABLE, "TableName": "Others"}
    with pytest.raises(ImportConflictException, match="Import conflict: Duplicate request"):
        start(engine, ClientToken="once", TableCreationParameters=other)
    assert finish(engine, started)["ClientToken"] == "once"
    with pytest.raises(ResourceInUseException, match="Table already exists: Films"):
        start(engine, ClientToken="once")
    call(engine, "DeleteTable", TableName="Films")
    after = start(engine, ClientToken="once")
    assert (after["ImportArn"], after["ImportStatus"]) == (started["ImportArn"], "COMPLETED")
    assert call(engine, "ListTables")["TableNames"] == []


def test_imports_are_listed_in_pages(engine: Engine, bucket: Path) -> None:
    names = [f"Films{number}" for number in range(5)]
    for name in names:
        start(engine, TableCreationParameters={**TABLE, "TableName": name})
    engine.tidy()
    found: list[str] = []
    token: dict[str, str] = {}
    while True:
        page = call(engine, "ListImports", PageSize=2, **token)
        found += [each["TableArn"].rpartition("/")[2] for each in page["ImportSummaryList"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert sorted(found) == names
    arn = page["ImportSummaryList"][0]["TableArn"]
    assert len(call(engine, "ListImports", TableArn=arn)["ImportSummaryList"]) == 1
    with pytest.raises(ImportNotFoundException):
        call(engine, "DescribeImport", ImportArn=f"{arn}/import/01234567890123-a1b2c3d4")
    for path in ("", "/export/01234567890123-a1b2c3d4"):
        refusal = refusal_of(engine, "DescribeImport", ImportArn=arn + path)
        assert refusal == "Invalid Import ARN"
    with pytest.raises(ValidationException):
        call(engine, "ListImports", NextToken="00" * 56)


def test_an_import_goes_on_after_a_stop(
    tmp_path: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closed after every step, and every third one undone: each line is counted once."""
    from bigtime.engine.housekeeping import imports as module

    monkeypatch.setattr(module, "CHUNK", 7)
    for name in ("1.csv", "2.csv"):
        rows = "".join(f"{name}-{i:03},{i}\n" for i in range(30))
        (bucket / name).write_text("id,year\n" + rows)
    (bucket / "3.csv").write_text("id,year\nx,1,2\ny,1\n")
    path = tmp_path / "films.db"
    with Engine.open(path, housekeeping=False) as engine:
        arn = start(engine, InputFormat="CSV")
    step = 0
    while True:
        step += 1
        with Engine.open(path, housekeeping=False) as engine:
            if describe(engine, arn)["ImportStatus"] != "IN_PROGRESS":
                break
            if step % 3 == 0:
                monkeypatch.setattr("bigtime.engine.storage.save_transfer", interrupt)
            engine._housekeeper.transfer()
            monkeypatch.undo()
            monkeypatch.setattr(module, "CHUNK", 7)
    with Engine.open(path, housekeeping=False) as engine:
        ended = describe(engine, arn)
        assert (ended["ImportedItemCount"], ended["ErrorCount"]) == (61, 1)
        assert len(scan(engine)) == 61
    (log,) = (bucket.parent / "_imports").iterdir()
    assert len(log.read_text().splitlines()) == 1


def interrupt(*_: object) -> None:
    raise MemoryError("the process is killed here")


def test_boto3_imports_over_http(tmp_path: Path) -> None:
    (tmp_path / "s3" / "films-bucket").mkdir(parents=True)
    (tmp_path / "s3" / "films-bucket" / "1.json").write_bytes(lines(EVERY_TYPE))
    with server("--memory", "--s3", tmp_path / "s3") as running:
        client = boto3_client(running.url)
        started = client.import_table(
            S3BucketSource={"S3Bucket": "films-bucket"},
            InputFormat="DYNAMODB_JSON",
            TableCreationParameters=TABLE,
        )["ImportTableDescription"]
        client.get_waiter("table_exists").wait(
            TableName="Films", WaiterConfig={"Delay": 1, "MaxAttempts": 60}
        )
        found = client.describe_import(ImportArn=started["ImportArn"])["ImportTableDescription"]
        assert found["ImportStatus"] == "COMPLETED"
        (listed,) = client.list_imports()["ImportSummaryList"]
        assert listed["ImportArn"] == started["ImportArn"]
        (item,) = client.scan(TableName="Films")["Items"]
        assert item["binary"] == {"B": b"\x00\x01\x02\x03\x04"}
        with pytest.raises(client.exceptions.ImportNotFoundException):
            client.describe_import(ImportArn=started["ImportArn"] + "0")


def boto3_client(url: str) -> Any:
    boto3 = pytest.importorskip("boto3")
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
