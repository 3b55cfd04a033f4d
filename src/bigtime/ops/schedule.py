"""When a backup is due, in the syntax of AWS Backup and EventBridge: `cron(0 1 * * ? *)`.

Six fields: minutes, hours, day of the month, month, day of the week, year. A field is `*`, a
number, a range `1-5`, a step `0/15`, or several of them separated by commas. Months and weekdays
have names (JAN, SUN); Sunday is 1. One of the two fields for days is `?`. The day of the month may
also be `L`, the last, or `15W`, the weekday nearest to the 15th; the day of the week `6L`, the last
Friday, or `2#1`, the first Monday. All times are in UTC.

AWS: "Cron expressions"
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple, TypeAlias

MONTHS: Final = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS: Final = "SUN MON TUE WED THU FRI SAT".split()
LONGEST_WAIT_DAYS: Final = 366 * 8  # until the next 29 February, over a year that has none
EXPRESSION = re.compile(r"cron\((.*)\)", re.DOTALL)
EXAMPLE: Final = "cron(0 1 * * ? *) is every day at 01:00 UTC"

DayRule: TypeAlias = Callable[[date], bool]


class WrongSchedule(ValueError):
    """A schedule that AWS would refuse; the message says which part, and shows a correct one."""


class Field(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        if text.upper() in self.names:
            return self.low + self.names.index(text.upper())
        if not text.isdecimal() or not self.low <= int(text) <= self.high:
            raise self.fault(text)
        return int(text)

    def fault(self, text: str) -> WrongSchedule:
        return WrongSchedule(
            f"{text!r} is no {self.name}: one is from {self.low} to {self.high}; {EXAMPLE}."
        )

    def numbers(self, text: str) -> frozenset[int]:
        return frozenset(number for part in text.split(",") for number in self._part(part))

    def _part(self, text: str) -> range:
        stretch, slash, step = text.partition("/")
        low, dash, high = stretch.partition("-")
        if stretch == "*":
            first, last = self.low, self.high
        else:
            first = self.number(low)
            last = self.number(high) if dash else self.high if slash else first
        if first > last or (slash and (not step.isdecimal() or int(step) < 1)):
            raise self.fault(text)
        return range(first, last + 1, int(step) if slash else 1)


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day of the month", 1, 31)
MONTH = Field("month", 1, 12, tuple(MONTHS))
WEEKDAY = Field("day of the week", 1, 7, tuple(WEEKDAYS))
YEAR = Field("year", 1970, 2199)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The moments of a cron expression."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int]
    is_day: DayRule

    @classmethod
    def parse(cls, text: str) -> Schedule:
        found = EXPRESSION.fullmatch(text.strip())
        fields = found[1].split() if found else []
        if len(fields) != 6:
            raise WrongSchedule(
                f"{text!r} is no schedule: it has the six fields of AWS's cron(minutes hours"
                f" day-of-month month day-of-week year); {EXAMPLE}."
            )
        minutes, hours, day, month, weekday, year = fields
        if (day == "?") == (weekday == "?"):
            raise WrongSchedule(
                f"{text!r} needs a ? for the day of the month or for the day of the week, and for"
                f" one of them only; {EXAMPLE}."
            )
        return cls(
            text.strip(),
            tuple(sorted(MINUTE.numbers(minutes))),
            tuple(sorted(HOUR.numbers(hours))),
            MONTH.numbers(month),
            YEAR.numbers(year),
            month_day_rule(day) if weekday == "?" else weekday_rule(weekday),
        )

    def next(self, after: datetime) -> datetime | None:
        """The first moment after that time; None if there is none within eight years."""
        start = after.astimezone(UTC)
        for days in range(LONGEST_WAIT_DAYS):
            for moment in self._moments(start.date() + timedelta(days)):
                if moment > start:
                    return moment
        return None

    def last(self, until: datetime) -> datetime | None:
        """The last moment up to that time; None if there was none within eight years."""
        end = until.astimezone(UTC)
        for days in range(LONGEST_WAIT_DAYS):
            for moment in reversed([*self._moments(end.date() - timedelta(days))]):
                if moment <= end:
                    return moment
        return None

    def _moments(self, day: date) -> Iterator[datetime]:
        if day.year in self.years and day.month in self.months and self.is_day(day):
            for hour in self.hours:
                for minute in self.minutes:
                    yield datetime.combine(day, time(hour, minute), UTC)


# Days


def month_day_rule(text: str) -> DayRule:
    if text == "L":
        return lambda day: day.day == last_of(day)
    if text.endswith("W"):
        number = DAY.number(text[:-1])
        return lambda day: day == nearest_weekday(day, number)
    numbers = DAY.numbers(text)
    return lambda day: day.day in numbers


def weekday_rule(text: str) -> DayRule:
    if text == "L":
        text = "7"
    if text.endswith("L"):
        last = WEEKDAY.number(text[:-1])
        return lambda day: weekday_of(day) == last and day.day > last_of(day) - 7
    if "#" in text:
        named, _, nth = text.partition("#")
        weekday = WEEKDAY.number(named)
        if nth not in {"1", "2", "3", "4", "5"}:
            raise WEEKDAY.fault(text)
        return lambda day: weekday_of(day) == weekday and (day.day - 1) // 7 + 1 == int(nth)
    numbers = WEEKDAY.numbers(text)
    return lambda day: weekday_of(day) in numbers


def weekday_of(day: date) -> int:
    return day.isoweekday() % 7 + 1


def last_of(day: date) -> int:
    return monthrange(day.year, day.month)[1]


def nearest_weekday(day: date, number: int) -> date | None:
    """The weekday nearest to that day of the month, in the same month."""
    if number > last_of(day):
        return None
    wanted = day.replace(day=number)
    for step in (0, -1, 1, -2, 2):
        near = wanted + timedelta(step)
        if near.month == wanted.month and near.isoweekday() <= 5:
            return near
    return None
