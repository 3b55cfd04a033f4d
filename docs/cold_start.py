"""What a cold start costs: the CPU time of a fresh process up to its first request.

    python docs/cold_start.py

writes docs/figures/cold_start.json, which docs/lambda.md shows. The processes take turns, from
bytecode, as in a function's package; the best of several starts is written.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bench.imports import milliseconds  # noqa: E402
from proofs.report import machine  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "cold_start.json"
STARTS = 15
BOTO3 = 'import boto3\nboto3.client("dynamodb", region_name="eu-west-1")'
DESIGN = """
import bigtime as bt

NOTES = bt.Table("Notes", "PK")

class Note(bt.Entity, table=NOTES):
    keys = bt.Keys(main="NOTE#{name}")
    name: str
    text: str
"""
SYNC = f'{DESIGN}\nbt.open_store("dynamodb:eu-west-1")'
ASYNC = f"""
import asyncio
{DESIGN}
async def main():
    bt.open_async_store("dynamodb:eu-west-1")

asyncio.run(main())
"""
PROGRAMS = {
    "boto3: import it, make a client": BOTO3,
    "Bigtime: import it, declare an entity": DESIGN,
    "Bigtime: import it, declare an entity, open a store on AWS": SYNC,
    "Bigtime: import it, declare an entity, open an async store on AWS": ASYNC,
}


def main() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, **keys, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        rounds = [
            {what: milliseconds(program, environment) for what, program in PROGRAMS.items()}
            for _ in range(STARTS + 1)  # the first compiles
        ]
    best = {what: min(each[what] for each in rounds[1:]) for what in PROGRAMS}
    figures = {
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "rows": [{"what": what, "milliseconds": round(took)} for what, took in best.items()],
    }
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
