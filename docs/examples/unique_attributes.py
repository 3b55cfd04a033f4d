"""A username is unique as a key; an e-mail address is, as the key of a marker beside it."""

from bigtime.model import DomainError, Entity, Keys, System, Table, create, setup, unique, update
from bigtime.store import open_store

SHOP = Table("Shop", "PK")


class Customer(Entity, table=SHOP):
    keys = Keys(main="CUSTOMER#{username}")
    username: str
    email: str


class CustomerEmail(Entity, table=SHOP):
    keys = Keys(main="CUSTOMEREMAIL#{email}")
    email: str
    username: str


class UsernameTaken(DomainError):
    """This username is taken."""


class EmailTaken(DomainError):
    """There is an account with this e-mail address."""


EMAILS = unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)

with open_store("memory:") as store:
    store.run(setup(System("shop", (SHOP,))))

    def register(username: str, email: str) -> None:
        try:
            customer = Customer(username=username, email=email)
            store.run(create(customer, unless_exists=UsernameTaken))  # and the marker, or neither
            print(f"welcome, {username}")
        except DomainError as error:
            print(f"{username}, {email}: {error}")

    register("alex", "alex@example.com")
    register("alex", "other@example.com")
    register("bo", "alex@example.com")
    store.run(update(Customer.key("alex"), email="alex@example.org"))
    register("bo", "alex@example.com")
    print(store.run(EMAILS.find("alex@example.org")))
