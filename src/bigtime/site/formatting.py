"""Money, percentages and times as people read them, in pages and in mails."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import lru_cache


@lru_cache(maxsize=4_096)
def money(amount: Decimal, currency: str = "$") -> str:
    return f"{currency}{amount:,.2f}"


@lru_cache(maxsize=4_096)
def percent(number: Decimal) -> str:
    return f"{number.normalize():f}%"


@lru_cache(maxsize=4_096)
def day(value: datetime) -> str:
    return f"{value:%d %B %Y}".lstrip("0")


@lru_cache(maxsize=4_096)
def moment(value: datetime) -> str:
    return f"{day(value)}, {value:%H:%M} UTC"
