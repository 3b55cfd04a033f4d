from pathlib import Path

import bigtime as bt
from bigtime.model import System, lake, setup
from bigtime.projections.lake import FolderPlace, LakeWriter, run_query

SHOP = bt.Table("Shop", "PK", "SK", type_attribute="type", stream="NEW_AND_OLD_IMAGES")


class Sale(bt.Entity, table=SHOP):
    """A number of a product, sold."""

    keys = bt.Keys(main=("SALE#{sale_id}", "SALE#{sale_id}"))
    sale_id: str
    product: str
    pieces: int


SYSTEM = System("shop", (SHOP,), lakes=(lake(Sale, name="sales"),))
PLACE = FolderPlace(Path("lake"))

with bt.open_store("memory:") as store:
    store.run(setup(SYSTEM))
    for number, product in enumerate(("tea", "lamp", "tea")):
        store.run(bt.put(Sale(sale_id=str(number), product=product, pieces=2)))
    store.run(bt.update(Sale.key("0"), pieces=5))
    store.run(bt.delete(Sale.key("1")))
    with LakeWriter(store, SYSTEM.lakes, PLACE) as writer:
        print(writer.drain(), "changes are in the lake")

now = run_query(PLACE, SYSTEM.lakes, "SELECT product, sum(pieces) FROM sales GROUP BY ALL")
print("now:", now.rows)
then = run_query(
    PLACE,
    SYSTEM.lakes,
    "SELECT change, product, pieces FROM sales_changes ORDER BY sale_id, position",
)
print("changes:", then.rows)
