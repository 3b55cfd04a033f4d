"""Marks of restored tables: tags that say what a table was restored from.

While DynamoDB restores a table, DescribeTable says what from (RestoreSummary), and the table cannot
be tagged. Once it is ACTIVE nothing says it any more: whoever waits for it tags it at once. A table
with neither was restored by a process that was stopped before that, or by somebody else.

The tags are no setting of a table: they are not copied to another table, compared or backed up
(`read_tags` leaves them out, here and in the advisor).

AWS's controller has seen it, DDB-TABLE-216, -217 and -278:
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from bigtime import model as bt
from bigtime.ops.table_settings import (
    MARK,
    POLL_SECONDS,
    POLLS,
    NotActive,
    describe_active,
    describe_table,
    not_ready,
    read_all_tags,
)
from bigtime.wire import Request, ResourceNotFoundException, Response, Steps

FROM: Final = f"{MARK}from"
"""The name of the table or of the backup that a table was restored from."""
AT: Final = f"{MARK}at"
"""The moment of that table; a backup has its own."""
UNREAD_POLLS: Final = 120


class Origin(NamedTuple):
    """The table that a restored table was restored from, and the moment."""

    table: str
    at: datetime

    @property
    def marks(self) -> dict[str, str]:
        return {FROM: self.table, AT: self.at.isoformat(timespec="microseconds")}


def origin_of(name: str) -> Steps[Origin | None]:
    """What a table was restored from; None if it is missing, or was not restored from a table."""
    table = yield from describe_table(name)
    return None if table is None else (yield from read_origin(table))


def read_origin(table: Response) -> Steps[Origin | None]:
    """What this table was restored from: its RestoreSummary says it, or else its marks."""
    if "RestoreSummary" in table:
        return origin_in(table["RestoreSummary"])
    marks = yield from read_marks(table)
    if FROM not in marks or AT not in marks:
        return None
    return Origin(marks[FROM], datetime.fromisoformat(marks[AT]))


def origin_in(summary: Response) -> Origin | None:
    if "SourceTableArn" not in summary:
        return None
    source = summary["SourceTableArn"].rpartition("table/")[2]
    return Origin(source, time_of(summary["RestoreDateTime"]))


def read_marks(table: Response) -> Steps[Mapping[str, str]]:
    """A table's marks. One that is being made or deleted may have no tags to read yet, or any more:
    "Requested resource not found" (DDB-TABLE-217)."""
    try:
        tags = yield from read_all_tags(table["TableArn"])
    except ResourceNotFoundException:
        return {}
    return {tag: value for tag, value in tags.items() if tag in (FROM, AT)}


def mark_when_active(marks: Mapping[str, Mapping[str, str]]) -> Steps[None]:
    """Waits for restored tables, and gives each its marks as soon as it is active."""
    marked: dict[str, Response] = {}
    for poll in range(POLLS):
        for name in [name for name in marks if name not in marked]:
            table = yield from describe_active(name, poll)
            if table is not None:
                yield mark_request(table, marks[name])
                marked[name] = table
        if len(marked) == len(marks):
            break
        yield from bt.pause(POLL_SECONDS)
    else:
        raise not_ready(next(name for name in marks if name not in marked))
    for name, table in marked.items():
        yield from wait_until_marked(table, marks[name])


def mark_request(table: Response, marks: Mapping[str, str]) -> Request:
    tags = [{"Key": tag, "Value": value} for tag, value in marks.items()]
    return Request("TagResource", {"ResourceArn": table["TableArn"], "Tags": tags})


def wait_until_marked(table: Response, marks: Mapping[str, str]) -> Steps[None]:
    """Waits until a table's marks can be read.

    AWS: "ListTagsOfResource API will only reflect the changes after a few seconds"
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
    """
    for _ in range(UNREAD_POLLS):
        if (yield from read_marks(table)) == marks:
            return
        yield from bt.pause(POLL_SECONDS)
    raise NotActive(
        f"{table['TableName']} does not show its tags after {UNREAD_POLLS * POLL_SECONDS:.0f} s:"
        " run the same again to continue."
    )


def unmark(table: Response) -> Steps[None]:
    """Takes a table's marks away, when nothing needs them any more."""
    yield Request("UntagResource", {"ResourceArn": table["TableArn"], "TagKeys": [FROM, AT]})


def time_of(value: Any) -> datetime:
    """A time as in DynamoDB's JSON, or as botocore parses it."""
    return value if isinstance(value, datetime) else datetime.fromtimestamp(float(value), UTC)
