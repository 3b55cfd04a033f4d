"""Query and Scan: the items of one partition in sort-key order, or all of a table or index.

AWS: "Query" and "Scan"; which of several errors is reported, and the messages, were seen on AWS by
dynalite's test/query.js and test/scan.js, and by the validation-order tests of a suite that runs on
AWS (https://github.com/paritysuite/dynamodb-conformance).
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
"""

from __future__ import annotations

from bigtime.engine import expressions, storage
from bigtime.engine.operations import page, table_schema
from bigtime.engine.operations.key_rules import check_key_paths, check_nested
from bigtime.engine.operations.plan_cache import EVERYTHING, cache_key, lookup, store
from bigtime.engine.storage import Database, Index, KeyAttribute, Table
from bigtime.wire import Item, Params, Response, ValidationException

QUERY_EXPRESSIONS = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
QUERY_LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")

# The key length of a table or a local index; only a global index may have a longer key.
SIMPLE_KEY = 2
WRONG_COUNT = "Conditions can be of length 1 or 2 only"
UNSUPPORTED = "Query key condition not supported"
# For a vector index; one message ends with a period, the other does not.
# (Seen on AWS: https://github.com/ExtendDB/extenddb/pull/319)
NOT_QUERIED = "Query operation not supported on this index type."
NOT_SCANNED = "Scan operation not supported on this index type"


def query(database: Database, params: Params) -> Response:
    text = cache_key(params)
    prepared = lookup(database.catalogue.tables.get(params["TableName"]), text, params)
    if prepared is not None:
        return page.read_page(database, params, *prepared)
    expressions.check_parameters(params, expressions=QUERY_EXPRESSIONS, legacy=QUERY_LEGACY)
    page.check_select(params, prefix=page.OF_QUERY)
    if "AttributesToGet" in params or "QueryFilter" in params:
        # AWS finds fault with these before it looks at the start key.
        expressions.read_legacy(params)
    if "KeyConditions" in params:
        expressions.read_key_conditions(params["KeyConditions"])
    start = page.read_start_key(params)
    if "KeyConditionExpression" not in params and "KeyConditions" not in params:
        raise ValidationException(
            "Either the KeyConditions or KeyConditionExpression parameter "
            "must be specified in the request."
        )
    parsed = expressions.read_expressions(params)
    terms = {term.attribute: term for term in parsed.key_condition or ()}
    # The key of an index may be longer. (Seen on AWS, though documented for expressions only:
    # https://github.com/scylladb/scylladb/issues/31393)
    at_most_two = "KeyConditions" in params and "IndexName" not in params
    if not terms or (at_most_two and len(terms) > SIMPLE_KEY):
        raise ValidationException(WRONG_COUNT)
    table = database.catalogue.table(params["TableName"])
    index = find_index(table, params)
    check_terms(terms, start, table, index)
    walk = read_walk(table, index, terms)
    walk.forward = params.get("ScanIndexForward") is not False
    if start is not None:
        walk.start = bounded_start(walk, start)
    if parsed.projection is not None and parsed.projection.nested_attributes:
        check_nested(table, parsed.projection.nested_attributes)
    check_filter_keys(table, index, parsed, params)
    options = page.read_selection(params, index, parsed)
    if parsed.filter is not None:
        check_filter_projected(index, parsed.filter, options)
        if parsed.filter.nested_attributes:
            check_nested(table, parsed.filter.nested_attributes)
    store(text, walk, options, params)
    return page.read_page(database, params, walk, options)


def find_index(table: Table, params: Params) -> Index | None:
    name = params.get("IndexName")
    if name is None:
        return None
    index = table.by_name.get(name)
    if index is None:
        if table.definition.vector_index(name):
            has_condition = "KeyConditionExpression" in params or "KeyConditions" in params
            raise ValidationException(NOT_QUERIED if has_condition else NOT_SCANNED)
        raise ValidationException(f"The table does not have the specified index: {name}")
    if index.is_global and params.get("ConsistentRead"):
        raise ValidationException("Consistent reads are not supported on global secondary indexes")
    if index.definition.building:
        raise ValidationException(
            f"Cannot read from backfilling global secondary index: {index.name}"
        )
    return index


def read_walk(
    table: Table, index: Index | None, terms: dict[str, expressions.KeyTerm]
) -> page.Walk:
    """The rows that a checked key condition selects."""
    codec = index.codec if index else table.codec
    partition = codec.partition(
        {attribute.name: terms[attribute.name].operands[0] for attribute in codec.hash_key}
    )
    ranged = tuple(
        (terms[attribute.name].operator, terms[attribute.name].operands)
        for attribute in codec.range_key
        if attribute.name in terms
    )
    sorts = codec.sort_range(ranged) if ranged else EVERYTHING
    return page.Walk(table, index, partition, EVERYTHING, sorts)


def check_terms(
    terms: dict[str, expressions.KeyTerm], start: Item | None, table: Table, index: Index | None
) -> None:
    """Requires `=` on every partition attribute, then sort attributes from the left, no gaps.

    AWS goes through the key once and, for each attribute, checks the start key first.
    """
    codec = index.codec if index else table.codec
    names = index.key_names if index else table.key_names
    key = codec.hash_key + codec.range_key
    if len(terms) > max(SIMPLE_KEY, len(key)):
        raise ValidationException(
            f"The number of query conditions ({len(terms)}) exceeds the number of key attributes "
            f"defined in the schema ({len(key)})"
        )
    if start is not None and len(start) != len(names):
        raise ValidationException(page.INVALID)
    if start is not None and len(key) == len(names) == 1:
        # A partition of one item has no second page.
        raise ValidationException("The provided exclusive start key is invalid")
    check_no_gap(terms, codec.range_key)
    equals = len(codec.hash_key)
    for place, attribute in enumerate(key):
        is_hash = place < equals
        if start is not None:
            page.check_start_value(start, attribute, is_hash=is_hash)
        if len(key) == 1 < len(terms):
            raise ValidationException(UNSUPPORTED)
        if is_hash or place < len(terms):
            term = find_term(terms, attribute)
            if term.operator != "=" and (is_hash or place < len(terms) - 1):
                raise ValidationException(UNSUPPORTED)
            for operand in term.operands:
                storage.check_key_value(attribute, operand, is_hash=is_hash)
    if len(terms) > len(key):
        raise ValidationException(UNSUPPORTED)


def check_no_gap(
    terms: dict[str, expressions.KeyTerm], range_key: tuple[KeyAttribute, ...]
) -> None:
    """Of the sort attributes that a condition names, all but the last must be compared by `=`."""
    named = [place for place, attribute in enumerate(range_key) if attribute.name in terms]
    if len(range_key) == 1 or not named:
        return
    loose = [
        attribute.name
        for attribute in range_key[: named[-1]]
        if attribute.name not in terms or terms[attribute.name].operator != "="
    ]
    if loose:
        raise ValidationException(
            f"RANGE key attributes {', '.join(loose)} must have equality conditions specified in "
            f"the query because a condition is present on key attribute {range_key[named[-1]].name}"
        )


def find_term(
    terms: dict[str, expressions.KeyTerm], attribute: KeyAttribute
) -> expressions.KeyTerm:
    term = terms.get(attribute.name)
    if term is None:
        raise ValidationException(f"Query condition missed key schema element: {attribute.name}")
    if any(attribute.type not in operand for operand in term.operands):
        table_schema.invalid("Condition parameter type does not match schema type")
    return term


def bounded_start(walk: page.Walk, start: Item) -> tuple[bytes, ...]:
    """The position to start after, which must lie within the query's bounds."""
    partition, sort, *rest = page.position(walk.table, walk.index, start)
    low, high = walk.sorts
    if walk.sorts != EVERYTHING:
        if (low is not None and sort < low) or (high is not None and sort >= high):
            raise ValidationException(
                "The provided starting key does not match the range key predicate"
            )
        if partition != walk.partition:
            raise ValidationException(
                "The query can return at most one row and cannot be restarted"
            )
    if partition != walk.partition:
        raise ValidationException(
            "The provided starting key is outside query boundaries based on provided conditions"
        )
    return (sort, *rest)


def check_filter_keys(
    table: Table, index: Index | None, parsed: expressions.Expressions, params: Params
) -> None:
    """A query's filter cannot name the keys that the query reads by."""
    if parsed.filter is None:
        return
    codec = index.codec if index else table.codec
    kind = "QueryFilter" if "QueryFilter" in params else "Filter Expression"
    for attribute in codec.hash_key + codec.range_key:
        if attribute.name in parsed.filter.attributes:
            raise ValidationException(
                f"{kind} can only contain non-primary key attributes: "
                f"Primary key attribute: {attribute.name}"
            )


def check_filter_projected(
    index: Index | None, filter: expressions.Filter, options: page.PageOptions
) -> None:
    """A query's filter names only what the index projects; a scan's finds nothing else.

    (Seen on AWS: https://github.com/sensedeep/dynamodb-onetable/issues/377; that the same is true
    of local indexes: https://github.com/nubo-db/dynoxide/blob/main/CHANGELOG.md)
    """
    if index is None or index.projected is None or options.whole_items:
        return
    missing = filter.attributes - index.projected
    if missing:
        table_schema.invalid(
            f"Secondary index {index.name} does not project one or more filter attributes: "
            f"[{', '.join(sorted(missing))}]"
        )


SCAN_EXPRESSIONS = ("ProjectionExpression", "FilterExpression")
SCAN_LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")


def scan(database: Database, params: Params) -> Response:
    expressions.check_parameters(params, expressions=SCAN_EXPRESSIONS, legacy=SCAN_LEGACY)
    page.check_select(params, prefix="")
    if "AttributesToGet" in params or "ScanFilter" in params:
        # AWS finds fault with these before it looks at the start key.
        expressions.read_legacy(params)
    start = page.read_start_key(params)
    partitions = read_segment(params)
    parsed = read_scan_expressions(params)
    table = database.catalogue.table(params["TableName"])
    index = find_index(table, params)
    if start is not None:
        check_start(start, table, index)
    options = page.read_selection(params, index, parsed)
    walk = page.Walk(table, index, None, partitions, storage.SortRange())
    if start is not None:
        walk.start = page.position(table, index, start)
        check_segment(params, walk)
    check_key_paths(table, parsed)
    return page.read_page(database, params, walk, options)


def read_scan_expressions(params: Params) -> expressions.Expressions:
    try:
        return expressions.read_expressions(params)
    except ValidationException as error:
        if error.message != f"Invalid FilterExpression: {expressions.TOO_LONG}":
            raise
        size = expressions.text_size(params["FilterExpression"])
        raise ValidationException(f"{error.message} expression size: {size}") from None


def read_segment(params: Params) -> storage.SortRange:
    segment, total = params.get("Segment"), params.get("TotalSegments")
    if segment is not None and total is None:
        raise ValidationException(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if total is None:
        return storage.SortRange()
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
    return storage.segment_range(segment, total)


def check_start(start: Item, table: Table, index: Index | None) -> None:
    names = table.key_names if index is None else index.key_names
    if len(start) != len(names):
        raise ValidationException(
            page.INVALID
            if index
            else f"{page.INVALID}: The provided key element does not match the schema"
        )
    if index is not None:
        for attribute in index.definition.key_attributes:
            is_hash = attribute in index.definition.hash_key
            page.check_start_value(start, attribute, is_hash=is_hash)


def check_segment(params: Params, walk: page.Walk) -> None:
    assert walk.start is not None
    low, high = walk.partitions
    partition = walk.start[0]
    if (low is not None and partition < low) or (high is not None and partition >= high):
        raise ValidationException(
            f"{page.INVALID}: Invalid ExclusiveStartKey. "
            "Please use ExclusiveStartKey with correct Segment. "
            f"TotalSegments: {params['TotalSegments']} Segment: {params['Segment']}"
        )
