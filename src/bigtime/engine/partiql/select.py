"""Running a SELECT: a GetItem, a Query of each partition, or a Scan."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from bigtime.engine import expressions, operations
from bigtime.engine.expressions import Expressions, KeyTerm, UnboundTerm
from bigtime.engine.partiql.compiler import SelectPlan, select_plan
from bigtime.engine.partiql.programs import Values
from bigtime.engine.partiql.statements import Parameter, Statement
from bigtime.engine.storage import Database, Index, SortRange, Table
from bigtime.wire import AttributeValue, Item, Params, Response, ValidationException, comparable

PASSED_ON = ("ConsistentRead", "ReturnConsumedCapacity", "Limit")
# AWS: "Results are returned in pages of up to 10 items" where IN has the partition key.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html
IN_PAGE_ITEMS = 10
# AWS's message for a Query is different. (Seen: https://github.com/floci-io/floci/pull/2953)
NOT_CONSISTENT = "Strongly consistent read is not supported on Global Secondary Indexes"
EVERYTHING = SortRange()


def find_table(database: Database, name: str) -> Table:
    return database.catalogue.tables.get(name) or database.catalogue.table(
        database.table_name(name)
    )


def select(database: Database, statement: Statement, params: Params) -> Response:
    """Answers an ExecuteStatement of a SELECT."""
    given: Sequence[AttributeValue] = params.get("Parameters") or ()
    table = find_table(database, statement.body.table)
    plan = select_plan(statement.text, table)
    if plan.key is not None and "NextToken" not in params:
        statement.check_parameters(given)
        return get(database, plan, given, params)
    values = statement.bind(given)
    plan.keys.check(values)
    if database.faults.active:
        database.faults.meet("Query" if plan.partitions else "Scan")
    return read_pages(database, plan, values, params)


def get(
    database: Database, plan: SelectPlan, given: Sequence[AttributeValue], params: Params
) -> Response:
    if database.faults.active:
        database.faults.meet("GetItem")
    assert plan.key is not None
    key = {
        name: given[literal.place] if isinstance(literal, Parameter) else literal.value
        for name, literal in plan.key
    }
    request = {**passed_on(plan, params), "Key": key}
    quick = operations.quick_get(database, request)
    response = checked_get(database, plan, given, request) if quick is None else quick
    item = response.pop("Item", None)
    response["Items"] = [] if item is None else [item]
    return response


def checked_get(
    database: Database, plan: SelectPlan, given: Sequence[AttributeValue], request: Params
) -> Response:
    """GetItem, whose errors of a key's types are a statement's."""
    try:
        return operations.get_item(database, request)
    except ValidationException:
        plan.keys.check_types(plan.statement.bind(given))
        raise


def passed_on(plan: SelectPlan, params: Params) -> dict[str, Any]:
    """The parameters of the statement's request that GetItem, Query and Scan take too."""
    table_name = plan.statement.body.table
    return {"TableName": table_name, **{name: params[name] for name in PASSED_ON if name in params}}


# --- Pages ----------------------------------------------------------------------------------


def read_pages(database: Database, plan: SelectPlan, values: Values, params: Params) -> Response:
    digest = statement_digest(plan, params)
    start = read_token(params["NextToken"], digest) if "NextToken" in params else None
    request = passed_on(plan, params)
    if len(plan.partitions) > 1:
        request["Limit"] = min(request.get("Limit", IN_PAGE_ITEMS), IN_PAGE_ITEMS)
    response = read_walks(database, plan, values, request, start)
    last = response.get("LastEvaluatedKey")
    if plan.exact:
        response.pop("LastEvaluatedKey", None)
    elif last is not None:
        response["NextToken"] = next_token(last, digest)
    return response


def read_walks(
    database: Database, plan: SelectPlan, values: Values, request: Params, start: Item | None
) -> Response:
    """Reads one partition after another until a page is full."""
    parsed = Expressions(filter=bound_filter(plan, values), projection=plan.projection)
    index = checked_index(plan, request)
    operations.check_key_paths(plan.table, parsed)
    options = operations.read_selection(request, index, parsed)
    response: Response = {"Items": []}
    before: operations.Walk | None = None
    for walk in walks(plan, values, start):
        if options.limit == 0:  # a partition of one item returns no LastEvaluatedKey
            assert before is not None and before.partition is not None
            response["LastEvaluatedKey"] = plan.table.codec.key(before.partition, b"")
            break
        page = operations.read_page(database, request, walk, options)
        response["Items"].extend(page["Items"])
        if "ConsumedCapacity" in page:
            used = response.get("ConsumedCapacity")
            response["ConsumedCapacity"] = operations.add_capacity(used, page["ConsumedCapacity"])
        if "LastEvaluatedKey" in page:
            response["LastEvaluatedKey"] = page["LastEvaluatedKey"]
            break
        if options.limit is not None:
            options.limit -= page["ScannedCount"]
        before = walk
    return response


def bound_filter(plan: SelectPlan, values: Values) -> expressions.Filter | None:
    """The filter, which sees only what an index projects, whatever else of its items is read.

    (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
    """
    if plan.filter is None:
        return None
    bound = plan.filter.bind(values)
    index, shown = plan.index, plan.projection
    if index is None or index.projected is None or not shown or shown.attributes <= index.projected:
        return bound
    matches, view = bound.matches, index.view
    return replace(bound, matches=lambda item: matches(view(item)))


def checked_index(plan: SelectPlan, request: Params) -> Index | None:
    if plan.index is None:
        return None
    if plan.index.is_global and request.get("ConsistentRead"):
        raise ValidationException(NOT_CONSISTENT)
    return operations.find_index(plan.table, {**request, "IndexName": plan.index.name})


def walks(plan: SelectPlan, values: Values, start: Item | None) -> list[operations.Walk]:
    if not plan.partitions:
        return [scan(plan, start)]
    ranges = plan.keys.ranges(values) if plan.decomposed else None
    if ranges is not None:
        return decomposed_walks(plan, values, ranges, start)
    terms = partition_terms(plan, values)
    if start is not None:
        terms = terms[started_partition(plan, terms, start) :]
        if plan.index is None and len(plan.table.key_names) == 1:
            terms, start = terms[1:], None  # a partition of one item has nothing after it
    return [query(plan, each, start if each is terms[0] else None) for each in terms]


def scan(plan: SelectPlan, start: Item | None) -> operations.Walk:
    walk = operations.Walk(plan.table, plan.index, None, EVERYTHING, EVERYTHING)
    if start is not None:
        operations.check_start(start, plan.table, plan.index)
        walk.start = operations.position(plan.table, plan.index, start)
    return walk


def query(plan: SelectPlan, terms: dict[str, KeyTerm], start: Item | None) -> operations.Walk:
    operations.check_terms(terms, start, plan.table, plan.index)
    walk = operations.read_walk(plan.table, plan.index, terms)
    walk.forward = plan.forward
    if start is not None:
        walk.start = operations.bounded_start(walk, start)
    return walk


def partition_terms(plan: SelectPlan, values: Values) -> list[dict[str, KeyTerm]]:
    """The key terms of each distinct partition, in the order in which they are read."""
    found: dict[bytes, dict[str, KeyTerm]] = {}
    for terms in plan.partitions:
        bound = {term.attribute: bind(term, values) for term in terms}
        found.setdefault(orjson.dumps(bound[terms[0].attribute].operands), bound)
    partitions = list(found.values())
    if plan.ordered_partitions is not None and len(partitions) > 1:
        name = plan.partitions[0][0].attribute
        for each in partitions:
            operations.check_terms(each, None, plan.table, plan.index)
        partitions.sort(
            key=lambda each: comparable(each[name].operands[0]),
            reverse=not plan.ordered_partitions,
        )
    return partitions


def bind(term: UnboundTerm, values: Values) -> KeyTerm:
    names = term.value_names
    if term.operator == "BETWEEN":
        check_range(term, values)
    return KeyTerm(term.attribute, term.operator, tuple([values[name] for name in names]))


def check_range(term: UnboundTerm, values: Values) -> None:
    """Rejects reversed bounds, as a filter and a KeyConditionExpression do."""
    low, high = (expressions.Value(name) for name in term.value_names)
    between = expressions.Between(expressions.Path((term.attribute,)), low, high)
    try:
        expressions.check_condition(between, {}, values)
    except expressions.ExpressionError as error:
        raise ValidationException(str(error)) from None


def started_partition(plan: SelectPlan, partitions: list[dict[str, KeyTerm]], start: Item) -> int:
    codec = plan.index.codec if plan.index else plan.table.codec
    for place, terms in enumerate(partitions):
        if all(
            terms[attribute.name].operands[0] == start.get(attribute.name)
            for attribute in codec.hash_key
        ):
            return place
    raise invalid_token()


def decomposed_walks(
    plan: SelectPlan,
    values: Values,
    ranges: list[tuple[UnboundTerm, SortRange]],
    start: Item | None,
) -> list[operations.Walk]:
    """The reads of an OR, which do not overlap."""
    found = []
    for term, sorts in ranges:
        walk = query(plan, {term.attribute: bind(term, values)}, None)
        walk.sorts = sorts
        found.append(walk)
    return found if start is None else walks_after(plan, found, start)


def walks_after(
    plan: SelectPlan, walks: list[operations.Walk], start: Item
) -> list[operations.Walk]:
    codec = plan.index.codec if plan.index else plan.table.codec
    blobs = codec.blobs(start)
    for place, walk in enumerate(walks):
        if blobs is not None and blobs[0] == walk.partition and is_within(blobs[1], walk.sorts):
            if walk.is_of_one_item:
                return walks[place + 1 :]
            walk.start = operations.bounded_start(walk, start)
            return walks[place:]
    raise invalid_token()


def is_within(sort: bytes, sorts: SortRange) -> bool:
    return sort >= (sorts.low or b"") and (sorts.high is None or sort < sorts.high)


# --- NextToken ------------------------------------------------------------------------------
# A token is the key of the last item evaluated, with a digest of the statement and its parameters:
# it is valid for those alone.


def statement_digest(plan: SelectPlan, params: Params) -> str:
    text = orjson.dumps([plan.statement.text, params.get("Parameters")])
    return hashlib.sha256(text).hexdigest()[:16]


def next_token(last: Item, digest: str) -> str:
    return urlsafe_b64encode(orjson.dumps([digest, last])).decode()


def read_token(token: str, digest: str) -> Item:
    try:
        given, start = orjson.loads(urlsafe_b64decode(token))
    except ValueError:
        raise invalid_token() from None
    if given != digest:
        # Seen on AWS: https://github.com/aws/aws-sdk-js-v3/issues/4424
        raise ValidationException("NextToken does not match request")
    if not is_key(start):
        raise invalid_token()
    checked = operations.read_start_key({"ExclusiveStartKey": start})
    assert checked is not None
    return checked


def is_key(start: Any) -> bool:
    return isinstance(start, dict) and all(
        isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
        for value in start.values()
    )


def invalid_token() -> ValidationException:
    # The message of Amazon's DynamoDB Local, as recorded. (https://github.com/xo/dbimp)
    return ValidationException("Invalid NextToken")
