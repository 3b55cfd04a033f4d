"""An account that is erased is in no file of the lake, and the numbers stay as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import Ksuid, all_of, random_bytes
from bigtime.projections.lake import BucketPlace, FolderPlace, LakeWriter, Replacement, run_query
from bigtime.projections.lake.manifest import files_from_names, next_name
from bigtime.projections.lake.places import FolderPlace as Folder
from bigtime.systems import cart
from bigtime.systems.cart.design import CartLine
from bigtime.systems.cart.line import PERSONAL
from bigtime.testing import Clock
from tests.projections.conftest import LAKES, Scene
from tests.projections.test_lake import bucket, copy_to

__all__ = ["bucket"]

NEW = "deleted-0011"
TOTALS = (
    "SELECT count(*) FILTER (change = 'INSERT' AND status = 'ACTIVE'),"
    " count(*) FILTER (change = 'INSERT' AND status = 'PURCHASED'),"
    " count(DISTINCT account_id), sum(price * count) FILTER (change = 'INSERT')"
    " FROM cart_lines_changes"
)
CARTS = "SELECT entered_at::DATE, count(DISTINCT account_id) FROM cart_lines_changes GROUP BY 1"


def live(scene: Scene, account: str) -> None:
    scene.shop(account, "LAMP", "TEA")
    order_id = Ksuid.make(scene.clock(), scene.store.run(random_bytes(16)))
    scene.store.run(cart.purchase(account, order_id))
    scene.clock.advance(hours=5)
    scene.shop(account, "MILK")


def erase_in_table(scene: Scene, account: str, new: str = NEW) -> Replacement:
    data = PERSONAL[0]
    assert data.erase is not None
    lines = CartLine.within("main", account_id=account)
    for line in scene.store.run(all_of(lines)):
        scene.store.run(data.erase(line, new))
    return Replacement("account_id", account, new, scene.clock())


def erase_in_lake(scene: Scene, writer: LakeWriter, *wanted: Replacement) -> None:
    scene.clock.advance(minutes=2)
    writer.drain()
    assert writer.replace_ids({"cart_lines": wanted})


def texts_in_files(folder: Path) -> Counter[str]:
    """Which accounts any file of the lake names, also one that no manifest names any more."""
    import duckdb

    found: Counter[str] = Counter()
    for path in folder.rglob("*.parquet"):
        query = f"SELECT account_id, item_key FROM read_parquet('{path}')"
        rows = duckdb.connect().execute(query).fetchall()
        found.update(str(value) for row in rows for value in row)
    return found


def test_no_file_names_the_account_and_the_totals_stay(scene: Scene, clock: Clock) -> None:
    assert isinstance(scene.place, FolderPlace)
    with scene.writer() as writer:
        for account in ("alex", "alexa", "kim"):
            live(scene, account)
            writer.drain()
            writer.maintain()
        totals, carts = scene.ask(TOTALS), sorted(scene.ask(CARTS))
        erase_in_lake(scene, writer, erase_in_table(scene, "alex"))
        assert scene.ask(TOTALS) == totals
        assert sorted(scene.ask(CARTS)) == carts
        assert scene.current_lines() == scene.lines()
        assert scene.lines()[NEW, "LAMP", "1"] == 1
        clock.advance(minutes=11)
        writer.maintain()
        named = texts_in_files(scene.place.folder)
        assert not [text for text in named if "alex" in text.replace("alexa", "")]
        assert named["alexa"] and named[NEW]
    with scene.writer() as writer:
        assert writer.drain() == 0
    assert scene.ask(TOTALS) == totals
    assert scene.current_lines() == scene.lines()


def test_a_moved_item_has_one_history(scene: Scene) -> None:
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        erase_in_lake(scene, writer, erase_in_table(scene, "alex"))
    rows = scene.ask(
        "SELECT item_key, list(change ORDER BY position) FROM cart_lines_changes"
        " WHERE status = 'PURCHASED' GROUP BY 1"
    )
    assert [changes for _, changes in rows] == [["INSERT"], ["INSERT"]]
    keys = {key for key, _ in rows}
    assert keys == {key for (key,) in scene.ask("SELECT item_key FROM cart_lines")}


def test_it_waits_for_what_was_not_read_yet(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        wanted = erase_in_table(scene, "alex")
        assert not writer.replace_ids({"cart_lines": [wanted]})
        clock.advance(minutes=2)
        assert not writer.replace_ids({"cart_lines": [wanted]})
        erase_in_lake(scene, writer, wanted)


def test_an_account_of_that_name_that_came_later_keeps_it(scene: Scene, clock: Clock) -> None:
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        wanted = erase_in_table(scene, "alex")
        clock.advance(minutes=10)
        scene.shop("alex", "NEW")
        erase_in_lake(scene, writer, wanted)
    assert scene.current_lines()["alex", "NEW", "1"] == 1
    rows = scene.ask("SELECT item_sku FROM cart_lines_changes WHERE account_id = 'alex'")
    assert rows == [["NEW"]]


def test_done_again_it_changes_nothing(scene: Scene) -> None:
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        wanted = erase_in_table(scene, "alex")
        erase_in_lake(scene, writer, wanted)
        before = scene.ask("SELECT * FROM cart_lines_changes ORDER BY position")
        manifest = writer.tables[0].manifest.to_json()
        erase_in_lake(scene, writer, wanted)
        assert scene.ask("SELECT * FROM cart_lines_changes ORDER BY position") == before
        assert writer.tables[0].manifest.to_json() == manifest


def test_several_accounts_at_once(scene: Scene) -> None:
    with scene.writer() as writer:
        for account in ("alex", "bo", "kim"):
            live(scene, account)
        writer.drain()
        writer.maintain()
        totals = scene.ask(TOTALS)
        wanted = [erase_in_table(scene, name, f"deleted-{name[0]}") for name in ("alex", "bo")]
        erase_in_lake(scene, writer, *wanted)
    assert scene.ask(TOTALS) == totals
    accounts = scene.ask("SELECT DISTINCT account_id FROM cart_lines_changes ORDER BY 1")
    assert accounts == [["deleted-a"], ["deleted-b"], ["kim"]]


def test_a_place_that_fails_in_the_middle_loses_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        totals = scene.ask(TOTALS)
        wanted = erase_in_table(scene, "alex")
        added: list[str] = []
        add = Folder.add

        def fail(self: Any, name: str, write: Any) -> int:
            added.append(name)
            if "-1.parquet" in name and len(added) > 2:
                raise OSError("the disk is full")
            return add(self, name, write)

        with monkeypatch.context() as patch:
            patch.setattr(Folder, "add", fail)
            with pytest.raises(OSError, match="the disk is full"):
                erase_in_lake(scene, writer, wanted)
        scene.shop("kim", "LAMP")
        writer.drain()
        writer.maintain()
        erase_in_lake(scene, writer, wanted)
    assert scene.ask(TOTALS)[0][1] == totals[0][1]
    assert scene.ask("SELECT count(*) FROM cart_lines_changes WHERE account_id = 'alex'") == [[0]]


def test_on_s3_it_is_the_same(tmp_path: Path, clock: Clock, bucket: BucketPlace) -> None:
    with Engine.memory(clock=clock.seconds) as engine:
        scene = Scene(tmp_path, engine, clock, bucket)
        with scene.writer() as writer:
            for account in ("alex", "kim"):
                live(scene, account)
            writer.drain()
            writer.maintain()
            erase_in_lake(scene, writer, erase_in_table(scene, "alex"))
            clock.advance(minutes=11)
            writer.maintain()
        scene.place = copy_to(bucket, tmp_path / "copy")
        assert scene.current_lines() == scene.lines()
        assert not [text for text in texts_in_files(tmp_path / "copy") if "alex" in text]


def test_a_manifest_made_anew_takes_the_file_that_was_written_last(scene: Scene) -> None:
    assert isinstance(scene.place, FolderPlace)
    with scene.writer() as writer:
        live(scene, "alex")
        writer.drain()
        writer.maintain()
        erase_in_lake(scene, writer, erase_in_table(scene, "alex"))
        events = scene.ask("SELECT event_id FROM cart_lines_changes ORDER BY 1")
    (scene.place.folder / "CartTable" / "_manifest.json").unlink()
    with scene.writer() as writer:
        writer.maintain()
    assert not [row for row in scene.ask("SELECT account_id FROM cart_lines") if row == ["alex"]]
    assert [
        row for row in events if row in scene.ask("SELECT event_id FROM cart_lines_changes")
    ] == events


def test_names_of_files_that_are_written_anew() -> None:
    first = "CartTable/changes/cart_lines/year=2026/month=11/day=16/1-90.parquet"
    second, third = next_name(first), next_name(next_name(first))
    assert second.endswith("/1-90-1.parquet") and third.endswith("/1-90-2.parquet")
    restored = first.replace("1-90", "restored-5-0")
    sizes = dict.fromkeys((first, second, third, restored, next_name(restored)), 1)
    found = files_from_names(sizes)
    assert [file.name for file in found] == [third, next_name(restored)]
    assert [(file.first, file.last, file.restored) for file in found] == [
        (1, 90, False),
        (5, 5, True),
    ]


ERASER = """
import os, sys, signal
from datetime import datetime, timedelta
from pathlib import Path
from bigtime.projections.lake import FolderPlace, LakeWriter, Replacement
from bigtime.formats import places
from bigtime.store import open_store
from bigtime.systems import cart

left = int(sys.argv[3])
def dies(function):
    def call(*given, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **more)
    return call
for name in ("make_folder", "write_whole", "sync"):
    setattr(places, name, dies(getattr(places, name)))
for name in ("add", "write", "remove"):
    setattr(FolderPlace, name, dies(getattr(FolderPlace, name)))
later = datetime.fromisoformat(sys.argv[4])
with open_store(sys.argv[1]) as store:
    store.clock = lambda: later
    with LakeWriter(store, cart.SYSTEM.lakes, FolderPlace(Path(sys.argv[2]))) as writer:
        writer.drain()
        until = later - timedelta(minutes=3)
        wanted = {"cart_lines": [Replacement("account_id", "alex", "deleted-0011", until)]}
        sys.exit(0 if writer.replace_ids(wanted) else 3)
"""


@pytest.mark.proof
def test_a_kill_at_any_write_leaves_all_or_nothing(tmp_path: Path) -> None:
    clock = Clock()
    file, place = tmp_path / "carts.db", FolderPlace(tmp_path / "lake")
    with Engine.open(file, durability="relaxed", clock=clock.seconds) as engine:
        scene = Scene(tmp_path, engine, clock, place)
        with scene.writer() as writer:
            for account in ("alex", "kim", "bo"):
                live(scene, account)
                writer.drain()
            writer.maintain()
        totals = scene.ask(TOTALS)
        erase_in_table(scene, "alex")
        later = (clock() + timedelta(minutes=4)).isoformat()
        kills = 0
        for kill in range(1, 60):
            command = [sys.executable, "-c", ERASER, f"file:{file}", str(place.folder)]
            done = subprocess.run([*command, str(kill), later], env={**os.environ}, check=False)
            found = run_query(place, LAKES, TOTALS).rows
            assert found[0][0] == totals[0][0] and found[0][3] >= totals[0][3]
            assert done.returncode in (0, -signal.SIGKILL)
            if done.returncode == 0:
                break
            kills += 1
        assert kills > 8, kills
        assert run_query(place, LAKES, TOTALS).rows == totals
        assert scene.current_lines() == scene.lines()
        left = "SELECT count(*) FROM cart_lines_changes WHERE account_id = 'alex'"
        assert run_query(place, LAKES, left).rows == [[0]]
