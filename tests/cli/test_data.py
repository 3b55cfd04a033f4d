"""`bigtime data dump` and `load`: every type there and back, interrupted, damaged, refused."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import time
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from bigtime.cli import dump as dump_module
from bigtime.cli import load as load_module
from bigtime.engine import Engine
from bigtime.ops import JobState
from bigtime.store import open_store
from bigtime.wire import Item, Request
from tests.cli.program import BIGTIME, WIDE, ask, invoke, server
from tests.formats.test_lines import EVERY_TYPE

KEYS = [{"AttributeName": "id", "KeyType": "HASH"}]
FILMS: dict[str, Any] = {
    "TableName": "Films",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": KEYS,
    "BillingMode": "PAY_PER_REQUEST",
}


def make(store: str, *items: Item, **changes: Any) -> str:
    with open_store(store) as database:
        database.send(Request("CreateTable", {**FILMS, **changes}))
        name = changes.get("TableName", "Films")
        for item in items:
            database.send(Request("PutItem", {"TableName": name, "Item": item}))
    return store


def contents(store: str, table: str = "Films") -> list[Item]:
    items: list[Item] = []
    with open_store(store) as database:
        params: dict[str, Any] = {"TableName": table}
        while True:
            page = database.send(Request("Scan", params))
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return sorted(items, key=lambda item: item["id"]["S"])
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def film(number: int, size: int = 10) -> Item:
    return {"id": {"S": f"{number:05}"}, "plot": {"S": "x" * size}, "year": {"N": str(number)}}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return make(f"file:{tmp_path / 'source.db'}", EVERY_TYPE, *(film(n) for n in range(200)))


@pytest.fixture
def target(tmp_path: Path) -> str:
    return make(f"file:{tmp_path / 'target.db'}")


@pytest.mark.parametrize("options", [[], ["--format", "json-lines"], ["--segments", "1"]])
def test_a_dump_is_loaded_as_it_was(
    source: str, target: str, tmp_path: Path, options: list[str]
) -> None:
    folder = tmp_path / "dumped"
    done = invoke("data", "dump", folder, "--table", "Films", *options, store=source)
    assert done.exit_code == 0, done.output
    assert "dumped 201 items of Films" in done.stdout
    done = invoke("data", "load", folder, store=target)
    assert done.exit_code == 0, done.output
    assert "loaded 201 items into Films" in done.stdout
    assert contents(target) == contents(source)
    assert not [path for path in folder.rglob("*") if ".state" in path.name]


def test_a_dump_holds_few_items_at_a_time(
    source: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dump_module, "PAGE_ITEMS", 7)
    pages, sizes = dump_module.Dump.pages, []

    def measure_pages(*args: Any) -> Any:
        for page, key in pages(*args):
            sizes.append(len(page))
            yield page, key

    monkeypatch.setattr(dump_module.Dump, "pages", measure_pages)
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    assert max(sizes) == 7 and sum(sizes) == 201
    assert len(list(folder.rglob("*.gz"))) == 4  # a file for each segment, however many pages
    assert invoke("data", "load", folder, store=target).exit_code == 0
    assert contents(target) == contents(source)


def data_prefix(folder: Path) -> str:
    (data,) = folder.rglob("data")
    return f"{data.relative_to(folder).as_posix()}/"


def test_the_data_of_a_dump_is_an_import_source(source: str, tmp_path: Path) -> None:
    bucket = tmp_path / "s3" / "films"
    bucket.parent.mkdir()
    assert invoke("data", "dump", bucket, "--table", "Films", store=source).exit_code == 0
    params = {
        "S3BucketSource": {"S3Bucket": "films", "S3KeyPrefix": data_prefix(bucket)},
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": FILMS,
    }
    path = tmp_path / "imported.db"
    with Engine.open(path, s3_folder=tmp_path / "s3", housekeeping=False) as engine:
        arn = engine(Request("ImportTable", params))["ImportTableDescription"]["ImportArn"]
        engine.tidy()
        ended = engine(Request("DescribeImport", {"ImportArn": arn}))["ImportTableDescription"]
    assert (ended["ImportStatus"], ended["ImportedItemCount"]) == ("COMPLETED", 201)
    assert contents(f"file:{path}") == contents(source)


def test_csv_comes_back_with_its_types(source: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "dumped"
    done = invoke("data", "dump", folder, "--table", "Films", "--format", "csv", store=source)
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("to load")]
    types = line.partition(": ")[2].split()
    assert "year=N" in types
    done = invoke("data", "load", folder, *types, store=target)
    assert done.exit_code == 0, done.output
    assert contents(target) == contents(source)


def test_csv_with_chosen_columns_says_what_it_lacks(source: str, tmp_path: Path) -> None:
    columns = ["--format", "csv", "--plain", "--columns", "id,plot"]
    done = invoke("data", "dump", tmp_path / "d", "--table", "Films", *columns, store=source)
    assert done.exit_code == 1
    assert "which is no column" in done.stderr


def test_a_system_and_an_endpoint(tmp_path: Path, store: str) -> None:
    orders = "tests.cli.orders:SYSTEM"
    assert invoke("demo", "load", "--system", orders, store=store).exit_code == 0
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--system", orders, store=store).exit_code == 0
    with server("--memory") as running:
        assert invoke("tables", "create", orders, store=running.url).exit_code == 0
        done = invoke("data", "load", folder, store=running.url)
        assert done.exit_code == 0, done.output
        again = tmp_path / "again"
        assert invoke("data", "dump", again, "--system", orders, store=running.url).exit_code == 0
    assert lines_of(again) == lines_of(folder)


def lines_of(folder: Path) -> list[bytes]:
    files = folder.rglob("*.json.gz")
    return sorted(
        line for path in files for line in gzip.decompress(path.read_bytes()).splitlines()
    )


def test_incremental_exports_follow_the_full_one(source: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    base = folder / "Films" / "AWSDynamoDB"
    changes = [
        {"Keys": {"id": {"S": "00001"}}, "NewImage": {**film(1), "plot": {"S": "new"}}},
        {"Keys": {"id": {"S": "00002"}}, "OldImage": film(2)},
    ]
    (base / "data").mkdir()
    text = "".join(json.dumps(change) + "\n" for change in changes)
    (base / "data" / "x.json.gz").write_bytes(gzip.compress(text.encode()))
    later = base / "99999999999999-00000000"
    later.mkdir()
    (later / "manifest-files.json").write_text(
        json.dumps({"itemCount": 2, "dataFileS3Key": "AWSDynamoDB/data/x.json.gz"})
    )
    summary = {"outputFormat": "DYNAMODB_JSON", "exportType": "INCREMENTAL_EXPORT"}
    arn = {"tableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Films"}
    (later / "manifest-summary.json").write_text(json.dumps(summary | arn))
    done = invoke("data", "load", folder / "Films", store=target)
    assert done.exit_code == 0, done.output
    found = {item["id"]["S"]: item for item in contents(target)}
    assert found["00001"]["plot"] == {"S": "new"}
    assert "00002" not in found and len(found) == 200


# --- Interrupted --------------------------------------------------------------------------


def test_a_dump_goes_on_where_it_was(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make(f"file:{tmp_path / 'large.db'}", *(film(n, 20_000) for n in range(600)))
    monkeypatch.setattr(dump_module, "FILE_BYTES", 1_000_000)
    pages = dump_module.Dump.pages
    left = 5

    def breaking(*args: Any) -> Any:
        nonlocal left
        for page in pages(*args):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            yield page

    folder = tmp_path / "dumped"
    arguments = ("data", "dump", folder, "--table", "Films", "--segments", "2")
    monkeypatch.setattr(dump_module.Dump, "pages", breaking)
    done = invoke(*arguments, store=source)
    assert done.exit_code == 1
    assert "Run the same command again" in done.stderr
    kept = set(folder.rglob("*.gz"))
    assert kept
    assert not list(folder.rglob("manifest*"))
    refused = invoke("data", "load", folder, store=target)
    assert "unfinished" in refused.stderr
    (next(iter(kept)).parent / "stray.json.gz").write_bytes(b"half")
    left = 10_000
    done = invoke(*arguments, store=source)
    assert done.exit_code == 0, done.output
    assert "resuming Films" in done.stdout
    assert kept < set(folder.rglob("*.gz"))
    assert invoke("data", "load", folder, store=target).exit_code == 0
    assert contents(target) == contents(source)


def test_a_load_goes_on_where_it_was(
    source: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    written: list[int] = []
    write_batch = load_module.write_batch

    def breaking(database: Any, batch: Any) -> Any:
        if len(written) == 4:
            raise KeyboardInterrupt
        written.append(len(batch.puts))
        return write_batch(database, batch)

    monkeypatch.setattr(load_module, "write_batch", breaking)
    monkeypatch.setattr(load_module, "SAVE_SECONDS", 0.0)
    done = invoke("data", "load", folder, "--writers", "1", store=target)
    assert done.exit_code == 1
    assert "Run the same command again" in done.stderr
    assert len(contents(target)) == sum(written) < 201
    monkeypatch.undo()
    done = invoke("data", "load", folder, store=target)
    assert done.exit_code == 0, done.output
    assert "loaded 201 items" in done.stdout
    assert contents(target) == contents(source)


def test_an_interrupted_load_is_not_gone_on_with_in_another_store(
    source: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is loaded into one store is not in the other, whichever way the store is named."""
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    interrupt_load(monkeypatch, folder, target)
    other = make(f"file:{tmp_path / 'other.db'}")
    done = invoke("data", "load", folder, store=other)
    assert done.exit_code == 0, done.output
    assert contents(other) == contents(source)


def test_an_interrupted_load_is_not_gone_on_with_in_a_table_made_anew(
    source: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    interrupt_load(monkeypatch, folder, target)
    with open_store(target) as database:
        database.send(Request("DeleteTable", {"TableName": "Films"}))
    make(target)
    done = invoke("data", "load", folder, store=target)
    assert done.exit_code == 1
    assert "its tables were made anew since: delete it" in done.stderr


def interrupt_load(monkeypatch: pytest.MonkeyPatch, folder: Path, target: str) -> None:
    """Loads the first batches of the folder, and is stopped."""
    write_batch = load_module.write_batch
    left = 4

    def breaking(database: Any, batch: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return write_batch(database, batch)

    with monkeypatch.context() as patch:
        patch.setattr(load_module, "write_batch", breaking)
        patch.setattr(load_module, "SAVE_SECONDS", 0.0)
        done = invoke("data", "load", folder, "--writers", "1", store=target)
    assert done.exit_code == 1 and "Run the same command again" in done.stderr


def test_two_loads_at_once_are_refused(source: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "dumped"
    assert invoke("data", "dump", folder, "--table", "Films", store=source).exit_code == 0
    with JobState(tmp_path / "load.state.json", {}):
        done = invoke("data", "load", folder, "--state", tmp_path / "load.state.json", store=target)
    assert done.exit_code == 1 and "Another process is at it" in done.stderr


@pytest.mark.parametrize(
    ("items", "pauses"),
    [
        (4_000, (0.0, 0.05)),
        pytest.param(20_000, (0.05, 0.2, 0.4), marks=pytest.mark.proof),
    ],
)
@pytest.mark.parametrize("verb", ["dump", "load"])
def test_a_killed_process_loses_nothing(
    tmp_path: Path, target: str, verb: str, items: int, pauses: tuple[float, ...]
) -> None:
    source = make(f"file:{tmp_path / 'large.db'}")
    (tmp_path / "many.json").write_text(
        "".join(json.dumps({"Item": film(n, 2_000)}) + "\n" for n in range(items))
    )
    assert (
        invoke("data", "load", tmp_path / "many.json", "--table", "Films", store=source).exit_code
        == 0
    )
    folder = tmp_path / "dumped"
    dumping = ["data", "dump", str(folder), "--table", "Films", "--store", source]
    loading = ["data", "load", str(folder), "--store", target]
    if verb == "load":
        assert invoke(*dumping).exit_code == 0
    command = dumping if verb == "dump" else loading
    amid: list[bool] = []
    for pause in chain(pauses, repeat(0.0, 10)):
        if len(amid) >= len(pauses) and any(amid):
            break
        process = subprocess.Popen([*BIGTIME, *command], env=WIDE, stdout=subprocess.DEVNULL)
        while process.poll() is None and not list(folder.rglob("*.state.json")):
            time.sleep(0.01)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        amid.append(bool(list(folder.rglob("*.state.json"))))
    assert any(amid)
    done = invoke(*command)
    assert done.exit_code == 0, done.output
    if verb == "dump":
        assert invoke(*loading).exit_code == 0
    assert contents(target) == contents(source)


# --- Refused ------------------------------------------------------------------------------


def test_bad_lines_are_named_and_the_others_loaded(target: str, tmp_path: Path) -> None:
    path = tmp_path / "films.jsonl"
    path.write_text('{"id": "a"}\n{"id": 1}\n{broken\n{"id": "b"}\n{"id": "a", "late": true}\n')
    done = invoke("data", "load", path, "--table", "Films", store=target)
    assert done.exit_code == 1
    assert f"{path}, line 2: the key attribute id is missing, or is not of type S" in done.stderr
    assert f"{path}, line 3: it is no JSON" in done.stderr
    assert "2 lines were not loaded" in done.stderr
    assert contents(target) == [{"id": {"S": "a"}, "late": {"BOOL": True}}, {"id": {"S": "b"}}]
    (bad,) = tmp_path.glob("*.bad.jsonl")
    assert [json.loads(line)["line"] for line in bad.read_text().splitlines()] == [2, 3]


def test_what_the_table_refuses_is_named_too(tmp_path: Path) -> None:
    index = {
        "IndexName": "by_year",
        "KeySchema": [{"AttributeName": "year", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    attributes = [*FILMS["AttributeDefinitions"], {"AttributeName": "year", "AttributeType": "N"}]
    store = make(
        f"file:{tmp_path / 'indexed.db'}",
        AttributeDefinitions=attributes,
        GlobalSecondaryIndexes=[index],
    )
    path = tmp_path / "films.jsonl"
    path.write_text('{"id": "a", "year": 1985}\n{"id": "b", "year": "1985"}\n{"id": "c"}\n')
    done = invoke("data", "load", path, "--table", "Films", store=store)
    assert done.exit_code == 1
    assert "line 2: ValidationException" in done.stderr
    assert [item["id"]["S"] for item in contents(store)] == ["a", "c"]


def test_damaged_files_are_named(source: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "dumped"
    options = ["--table", "Films", "--segments", "1"]
    assert invoke("data", "dump", folder, *options, store=source).exit_code == 0
    (file,) = folder.rglob("*.json.gz")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    done = invoke("data", "load", folder, store=target)
    assert done.exit_code == 1
    assert "its checksum is not the manifest's" in done.stderr
    assert contents(target) == []
    done = invoke("data", "load", file, "--table", "Films", store=target)
    assert done.exit_code == 1
    assert "the gzip data ends or is damaged here" in done.stderr
    file.write_bytes(whole)
    (summary,) = folder.rglob("manifest-summary.json")
    summary.unlink()
    done = invoke("data", "load", folder, store=target)
    assert done.exit_code == 1
    assert "manifest-summary.json is missing" in done.stderr
    done = invoke("data", "load", file.parent, "--table", "Films", store=target)
    assert done.exit_code == 0, done.output
    assert contents(target) == contents(source)


def test_what_cannot_be_is_a_sentence(source: str, target: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("")
    (tmp_path / "x.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / "odd").write_text("[]")
    (tmp_path / "empty").mkdir()
    to_films = ["--table", "Films"]
    cases = [
        (["dump", tmp_path / "d"], 2, "--system SYSTEM or --table NAME"),
        (["dump", tmp_path / "d", "--table", "Nope"], 1, "There is no table Nope"),
        (["dump", tmp_path / "d", "--table", "Films", "--plain"], 2, "always gzip"),
        (["dump", tmp_path / "x.json", "--table", "Films"], 1, "cannot be written"),
        (["load", tmp_path / "nowhere"], 1, "does not exist"),
        (["load", tmp_path / "x.json"], 1, "--table"),
        (["load", tmp_path / "x.json", "--table", "Nope"], 1, "There is no table Nope"),
        (["load", tmp_path / "x.zst", "--table", "Films"], 1, "--format"),
        (["load", tmp_path / "x.zst", "--table", "Films", "--format", "csv"], 1, "zstd"),
        (["load", tmp_path / "empty"], 1, "nothing to load"),
        (["load", tmp_path / "x.json", "--table", "Films", "--state", "no/x"], 1, "--state FILE"),
        (["load", tmp_path / "x.json", *to_films, "--state", tmp_path / "odd"], 1, "not the state"),
        (["load", tmp_path / "x.json", "--delimiter", "ab"], 2, "A delimiter is"),
        (["load", tmp_path / "x.json", "--type", "year"], 2, "names no type"),
    ]
    for arguments, code, words in cases:
        done = invoke("data", *arguments, store=source)
        assert (done.exit_code, words in done.stderr) == (code, True), done.output


def test_a_file_that_changed_is_not_gone_on_with(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "films.jsonl"
    path.write_text('{"id": "a"}\n')

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(load_module, "write_batch", stop)
    assert invoke("data", "load", path, "--table", "Films", store=target).exit_code == 1
    monkeypatch.undo()
    path.write_text('{"id": "abc"}\n')
    done = invoke("data", "load", path, "--table", "Films", store=target)
    assert "has changed since" in done.stderr


@pytest.mark.parametrize("arguments", [("dump", "folder"), ("load", "films.json")])
def test_a_store_that_is_not_there_makes_no_file(
    tmp_path: Path, arguments: tuple[str, str]
) -> None:
    (tmp_path / "films.json").write_text("")
    place = ("--table", "Films", "--store", "file:no/such/x.db")
    done = ask("data", *arguments, *place, cwd=tmp_path)
    assert done.returncode == 1 and "There is no table Films" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["films.json"]


def test_a_path_that_is_not_there_makes_no_file(tmp_path: Path) -> None:
    done = invoke(
        "data", "load", tmp_path / "none", "--table", "things", store=f"file:{tmp_path}/x.db"
    )
    assert done.exit_code == 1 and "does not exist" in done.stderr
    assert [*tmp_path.iterdir()] == []
