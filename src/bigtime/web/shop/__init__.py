"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""

from bigtime.web.shop.routes import SHOP
from bigtime.web.shop.slots import personal_slots

__all__ = ["SHOP", "personal_slots"]
