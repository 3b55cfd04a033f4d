"""Bounds that pages tell of, taken from where they are kept: `bounds` in every template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bigtime.systems import accounts, cart, deals, shop


@dataclass(frozen=True, slots=True)
class Bounds:
    """How little or how much of something there may be."""

    least_password: int = accounts.LEAST_CHARACTERS
    most_addresses: int = shop.MOST_ADDRESSES
    most_count: int = cart.MOST_COUNT
    most_description: int = deals.MOST_DESCRIPTION


BOUNDS: Final = Bounds()
