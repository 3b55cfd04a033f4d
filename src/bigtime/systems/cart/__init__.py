"""Retail carts: lines that are ACTIVE, SAVED or PURCHASED, by account and by SKU."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.cart import importing, line, purchase, view
from bigtime.systems.cart.demo import DEMO
from bigtime.systems.cart.design import CART

SYSTEM = System("cart", (CART,), modules=(line, purchase, view, importing), demo=DEMO)
