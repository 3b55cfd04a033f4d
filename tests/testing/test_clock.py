"""A clock that tests move."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from bigtime.testing import Clock


def test_it_runs_with_the_machines_until_it_is_moved() -> None:
    clock = Clock()
    assert abs(clock.seconds() - time.time()) < 60
    before = clock()
    assert before.tzinfo is UTC and clock() >= before
    clock.advance(days=91)
    assert timedelta(days=91) <= clock() - before < timedelta(days=92)


def test_it_stands_where_it_is_stopped() -> None:
    clock = Clock()
    clock.stop()
    assert clock() == clock()
    clock.stop(at=datetime(2030, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(hours=1))
    clock.advance(minutes=1)
    assert clock() == datetime(2030, 1, 1, 1, 1, tzinfo=UTC)
    assert clock.seconds() == clock().timestamp()


def test_it_goes_ahead_only_and_wants_a_zone() -> None:
    with pytest.raises(ValueError) as back:
        Clock().advance(seconds=-1)
    assert "not back" in str(back.value)
    with pytest.raises(ValueError) as naive:
        Clock().stop(at=datetime(2030, 1, 1))
    assert "zone" in str(naive.value)
