"""The shop: customers with a unique username and e-mail, their addresses, orders and items."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.shop import customer, order
from bigtime.systems.shop.demo import DEMO
from bigtime.systems.shop.design import ECOMMERCE

SYSTEM = System("shop", (ECOMMERCE,), modules=(customer, order), demo=DEMO)
