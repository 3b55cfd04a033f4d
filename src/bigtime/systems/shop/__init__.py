"""The shop: customers with a unique username and e-mail, their addresses, orders and items."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.shop import customer, order
from bigtime.systems.shop.customer import (
    PERSONAL, adding_address, create_customer, remove_address, save_address, view_customer,
)
from bigtime.systems.shop.demo import DEMO
from bigtime.systems.shop.design import (
    ADDRESS_NAME, ECOMMERCE, LAKES, MOST_ADDRESSES, Address, AddressName, Customer, CustomerEmail,
    CustomerName, Email, EmailTaken, InvalidAddressName, InvalidEmail, InvalidOrderId,
    InvalidUsername, Line, Order, OrderExists, OrderItem, OrderMovedOn, OrderStatus,
    StatusOutOfOrder, TooManyAddresses, UnknownAddress, UnknownCustomer, UnknownOrder,
    UsernameTaken, order_id_of,
)
from bigtime.systems.shop.order import (
    NEXT, OrderedItem, WholeOrder, new_order, order_id_for, save_order, save_writes, status_write,
    update_order_status, view_order, view_order_of,
)

SYSTEM = System(
    "shop", (ECOMMERCE,), modules=(customer, order), demo=DEMO, lakes=LAKES, personal=PERSONAL
)

__all__ = [
    "ADDRESS_NAME", "ECOMMERCE", "MOST_ADDRESSES", "NEXT", "Address", "AddressName", "Customer",
    "CustomerEmail", "CustomerName", "Email", "EmailTaken", "InvalidAddressName", "InvalidEmail",
    "InvalidOrderId", "InvalidUsername", "Line", "Order", "OrderExists", "OrderItem",
    "OrderMovedOn", "OrderStatus", "OrderedItem", "StatusOutOfOrder", "TooManyAddresses",
    "UnknownAddress", "UnknownCustomer", "UnknownOrder", "UsernameTaken", "WholeOrder",
    "adding_address", "create_customer", "new_order", "order_id_for", "order_id_of",
    "remove_address", "save_address", "save_order", "save_writes", "status_write",
    "update_order_status", "view_customer", "view_order", "view_order_of",
]
