"""Restores to random commits, backups amid kills, and regions that are lost, kept short."""

from __future__ import annotations

import pytest

from tests.proofs.conftest import Prove

pytestmark = pytest.mark.proof


def test_a_restored_system_is_what_it_was(prove: Prove) -> None:
    prove("restores")


def test_a_backup_is_whole_and_of_one_commit(prove: Prove) -> None:
    prove("backups")


def test_a_region_takes_over_from_one_that_was_killed(prove: Prove) -> None:
    prove("regions")
