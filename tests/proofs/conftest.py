"""Runs a proof at its short length, and tells what it counted."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from proofs.proof import PROOFS
from proofs.result import summary

Prove = Callable[[str], None]


@pytest.fixture
def prove(capfd: pytest.CaptureFixture[str]) -> Prove:
    def prove(name: str) -> None:
        result = PROOFS[name].result("short")
        with capfd.disabled():
            print(f"\n{PROOFS[name].what}: {summary(result)}", file=sys.stderr, flush=True)
        assert result["violations"] == []

    return prove
