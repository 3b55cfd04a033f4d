"""StartBulkPutItems and its sisters: items from files in a folder that stands for S3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.housekeeping import imports
from bigtime.formats import item_line
from bigtime.wire import (
    IdempotentParameterMismatchException,
    Item,
    ResourceInUseException,
    ResourceNotFoundException,
    Response,
)
from tests.cli.program import server
from tests.engine.calls import add_index, call, index, key_schema, make_table, n, refusal_of, s
from tests.engine.test_imports import boto3_client

TABLE = "Films"


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    for name in ("films", "reports"):
        (tmp_path / "films.db-s3" / name).mkdir(parents=True)
    return tmp_path / "films.db-s3" / "films"


@pytest.fixture
def engine(tmp_path: Path, bucket: Path) -> Any:
    with Engine.open(tmp_path / "films.db", durability="relaxed", housekeeping=False) as engine:
        make_table(
            engine,
            {"id": "S", "year": "N"},
            name=TABLE,
            keys=("id",),
            globally=(index("by-year", key_schema("year")),),
        )
        yield engine


def start(engine: Any, **changes: Any) -> Response:
    params = {
        "TableName": TABLE,
        "InputS3Configuration": {"S3Bucket": "films", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            "S3Bucket": "reports",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        **changes,
    }
    started: Response = call(engine, "StartBulkPutItems", **params)["BulkOperationDescription"]
    return started


def describe(engine: Engine, started: Response) -> Response:
    asked = call(engine, "DescribeBulkOperation", BulkOperationArn=started["BulkOperationArn"])
    found: Response = asked["BulkOperationDescription"]
    return found


def finish(engine: Engine, started: Response) -> Response:
    engine.tidy()
    return describe(engine, started)


def scan(engine: Engine) -> dict[str, Item]:
    items = call(engine, "Scan", TableName=TABLE)["Items"]
    return {item["id"]["S"]: item for item in items}


def film(id: str, year: int, **others: Any) -> Item:
    return {"id": s(id), "year": n(year), **others}


def lines(*items: Item) -> bytes:
    return b"".join(map(item_line, items))


def conditional(item: Item, condition: str, **values: Any) -> bytes:
    line: dict[str, Any] = {"Item": item, "ConditionExpression": condition}
    if values:
        line["ExpressionAttributeValues"] = {f":{k}": v for k, v in values.items()}
    return json.dumps(line).encode() + b"\n"


def report(bucket: Path, started: Response, kind: str) -> list[Any]:
    id = started["BulkOperationArn"].rpartition("/")[2]
    path = bucket.parent / "reports" / "AWSDynamoDB" / id / f"{kind}.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def test_items_are_put_into_the_table_and_its_indexes(engine: Engine, bucket: Path) -> None:
    call(engine, "PutItem", TableName=TABLE, Item=film("a", 1950))
    (bucket / "1.json").write_bytes(lines(film("a", 1999), film("b", 2000)))
    started = start(engine)
    assert started["BulkOperationStatus"] == "IN_PROGRESS" and "EndTime" not in started
    done = finish(engine, started)
    assert done["BulkOperationStatus"] == "COMPLETED" and "EndTime" in done
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (2, 0)
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"]
    size = sum(len(f"id{id}year") + 3 for id in "ab")
    (usage,) = done["BulkOperationUsage"]
    assert usage["Table"]["BulkPutBytes"] <= size + 2
    assert usage["GlobalSecondaryIndexes"]["by-year"] == usage["Table"]
    assert scan(engine) == {"a": film("a", 1999), "b": film("b", 2000)}
    found = call(
        engine,
        "Query",
        TableName=TABLE,
        IndexName="by-year",
        KeyConditionExpression="#y = :y",
        ExpressionAttributeNames={"#y": "year"},
        ExpressionAttributeValues={":y": n(1950)},
    )
    assert found["Count"] == 0


def test_what_cannot_be_put_is_counted_and_reported(engine: Engine, bucket: Path) -> None:
    wrong = film("b", 2000) | {"year": s("no year")}
    (bucket / "1.json").write_bytes(lines(film("a", 1), wrong, {"year": n(1)}, film("c", 1)))
    started = start(engine)
    done = finish(engine, started)
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (4, 2)
    assert "FailureCode" not in done
    assert set(scan(engine)) == {"a", "c"}
    entries = report(bucket, started, "ERROR")
    assert [entry["itemS3Pointer"]["itemIndex"] for entry in entries] == [2, 3]
    assert "Type mismatch" in entries[0]["errorMessages"][0]
    assert report(bucket, started, "CONDITION_CHECK_FAILURE") == []


def test_the_rest_of_a_file_after_a_line_that_is_no_json_is_left_out(
    engine: Engine, bucket: Path
) -> None:
    (bucket / "1.json").write_bytes(lines(film("a", 1)) + b"{no\n" + lines(film("b", 1)))
    (bucket / "2.json.gz").write_bytes(lines(film("c", 1)))
    done = finish(engine, start(engine))
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert set(scan(engine)) == {"a", "c"}


def test_items_are_put_under_their_conditions(engine: Engine, bucket: Path) -> None:
    call(engine, "PutItem", TableName=TABLE, Item=film("a", 1950))
    (bucket / "1.json").write_bytes(
        conditional(film("a", 1999), "attribute_not_exists(id)")
        + conditional(film("b", 2000), "attribute_not_exists(id)")
        + conditional(film("a", 2001), "#y < :y", y=n(1900))
        + conditional(film("c", 2001), "attribute_exists(id")
    )
    started = start(engine)
    done = finish(engine, started)
    assert scan(engine) == {"a": film("a", 1950), "b": film("b", 2000)}
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (4, 2)
    (failed,) = report(bucket, started, "CONDITION_CHECK_FAILURE")
    assert failed["attemptedItem"] == film("a", 1999)
    assert failed["existingItem"] == film("a", 1950)


def test_failed_conditions_alone_are_no_errors(engine: Engine, bucket: Path) -> None:
    (bucket / "1.json").write_bytes(conditional(film("a", 1), "attribute_exists(id)"))
    output = {"S3Bucket": "reports", "OutputType": ["ERROR"]}
    started = start(engine, OutputS3Configuration=output)
    done = finish(engine, started)
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (1, 0)
    assert report(bucket, started, "CONDITION_CHECK_FAILURE") == []


def test_compressed_files_under_a_prefix(engine: Engine, bucket: Path) -> None:
    (bucket / "in").mkdir()
    (bucket / "in" / "1.json.gz").write_bytes(gzip.compress(lines(film("a", 1))))
    (bucket / "other.json").write_bytes(b"{")
    source = {
        "S3Bucket": "films",
        "S3KeyPrefix": "in/",
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
    }
    done = finish(engine, start(engine, InputS3Configuration=source))
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"]
    assert set(scan(engine)) == {"a"}


@pytest.mark.parametrize("seed", range(3))
def test_an_operation_goes_on_where_it_was_stopped(
    tmp_path: Path, bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A process that ends in the middle leaves the rest to the next one, and nothing is lost."""
    monkeypatch.setattr(imports, "CHUNK", 3 + seed)
    films = [film(f"{place:02}", place) for place in range(20)]
    films[7]["year"] = s("wrong")
    (bucket / "1.json").write_bytes(lines(*films[:12]))
    (bucket / "2.json").write_bytes(lines(*films[12:]))
    started = start(engine)
    for _ in range(3):
        engine._housekeeper._bulk_puts.advance()
    partly = describe(engine, started)
    assert 0 < partly["ProcessedItemCount"] < 20
    engine.close()
    with Engine.open(tmp_path / "films.db", durability="relaxed", housekeeping=False) as again:
        done = finish(again, started)
        assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (20, 1)
        assert len(scan(again)) == 19
    assert len(report(bucket, started, "ERROR")) == 1


def test_a_cancelled_operation_stops_and_keeps_what_it_wrote(
    engine: Engine, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 2)
    (bucket / "1.json").write_bytes(lines(*(film(str(place), place) for place in range(9))))
    started = start(engine)
    arn = {"BulkOperationArn": started["BulkOperationArn"]}
    for _ in range(2):
        engine._housekeeper._bulk_puts.advance()
    cancelled = call(engine, "CancelBulkOperation", **arn)
    assert cancelled == {**arn, "BulkOperationStatus": "CANCELLING"}
    done = finish(engine, started)
    assert done["BulkOperationStatus"] == "CANCELLED"
    assert done["FailureCode"] == "OperationCancelled" and "EndTime" in done
    assert len(scan(engine)) == 2
    assert "CANCELLED cannot be cancelled" in refusal_of(engine, "CancelBulkOperation", **arn)


def test_a_client_token_starts_one_operation(engine: Engine, bucket: Path) -> None:
    (bucket / "1.json").write_bytes(lines(film("a", 1)))
    first = start(engine, ClientToken="t")
    assert start(engine, ClientToken="t")["BulkOperationArn"] == first["BulkOperationArn"]
    with pytest.raises(IdempotentParameterMismatchException):
        start(engine, ClientToken="t", MaxWriteRequestUnits=2048)


def test_failures_are_named(engine: Engine, bucket: Path) -> None:
    source = {"S3Bucket": "no-bucket", "InputFormat": "DYNAMODB_JSON"}
    done = finish(engine, start(engine, InputS3Configuration=source))
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    output = {"S3Bucket": "no-bucket", "OutputType": ["ERROR"]}
    done = finish(engine, start(engine, OutputS3Configuration=output))
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    (bucket / "1.json").write_bytes(lines(film("a", 1)))
    started = start(engine)
    call(engine, "DeleteTable", TableName=TABLE)
    make_table(engine, {"id": "S"}, name=TABLE, keys=("id",))
    done = finish(engine, started)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "TableNotFound")
    assert scan(engine) == {}


def test_refusals(engine: Engine, bucket: Path) -> None:
    def refusal_with(**params: Any) -> str:
        given = {
            "TableName": TABLE,
            "InputS3Configuration": {"S3Bucket": "films", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "reports", "OutputType": ["ERROR"]},
            **params,
        }
        return refusal_of(engine, "StartBulkPutItems", **given)

    ion = {"S3Bucket": "films", "InputFormat": "ION"}
    zstd = {
        "S3Bucket": "films",
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "ZSTD",
    }
    assert "InputFormat ION" in refusal_with(InputS3Configuration=ion)
    assert "ZSTD" in refusal_with(InputS3Configuration=zstd)
    assert "OutputType" in refusal_with(
        OutputS3Configuration={"S3Bucket": "reports", "OutputType": []}
    )
    assert "1024" in refusal_with(MaxWriteRequestUnits=5)
    with pytest.raises(ResourceNotFoundException):
        start(engine, TableName="Nothing")
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Films/bulk-operation/1"
    with pytest.raises(ResourceNotFoundException):
        describe(engine, {"BulkOperationArn": arn})
    start(engine)
    with pytest.raises(ResourceInUseException):
        start(engine)


def test_no_operation_starts_while_an_index_is_created(engine: Engine, bucket: Path) -> None:
    for start_at in range(0, 1_100, 25):
        puts = [{"PutRequest": {"Item": film(str(i), i)}} for i in range(start_at, start_at + 25)]
        call(engine, "BatchWriteItem", RequestItems={TABLE: puts})
    add_index(engine, TABLE, index("again", key_schema("year")), year="N")
    with pytest.raises(ResourceInUseException):
        start(engine)


def test_operations_are_listed_newest_first(engine: Engine, bucket: Path) -> None:
    started = []
    for _ in range(3):
        started.append(start(engine)["BulkOperationArn"])
        engine.tidy()
    first = call(engine, "ListBulkOperations", MaxResults=2)
    rest = call(engine, "ListBulkOperations", NextToken=first["NextToken"])
    listed = first["BulkOperationsSummaryList"] + rest["BulkOperationsSummaryList"]
    assert [each["BulkOperationArn"] for each in listed] == started[::-1]
    assert {each["BulkOperationStatus"] for each in listed} == {"COMPLETED"}
    assert "NextToken" not in rest


def test_boto3_puts_in_bulk_over_http(tmp_path: Path) -> None:
    for name in ("films", "reports"):
        (tmp_path / "s3" / name).mkdir(parents=True)
    (tmp_path / "s3" / "films" / "1.json").write_bytes(lines(film("a", 1999)))
    with server("--memory", "--s3", tmp_path / "s3") as running:
        client = boto3_client(running.url)
        if not hasattr(client, "start_bulk_put_items"):
            pytest.skip("this boto3 does not know StartBulkPutItems")
        client.create_table(
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
        )
        arn = client.start_bulk_put_items(
            TableName=TABLE,
            InputS3Configuration={"S3Bucket": "films", "InputFormat": "DYNAMODB_JSON"},
            OutputS3Configuration={"S3Bucket": "reports", "OutputType": ["ERROR"]},
        )["BulkOperationDescription"]["BulkOperationArn"]
        found: Any = {"BulkOperationStatus": "IN_PROGRESS"}
        while found["BulkOperationStatus"] == "IN_PROGRESS":
            described = client.describe_bulk_operation(BulkOperationArn=arn)
            found = described["BulkOperationDescription"]
        assert found["BulkOperationStatus"] == "COMPLETED"
        assert client.scan(TableName=TABLE)["Items"] == [film("a", 1999)]
        (listed,) = client.list_bulk_operations()["BulkOperationsSummaryList"]
        assert listed["BulkOperationArn"] == arn
