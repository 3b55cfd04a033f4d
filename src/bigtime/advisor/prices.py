"""Prices of DynamoDB, by region, from dated price lists.

A list is a JSON file in `price_lists`, named after the day on which it was valid. A region or price
that a list lacks is an error: a silently guessed price is worse than none. "estimated" is true, or
lists the names of the estimated prices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parent / "price_lists"
DEFAULT_REGION = "us-east-1"
MILLION = 1_000_000
REQUESTS = ("read", "write")
OTHERS = ("storage", "pitr", "backup", "restore", "stream_read", "replicated_write", "transfer")
"""Prices other than those of requests: per GB-month (storage, PITR, backup), per GB (restore,
transfer to another region), or per million units (stream reads, replicated writes)."""


class UnknownPrice(LookupError):
    """No price list has the price; the message says which regions and days there are."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The US dollar prices of a million read and write request units; and other prices."""

    region: str
    """The AWS region."""
    date: date
    """The day of the price list."""
    read: Decimal
    """Dollars for a million read units."""
    write: Decimal
    """Dollars for a million write units."""
    source: str
    """Where the prices were found."""
    others: Mapping[str, Decimal] = field(default_factory=dict)
    """The other prices, by name."""
    estimates: frozenset[str] = frozenset()
    """The names of the prices that are estimated."""

    @property
    def is_estimated(self) -> bool:
        """Whether the prices of requests are estimated."""
        return not self.estimates.isdisjoint(REQUESTS)

    def price(self, name: str) -> Decimal:
        """The price of this name, one of `OTHERS`; raises UnknownPrice if missing."""
        if name not in self.others:
            raise UnknownPrice(
                f"The price list of {self.date.isoformat()} has no price {name!r} of {self.region};"
                f" it has {', '.join((*REQUESTS, *self.others))}."
            )
        return self.others[name]

    def dollars(self, read_units: float, write_units: float) -> Decimal:
        """The price of some units."""
        reads, writes = Decimal(str(read_units)), Decimal(str(write_units))
        return (reads * self.read + writes * self.write) / MILLION

    def __str__(self) -> str:
        kind = "estimated for" if self.is_estimated else "of"
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
    """Reads your own price list, from a file in the format of those in `price_lists`."""
    listed = json.loads(path.read_text())
    day = date.fromisoformat(listed["date"])
    rates = {
        region: rate_in(region, day, {"source": listed["source"], **prices})
        for region, prices in listed["regions"].items()
    }
    return PriceList(day, listed["source"], rates)


def rate_in(region: str, day: date, prices: Mapping[str, Any]) -> Rate:
    others = {name: Decimal(prices[name]) for name in OTHERS if name in prices}
    estimated: bool | Iterable[str] = prices.get("estimated", False)
    if isinstance(estimated, bool):
        estimated = (*REQUESTS, *others) if estimated else ()
    return Rate(
        region,
        day,
        Decimal(prices["read"]),
        Decimal(prices["write"]),
        prices["source"],
        others,
        frozenset(estimated),
    )


@cache
def price_lists() -> tuple[PriceList, ...]:
    """All lists included in the kit, oldest first."""
    return tuple(read_price_list(path) for path in sorted(LISTS.glob("*.json")))


def price_list(on: date | None = None) -> PriceList:
    """The newest list, or the newest one no later than a given day."""
    lists = [price_list for price_list in price_lists() if on is None or price_list.date <= on]
    if not lists:
        first = price_lists()[0].date.isoformat()
        raise UnknownPrice(f"There is no price list for {on}; the oldest is of {first}.")
    return lists[-1]


def rate(region: str = DEFAULT_REGION, *, on: date | None = None) -> Rate:
    return price_list(on).rate(region)
