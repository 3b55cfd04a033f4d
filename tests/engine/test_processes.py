"""Two processes on one file: each sees the other's tables, and no write is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError
from tests.engine.calls import (
    add_index,
    call,
    describe_table,
    drop_index,
    fill,
    global_index,
    index,
    key_schema,
    make_table,
    n,
    refusal_of,
    s,
)

ROOT = Path(__file__).parents[2]

SERVANT = """
    import json, sys
    from bigtime.engine import Engine
    from bigtime.wire import (DynamoDBError, Request)

    with Engine.open(sys.argv[1], durability="relaxed", housekeeping=False) as engine:
        print("ready", flush=True)
        for line in sys.stdin:
            operation, params = json.loads(line)
            try:
                answer = engine(Request(operation, params))
            except DynamoDBError as error:
                answer = {"error": error.code, "message": error.message}
            print(json.dumps(answer), flush=True)
"""

WRITER = """
    import sys
    from bigtime.engine import Engine
    from bigtime.wire import Request

    path, name, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Engine.open(path, durability="relaxed") as engine:
        for number in range(writes):
            item = {"p": {"S": name}, "s": {"N": str(number)}, "g": {"S": "all"}}
            engine(Request("PutItem", {"TableName": "shared", "Item": item}))
            engine(Request("UpdateItem", {
                "TableName": "shared",
                "Key": {"p": {"S": "counter"}, "s": {"N": "0"}},
                "UpdateExpression": "ADD hits :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }))
"""


class Servant:
    """An engine in another process that does what it is told."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SERVANT), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self.line() == "ready\n"

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def __call__(self, operation: str, **params: Any) -> Any:
        assert self.process.stdin
        self.process.stdin.write(json.dumps([operation, params]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "two.db", durability="relaxed", housekeeping=False) as engine:
        yield engine


@pytest.fixture
def there(here: Engine) -> Iterator[Servant]:
    servant = Servant(here.path)
    yield servant
    servant.close()


def simple(name: str, attribute_type: str = "S") -> dict[str, Any]:
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": attribute_type}],
        "KeySchema": key_schema("p"),
        "BillingMode": "PAY_PER_REQUEST",
    }


def test_a_table_made_there_is_here(here: Engine, there: Servant) -> None:
    there("CreateTable", **simple("one"))
    assert call(here, "Scan", TableName="one")["Count"] == 0
    there("CreateTable", **simple("two"))
    call(here, "PutItem", TableName="two", Item={"p": s("a")})
    assert there("GetItem", TableName="two", Key={"p": s("a")}) == {"Item": {"p": s("a")}}
    assert call(here, "ListTables")["TableNames"] == ["one", "two"]


def test_a_table_dropped_there_is_gone_here(here: Engine, there: Servant) -> None:
    make_table(here, {"p": "S"}, name="one", keys=("p",))
    call(here, "PutItem", TableName="one", Item={"p": s("a")})
    there("DeleteTable", TableName="one")
    for operation, params in (
        ("GetItem", {"Key": {"p": s("a")}}),
        ("Scan", {}),
        ("PutItem", {"Item": {"p": s("a")}}),
        ("DescribeTable", {}),
    ):
        with pytest.raises(DynamoDBError) as caught:
            call(here, operation, TableName="one", **params)
        assert caught.value.code == "ResourceNotFoundException"


def test_a_table_made_anew_there_is_not_mistaken_for_the_old(here: Engine, there: Servant) -> None:
    make_table(here, {"p": "S"}, name="one", keys=("p",))
    call(here, "PutItem", TableName="one", Item={"p": s("old")})
    there("DeleteTable", TableName="one")
    there("CreateTable", **simple("one", "N"))
    there("PutItem", TableName="one", Item={"p": n(1)})
    assert call(here, "Scan", TableName="one")["Items"] == [{"p": n(1)}]
    assert call(here, "GetItem", TableName="one", Key={"p": n(1)}) == {"Item": {"p": n(1)}}
    call(here, "PutItem", TableName="one", Item={"p": n(2)})
    assert describe_table(here, "one")["ItemCount"] == 2


def test_an_index_made_and_dropped_there_is_known_here(here: Engine, there: Servant) -> None:
    make_table(here, {"p": "S"}, name="one", keys=("p",))
    call(here, "PutItem", TableName="one", Item={"p": s("a"), "g": s("b")})
    there(
        "UpdateTable",
        TableName="one",
        AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("new", key_schema("g"))}],
    )
    # A write that does not know of the index would leave its item out of it.
    call(here, "PutItem", TableName="one", Item={"p": s("c"), "g": s("b")})
    assert call(here, "Scan", TableName="one", IndexName="new")["Count"] == 2
    there(
        "UpdateTable",
        TableName="one",
        GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "new"}}],
    )
    assert refusal_of(here, "Scan", TableName="one", IndexName="new") == (
        "The table does not have the specified index: new"
    )


def test_a_stream_switched_on_there_records_writes_here(here: Engine, there: Servant) -> None:
    make_table(here, {"p": "S"}, name="one", keys=("p",))
    there(
        "UpdateTable",
        TableName="one",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    call(here, "PutItem", TableName="one", Item={"p": s("a")})
    arn = describe_table(here, "one")["LatestStreamArn"]
    found = []
    for shard in there("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = there(
            "GetShardIterator",
            StreamArn=arn,
            ShardId=shard["ShardId"],
            ShardIteratorType="TRIM_HORIZON",
        )
        # An iterator is good in any process.
        found += call(here, "GetRecords", **iterator)["Records"]
    assert [record["eventName"] for record in found] == ["INSERT"]


def test_a_backfill_begun_there_is_ended_here(here: Engine, there: Servant) -> None:
    make_table(here, {"p": "S"}, name="one", keys=("p",))
    fill(here, "one", 1_500, g=s("b"))
    there(
        "UpdateTable",
        TableName="one",
        AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("new", key_schema("g"))}],
    )
    here.tidy()
    counted = there("Scan", TableName="one", IndexName="new", Select="COUNT")
    assert counted["Count"] == global_index(here, "one", "new")["ItemCount"] == 1_500


def test_a_definition_changed_there_reaches_a_reader_here(here: Engine, there: Servant) -> None:
    make_table(
        here,
        {"p": "S", "g": "S"},
        name="one",
        keys=("p",),
        globally=(index("new", key_schema("g")),),
    )
    call(here, "PutItem", TableName="one", Item={"p": s("a"), "g": s("b")})
    assert there("Scan", TableName="one", IndexName="new")["Count"] == 1
    drop_index(here, "one", "new")
    add_index(here, "one", index("new", key_schema("g"), "KEYS_ONLY"), g="S")
    call(here, "PutItem", TableName="one", Item={"p": s("c"), "g": s("d"), "x": n(1)})
    found = there(
        "Query",
        TableName="one",
        IndexName="new",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("d")},
    )
    assert found["Items"] == [{"p": s("c"), "g": s("d")}]


def test_writers_in_four_processes_lose_nothing(tmp_path: Path) -> None:
    path, writes = tmp_path / "four.db", 60
    with Engine.open(path, durability="relaxed") as engine:
        make_table(
            engine,
            {"p": "S", "s": "N", "g": "S"},
            name="shared",
            globally=(index("global", key_schema("g"), "KEYS_ONLY"),),
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
        script = textwrap.dedent(WRITER)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(path), f"writer {number}", str(writes)], cwd=ROOT
            )
            for number in range(4)
        ]
        assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
        key = {"p": s("counter"), "s": n(0)}
        counter = call(engine, "GetItem", TableName="shared", Key=key)["Item"]
        assert counter["hits"] == n(4 * writes)
        scanned = call(engine, "Scan", TableName="shared", Select="COUNT")
        assert scanned["Count"] == describe_table(engine, "shared")["ItemCount"] == 4 * writes + 1
        entry = global_index(engine, "shared", "global")
        held = call(engine, "Scan", TableName="shared", IndexName="global", Select="COUNT")
        assert held["Count"] == entry["ItemCount"] == 4 * writes
        assert (
            stream_length(engine, describe_table(engine, "shared")["LatestStreamArn"]) == 8 * writes
        )


def stream_length(engine: Engine, arn: str) -> int:
    length = 0
    for shard in call(engine, "DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        asked = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator: Any = call(engine, "GetShardIterator", **asked)["ShardIterator"]
        while iterator:
            page = call(engine, "GetRecords", ShardIterator=iterator)
            length += len(page["Records"])
            iterator = page.get("NextShardIterator") if page["Records"] else None
    return length
