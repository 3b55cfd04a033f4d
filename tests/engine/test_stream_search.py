"""The search for a stamp in a stream: the same answer as a walk, in few steps."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.storage.stream_log import first_after

STAMPS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), max_size=60)


def stream(steps: list[tuple[int, int]]) -> apsw.Connection:
    """Records with gaps between their sequences, and stamps that stand still or go on."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE s1 (sequence INTEGER PRIMARY KEY AUTOINCREMENT, at REAL)")
    sequence, at = 0, 100
    for gap, seconds in steps:
        sequence, at = sequence + gap, at + seconds
        connection.execute("INSERT INTO s1 VALUES (?, ?)", (sequence, at))
    return connection


@given(STAMPS, st.integers(95, 300), st.integers(0, 100))
def test_the_search_finds_what_a_walk_finds(
    steps: list[tuple[int, int]], moment: int, at_least: int
) -> None:
    connection = stream(steps)
    found = first_after(connection, 1, moment, at_least)
    walked = "SELECT sequence FROM s1 WHERE at > ? AND sequence >= ? ORDER BY sequence"
    later = [row[0] for row in connection.execute(walked, (moment, at_least))]
    below = [
        row[0] for row in connection.execute("SELECT sequence FROM s1 WHERE at <= ?", (moment,))
    ]
    # A number in a gap will do: what counts is on which side of it a record lies.
    assert all(sequence >= found for sequence in later)
    assert all(sequence < found or sequence < at_least for sequence in below)


@pytest.mark.parametrize("old", [0, 1, 1_000, 99_999, 100_000])
def test_the_search_takes_few_steps(old: int) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE s1 (sequence INTEGER PRIMARY KEY AUTOINCREMENT, at REAL)")
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " INSERT INTO s1 SELECT i, i FROM n"
    )
    steps: list[str] = []

    def count(_: object, query: str, bindings: object) -> bool:
        steps.append(query)
        return True

    connection.exec_trace = count
    assert first_after(connection, 1, float(old)) == old + 1
    assert len(steps) <= 45
