"""The systems that the site is made of."""

from __future__ import annotations

from typing import Final

from bigtime.model import System
from bigtime.systems.accounts import SYSTEM as ACCOUNTS
from bigtime.systems.cart import SYSTEM as CART
from bigtime.systems.catalog import SYSTEM as CATALOG
from bigtime.systems.deals import SYSTEM as DEALS
from bigtime.systems.portal import SYSTEM as PORTAL
from bigtime.systems.sessions import SYSTEM as SESSIONS
from bigtime.systems.shop import SYSTEM as SHOP

__all__ = [
    "ACCOUNTS",
    "CART",
    "CATALOG",
    "DEALS",
    "NO_PATTERN",
    "PORTAL",
    "SESSIONS",
    "SHOP",
    "SYSTEMS",
    "pattern_label",
]

SYSTEMS: tuple[System, ...] = (DEALS, CATALOG, CART, SHOP, SESSIONS, ACCOUNTS, PORTAL)

NO_PATTERN: Final = "no pattern"

LABELS: Final = {
    one.name.qualified: f"{system.name}.{one.name}"
    for system in SYSTEMS
    for named in (system.patterns, system.reactions)
    for one in named.values()
}


def pattern_label(qualified: str | None) -> str:
    """What metrics call a pattern or a reaction, such as `deals.fetch_deal`."""
    return LABELS.get(qualified or "", NO_PATTERN)
