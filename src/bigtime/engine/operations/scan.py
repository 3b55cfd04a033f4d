"""Scan: every item of a table or index, in hash order, whole or in disjoint segments."""

from __future__ import annotations

from bigtime.engine.expressions import check_parameters, read_expressions, read_legacy
from bigtime.engine.operations.key_rules import check_key_paths
from bigtime.engine.operations.page import (
    INVALID,
    Walk,
    check_select,
    check_start_value,
    position,
    read_page,
    read_selection,
    read_start_key,
)
from bigtime.engine.operations.query import find_index
from bigtime.engine.storage import Database, Index, SortRange, Table, segment_range
from bigtime.wire import Item, Params, Response, ValidationException

EXPRESSIONS = ("ProjectionExpression", "FilterExpression")
LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")


def scan(database: Database, params: Params) -> Response:
    check_parameters(params, expressions=EXPRESSIONS, legacy=LEGACY)
    check_select(params)
    if "AttributesToGet" in params or "ScanFilter" in params:
        read_legacy(params)  # AWS finds fault with these before it looks at the start key.
    start = read_start_key(params)
    partitions = read_segment(params)
    expressions = read_expressions(params)
    table = database.catalogue.table(database.table_name(params["TableName"]))
    index = find_index(table, params)
    if start is not None:
        check_start(start, table, index)
    page = read_selection(params, index, expressions)
    walk = Walk(table, index, None, partitions, SortRange())
    if start is not None:
        walk.start = position(table, index, start)
        check_segment(params, walk)
    check_key_paths(table, expressions)
    return read_page(database, params, walk, page)


def read_segment(params: Params) -> SortRange:
    segment, total = params.get("Segment"), params.get("TotalSegments")
    if segment is not None and total is None:
        raise ValidationException(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if total is None:
        return SortRange()
    if segment is None:
        raise ValidationException(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if segment >= total:
        raise ValidationException(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {total}"
        )
    return segment_range(segment, total)


def check_start(start: Item, table: Table, index: Index | None) -> None:
    names = table.key_names if index is None else index.key_names
    if len(start) != len(names):
        raise ValidationException(
            INVALID if index else f"{INVALID}: The provided key element does not match the schema"
        )
    if index is not None:
        for attribute in index.definition.key_attributes:
            is_hash = attribute in index.definition.hash_key
            check_start_value(start, attribute, is_hash=is_hash)


def check_segment(params: Params, walk: Walk) -> None:
    assert walk.start is not None
    low, high = walk.partitions
    partition = walk.start[0]
    if (low is not None and partition < low) or (high is not None and partition >= high):
        raise ValidationException(
            f"{INVALID}: Invalid ExclusiveStartKey. "
            "Please use ExclusiveStartKey with correct Segment. "
            f"TotalSegments: {params['TotalSegments']} Segment: {params['Segment']}"
        )
