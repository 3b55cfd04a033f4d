"""A key with no field in it: one item in all of the application."""

from bigtime.model import Add, Entity, Keys, System, Table, setup, singleton
from bigtime.store import open_store

DEALS = Table("Deals", "PK")


class Brands(Entity, table=DEALS):
    """The names of all brands, for the page that lists them."""

    keys = Keys(main="BRANDS")
    names: set[str] = set()


BRANDS = singleton(Brands)

with open_store("memory:") as store:
    store.run(setup(System("deals", (DEALS,))))
    print(store.run(BRANDS.get()))
    for name in ("APPLE", "SONY", "APPLE"):
        store.run(BRANDS.update(names=Add({name})))
    print(sorted(store.run(BRANDS.get()).names))
