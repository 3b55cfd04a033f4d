"""P7's second opinions in short form: moto and dynalite say what the engine says.

Where they are known to be wrong, `tests/reference/differences.py` says so and quotes AWS.
"""

from __future__ import annotations

import pytest

from tests.reference.campaign import against_dynalite, against_moto
from tests.reference.differences import DYNALITE, MOTO, Difference
from tests.reference.targets import why_no_dynalite

DYNALITE_OPERATIONS = 1_000
MOTO_OPERATIONS = 300


@pytest.mark.proof
def test_dynalite_says_what_the_engine_says() -> None:
    reason = why_no_dynalite()
    if reason is not None:
        pytest.skip(reason)
    tally = against_dynalite(DYNALITE_OPERATIONS)
    assert tally.operations >= DYNALITE_OPERATIONS


@pytest.mark.proof
def test_moto_says_what_the_engine_says() -> None:
    pytest.importorskip("moto", reason="moto is not installed")
    tally = against_moto(MOTO_OPERATIONS)
    assert tally.operations >= MOTO_OPERATIONS


@pytest.mark.parametrize("rule", DYNALITE + MOTO, ids=lambda rule: rule.name)
def test_an_explained_difference_names_both_sides_and_its_source(rule: Difference) -> None:
    assert rule.engine_says
    assert rule.other_says != rule.engine_says
    assert rule.source
