"""The DynamoDB Streams API: ListStreams, DescribeStream, GetShardIterator, GetRecords.

A shard iterator holds its own state: stream, shard, next sequence number, and when it was issued.
The engine stores nothing for it, so it survives a restart; it expires by its age.

The next sequence number is that of a record of the shard, or of the next one to be written. If that
record is older than the trim horizon, the reader has missed records and gets
TrimmedDataAccessException. An iterator of type TRIM_HORIZON has 0 and starts at the oldest record.

Which parameters AWS rejects is documented ("GetShardIterator", "DescribeStream") and was seen by
ScyllaDB's test_streams.py; its messages are known only for ARNs and iterators.
https://github.com/scylladb/scylladb/tree/master/test/alternator
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from typing import Any, NamedTuple, TypeAlias

import apsw
import orjson

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import table_schema
from bigtime.engine.storage import Database, UnreadableRecord, table_name
from bigtime.wire import Params, Response

# AWS: "GetShardIterator" and "GetRecords"
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
ITERATOR_SECONDS = 15 * 60
MAX_RECORDS = 1_000
MAX_BYTES = 1024 * 1024
MAX_LIST = 100
SEQUENCE_WIDTH = 20
HORIZON = 0
NO_END = 1 << 62
SELECT_STREAMS = "SELECT number, table_name, label, description, disabled_at FROM streams"
EXPIRED = "The provided iterator exceeds the maximum age allowed."
TRIMMED = "The data you are trying to access has been trimmed."

Row: TypeAlias = tuple[int, float, bytes]


class Stream(NamedTuple):
    number: int
    table_name: str
    label: str
    view_type: str
    key_schema: list[dict[str, str]]
    created_at: float
    disabled_at: float | None


class Shard(NamedTuple):
    id: str
    slot: int
    parent: str | None
    opened_at: float
    first: int
    last: int | None

    @property
    def end(self) -> int:
        """The last sequence number that can be in the shard."""
        return NO_END if self.last is None else self.last


class OpenShard(NamedTuple):
    """A shard being read, and the time before which its records are trimmed."""

    reader: apsw.Connection
    stream: Stream
    shard: Shard
    oldest: float


class IteratorState(NamedTuple):
    """The state that a shard iterator holds."""

    stream: int
    shard: str
    next: int
    given_at: float


def list_streams(database: Database, params: Params) -> Response:
    limit = params.get("Limit", MAX_LIST)
    after = params.get("ExclusiveStartStreamArn", "")
    with database.reading() as reader:
        streams = [stream_from(*row) for row in storage.all_rows(reader, SELECT_STREAMS)]
    arns = {arn_of(database, stream): stream for stream in streams}
    wanted = table_name(params["TableName"]) if "TableName" in params else None
    names = sorted(
        arn for arn, stream in arns.items() if arn > after and wanted in (None, stream.table_name)
    )
    response: Response = {
        "Streams": [
            {"StreamArn": arn, "TableName": arns[arn].table_name, "StreamLabel": arns[arn].label}
            for arn in names[:limit]
        ]
    }
    if len(names) > limit:
        response["LastEvaluatedStreamArn"] = names[limit - 1]
    return response


def describe_stream(database: Database, params: Params) -> Response:
    limit = params.get("Limit", MAX_LIST)
    after = params.get("ExclusiveStartShardId", "")
    parent = wanted_parent(params.get("ShardFilter"))
    with database.file.snapshot() as reader:
        stream = find_stream(database, reader, params["StreamArn"])
        shards = [
            shard
            for shard in all_shards(reader, stream.number)
            if shard.id > after and parent in (None, shard.parent)
        ]
    description: Response = {
        "StreamArn": params["StreamArn"],
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED" if stream.disabled_at is None else "DISABLED",
        "StreamViewType": stream.view_type,
        "CreationRequestDateTime": stream.created_at,
        "TableName": stream.table_name,
        "KeySchema": stream.key_schema,
        "Shards": [described_shard(shard) for shard in shards[:limit]],
    }
    if len(shards) > limit:
        description["LastEvaluatedShardId"] = shards[limit - 1].id
    return {"StreamDescription": description}


def wanted_parent(shard_filter: Params | None) -> str | None:
    """The shard whose children are requested: CHILD_SHARDS is the only type of filter."""
    if not shard_filter:
        return None
    if "Type" not in shard_filter or "ShardId" not in shard_filter:
        table_schema.invalid("Both Type and ShardId must be specified in ShardFilter")
    parent: str = shard_filter["ShardId"]
    return parent


def described_shard(shard: Shard) -> Response:
    bounds = {"StartingSequenceNumber": sequence_text(shard.first)}
    if shard.last is not None:
        bounds["EndingSequenceNumber"] = sequence_text(max(shard.last, shard.first))
    described: Response = {"ShardId": shard.id, "SequenceNumberRange": bounds}
    if shard.parent:
        described["ParentShardId"] = shard.parent
    return described


def get_shard_iterator(database: Database, params: Params) -> Response:
    now = database.clock()
    with database.file.snapshot() as reader:
        opened = open_shard(database, reader, params["StreamArn"], params["ShardId"])
        start = starting_sequence(opened, params, now)
    place = IteratorState(opened.stream.number, opened.shard.id, start, now)
    return {"ShardIterator": iterator_text(params["StreamArn"], place)}


def open_shard(database: Database, reader: apsw.Connection, arn: str, id: str) -> OpenShard:
    stream = find_stream(database, reader, arn)
    shard = find_shard(reader, stream, id)
    return OpenShard(reader, stream, shard, database.settled_clock() - storage.RETENTION_SECONDS)


def starting_sequence(opened: OpenShard, params: Params, now: float) -> int:
    check_starting_parameters(params)
    match params["ShardIteratorType"]:
        case "TRIM_HORIZON":
            return HORIZON
        case "LATEST":
            return storage.last_sequence(opened.reader, opened.stream.number) + 1
        case "AT_TIMESTAMP":
            return sequence_at(opened, params.get("Timestamp"), now)
        case kind:
            sequence = named_sequence(opened, params)
            start = sequence if kind == "AT_SEQUENCE_NUMBER" else sequence + 1
            return next_sequence(opened, start)


def check_starting_parameters(params: Params) -> None:
    kind = params["ShardIteratorType"]
    if "SequenceNumber" in params and not kind.endswith("SEQUENCE_NUMBER"):
        table_schema.invalid(
            f"SequenceNumber must not be specified when ShardIteratorType is {kind}"
        )


def named_sequence(opened: OpenShard, params: Params) -> int:
    """The sequence number in the request, which must be in this shard and not trimmed."""
    text = params.get("SequenceNumber")
    if text is None:
        kind = params["ShardIteratorType"]
        table_schema.invalid(f"SequenceNumber must be specified when ShardIteratorType is {kind}")
    reader, stream, shard, oldest = opened
    sequence = sequence_from(text)
    last = storage.last_sequence(reader, stream.number) if shard.last is None else shard.last
    if not shard.first <= sequence <= max(last, shard.first):
        raise wire.ValidationException(
            "Invalid SequenceNumber: it is not within the range of the shard"
        )
    if sequence < storage.first_after(reader, stream.number, oldest):
        raise wire.TrimmedDataAccessException(TRIMMED)
    return sequence


def sequence_at(opened: OpenShard, moment: float | None, now: float) -> int:
    """The sequence number of the first record created at or after this time, in whole seconds."""
    if moment is None:
        table_schema.invalid("Timestamp must be specified when ShardIteratorType is AT_TIMESTAMP")
    if moment > now:
        table_schema.invalid("Timestamp must not be in the future")
    if moment <= opened.oldest:
        return HORIZON
    second = math.ceil(moment)
    # The stamp just before that second: a record created in the second itself counts.
    number = opened.stream.number
    start = storage.first_after(opened.reader, number, math.nextafter(second, 0.0))
    return next_sequence(opened, start)


def next_sequence(opened: OpenShard, start: int) -> int:
    """The shard's first record from there on, or the stream's next record if there is none."""
    reader, stream, shard, _ = opened
    found: int | None = reader.execute(
        f"SELECT sequence FROM s{stream.number} WHERE slot = ? AND sequence BETWEEN ? AND ?"
        " ORDER BY sequence LIMIT 1",
        (shard.slot, max(start, shard.first), shard.end),
    ).get
    return storage.last_sequence(reader, stream.number) + 1 if found is None else found


def get_records(database: Database, params: Params) -> Response:
    limit = params.get("Limit", MAX_RECORDS)
    arn, place = read_iterator(params["ShardIterator"])
    now = database.clock()
    if now - place.given_at > ITERATOR_SECONDS:
        raise wire.ExpiredIteratorException(EXPIRED)
    with database.file.snapshot() as reader:
        opened = open_shard(database, reader, arn, place.shard)
        horizon = trim_horizon(database, opened)
        if HORIZON < place.next < horizon:
            raise wire.TrimmedDataAccessException(TRIMMED)
        rows, following = records_from(opened, max(place.next, horizon), limit)
    records = [stream_record(database, opened.stream, row) for row in rows]
    response: Response = {"Records": records}
    if following <= opened.shard.end:
        response["NextShardIterator"] = iterator_text(
            arn, place._replace(next=following, given_at=now)
        )
    return response


def trim_horizon(database: Database, opened: OpenShard) -> int:
    """The first sequence number not yet trimmed; the search resumes from its last position."""
    number = opened.stream.number
    known = database.trim_horizons.get(number, 0)
    horizon = storage.first_after(opened.reader, number, opened.oldest, at_least=known)
    database.trim_horizons[number] = horizon
    return horizon


def records_from(opened: OpenShard, start: int, limit: int) -> tuple[list[Row], int]:
    """Up to `limit` records and 1 MB of the shard, and where the next read has to start."""
    reader, stream, shard, _ = opened
    cursor = reader.execute(
        f"SELECT sequence, at, record FROM s{stream.number}"
        " WHERE slot = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?",
        (shard.slot, max(start, shard.first), shard.end, limit + 1),
    )
    rows: list[Row] = []
    size = 0
    try:
        for row in cursor:
            size += len(row[2])
            if len(rows) == limit or (rows and size > MAX_BYTES):
                return rows, row[0]
            rows.append(row)
    finally:
        cursor.close()
    return rows, storage.last_sequence(reader, stream.number) + 1


def stream_record(database: Database, stream: Stream, row: Row) -> Response:
    sequence, at, blob = row
    try:
        record: dict[str, Any] = orjson.loads(blob)
    except orjson.JSONDecodeError:
        raise UnreadableRecord(stream.table_name, sequence) from None
    identity = record.pop("userIdentity", None)
    name = record.pop("eventName")
    record.pop("version", None)
    body = {
        # "rounded down to the closest second": AWS, "StreamRecord"
        # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
        "ApproximateCreationDateTime": float(int(at)),
        **record,
        "SequenceNumber": sequence_text(sequence),
        "StreamViewType": stream.view_type,
    }
    event: Response = {
        "eventID": hashlib.md5(f"{stream.number}/{sequence}".encode()).hexdigest(),
        "eventName": name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": database.region,
        "dynamodb": body,
    }
    if identity:
        event["userIdentity"] = identity
    return event


def sequence_text(sequence: int) -> str:
    """21 digits, so that the order of the texts is numeric order."""
    return f"1{sequence:0{SEQUENCE_WIDTH}d}"


def sequence_from(text: str) -> int:
    if not re.fullmatch(rf"1[0-9]{{{SEQUENCE_WIDTH}}}", text):
        raise wire.ValidationException(f"Invalid SequenceNumber: {text}")
    return int(text[1:])


def iterator_text(arn: str, place: IteratorState) -> str:
    # The ARN comes first, as in AWS's iterators, so that it shows which stream it reads.
    note = base64.b64encode(orjson.dumps(tuple(place))).decode()
    return f"{arn}|1|{note}"


def read_iterator(text: str) -> tuple[str, IteratorState]:
    arn, _, rest = text.partition("|1|")
    try:
        stream, shard, following, given_at = orjson.loads(base64.b64decode(rest, validate=True))
        place = IteratorState(int(stream), str(shard), int(following), float(given_at))
    except (binascii.Error, orjson.JSONDecodeError, OverflowError, TypeError, ValueError):
        raise wire.ValidationException("Invalid ShardIterator") from None
    if not 0 <= place.next <= NO_END:
        raise wire.ValidationException("Invalid ShardIterator")
    return arn, place


def stream_from(
    number: int, table_name: str, label: str, text: bytes, disabled_at: float | None
) -> Stream:
    return Stream(number, table_name, label, **orjson.loads(text), disabled_at=disabled_at)


STREAM_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table/[^/]+/stream/[^/]+")


def find_stream(database: Database, reader: apsw.Connection, arn: str) -> Stream:
    if not STREAM_ARN.fullmatch(arn):
        raise wire.ValidationException("Invalid StreamArn")
    # Our ARNs are ASCII, and other text might not even be valid for SQLite.
    if arn.isascii():
        named = (table_name(arn), arn.rpartition("/")[2])
        row = reader.execute(f"{SELECT_STREAMS} WHERE table_name = ? AND label = ?", named).get
        stream = stream_from(*row) if row else None
        if stream and arn_of(database, stream) == arn:
            return stream
    raise wire.ResourceNotFoundException(f"Requested resource not found: Stream: {arn} not found")


def arn_of(database: Database, stream: Stream) -> str:
    return storage.stream_arn(stream.table_name, stream.label, database.region, database.account)


def all_shards(reader: apsw.Connection, stream: int) -> list[Shard]:
    rows = storage.all_rows(
        reader,
        "SELECT id, slot, parent, opened_at, first, last FROM shards WHERE stream = ? ORDER BY id",
        (stream,),
    )
    return [Shard(*row) for row in rows]


def find_shard(reader: apsw.Connection, stream: Stream, id: str) -> Shard:
    for shard in all_shards(reader, stream.number):
        if shard.id == id:
            return shard
    raise wire.ResourceNotFoundException(
        f"Requested resource not found: Shard does not exist: {id}"
    )
