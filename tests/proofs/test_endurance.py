"""Stopped processes, wrong clocks, deleted logs, aged streams, chores that fail, kept short."""

from __future__ import annotations

import pytest

from tests.proofs.conftest import Prove

pytestmark = pytest.mark.proof


def test_a_stopped_process_makes_nobody_hang(prove: Prove) -> None:
    prove("stopped")


def test_a_clock_that_is_wrong_for_minutes_costs_nothing(prove: Prove) -> None:
    prove("clock_steps")


def test_nothing_is_acknowledged_into_a_deleted_log(prove: Prove) -> None:
    prove("deleted_log")


def test_a_stream_opened_a_day_late_serves_as_a_fresh_one(prove: Prove) -> None:
    prove("aged_streams")


def test_a_chore_that_fails_stops_no_other(prove: Prove) -> None:
    prove("failing_chores")


def test_what_was_deleted_leaves_the_file(prove: Prove) -> None:
    prove("leftovers")


def test_engines_that_do_not_endure_are_caught(prove: Prove) -> None:
    prove("endure_caught")
