"""A partition a day, so that none takes every write; the latest lie in the last listed days."""

from datetime import UTC, datetime, timedelta

import bigtime as bt

DEALS = bt.Table("Deals", "PK", "SK", indexes=[bt.global_index("GSI2", "GSI2PK", "GSI2SK")])


class Deal(bt.Entity, table=DEALS):
    keys = bt.Keys(
        main=("DEAL#{deal_id}", "DEAL"),
        GSI2=("BRAND#{brand}#{created_at:day}", "DEAL#{deal_id}"),
    )
    deal_id: bt.Ksuid
    brand: str
    title: str
    created_at: datetime


bt.list_buckets(Deal, "GSI2")


@bt.pattern("Fetch Latest Deals for Brand", index="GSI2")
def latest_deals(brand: str, after: bt.Position | None = None) -> bt.Steps[bt.Page[Deal]]:
    """Walks the days that have deals, newest first."""
    days = bt.buckets(Deal, "GSI2", brand=brand)
    return (yield from bt.newest_first(days, limit=3, after=after))


today = datetime(2026, 3, 10, 12, tzinfo=UTC)
ages = {"lamp": 0, "mug": 1, "pen": 1, "rug": 3, "sofa": 9}

with bt.open_store("memory:", clock=lambda: today) as store:
    store.run(bt.setup(bt.System("deals", (DEALS,))))
    for hour, (title, age) in enumerate(ages.items()):
        at = today - timedelta(days=age, hours=hour)
        store.run(
            bt.put(Deal(deal_id=bt.Ksuid.make(at), brand="APPLE", title=title, created_at=at))
        )

    page = store.run(latest_deals("APPLE"))
    print([deal.title for deal in page])
    while page.position:
        page = store.run(latest_deals("APPLE", page.position))
        print([deal.title for deal in page])
