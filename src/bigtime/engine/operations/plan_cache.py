"""The plan cache: a Query whose text was seen before is neither parsed nor checked again.

Most queries read one partition, whole or from one bound, and repeat their text with other values.
The plan of such a text is cached on the table object, which is replaced when the table changes.
Only the values are checked each time. A query with a value of another type than before, or one that
may be invalid, takes the full path, which has AWS's error messages. So does a query with two
bounds, since AWS requires the lower one first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from zlib import crc32

from bigtime.engine import expressions, storage
from bigtime.engine.operations.page import PageOptions, Walk
from bigtime.engine.storage import Index, KeyAttribute, Table
from bigtime.wire import AttributeValue, Item, Params, ValidationException, check_value

TEXTS: Final = tuple(
    "IndexName KeyConditionExpression FilterExpression ProjectionExpression ScanIndexForward"
    " ConsistentRead Select".split()
)
CACHEABLE: Final = frozenset(TEXTS).union(
    "TableName ExpressionAttributeNames ExpressionAttributeValues Limit"
    " ReturnConsumedCapacity".split()
)
EVERYTHING: Final = storage.SortRange()
BOUNDS: Final = ("=", "<", "<=", ">", ">=")
MOST_KEPT: Final = 256
MOST_VALUES: Final = 8

CacheKey: TypeAlias = tuple[Any, ...]
"""The parts of a query that do not depend on its partition, its values or its limit."""
PreparedRead: TypeAlias = tuple[Walk, PageOptions]


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """How a query compares the sort key, and the placeholder of the value it compares with."""

    attribute: KeyAttribute
    codec: storage.KeyCodec
    operator: str
    value: str

    def sorts(self, given: dict[str, AttributeValue]) -> storage.SortRange:
        operand = given[self.value]
        storage.quick_blob(operand, self.attribute.type)  # an unusual one raises
        return self.codec.sort_range(((self.operator, (operand,)),))


@dataclass(frozen=True, slots=True, eq=False)
class QueryPlan:
    """A query's plan. `types` are its values' types; `key` is the partition's placeholder."""

    index: Index | None
    attribute: KeyAttribute
    key: str
    bound: Bound | None
    types: dict[str, str]
    filter: expressions.ConditionProgram | None
    shape: Callable[[Item], Item] | None
    forward: bool
    count_only: bool
    consistent: bool

    def prepare(self, table: Table, params: Params) -> PreparedRead | None:
        given = params.get("ExpressionAttributeValues")
        if given is None or len(given) != len(self.types):
            return None
        try:
            partition = storage.quick_blob(given[self.key], self.attribute.type)
            sorts = self.bound.sorts(given) if self.bound else EVERYTHING
            keep = self.filter.bind(self.check_values(given)) if self.filter else None
        except (KeyError, ValueError, ValidationException):
            return None
        hashed = crc32(partition).to_bytes(4, "big") + partition
        walk = Walk(table, self.index, hashed, EVERYTHING, sorts, None, self.forward)
        limit = params.get("Limit")
        return walk, PageOptions(limit, keep, self.shape, self.count_only, False, self.consistent)

    def check_values(self, given: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        values: dict[str, AttributeValue] = {}
        for name, tag in self.types.items():
            value, size = check_value(given[name])
            if tag not in value or size > storage.QUICK_LENGTH:
                raise ValueError
            values[name] = value
        return values


def cache_key(params: Params) -> CacheKey | None:
    """The key of a query's plan; None if the query has parameters that no plan covers."""
    if not CACHEABLE.issuperset(params):
        return None
    names = params.get("ExpressionAttributeNames")
    return *map(params.get, TEXTS), *(names.items() if names else ())


def lookup(table: Table | None, text: CacheKey | None, params: Params) -> PreparedRead | None:
    """The walk and the page options of a query whose plan is cached."""
    if table is None or text is None:
        return None
    found = table.queries.get(text)
    return None if found is None else found.prepare(table, params)


def store(text: CacheKey | None, walk: Walk, page: PageOptions, params: Params) -> None:
    """Caches the plan of a valid query, if it is of a kind that plans cover."""
    table, index = walk.table, walk.index
    codec = index.codec if index else table.codec
    names = params.get("ExpressionAttributeNames") or {}
    values = params.get("ExpressionAttributeValues") or {}
    if text is None or "KeyConditionExpression" not in params:
        return
    if page.whole_items or len(codec.hash_key) != 1:
        return
    if len(values) > MOST_VALUES or any(len(value) != 1 for value in values.values()):
        return
    tree = expressions.parse_condition(params["KeyConditionExpression"]).tree
    terms = {term.attribute: term for term in expressions.compile_key_condition(tree, names).terms}
    key = terms.pop(codec.hash_key[0].name)
    if not is_bound(codec, terms):
        return
    filter = None
    if page.keep is not None:
        parsed = expressions.parse_condition(params["FilterExpression"])
        if expressions.depends_on_contents(parsed.tree):
            return
        filter = expressions.compile_condition(parsed.tree, names)
    if len(table.queries) >= MOST_KEPT:
        table.queries.clear()
    table.queries[text] = QueryPlan(
        index=index,
        attribute=codec.hash_key[0],
        key=key.value_names[0],
        bound=next((bound_of(codec, term) for term in terms.values()), None),
        types={name: next(iter(value)) for name, value in values.items()},
        filter=filter,
        shape=page.shape,
        forward=walk.forward,
        count_only=page.count_only,
        consistent=page.consistent,
    )


def is_bound(codec: storage.KeyCodec, terms: dict[str, expressions.UnboundTerm]) -> bool:
    """Whether the sort key is compared with at most one value."""
    if not terms:
        return True
    return len(codec.range_key) == 1 and all(term.operator in BOUNDS for term in terms.values())


def bound_of(codec: storage.KeyCodec, term: expressions.UnboundTerm) -> Bound:
    return Bound(codec.range_key[0], codec, term.operator, term.value_names[0])
