"""What a proof returns: what it did, how often, and every broken promise it saw."""

from __future__ import annotations

from typing import TypedDict


class Result(TypedDict):
    """`counts` are shown and saved as they are; a proof holds if there are no `violations`."""

    counts: dict[str, int]
    violations: list[str]
    skipped: list[str]


def result(
    counts: dict[str, int], violations: list[str], skipped: list[str] | None = None
) -> Result:
    return {"counts": counts, "violations": violations, "skipped": skipped or []}


def summary(result: Result) -> str:
    """One line: `60 kills, 1,204 acknowledged writes, 0 violations`."""
    parts = [f"{number:,} {what}" for what, number in result["counts"].items()]
    skipped = [f"skipped: {reason}" for reason in result["skipped"]]
    return ", ".join([*parts, f"{len(result['violations'])} violations", *skipped])
