# 1. The design

import asyncio
import sys

from bigtime.advisor import explain
from bigtime.model import (
    DomainError,
    Entity,
    Keys,
    Page,
    Position,
    System,
    Table,
    add,
    create,
    get,
    pascal_case,
    pattern,
    put,
    query,
    setup,
    together,
    transact,
)
from bigtime.store import open_async_store, open_store
from bigtime.wire import Steps

DEALS = Table("BigTimeDeals", "PK", "SK", naming=pascal_case, type_attribute="Type")


class Brand(Entity, table=DEALS):
    """Someone whose things are on offer."""

    keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: str
    like_count: int = 0


class BrandLike(Entity, table=DEALS):
    """That a user likes a brand."""

    keys = Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: str
    username: str


class BrandWatch(Entity, table=DEALS):
    """That a user wants to hear of a brand's deals."""

    keys = Keys(main=("BRANDWATCH#{brand}", "USER#{username}"))
    brand: str
    username: str


# 2. The access patterns


class BrandExists(DomainError):
    """There is such a brand already."""


class UnknownBrand(DomainError):
    """There is no such brand."""


class AlreadyLiked(DomainError):
    """You like this brand already."""


@pattern("Create Brand", index="Main table")
def create_brand(brand: str) -> Steps[Brand]:
    return (yield from create(Brand(brand=brand), unless_exists=BrandExists))


@pattern("Like Brand for User", index="Main table")
def like_brand(brand: str, username: str) -> Steps[None]:
    """The like and the count, or neither."""
    yield from transact(
        put(BrandLike(brand=brand, username=username), unless_exists=AlreadyLiked),
        add(Brand.key(brand), like_count=1, if_exists=UnknownBrand),
    )


@pattern("Watch Brand for User", index="Main table")
def watch_brand(brand: str, username: str) -> Steps[BrandWatch]:
    return (yield from put(BrandWatch(brand=brand, username=username)))


@pattern("Fetch Brand and its Watchers", index="Main table")
def fetch_brand(brand: str, after: Position | None = None) -> Steps[tuple[Brand, Page[BrandWatch]]]:
    """25 watchers to a page."""
    watchers = BrandWatch.within("main", brand=brand)
    return (
        yield from together(
            get(Brand.key(brand), missing=UnknownBrand), query(watchers, limit=25, after=after)
        )
    )


SYSTEM = System("brands", (DEALS,), modules=(sys.modules[__name__],))


# 3. Running it


def main() -> None:
    with open_store() as store:
        store.run(setup(SYSTEM))
        print(store.run(create_brand("APPLE")))
        store.run(like_brand("APPLE", "alex"))
        store.run(watch_brand("APPLE", "alex"))
        store.run(watch_brand("APPLE", "bo"))
        brand, watchers = store.run(fetch_brand("APPLE"))
        print(brand, [watch.username for watch in watchers])
        for steps in (like_brand("APPLE", "alex"), like_brand("PEAR", "alex")):
            try:
                store.run(steps)
            except DomainError as error:
                print(f"{error.code}: {error}")


# 4. Running it on an event loop


async def main_async() -> None:
    async with open_async_store() as store:
        await store.run(setup(SYSTEM))
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
    print(explain(like_brand("APPLE", "alex")))
