"""The lake has each change once, and says what the tables say, whatever happens to its writer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any

import pytest
from moto import mock_aws

from bigtime.engine import Engine
from bigtime.model import DesignError, Lake, Scale, System, lake, setup
from bigtime.projections.lake import (
    BucketPlace,
    FilesLost,
    FolderBucket,
    FolderPlace,
    LakeFault,
    LakeWriter,
    athena_ddl,
    lake_status,
    mark_damaged,
    open_gaps,
    rebuild_current,
)
from bigtime.projections.lake.columns import RowMaker
from bigtime.systems import accounts, cart, catalog, deals, portal, shop
from bigtime.testing import Clock
from tests.projections.conftest import LAKES, Scene

COUNTS = "SELECT change, count(*) FROM cart_lines_changes GROUP BY 1 ORDER BY 1"
EVENTS = "SELECT count(*), count(DISTINCT event_id) FROM cart_lines_changes"


def manifest_path(scene: Scene) -> Path:
    assert isinstance(scene.place, FolderPlace)
    return scene.place.folder / "CartTable" / "_manifest.json"


def manifest(scene: Scene) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest_path(scene).read_bytes())
    return found


# --- Writing ---


def test_changes_and_items_are_kept(scene: Scene) -> None:
    scene.shop("alex", "LAMP", "TEA")
    scene.shop("alex", "LAMP", count=2)
    lines = scene.store.run(cart.view_products("alex", cart.Status.ACTIVE))
    (tea,) = [line for line in lines if line.item_sku == "TEA"]
    scene.store.run(cart.remove_line("alex", tea.sk))
    with scene.writer() as writer:
        assert writer.drain() == 4
        assert writer.behind(scene.clock()) < timedelta(minutes=1)
    assert scene.ask(COUNTS) == [["INSERT", 2], ["MODIFY", 1], ["REMOVE", 1]]
    assert scene.ask(EVENTS) == [[4, 4]]
    assert scene.current_lines() == scene.lines()
    assert scene.ask("SELECT sum(price * count)::DECIMAL(9,2)::VARCHAR FROM cart_lines") == [
        ["7.50"]
    ]


def test_files_lie_in_folders_by_day(scene: Scene, clock: Clock) -> None:
    clock.stop(datetime(2030, 1, 31, 23, tzinfo=UTC))
    scene.shop("alex", "LAMP")
    clock.advance(hours=2)
    scene.shop("alex", "TEA")
    with scene.writer() as writer:
        writer.drain()
    day = clock()
    folders = {Path(file["name"]).parent.as_posix() for file in manifest(scene)["files"]}
    assert f"CartTable/changes/cart_lines/year={day:%Y}/month={day:%m}/day={day:%d}" in folders
    assert len(folders) == 2
    found = scene.ask("SELECT year, month, day FROM cart_lines_changes WHERE item_sku = 'TEA'")
    assert found == [[day.year, day.month, day.day]]


def test_the_next_writer_goes_on_where_the_last_one_was(scene: Scene) -> None:
    for number in range(3):
        scene.shop(f"user{number}", "LAMP")
        with scene.writer() as writer:
            assert writer.drain() == 1
    assert scene.ask(EVENTS) == [[3, 3]]


def test_what_was_not_committed_is_read_again(scene: Scene) -> None:
    scene.shop("alex", "LAMP", "TEA")
    with scene.writer(commit_seconds=3600) as writer:
        writer.tables[0].read_round()
        assert [table.waiting for table in writer.tables] == [2]
    assert not manifest_path(scene).exists() or manifest(scene)["position"] == 0
    with scene.writer() as writer:
        assert writer.drain() == 2
    assert scene.ask(EVENTS) == [[2, 2]]


def test_files_that_no_manifest_names_are_deleted(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    with scene.writer() as writer:
        writer.drain()
    left = manifest_path(scene).parent / "changes/cart_lines/year=2026/month=01/day=01/7-9.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half of a file")
    with scene.writer() as writer:
        writer.drain()
    assert not left.exists()
    assert scene.ask(EVENTS) == [[1, 1]]


def test_many_small_files_become_few(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        for number in range(20):
            scene.shop("alex", f"SKU{number}")
            writer.drain()
            writer.maintain()
        assert len(manifest(scene)["files"]) < 8
        assert scene.ask(EVENTS) == [[20, 20]]
        old = set(manifest(scene)["gone"])
        clock.advance(minutes=11)
        writer.maintain()
        assert not manifest(scene)["gone"]
        assert not any((manifest_path(scene).parents[1] / name).exists() for name in old)
    assert scene.current_lines() == scene.lines()


def test_a_day_that_is_over_is_one_file(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        for number in range(3):
            scene.shop("alex", f"SKU{number}")
            writer.drain()
        clock.advance(days=1)
        writer.maintain()
        assert len(manifest(scene)["files"]) == 1
    assert scene.ask(EVENTS) == [[3, 3]]


def test_changes_of_a_kind_lie_together_in_the_file_of_a_day(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        for sku in ("LAMP", "TEA"):
            for count in (1, 2):
                scene.shop("alex", sku, count=count)
                writer.drain()
        clock.advance(days=1)
        writer.maintain()
    assert scene.ask("SELECT change, position FROM cart_lines_changes") == [
        ["INSERT", 1],
        ["INSERT", 3],
        ["MODIFY", 2],
        ["MODIFY", 4],
    ]


def test_current_state_is_rewritten_when_much_has_changed(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.maintain()
        through = manifest(scene)["current"]["cart_lines"]["through"]
        for number in range(1_001):
            scene.shop("alex", f"SKU{number % 50}")
        writer.drain()
        writer.maintain()
        assert manifest(scene)["current"]["cart_lines"]["through"] > through
    assert scene.current_lines() == scene.lines()


def test_current_state_from_a_scan_has_what_was_there_before_the_lake(scene: Scene) -> None:
    scene.shop("alex", "LAMP", "TEA")
    scene.clock.advance(days=2)
    scene.engine.tidy()
    scene.shop("kim", "LAMP")
    with scene.writer() as writer:
        assert writer.drain() == 1
        writer.maintain()
        scene.shop("kim", "TEA")
        writer.drain()
    assert scene.current_lines() == scene.lines() and len(scene.lines()) == 4


def test_a_second_writer_is_refused(scene: Scene) -> None:
    with scene.writer(), pytest.raises(LakeFault, match="stop it first"):
        LakeWriter(scene.store, LAKES, FolderPlace(scene.path / "lake"))


def test_a_number_that_does_not_fit_becomes_a_dead_letter(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    line = scene.store.run(cart.view_products("alex", cart.Status.ACTIVE)).items[0]
    item = {**line.layout.to_item(line), "Price": {"N": "1e30"}}
    scene.engine.boto3_client().put_item(TableName="CartTable", Item=item)
    scene.shop("kim", "TEA")
    with scene.writer() as writer:
        for _ in range(4):
            with pytest.raises(Exception, match=r"1E\+30|price"):
                writer.drain()
        writer.drain()
    letters = scene.engine.boto3_client().scan(TableName="DeadLetters")["Items"]
    assert [letter["Consumer"]["S"] for letter in letters] == ["lake.CartTable"]
    assert scene.ask("SELECT count(*) FROM cart_lines_changes WHERE account_id = 'kim'") == [[1]]


# --- Damage ---


@pytest.mark.parametrize("damage", ["{", '{"format": 0}', None])
def test_a_manifest_that_is_damaged_older_or_missing_is_made_anew(
    scene: Scene, damage: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with scene.writer() as writer:
        for number in range(10):
            scene.shop("alex", f"SKU{number}")
            writer.drain()
            writer.maintain()
    if damage is None:
        manifest_path(scene).unlink()
    else:
        manifest_path(scene).write_text(damage)
    scene.shop("kim", "LAMP")
    with scene.writer() as writer:
        assert "made anew" in caplog.text
        assert writer.drain() == 1
        writer.maintain()
    assert scene.ask(EVENTS) == [[11, 11]]
    assert scene.current_lines() == scene.lines()


def test_a_lost_file_is_a_gap(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    (name,) = [file["name"] for file in manifest(scene)["files"]]
    (manifest_path(scene).parents[1] / name).write_bytes(b"PAR1")
    scene.shop("alex", "TEA")
    with scene.writer() as writer:
        assert writer.drain() == 1
    ((table, gap),) = open_gaps(lake_status(scene.place, LAKES))
    assert table == "CartTable" and "was lost" in gap.reason
    assert scene.current_lines() == scene.lines()


def spoil(path: Path) -> None:
    """Damages the content of a file, and leaves its size."""
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))


def changes_file(scene: Scene) -> Path:
    (file,) = manifest(scene)["files"]
    return manifest_path(scene).parents[1] / str(file["name"])


def fill(scene: Scene, writer: LakeWriter) -> None:
    scene.shop("alex", "LAMP")
    writer.drain()
    writer.maintain()


def test_a_lake_that_is_deleted_while_it_is_written_is_begun_anew(scene: Scene) -> None:
    with scene.writer() as writer:
        fill(scene, writer)
        rmtree(manifest_path(scene).parents[1])
        with pytest.raises(FilesLost, match="mended"):
            writer.check_files(is_wanted=True)
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    assert scene.ask(EVENTS) == [[1, 1]]
    assert scene.current_lines() == scene.lines()


def test_damage_that_a_reader_finds_is_mended_by_the_next_writer(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    with scene.writer() as writer:
        fill(scene, writer)
        spoil(changes_file(scene))
        mark_damaged(scene.place)
        with pytest.raises(FilesLost):
            writer.maintain()
        assert "1-1.parquet is damaged" in caplog.text
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    assert len(open_gaps(lake_status(scene.place, LAKES))) == 1
    assert scene.ask(EVENTS) == [[0, 0]]
    assert scene.current_lines() == scene.lines()


def test_damage_that_a_compaction_finds_is_looked_for(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        fill(scene, writer)
        spoil(changes_file(scene))
        scene.shop("alex", "TEA")
        writer.drain()
    clock.advance(days=2)
    with scene.writer() as writer:
        with pytest.raises(Exception, match="magic bytes"):
            writer.take_turn()
        with pytest.raises(FilesLost):
            writer.take_turn()


def test_a_manifest_that_is_damaged_while_it_is_written_is_written_again(scene: Scene) -> None:
    with scene.writer() as writer:
        fill(scene, writer)
        manifest_path(scene).write_text("{")
        writer.check_files(is_wanted=True)
    assert scene.current_lines() == scene.lines()


def test_a_check_of_a_whole_lake_changes_nothing(scene: Scene) -> None:
    with scene.writer() as writer:
        fill(scene, writer)
        before = {name: scene.place.read(name) for name in scene.place.sizes("")}
        writer.check_files(is_wanted=True)
    assert {name: scene.place.read(name) for name in scene.place.sizes("")} == before


# --- Gaps ---


def be_away(scene: Scene, hours: float = 30) -> None:
    """While the writer is away, for longer than the stream keeps its records."""
    scene.clock.advance(hours=1)
    scene.shop("kim", "LAMP", "TEA")
    scene.clock.advance(hours=hours)
    scene.engine.tidy()
    scene.shop("kim", "LAMP", count=3)


def test_a_writer_that_was_away_for_long_records_the_gap(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    be_away(scene)
    with scene.writer() as writer:
        assert writer.drain() == 1
        assert [gap.closed_at for table in writer.tables for gap in table.manifest.gaps] == [None]
        writer.maintain()
    assert len(open_gaps(lake_status(scene.place, LAKES))) == 1
    assert scene.current_lines() == scene.lines(), "current state is true again, from a scan"
    assert scene.ask(EVENTS) == [[2, 2]]


def test_a_gap_is_closed_from_the_log_of_point_in_time_recovery(scene: Scene) -> None:
    scene.engine.boto3_client().update_continuous_backups(
        TableName="CartTable",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    scene.clock.advance(minutes=1)
    scene.shop("alex", "LAMP")
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    be_away(scene)
    bucket = FolderBucket(scene.path / "carts.db-s3")
    scene.store.sleep = lambda seconds: scene.engine.tidy()
    with scene.writer(bucket=bucket) as writer:
        assert writer.drain() == 1
        writer.maintain()
    assert open_gaps(lake_status(scene.place, LAKES)) == []
    (gap,) = manifest(scene)["gaps"]
    assert gap["restored"] == 2
    rows = scene.ask(
        "SELECT account_id, item_sku, change, count FROM cart_lines_changes ORDER BY changed_at, 2"
    )
    assert rows == [
        ["alex", "LAMP", "INSERT", 1],
        ["kim", "LAMP", "INSERT", 1],
        ["kim", "TEA", "INSERT", 1],
        ["kim", "LAMP", "MODIFY", 4],
    ]
    assert scene.current_lines() == scene.lines()


def stream(scene: Scene, *, enabled: bool) -> None:
    view = {"StreamViewType": "NEW_AND_OLD_IMAGES"} if enabled else {}
    changed: Any = {"StreamEnabled": enabled, **view}
    scene.engine.boto3_client().update_table(TableName="CartTable", StreamSpecification=changed)


def lose_stream(scene: Scene) -> None:
    """What was written last is in a stream that is gone when the next one begins."""
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    scene.clock.advance(hours=1)
    scene.shop("kim", "LAMP", "TEA")
    stream(scene, enabled=False)
    scene.clock.advance(hours=30)
    scene.engine.tidy()
    stream(scene, enabled=True)
    scene.shop("kim", "LAMP", count=3)


def test_a_stream_that_is_gone_leaves_a_gap(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    lose_stream(scene)
    with scene.writer() as writer:
        assert writer.drain() == 1
        writer.maintain()
    ((table, gap),) = open_gaps(lake_status(scene.place, LAKES))
    assert (table, gap.position) == ("CartTable", 1)
    assert gap.after is not None and gap.after < gap.before
    assert scene.current_lines() == scene.lines()
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    assert len(manifest(scene)["gaps"]) == 1, "it is told once"
    assert len(manifest(scene)["checkpoint"]) == 1


def test_the_gap_of_a_stream_that_is_gone_is_closed_too(scene: Scene) -> None:
    scene.engine.boto3_client().update_continuous_backups(
        TableName="CartTable",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    scene.clock.advance(minutes=1)
    scene.shop("alex", "LAMP")
    lose_stream(scene)
    scene.store.sleep = lambda seconds: scene.engine.tidy()
    exports = scene.path / "carts.db-s3"
    with scene.writer(bucket=FolderBucket(exports)) as writer:
        assert writer.drain() == 1
        writer.maintain()
    assert open_gaps(lake_status(scene.place, LAKES)) == []
    (gap,) = manifest(scene)["gaps"]
    assert gap["restored"] == 2
    assert scene.current_lines() == scene.lines()
    assert not [path for path in exports.rglob("*") if path.is_file()], "exports are deleted"


def test_a_table_that_was_made_again_leaves_a_gap(scene: Scene) -> None:
    scene.shop("alex", "LAMP")
    with scene.writer() as writer:
        writer.drain()
        writer.maintain()
    scene.shop("alex", "TEA")
    scene.engine.boto3_client().delete_table(TableName="CartTable")
    scene.clock.advance(hours=1)
    scene.engine.tidy()
    scene.store.run(setup(cart.SYSTEM))
    scene.shop("kim", "LAMP")
    with scene.writer() as writer:
        assert writer.drain() == 1
        writer.maintain()
    assert len(open_gaps(lake_status(scene.place, LAKES))) == 1
    assert scene.current_lines() == scene.lines()


# --- S3 ---


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketPlace]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        place = BucketPlace("s3://shop-lake/prefix")
        place.client.create_bucket(Bucket="shop-lake")
        yield place


def copy_to(place: BucketPlace, folder: Path) -> FolderPlace:
    for name in place.sizes(""):
        place.local(name, folder)
        content = place.read(name)
        assert content is not None
        (folder / name).write_bytes(content)
    return FolderPlace(folder)


def test_a_lake_can_be_on_s3(
    tmp_path: Path, clock: Clock, bucket: BucketPlace, engine: Engine
) -> None:
    with Engine.memory(clock=clock.seconds) as engine:
        scene = Scene(tmp_path, engine, clock, bucket)
        for number in range(9):
            scene.shop("alex", f"SKU{number}")
            with scene.writer() as writer:
                assert writer.drain() == 1
                writer.maintain()
        scene.place = copy_to(bucket, tmp_path / "copy")
        assert scene.ask(EVENTS) == [[9, 9]]
        assert scene.current_lines() == scene.lines()


def test_two_writers_on_s3_cannot_both_commit(
    tmp_path: Path, clock: Clock, bucket: BucketPlace
) -> None:
    with Engine.memory(clock=clock.seconds) as engine:
        scene = Scene(tmp_path, engine, clock, bucket)
        scene.shop("alex", "LAMP")
        with scene.writer() as first:
            first.drain()
            other = BucketPlace("s3://shop-lake/prefix")
            with LakeWriter(scene.store, LAKES, other) as second:
                scene.shop("alex", "TEA")
                assert second.drain() == 1
                with pytest.raises(LakeFault, match="let one worker"):
                    first.drain()


def test_the_ddl_for_athena_names_columns_and_projected_partitions() -> None:
    text = athena_ddl(LAKES, "s3://shop-lake/prefix")
    assert "CREATE EXTERNAL TABLE IF NOT EXISTS bigtime.cart_lines_changes_files" in text
    assert "`price` decimal(18,4)" in text and "`entered_at` timestamp" in text
    assert "PARTITIONED BY (`year` int, `month` int, `day` int)" in text
    assert (
        "'storage.location.template' = 's3://shop-lake/prefix/CartTable/changes/cart_lines/" in text
    )
    assert text.count("CREATE OR REPLACE VIEW") == 2


# --- Declarations ---


def test_secrets_and_what_is_left_out_are_no_columns() -> None:
    assert "email" not in {name for kept in portal.SYSTEM.lakes for name in kept.fields}
    hidden = {"hash", "salt"}
    kept = lake(portal_code(), name="codes")
    assert not hidden & {*kept.fields}


def portal_code() -> Any:
    from bigtime.systems.portal.design import OneTimeCode

    return OneTimeCode


@pytest.mark.parametrize(
    ("entity", "options", "said"),
    [
        (cart.CartLine, {"name": "Cart Lines"}, "no name of a table"),
        (cart.CartLine, {"partition_by": ("day",)}, "partition_by"),
        (cart.CartLine, {"without": ("nothing",)}, "no field"),
        (accounts.SYSTEM.entities[0], {}, "no stream"),
    ],
)
def test_a_wrong_declaration_says_what_to_change(
    entity: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(DesignError, match=said):
        lake(entity, **options)


def test_a_month_may_be_a_folder(scene: Scene) -> None:
    monthly: Lake = lake(cart.CartLine, name="cart_lines", partition_by=("year", "month"))
    scene.shop("alex", "LAMP")
    with LakeWriter(scene.store, [monthly], scene.place) as writer:
        writer.drain()
        assert rebuild_current(writer.tables[0]) == 1
    (file,) = manifest(scene)["files"]
    assert "/month=" in file["name"] and "/day=" not in file["name"]
    assert Decimal(file["rows"]) == 1


@pytest.mark.parametrize("system", [cart.SYSTEM, shop.SYSTEM, deals.SYSTEM, catalog.SYSTEM])
def test_a_row_of_a_stored_item_is_that_of_its_entity(system: System) -> None:
    makers = {kept.entity: RowMaker(kept) for kept in system.lakes}
    assert system.demo is not None
    rows = 0
    for entity in system.demo.entities(Scale.SMALL, Random(1)):
        maker = makers.get(type(entity))
        if maker is not None:
            item = entity.layout.to_item(entity)
            assert maker.fields_of(item) == maker.entity_fields(item)
            rows += 1
    assert rows
