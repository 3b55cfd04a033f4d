"""Crashes, torn logs, missing syncs and full disks, at the lengths that a test can afford."""

from __future__ import annotations

import pytest

from tests.proofs.conftest import Prove

pytestmark = pytest.mark.proof


def test_kill_9_loses_nothing_acknowledged_and_leaves_nothing_half_done(prove: Prove) -> None:
    prove("kills")


def test_a_torn_log_opens_as_a_prefix_of_the_commits(prove: Prove) -> None:
    prove("torn")


def test_nobody_is_acknowledged_before_their_sync(prove: Prove) -> None:
    prove("syncs")


def test_a_full_disk_is_a_retryable_error_and_passes(prove: Prove) -> None:
    prove("full_disk")


def test_rotten_bits_and_torn_pages_are_never_served(prove: Prove) -> None:
    prove("rot")


def test_builds_that_are_broken_on_purpose_are_caught(prove: Prove) -> None:
    prove("caught")
