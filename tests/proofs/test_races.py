"""Races between clients, processes and transactions, at the lengths that a test can afford."""

from __future__ import annotations

import pytest

from tests.proofs.conftest import Prove

pytestmark = pytest.mark.proof


def test_an_item_is_linearizable_and_broken_transports_are_caught(prove: Prove) -> None:
    prove("histories")


def test_transactions_are_serializable_under_kill_9(prove: Prove) -> None:
    prove("transactions")
