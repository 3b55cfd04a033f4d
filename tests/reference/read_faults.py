"""Mistakes in a Query or a Scan."""

from __future__ import annotations

from typing import Any

from bigtime.wire import AttributeValue
from tests.reference.designs import Design
from tests.reference.faults import READS, Fault, Spoil, setting


def key_condition(text: str, values: dict[str, AttributeValue]) -> Spoil:
    """Replaces a query's key condition, and drops its filter and projection."""

    def spoil(params: dict[str, Any], design: Design) -> None:
        for name in (
            "FilterExpression",
            "ProjectionExpression",
            "ExpressionAttributeNames",
            "Select",
        ):
            params.pop(name, None)
        params["KeyConditionExpression"] = text.format(partition=design.partition, sort=design.sort)
        params["ExpressionAttributeValues"] = values

    return spoil


def on_text_table(params: dict[str, Any], design: Design) -> bool:
    return "IndexName" not in params and design.partition == "pk" and design.sort == "sk"


def global_index(_params: dict[str, Any], design: Design) -> bool:
    return any(index.is_global for index in design.indexes)


def partial_index(_params: dict[str, Any], design: Design) -> bool:
    return any(ix.is_global and ix.projection != "ALL" for ix in design.indexes)


def strongly(params: dict[str, Any], design: Design) -> None:
    index = next(index for index in design.indexes if index.is_global)
    params.update(IndexName=index.name, ConsistentRead=True)
    params.pop("Select", None)


def all_attributes(params: dict[str, Any], design: Design) -> None:
    index = next(ix for ix in design.indexes if ix.is_global and ix.projection != "ALL")
    params.update(IndexName=index.name, Select="ALL_ATTRIBUTES")
    for name in ("ConsistentRead", "ProjectionExpression"):
        params.pop(name, None)


A, ONE = {"S": "a"}, {"N": "1"}
BAD_KEY_CONDITIONS: dict[str, tuple[str, dict[str, AttributeValue]]] = {
    "no partition": ("{sort} = :v", {":v": A}),
    "no key at all": ("a = :v", {":v": A}),
    "partition not equal": ("{partition} > :v", {":v": A}),
    "key condition of wrong type": ("{partition} = :v", {":v": ONE}),
    "sort key of wrong type": ("{partition} = :v AND {sort} < :w", {":v": A, ":w": ONE}),
    "OR of keys": ("{partition} = :v OR {partition} = :w", {":v": A, ":w": A}),
    "unequal key": ("{partition} = :v AND {sort} <> :w", {":v": A, ":w": A}),
    "IN for a key": ("{partition} = :v AND {sort} IN (:w)", {":v": A, ":w": A}),
    "NOT of a key": ("{partition} = :v AND NOT {sort} = :w", {":v": A, ":w": A}),
    "contains for a key": ("{partition} = :v AND contains({sort}, :w)", {":v": A, ":w": A}),
    "one key twice": ("{partition} = :v AND {sort} > :v AND {sort} < :w", {":v": A, ":w": A}),
    "another attribute": ("{partition} = :v AND a = :w", {":v": A, ":w": A}),
}


def read_faults() -> list[Fault]:
    return [
        *(
            Fault(name, ("Query",), key_condition(text, values), fits=on_text_table)
            for name, (text, values) in BAD_KEY_CONDITIONS.items()
        ),
        Fault("no key condition", ("Query",), no_key_condition),
        Fault("filter on a key", ("Query",), filter_on_key, fits=on_text_table),
        Fault("unknown index", READS, setting(IndexName="no-such-index")),
        Fault("limit of nothing", READS, setting(Limit=0)),
        Fault("unknown Select", READS, setting(Select="EVERYTHING")),
        Fault("count of a projection", READS, counted_projection),
        Fault("consistent global index", ("Scan",), strongly, fits=global_index),
        Fault("all of a partial index", ("Scan",), all_attributes, fits=partial_index),
        Fault("segment beyond", ("Scan",), setting(Segment=2, TotalSegments=2)),
        Fault("segment without total", ("Scan",), segment_alone),
        Fault("start key of wrong shape", READS, setting(ExclusiveStartKey={"zz": A})),
    ]


def no_key_condition(params: dict[str, Any], _design: Design) -> None:
    del params["KeyConditionExpression"]


def filter_on_key(params: dict[str, Any], _design: Design) -> None:
    params["FilterExpression"] = "sk <> pk"
    params.pop("Select", None)


def counted_projection(params: dict[str, Any], _design: Design) -> None:
    params.update(Select="COUNT", ProjectionExpression="a")


def segment_alone(params: dict[str, Any], _design: Design) -> None:
    params["Segment"] = 1
    params.pop("TotalSegments", None)
