"""What each request would bring, use and cost, on imaginary tables.

The rules of capacity are those of `capacity`, applied to the items before and after. Each answer
has the sentence that says what its figures rest on. Filters are taken to let everything pass, but
for what `imaginary` can judge; they change nothing in what a request costs, only in how many it
takes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bigtime.advisor.capacity import (
    READ_BLOCK,
    Charge,
    Sized,
    canonical_item,
    read_units,
    transactional_read_units,
    write_charges,
)
from bigtime.advisor.imaginary import ImaginaryTables
from bigtime.advisor.key_condition import key_conditions
from bigtime.advisor.sample import entity_of
from bigtime.advisor.update_expression import updated
from bigtime.model import MAIN, DesignError, Identity, Index, Table, identity_of, key_of, projected
from bigtime.wire import (
    ConditionalCheckFailedException,
    Item,
    Params,
    Request,
    Response,
    TransactionCanceledException,
)

PAGE_BYTES = 1024 * 1024

Used: TypeAlias = tuple[tuple[Table, Index], ...]


class CannotExplain(DesignError):
    """A request whose cost is not known before it runs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request would bring, the indexes it reads or writes by, and what it would cost."""

    response: Response
    used: Used
    charges: tuple[Charge, ...]
    assumption: str


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a write does to one item."""

    table: Table
    identity: Identity
    old: Sized | None
    new: Sized | None
    is_check: bool = False


def answer(tables: ImaginaryTables, request: Request) -> Answer:
    known = ANSWERS.get(request.operation)
    if known is None:
        raise CannotExplain(
            f"explain() knows what reads and writes of items cost, not {request.operation}"
        )
    return known(tables, request.params)


# Reads of single items


def get_item(tables: ImaginaryTables, params: Params) -> Answer:
    table = tables.table(params["TableName"])
    found = tables.look(table, params["Key"])
    units = read_units(size_of(found), consistent=bool(params.get("ConsistentRead")))
    response = {} if found is None else {"Item": found.item}
    charges = (Charge(table.name, None, read_units=units),)
    return Answer(response, main_of([table]), charges, described(table, params["Key"], found))


def batch_get(tables: ImaginaryTables, params: Params) -> Answer:
    responses: dict[str, list[Item]] = {}
    charges: list[Charge] = []
    said: list[str] = []
    for name, asked in params["RequestItems"].items():
        table, consistent = tables.table(name), bool(asked.get("ConsistentRead"))
        found = [tables.look(table, key) for key in asked["Keys"]]
        units = sum(read_units(size_of(one), consistent=consistent) for one in found)
        responses[name] = [one.item for one in found if one is not None]
        charges.append(Charge(table.name, None, read_units=units))
        said += [described(table, key, one) for key, one in zip(asked["Keys"], found, strict=True)]
    used = main_of(tables.table(name) for name in params["RequestItems"])
    response = {"Responses": responses, "UnprocessedKeys": {}}
    return Answer(response, used, tuple(charges), tallied(said))


def transact_get(tables: ImaginaryTables, params: Params) -> Answer:
    gets = [(tables.table(one["Get"]["TableName"]), one["Get"]) for one in params["TransactItems"]]
    found = [tables.look(table, get["Key"]) for table, get in gets]
    charges = tuple(
        Charge(table.name, None, read_units=transactional_read_units(size_of(one)))
        for (table, _), one in zip(gets, found, strict=True)
    )
    said = (
        described(table, get["Key"], one) for (table, get), one in zip(gets, found, strict=True)
    )
    responses: list[Response] = [{} if one is None else {"Item": one.item} for one in found]
    used = main_of(table for table, _ in gets)
    return Answer({"Responses": responses}, used, charges, tallied(said))


# Writes


def put_change(tables: ImaginaryTables, params: Params) -> ItemChange:
    table, item = tables.table(params["TableName"]), params["Item"]
    old = tables.met(table, item, params, is_put=True)
    return ItemChange(table, identity_of(table, item), old, tables.sized(table, item))


def update_change(tables: ImaginaryTables, params: Params) -> ItemChange:
    table, key = tables.table(params["TableName"]), params["Key"]
    old = tables.met(table, key, params)
    item = updated(old.item if old else key, params)
    new: Sized | None = Sized(item, old.extra) if old else tables.sized(table, item)
    if old is None and item == canonical_item(key) and params.get("UpdateExpression"):
        new = None  # to take away from nothing makes nothing
    return ItemChange(table, identity_of(table, key), old, new)


def delete_change(tables: ImaginaryTables, params: Params) -> ItemChange:
    table, key = tables.table(params["TableName"]), params["Key"]
    return ItemChange(table, identity_of(table, key), tables.met(table, key, params), None)


def check_change(tables: ImaginaryTables, params: Params) -> ItemChange:
    table, key = tables.table(params["TableName"]), params["Key"]
    old = tables.met(table, key, params)
    return ItemChange(table, identity_of(table, key), old, old, is_check=True)


def put_item(tables: ImaginaryTables, params: Params) -> Answer:
    return single(tables, params, put_change(tables, params))


def update_item(tables: ImaginaryTables, params: Params) -> Answer:
    return single(tables, params, update_change(tables, params))


def delete_item(tables: ImaginaryTables, params: Params) -> Answer:
    return single(tables, params, delete_change(tables, params))


def single(tables: ImaginaryTables, params: Params, change: ItemChange) -> Answer:
    return written(tables, [change], returned(params, change), transactional=False)


def returned(params: Params, change: ItemChange) -> Response:
    match params.get("ReturnValues", "NONE"):
        case "ALL_NEW" | "UPDATED_NEW":
            shown = change.new
        case "ALL_OLD" | "UPDATED_OLD":
            shown = change.old
        case _:
            shown = None
    return {} if shown is None else {"Attributes": shown.item}


def batch_write(tables: ImaginaryTables, params: Params) -> Answer:
    changes = [
        put_change(tables, {"TableName": name, **one["PutRequest"]})
        if "PutRequest" in one
        else delete_change(tables, {"TableName": name, **one["DeleteRequest"]})
        for name, writes in params["RequestItems"].items()
        for one in writes
    ]
    return written(tables, changes, {"UnprocessedItems": {}}, transactional=False)


def transact_write(tables: ImaginaryTables, params: Params) -> Answer:
    changes: list[ItemChange] = []
    reasons: list[Response] = []
    for action in params["TransactItems"]:
        ((name, given),) = action.items()
        try:
            changes.append(CHANGES[name](tables, given))
            reasons.append({"Code": "None"})
        except ConditionalCheckFailedException as error:
            shown = {"Item": error.item} if error.item else {}
            reasons.append({"Code": "ConditionalCheckFailed", **shown})
    if len(changes) < len(reasons):
        raise TransactionCanceledException(reasons)
    return written(tables, changes, {}, transactional=True)


def written(
    tables: ImaginaryTables,
    changes: Sequence[ItemChange],
    response: Response,
    *,
    transactional: bool,
) -> Answer:
    charges: list[Charge] = []
    for one in changes:
        charges += write_charges(one.table, one.old, one.new, transactional=transactional)
        tables.items[one.identity] = one.new
    used = main_of(one.table for one in changes)
    return Answer(response, used, tuple(charges), tallied(map(sentence_of, changes)))


# Reads of many items


def page_read(tables: ImaginaryTables, params: Params) -> Answer:
    table = tables.table(params["TableName"])
    index = table.index(params.get("IndexName", MAIN))
    conditions = key_conditions(params) if "KeyConditionExpression" in params else ()
    items = tables.question(table, index, conditions, params)
    if not params.get("ScanIndexForward", True):
        items.reverse()
    page = page_of(table, index, after_start(table, items, params), params.get("Limit"))
    passed = tables.passing(page, params)
    whole = fetches_whole(table, index, params)
    shown = passed if whole else [view_of(table, index, one) for one in passed]
    size = sum(view_of(table, index, one).size for one in page)
    response: Response = {"Count": len(passed), "ScannedCount": len(page)}
    if params.get("Select") != "COUNT":
        response["Items"] = [one.item for one in shown]
    if page and (len(page) == params.get("Limit") or size >= PAGE_BYTES):
        response["LastEvaluatedKey"] = key_of(table, index, page[-1].item)
    share = "all" if len(passed) == len(page) else f"{len(passed)}"
    said = found_sentence(table, page, size, share if "FilterExpression" in params else None)
    charges = page_charges(table, index, page, params, whole=whole)
    return Answer(response, ((table, index),), charges, said)


def after_start(table: Table, items: list[Sized], params: Params) -> list[Sized]:
    start = params.get("ExclusiveStartKey")
    if start is None:
        return items
    places = [identity_of(table, one.item) for one in items]
    after = identity_of(table, start)
    return items[places.index(after) + 1 :] if after in places else items


def page_of(table: Table, index: Index, items: Sequence[Sized], limit: int | None) -> list[Sized]:
    """As many as one request reads: it stops at its limit, or with the item that fills a page."""
    page: list[Sized] = []
    size = 0
    for one in items:
        if len(page) == limit or size >= PAGE_BYTES:
            break
        page.append(one)
        size += view_of(table, index, one).size
    return page


def page_charges(
    table: Table, index: Index, page: Sequence[Sized], params: Params, *, whole: bool
) -> tuple[Charge, ...]:
    consistent = bool(params.get("ConsistentRead"))
    size = sum(view_of(table, index, one).size for one in page)
    name = None if index.name == MAIN else index.name
    charges = [Charge(table.name, name, read_units=read_units(size, consistent=consistent))]
    if whole and page:
        blocks = sum(-(-one.size // READ_BLOCK) for one in page)
        charges.append(Charge(table.name, None, read_units=blocks if consistent else blocks / 2))
    return tuple(charges)


def view_of(table: Table, index: Index, one: Sized) -> Sized:
    return one if index.name == MAIN else one.in_index(table, index) or one


def fetches_whole(table: Table, index: Index, params: Params) -> bool:
    """Whether a local index is asked for more than it holds, and so fetches each item."""
    held = None if index.name == MAIN else projected(table, index)
    if held is None or index.is_global:
        return False
    if params.get("Select") == "ALL_ATTRIBUTES":
        return True
    names = params.get("ExpressionAttributeNames") or {}
    asked = re.findall(r"#?[\w-]+", params.get("ProjectionExpression") or "")
    return any(names.get(one, one) not in held for one in asked)


def size_of(one: Sized | None) -> int:
    return 0 if one is None else one.size


def main_of(tables: Iterable[Table]) -> Used:
    return tuple((table, table.main) for table in dict.fromkeys(tables))


# What was assumed, in words


def kind_of(table: Table, key: Item) -> str:
    found = entity_of(table, key)
    return found[0].__name__ if found else f"item of {table.name}"


def described(table: Table, key: Item, found: Sized | None) -> str:
    kind = kind_of(table, key)
    return f"there is no such {kind}" if found is None else f"a {kind} of {found.size:,} bytes"


def sentence_of(change: ItemChange) -> str:
    either = change.new or change.old
    if either is None:
        return "nothing is there, and nothing comes of it"
    kind = kind_of(change.table, either.item)
    if change.is_check:
        return f"a {kind} of {either.size:,} bytes is looked at"
    if change.old is None:
        return f"a new {kind} of {either.size:,} bytes"
    if change.new is None:
        return f"a {kind} of {either.size:,} bytes goes"
    return f"a {kind} of {change.old.size:,} bytes, then {change.new.size:,}"


def found_sentence(table: Table, page: Sequence[Sized], size: int, share: str | None) -> str:
    """`share` is how many of them a filter lets through, if there is one."""
    if not page:
        return "it finds nothing"
    kinds = Counter(kind_of(table, one.item) for one in page)
    listed = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    passed = f", {share} of which pass the filter" if share else ""
    return f"it finds {listed}, {size:,} bytes together{passed}"


def tallied(sentences: Iterable[str]) -> str:
    """The sentences, each once, with how often it was said."""
    said = Counter(sentences)
    return "; ".join(one if count == 1 else f"{count} x {one}" for one, count in said.items())


ANSWERS: Mapping[str, Callable[[ImaginaryTables, Params], Answer]] = {
    "GetItem": get_item,
    "BatchGetItem": batch_get,
    "TransactGetItems": transact_get,
    "PutItem": put_item,
    "UpdateItem": update_item,
    "DeleteItem": delete_item,
    "BatchWriteItem": batch_write,
    "TransactWriteItems": transact_write,
    "Query": page_read,
    "Scan": page_read,
}
CHANGES: Mapping[str, Callable[[ImaginaryTables, Params], ItemChange]] = {
    "Put": put_change,
    "Update": update_change,
    "Delete": delete_change,
    "ConditionCheck": check_change,
}
