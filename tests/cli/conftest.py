"""A store on a file, with the tables of the small system of orders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import invoke

ORDERS = "tests.cli.orders:SYSTEM"


@pytest.fixture
def store(tmp_path: Path) -> str:
    setting = f"file:{tmp_path / 'orders.db'}"
    assert invoke("tables", "create", ORDERS, store=setting).exit_code == 0
    return setting
