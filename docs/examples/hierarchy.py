"""Country > State > City > ZipCode in one sort key: one index answers at any depth."""

import bigtime as bt

SHOPS = bt.Table("Shops", "ShopId", indexes=[bt.global_index("ByPlace", "Country", "Place")])


class Shop(bt.Entity, table=SHOPS):
    keys = bt.Keys(main="{shop_id}", ByPlace=("{country}", "{state}#{city}#{zip_code}"))
    shop_id: str
    country: str
    state: str
    city: str
    zip_code: str


def within(**place: object) -> bt.model.KeyRange[Shop]:
    return Shop.within("ByPlace", country="USA", **place)


places = ["NE#Omaha#68118", "NE#Omaha#68127", "NE#Ord#68862", "NE#Lincoln#68508", "NV#Reno#89501"]

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("shops", (SHOPS,))))
    rows = [place.split("#") for place in places]
    store.run(
        bt.put_many(
            Shop(shop_id=f"s{n}", country="USA", state=state, city=city, zip_code=zip_code)
            for n, (state, city, zip_code) in enumerate(rows)
        )
    )
    print("USA:", store.run(bt.count(within())))
    print("Nebraska:", store.run(bt.count(within(state="NE"))))
    print(
        "Nebraska, O...:", store.run(bt.count(within(state="NE", city=bt.model.begins_with("O"))))
    )
    print("Omaha:", store.run(bt.count(within(state="NE", city="Omaha"))))
    print("Omaha 68118:", store.run(bt.count(within(state="NE", city="Omaha", zip_code="68118"))))
