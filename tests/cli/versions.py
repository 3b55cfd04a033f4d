"""One table as it was designed at first, and after each of several changes."""

from __future__ import annotations

import bigtime as bt
from bigtime.model import Index, reference_count
from bigtime.wire import Item

GSI1 = bt.global_index("GSI1", "GSI1PK", "GSI1SK")


def make_table(*indexes: Index, schema_attribute: str | None = None) -> bt.Table:
    return bt.Table(
        "Versions",
        "PK",
        "SK",
        indexes=indexes,
        type_attribute="type",
        schema_attribute=schema_attribute,
    )


def first() -> bt.System:
    table = make_table()

    class Order(bt.Entity, table=table):
        keys = bt.Keys(main=("C#{customer}", "O#{number:08}"))
        customer: str
        number: int
        city: str = ""

    return bt.System("versions", (table,))


def indexed_system() -> bt.System:
    table = make_table(GSI1)

    class Order(bt.Entity, table=table):
        keys = bt.Keys(main=("C#{customer}", "O#{number:08}"), GSI1=("CITY#{city}", "{number:08}"))
        customer: str
        number: int
        city: str = ""

    return bt.System("versions", (table,))


def moved_system() -> bt.System:
    table = make_table(GSI1)

    class Order(bt.Entity, table=table):
        keys = bt.Keys(
            main=("CUSTOMER#{customer}", "ORDER#{number:08}"), GSI1=("CITY#{city}", "{number:08}")
        )
        customer: str
        number: int
        city: str = ""

    return bt.System("versions", (table,))


def upgraded_system() -> bt.System:
    table = make_table(schema_attribute="v")

    class Order(bt.Entity, table=table, schema=2, old_names={"town": "city"}):
        keys = bt.Keys(main=("C#{customer}", "O#{number:08}"))
        customer: str
        number: int
        town: str = ""
        label: str = ""

        @classmethod
        def upgrade(cls, item: Item) -> Item:
            item["label"] = {"S": f"no. {item['number']['N']}"}
            return item

    return bt.System("versions", (table,))


def counting(liked_as: str = "Like", was: str = "") -> bt.System:
    """`liked_as` is the name of the class of likes, `was` the one it had before."""
    table = bt.Table("Counting", "PK", "SK", type_attribute="type")

    class Brand(bt.Entity, table=table):
        keys = bt.Keys(main=("B#{name}", "BRAND"))
        name: str
        likes: int = 0

    class Like(bt.Entity, table=table, type_name=liked_as, was=was or ()):
        keys = bt.Keys(main=("B#{name}", "LIKE#{user}"))
        name: str
        user: str

    reference_count(Like, Brand, "likes")
    return bt.System("counting", (table,))


FIRST, INDEXED, MOVED, UPGRADED, COUNTING = (
    first(),
    indexed_system(),
    moved_system(),
    upgraded_system(),
    counting(),
)
FORGOTTEN, RENAMED = counting("Fan"), counting("Fan", was="Like")
