"""A finding: what a check of a system has to say about one thing in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at: what it is, and what to do about it."""

    code: str
    subject: str
    sentence: str
    remedy: str
    accepted: str | None = None

    @property
    def key(self) -> str:
        """What `accepted` of a system calls it."""
        return f"{self.code} {self.subject}"

    def __str__(self) -> str:
        said = f"{self.key}: {self.sentence}; {self.remedy}"
        return said if self.accepted is None else f"{said} (accepted: {self.accepted})"
