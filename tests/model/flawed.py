"""A system with one of each flaw that `bigtime check` finds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field

from bigtime.model.operations.get import get
from bigtime.model.operations.query import all_of
from bigtime.model.operations.scan import scan_all
from bigtime.model.pattern import pattern
from bigtime.model.schema.declaration import shard_field
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index
from bigtime.model.system import System
from bigtime.wire.requests import Steps


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    SAVED = "SAVED"


PRODUCTS = Table(
    "FlawedProducts",
    "sku",
    indexes=[
        global_index("StatusIndex", "status", "sku"),
        global_index("ActiveIndex", "status", "sku"),
        global_index("KindIndex", "kind_key", "kind_sort"),
        global_index("SameKindIndex", "same_kind_key", "same_kind_sort"),
        global_index("ShardIndex", "shard_key", "sku"),
    ],
)


class Review(BaseModel):
    stars: int
    tags: list[str]


class Product(Entity, table=PRODUCTS):
    keys = Keys(
        main="{sku}",
        StatusIndex=("{status}", "{sku}"),
        ActiveIndex=("{status}", "{sku}"),
        KindIndex=("{kind}#{is_new}", "{sku}"),
        SameKindIndex=("{kind}#{is_new}", "{sku}"),
        ShardIndex=("{kind}#{shard}", "{sku}"),
    )
    sku: str
    status: Status
    kind: Literal["a", "b", "c"]
    is_new: bool = False
    shard: int = shard_field(4, by="sku")
    description: str = Field(max_length=90_000)
    reviews: list[Review] = Field(default=[], max_length=100)
    notes: list[str] = []
    few: list[str] = Field(default=[], max_length=3)
    pair: tuple[str, str] | None = None


@pattern("List all Products", index="Main table")
def list_products() -> Steps[list[Product]]:
    return (yield from scan_all(Product))


@pattern("Products of a Status", index="Main table")
def products_of(status: Status) -> Steps[list[Product]]:
    return (yield from all_of(Product.within("StatusIndex", status=status)))


@pattern("Fetch Product", index="Main table, GSI9")
def fetch_product(sku: str) -> Steps[Product | None]:
    return (yield from get(Product.key(sku)))


@pattern("Fetch Product by a Rule", index="FlawedProducts")
def fetch_by_rule(rule: Callable[[str], str]) -> Steps[Product | None]:
    return (yield from get(Product.key(rule("a"))))


@pattern("Fetch Product well", index="FlawedProducts", accepted={"scan": "it used to scan"})
def fetch_well(sku: str) -> Steps[Product | None]:
    return (yield from get(Product.key(sku)))


SYSTEM = System("flawed", (PRODUCTS,), (sys.modules[__name__],))
