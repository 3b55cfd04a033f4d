"""Prices come from a dated list, and the sums of a month come out right."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.advisor.prices import UnknownPrice, price_list, price_lists, rate, read_price_list

# A month of the customer portal: reads and writes, each of one unit.
READS = 1_000_000 + 10_000 + 100_000
WRITES = 100_000 + 50_000 + 500 + 200_000


@pytest.mark.parametrize(
    ("region", "on", "dollars"),
    [
        ("us-east-1", date(2024, 10, 31), "0.72"),
        ("us-east-1", None, "0.36"),
        ("eu-west-1", None, "0.40"),
        ("af-south-1", None, "0.48"),
    ],
)
def test_a_month_of_small_traffic_costs_cents(region: str, on: date | None, dollars: str) -> None:
    spent = rate(region, on=on).dollars(READS, WRITES)
    assert spent.quantize(Decimal("0.01")) == Decimal(dollars)


def test_eventual_reads_cost_half() -> None:
    assert rate().dollars(0.5, 0) * 2 == rate().dollars(1, 0) == Decimal("0.000000125")


def test_the_newest_list_counts_unless_a_day_is_told() -> None:
    assert price_list() == price_lists()[-1]
    assert price_list(date(2025, 1, 1)).date == date(2024, 10, 31)
    assert price_list(date(2026, 9, 11)).date == date(2026, 9, 11)


def test_a_list_says_where_its_prices_are_from_and_which_are_estimated() -> None:
    rates = price_list().rates.values()
    assert all(each.source for each in rates)
    assert [each.region for each in rates if each.is_estimated] == ["af-south-1"]
    ireland = rate("eu-west-1")
    assert ireland.estimates == frozenset()
    assert "transfer" not in rate("af-south-1").estimates
    assert ireland.price("stream_read") == Decimal("0.226")
    assert str(rate("af-south-1")) == "prices estimated for af-south-1, 2026-09-11"


def test_a_region_without_a_price_is_refused() -> None:
    with pytest.raises(UnknownPrice, match="no region 'mars-1'; it has us-east-1, eu-west-1"):
        rate("mars-1")


def test_a_day_before_all_lists_is_refused() -> None:
    with pytest.raises(UnknownPrice, match="the oldest is of 2024-10-31"):
        price_list(date(2020, 1, 1))


def test_a_list_of_ones_own_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "2027-01-01.json"
    file.write_text(
        '{"date": "2027-01-01", "source": "my contract",'
        ' "regions": {"mars-1": {"read": "1", "write": "2"}}}'
    )
    ours = read_price_list(file).rate("mars-1")
    assert ours.dollars(1_000_000, 1_000_000) == 3
    assert ours.source == "my contract"
