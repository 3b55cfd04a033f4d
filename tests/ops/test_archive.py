"""Archives: what goes in, that it goes in once, and what becomes of the records."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from bigtime import ops
from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.store import Store
from bigtime.systems import deals, portal
from bigtime.wire import Request
from tests.cli.program import invoke

BY = "admin@example.com"
LONG_AGO = datetime(2018, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 16, tzinfo=UTC)
KEY = ("PK", "SK")
BEFORE = ops.moment_before("7y", NOW)


class Clocked:
    """A portal whose clock can be set."""

    def __init__(self, engine: Engine) -> None:
        self.now = LONG_AGO
        self.engine = engine
        self.store = Store(engine, clock=lambda: self.now)
        self.store.run(setup(portal.SYSTEM))

    def tenant(self, name: str, *, orders: int = 0, deleted: bool = True) -> portal.Tenant:
        tenant = self.store.run(portal.tenant_at_checkout(f"{name}@example.com"))
        for _ in range(orders):
            self.now += timedelta(seconds=1)
            self.store.run(portal.place_order(tenant.id, {self.plan().id: 1}))
        if not deleted:
            return tenant
        return self.store.run(portal.soft_delete_tenant(tenant.id, by=BY))

    def plan(self) -> portal.Product:
        return self.store.run(
            portal.create_product(
                name="Plan",
                description="A plan",
                price=Decimal("99.00"),
                billing_cycle=portal.BillingCycle.MONTHLY,
                by=BY,
            )
        )


@pytest.fixture
def scene() -> Iterator[Clocked]:
    with Engine.memory() as engine:
        yield Clocked(engine)


def archived_items(folder: Path) -> dict[str, list[dict[str, dict[str, str]]]]:
    found: dict[str, list[dict[str, dict[str, str]]]] = {}
    for path in sorted(folder.glob("data/*/*.json.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        found.setdefault(path.parent.name, []).extend(json.loads(line)["Item"] for line in lines)
    return found


def run(scene: Clocked, folder: Path) -> int:
    archive = ops.open_archive(folder, portal.SYSTEM)
    return ops.archive_records(scene.store, portal.SYSTEM, archive, BEFORE)


def test_old_deleted_tenants_go_with_orders_and_chains(scene: Clocked, tmp_path: Path) -> None:
    old = scene.tenant("old", orders=2)
    scene.tenant("active", orders=1, deleted=False)
    scene.now = BEFORE
    scene.tenant("recent")
    scene.now = NOW
    assert run(scene, tmp_path) == 1
    items = archived_items(tmp_path)
    assert {table: len(rows) for table, rows in items.items()} == {
        "tenants": 2, "orders": 2, "audit": 4,
    }  # fmt: skip
    assert {row["PK"]["S"] for row in items["tenants"]} == {
        f"TENANT#{old.id}",
        "EMAIL#old@example.com",
    }
    live = scene.engine(
        Request(
            "GetItem", {"TableName": "tenants", "Key": {k: items["tenants"][0][k] for k in KEY}}
        )
    )
    assert live["Item"] == items["tenants"][0]


def test_run_again_it_adds_only_what_is_new(scene: Clocked, tmp_path: Path) -> None:
    first = scene.tenant("first")
    scene.now = NOW
    assert (run(scene, tmp_path), run(scene, tmp_path)) == (1, 0)
    scene.now = LONG_AGO + timedelta(days=1)
    scene.tenant("second")
    scene.store.run(portal.restore_tenant(first.id, by=BY))
    scene.store.run(portal.soft_delete_tenant(first.id, by=BY))
    scene.now = NOW
    assert run(scene, tmp_path) == 2  # the first one was changed after it was archived
    manifest = json.loads((tmp_path / "archive.json").read_bytes())
    assert [record["batch"] for record in manifest["records"]] == [1, 2, 2]
    for file in manifest["files"]:
        assert sha256((tmp_path / file["path"]).read_bytes()).hexdigest() == file["sha256"]


def test_interrupted_it_goes_on_without_duplicates(
    scene: Clocked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.ops.archive.BATCH", 2)
    ids = {scene.tenant(f"tenant{number}").id for number in range(5)}
    scene.now = NOW
    writes = 0

    def die(path: Path, content: bytes) -> None:
        nonlocal writes
        writes += 1
        if writes == 5:  # a data file of the second batch
            raise KeyboardInterrupt
        path.write_bytes(content)

    with monkeypatch.context() as broken:
        broken.setattr("bigtime.formats.places.write_whole", die)
        with pytest.raises(KeyboardInterrupt):
            run(scene, tmp_path)
    assert run(scene, tmp_path) == 3
    rows = archived_items(tmp_path)["tenants"]
    tenants = [row["id"]["S"] for row in rows if row["PK"]["S"].startswith("TENANT#")]
    assert len(tenants) == 5 and {*tenants} == ids


def test_the_lines_can_be_loaded(scene: Clocked, tmp_path: Path) -> None:
    scene.tenant("old", orders=1)
    scene.now = NOW
    run(scene, tmp_path / "archive")
    place = f"file:{tmp_path}/other.db"
    assert invoke("tables", "create", "portal", store=place).exit_code == 0
    for table in ("tenants", "orders", "audit"):
        folder = tmp_path / "archive" / "data" / table
        done = invoke("data", "load", str(folder), "--table", table, store=place)
        assert done.exit_code == 0, done.output
    with Engine.open(tmp_path / "other.db") as engine:
        counts = [
            engine(Request("Scan", {"TableName": table, "Select": "COUNT"}))["Count"]
            for table in ("tenants", "orders", "audit")
        ]
    assert counts == [2, 1, 3]


def test_only_what_is_as_it_was_archived_is_anonymised(scene: Clocked, tmp_path: Path) -> None:
    old, changed = scene.tenant("old"), scene.tenant("changed")
    scene.now = NOW
    assert run(scene, tmp_path) == 2
    scene.store.run(portal.restore_tenant(changed.id, by=BY))
    archive = ops.open_archive(tmp_path, portal.SYSTEM)
    for expected in ((1, 1), (0, 1)):
        done = ops.anonymise_archived(scene.store, portal.SYSTEM, archive, "Seven years", BY)
        assert done == expected
    assert scene.store.run(portal.get_tenant(old.id, include_inactive=True)).email.endswith(
        "@erased.invalid"
    )
    assert scene.store.run(portal.get_tenant(changed.id)).email == "changed@example.com"
    assert "old@example.com" in str(archived_items(tmp_path)["tenants"])


@pytest.mark.parametrize(
    ("age", "before"),
    [
        ("7y", datetime(2017, 2, 28, tzinfo=UTC)),
        ("4y", datetime(2020, 2, 29, tzinfo=UTC)),
        ("1d", datetime(2024, 2, 28, tzinfo=UTC)),
    ],
)
def test_an_age_is_years_or_days(age: str, before: datetime) -> None:
    assert ops.moment_before(age, datetime(2024, 2, 29, tzinfo=UTC)) == before


@pytest.mark.parametrize("age", ["", "7", "y", "0y", "-7y", "7 y", "9999y", "7Y", "1e3d"])
def test_another_age_is_refused(age: str) -> None:
    with pytest.raises(ops.CannotArchive):
        ops.moment_before(age, NOW)


def test_a_folder_that_is_no_archive_of_it_is_refused(scene: Clocked, tmp_path: Path) -> None:
    scene.tenant("old")
    scene.now = NOW
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "letter.txt").write_text("mine")
    with pytest.raises(ops.CannotArchive, match="is not empty and no archive"):
        run(scene, strange)
    folder = tmp_path / "archive"
    run(scene, folder)
    (file,) = folder.glob("data/tenants/*")
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    with pytest.raises(ops.CannotArchive, match="is not as it was written"):
        run(scene, folder)
    file.unlink()
    with pytest.raises(ops.CannotArchive, match="is missing"):
        run(scene, folder)
    (folder / "archive.json").write_text("[]")
    with pytest.raises(ops.CannotArchive, match="is no manifest"):
        run(scene, folder)
    with pytest.raises(ops.CannotArchive, match="does not say what is archived"):
        ops.retention_of(deals.SYSTEM)


def test_the_program_archives(tmp_path: Path) -> None:
    place = f"file:{tmp_path}/portal.db"
    with Engine.open(tmp_path / "portal.db") as engine:
        Clocked(engine).tenant("old")
    out = str(tmp_path / "archive")
    for expected in ("1 records were archived", "0 records were archived"):
        done = invoke("archive", "portal", "--older-than", "7y", "--out", out, store=place)
        assert done.exit_code == 0 and expected in done.output, done.output
    done = invoke(
        "archive", "portal", "--out", out, "--anonymise", "Seven years", "--by", BY, store=place
    )
    assert "1 were anonymised; 0 have changed since" in done.output
    for arguments, said in (
        (["--older-than", "7"], "'7' is no age: say 7y for seven years, or 90d for ninety days."),
        (["--anonymise", "Law"], "--anonymise and --by belong together"),
    ):
        refused = invoke("archive", "portal", "--out", out, *arguments, store=place)
        assert refused.exit_code == 2 and said in refused.output, refused.output
    refused = invoke("archive", "deals", "--out", out, store=place)
    assert refused.exit_code == 2 and "system deals does not say" in refused.output
