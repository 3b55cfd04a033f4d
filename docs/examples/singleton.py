"""A key with no field in it: one item in all of the application."""

import bigtime as bt

DEALS = bt.Table("Deals", "PK")


class Brands(bt.Entity, table=DEALS):
    """The names of all brands, for the page that lists them."""

    keys = bt.Keys(main="BRANDS")
    names: set[str] = set()


BRANDS = bt.singleton(Brands)

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("deals", (DEALS,))))
    print(store.run(BRANDS.get()))
    for name in ("APPLE", "SONY", "APPLE"):
        store.run(BRANDS.update(names=bt.Add({name})))
    print(sorted(store.run(BRANDS.get()).names))
