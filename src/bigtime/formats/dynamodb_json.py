"""DynamoDB JSON, one JSON object per line: the format of exports to S3 and imports from S3.

    {"Item": {"id": {"S": "a"}, "price": {"N": "1.5"}}}

In a bulk put, a line may also have a ConditionExpression with its placeholders.

Lines of an incremental export have the item's key, the time of its last write and its images; a
delete has no NewImage:

    {"Metadata": {"WriteTimestampMicros": {"N": "1680109764000000"}}, "Keys": {...},
     "OldImage": {...}, "NewImage": {...}}

AWS: "DynamoDB table export output format"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import orjson

from bigtime.formats.lines import BadItem, BadLine
from bigtime.wire import MAX_ITEM_BYTES, DynamoDBError, Item, check_item

CONDITION_MEMBERS: Final[tuple[str, ...]] = (
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
)


class Change(NamedTuple):
    """A line's change to a table: it puts an item, or deletes the item with a key."""

    put: Item | None = None
    delete: Item | None = None


def item_line(item: Item) -> bytes:
    return orjson.dumps({"Item": item}, option=orjson.OPT_APPEND_NEWLINE)


def change_line(key: Item, old: Item | None, new: Item | None, micros: int) -> bytes:
    line: dict[str, Any] = {"Metadata": {"WriteTimestampMicros": {"N": str(micros)}}, "Keys": key}
    if old is not None:
        line["OldImage"] = old
    if new is not None:
        line["NewImage"] = new
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def condition_of(members: dict[str, Any]) -> dict[str, Any] | None:
    """The parameters of a line's condition in a bulk put, if it has one."""
    found = {name: members[name] for name in CONDITION_MEMBERS if name in members}
    return found or None


def change_of(members: dict[str, Any]) -> Change:
    if "Item" in members:
        return Change(put=checked_item(members["Item"]))
    if "Keys" not in members:
        raise BadLine(
            'the object has neither "Item" nor "Keys": a line is {"Item": {"id": {"S": "a"}}}'
        )
    if "NewImage" in members:
        return Change(put=checked_item(members["NewImage"]))
    return Change(delete=checked_item(members["Keys"]))


def json_object(line: bytes, parse: Callable[[bytes], Any] = orjson.loads) -> dict[str, Any]:
    try:
        members = parse(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(
            f"it is no JSON ({error}): each line is one whole object, without a comma after it"
        ) from None
    if not isinstance(members, dict):
        raise BadLine("it is JSON, but no object: a line is one object in braces")
    return members


def checked_item(item: Any) -> Item:
    """The item as it is stored; raises `BadItem` with AWS's message."""
    try:
        checked, size = check_item(item)
    except DynamoDBError as error:
        raise BadItem(f"{error.code}: {error.message}") from None
    if size > MAX_ITEM_BYTES:
        raise BadItem(
            f"the item has {size:,} bytes, and DynamoDB takes {MAX_ITEM_BYTES:,} at the most"
        )
    return checked
