"""What the worker does of a deletion: the tables, the lake and search hold nothing in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime import site
from bigtime.engine import Engine
from bigtime.projections.lake import FolderPlace, LakeWriter, Query, run_queries, run_query
from bigtime.systems import portal
from bigtime.testing import Clock
from bigtime.web.erased_copies import ErasedCopies
from bigtime.web.http import Settings
from bigtime.web.worker import Worker
from tests.site.person import PASSWORD, SiteScene
from tests.web.browsing import SECRET, furnish_site
from tests.web.conftest import passwords_hashed_quickly

__all__ = ["passwords_hashed_quickly"]

REPORTED = (
    "orders-by-day",
    "revenue-by-brand",
    "revenue-by-category",
    "carts-by-day",
    "conversion",
    "funnel",
    "time-to-purchase",
    "trending",
    "campaigns",
    "plan-orders-by-day",
)
"""The reports that do not depend on who a person is."""


class CopyScene(SiteScene):
    """With a lake and search indexes, kept as the worker keeps them."""

    def __init__(self, engine: Engine, clock: Clock, folder: Path) -> None:
        super().__init__(engine, clock)
        self.folder = folder
        self.place = FolderPlace(folder / "lake")
        self.writer = LakeWriter(self.store, site.LAKES, self.place)
        self.followers = site.search_followers(f"folder:{folder}/search", self.store)
        self.in_lake = ErasedCopies(self.store)
        self.in_search = ErasedCopies(self.store)

    def catch_up(self) -> None:
        self.writer.drain()
        self.writer.maintain()
        for follower in self.followers:
            follower.run_round()
            if follower.updater is not None:
                follower.updater.catch_up()

    def ask(self, sql: str) -> list[list[Any]]:
        return run_query(self.place, site.LAKES, sql).rows

    def bytes_with(self, folder: str, text: str) -> list[Path]:
        """The files that have a text in them as it is."""
        found = (self.folder / folder).rglob("*")
        return [path for path in found if path.is_file() and text.encode() in path.read_bytes()]

    def generations(self) -> dict[str, str]:
        """Which files each search index has."""
        pointers = (self.folder / "search").rglob("current")
        return {path.parents[1].name: path.read_text() for path in pointers}

    def reports(self) -> dict[str, list[list[Any]]]:
        day = self.clock().date()
        asked = [site.REPORTS[name] for name in REPORTED]
        first = day.replace(year=day.year - 1, day=1)
        queries = [Query(each.sql, each.params(first, day), is_own=True) for each in asked]
        results = run_queries(self.place, site.LAKES, queries)
        return {each.name: result.rows for each, result in zip(asked, results, strict=True)}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[CopyScene]:
    clock = Clock()
    with Engine.memory(clock=clock.seconds, housekeeping=False) as engine:
        furnish_site(engine)
        scene = CopyScene(engine, clock, tmp_path)
        yield scene
        for follower in scene.followers:
            follower.close()
        scene.writer.close()


def test_the_lake_and_search_hold_nothing_within_a_day(scene: CopyScene) -> None:
    for name in ("alex", "kim"):
        scene.join(name)
        scene.live(name)
    tenant_id = scene.become_tenant("alex")
    scene.become_tenant("kim")
    scene.catch_up()
    reports = scene.reports()
    assert scene.bytes_with("lake", "alex")
    searches = site.Searches(f"folder:{scene.folder}/search")
    assert len(searches.search_tenants("alex").hits) == 1
    generations = scene.generations()

    erasure = scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.erase()
    scene.clock.advance(minutes=2)
    scene.in_lake.erase_in_lake(scene.writer)
    assert scene.run(site.view_erasures()), "the writer has not read all yet"
    scene.catch_up()
    scene.in_lake._looked_at = float("-inf")
    scene.in_lake.erase_in_lake(scene.writer)
    scene.in_search.erase_in_search(scene.followers)
    assert scene.run(site.view_erasures()) == []
    assert scene.reports() == reports

    scene.clock.advance(minutes=11)
    scene.catch_up()
    assert scene.bytes_with("lake", "alex") == []
    assert scene.bytes_with("lake", "kim")
    assert searches.search_tenants("alex").hits == []
    assert len(searches.search_tenants("kim").hits) == 1
    changed = generations.items() - scene.generations().items()
    assert [index for index, _ in changed] == ["tenants"], "files with deleted documents are gone"
    orders = scene.ask("SELECT DISTINCT username FROM orders ORDER BY 1")
    assert orders == [[erasure.pseudonym], ["kim"]]
    assert not scene.run(portal.get_tenant(tenant_id, include_inactive=True)).active


def test_the_lake_is_not_rewritten_for_every_account(scene: CopyScene) -> None:
    for name in ("alex", "kim"):
        scene.join(name)
        scene.run(site.delete_account(f"{name}@example.com", PASSWORD))
    scene.erase()
    scene.clock.advance(minutes=2)
    scene.catch_up()
    scene.in_lake.erase_in_lake(scene.writer)
    assert [task.in_lake for task in scene.run(site.view_erasures())] == [False, False]
    scene.join("bo")
    scene.run(site.delete_account("bo@example.com", PASSWORD))
    scene.erase()
    scene.clock.advance(minutes=2)
    scene.catch_up()
    scene.in_lake._looked_at = float("-inf")
    scene.in_lake.erase_in_lake(scene.writer)
    assert [task.in_lake for task in scene.run(site.view_erasures())][-1]
    scene.in_lake._erased_at -= scene.in_lake.apart_seconds
    scene.in_lake._looked_at = float("-inf")
    scene.in_lake.erase_in_lake(scene.writer)
    assert not [task for task in scene.run(site.view_erasures()) if task.in_lake]


def test_without_lake_and_search_the_task_ends_with_the_tables(scene: CopyScene) -> None:
    settings = Settings.model_validate({"secret": SECRET, "search": "off", "lake": "off"})
    worker = Worker(scene.store, settings)
    scene.join("alex")
    scene.live("alex")
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.clock.advance(minutes=6)
    for _ in range(2):
        for chore in worker.chores:
            if chore.name.startswith("deletions"):
                chore.do()
    assert scene.run(site.view_erasures()) == []
    scene.follow_orders()
    assert scene.traces("alex") == []
