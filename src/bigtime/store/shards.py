"""The shards of a stream, and the order in which they may be read.

A shard is closed after some hours, or when it grows too busy, and its children go on from there.
The changes of one item follow each other only if a child is read after its parents. A table whose
stream was switched off and on again has two streams, and the older one comes first as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from bigtime.wire import Request, Response, Steps

STREAM_READS = frozenset({"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"})
"""The operations of DynamoDB Streams, a service of its own."""


class NoStream(LookupError):
    """The table has no stream to consume."""


class Shard(NamedTuple):
    id: str
    stream: str
    parents: frozenset[str]
    closed: bool


def list_shards(stream: str) -> Steps[list[Shard]]:
    """Every shard of the stream with that ARN, or of all the streams of the table so named."""
    if stream.startswith("arn:") and "/stream/" in stream:
        arns = [stream]
    else:
        arns = yield from streams_of(stream)
    shards: list[Shard] = []
    for arn in arns:
        earlier = frozenset(shard.id for shard in shards)
        described = yield from described_shards(arn)
        shards += [shard_from(one, arn, earlier) for one in described]
    return shards


def streams_of(table: str) -> Steps[list[str]]:
    """The table's streams, oldest first: a label is the time when its stream was made."""
    found = yield from pages(
        Request("ListStreams", {"TableName": table}),
        ("Streams",),
        after=("ExclusiveStartStreamArn", "LastEvaluatedStreamArn"),
    )
    if not found:
        raise NoStream(f"Table {table!r} has no stream: give it a StreamSpecification.")
    return [one["StreamArn"] for one in sorted(found, key=lambda one: str(one["StreamLabel"]))]


def described_shards(arn: str) -> Steps[list[dict[str, Any]]]:
    return pages(
        Request("DescribeStream", {"StreamArn": arn}),
        ("StreamDescription", "Shards"),
        after=("ExclusiveStartShardId", "LastEvaluatedShardId"),
    )


def pages(
    request: Request, path: Sequence[str], *, after: tuple[str, str]
) -> Steps[list[dict[str, Any]]]:
    """The list at the end of the path, from all the pages of the answer."""
    start, last = after
    params = dict(request.params)
    found: list[dict[str, Any]] = []
    while True:
        page: Response = yield Request(request.operation, params)
        for name in path[:-1]:
            page = page[name]
        found += page[path[-1]]
        if not page.get(last):
            return found
        params[start] = page[last]


def shard_from(described: dict[str, Any], stream: str, earlier: frozenset[str]) -> Shard:
    parent = described.get("ParentShardId")
    return Shard(
        described["ShardId"],
        stream,
        frozenset({parent}) if parent else earlier,
        "EndingSequenceNumber" in described["SequenceNumberRange"],
    )


def readable(shards: Sequence[Shard], done: Collection[str]) -> list[Shard]:
    """Those still to be read whose parents are done, or so old that they are gone."""
    waiting = {shard.id for shard in shards} - set(done)
    return [one for one in shards if one.id in waiting and waiting.isdisjoint(one.parents)]
