"""Bounds that pages tell of, taken from where they are kept: `bounds` in every template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bigtime.systems.accounts.password import LEAST_CHARACTERS
from bigtime.systems.cart.design import MOST_COUNT
from bigtime.systems.deals.values import MOST_DESCRIPTION
from bigtime.systems.shop.design import MOST_ADDRESSES


@dataclass(frozen=True, slots=True)
class Bounds:
    """How little or how much of something there may be."""

    least_password: int = LEAST_CHARACTERS
    most_addresses: int = MOST_ADDRESSES
    most_count: int = MOST_COUNT
    most_description: int = MOST_DESCRIPTION


BOUNDS: Final = Bounds()
