"""All that is found about a system, and what its authors have accepted.

Where a finding is as it should be, say so beside what it is about, with the reason: a pattern has
`accepted={code: reason}`, a system has `accepted={"code subject": reason}` for its tables. What is
accepted and no longer found is a finding too, or old excuses would outlive what they excuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bigtime.advisor.design_check import Finding, check_design
from bigtime.advisor.pattern_check import check_patterns
from bigtime.model import System, check_kind


def check_system(system: System) -> list[Finding]:
    """All findings about a system's design and patterns, the accepted ones too."""
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
    judged = [replace(one, accepted=reasons.get(one.key)) for one in found]
    return [*judged, *outdated_reasons(reasons, found)]


def open_findings(system: System) -> list[Finding]:
    """The findings that nobody has accepted: a test asserts that there are none."""
    return [one for one in check_system(system) if one.accepted is None]


def outdated_reasons(reasons: Iterable[str], found: Iterable[Finding]) -> Iterator[Finding]:
    keys = {one.key for one in found}
    for key in reasons:
        if key not in keys:
            yield Finding(
                "accepted",
                repr(key),
                "it is accepted, and not found any more",
                "take it out of `accepted`",
            )
