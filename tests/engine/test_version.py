"""The number that tells a cache that something has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.wire import Request

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
PUT = {"TableName": "Things", "Item": {"pk": {"S": "a"}}}

OTHER_PROCESS = f"""
import sys
from bigtime.engine import Engine
from bigtime.wire import Request
with Engine.open(sys.argv[1]) as engine:
    engine(Request("PutItem", {PUT}))
"""


def test_it_changes_with_every_write_and_with_no_read(engine: Engine) -> None:
    engine(Request("CreateTable", TABLE))
    seen = [engine.version()]
    for number in range(20):
        item = {"pk": {"S": "a"}, "n": {"N": str(number)}}
        engine(Request("PutItem", {"TableName": "Things", "Item": item}))
        seen.append(engine.version())
    assert len({*seen}) == 21

    engine(Request("Scan", {"TableName": "Things"}))
    assert engine.version() == seen[-1]


def test_it_changes_with_the_writes_of_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    with Engine.open(path) as engine:
        engine(Request("CreateTable", TABLE))
        before = engine.version()
        subprocess.run([sys.executable, "-c", OTHER_PROCESS, str(path)], check=True, timeout=300)
        assert engine.version() != before


def test_a_closed_engine_has_none() -> None:
    engine = Engine.memory()
    engine.version()
    engine.close()
    with pytest.raises(RuntimeError, match="closed"):
        engine.version()
