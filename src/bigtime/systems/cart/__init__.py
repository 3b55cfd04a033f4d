"""Retail carts: lines that are ACTIVE, SAVED or PURCHASED, by account and by SKU."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.cart import importing, line, purchases
from bigtime.systems.cart.demo import DEMO
from bigtime.systems.cart.design import (
    CART, LAKES, LINES, MOST_COUNT, MOST_LINES, MOST_PRICE, CartChanged, CartLine, Count, EmptyCart,
    InCartAgain, InvalidCount, InvalidPrice, ItemSku, Purchases, Status, UnknownLine, order_id_of,
)
from bigtime.systems.cart.line import (
    PERSONAL, LineWrites, count_products, move_line, put_back, put_in_cart, put_in_cart_with,
    remove_line, set_count, set_price, view_carts, view_carts_of_day, view_products,
)
from bigtime.systems.cart.purchases import (
    PreparedPurchase, complete_purchase, open_write, prepare, purchase, purchase_writes,
    view_purchase,
)

SYSTEM = System(
    "cart", (CART,), modules=(line, purchases, importing), demo=DEMO, lakes=LAKES,
    personal=PERSONAL,
)

__all__ = [
    "CART", "LINES", "MOST_COUNT", "MOST_LINES", "MOST_PRICE", "CartChanged", "CartLine", "Count",
    "EmptyCart", "InCartAgain", "InvalidCount", "InvalidPrice", "ItemSku", "LineWrites",
    "PreparedPurchase", "Purchases", "Status", "UnknownLine", "complete_purchase", "count_products",
    "move_line", "open_write", "order_id_of", "prepare", "purchase", "purchase_writes", "put_back",
    "put_in_cart", "put_in_cart_with", "remove_line", "set_count", "set_price", "view_carts",
    "view_carts_of_day", "view_products", "view_purchase",
]
