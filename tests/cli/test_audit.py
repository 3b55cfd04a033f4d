"""`bigtime audit verify`: one changed byte, and it says where."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Request
from tests.cli.program import typed


@pytest.fixture
def portal(tmp_path: Path) -> Path:
    path = tmp_path / "portal.db"
    done = typed("demo", "load", "--system", "portal", "--store", f"file:{path}")
    assert done.exit_code == 0, done.output
    return path


def verified(path: Path) -> Any:
    return typed("audit", "verify", store=f"file:{path}")


def test_an_untouched_log_holds(portal: Path) -> None:
    done = verified(portal)
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"nothing is broken, among [\d,]+ items\n", done.stdout)


def test_one_changed_byte_is_found_and_named(portal: Path) -> None:
    with Engine.open(portal) as engine:
        entry = engine(Request("Scan", {"TableName": "audit", "Limit": 1}))["Items"][0]
        entry["actor"]["S"] = entry["actor"]["S"][:-1] + "?"
        engine(Request("PutItem", {"TableName": "audit", "Item": entry}))
    done = verified(portal)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"broken  {entry['PK']['S']}, entry {int(entry['SK']['S'])}: ")
    assert re.fullmatch(r"\d+ broken, among [\d,]+ items", lines[-1])


def test_missing_tables_are_told_with_what_makes_them(tmp_path: Path) -> None:
    done = verified(tmp_path / "empty.db")
    assert done.exit_code == 1
    assert "The store lacks tables of portal: make what is missing with" in done.stderr
    assert "`bigtime tables create portal`" in done.stderr


def test_a_store_has_to_be_chosen() -> None:
    done = typed("audit", "verify")
    assert done.exit_code == 2
    assert "set BIGTIME_STORE" in done.stderr
