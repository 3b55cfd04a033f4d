"""Refuses a plan that destroys or replaces a table: `python scripts/check_plan.py plan.json`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def lost_tables(plan: dict[str, Any]) -> list[str]:
    """The tables that a plan would destroy, also to make them anew."""
    return [
        change["address"]
        for change in plan.get("resource_changes", [])
        if change["type"] == "aws_dynamodb_table" and "delete" in change["change"]["actions"]
    ]


def main(path: str) -> int:
    lost = lost_tables(json.loads(Path(path).read_text(encoding="utf-8")))
    for address in lost:
        print(f"{address} would be destroyed, and its items with it.")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
