"""The bench of the systems runs at any scale, and does not believe what did not happen."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bench.__main__ import TITLES, Section, run
from bench.figure import Figure, NotHere
from bench.scale import QUICK
from bench.systems_cache import reads_saved
from bench.systems_filling import check_room, demo_of, fill
from bench.systems_messages import AUDIENCES, Audience, build, tell
from bench.systems_reads import full_page
from bigtime.engine import Engine
from bigtime.model import UNTIL
from bigtime.store import Store
from bigtime.systems import catalog, deals
from bigtime.systems.catalog.design import Deal as CatalogDeal
from bigtime.systems.deals.design import Deal

TINY = replace(
    QUICK,
    rounds=1,
    operations=10,
    few_deals=6_000,
    many_deals=7_000,
    few_users=20,
    many_users=150,
    deals=200,
    cached_deals=40,
    zipf_reads=2_000,
)
QUIET = Console(file=StringIO())


@pytest.fixture(scope="module")
def figures() -> list[Figure]:
    return run(TINY, [Section.systems], QUIET).sections[TITLES[Section.systems]]


@pytest.mark.bench
def test_every_bar_of_the_systems_is_measured(figures: list[Figure]) -> None:
    bars = [str(figure.bar) for figure in figures if figure.bar is not None]
    assert bars == [
        "at most 100 us",
        "at most 500 us",
        "at most 1.50x",
        "at most 1.50x",
        *["at most 200 us", "at most 1.30x"] * 3,
        "at most 20 us",
        "at least 85 %",
    ]


@pytest.mark.bench
def test_figures_say_of_how_much_they_are(figures: list[Figure]) -> None:
    said = " ".join(f"{figure.what} {figure.beside}" for figure in figures)
    for count in ("7,000", "6,000", "150", "20", "s = 1.1", "200 deals", "room for 40"):
        assert count in said


@pytest.mark.bench
def test_what_is_measured_takes_time_and_room(figures: list[Figure]) -> None:
    assert all(figure.ours > 0 and (figure.other is None or figure.other > 0) for figure in figures)


@pytest.mark.parametrize("audience", AUDIENCES, ids=["deals", "catalog"])
def test_a_user_who_was_not_told_is_noticed(audience: Audience, tmp_path: Path) -> None:
    path = build(audience, 30, tmp_path, QUIET)
    for task in audience.ways:
        with pytest.raises(AssertionError, match="30 of 31 users were told"):
            tell(task, path, 31)


def test_a_page_that_is_not_full_is_noticed() -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine, clock=lambda: UNTIL)
        few = list(demo_of(deals.SYSTEM, Deal, 5))
        fill(store, deals.SYSTEM, few, len(few), QUIET)
        with pytest.raises(AssertionError, match="deals"):
            store.run(full_page(few[0].brand_name, None))


def test_a_disk_without_room_is_said_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="MB of disk"):
        check_room(tmp_path, 10**12, 10**6)


def test_the_cache_saves_more_reads_the_more_it_holds() -> None:
    with Engine.memory(housekeeping=False) as engine:
        made = list(demo_of(catalog.SYSTEM, CatalogDeal, 100))
        fill(Store(engine), catalog.SYSTEM, made, len(made), QUIET)
        ids = [each.deal_id for each in made]
        saved = [
            reads_saved(replace(TINY, cached_deals=room), engine, ids).ours
            for room in (0, 10, 50, 100)
        ]
    assert saved[0] == 0
    assert saved == sorted(set(saved))
    assert saved[-1] == pytest.approx(100 * (1 - len(ids) / TINY.zipf_reads), abs=1)
