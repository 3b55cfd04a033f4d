"""Prices of request units, by region, from price lists that bear their date.

A list is a JSON file in `price_lists`, named by the day on which it was true. A region that a list
does not have is an error: a price that is guessed silently is worse than none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

LISTS = Path(__file__).parent / "price_lists"
DEFAULT_REGION = "us-east-1"
MILLION = 1_000_000


class UnknownPrice(LookupError):
    """No price list has it; the message says which regions and days there are."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What a million read and a million write request units cost, in US dollars."""

    region: str
    """The AWS region."""
    date: date
    """The day of the price list."""
    read: Decimal
    """Dollars for a million read units."""
    write: Decimal
    """Dollars for a million write units."""
    source: str
    """Where the prices were read."""
    estimated: bool = False
    """Whether they are estimates."""

    def dollars(self, read_units: float, write_units: float) -> Decimal:
        """The price of some units."""
        reads, writes = Decimal(str(read_units)), Decimal(str(write_units))
        return (reads * self.read + writes * self.write) / MILLION

    def __str__(self) -> str:
        kind = "estimated for" if self.estimated else "of"
        return f"prices {kind} {self.region}, {self.date.isoformat()}"


@dataclass(frozen=True, slots=True)
class PriceList:
    """The rates of one day."""

    date: date
    source: str
    rates: dict[str, Rate]

    def rate(self, region: str) -> Rate:
        if region not in self.rates:
            raise UnknownPrice(
                f"The price list of {self.date.isoformat()} has no region {region!r}; it has"
                f" {', '.join(self.rates)}. Add its prices to a list, or read one with"
                " read_price_list(path)."
            )
        return self.rates[region]


def read_price_list(path: Path) -> PriceList:
    """A price list of your own, from a file in the form of those in `price_lists`."""
    listed = json.loads(path.read_text())
    day = date.fromisoformat(listed["date"])
    rates = {
        region: Rate(
            region,
            day,
            Decimal(prices["read"]),
            Decimal(prices["write"]),
            prices.get("source", listed["source"]),
            estimated=prices.get("estimated", False),
        )
        for region, prices in listed["regions"].items()
    }
    return PriceList(day, listed["source"], rates)


@cache
def price_lists() -> tuple[PriceList, ...]:
    """All lists that come with the kit, oldest first."""
    return tuple(read_price_list(path) for path in sorted(LISTS.glob("*.json")))


def price_list(on: date | None = None) -> PriceList:
    """The newest list, or the newest that is not later than a day."""
    lists = [price_list for price_list in price_lists() if on is None or price_list.date <= on]
    if not lists:
        first = price_lists()[0].date.isoformat()
        raise UnknownPrice(f"There is no price list for {on}; the oldest is of {first}.")
    return lists[-1]


def rate(region: str = DEFAULT_REGION, *, on: date | None = None) -> Rate:
    return price_list(on).rate(region)
