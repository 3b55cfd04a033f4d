"""What an import costs: CPU time in fresh processes, from bytecode, the best of several.

pydantic defers most of its own import until the first model is declared, so a program with any
model at all pays for it. It is therefore measured with one model, and the kit on top of that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PYDANTIC = """
from pydantic import BaseModel

class Model(BaseModel):
    field: int
"""
PROGRAMS = {"pydantic": PYDANTIC, "kit": f"{PYDANTIC}\nimport bigtime.model"}
TIMED = """
import time
start = time.process_time()
{program}
print((time.process_time() - start) * 1e3)
"""


def import_milliseconds(bytecode: Path, starts: int) -> dict[str, float]:
    """The best of so many starts of each program; the programs take turns."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for program in PROGRAMS.values():
        milliseconds(program, environment)  # compiles
    rounds = [
        {name: milliseconds(program, environment) for name, program in PROGRAMS.items()}
        for _ in range(starts)
    ]
    return {name: min(round_[name] for round_ in rounds) for name in PROGRAMS}


def milliseconds(program: str, environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", TIMED.format(program=program)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return float(done.stdout)
