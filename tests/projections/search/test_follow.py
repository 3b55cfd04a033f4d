"""Keeping an index: what is written is found, a crash repeats, and what is damaged is rebuilt."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime.model import SearchIndex, delete, setup
from bigtime.projections import search
from bigtime.projections.search import (
    BuildProgress,
    BuildsElsewhere,
    Follower,
    Query,
    SearchUnavailable,
    TantivyBackend,
)
from bigtime.projections.search import follower as following
from bigtime.projections.search.documents import Document
from bigtime.projections.search.port import IndexFault, Progress
from bigtime.projections.search.tantivy_index import TantivyWriter
from bigtime.store import DeadLetters, Store
from bigtime.systems import deals
from bigtime.wire import Request
from tests.projections.search.conftest import Find, PostDeal, keys

CatchUp = Callable[[], None]
ScannedPages = Callable[[Store, SearchIndex], Iterator[tuple[int, list[Document]]]]


def test_what_is_written_changed_and_deleted_is_followed(
    store: Store, post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    catch_up()
    lamp = post("A lamp", "30")
    catch_up()
    assert keys(find("lamp")) == [lamp.deal_id]
    store.run(deals.update_deal(lamp.deal_id, title="A torch", price=Decimal(20)))
    catch_up()
    assert find("lamp").total == 0 and keys(find("torch")) == [lamp.deal_id]
    store.run(delete(lamp.own_key()))
    catch_up()
    assert find("torch").total == 0


def test_a_reader_sees_a_commit_at_its_next_search(
    post: PostDeal, catch_up: CatchUp, backend: TantivyBackend
) -> None:
    catch_up()
    reader = backend.reader()
    assert reader.find(Query("lamp")).total == 0
    post("A lamp")
    catch_up()
    assert reader.find(Query("lamp")).total == 1


def test_the_first_index_of_a_store_is_no_reason_to_warn(
    follower: Follower, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bigtime.search"):
        follower.run_round()
    assert "search index deals is built anew" in caplog.text
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_a_new_deal_is_found_within_two_seconds(
    post: PostDeal, follower: Follower, catch_up: CatchUp, find: Find
) -> None:
    catch_up()
    post("A lamp")
    begun = time.monotonic()
    while not find("lamp").total:
        follower.run_round()
        time.sleep(0.05)
        assert time.monotonic() - begun < 30  # 2 on a machine that does nothing else
    assert following.COMMIT_SECONDS <= 1.5


def test_a_crash_before_the_commit_repeats_and_never_skips(
    store: Store, post: PostDeal, follower: Follower, backend: TantivyBackend, find: Find
) -> None:
    follower.run_round()
    posted = {post(f"Lamp {number}").deal_id for number in range(5)}
    follower.run_round()  # reads them, and may commit none
    follower.close()  # as a crash: without a commit
    again = Follower(store, backend)
    while any(turn.more for turn in again.run_round()):
        pass
    assert again.updater is not None
    again.updater.commit()
    assert {*keys(find("lamp"))} == posted
    again.close()


def test_the_checkpoint_is_part_of_the_commit(
    post: PostDeal, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    catch_up()
    post("A lamp")
    catch_up()
    assert follower.updater is not None
    reached = follower.updater.checkpoints.places
    follower.close()
    writer = backend.open_writer()
    assert writer.progress is not None and writer.progress.shards == reached
    assert any(saved.sequence for saved in reached.values())
    writer.close()


def test_after_a_thousand_commits_the_writer_is_opened_anew(
    monkeypatch: pytest.MonkeyPatch, post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    monkeypatch.setattr("bigtime.projections.search.tantivy_index.COMMITS_TO_A_WRITER", 2)
    for number in range(5):
        post(f"Lamp {number}")
        catch_up()
    assert find("lamp").total == 5


def test_a_rebuild_of_many_commits_has_each_item_once(
    store: Store,
    backend: TantivyBackend,
    post: PostDeal,
    find: Find,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posted = sorted(post(f"Lamp {number}").deal_id for number in range(11))
    monkeypatch.setattr(following, "BUILD_DOCUMENTS", 3)
    monkeypatch.setattr(following, "scanned_pages", single_pages)
    monkeypatch.setattr("bigtime.projections.search.tantivy_index.COMMITS_TO_A_WRITER", 2)
    assert search.rebuild(store, backend) == 11
    assert sorted(keys(find("lamp"))) == posted


def single_pages(
    store: Store, index: SearchIndex, pages: ScannedPages = following.scanned_pages
) -> Iterator[tuple[int, list[Document]]]:
    """The documents of a scan, one at a time."""
    for _, documents in pages(store, index):
        yield from ((1, [document]) for document in documents)


def test_what_was_changed_during_a_rebuild_is_found_once(
    store: Store, backend: TantivyBackend, post: PostDeal, find: Find
) -> None:
    lamp = post("A lamp")

    def change(progress: BuildProgress) -> None:
        store.run(deals.update_deal(lamp.deal_id, title="A lamp and a torch"))

    assert search.rebuild(store, backend, note=change) == 1
    assert keys(find("lamp")) == keys(find("torch")) == [lamp.deal_id]


def test_a_second_writer_is_refused_and_the_index_is_not_rebuilt(
    store: Store, catch_up: CatchUp, backend: TantivyBackend
) -> None:
    catch_up()
    generation = backend.folder.current()
    second = Follower(store, backend)
    with pytest.raises(IndexFault, match="LockBusy"):
        second.run_round()
    assert backend.folder.current() == generation


# What is missing, old or damaged


def ruin_meta(generation: Path) -> None:
    (generation / "meta.json").write_text("{")


def remove_meta(generation: Path) -> None:
    (generation / "meta.json").unlink()


def truncate_terms(generation: Path) -> None:
    for file in generation.glob("*.term"):
        file.write_bytes(b"xx")


def remove_postings(generation: Path) -> None:
    for file in generation.glob("*.idx"):
        file.unlink()


def remove_all(generation: Path) -> None:
    for file in generation.iterdir():
        file.unlink()


@pytest.mark.parametrize(
    "harm", [ruin_meta, remove_meta, truncate_terms, remove_postings, remove_all]
)
def test_a_damaged_index_is_rebuilt_and_that_is_said(
    harm: Callable[[Path], None],
    store: Store,
    post: PostDeal,
    catch_up: CatchUp,
    follower: Follower,
    backend: TantivyBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    lamp = post("A lamp")
    catch_up()
    follower.close()
    generation = backend.folder.current()
    assert generation is not None
    harm(generation)
    with pytest.raises(SearchUnavailable):
        backend.reader().find(Query("lamp"))
    with caplog.at_level(logging.WARNING, "bigtime.search"):
        follower.run_round()
    assert "search index deals is built anew" in caplog.text
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert keys(backend.reader().find(Query("lamp"))) == [lamp.deal_id]
    assert not generation.exists()


def test_damage_that_a_reader_finds_is_rebuilt_by_the_running_worker(
    post: PostDeal, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    lamp = post("A lamp")
    catch_up()
    generation = backend.folder.current()
    assert generation is not None
    for file in generation.glob("*.store"):
        ruined = bytearray(file.read_bytes())
        ruined[5:40] = b"\xff" * 35
        file.write_bytes(ruined)
    with pytest.raises(SearchUnavailable):
        backend.reader().find(Query("lamp"))
    follower.run_round()
    assert backend.folder.current() != generation
    assert keys(backend.reader().find(Query("lamp"))) == [lamp.deal_id]


def test_commits_that_fail_again_and_again_have_the_index_rebuilt(
    monkeypatch: pytest.MonkeyPatch,
    post: PostDeal,
    catch_up: CatchUp,
    follower: Follower,
    backend: TantivyBackend,
) -> None:
    catch_up()
    generation = backend.folder.current()

    def fail(*_: Any) -> None:
        raise IndexFault("no")

    with monkeypatch.context() as patch:
        patch.setattr(TantivyWriter, "write", fail)
        patch.setattr(following, "COMMIT_SECONDS", 0.0)
        post("A lamp")
        for _ in range(following.MOST_FAULTS):
            with pytest.raises(IndexFault):
                follower.run_round()
    catch_up()
    assert backend.folder.current() != generation
    assert backend.reader().find(Query("lamp")).total == 1


def test_an_index_of_another_declaration_is_another_folder(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, tmp_path: Path
) -> None:
    post("A lamp")
    catch_up()
    follower.close()
    other = search_of_titles()
    newer = TantivyBackend(tmp_path / "search", other)
    with pytest.raises(SearchUnavailable):
        newer.reader().find(Query("lamp"))
    assert newer.reader().status().state == "missing"
    assert search.rebuild(store, newer) == 1
    assert newer.reader().find(Query("lamp")).total == 1
    folders = [each.name for each in (tmp_path / "search" / "deals").iterdir()]
    assert folders == [newer.folder.path.name]


def search_of_titles() -> Any:
    from bigtime.model import search as declare

    return declare(deals.Deal, text=("title",))


def test_an_index_that_was_left_for_a_day_is_rebuilt(
    store: Store, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    catch_up()
    follower.close()
    writer = backend.open_writer()
    assert writer.progress is not None
    before = writer.progress
    long_ago = before.followed_at - timedelta(hours=24)
    writer.write({}, Progress(before.stream, before.built_at, long_ago, before.shards))
    writer.close()
    generation = backend.folder.current()
    catch_up()
    assert backend.folder.current() != generation


def test_an_index_of_a_table_that_was_made_anew_is_rebuilt(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, find: Find
) -> None:
    post("A lamp")
    catch_up()
    follower.checked_at = 0.0  # a minute has passed
    store.run(drop_table())
    store.run(setup(deals.SYSTEM))
    catch_up()
    assert find("lamp").total == 0


def drop_table() -> Any:
    yield Request("DeleteTable", {"TableName": "BigTimeDeals"})


def test_an_item_that_cannot_be_read_is_left_out_and_stops_nothing(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, find: Find
) -> None:
    lamp = post("A lamp")
    store.run(put_broken("1"))
    catch_up()  # builds
    store.run(put_broken("2"))
    torch = post("A torch")
    for _ in range(20):
        try:
            catch_up()
        except ValueError:
            continue
        break
    assert keys(find("lamp")) == [lamp.deal_id] and keys(find("torch")) == [torch.deal_id]
    letters = store.run(DeadLetters().of("search.deals"))
    keys_aside = [letter.record["dynamodb"]["Keys"]["PK"]["S"] for letter in letters]
    assert sorted(keys_aside) == ["DEAL#1", "DEAL#2"]


def put_broken(name: str) -> Any:
    key = {"S": f"DEAL#{name}"}
    item = {"PK": key, "SK": key, "Type": {"S": "Deal"}}
    yield Request("PutItem", {"TableName": "BigTimeDeals", "Item": item})


# Rebuilding


def test_searching_goes_on_while_an_index_is_rebuilt(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    for number in range(5):
        post(f"Lamp {number}")
    catch_up()
    reader = backend.reader()
    seen: list[tuple[BuildProgress, int, Any]] = []

    def look(progress: BuildProgress) -> None:
        post(f"Lamp {progress.done}")  # written after the scan of this page
        status = reader.status()
        seen.append((progress, reader.find(Query("lamp")).total, status))

    search.rebuild(store, backend, note=look)
    (progress, total, status) = seen[-1]
    assert total == 5 and 0 < progress.done <= progress.total
    assert status.state == "ready" and status.building == progress
    assert reader.find(Query("lamp")).total == 5 + len(seen)
    assert reader.status().building is None
    catch_up()  # the worker takes the new generation
    assert follower.updater is not None
    assert reader.find(Query("lamp")).total == 5 + len(seen)
    post("Lamp")
    catch_up()
    assert reader.find(Query("lamp")).total == 6 + len(seen)


def test_two_rebuilds_at_once_are_one_too_many(store: Store, backend: TantivyBackend) -> None:
    with backend.build(), pytest.raises(BuildsElsewhere):
        search.rebuild(store, backend)


def test_a_rebuild_that_fails_leaves_no_trace(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    post("A lamp")
    catch_up()

    def fail(_: BuildProgress) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        search.rebuild(store, backend, note=fail)
    kept = [each.name for each in backend.folder.path.iterdir() if each.is_dir()]
    assert [backend.folder.path / name for name in kept] == [backend.folder.current()]
    assert backend.reader().find(Query("lamp")).total == 1


# How far behind


def test_a_status_says_how_many_and_up_to_when(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower, backend: TantivyBackend
) -> None:
    assert backend.reader().status().state == "missing"
    post("A lamp")
    catch_up()
    status = backend.reader().status()
    assert (status.state, status.documents) == ("ready", 1)
    assert status.built_at and status.followed_at and status.followed_at >= status.built_at
    assert status.bytes > 1_000
    assert follower.behind(store.clock()) < timedelta(seconds=30)


def test_what_is_not_committed_counts_as_behind(
    store: Store, post: PostDeal, catch_up: CatchUp, follower: Follower
) -> None:
    catch_up()
    time.sleep(0.05)
    post("A lamp")
    follower.run_round()
    assert follower.updater is not None and follower.updater.pending
    assert follower.behind(store.clock()) >= timedelta(milliseconds=1)


def test_a_progress_file_that_is_half_written_is_no_error(backend: TantivyBackend) -> None:
    with backend.build():
        backend.folder.progress_file.write_text(json.dumps([1])[:2])
        assert backend.folder.progress() == BuildProgress(0, 0)
