"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""

from bigtime.web.shop.fillers import fillers
from bigtime.web.shop.routes import SHOP

__all__ = [
    "SHOP",
    "fillers",
]
