"""`bigtime check` and `bigtime explain`: what a system is told about its patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from bigtime.cli.systems import system_named
from tests.cli.program import ask, run

ROOT = Path(__file__).parents[2]
DEALS = "tests.model.deals:SYSTEM"
FLAWED = "tests.model.flawed:SYSTEM"


def test_a_good_system_passes_and_its_exceptions_are_shown() -> None:
    done = run("check", DEALS, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "deals: 9 patterns, 8 entities, 0 found, 2 accepted"
    assert "accepted  scan send_to_all: it is for every user there is" in done.stdout


def test_a_flawed_system_fails_with_a_line_for_each_flaw() -> None:
    done = ask("check", FLAWED, cwd=ROOT)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("flawed: ")
    assert len([line for line in lines if line.startswith("found ")]) == 14
    assert any(line.startswith("found     scan list_products: no index answers") for line in lines)


@pytest.mark.proof
def test_all_systems_have_no_open_finding() -> None:
    assert ask("check").returncode == 0


def test_all_systems_are_checked_when_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [system_named(name) for name in ("sessions", "accounts")]
    monkeypatch.setattr("bigtime.cli.systems.all_systems", lambda: few)
    done = ask("check")
    assert done.returncode == 0
    heads = [line for line in done.stdout.splitlines() if " patterns, " in line]
    assert [head.partition(":")[0] for head in heads] == ["sessions", "accounts"]


def test_a_system_that_is_not_there_is_told_how_to_be_named() -> None:
    done = ask("check", "nothing")
    assert done.returncode == 2
    assert "There is no system 'nothing'" in done.stderr
    assert "package.module:ATTRIBUTE" in done.stderr


def test_a_system_of_ones_own_is_named_by_its_module(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text("")
    assert "Your own is desk:SYSTEM" in ask("check", "desk", cwd=tmp_path).stderr
    elsewhere = ask("check", "office:SYSTEM", cwd=tmp_path)
    assert elsewhere.returncode == 2
    assert "There is no module 'office' in this directory" in elsewhere.stderr


def test_a_module_without_that_system_is_told() -> None:
    done = ask("check", "tests.model.deals:Deal", cwd=ROOT)
    assert done.returncode == 2
    assert "tests.model.deals has no System called Deal" in done.stderr


def test_a_module_that_lacks_another_module_is_told(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("import nowhere_to_be_found\n")
    done = ask("check", "shop:SYSTEM", cwd=tmp_path)
    assert done.returncode == 1
    assert "shop cannot be imported: No module named 'nowhere_to_be_found'" in done.stderr


def test_a_module_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "import bigtime as bt\n\nEMAILS = bt.unique(None, 'email', taken=None)\n"
    )
    done = ask("check", "failing:SYSTEM", cwd=tmp_path)
    assert done.returncode == 1
    assert "failing cannot be imported: TypeError: unique() missing" in done.stderr
    assert "failing.py, line 3: EMAILS = bt.unique" in done.stderr


def test_a_wrong_declaration_is_told_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from bigtime.model.schema.table import Table, local_index\n"
        "Table('Orders', 'PK', indexes=[local_index('ByNote', 'a')])\n"
    )
    done = ask("check", "shop:SYSTEM", cwd=tmp_path)
    assert done.returncode == 1
    assert "shop:SYSTEM cannot work as it is declared: table Orders has a local" in done.stderr


def test_a_pattern_is_explained() -> None:
    done = ask("explain", f"{DEALS}.like_brand", "--region", "eu-west-1", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "TransactWriteItems" in done.stdout
    assert "4 write units, $2.82 for a million runs (prices of eu-west-1" in done.stdout


def test_requests_that_are_alike_share_a_row_and_can_be_seen_in_full() -> None:
    short = ask("explain", f"{DEALS}.forget_watchers", cwd=ROOT).stdout
    assert "2-6" in short
    full = ask("explain", f"{DEALS}.forget_watchers", "--requests", cwd=ROOT).stdout
    assert full.count('"DeleteItem"') == 6


def test_what_is_typed_is_explained_and_samples_stand_for_the_rest() -> None:
    typed = ask("explain", f"{DEALS}.like_brand", "--brand=ACME", "--requests", cwd=ROOT)
    assert typed.returncode == 0, typed.stderr
    assert "BRAND#ACME" in typed.stdout
    assert "BRANDLIKE#ACME#" in typed.stdout


def test_a_wrong_value_is_not_explained() -> None:
    done = ask("explain", f"{DEALS}.like_brand", "--brand", "a#b", cwd=ROOT)
    assert done.returncode == 2
    assert "--brand: String should match pattern" in done.stderr


def test_an_unknown_pattern_or_region_is_told_the_known_ones() -> None:
    done = ask("explain", f"{DEALS}.like", cwd=ROOT)
    assert done.returncode == 2
    assert "no pattern 'like'; it has create_deal, fetch_deal" in done.stderr
    done = ask("explain", f"{DEALS}.fetch_deal", "--region", "mars-1", cwd=ROOT)
    assert done.returncode == 2
    assert "no region 'mars-1'" in done.stderr
