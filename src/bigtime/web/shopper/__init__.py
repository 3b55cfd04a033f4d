"""What a shopper sees: deals, brands, categories, the inbox, the cart, orders."""
