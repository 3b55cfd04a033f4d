"""What `explain` says of every pattern of every system, on sample arguments.

    python -m tests.advisor.explanations > tests/advisor/explanations.json

writes the golden file anew after a change of cost that is meant.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from bigtime.advisor import ExplainedRequest, sample_arguments, units
from bigtime.advisor.explanation import explain_on
from bigtime.advisor.prices import rate
from bigtime.cli.systems import all_systems
from bigtime.engine import Engine
from bigtime.model import Pattern, System


def explanations() -> dict[str, dict[str, Any]]:
    with Engine.memory(housekeeping=False) as engine:
        return {
            f"{system.name}.{pattern.name}": explanation_of(engine, system, pattern)
            for system in all_systems()
            for pattern in system.patterns.values()
        }


def explanation_of(engine: Engine, system: System, pattern: Pattern[..., Any]) -> dict[str, Any]:
    steps = pattern(**sample_arguments(pattern))
    explained = explain_on(engine, steps, tables=system.all_tables, rate=rate())
    return {
        "requests": [
            f"{len(list(alike))} x {line}"
            for line, alike in groupby(explained.requests, key=request_line)
        ],
        "read_units": explained.read_units,
        "write_units": explained.write_units,
        "dollars_for_a_million": str((explained.dollars * 1_000_000).normalize()),
        "ended": None if explained.ended is None else type(explained.ended).__name__,
    }


def request_line(request: ExplainedRequest) -> str:
    tables = ", ".join(dict.fromkeys(table.name for table, _ in request.used))
    return (
        f"{request.request.operation} on {', '.join(request.indexes)} of {tables}: {units(request)}"
    )


def as_text(golden: dict[str, dict[str, Any]]) -> str:
    return json.dumps(golden, indent=1) + "\n"


if __name__ == "__main__":
    print(as_text(explanations()), end="")
