"""ExportTableToPointInTime and its sisters: the items of a moment, and what changed between two."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.housekeeping import exports as exports_module
from bigtime.engine.storage import point_in_time
from bigtime.formats import FileWriter, find_exports, read_export
from bigtime.wire import (
    DynamoDBError,
    ExportConflictException,
    ExportNotFoundException,
    InvalidExportTimeException,
    Item,
    PointInTimeRecoveryUnavailableException,
    Response,
    TableNotFoundException,
    ValidationException,
)
from tests.cli.program import server
from tests.engine.calls import call, key_schema, n, refusal_of, s
from tests.engine.test_imports import TABLE, boto3_client
from tests.formats.test_lines import EVERY_TYPE
from tests.strategies import fewer_examples

START = 1_800_000_000.0
FILMS: dict[str, Any] = {
    "TableName": "Films",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": key_schema("id"),
    "BillingMode": "PAY_PER_REQUEST",
}


VALUES: dict[str, Any] = {"ExpressionAttributeValues": {":v": n(1)}}
IN_A: dict[str, Any] = {
    "KeyConditionExpression": "id = :a",
    "ExpressionAttributeValues": {":a": s("a"), ":v": n(1)},
}


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path, clock: Clock, bucket: Path) -> Any:
    with Engine.open(
        tmp_path / "films.db", durability="relaxed", clock=clock, housekeeping=False
    ) as engine:
        call(engine, "CreateTable", **FILMS)
        recover(engine)
        yield engine


def recover(engine: Engine, table: str = "Films") -> None:
    call(
        engine,
        "UpdateContinuousBackups",
        TableName=table,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )


def arn(engine: Engine, name: str = "Films") -> str:
    table: str = call(engine, "DescribeTable", TableName=name)["Table"]["TableArn"]
    return table


def put(engine: Engine, item: Item) -> None:
    call(engine, "PutItem", TableName="Films", Item=item)


def delete(engine: Engine, id: str) -> None:
    call(engine, "DeleteItem", TableName="Films", Key={"id": s(id)})


def start(engine: Engine, **params: Any) -> Response:
    given = {"TableArn": arn(engine), "S3Bucket": "films-bucket", **params}
    description: Response = call(engine, "ExportTableToPointInTime", **given)["ExportDescription"]
    return description


def describe(engine: Engine, started: Response) -> Response:
    found = call(engine, "DescribeExport", ExportArn=started["ExportArn"])
    description: Response = found["ExportDescription"]
    return description


def export(engine: Engine, **params: Any) -> Response:
    started = start(engine, **params)
    assert started["ExportStatus"] == "IN_PROGRESS"
    engine.tidy()
    return describe(engine, started)


def lines_of(bucket: Path, ended: Response) -> list[Any]:
    """Every line of an export, as its manifests list them."""
    folder = bucket / Path(ended["ExportManifest"]).parent
    lines = [
        orjson.loads(line)
        for file in read_export(folder).files
        for line in gzip.decompress(file.path.read_bytes()).splitlines()
    ]
    assert len(lines) == ended["ItemCount"]
    return lines


def exported_items(bucket: Path, ended: Response) -> list[Item]:
    items = [line["Item"] for line in lines_of(bucket, ended)]
    return sorted(items, key=lambda item: item["id"]["S"])


# --- Full exports -------------------------------------------------------------------------


def test_a_full_export_has_every_item_and_awss_layout(engine: Engine, bucket: Path) -> None:
    put(engine, EVERY_TYPE)
    put(engine, {"id": s("b")})
    ended = export(engine, S3Prefix="2027/spring")
    assert ended["ExportStatus"] == "COMPLETED"
    assert exported_items(bucket, ended) == [EVERY_TYPE, {"id": s("b")}]
    id = ended["ExportArn"].rpartition("/")[2]
    assert ended["ExportManifest"] == f"2027/spring/AWSDynamoDB/{id}/manifest-summary.json"
    summary = json.loads((bucket / ended["ExportManifest"]).read_text())
    assert summary == {
        "version": "2020-06-30",
        "exportArn": ended["ExportArn"],
        "startTime": "2027-01-15T08:00:00.000Z",
        "endTime": "2027-01-15T08:00:00.000Z",
        "tableArn": arn(engine),
        "tableId": ended["TableId"],
        "exportTime": "2027-01-15T08:00:00.000Z",
        "s3Bucket": "films-bucket",
        "s3Prefix": "2027/spring",
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"2027/spring/AWSDynamoDB/{id}/manifest-files.json",
        "billedSizeBytes": ended["BilledSizeBytes"],
        "itemCount": 2,
        "outputFormat": "DYNAMODB_JSON",
        "exportType": "FULL_EXPORT",
    }
    assert {path.name for path in (bucket / ended["ExportManifest"]).parent.iterdir()} == {
        "_started",
        "data",
        "manifest-files.md5",
        "manifest-files.json",
        "manifest-summary.md5",
        "manifest-summary.json",
    }


def test_an_export_is_of_its_moment(engine: Engine, bucket: Path, clock: Clock) -> None:
    put(engine, {"id": s("a"), "v": n(1)})
    put(engine, {"id": s("gone")})
    clock.now += 10
    moment = clock.now
    clock.now += 10
    put(engine, {"id": s("a"), "v": n(2)})
    put(engine, {"id": s("new")})
    delete(engine, "gone")
    earlier = start(engine, ExportTime=moment)
    now = start(engine)
    put(engine, {"id": s("late")})
    call(engine, "DeleteTable", TableName="Films")
    engine.tidy()
    assert exported_items(bucket, describe(engine, earlier)) == [
        {"id": s("a"), "v": n(1)},
        {"id": s("gone")},
    ]
    assert exported_items(bucket, describe(engine, now)) == [
        {"id": s("a"), "v": n(2)},
        {"id": s("new")},
    ]


def test_many_items_are_split_into_files(
    engine: Engine, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports_module, "FILE_BYTES", 10_000)
    for number in range(100):
        put(engine, {"id": s(f"{number:03}"), "text": s("x" * 1000)})
    ended = export(engine)
    folder = bucket / Path(ended["ExportManifest"]).parent
    assert len(read_export(folder).files) > 5
    assert len(exported_items(bucket, ended)) == 100


def test_an_export_can_be_imported(engine: Engine, bucket: Path) -> None:
    put(engine, EVERY_TYPE)
    put(engine, {"id": s("b"), "year": n(1985)})
    ended = export(engine)
    folder = Path(ended["ExportManifest"]).parent.as_posix()
    started = call(
        engine,
        "ImportTable",
        S3BucketSource={"S3Bucket": "films-bucket", "S3KeyPrefix": f"{folder}/data/"},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters={**TABLE, "TableName": "Again"},
    )["ImportTableDescription"]
    engine.tidy()
    found = call(engine, "DescribeImport", ImportArn=started["ImportArn"])
    assert found["ImportTableDescription"]["ImportStatus"] == "COMPLETED"
    items = call(engine, "Scan", TableName="Again")["Items"]
    assert sorted(items, key=lambda item: item["id"]["S"]) == exported_items(bucket, ended)


# --- Incremental exports ------------------------------------------------------------------


def incremental(engine: Engine, begin: float, end: float, **window: Any) -> Response:
    specification = {"ExportFromTime": begin, "ExportToTime": end, **window}
    return export(
        engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification
    )


def changes(bucket: Path, ended: Response) -> dict[str, Any]:
    return {line["Keys"]["id"]["S"]: line for line in lines_of(bucket, ended)}


def test_an_incremental_export_has_the_last_state_of_what_changed(
    engine: Engine, bucket: Path, clock: Clock
) -> None:
    for id in ("same", "changed", "deleted", "late"):
        put(engine, {"id": s(id), "v": n(1)})
    clock.now = begin = START + 3600
    put(engine, {"id": s("changed"), "v": n(2)})
    clock.now += 60.25
    put(engine, {"id": s("changed"), "v": n(3)})
    put(engine, {"id": s("new"), "v": n(1)})
    put(engine, {"id": s("brief")})
    delete(engine, "brief")
    delete(engine, "deleted")
    clock.now = end = begin + 1800
    put(engine, {"id": s("late"), "v": n(9)})
    put(engine, {"id": s("changed"), "v": n(9)})
    delete(engine, "new")
    clock.now += 5
    ended = incremental(engine, begin, end)
    assert ended["ExportStatus"] == "COMPLETED"
    stamp = {"WriteTimestampMicros": {"N": str(int((begin + 60.25) * 1_000_000))}}
    assert changes(bucket, ended) == {
        "changed": {
            "Metadata": stamp,
            "Keys": {"id": s("changed")},
            "OldImage": {"id": s("changed"), "v": n(1)},
            "NewImage": {"id": s("changed"), "v": n(3)},
        },
        "new": {
            "Metadata": stamp,
            "Keys": {"id": s("new")},
            "NewImage": {"id": s("new"), "v": n(1)},
        },
        "deleted": {
            "Metadata": stamp,
            "Keys": {"id": s("deleted")},
            "OldImage": {"id": s("deleted"), "v": n(1)},
        },
    }
    summary = json.loads((bucket / ended["ExportManifest"]).read_text())
    assert summary["version"] == "2023-08-01"
    assert summary["exportType"] == "INCREMENTAL_EXPORT"
    assert summary["outputView"] == "NEW_AND_OLD_IMAGES"
    assert summary["exportFromTime"] == "2027-01-15T09:00:00.000Z"
    assert "exportTime" not in summary
    assert [path.parent.name for path in (bucket / "AWSDynamoDB" / "data").iterdir()] == ["data"]
    found = changes(bucket, incremental(engine, begin, end, ExportViewType="NEW_IMAGE"))
    assert [sorted(line) for line in found.values()] == [
        sorted(["Metadata", "Keys", "NewImage"] if "NewImage" in line else ["Metadata", "Keys"])
        for line in found.values()
    ]
    assert "OldImage" not in found["changed"]


@fewer_examples()
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(0, 3), st.integers(0, 900)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 8),
)
def test_a_full_export_and_the_changes_after_it_are_the_later_state(
    writes: list[tuple[str, int, int]], keys_at_once: int
) -> None:
    """Whatever is written: state at the start + incremental export = state at the end."""
    clock = Clock()
    begin, end = START + 1000.0, START + 9000.0
    with (
        pytest.MonkeyPatch.context() as patch,
        Engine.memory(clock=clock, housekeeping=False) as engine,
    ):
        patch.setattr(point_in_time, "KEYS_AT_ONCE", keys_at_once)
        patch.setattr(point_in_time, "ITEMS_AT_ONCE", 2)
        patch.setattr(point_in_time, "CHANGES_AT_ONCE", 3)
        bucket = Path(f"{engine.path}-s3") / "films-bucket"
        bucket.mkdir(parents=True)
        call(engine, "CreateTable", **FILMS)
        recover(engine)
        for id, value, later in writes:
            clock.now += later
            if value:
                put(engine, {"id": s(id), "v": n(value)})
            else:
                delete(engine, id)
        clock.now = max(clock.now, end) + 1
        before = state_at(engine, bucket, begin)
        after = state_at(engine, bucket, end)
        for id, line in changes(bucket, incremental(engine, begin, end)).items():
            assert line.get("OldImage") == before.get(id)
            before.pop(id, None)
            if "NewImage" in line:
                before[id] = line["NewImage"]
        assert before == after


def state_at(engine: Engine, bucket: Path, moment: float) -> dict[str, Item]:
    # The window's bounds belong to what comes after them.
    ended = export(engine, ExportTime=moment - 0.000_001)
    return {item["id"]["S"]: item for item in exported_items(bucket, ended)}


def test_a_filtered_export_has_what_it_asks_for(engine: Engine, bucket: Path, clock: Clock) -> None:
    for id, value in (("a", 1), ("b", 2), ("c", 1), ("d", 1)):
        put(engine, {"id": s(id), "v": n(value), "text": s(id * 3)})
    filtered = {"FilterExpression": "v = :v", "ProjectionExpression": "id, v", **VALUES}
    ended = export(engine, FilterSpecification=filtered)
    assert ended["FilterSpecification"] == filtered
    assert exported_items(bucket, ended) == [{"id": s(id), "v": n(1)} for id in "acd"]
    by_key = {"KeyConditionExpression": "id = :a", "ExpressionAttributeValues": {":a": s("a")}}
    assert [
        item["id"] for item in exported_items(bucket, export(engine, FilterSpecification=by_key))
    ] == [s("a")]
    clock.now += 3600
    put(engine, {"id": s("a"), "v": n(9)})
    put(engine, {"id": s("b"), "v": n(1), "text": s("new")})
    delete(engine, "c")
    clock.now += 3600
    window = {"ExportFromTime": START + 1, "ExportToTime": clock.now}
    ended = export(
        engine,
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification=window,
        FilterSpecification=filtered,
    )
    found = changes(bucket, ended)
    assert sorted(found) == ["b", "c"]
    assert found["b"]["NewImage"] == {"id": s("b"), "v": n(1)}
    assert found["b"]["OldImage"] == {"id": s("b"), "v": n(2)}
    assert found["c"]["OldImage"] == {"id": s("c"), "v": n(1)}


@pytest.mark.parametrize(
    ("begin", "end", "error"),
    [
        (0, 14 * 60, InvalidExportTimeException),
        (0, 24 * 3600 + 1, InvalidExportTimeException),
        (3600, 0, InvalidExportTimeException),
        (-7200, 0, InvalidExportTimeException),
        (80_000, 90_000, InvalidExportTimeException),
    ],
)
def test_windows_that_cannot_be(
    engine: Engine, clock: Clock, begin: float, end: float, error: type[Exception]
) -> None:
    clock.now += 86_000
    with pytest.raises(error):
        incremental(engine, START + begin, START + end)


# --- Refused, failed, interrupted ---------------------------------------------------------


def export_refusal(engine: Engine, **params: Any) -> tuple[str, str]:
    with pytest.raises(DynamoDBError) as caught:
        start(engine, **params)
    return caught.value.code, str(caught.value)


def window(begin: float, end: float) -> dict[str, Any]:
    specification = {"ExportFromTime": begin, "ExportToTime": end}
    return {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": specification}


def test_refusals_are_in_the_words_that_were_seen_on_aws(engine: Engine, clock: Clock) -> None:
    """(https://github.com/aws-controllers-k8s/dynamodb-controller, docs/api-quirks/export.md)"""
    clock.now += 5000
    now = clock.now
    invalid, wrong_time = "ValidationException", "InvalidExportTimeException"
    at = "%Y-%m-%dT%H:%M:%SZ"
    early = datetime.fromtimestamp(START - 3600, UTC).strftime(at)
    late = datetime.fromtimestamp(now + 3600, UTC).strftime(at)
    assert export_refusal(engine, ExportTime=now + 5) == (wrong_time, "Export Time is invalid")
    assert export_refusal(engine, **window(START - 3600, START)) == (
        wrong_time,
        "Incremental export period from time cannot be less than the table creation time : "
        f"{early}",
    )
    assert export_refusal(engine, **window(now - 600, now + 3600)) == (
        wrong_time,
        f"Incremental export period to time cannot be greater than the current time : {late}",
    )
    no_key = "Invalid Request: KMS Key Id is not supported for this encryption type"
    assert export_refusal(engine, S3SseKmsKeyId="alias/aws/s3") == (invalid, no_key)
    assert export_refusal(engine, FilterSpecification={}) == (
        invalid,
        "Invalid Request: Invalid FilterSpecification: The specification can not be empty",
    )
    for ending in ("/index/by-title", "/stream/2026-01-01T00:00:00.000"):
        assert export_refusal(engine, TableArn=arn(engine) + ending) == (
            invalid,
            "Invalid Request: Table ARN is invalid.",
        )
    denied = ("AccessDeniedException", "Access is denied")
    assert (
        export_refusal(engine, TableArn=arn(engine).replace("000000000000", "111111111111"))
        == denied
    )


def test_an_export_that_is_not_there_is_named(engine: Engine) -> None:
    def error(operation: str, **params: Any) -> str:
        with pytest.raises(DynamoDBError) as caught:
            call(engine, operation, **params)
        return f"{caught.value.code}: {caught.value}"

    missing = arn(engine) + "/export/01234567890123-a1b2c3d4"
    absent = "ExportNotFoundException: Export not found:"
    assert error("DescribeExport", ExportArn=missing) == f"{absent} Export not found: {missing}"
    elsewhere = missing.replace("us-east-1", "us-west-2")
    assert error("DescribeExport", ExportArn=elsewhere) == f"{absent} Invalid export arn"
    others = missing.replace("000000000000", "111111111111")
    assert error("DescribeExport", ExportArn=others) == "AccessDeniedException: Access is denied"
    token = "ab" * 8
    assert error("ListExports", NextToken=token) == (
        f"ValidationException: Invalid Request: Provided nextToken is invalid: {token}"
    )


def test_an_export_has_a_token_and_no_type_that_was_not_asked_for(engine: Engine) -> None:
    first, second = start(engine), start(engine)
    assert first["ClientToken"] != second["ClientToken"]
    assert "ExportType" not in first


def test_exports_of_a_table_that_is_gone_are_described_and_not_listed_with_it(
    engine: Engine,
) -> None:
    made = export(engine)
    asked = {"TableArn": arn(engine)}
    listed = call(engine, "ListExports", **asked)["ExportSummaries"]
    assert [each["ExportArn"] for each in listed] == [made["ExportArn"]]
    call(engine, "DeleteTable", TableName="Films")
    assert call(engine, "ListExports", **asked) == {"ExportSummaries": []}
    call(engine, "CreateTable", **FILMS)
    assert call(engine, "ListExports", **asked) == {"ExportSummaries": []}
    assert call(engine, "ListExports")["ExportSummaries"] == listed
    assert call(engine, "DescribeExport", ExportArn=made["ExportArn"])["ExportDescription"] == made


def test_what_cannot_be_exported_is_refused(engine: Engine, clock: Clock) -> None:
    refused: tuple[dict[str, Any], ...] = (
        {"ExportFormat": "ION"},
        {"FilterSpecification": {}},
        {"FilterSpecification": {"FilterExpression": "a = :b"}},
        {"FilterSpecification": {"KeyConditionExpression": "v = :v", **VALUES}},
        {"FilterSpecification": {**IN_A, "FilterExpression": "id <> :v"}},
        {"IncrementalExportSpecification": {"ExportFromTime": START}},
        {"ExportType": "INCREMENTAL_EXPORT"},
        {"ExportType": "INCREMENTAL_EXPORT", "ExportTime": START},
        {"S3Bucket": "../films"},
        {"TableArn": "Films"},
    )
    for params in refused:
        with pytest.raises(ValidationException):
            start(engine, **params)
    for moment in (START - 10, START + 10):
        with pytest.raises(InvalidExportTimeException):
            start(engine, ExportTime=moment)
    with pytest.raises(TableNotFoundException):
        start(engine, TableArn=arn(engine) + "2")
    with pytest.raises(ExportNotFoundException):
        call(engine, "DescribeExport", ExportArn=arn(engine) + "/export/01234567890123-a1b2c3d4")
    for path in ("", "/import/01234567890123-a1b2c3d4", "/export/"):
        refusal = refusal_of(engine, "DescribeExport", ExportArn=arn(engine) + path)
        assert refusal == "Invalid Export ARN"
    call(
        engine,
        "UpdateContinuousBackups",
        TableName="Films",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )
    with pytest.raises(PointInTimeRecoveryUnavailableException):
        start(engine)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"S3Bucket": "missing"}, "S3NoSuchBucket"),
        ({"S3Bucket": "linked"}, "S3AccessDenied"),
        ({"S3Prefix": "../../elsewhere"}, "S3InvalidPrefix"),
        ({"S3Prefix": "away/x"}, "S3AccessDenied"),
        ({"S3Prefix": "file"}, "S3AccessDenied"),
    ],
)
def test_an_export_that_cannot_be_written_fails(
    engine: Engine, bucket: Path, tmp_path: Path, params: dict[str, Any], code: str
) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (bucket.parent / "linked").symlink_to(outside)
    (bucket / "away").symlink_to(outside)
    (bucket / "file").write_text("")
    ended = export(engine, **params)
    assert (ended["ExportStatus"], ended["FailureCode"]) == ("FAILED", code)
    assert ended["FailureMessage"]
    assert list(outside.iterdir()) == []
    assert export(engine)["ExportStatus"] == "COMPLETED"


def test_an_export_that_finds_no_room_says_so(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: FileWriter, line: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    put(engine, {"id": s("a")})
    with monkeypatch.context() as patched:
        patched.setattr(FileWriter, "write", write)
        ended = export(engine)
    assert (ended["ExportStatus"], ended["FailureMessage"]) == ("FAILED", "No space left on device")
    assert export(engine)["ExportStatus"] == "COMPLETED"


def test_a_client_token_exports_once_and_exports_are_listed(engine: Engine) -> None:
    first = start(engine, ClientToken="once")
    assert start(engine, ClientToken="once")["ExportArn"] == first["ExportArn"]
    with pytest.raises(ExportConflictException, match="Export conflict: Duplicate request"):
        start(engine, ClientToken="once", S3Prefix="other")
    others = [start(engine)["ExportArn"] for _ in range(3)]
    engine.tidy()
    page = call(engine, "ListExports", MaxResults=3, TableArn=arn(engine))
    rest = call(engine, "ListExports", NextToken=page["NextToken"])
    found = page["ExportSummaries"] + rest["ExportSummaries"]
    assert {each["ExportArn"] for each in found} == {first["ExportArn"], *others}
    assert {each["ExportStatus"] for each in found} == {"COMPLETED"}
    assert {each["ExportType"] for each in found} == {"FULL_EXPORT"}
    assert "NextToken" not in rest


def test_exports_of_several_tables_are_listed_by_their_arns_in_pages_of_10(engine: Engine) -> None:
    call(engine, "CreateTable", **{**FILMS, "TableName": "Actors"})
    recover(engine, "Actors")
    started = [start(engine, TableArn=arn(engine, name)) for name in ("Films", "Actors") * 6]
    engine.tidy()
    arns = sorted((each["ExportArn"] for each in started), reverse=True)
    page = call(engine, "ListExports")
    rest = call(engine, "ListExports", NextToken=page["NextToken"])
    assert [each["ExportArn"] for each in page["ExportSummaries"]] == arns[:10]
    assert [each["ExportArn"] for each in rest["ExportSummaries"]] == arns[10:]


def test_an_interrupted_export_is_written_anew(
    tmp_path: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports_module, "FILE_BYTES", 10_000)
    path = tmp_path / "films.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        call(engine, "CreateTable", **FILMS)
        recover(engine)
        for number in range(3000):
            put(engine, {"id": s(f"{number:04}"), "text": s("x" * 100)})
        started = start(engine)
        engine._housekeeper.copy()
        (folder,) = find_exports(bucket)
        assert list((folder / "data").iterdir())
        left = folder / "data" / "left.json.gz"
        (tmp_path / "copy").mkdir()
    assert not folder.exists()
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a file")
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        assert describe(engine, started)["ExportStatus"] == "IN_PROGRESS"
        put(engine, {"id": s("after")})
        engine.tidy()
        ended = describe(engine, started)
    assert ended["ExportStatus"] == "COMPLETED"
    assert not left.exists()
    assert len(exported_items(bucket, ended)) == 3000


KILLED = """
import sys, time
from bigtime.engine import Engine
from bigtime.engine.housekeeping import exports
from bigtime.wire import Request

exports.FILE_BYTES = 50_000
engine = Engine.open(sys.argv[1], durability="relaxed")
print("open", flush=True)
time.sleep(60)
"""


def test_a_killed_export_is_never_taken_for_whole(tmp_path: Path, bucket: Path) -> None:
    path = tmp_path / "films.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        call(engine, "CreateTable", **FILMS)
        recover(engine)
        for number in range(10_000):
            put(engine, {"id": s(f"{number:05}"), "text": s(f"{number}" * 100)})
        arns = [start(engine) for _ in range(3)]
    for pause in (0.05, 0.3, 0.6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        for folder in find_exports(bucket):
            if (folder / "manifest-summary.json").exists():
                assert sum(file.items for file in read_export(folder).files) == 10_000
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        engine.tidy()
        for started in arns:
            assert len(exported_items(bucket, describe(engine, started))) == 10_000


def test_boto3_exports_over_http(tmp_path: Path) -> None:
    bucket = tmp_path / "s3" / "films-bucket"
    bucket.mkdir(parents=True)
    with server("--memory", "--s3", tmp_path / "s3") as running:
        client = boto3_client(running.url)
        client.create_table(**FILMS)
        client.update_continuous_backups(
            TableName="Films",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        client.put_item(TableName="Films", Item={"id": {"S": "a"}, "raw": {"B": b"\x00\x01"}})
        table = client.describe_table(TableName="Films")["Table"]["TableArn"]
        started = client.export_table_to_point_in_time(TableArn=table, S3Bucket="films-bucket")
        export = started["ExportDescription"]["ExportArn"]
        for _ in range(600):
            ended = client.describe_export(ExportArn=export)["ExportDescription"]
            if ended["ExportStatus"] != "IN_PROGRESS":
                break
            time.sleep(0.1)
        assert ended["ExportStatus"] == "COMPLETED"
        (summary,) = client.list_exports(TableArn=table)["ExportSummaries"]
        assert summary["ExportArn"] == export
        with pytest.raises(client.exceptions.ExportNotFoundException):
            client.describe_export(ExportArn=export + "0")
    assert exported_items(bucket, ended) == [{"id": s("a"), "raw": {"B": "AAE="}}]
