"""What a run of the proofs leaves behind: a table to read, and figures for the guides."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from proofs import pace
from proofs.proof import PROOFS, Proof
from proofs.report import Report
from proofs.result import Result, result, summary


def report(*violations: str) -> Report:
    report = Report("full")
    report.collect("kills", result({"kills": 1_000, "files": 2}, list(violations)), 12.34)
    return report


def test_a_summary_says_how_often_and_what_was_skipped() -> None:
    found = result({"kills": 1_000}, ["lost"], ["no strace"])
    assert summary(found) == "1,000 kills, 1 violations, skipped: no strace"


def test_figures_have_what_the_guides_show(tmp_path: Path) -> None:
    report().save(tmp_path / "proofs.json")
    saved = json.loads((tmp_path / "proofs.json").read_text())
    (row,) = saved["rows"]
    assert "SQLite" in row["machine"] and row["length"] == "full" and row["date"]
    assert row["what"] == PROOFS["kills"].what and row["bar"] == PROOFS["kills"].bar
    assert row["seen"] == "1,000 kills, 2 files, 0 violations"
    assert row["counts"] == {"kills": 1_000, "files": 2} and row["seconds"] == 12.3


def test_each_proof_and_length_has_a_row_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    report().save(path)
    longer = Report("release")
    longer.collect("kills", result({"kills": 10_000, "files": 9}, []), 99.0)
    longer.collect("torn", result({"torn files": 5}, []), 1.0)
    longer.save(path)
    report().save(path)
    rows = json.loads(path.read_text())["rows"]
    assert [(row["proof"], row["length"]) for row in rows] == [
        ("kills", "full"),
        ("kills", "release"),
        ("torn", "release"),
    ]


def test_a_proof_that_takes_too_long_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(count: int) -> Result:
        done = 0
        while done < count and not pace.is_over():
            done += 1
        return result({"trials": done}, [])

    proof = Proof("P0", "none", run, short=1, full=2, release=3)
    assert summary(proof.result("release")) == "3 trials, 0 violations"
    monkeypatch.setattr(pace, "LONGEST_SECONDS", 0.0)
    assert summary(proof.result("full")) == "2 trials, 0 violations"
    cut = "skipped: the rest, for it was cut after an hour"
    assert summary(proof.result("release")) == f"0 trials, 0 violations, {cut}"


def test_a_broken_promise_is_shown_and_remembered() -> None:
    screen = Console(file=StringIO(), width=150)
    broken = report("write 7 is gone")
    broken.show(screen)
    assert broken.is_broken and not report().is_broken
    assert isinstance(screen.file, StringIO) and "write 7 is gone" in screen.file.getvalue()


def test_every_proof_is_longer_for_a_release() -> None:
    for proof in PROOFS.values():
        assert proof.short < proof.full < proof.release
