"""Queries that were asked before, of another partition.

Most queries are of one partition from its beginning, and have the same text each time. What is
made of such a text, and checked of it, is kept with the table, which is another object as soon as
anything about it changes. What is left is to look at the values: if one is odd in any way, or of
another type than the last time, the query goes the long way, where the words for it are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from zlib import crc32

from bigtime.engine.definition import KeyAttribute
from bigtime.engine.expressions.check import depends_on_contents
from bigtime.engine.expressions.condition import ConditionProgram
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.programs import CONDITIONS
from bigtime.engine.keys import SortRange
from bigtime.engine.page import Page, Walk
from bigtime.engine.table import QUICK_LENGTH, Index, Table, quick_blob
from bigtime.engine.values import check_value
from bigtime.wire import AttributeValue, Params, ValidationException

TEXTS: Final = (
    "IndexName",
    "KeyConditionExpression",
    "FilterExpression",
    "ScanIndexForward",
    "ConsistentRead",
    "Select",
)
QUICK: Final = frozenset(
    {
        *TEXTS,
        "TableName",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "Limit",
        "ReturnConsumedCapacity",
    }
)
EVERYTHING: Final = SortRange()
MOST_KEPT: Final = 256
MOST_VALUES: Final = 8

Text: TypeAlias = tuple[Any, ...]
"""All of a query that is the same for every partition, for every value and for every limit."""
Asked: TypeAlias = tuple[Walk, Page]


@dataclass(frozen=True, slots=True, eq=False)
class QuickQuery:
    """What was made of a text. `types` are those of its values; `key` names the partition's."""

    index: Index | None
    attribute: KeyAttribute
    key: str
    types: dict[str, str]
    filter: ConditionProgram | None
    forward: bool
    count_only: bool
    consistent: bool

    def asked(self, table: Table, params: Params) -> Asked | None:
        given = params["ExpressionAttributeValues"]
        if len(given) != len(self.types):
            return None
        try:
            partition = quick_blob(given[self.key], self.attribute)
            keep = self.filter.bind(self.checked(given)) if self.filter else None
        except (KeyError, ValueError, ValidationException):
            return None
        hashed = crc32(partition).to_bytes(4, "big") + partition
        walk = Walk(table, self.index, hashed, EVERYTHING, EVERYTHING, None, self.forward)
        limit = params.get("Limit")
        return walk, Page(limit, keep, None, self.count_only, False, self.consistent)

    def checked(self, given: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        values: dict[str, AttributeValue] = {}
        for name, tag in self.types.items():
            value, size = check_value(given[name])
            if tag not in value or size > QUICK_LENGTH:
                raise ValueError
            values[name] = value
        return values


def text_of(params: Params) -> Text | None:
    """What a query is kept by; None of one that is none of these."""
    if not QUICK.issuperset(params):
        return None
    names = params.get("ExpressionAttributeNames")
    return *map(params.get, TEXTS), *(names.items() if names else ())


def recalled(table: Table | None, text: Text | None, params: Params) -> Asked | None:
    """The walk and the page of a query whose text is known."""
    if table is None or text is None:
        return None
    found = table.queries.get(text)
    return None if found is None else found.asked(table, params)


def remember(text: Text | None, walk: Walk, page: Page, params: Params) -> None:
    """Keeps what was made of a query that has been found right, if it is one of these."""
    table, index = walk.table, walk.index
    attributes = index.definition.hash_key if index else (table.hash_key,)
    values = params.get("ExpressionAttributeValues") or {}
    if text is None or page.whole_items or walk.sorts != EVERYTHING or len(attributes) != 1:
        return
    asked = parse_condition(params.get("KeyConditionExpression") or "").values
    if (
        len(asked) != 1
        or len(values) > MOST_VALUES
        or any(len(one) != 1 for one in values.values())
    ):
        return
    filter = None
    if page.keep is not None:
        parsed = parse_condition(params["FilterExpression"])
        if depends_on_contents(parsed.tree):
            return
        names = params.get("ExpressionAttributeNames") or {}
        filter = CONDITIONS.program(params["FilterExpression"], parsed, names, values)
    if len(table.queries) >= MOST_KEPT:
        table.queries.clear()
    table.queries[text] = QuickQuery(
        index=index,
        attribute=attributes[0],
        key=asked[0],
        types={name: next(iter(value)) for name, value in values.items()},
        filter=filter,
        forward=walk.forward,
        count_only=page.count_only,
        consistent=page.consistent,
    )
