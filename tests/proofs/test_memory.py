"""The verdict on memory: what is flat, and what is not."""

from __future__ import annotations

import random

from proofs.memory import MEGABYTE, MOST_GROWTH, growth, memory_faults

LEVEL = 170 * MEGABYTE


def test_memory_that_stays_is_flat() -> None:
    chance = random.Random(1)
    samples = [LEVEL + chance.randrange(MEGABYTE) for _ in range(120)]
    assert memory_faults("server", samples, seconds=60) == []


def test_a_moment_of_hashing_is_no_growth() -> None:
    samples = [LEVEL + (40 * MEGABYTE if number % 7 == 0 else 0) for number in range(120)]
    assert growth(samples) == 0


def test_a_leak_that_is_slow_and_steady_is_found() -> None:
    each = MOST_GROWTH * 3 // 2 // 120
    (fault,) = memory_faults("server", [LEVEL + number * each for number in range(120)], seconds=60)
    assert fault.startswith("the server's memory grew by 9.0 MB")


def test_what_is_given_back_is_no_growth() -> None:
    assert growth([LEVEL, LEVEL, LEVEL, LEVEL - MEGABYTE]) < 0


def test_what_is_kept_of_new_things_may_grow_by_the_minute() -> None:
    samples = [LEVEL + number * MEGABYTE // 120 for number in range(30 * 120)]
    assert memory_faults("server", samples, seconds=30 * 60) == []
    (fault,) = memory_faults("server", [size * 3 for size in samples], seconds=30 * 60)
    assert fault.startswith("the server's memory grew by")
