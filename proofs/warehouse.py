"""Two tables written in one transaction: P18 to P20 restore, copy and replicate them."""

from __future__ import annotations

from bigtime import model as bt
from bigtime.wire import Item, Request

STOCK = bt.Table("Stock", "PK", indexes=[bt.global_index("ByShelf", "shelf")])
MOVES = bt.Table("Moves", "PK", "SK")


class Stock(bt.Entity, table=STOCK):
    """How much there is of something, and where."""

    keys = bt.Keys(main="{name}", ByShelf="{shelf}")
    name: str
    shelf: str
    pieces: int


class Move(bt.Entity, table=MOVES):
    """The last change of something."""

    keys = bt.Keys(main=("{name}", "last"))
    name: str
    pieces: int


WAREHOUSE = bt.System("warehouse", (STOCK, MOVES))


def stock(name: str, pieces: int) -> Item:
    shelf = f"shelf {pieces % 3}"
    return {"PK": {"S": name}, "shelf": {"S": shelf}, "pieces": {"N": f"{pieces}"}}


def move(name: str, pieces: int) -> Item:
    return {"PK": {"S": name}, "SK": {"S": "last"}, "pieces": {"N": f"{pieces}"}}


def set_pieces(name: str, pieces: int) -> Request:
    """A transaction that writes both items."""
    puts = [("Stock", stock(name, pieces)), ("Moves", move(name, pieces))]
    actions = [{"Put": {"TableName": table, "Item": item}} for table, item in puts]
    return Request("TransactWriteItems", {"TransactItems": actions})


def remove(name: str) -> Request:
    keys = [("Stock", {"PK": {"S": name}}), ("Moves", {"PK": {"S": name}, "SK": {"S": "last"}})]
    actions = [{"Delete": {"TableName": table, "Key": key}} for table, key in keys]
    return Request("TransactWriteItems", {"TransactItems": actions})


def pieces_in(items: list[Item]) -> dict[str, int]:
    return {item["PK"]["S"]: int(item["pieces"]["N"]) for item in items}
