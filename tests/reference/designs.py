"""The tables of the fuzz: each key type, each kind of index, each projection, at least once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hypothesis.vendor.pretty import RepresentationPrinter

from bigtime.wire import Params, Request

ATTRIBUTE_TYPES = {
    "pk": "S", "pn": "N", "pb": "B",
    "sk": "S", "sn": "N", "sb": "B",
    "g": "S", "h": "S", "n": "N", "m": "N", "v": "B",
}  # fmt: skip
"""The type that an attribute has wherever it is part of a key."""


@dataclass(frozen=True)
class Index:
    name: str
    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    projection: str = "ALL"
    included: tuple[str, ...] = ()
    is_global: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        return self.partition + self.sort

    def description(self) -> Params:
        projection: dict[str, object] = {"ProjectionType": self.projection}
        if self.included:
            projection["NonKeyAttributes"] = list(self.included)
        schema = key_schema(self.partition, self.sort)
        return {"IndexName": self.name, "KeySchema": schema, "Projection": projection}


@dataclass(frozen=True)
class Design:
    name: str
    partition: str
    sort: str | None = None
    indexes: tuple[Index, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """How Hypothesis prints it in a failing example."""
        printer.text(repr(self))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return (self.partition, self.sort) if self.sort else (self.partition,)

    @cached_property
    def index_keys(self) -> tuple[str, ...]:
        """Attributes that an index sorts by and that are no part of the table's own key."""
        named = dict.fromkeys(key for index in self.indexes for key in index.keys)
        return tuple(key for key in named if key not in self.keys)

    @cached_property
    def is_classic(self) -> bool:
        """No index key of several attributes: those came in November 2025."""
        return all(len(ix.partition) == 1 and len(ix.sort) <= 1 for ix in self.indexes)

    def index(self, name: str | None) -> Index | None:
        return next((index for index in self.indexes if index.name == name), None)

    def creation(self) -> Request:
        attributes = [
            {"AttributeName": name, "AttributeType": ATTRIBUTE_TYPES[name]}
            for name in self.keys + self.index_keys
        ]
        params: dict[str, object] = {
            "TableName": self.name,
            "AttributeDefinitions": attributes,
            "KeySchema": key_schema((self.partition,), (self.sort,) if self.sort else ()),
            "BillingMode": "PAY_PER_REQUEST",
        }
        for field, is_global in (
            ("GlobalSecondaryIndexes", True),
            ("LocalSecondaryIndexes", False),
        ):
            chosen = [ix.description() for ix in self.indexes if ix.is_global is is_global]
            if chosen:
                params[field] = chosen
        return Request("CreateTable", params)


def key_schema(partition: tuple[str, ...], sort: tuple[str, ...]) -> list[dict[str, str]]:
    schema = [{"AttributeName": name, "KeyType": "HASH"} for name in partition]
    return schema + [{"AttributeName": name, "KeyType": "RANGE"} for name in sort]


def local(name: str, partition: str, sort: str, projection: str, *included: str) -> Index:
    return Index(name, (partition,), (sort,), projection, included, is_global=False)


DESIGNS = (
    Design("plain", "pk", None, (Index("by-g", ("g",), ("n",)),)),
    Design("bare", "pk", "sn"),
    Design(
        "sorted",
        "pk",
        "sk",
        (
            local("local-all", "pk", "g", "ALL"),
            local("local-keys", "pk", "n", "KEYS_ONLY"),
            local("local-some", "pk", "v", "INCLUDE", "a", "b"),
            Index("by-g", ("g",), (), "KEYS_ONLY"),
        ),
    ),
    Design(
        "numbers",
        "pn",
        "sn",
        (
            Index("inverted", ("sn",), ("pn",), "ALL"),
            Index("by-h-n", ("h",), ("n",), "INCLUDE", ("a", "g")),
            local("local-text", "pn", "h", "INCLUDE", "c"),
        ),
    ),
    Design(
        "binaries",
        "pb",
        "sb",
        (Index("by-v", ("v",), ("sb",), "KEYS_ONLY"), local("local-n", "pb", "n", "ALL")),
    ),
    Design(
        "many",
        "pk",
        "sk",
        (
            Index("by-parts", ("g", "h"), ("n", "v"), "ALL"),
            Index("by-few", ("n", "g"), (), "KEYS_ONLY"),
            Index("by-own", ("sk",), ("g", "m", "pk"), "INCLUDE", ("a",)),
        ),
    ),
)
CLASSIC_DESIGNS = tuple(design for design in DESIGNS if design.is_classic)
