"""The systems that the site is made of."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.accounts import SYSTEM as ACCOUNTS
from bigtime.systems.cart import SYSTEM as CART
from bigtime.systems.catalog import SYSTEM as CATALOG
from bigtime.systems.deals import SYSTEM as DEALS
from bigtime.systems.portal import SYSTEM as PORTAL
from bigtime.systems.sessions import SYSTEM as SESSIONS
from bigtime.systems.shop import SYSTEM as SHOP

__all__ = ["ACCOUNTS", "CART", "CATALOG", "DEALS", "PORTAL", "SESSIONS", "SHOP", "SYSTEMS"]

SYSTEMS: tuple[System, ...] = (DEALS, CATALOG, CART, SHOP, SESSIONS, ACCOUNTS, PORTAL)
