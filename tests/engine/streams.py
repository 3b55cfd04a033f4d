"""A table with a stream, and a reader of it."""

from __future__ import annotations

from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Item, Response
from tests.engine.calls import Clock, call, make_table, s

HOUR = 3600.0
SHARD_HOURS = 4


class Streaming:
    """An engine with a clock of its own, whose table `notes` has a stream."""

    def __init__(
        self,
        view_type: str = "NEW_AND_OLD_IMAGES",
        shards: int = 4,
        shard_seconds: float = SHARD_HOURS * HOUR,
    ) -> None:
        self.clock = Clock()
        self.engine = Engine.memory(
            clock=self.clock,
            stream_shards=shards,
            shard_seconds=shard_seconds,
            housekeeping=False,
        )
        self.switch_on(view_type, create=True)

    def switch_on(self, view_type: str, *, create: bool = False) -> None:
        specification = {"StreamEnabled": True, "StreamViewType": view_type}
        if create:
            make_table(
                self.engine,
                {"p": "S"},
                name="notes",
                keys=("p",),
                StreamSpecification=specification,
            )
        else:
            call(self.engine, "UpdateTable", TableName="notes", StreamSpecification=specification)

    def switch_off(self) -> None:
        call(
            self.engine,
            "UpdateTable",
            TableName="notes",
            StreamSpecification={"StreamEnabled": False},
        )

    def pass_hours(self, hours: float) -> None:
        self.clock.now += hours * HOUR
        self.engine.tidy()

    @property
    def arn(self) -> str:
        described = call(self.engine, "DescribeTable", TableName="notes")["Table"]
        return str(described["LatestStreamArn"])

    def put(self, p: str, **attributes: Any) -> None:
        call(self.engine, "PutItem", TableName="notes", Item={"p": s(p), **attributes})

    def delete(self, p: str) -> None:
        call(self.engine, "DeleteItem", TableName="notes", Key={"p": s(p)})

    def shards(self, arn: str | None = None) -> list[Response]:
        described = call(self.engine, "DescribeStream", StreamArn=arn or self.arn)
        return list(described["StreamDescription"]["Shards"])

    def iterator(self, shard: str, kind: str = "TRIM_HORIZON", **params: Any) -> str:
        params["StreamArn"] = params.get("StreamArn") or self.arn
        given = call(
            self.engine, "GetShardIterator", ShardId=shard, ShardIteratorType=kind, **params
        )
        return str(given["ShardIterator"])

    def records(self, arn: str | None = None) -> list[Response]:
        """Every record there is, shard after shard."""
        arn = arn or self.arn
        return [
            record
            for shard in self.shards(arn)
            for record in self.drain(self.iterator(shard["ShardId"], StreamArn=arn))
        ]

    def drain(self, iterator: str | None, **params: Any) -> list[Response]:
        found: list[Response] = []
        while iterator:
            page = call(self.engine, "GetRecords", ShardIterator=iterator, **params)
            found.extend(page["Records"])
            iterator = page.get("NextShardIterator") if page["Records"] else None
        return found


def images_of(record: Response) -> tuple[str, Item | None, Item | None]:
    change = record["dynamodb"]
    return record["eventName"], change.get("OldImage"), change.get("NewImage")


def names(records: list[Response]) -> list[str]:
    return [record["dynamodb"]["Keys"]["p"]["S"] for record in records]
