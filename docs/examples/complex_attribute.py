"""Few and bounded: a customer's addresses are a map on the customer, and one read brings all."""

from pydantic import BaseModel

from bigtime.model import (
    At,
    Entity,
    Keys,
    Remove,
    System,
    Table,
    get,
    pascal_case,
    put,
    setup,
    update,
)
from bigtime.store import open_store

SHOP = Table("Shop", "PK", naming=pascal_case)


class Address(BaseModel):
    street: str
    city: str


class Customer(Entity, table=SHOP):
    keys = Keys(main="CUSTOMER#{username}")
    username: str
    addresses: dict[str, Address] = {}


with open_store("memory:") as store:
    store.run(setup(System("shop", (SHOP,))))
    alex = Customer.key("alex")

    store.run(put(Customer(username="alex")))
    store.run(update(alex, At("addresses.home", Address(street="1 Main St", city="Omaha"))))
    store.run(update(alex, At("addresses.work", Address(street="9 Mill Ln", city="Lincoln"))))
    store.run(update(alex, At("addresses.home.street", "2 Main St")))
    store.run(update(alex, At("addresses.work", Remove())))

    customer = store.run(get(alex))
    print(customer.addresses if customer else None)
