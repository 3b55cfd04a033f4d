"""The findings about a system: its design, dry runs of its patterns, and which are accepted.

Each pattern is run twice on sample arguments, on tables that hold the items it reads and on empty
ones, so that both branches of a pattern that reads and then decides are seen. A domain error is a
valid end of such a run.

- dry-run: it cannot be dry-run; it lacks sample arguments, or a sample of an entity, or is broken.
- scan: it scans, because no index serves it.
- index: it uses an index that its chart does not name, or never uses one that the chart names.

A chart names `Main table` (or the table's name), or indexes; `N/A` is for patterns that only write.

To accept an intended finding, give the reason where its subject is declared: a pattern has
`accepted={code: reason}`, a system has `accepted={"code subject": reason}` for its tables. A
finding that is accepted but no longer occurs is a finding too, so that no stale excuse remains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from bigtime.advisor.design_check import Finding, check_design
from bigtime.advisor.dry_run import chart_name
from bigtime.advisor.explanation import Explanation, explain_on
from bigtime.advisor.prices import rate
from bigtime.advisor.sample import CannotSample, sample_arguments
from bigtime.advisor.sample_tables import Assumptions
from bigtime.engine import Engine
from bigtime.model import MAIN, Pattern, System, check_kind, reads_bucket_list


def check_system(system: System) -> list[Finding]:
    """All findings about a system's design and patterns, including the accepted ones."""
    check_kind(system, "check_system")
    found = [*check_design(system), *check_patterns(system)]
    reasons = {
        **system.accepted,
        **{
            f"{code} {pattern.name}": reason
            for pattern in system.patterns.values()
            for code, reason in pattern.accepted.items()
        },
    }
    judged = [replace(finding, accepted=reasons.get(finding.key)) for finding in found]
    return [*judged, *outdated_reasons(reasons, found)]


def open_findings(system: System) -> list[Finding]:
    """The findings that are not accepted: a test asserts that there are none."""
    return [finding for finding in check_system(system) if finding.accepted is None]


def outdated_reasons(reasons: Iterable[str], found: Iterable[Finding]) -> Iterator[Finding]:
    keys = {finding.key for finding in found}
    for key in reasons:
        if key not in keys:
            yield Finding(
                "accepted",
                repr(key),
                "it is accepted, and not found any more",
                "take it out of `accepted`",
            )


# Dry runs of patterns

TableIndex: TypeAlias = tuple[str, str]
"""The names of a table and of one of its indexes."""


def check_patterns(system: System) -> Iterator[Finding]:
    with Engine.memory(housekeeping=False) as engine:
        for pattern in system.patterns.values():
            yield from check_pattern(engine, system, pattern)


def check_pattern(engine: Engine, system: System, pattern: Pattern[..., Any]) -> Iterator[Finding]:
    runs: list[Explanation[Any]] = []
    try:
        runs.append(dry_run(engine, system, pattern))
        runs.append(dry_run(engine, system, pattern, holding=()))
    except Exception as error:  # whatever a pattern's own code may raise
        yield dry_run_finding(pattern, error, "on empty tables" if runs else "on sample answers")
    else:
        yield from check_scans(pattern, runs)
        yield from check_chart(system, pattern, runs)


def dry_run(
    engine: Engine, system: System, pattern: Pattern[..., Any], **assumed: Unpack[Assumptions]
) -> Explanation[Any]:
    steps = pattern(**sample_arguments(pattern))
    return explain_on(engine, steps, tables=system.all_tables, rate=rate(), **assumed)


def dry_run_finding(pattern: Pattern[..., Any], error: Exception, where: str) -> Finding:
    if isinstance(error, CannotSample):
        return Finding("dry-run", pattern.name, error.problem, error.remedy)
    return Finding(
        "dry-run",
        pattern.name,
        f"it cannot be run dry {where}: {type(error).__name__}: {error}",
        "mend it, or give it arguments that go together, as in @pattern(..., sample={...})",
    )


def check_scans(pattern: Pattern[..., Any], runs: list[Explanation[Any]]) -> Iterator[Finding]:
    for place in scanned_indexes(runs):
        yield Finding(
            "scan",
            pattern.name,
            f"no index answers it: it scans {place_text(place)}, and costs as much as that holds",
            "ask an index that has what it looks for in its key",
        )


def check_chart(
    system: System, pattern: Pattern[..., Any], runs: list[Explanation[Any]]
) -> Iterator[Finding]:
    sent = (request for run in runs for request in run.requests)
    requests = [request for request in sent if not reads_bucket_list(request.request)]
    used = {(table.name, index.name) for request in requests for table, index in request.used}
    said = charted_names(pattern.index)
    unknown = [name for name in said if not any(is_meant(name, place) for place in places(system))]
    stray = sorted(place_text(place) for place in used if not is_charted(said, place))
    unused = [name for name in said if not any(is_meant(name, place) for place in used)]
    if unknown or stray or unused:
        yield Finding(
            "index",
            pattern.name,
            f"its chart says {pattern.index!r}, but {difference_text(unknown, stray, unused)}",
            f"correct the chart, or the pattern{early_ends(runs)}",
        )


def early_ends(runs: list[Explanation[Any]]) -> str:
    """Why dry runs may have stopped early: the domain errors that ended them."""
    errors = dict.fromkeys(type(run.ended).__name__ for run in runs if run.ended is not None)
    return f"; or give it a sample that does not end in {', '.join(errors)}" if errors else ""


def scanned_indexes(runs: list[Explanation[Any]]) -> list[TableIndex]:
    scans = (
        request for run in runs for request in run.requests if request.request.operation == "Scan"
    )
    return list(
        dict.fromkeys((table.name, index.name) for scan in scans for table, index in scan.used)
    )


def charted_names(text: str) -> list[str]:
    """The names in the index column of a chart: `UserIndex, then Main table`."""
    names = (name.strip().removeprefix("then ").strip() for name in re.split("[,;]", text))
    return [name for name in names if name not in ("", "N/A")]


def places(system: System) -> Iterator[TableIndex]:
    for table in system.all_tables:
        yield from ((table.name, index.name) for index in (table.main, *table.indexes))


def is_meant(name: str, place: TableIndex) -> bool:
    table, index = place
    return name == chart_name(index) or (index == MAIN and name == table)


def is_charted(said: list[str], place: TableIndex) -> bool:
    if not said:
        return place[1] == MAIN
    return any(is_meant(name, place) for name in said)


def place_text(place: TableIndex) -> str:
    table, index = place
    return f"the table {table}" if index == MAIN else f"{table}.{index}"


def difference_text(unknown: list[str], stray: list[str], unused: list[str]) -> str:
    idle = [name for name in unused if name not in unknown]
    said = (("there is no", unknown), ("it goes by", stray), ("it never goes by", idle))
    return " and ".join(f"{words} {', '.join(names)}" for words, names in said if names)
