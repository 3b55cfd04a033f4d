"""What a run of the proofs leaves behind: a table to read, and figures for the guides."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from proofs.proof import PROOFS
from proofs.report import Report
from proofs.result import result, summary


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
    assert "SQLite" in saved["machine"] and saved["length"] == "full" and saved["date"]
    (row,) = saved["rows"]
    assert row["what"] == PROOFS["kills"].what and row["bar"] == PROOFS["kills"].bar
    assert row["seen"] == "1,000 kills, 2 files, 0 violations"
    assert row["counts"] == {"kills": 1_000, "files": 2} and row["seconds"] == 12.3


def test_a_broken_promise_is_shown_and_remembered() -> None:
    screen = Console(file=StringIO(), width=150)
    broken = report("write 7 is gone")
    broken.show(screen)
    assert broken.is_broken and not report().is_broken
    assert isinstance(screen.file, StringIO) and "write 7 is gone" in screen.file.getvalue()


def test_every_proof_is_longer_for_a_release() -> None:
    for proof in PROOFS.values():
        assert proof.short < proof.full < proof.release
