"""The site under load and under kill -9, at the lengths that a test can afford."""

from __future__ import annotations

import pytest

from proofs.site_caught import BY_LOAD, found_in
from proofs.site_mutants import SITE_MUTANTS
from tests.proofs.conftest import Prove

TRIES = 5


@pytest.mark.proof
def test_under_load_every_answer_is_right_and_memory_stays_flat(prove: Prove) -> None:
    prove("site_load")


@pytest.mark.proof
def test_kill_9_amid_checkouts_loses_no_acknowledged_order_and_makes_none_twice(
    prove: Prove,
) -> None:
    prove("site_kills")


@pytest.mark.proof
@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        ("leak", "the server's memory grew by"),
        ("never invalidates", "does not show '$4.50'"),
        ("keys forgotten", "POST /checkout leads to /cart"),
    ],
)
def test_a_site_that_is_broken_on_purpose_is_caught(mutant: str, words: str) -> None:
    """Two kills may miss the moment that matters; several times two do not."""
    found: list[str] = []
    for _ in range(TRIES):
        found += found_in(mutant, kills=2)["violations"]
        if any(words in fault for fault in found):
            return
    pytest.fail(f"{mutant} was not caught: {found}")


def test_every_mutant_that_load_shows_is_one() -> None:
    assert SITE_MUTANTS.keys() > BY_LOAD
