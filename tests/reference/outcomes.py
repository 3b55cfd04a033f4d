"""What may come back from a call, and whether it is what the model foretold.

DynamoDB does not promise everything: a Scan has no order, entries of an index with equal sort keys
have none among themselves, and a page may end with a LastEvaluatedKey behind which nothing is left
(developerguide/Query.Pagination.html). What it does not promise is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

from bigtime.wire import Item as WireItem
from bigtime.wire import Response
from tests.reference.values import Item, decode_item, encode_item, in_set_order


@dataclass(frozen=True)
class Refusal:
    """An error. As a prediction, what is None is not known and not compared."""

    code: str
    message: str | None = None
    item: Item | None = None
    reasons: tuple[Reason, ...] | None = None
    sure_of_reasons: bool = True


class Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal


@dataclass(frozen=True)
class Reason:
    code: str
    message: str | None = None
    item: Item | None = None


@dataclass(frozen=True)
class Answer:
    """A prediction: the item-valued fields of a response. `unsure` ones are not compared."""

    fields: dict[str, Any] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Row:
    """One entry that a read passes over: what it shows, where it sorts, whether it is kept, and
    the LastEvaluatedKey of a page that ends with it."""

    shown: Item
    position: Any
    kept: bool
    cursor: Item


@dataclass(frozen=True)
class Rows:
    """A prediction for Query or Scan, all pages of it."""

    rows: tuple[Row, ...]
    ordered: bool
    counted_only: bool
    limit: int | None


Prediction: TypeAlias = Refusal | Answer | Rows


@dataclass(frozen=True)
class Pages:
    """What a target gave: the pages of each segment, each with its own items and counts."""

    segments: tuple[tuple[Response, ...], ...]


Observation: TypeAlias = Refusal | Response | Pages


def unlike(foretold: Prediction, seen: Observation, *, exact: bool) -> str | None:
    """Why what was seen is not what was foretold; None when it is."""
    match foretold, seen:
        case Refusal(), Refusal():
            return refused_otherwise(foretold, seen)
        case Answer(), dict():
            return answered_otherwise(foretold, seen, exact=exact)
        case Rows(), Pages():
            return read_otherwise(foretold, seen, exact=exact)
        case _:
            return "one is an error, the other is not"


def refused_otherwise(foretold: Refusal, seen: Refusal) -> str | None:
    if seen.code not in foretold.code.split(" or "):
        return "another error"
    if foretold.message is not None and foretold.message != seen.message:
        return "another message"
    if foretold.code == "ConditionalCheckFailedException" and foretold.item != seen.item:
        return "another item in the error"
    return reasons_otherwise(foretold, seen)


def reasons_otherwise(foretold: Refusal, seen: Refusal) -> str | None:
    """Every action has a reason. That all failed conditions are reported is sure only if nothing
    but conditions failed."""
    if foretold.reasons is None:
        return None
    if seen.reasons is None or len(seen.reasons) != len(foretold.reasons):
        return "another number of cancellation reasons"
    if foretold.sure_of_reasons:
        return None if foretold.reasons == seen.reasons else "other cancellation reasons"
    pairs = zip(foretold.reasons, seen.reasons, strict=True)
    wrong = any(theirs.code not in ("None", ours.code) for ours, theirs in pairs)
    silent = all(reason.code == "None" for reason in seen.reasons)
    return "other cancellation reasons" if wrong or silent else None


def answered_otherwise(foretold: Answer, seen: Response, *, exact: bool) -> str | None:
    for name, value in foretold.fields.items():
        if name in foretold.unsure:
            continue
        got = seen.get(name)
        if shape(got) != value and (exact or got or value):
            return f"another {name}"
        if exact and not plainly_spelled(got):
            return f"a number of {name} not in plain notation"
    extra = {name for name, value in seen.items() if value} - set(foretold.fields)
    return f"unforetold {sorted(extra)}" if exact and extra else None


def shape(got: Any) -> Any:
    """A response field with the items in it made comparable."""
    match got:
        case list():
            return [shape(part) for part in got]
        case {"Item": dict(item), **rest} if not rest:
            return {"Item": decode_item(item)}
        case dict() if got and all(isinstance(part, list) for part in got.values()):
            return {table: multiset(items) for table, items in got.items()}
        case dict():
            return decode_item(got)
        case _:
            return got


def multiset(items: list[WireItem]) -> Counter[str]:
    return Counter(canonical(decode_item(item)) for item in items)


def canonical(item: Item) -> str:
    return repr(sorted(encode_item(item).items()))


def plainly_spelled(got: Any) -> bool:
    match got:
        case list():
            return all(plainly_spelled(part) for part in got)
        case {"Item": dict(item), **rest} if not rest:
            return is_spelled_right(item)
        case dict() if got and all(isinstance(part, list) for part in got.values()):
            return all(is_spelled_right(item) for items in got.values() for item in items)
        case dict():
            return is_spelled_right(got)
        case _:
            return True


def is_spelled_right(item: WireItem) -> bool:
    in_order = {name: in_set_order(value) for name, value in item.items()}
    return in_order == encode_item(decode_item(item))


def read_otherwise(foretold: Rows, seen: Pages, *, exact: bool) -> str | None:
    return next(filter(None, reading_problems(foretold, seen, exact)), None)


def reading_problems(foretold: Rows, seen: Pages, exact: bool) -> Iterator[str | None]:
    yield from (paging_problem(foretold, page) for page in all_pages(seen))
    yield count_problem(foretold, seen)
    yield from (cursor_problem(foretold, pages, exact) for pages in seen.segments)
    if not foretold.counted_only:
        yield item_problem(foretold, seen, exact)


def paging_problem(foretold: Rows, page: Response) -> str | None:
    if ("Items" in page) is foretold.counted_only:
        return "Items where only a count was asked, or no Items"
    if not foretold.counted_only and page["Count"] != len(page["Items"]):
        return "Count is not the number of Items"
    if foretold.limit is not None and page["ScannedCount"] > foretold.limit:
        return "more than Limit in one page"
    if "LastEvaluatedKey" in page and page["ScannedCount"] != foretold.limit:
        return "a page ended before its Limit"
    return None


def cursor_problem(foretold: Rows, pages: tuple[Response, ...], exact: bool) -> str | None:
    """A page ends with the entry at its end, or with one that sorts equally."""
    scanned = 0
    for page in pages:
        scanned += page["ScannedCount"]
        if "LastEvaluatedKey" not in page:
            continue
        last, cursor = foretold.rows[scanned - 1], page["LastEvaluatedKey"]
        tied = [row.cursor for row in foretold.rows if row.position == last.position]
        if decode_item(cursor) not in tied or (exact and not is_spelled_right(cursor)):
            return "another LastEvaluatedKey"
    return None


def all_pages(seen: Pages) -> Iterator[Response]:
    return (page for pages in seen.segments for page in pages)


def count_problem(foretold: Rows, seen: Pages) -> str | None:
    if sum(page["ScannedCount"] for page in all_pages(seen)) != len(foretold.rows):
        return "another ScannedCount"
    kept = sum(row.kept for row in foretold.rows)
    return None if sum(page["Count"] for page in all_pages(seen)) == kept else "another Count"


def item_problem(foretold: Rows, seen: Pages, exact: bool) -> str | None:
    got = [item for page in all_pages(seen) for item in page["Items"]]
    if exact and not all(is_spelled_right(item) for item in got):
        return "a number not in plain notation"
    rows = [row for row in foretold.rows if row.kept]
    groups = [list(tied) for _, tied in groupby(rows, key=lambda row: row.position)]
    if not foretold.ordered:
        groups = [rows]
    start = 0
    for group in groups:
        expected = Counter(canonical(row.shown) for row in group)
        if multiset(got[start : start + len(group)]) != expected:
            return "other items, or another order"
        start += len(group)
    return None
