"""Cron expressions as AWS writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bigtime.ops import Schedule, WrongSchedule


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("cron(0 * * * ? *)", "2026-01-01T00:00", "2026-01-01T01:00"),
        ("cron(0 1 * * ? *)", "2026-01-01T00:59:59", "2026-01-01T01:00"),
        ("cron(0 1 * * ? *)", "2026-01-01T01:00", "2026-01-02T01:00"),
        ("cron(0/15 8-17 ? * MON-FRI *)", "2026-01-02T17:45", "2026-01-05T08:00"),
        ("cron(30 2 L * ? *)", "2026-02-01T00:00", "2026-02-28T02:30"),
        ("cron(0 0 15W * ? *)", "2026-08-01T00:00", "2026-08-14T00:00"),
        ("cron(0 0 1W * ? *)", "2026-08-01T00:00", "2026-08-03T00:00"),
        ("cron(0 9 ? * 2#1 *)", "2026-01-01T00:00", "2026-01-05T09:00"),
        ("cron(0 9 ? * 6L *)", "2026-01-01T00:00", "2026-01-30T09:00"),
        ("cron(0 0 29 2 ? *)", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("cron(0 0 1 JAN,JUL ? 2027)", "2026-01-01T00:00", "2027-01-01T00:00"),
    ],
)
def test_the_next_moment(schedule: str, after: str, expected: str) -> None:
    found = Schedule.parse(schedule)
    assert found.next(at(after)) == at(expected)
    assert found.last(at(expected)) == at(expected)


def test_a_day_that_never_comes_has_no_moment() -> None:
    never = Schedule.parse("cron(0 0 30 2 ? *)")
    assert never.next(at("2026-01-01T00:00")) is None
    assert never.last(at("2026-01-01T00:00")) is None


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("hourly", "six fields"),
        ("cron(0 * * * *)", "six fields"),
        ("cron(0 * * * * *)", "needs a ?"),
        ("cron(0 * ? * ? *)", "needs a ?"),
        ("cron(60 * * * ? *)", "no minute"),
        ("cron(0 5-2 * * ? *)", "no hour"),
        ("cron(0 0/0 * * ? *)", "no hour"),
        ("cron(0 0 ? * MOON *)", "no day of the week"),
        ("cron(0 0 ? * 2#6 *)", "no day of the week"),
        ("cron(0 0 ³ * ? *)", "no day of the month"),
    ],
)
def test_a_wrong_one_gets_a_sentence(schedule: str, said: str) -> None:
    with pytest.raises(WrongSchedule, match=said) as refused:
        Schedule.parse(schedule)
    assert "cron(0 1 * * ? *) is every day at 01:00 UTC" in str(refused.value)
