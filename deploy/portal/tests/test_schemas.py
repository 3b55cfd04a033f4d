"""The schema files: without a fault, and one for each table that Terraform makes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCHEMAS = sorted((ROOT / "schemas").rglob("*.schema.json"))


def test_no_schema_has_a_fault() -> None:
    command = [sys.executable, ROOT / "scripts" / "validate_schemas.py", ROOT / "schemas"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"{len(SCHEMAS)} files, 0 errors, 0 warnings\n"


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.parent.name)
def test_terraform_makes_the_table_of_each_schema(schema: Path) -> None:
    name = json.loads(schema.read_text())["tableName"]
    for root in sorted((ROOT / "terraform").glob("*/main.tf")):
        assert re.search(rf'^  name += "{re.escape(name)}"', root.read_text(), re.MULTILINE)
