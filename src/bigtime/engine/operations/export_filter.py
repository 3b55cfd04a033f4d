"""What a filtered export takes of a table: FilterSpecification.

Its expressions are those of a Query or a Scan: a key condition names one partition and may bound
the sort key, a filter judges the item, a projection chooses attributes. For an incremental export
the latest image is judged, and of a deleted item the old one.

AWS: "Filtering a table export"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Filtered.html
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bigtime.engine import expressions
from bigtime.engine.operations.key_rules import check_key_paths
from bigtime.engine.operations.page import Walk
from bigtime.engine.operations.query import check_filter_keys, check_terms, read_walk
from bigtime.engine.storage import Table
from bigtime.wire import Item, Params, ValidationException

EXPRESSIONS: Final = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")


class ExportFilter(NamedTuple):
    """The rows and the attributes that are wanted; None means all."""

    walk: Walk | None
    parsed: expressions.Expressions

    def takes(self, partition: bytes, sort: bytes, item: Item) -> bool:
        if self.walk is not None:
            low, high = self.walk.sorts
            if partition != self.walk.partition or (low is not None and sort < low):
                return False
            if high is not None and sort >= high:
                return False
        return self.parsed.filter is None or self.parsed.filter(item)

    def project(self, item: Item) -> Item:
        return item if self.parsed.projection is None else self.parsed.projection(item)


def read_export_filter(table: Table, specification: Params) -> ExportFilter:
    """The filter, or the error that a Query with these expressions would have."""
    expressions.check_parameters(specification, expressions=EXPRESSIONS, legacy=())
    if not any(name in specification for name in EXPRESSIONS):
        raise ValidationException(
            "FilterSpecification must have a FilterExpression, a ProjectionExpression or a "
            "KeyConditionExpression"
        )
    parsed = expressions.read_expressions(specification)
    walk = None
    if parsed.key_condition is not None:
        terms = {term.attribute: term for term in parsed.key_condition}
        check_terms(terms, None, table, None)
        walk = read_walk(table, None, terms)
        check_filter_keys(table, None, parsed, specification)
    check_key_paths(table, parsed)
    return ExportFilter(walk, parsed)
