"""A username is unique as a key; an e-mail address is, as the key of a marker beside it."""

import bigtime as bt

SHOP = bt.Table("Shop", "PK")


class Customer(bt.Entity, table=SHOP):
    keys = bt.Keys(main="CUSTOMER#{username}")
    username: str
    email: str


class CustomerEmail(bt.Entity, table=SHOP):
    keys = bt.Keys(main="CUSTOMEREMAIL#{email}")
    email: str
    username: str


class UsernameTaken(bt.DomainError):
    """This username is taken."""


class EmailTaken(bt.DomainError):
    """There is an account with this e-mail address."""


EMAILS = bt.unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("shop", (SHOP,))))

    def register(username: str, email: str) -> None:
        try:
            customer = Customer(username=username, email=email)
            store.run(
                bt.create(customer, unless_exists=UsernameTaken)
            )  # and the marker, or neither
            print(f"welcome, {username}")
        except bt.DomainError as error:
            print(f"{username}, {email}: {error}")

    register("alex", "alex@example.com")
    register("alex", "other@example.com")
    register("bo", "alex@example.com")
    store.run(bt.update(Customer.key("alex"), email="alex@example.org"))
    register("bo", "alex@example.com")
    print(store.run(EMAILS.find("alex@example.org")))
