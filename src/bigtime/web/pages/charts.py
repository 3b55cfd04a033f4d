"""Charts as SVG: the positions of lines, bars and labels. A template draws them, without script.

Numbers are scaled to a drawing of fixed size, which the browser scales to the page. Colours are
classes, so that a chart follows the colour scheme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, Final

WIDTH: Final = 640
HEIGHT: Final = 220
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 26
BAR: Final = 30
LABEL: Final = 190
VALUE: Final = 90
MOST_BARS: Final = 10
MOST_DAY_LABELS: Final = 6
SMALL_WIDTH: Final = 420
SMALL_HEIGHT: Final = 170
TICKS: Final = 4
ONE_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Line:
    """A series of a chart: its SVG points, and its name and number for the legend."""

    name: str
    points: str
    last: tuple[float, float]
    total: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """Numbers by day."""

    title: str
    summary: str
    lines: list[Line]
    levels: list[tuple[float, str]]
    """The heights of horizontal lines, and their labels."""
    days: list[tuple[float, str]]
    kind: str = "lines"
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its label, where it begins and how long it is, and its number."""

    label: str
    top: float
    left: float
    length: float
    value: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Numbers by name; in a funnel, centred, with the share of the previous step."""

    title: str
    summary: str
    bars: list[Bar]
    height: int
    kind: str
    width: int = WIDTH


def number_text(value: float) -> str:
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}"


def short_text(value: float) -> str:
    for limit, sign in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if abs(value) >= limit:
            return f"{value / limit:.1f}".removesuffix(".0") + sign
    return f"{value:g}"


def nice_top(most: float) -> tuple[float, float]:
    """A round number above the largest, and the step between the lines below it."""
    if most <= 0:
        return 1.0, 1.0
    power = 10.0 ** floor(log10(most / 4))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * 4 >= most)
    step = max(step, 1.0) if most >= 1 else step
    return ceil(most / step) * step, step


def line_chart(
    title: str,
    records: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    since: date,
    until: date,
) -> LineChart:
    """Series over all days of a range; a day without a row is zero."""
    by_day = {str(record["day"])[:10]: record for record in records}
    days = [since + timedelta(days=number) for number in range((until - since).days + 1)]
    values = {
        name: [float(by_day.get(str(day), {}).get(name) or 0) for day in days] for name in names
    }
    top, step = nice_top(max((value for found in values.values() for value in found), default=0))
    inner, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x_of(place: int) -> float:
        return round(LEFT + inner * (place / max(1, len(days) - 1)), 1)

    def y_of(value: float) -> float:
        return round(TOP + tall * (1 - value / top), 1)

    lines = []
    for name, found in values.items():
        points = [(x_of(place), y_of(value)) for place, value in enumerate(found)]
        text = " ".join(f"{x:g},{y:g}" for x, y in points)
        lines.append(Line(label_of(name), text, points[-1], number_text(sum(found))))
    levels = [
        (y_of(step * number), short_text(step * number)) for number in range(round(top / step) + 1)
    ]
    every = max(1, ceil(len(days) / MOST_DAY_LABELS))
    labels = [
        (x_of(place), f"{day.day} {day:%b}") for place, day in enumerate(days) if place % every == 0
    ]
    totals = ", ".join(f"{line.name}: {line.total} in all" for line in lines)
    return LineChart(title, f"From {since} to {until}. {totals}.", lines, levels, labels)


def price_chart(title: str, changes: Sequence[tuple[datetime, Decimal]]) -> LineChart:
    """Prices over time, as a step line.

    The time axis is a tenth longer than the changes, so that the last price is visible too.
    """
    prices = [float(price) for _, price in changes]
    least, most, step = nice_range(min(prices), max(prices))
    begin = changes[0][0]
    seconds = (changes[-1][0] - begin).total_seconds() * 1.1 or 1.0
    inner, tall = SMALL_WIDTH - LEFT - RIGHT, SMALL_HEIGHT - TOP - BOTTOM

    def x_of(at: datetime) -> float:
        return round(LEFT + inner * (at - begin).total_seconds() / seconds, 1)

    def y_of(price: float) -> float:
        return round(TOP + tall * (most - price) / (most - least), 1)

    corners = [(x_of(at), y_of(price)) for (at, _), price in zip(changes, prices, strict=True)]
    points = corners[:1]
    for (_, before), (x, y) in pairwise(corners):
        points += ((x, before), (x, y))
    last = (float(SMALL_WIDTH - RIGHT), corners[-1][1])
    text = " ".join(f"{x:g},{y:g}" for x, y in (*points, last))
    levels = [least + step * number for number in range(round((most - least) / step) + 1)]
    ticks = [begin + timedelta(seconds=seconds * number / TICKS) for number in range(TICKS)]
    form = "{:%H:%M} UTC" if seconds < ONE_DAY else "{0.day} {0:%b}"
    days = {form.format(tick): x_of(tick) for tick in reversed(ticks)}
    return LineChart(
        title,
        f"From {price_text(prices[0])} to {price_text(prices[-1])}"
        f" in {changes_text(len(changes) - 1)},"
        f" between {price_text(min(prices))} and {price_text(max(prices))}.",
        [Line("Price", text, last, f"{price_text(prices[-1])} now")],
        [(y_of(level), level_text(level)) for level in levels],
        [(x, label) for label, x in days.items()],
        width=SMALL_WIDTH,
        height=SMALL_HEIGHT,
    )


def changes_text(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def nice_range(least: float, most: float) -> tuple[float, float, float]:
    """Round numbers below the smallest and above the largest, and the step between lines."""
    _, step = nice_top(most - least)
    bottom = floor(least / step) * step
    return bottom, max(ceil(most / step) * step, bottom + step), step


def price_text(price: float) -> str:
    return f"${price:,.2f}"


def level_text(price: float) -> str:
    return price_text(price) if price < 1_000 and price % 1 else f"${short_text(price)}"


def chart_of(title: str, bars: list[Bar], kind: str) -> BarChart:
    summary = "; ".join(f"{bar.label}: {bar.value}" for bar in bars)
    return BarChart(title, summary, bars, len(bars) * BAR, kind)


def bar_chart(title: str, records: Sequence[Mapping[str, Any]], name: str) -> BarChart:
    """The first rows, as bars from the left."""
    label = next(iter(records[0])) if records else ""
    shown = records[:MOST_BARS]
    if records and "title" in records[0]:
        label = "title"
    most = max((float(record[name] or 0) for record in shown), default=0) or 1.0
    room = WIDTH - LABEL - VALUE
    bars = [
        Bar(
            cut(str(record[label] or record[next(iter(record))])),
            place * BAR,
            LABEL,
            round(room * float(record[name] or 0) / most, 1),
            number_text(float(record[name] or 0)),
        )
        for place, record in enumerate(shown)
    ]
    return chart_of(title, bars, "bars")


def funnel_chart(title: str, records: Sequence[Mapping[str, Any]], name: str) -> BarChart:
    """Steps, each a centred bar, with its share of the previous step."""
    label = next(iter(records[0])) if records else ""
    numbers = [float(record[name] or 0) for record in records]
    most = max(numbers, default=0) or 1.0
    room = WIDTH - LABEL - VALUE - 30
    bars = []
    for place, (record, number) in enumerate(zip(records, numbers, strict=True)):
        length = room * number / most
        before = numbers[place - 1] if place else 0
        share = f" ({100 * number / before:.1f}%)" if before else ""
        left = LABEL + (room - length) / 2
        text = f"{number_text(number)}{share}"
        bars.append(Bar(str(record[label]), place * BAR, round(left, 1), round(length, 1), text))
    return chart_of(title, bars, "funnel")


def cut(text: str) -> str:
    return text if len(text) <= 26 else f"{text[:25]}…"


def label_of(name: str) -> str:
    return name.replace("_", " ").capitalize()
