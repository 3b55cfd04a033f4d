"""Streams: what is listed and described, and every change in them exactly once, in its order.

From developerguide/Streams.html: "Each stream record appears exactly once in the stream. For each
item that is modified, the stream records appear in the same sequence as the actual modifications";
a put that changes nothing leaves no record. A stream can be read for 24 hours after it was
disabled or its table deleted; no run takes that long. A parent shard is read before its children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from bigtime.wire import Params, Response
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import (
    AnyAnswer,
    Like,
    Settings,
    SettingsRun,
    Size,
    Stream,
    key_schema,
    no_table,
    table_arn,
)

INVALID = Refusal("ValidationException")
NOT_FOUND = Refusal("ResourceNotFoundException")
NO_STREAM = f"{table_arn('alpha')}/stream/2015-05-11T21:21:33.291"
NO_SHARD = "shardId-00000001414576573621-f55eea83"
VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
ITERATOR_SECONDS = 15 * 60


def switch(run: SettingsRun, dice: Random) -> None:
    """Switches a table's stream on or off: a new one each time."""
    given, table = run.pick(dice)
    on = dice.random() < 0.6
    view = dice.choice(VIEWS) if on else None
    wanted = {"StreamEnabled": on, **({"StreamViewType": view} if view else {})}
    foretold: object = AnyAnswer() if table else no_table(given)
    if table is not None and on is is_streaming(table):
        # Quoted in aws-controllers-k8s/community#1000; its sister is not known.
        told = f"Table already has an enabled stream: TableName: {table.name}" if on else None
        foretold = Refusal("ValidationException", told)
    seen = run.expect(foretold, "UpdateTable", TableName=given, StreamSpecification=wanted)
    if seen and table and view:
        run.note_stream(table, seen["TableDescription"]["LatestStreamArn"], view)
    elif seen and table and table.stream:
        table.stream.enabled = False


def is_streaming(table: Settings) -> bool:
    return table.stream is not None and table.stream.enabled


def write(run: SettingsRun, dice: Random) -> None:
    """Puts or deletes an item, and notes what the stream must say of it."""
    given, table = run.pick(dice)
    key = {"p": {"S": dice.choice("ab")}}
    if table is None or table.has_sort_key:
        key["s"] = {"S": "x"}
    if dice.random() < 0.3:
        new, asked, operation = None, {"Key": key}, "DeleteItem"
    else:
        new = {**key, "note": {"S": dice.choice(("old", "new"))}}
        asked, operation = {"Item": new}, "PutItem"
    run.expect(AnyAnswer() if table else NOT_FOUND, operation, TableName=given, **asked)
    if table is None:
        return
    id = key["p"]["S"]
    old = table.items.pop(id, None)
    if new is not None:
        table.items[id] = new
    if old != new and table.stream and table.stream.enabled:
        table.stream.records.append(foretold_record(table.stream, key, old, new, run.now))


def foretold_record(
    stream: Stream, key: Params, old: Params | None, new: Params | None, now: float
) -> Params:
    images: dict[str, Params] = {}
    if old and stream.view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
        images["OldImage"] = old
    if new and stream.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        images["NewImage"] = new
    return {
        "eventID": Like(".+"),
        "eventName": "REMOVE" if new is None else "MODIFY" if old else "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            # "rounded down to the closest second", of StreamRecord
            "ApproximateCreationDateTime": float(int(now)),
            "Keys": key,
            **images,
            "SequenceNumber": Like(r"\d{21,40}"),
            "SizeBytes": Size(),
            "StreamViewType": stream.view,
        },
    }


def list_streams(run: SettingsRun, dice: Random) -> None:
    wanted, _ = run.pick(dice)
    name = None if wanted.startswith("arn:") else wanted
    listed = run.pages(
        "ListStreams",
        "Streams",
        "LastEvaluatedStreamArn",
        "ExclusiveStartStreamArn",
        dice.choice((1, 2, 100)),
        TableName=name,
    )
    foretold = [
        {"StreamArn": each.arn, "TableName": each.table, "StreamLabel": label_of(each.arn)}
        for each in run.streams
        if name in (None, each.table)
    ]
    run.same("streams", sorted(foretold, key=str), sorted(listed, key=str))


def label_of(arn: str) -> str:
    return arn.rpartition("/")[2]


def describe_stream(run: SettingsRun, dice: Random) -> None:
    if not run.streams or dice.random() < 0.1:
        run.expect(NOT_FOUND, "DescribeStream", StreamArn=NO_STREAM)
        return
    all_shards(run, dice.choice(run.streams), dice.choice((1, 3, 100)))


def all_shards(run: SettingsRun, stream: Stream, most: int) -> list[Response]:
    """The shards of a stream, parents first, once it was described page by page."""
    shards: list[Response] = []
    start = None
    while True:
        seen = run.expect(
            AnyAnswer(),
            "DescribeStream",
            StreamArn=stream.arn,
            Limit=most,
            ExclusiveStartShardId=start,
        )["StreamDescription"]
        page = seen.pop("Shards")
        start = seen.pop("LastEvaluatedShardId", None)
        run.same("description", foretold_stream(stream), seen)
        if len(page) > most:
            run.fail("more than Limit", page)
        shards += page
        if start is None:
            break
    for shard in shards:
        bounds = shard["SequenceNumberRange"]
        if not stream.enabled and "EndingSequenceNumber" not in bounds:
            run.fail("an open shard of a disabled stream", shard)
    ids = [shard["ShardId"] for shard in shards]
    if not ids or len(set(ids)) < len(ids):
        run.fail("no shards, or one twice", ids)
    return list(parents_first({shard["ShardId"]: shard for shard in shards}))


def foretold_stream(stream: Stream) -> Params:
    return {
        "StreamArn": stream.arn,
        "StreamLabel": label_of(stream.arn),
        "StreamStatus": "ENABLED" if stream.enabled else "DISABLED",
        "StreamViewType": stream.view,
        "CreationRequestDateTime": stream.created_at,
        "TableName": stream.table,
        "KeySchema": key_schema(["p", "s"] if stream.table == "beta" else ["p"]),
    }


def parents_first(shards: dict[str, Response]) -> Iterator[Response]:
    while shards:
        ready = [id for id, each in shards.items() if each.get("ParentShardId") not in shards]
        yield from [shards.pop(id) for id in ready]


def read(run: SettingsRun, dice: Random) -> None:
    """Reads a stream from its beginning to its end, and once more from within."""
    if not run.streams:
        return
    stream, most = dice.choice(run.streams), dice.choice((1, 2, 1000))
    found: list[Response] = []
    for shard in all_shards(run, stream, 100):
        own = drain(run, iterator(run, stream, shard, "TRIM_HORIZON"), most)
        found += own
        if own:
            read_from_within(run, dice, stream, shard, own)
        run.same("latest", [], drain(run, iterator(run, stream, shard, "LATEST"), most))
    compare_records(run, stream.records, found)


def iterator(
    run: SettingsRun, stream: Stream, shard: Response, kind: str, sequence: str | None = None
) -> str:
    seen = run.expect(
        {"ShardIterator": Like(".+")},
        "GetShardIterator",
        StreamArn=stream.arn,
        ShardId=shard["ShardId"],
        ShardIteratorType=kind,
        SequenceNumber=sequence,
    )
    run.iterators.append((seen["ShardIterator"], run.now))
    return str(seen["ShardIterator"])


def drain(run: SettingsRun, iterator: str | None, most: int) -> list[Response]:
    found: list[Response] = []
    while iterator:
        page = run.expect(AnyAnswer(), "GetRecords", ShardIterator=iterator, Limit=most)
        if len(page["Records"]) > most:
            run.fail("more than Limit", page)
        found += page["Records"]
        iterator = page.get("NextShardIterator") if page["Records"] else None
    return found


def read_from_within(
    run: SettingsRun, dice: Random, stream: Stream, shard: Response, records: list[Response]
) -> None:
    place = dice.randrange(len(records))
    sequence = records[place]["dynamodb"]["SequenceNumber"]
    for kind, first in (("AT_SEQUENCE_NUMBER", place), ("AFTER_SEQUENCE_NUMBER", place + 1)):
        seen = drain(run, iterator(run, stream, shard, kind, sequence), 1000)
        run.same(f"records {kind}", records[first:], seen)


def compare_records(run: SettingsRun, foretold: list[Params], seen: list[Response]) -> None:
    """All there are, and those of each item in their order."""
    if len({record["eventID"] for record in seen}) < len(seen):
        run.fail("an event twice", seen)
    run.same("records", by_item(foretold), by_item(seen))


def by_item(records: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for record in records:
        found.setdefault(record["dynamodb"]["Keys"]["p"]["S"], []).append(record)
    return found


def use_an_old_iterator(run: SettingsRun, dice: Random) -> None:
    """ "A shard iterator expires 15 minutes after it is returned to the requester."."""
    if not run.iterators:
        run.expect(INVALID, "GetRecords", ShardIterator="none")
        return
    text, given_at = dice.choice(run.iterators)
    expired = Refusal("ExpiredIteratorException")
    is_old = run.now - given_at > ITERATOR_SECONDS
    run.expect(expired if is_old else AnyAnswer(), "GetRecords", ShardIterator=text)


def ask_wrongly(run: SettingsRun, dice: Random) -> None:
    """For an iterator of what is not there, or from no place."""
    if not run.streams:
        return
    arn = dice.choice(run.streams).arn
    horizon = {"ShardIteratorType": "TRIM_HORIZON"}
    wrong: list[tuple[Refusal, Params]] = [
        (NOT_FOUND, {"StreamArn": NO_STREAM, "ShardId": NO_SHARD, **horizon}),
        (NOT_FOUND, {"StreamArn": arn, "ShardId": NO_SHARD, **horizon}),
    ]
    shard = all_shards(run, dice.choice(run.streams[-1:]), 100)[0]["ShardId"]
    place = {"StreamArn": run.streams[-1].arn, "ShardId": shard}
    wrong += [
        (INVALID, {**place, "ShardIteratorType": "AT_SEQUENCE_NUMBER"}),
        (INVALID, {**place, "ShardIteratorType": "FIRST"}),
    ]
    refusal, params = dice.choice(wrong)
    run.expect(refusal, "GetShardIterator", **params)


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "switch stream": switch,
    "write": write,
    "write again": write,
    "list streams": list_streams,
    "describe stream": describe_stream,
    "read stream": read,
    "use an old iterator": use_an_old_iterator,
    "ask streams wrongly": ask_wrongly,
}
