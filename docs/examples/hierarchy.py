"""Country > State > City > ZipCode in one sort key: one index answers at any depth."""

from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    Within,
    begins_with,
    count,
    global_index,
    put_many,
    setup,
)
from bigtime.store import open_store

SHOPS = Table("Shops", "ShopId", indexes=[global_index("ByPlace", "Country", "Place")])


class Shop(Entity, table=SHOPS):
    keys = Keys(main="{shop_id}", ByPlace=("{country}", "{state}#{city}#{zip_code}"))
    shop_id: str
    country: str
    state: str
    city: str
    zip_code: str


def within(**place: object) -> Within[Shop]:
    return Shop.within("ByPlace", country="USA", **place)


places = ["NE#Omaha#68118", "NE#Omaha#68127", "NE#Ord#68862", "NE#Lincoln#68508", "NV#Reno#89501"]

with open_store("memory:") as store:
    store.run(setup(System("shops", (SHOPS,))))
    rows = [place.split("#") for place in places]
    store.run(
        put_many(
            Shop(shop_id=f"s{n}", country="USA", state=state, city=city, zip_code=zip_code)
            for n, (state, city, zip_code) in enumerate(rows)
        )
    )
    print("USA:", store.run(count(within())))
    print("Nebraska:", store.run(count(within(state="NE"))))
    print("Nebraska, O...:", store.run(count(within(state="NE", city=begins_with("O")))))
    print("Omaha:", store.run(count(within(state="NE", city="Omaha"))))
    print("Omaha 68118:", store.run(count(within(state="NE", city="Omaha", zip_code="68118"))))
