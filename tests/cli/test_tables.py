"""`bigtime tables`: made once, compared ever after."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bigtime.cli.app import app
from bigtime.engine import Engine
from bigtime.store import Store
from bigtime.wire import Request, Response
from tests.cli.program import ask, server

ROOT = Path(__file__).parents[2]
DEALS = "tests.model.deals:SYSTEM"
WAITED = """\
created table BigTimeDeals
waiting: table BigTimeDeals is being made or changed
"""


def test_tables_are_made_once_and_then_as_declared(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'shop.db'}"
    before = ask("tables", "diff", DEALS, "--store", store, cwd=ROOT)
    assert before.returncode == 1
    assert list(tmp_path.iterdir()) == []  # it only looked
    assert "missing  BigTimeDeals: the table is not there; create it" in before.stdout
    made = ask("tables", "create", DEALS, "--store", store, cwd=ROOT)
    assert (made.returncode, made.stdout) == (0, "created table BigTimeDeals\n")
    again = ask("tables", "create", DEALS, "--store", store, cwd=ROOT)
    assert (again.returncode, again.stdout) == (0, "nothing is missing\n")
    after = ask("tables", "diff", DEALS, "--store", store, cwd=ROOT)
    assert (after.returncode, after.stdout) == (0, "the tables are as declared\n")


def test_a_difference_is_a_sentence_and_an_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    ask("tables", "create", DEALS, "--store", f"file:{path}", cwd=ROOT)
    with Engine.open(path) as engine:
        gone = [{"Delete": {"IndexName": "GSI2"}}]
        params = {"TableName": "BigTimeDeals", "GlobalSecondaryIndexUpdates": gone}
        engine(Request("UpdateTable", params))
    done = ask("tables", "diff", DEALS, "--store", f"file:{path}", cwd=ROOT)
    assert done.returncode == 1
    assert done.stdout == "missing  BigTimeDeals: index GSI2 is not there; create it\n"
    made = ask("tables", "create", DEALS, "--store", f"file:{path}", cwd=ROOT)
    assert made.stdout == "created index GSI2 of BigTimeDeals\n"


def test_tables_are_made_at_an_endpoint() -> None:
    with server("--memory") as running:
        made = ask("tables", "create", DEALS, "--store", running.url, cwd=ROOT)
        assert (made.returncode, made.stdout) == (0, "created table BigTimeDeals\n"), made.stderr
        done = ask("tables", "diff", DEALS, "--store", running.url, cwd=ROOT)
        assert done.returncode == 0


@pytest.mark.parametrize(
    ("looks", "code", "said"),
    [
        (3, 0, WAITED),
        (1_000, 1, WAITED + "Not ready yet: table BigTimeDeals is being made or changed."),
    ],
)
def test_what_is_waited_for_is_said(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, looks: int, code: int, said: str
) -> None:
    left = looks

    def slow(request: Request) -> Response:
        nonlocal left
        response = engine(request)
        if request.operation == "DescribeTable" and left:
            left -= 1
            response["Table"]["TableStatus"] = "CREATING"
        return response

    def open_slow_store(setting: str | None, **options: object) -> Store:
        return Store(slow, sleep=lambda seconds: None)

    monkeypatch.setattr("bigtime.store.open_store", open_slow_store)
    done = CliRunner().invoke(app, ["tables", "create", DEALS])
    assert done.exit_code == code
    assert done.output.startswith(said)


def test_a_store_has_to_be_chosen(tmp_path: Path) -> None:
    done = ask("tables", "create", DEALS, cwd=ROOT)
    assert done.returncode == 2
    assert "BIGTIME_STORE" in done.stderr
    done = ask("tables", "diff", DEALS, "--store", "shop.db", cwd=ROOT)
    assert done.returncode == 2
    assert "'shop.db' names no store" in done.stderr


def test_an_endpoint_that_is_not_there_is_told_in_a_sentence() -> None:
    done = ask("tables", "diff", DEALS, "--store", "http://127.0.0.1:9", cwd=ROOT)
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
