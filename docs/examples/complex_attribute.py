"""Few and bounded: a customer's addresses are a map on the customer, and one read brings all."""

from pydantic import BaseModel

import bigtime as bt

SHOP = bt.Table("Shop", "PK", naming=bt.model.pascal_case)


class Address(BaseModel):
    street: str
    city: str


class Customer(bt.Entity, table=SHOP):
    keys = bt.Keys(main="CUSTOMER#{username}")
    username: str
    addresses: dict[str, Address] = {}


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("shop", (SHOP,))))
    alex = Customer.key("alex")

    store.run(bt.put(Customer(username="alex")))
    store.run(
        bt.update(alex, bt.model.At("addresses.home", Address(street="1 Main St", city="Omaha")))
    )
    store.run(
        bt.update(alex, bt.model.At("addresses.work", Address(street="9 Mill Ln", city="Lincoln")))
    )
    store.run(bt.update(alex, bt.model.At("addresses.home.street", "2 Main St")))
    store.run(bt.update(alex, bt.model.At("addresses.work", bt.model.Remove())))

    customer = store.run(bt.get(alex))
    print(customer.addresses if customer else None)
