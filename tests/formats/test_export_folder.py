"""The folder of an export: what is written is read back, and what is not whole is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bigtime.formats import (
    BadFile,
    BucketError,
    FileWriter,
    bucket_folder,
    check_md5,
    export_id,
    find_exports,
    item_line,
    objects,
    prefix_folder,
    read_export,
    start_export,
    write_manifests,
)


def write_export(root: Path, prefix: str = "") -> Path:
    folder = root / prefix / "AWSDynamoDB" / export_id(1_700_000_000.5)
    start_export(folder)
    writer = FileWriter(
        root, folder.relative_to(root).as_posix() + "/data", "json.gz", compress=True
    )
    writer.write(item_line({"id": {"S": "a"}}))
    summary = {"outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT"}
    write_manifests(folder, [writer.finish()], summary)
    return folder


def test_an_export_is_read_back_wherever_it_lies(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "bucket", "some/prefix")
    moved = tmp_path / "downloads"
    (tmp_path / "bucket" / "some" / "prefix").rename(moved)
    assert find_exports(moved) == find_exports(moved / "AWSDynamoDB")
    (found,) = find_exports(moved)
    assert found.name == folder.name == f"01700000000500-{folder.name[-8:]}"
    export = read_export(found)
    assert not export.is_incremental
    (file,) = export.files
    check_md5(file.path, file.md5)
    assert gzip.decompress(file.path.read_bytes()) == b'{"Item":{"id":{"S":"a"}}}\n'
    assert sorted(path.name for path in found.iterdir()) == [
        "_started",
        "data",
        "manifest-files.json",
        "manifest-files.md5",
        "manifest-summary.json",
        "manifest-summary.md5",
    ]
    (line,) = (found / "manifest-files.json").read_text().splitlines()
    assert set(json.loads(line)) == {"itemCount", "md5Checksum", "etag", "dataFileS3Key"}


def test_an_export_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    (file,) = read_export(folder).files
    summary = folder / "manifest-summary.json"
    text = summary.read_bytes()
    summary.write_bytes(text.replace(b"1", b"2"))
    with pytest.raises(BadFile, match="checksum"):
        read_export(folder)
    summary.write_bytes(text)
    file.path.write_bytes(b"other")
    with pytest.raises(BadFile, match="manifest's"):
        check_md5(file.path, file.md5)
    file.path.unlink()
    with pytest.raises(BadFile, match="it is missing"):
        read_export(folder)
    summary.unlink()
    assert find_exports(tmp_path) == [folder]
    with pytest.raises(BadFile, match=r"manifest-summary\.json is missing"):
        read_export(folder)


def test_a_manifest_names_no_file_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.gz").write_bytes(b"x")
    folder = write_export(tmp_path / "bucket")
    for key in ("AWSDynamoDB/../../secret.gz", "../secret.gz", str(tmp_path / "secret.gz")):
        (folder / "manifest-files.json").write_text(json.dumps({"dataFileS3Key": key}))
        (folder / "manifest-files.md5").unlink(missing_ok=True)
        with pytest.raises(BadFile, match="outside"):
            read_export(folder)


def test_an_export_in_ion_is_refused_by_name(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    write_manifests(folder, [], {"outputFormat": "ION"})
    with pytest.raises(BadFile, match="the format ION"):
        read_export(folder)


def test_an_abandoned_file_leaves_nothing(tmp_path: Path) -> None:
    writer = FileWriter(tmp_path, "data", "json", compress=False)
    writer.write(b"{}\n")
    writer.abandon()
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("name", ["..", ".", "a/../..", "/etc", "a..b", "", "x\0y"])
def test_no_bucket_lies_outside_of_its_root(tmp_path: Path, name: str) -> None:
    with pytest.raises(BucketError):
        bucket_folder(tmp_path, name)


def test_no_prefix_and_no_link_leads_out_of_a_bucket(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("{}")
    root = tmp_path / "s3"
    (root / "shop").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    with pytest.raises(BucketError, match="out of"):
        bucket_folder(root, "link")
    with pytest.raises(BucketError, match="make the folder"):
        bucket_folder(root, "missing")
    bucket = bucket_folder(root, "shop")
    (bucket / "away").symlink_to(outside)
    (bucket / "file.json").symlink_to(outside / "secret.json")
    (bucket / "own").mkdir()
    (bucket / "own" / "a.json").write_text("{}")
    for prefix in ("../outside", "away", "away/x", "own/../../outside"):
        with pytest.raises(BucketError):
            prefix_folder(bucket, prefix)
    assert prefix_folder(bucket, "/new//x/") == bucket / "new" / "x"
    assert objects(bucket, "") == objects(bucket, "own/a") == [bucket / "own" / "a.json"]
    assert objects(bucket, "../") == []
