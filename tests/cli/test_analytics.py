"""`bigtime analytics`, as it is typed."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.model import setup
from bigtime.site import REPORTS
from bigtime.site.systems import SYSTEMS
from bigtime.store import open_store
from bigtime.systems import cart
from tests.cli.program import invoke


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of the site's tables, which one cart is in."""
    folder = tmp_path_factory.mktemp("analytics")
    store = f"file:{folder}/site.db"
    with open_store(store) as opened:
        for system in SYSTEMS:
            opened.run(setup(system))
        opened.run(cart.put_in_cart("alex", "LAMP", Decimal("19.99"), 2))
        opened.run(cart.put_in_cart("kim", "LAMP", Decimal("19.99"), 1))
    done = invoke("analytics", "rebuild", "--lake", folder / "lake", "--store", store)
    assert done.exit_code == 0, done.output
    assert "2 new changes, and 2 items from scans" in done.output
    return folder / "lake"


def test_sql_is_shown_as_a_table(lake: Path) -> None:
    done = invoke(
        "analytics",
        "sql",
        "SELECT item_sku, sum(count) n FROM cart_lines GROUP BY 1",
        "--lake",
        lake,
    )
    assert done.exit_code == 0, done.output
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["item_sku", "n"],
        ["LAMP", "3"],
        ["1", "row"],
    ]


def test_sql_is_shown_as_json_and_csv(lake: Path) -> None:
    sql = "SELECT account_id, price * count AS value FROM cart_lines ORDER BY 1"
    done = invoke("analytics", "sql", sql, "--lake", lake, "--format", "json")
    assert json.loads(done.stdout)[0] == {"account_id": "alex", "value": "39.9800"}
    done = invoke("analytics", "sql", sql, "--lake", lake, "--format", "csv")
    assert [*csv.reader(done.stdout.splitlines())][1] == ["alex", "39.9800"]


def test_an_error_is_one_line(lake: Path) -> None:
    done = invoke("analytics", "sql", "SELECT nothing FROM cart_lines", "--lake", lake)
    assert done.exit_code == 1
    assert done.stderr.startswith("Binder Error:") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_runs(lake: Path, name: str) -> None:
    done = invoke("analytics", "report", name, "--lake", lake)
    assert done.exit_code == 0, done.output
    assert REPORTS[name].title in done.stdout and "row" in done.stdout


def test_reports_are_listed(lake: Path) -> None:
    done = invoke("analytics", "report")
    assert all(name in done.stdout for name in REPORTS)
    done = invoke("analytics", "report", "nothing", "--lake", lake)
    assert done.exit_code == 2 and "carts-by-day" in done.stderr


def test_days_that_are_none_are_refused(lake: Path) -> None:
    done = invoke("analytics", "report", "sign-ups", "--lake", lake, "--since", "yesterday")
    assert done.exit_code == 2 and "2026-11-16" in done.stderr
    done = invoke("analytics", "report", "sign-ups", "--lake", lake, "--since", "2999-01-01")
    assert done.exit_code == 2
    days = ("--since", "2026-11-01", "--until", "today")
    done = invoke("analytics", "report", "sign-ups", "--lake", lake, *days)
    assert done.exit_code == 2 and done.stderr.startswith("today is no day")


def test_days_may_be_the_first_there_are(lake: Path) -> None:
    done = invoke("analytics", "report", "sign-ups", "--lake", lake, "--until", "0001-01-01")
    assert done.exit_code == 0 and "0001-01-01 to 0001-01-01" in done.stdout


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_tables_and_reports_are_exported(lake: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"lines.{ending}"
    done = invoke("analytics", "export", "cart_lines_changes", "--lake", lake, "--out", out)
    assert done.exit_code == 0 and done.stdout.startswith("2 rows"), done.output
    done = invoke("analytics", "export", "carts-by-day", "--lake", lake, "--out", out)
    assert done.exit_code == 2 and "--force" in done.stderr
    done = invoke("analytics", "export", "carts-by-day", "--lake", lake, "--out", out, "--force")
    assert done.exit_code == 0 and done.stdout.startswith("1 rows"), done.output
    done = invoke("analytics", "export", "nothing", "--lake", lake, "--out", tmp_path / "x.csv")
    assert done.exit_code == 1 and "no table or report" in done.stderr


def test_a_rebuild_finds_damage(tmp_path: Path) -> None:
    store = f"file:{tmp_path}/site.db"
    with open_store(store) as opened:
        for system in SYSTEMS:
            opened.run(setup(system))
        opened.run(cart.put_in_cart("alex", "LAMP", Decimal("19.99"), 2))
    where = ("--lake", tmp_path / "lake")
    assert invoke("analytics", "rebuild", *where, "--store", store).exit_code == 0
    (changes,) = (tmp_path / "lake").glob("CartTable/changes/**/*.parquet")
    changes.write_bytes(bytes(changes.stat().st_size))
    done = invoke("analytics", "rebuild", *where, "--store", store)
    assert done.exit_code == 0, done.output
    done = invoke("analytics", "sql", "SELECT count(*) FROM cart_lines_changes", *where)
    assert done.exit_code == 0 and done.stdout.split()[-3] == "0", done.output
    assert "has a gap" in invoke("analytics", "report", "carts-by-day", *where).stderr


def test_status_and_ddl(lake: Path, tmp_path: Path) -> None:
    done = invoke("analytics", "status", "--lake", lake)
    assert done.exit_code == 0 and "CartTable" in done.stdout
    done = invoke("analytics", "status", "--lake", tmp_path / "none")
    assert done.exit_code == 1 and "bigtime analytics rebuild" in done.stderr
    done = invoke("analytics", "ddl", "--location", "s3://bucket/lake")
    assert "CREATE EXTERNAL TABLE" in done.stdout
    assert invoke("analytics", "ddl", "--location", "lake").exit_code == 2
