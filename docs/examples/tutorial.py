# 1. The design

import asyncio
import sys

import bigtime as bt

DEALS = bt.Table("BigTimeDeals", "PK", "SK", naming=bt.model.pascal_case, type_attribute="Type")


class Brand(bt.Entity, table=DEALS):
    """A company whose products are on sale."""

    keys = bt.Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: str
    like_count: int = 0


class BrandLike(bt.Entity, table=DEALS):
    """A user's like of a brand."""

    keys = bt.Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: str
    username: str


class BrandWatch(bt.Entity, table=DEALS):
    """A user's wish to hear about a brand's deals."""

    keys = bt.Keys(main=("BRANDWATCH#{brand}", "USER#{username}"))
    brand: str
    username: str


# 2. The access patterns


class BrandExists(bt.DomainError):
    """This brand already exists."""


class UnknownBrand(bt.DomainError):
    """There is no such brand."""


class AlreadyLiked(bt.DomainError):
    """You already like this brand."""


@bt.pattern("Create Brand", index="Main table")
def create_brand(brand: str) -> bt.Steps[Brand]:
    return (yield from bt.create(Brand(brand=brand), unless_exists=BrandExists))


@bt.pattern("Like Brand for User", index="Main table")
def like_brand(brand: str, username: str) -> bt.Steps[None]:
    """The like and the count, or neither."""
    yield from bt.transact(
        bt.put(BrandLike(brand=brand, username=username), unless_exists=AlreadyLiked),
        bt.add(Brand.key(brand), like_count=1, if_exists=UnknownBrand),
    )


@bt.pattern("Watch Brand for User", index="Main table")
def watch_brand(brand: str, username: str) -> bt.Steps[BrandWatch]:
    return (yield from bt.put(BrandWatch(brand=brand, username=username)))


@bt.pattern("Fetch Brand and its Watchers", index="Main table")
def fetch_brand(
    brand: str, after: bt.Position | None = None
) -> bt.Steps[tuple[Brand, bt.Page[BrandWatch]]]:
    """25 watchers to a page."""
    watchers = BrandWatch.within("main", brand=brand)
    return (
        yield from bt.together(
            bt.get(Brand.key(brand), missing=UnknownBrand),
            bt.query(watchers, limit=25, after=after),
        )
    )


SYSTEM = bt.System("brands", (DEALS,), modules=(sys.modules[__name__],))


# 3. Running it


def main() -> None:
    with bt.open_store() as store:
        store.run(bt.setup(SYSTEM))
        print(store.run(create_brand("APPLE")))
        store.run(like_brand("APPLE", "alex"))
        store.run(watch_brand("APPLE", "alex"))
        store.run(watch_brand("APPLE", "bo"))
        brand, watchers = store.run(fetch_brand("APPLE"))
        print(brand, [watch.username for watch in watchers])
        for steps in (like_brand("APPLE", "alex"), like_brand("PEAR", "alex")):
            try:
                store.run(steps)
            except bt.DomainError as error:
                print(f"{error.code}: {error}")


# 4. Running it on an event loop


async def main_async() -> None:
    async with bt.open_async_store() as store:
        await store.run(bt.setup(SYSTEM))
        await store.run(create_brand("SONY"))
        await asyncio.gather(
            *(store.run(watch_brand("SONY", username)) for username in ("alex", "bo"))
        )
        brand, watchers = await store.run(fetch_brand("SONY"))
        print(brand, [watch.username for watch in watchers])


# 5. What it asks, and what that costs

if __name__ == "__main__":
    main()
    asyncio.run(main_async())
    print(bt.explain(like_brand("APPLE", "alex")))
