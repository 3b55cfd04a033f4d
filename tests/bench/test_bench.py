"""The bench measures what it says: its short form runs, and its witness can be believed."""

from __future__ import annotations

import faulthandler
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import workload
from bench.bare import BareFile, bare_item, blobs
from bench.durable import write
from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.report import Report
from bench.scale import QUICK
from bench.sync_witness import Witness
from bigtime.wire.values import item_size

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 1_800


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("bench") / "bench.json"
    command = [sys.executable, "-m", "bench", "--quick", "--output", str(file)]
    faulthandler.cancel_dump_traceback_later()  # on a busy machine it takes longer than any test
    done = subprocess.run(command, cwd=ROOT, check=False, timeout=MOST_SECONDS)
    assert done.returncode == 0, "a bar is missed"
    figures: dict[str, Any] = json.loads(file.read_text())
    return figures


@pytest.mark.bench
def test_a_run_saves_what_the_readme_shows(run: dict[str, Any]) -> None:
    assert {"python", "sqlite", "apsw", "moto"} <= set(run["versions"])
    assert run["machine"] and run["scale"]["large_items"]
    assert all(row["date"] for row in run["rows"])
    for row in run["rows"]:
        assert row["what"] and row["seen"] and isinstance(row["bar"], str)
    assert sum(row["met"] is not None for row in run["rows"]) >= 15


@pytest.mark.bench
def test_a_run_names_no_machine_and_no_path(run: dict[str, Any]) -> None:
    text = json.dumps(run)
    assert str(ROOT) not in text and str(Path.home()) not in text
    assert not any(socket.gethostname() == word for word in text.replace('"', " ").split())


@pytest.mark.bench
def test_what_is_not_measured_is_said(run: dict[str, Any]) -> None:
    sections = {row["section"] for row in run["rows"]} | set(run["skipped"])
    assert len(sections) == 15


def test_the_witness_sees_every_durable_write_synced_before_its_acknowledgement(
    tmp_path: Path,
) -> None:
    done = write(Witness(), tmp_path / "full.db", threads=4, writes=40)
    assert done.early == 0 and 0 < done.syncs <= 40


def test_the_witness_catches_acknowledgements_without_a_sync(tmp_path: Path) -> None:
    done = write(Witness(), tmp_path / "relaxed.db", threads=4, writes=40, durability="relaxed")
    assert done.early == 40


def test_the_bare_file_makes_no_cursor_for_a_statement_as_the_engine_makes_none(
    tmp_path: Path,
) -> None:
    made: list[apsw.Cursor] = []

    def make(connection: apsw.Connection) -> apsw.Cursor:
        made.append(apsw.Cursor(connection))
        return made[-1]

    with closing(BareFile(tmp_path / "bare.db")) as bare:
        bare.connection.cursor_factory = make
        bare.insert_plain([bare_item(workload.order(1))])
        bare.insert_indexed([bare_item(workload.order(2))])
        bare.read_all([blobs(workload.key(1))])
    assert made == []


@given(st.lists(st.floats(0.001, 10), min_size=2, max_size=20))
def test_a_contender_is_judged_by_its_best_round(seconds: list[float]) -> None:
    # The first round is for warming up, and does not count.
    ticks = clock_of(seconds)
    contender = Contender(lambda: None, operations=4, clock=lambda: next(ticks))
    with pytest.MonkeyPatch.context() as patch:
        # Where many tests have left much, to collect it takes longer than all the rest.
        patch.setattr("bench.race.collector_resting", nullcontext)
        best = race({"one": contender}, rounds=len(seconds) - 1)["one"]
    assert best == pytest.approx(min(seconds[1:]) / 4 * 1e6, rel=1e-6, abs=1e-3)


def clock_of(rounds: list[float]) -> Iterator[float]:
    for seconds in rounds:
        yield 0.0
        yield seconds


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6))
def test_a_bar_is_met_on_one_side_of_its_limit(limit: float, value: float) -> None:
    assert Bar("at most", limit, "us").is_met(value) == (value <= limit)
    assert Bar("at least", limit, "us").is_met(value) == (value >= limit)
    assert Bar("under", limit, "us").is_met(value) == (value < limit)


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6))
def test_with_room_a_bar_is_met_by_what_is_half_as_good(limit: float, value: float) -> None:
    assert Bar("at most", limit, "us").is_met(value, 2) == (value <= limit * 2)
    assert Bar("at least", limit, "us").is_met(value, 2) == (value >= limit / 2)


def test_a_run_with_room_fails_for_cpu_time_and_not_for_waiting() -> None:
    cpu = Figure("Query", 180.0, "us", bar=Bar("at most", 100, "us"))
    waiting = Figure("a change shows", 9_000, "ms", bar=Bar("at most", 1_000, "ms", on_wall=True))
    ratio = Figure("GetItem", 7.0, "us", 1.0, "for bare SQLite", 7.0, Bar("at most", 3, "x"))
    figures = (cpu, waiting, ratio)
    assert [figure.fails(1.0) for figure in figures] == [True, True, True]
    assert [figure.fails(1.1) for figure in figures] == [True, False, True]
    assert [figure.fails(2.0) for figure in figures] == [False, False, True]


def test_a_section_measured_alone_renews_its_figures_and_keeps_the_others(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    for section, microseconds in (("reads", 9.0), ("writes", 30.0), ("reads", 8.0)):
        report = Report(QUICK)
        report.collect(section, [Figure("Get", microseconds, "us")])
        report.save(file, ["reads", "writes"])
    rows = json.loads(file.read_text())["rows"]
    assert [(row["section"], row["ours"]) for row in rows] == [("reads", 8.0), ("writes", 30.0)]


def test_what_is_measured_again_is_judged_by_the_best_look() -> None:
    slow, quick = (Figure("Get", us, "us", bar=Bar("at most", 100, "us")) for us in (900.0, 90.0))
    few, many = (Figure("Save", part, "%", bar=Bar("at least", 85, "%")) for part in (10.0, 90.0))
    report = Report(QUICK)
    assert not report.collect("reads", [slow, many])
    assert report.collect("reads", [quick, few])
    assert report.sections["reads"] == [quick, many]
    assert report.collect("reads", [slow, few])
    assert report.failures == []


def test_a_bar_in_times_judges_the_ratio_and_any_other_our_own_amount() -> None:
    ratio = Figure("GetItem", 12.0, "us", 6.0, "for bare SQLite", 2.0, Bar("at most", 3, "x"))
    amount = Figure("Query", 180.0, "us", bar=Bar("at most", 150, "us"))
    assert (ratio.compared_value, ratio.is_met) == (2.0, True)
    assert (amount.compared_value, amount.is_met) == (180.0, False)
    assert ratio.summary == "2x (12 us beside 6 us for bare SQLite)"


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_order_is_one_kilobyte(number: int, place: int) -> None:
    assert item_size(workload.order(number, place)) == workload.ITEM_BYTES
