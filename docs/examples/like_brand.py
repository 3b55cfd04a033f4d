import bigtime as bt

DEALS = bt.Table("BigTimeDeals", "PK", "SK")


class Brand(bt.Entity, table=DEALS):
    keys = bt.Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: str
    like_count: int = 0


class BrandLike(bt.Entity, table=DEALS):
    keys = bt.Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: str
    username: str


class AlreadyLiked(bt.DomainError):
    """You already like this brand."""


@bt.pattern("Like Brand for User", index="Main table")
def like_brand(brand: str, username: str) -> bt.Steps[None]:
    """The like and the count, or neither."""
    yield from bt.transact(
        bt.put(BrandLike(brand=brand, username=username), unless_exists=AlreadyLiked),
        bt.add(Brand.key(brand), like_count=1),
    )


with bt.open_store("memory:") as store:  # or "file:deals.db", or "dynamodb:eu-west-1"
    store.run(bt.setup(DEALS))
    store.run(bt.create(Brand(brand="APPLE")))
    store.run(like_brand("APPLE", "alex"))  # on an AsyncStore: await store.run(...)
    print(store.run(bt.get(Brand.key("APPLE"))))
    print(bt.explain(like_brand("APPLE", "bo")).write_units, "write units")
