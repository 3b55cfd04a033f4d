"""`intercept()`: every client of the process is answered by an engine, and nothing goes out."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.exceptions import ClientError, HTTPClientError, NoCredentialsError, ProfileNotFound
from botocore.hooks import EventAliaser
from botocore.stub import Stubber
from moto import mock_aws
from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model

from bigtime.engine import Engine
from bigtime.store import open_async_store, open_store
from bigtime.testing import intercept
from bigtime.testing.interceptor import ANSWERS, CREDENTIALS, default_session
from bigtime.wire import Request
from tests.store.places import create, get, put
from tests.testing.tables import EARLY, EARLY_RESOURCE, names, table


class Song(Model):
    class Meta:
        table_name = "Songs"
        region = "eu-west-1"

    name = UnicodeAttribute(hash_key=True)
    artist = UnicodeAttribute(null=True)


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No credentials, no settings, no default session, and no way out."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    before = aws_variables()

    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError(f"a socket was opened: {arguments}")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield
    assert not ANSWERS
    assert aws_variables() == before
    assert boto3.DEFAULT_SESSION is None


def aws_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


# --- Which clients ----------------------------------------------------------------------------


def test_a_client_made_before_and_one_made_inside_see_one_engine() -> None:
    with intercept() as engine:
        EARLY.create_table(**table())
        boto3.client("dynamodb").put_item(TableName="Things", Item={"pk": {"S": "a"}})
        low: Any = botocore.session.Session().create_client("dynamodb", region_name="us-west-2")
        low.put_item(TableName="Things", Item={"pk": {"S": "b"}})
        assert engine(Request("Scan", {"TableName": "Things", "Select": "COUNT"}))["Count"] == 2


def test_a_client_of_any_endpoint_is_answered() -> None:
    with intercept():
        local: Any = boto3.client("dynamodb", endpoint_url="http://dynamodb-local:8000")
        local.create_table(**table())
        assert names() == ["Things"]


def test_resources_batch_writers_and_their_tables() -> None:
    with intercept():
        things = EARLY_RESOURCE.create_table(**table())
        things.wait_until_exists()
        with boto3.resource("dynamodb").Table("Things").batch_writer() as batch:
            for number in range(60):
                batch.put_item(Item={"pk": f"{number}", "number": number})
        assert things.scan()["Count"] == 60
        assert things.get_item(Key={"pk": "7"})["Item"] == {"pk": "7", "number": 7}


def test_waiters_and_paginators() -> None:
    with intercept():
        EARLY.create_table(**table())
        EARLY.get_waiter("table_exists").wait(TableName="Things")
        for number in range(7):
            EARLY.put_item(TableName="Things", Item={"pk": {"S": f"{number}"}})
        pages = EARLY.get_paginator("scan").paginate(TableName="Things", Limit=3)
        assert [page["Count"] for page in pages] == [3, 3, 1]
        EARLY.delete_table(TableName="Things")
        EARLY.get_waiter("table_not_exists").wait(TableName="Things")


def test_a_new_index_is_there_at_once() -> None:
    with intercept():
        EARLY.create_table(**table())
        EARLY.put_item(TableName="Things", Item={"pk": {"S": "a"}, "owner": {"S": "kim"}})
        index = {
            "IndexName": "ByOwner",
            "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        EARLY.update_table(
            TableName="Things",
            AttributeDefinitions=[{"AttributeName": "owner", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[{"Create": index}],
        )
        found = EARLY.query(
            TableName="Things",
            IndexName="ByOwner",
            KeyConditionExpression="#owner = :kim",
            ExpressionAttributeNames={"#owner": "owner"},
            ExpressionAttributeValues={":kim": {"S": "kim"}},
        )
        assert found["Count"] == 1


def test_streams() -> None:
    with intercept():
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        arn = EARLY.create_table(**table(StreamSpecification=stream))["TableDescription"][
            "LatestStreamArn"
        ]
        EARLY.put_item(TableName="Things", Item={"pk": {"S": "a"}})
        streams: Any = boto3.client("dynamodbstreams")
        shards = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        iterators = [
            streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            for shard in shards
        ]
        records = [
            record
            for iterator in iterators
            for record in streams.get_records(ShardIterator=iterator)["Records"]
        ]
        assert [record["eventName"] for record in records] == ["INSERT"]


def test_a_stream_has_one_shard_as_with_moto() -> None:
    with intercept():
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        described = EARLY.create_table(**table(StreamSpecification=stream))["TableDescription"]
        streams: Any = boto3.client("dynamodbstreams")
        shown = streams.describe_stream(StreamArn=described["LatestStreamArn"])
        assert len(shown["StreamDescription"]["Shards"]) == 1


def test_tables_are_of_the_account_and_region_that_moto_gives_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arns = []
    for beside in (nullcontext(), intercept()):
        with monkeypatch.context() as patch:
            patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
            with mock_aws(), beside:
                client: Any = boto3.client("dynamodb")
                arns.append(client.create_table(**table())["TableDescription"]["TableArn"])
    assert arns[0] == arns[1] == "arn:aws:dynamodb:eu-west-1:123456789012:table/Things"


def test_a_client_of_a_region_with_a_replica_sees_the_replica() -> None:
    with intercept():
        home: Any = boto3.client("dynamodb", region_name="us-east-1")
        away: Any = boto3.client("dynamodb", region_name="eu-west-1")
        home.create_table(**table())
        assert away.list_tables()["TableNames"] == ["Things"]
        home.put_item(TableName="Things", Item={"pk": {"S": "before"}})
        replica = {"Create": {"RegionName": "eu-west-1"}}
        home.update_table(TableName="Things", ReplicaUpdates=[replica])
        shown = away.describe_table(TableName="Things")["Table"]
        assert shown["TableStatus"] == "ACTIVE"
        assert shown["TableArn"] == "arn:aws:dynamodb:eu-west-1:123456789012:table/Things"
        away.put_item(TableName="Things", Item={"pk": {"S": "away"}})
        home.put_item(TableName="Things", Item={"pk": {"S": "home"}})
        for client in (home, away):
            found = client.scan(TableName="Things")["Items"]
            assert {item["pk"]["S"] for item in found} == {"before", "away", "home"}
        streams: Any = boto3.client("dynamodbstreams", region_name="eu-west-1")
        (stream,) = streams.list_streams()["Streams"]
        assert stream["StreamArn"] == shown["LatestStreamArn"]


def test_a_model_of_pynamodb_made_at_import() -> None:
    for artist in ("Miriam", "Hugh"):
        with intercept():
            assert not Song.exists()
            Song.create_table(wait=True, billing_mode="PAY_PER_REQUEST")
            Song("Pata Pata", artist=artist).save()
            assert [(song.name, song.artist) for song in Song.scan()] == [("Pata Pata", artist)]
            with pytest.raises(Song.DoesNotExist):
                Song.get("Grazing in the Grass")


def test_errors_are_boto3s() -> None:
    with intercept():
        with pytest.raises(EARLY.exceptions.ResourceNotFoundException) as caught:
            EARLY.describe_table(TableName="Nothing")
        assert "Nothing" in str(caught.value)
        with pytest.raises(ClientError) as refused:
            EARLY.create_table(**table("no"))
        assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_throttled_requests_are_retried_by_boto3() -> None:
    with intercept() as engine:
        EARLY.create_table(**table())
        engine.faults.throttle(next=1)
        answer = EARLY.get_item(TableName="Things", Key={"pk": {"S": "a"}})
        assert answer["ResponseMetadata"]["RetryAttempts"] == 1


def test_bigtimes_own_transports() -> None:
    async def read() -> object:
        async with open_async_store("dynamodb:af-south-1") as store:
            return await store.run(get("a"))

    with intercept() as engine, open_store("dynamodb:af-south-1") as store:
        store.run(create())
        store.run(put("a"))
        assert asyncio.run(read()) == {"pk": {"S": "a"}}
        assert engine(Request("ListTables", {})) == {"TableNames": ["Things"]}


def test_threads() -> None:
    with intercept(), ThreadPoolExecutor(8) as pool:
        EARLY.create_table(**table())

        def add(number: int) -> None:
            client: Any = EARLY if number % 2 else boto3.Session().client("dynamodb")
            client.update_item(
                TableName="Things",
                Key={"pk": {"S": "counter"}},
                UpdateExpression="ADD seen :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

        list(pool.map(add, range(16)))
        found = EARLY.get_item(TableName="Things", Key={"pk": {"S": "counter"}})
        assert found["Item"]["seen"] == {"N": "16"}


# --- What is left alone, and put back ---------------------------------------------------------


def test_another_service_is_not_touched() -> None:
    with intercept():
        queues: Any = boto3.client("sqs")
        with pytest.raises(HTTPClientError, match="a socket was opened"):
            queues.list_queues()


def test_nothing_is_intercepted_afterwards() -> None:
    with intercept():
        EARLY.create_table(**table())
    with pytest.raises(NoCredentialsError):
        EARLY.list_tables()


def test_after_an_error_everything_is_put_back() -> None:
    def fail() -> None:
        with intercept():
            EARLY.create_table(**table())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with intercept():
        assert names() == []


def test_settings_of_the_environment_come_back() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "real")
        patch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
        with intercept():
            assert os.environ["AWS_ACCESS_KEY_ID"] == CREDENTIALS["AWS_ACCESS_KEY_ID"]
            assert boto3.client("dynamodb").meta.region_name == "ap-south-1"
        assert os.environ["AWS_ACCESS_KEY_ID"] == "real"


def test_clients_of_one_session_share_what_botocore_knows_of_the_service() -> None:
    with intercept():
        first, second, streams = (
            boto3.client(name) for name in ("dynamodb", "dynamodb", "dynamodbstreams")
        )
        other = boto3.Session().client("dynamodb")
    assert first.meta.service_model is second.meta.service_model
    assert streams.meta.service_model is not first.meta.service_model
    assert other.meta.service_model is not first.meta.service_model
    assert (first.meta.region_name, second.meta.region_name) == ("us-east-1", "us-east-1")


def test_a_client_made_afterwards_shares_nothing() -> None:
    with intercept():
        inside: Any = boto3.client("dynamodb", region_name="eu-west-1")
        session: Any = boto3.DEFAULT_SESSION
    afterwards = session.client("dynamodb", region_name="eu-west-1")
    assert afterwards.meta.service_model is not inside.meta.service_model


def test_handlers_of_a_client_are_its_own() -> None:
    called: list[str] = []
    with intercept():
        watched: Any = boto3.client("dynamodb")
        watched.meta.events.register("before-call", lambda **_: called.append("watched"))
        names(boto3.client("dynamodb"))
        assert called == []
        names(watched)
    assert called == ["watched"]


def test_older_names_of_events_mean_what_they_meant() -> None:
    def alias(events: Any, name: str) -> str:
        return str(events._alias_event_name(name))

    with intercept():
        make: Any = EventAliaser
        usual, own = make(None), make(None, {"dynamodb": "table-store"})
        for _ in range(2):
            assert (
                alias(usual, "before-call.apigateway.GetApis") == "before-call.api-gateway.GetApis"
            )
            assert alias(usual, "before-call.api.pricing.X") == "before-call.pricing.X"
            assert alias(usual, "before-call.dynamodb.Scan") == "before-call.dynamodb.Scan"
            assert alias(own, "before-call.dynamodb.Scan") == "before-call.table-store.Scan"


def test_a_default_session_that_is_there_is_used() -> None:
    session = boto3.Session(region_name="ap-south-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "DEFAULT_SESSION", session)
        with intercept():
            assert boto3.client("dynamodb").meta.region_name == "ap-south-1"
        assert boto3.DEFAULT_SESSION is session


def test_a_default_session_set_up_inside_does_not_outlive_the_next() -> None:
    with intercept():
        kept = boto3.DEFAULT_SESSION
        boto3.setup_default_session(region_name="ap-south-1")
    assert boto3.DEFAULT_SESSION is not None
    boto3.DEFAULT_SESSION = None
    with intercept():
        assert boto3.DEFAULT_SESSION is kept
        assert boto3.client("dynamodb").meta.region_name == "us-east-1"


def test_a_profile_that_no_file_has_leaves_nothing_behind() -> None:
    default_session.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_PROFILE", "nobody")
        before = aws_variables()
        with pytest.raises(ProfileNotFound):
            intercept().__enter__()
        assert aws_variables() == before and not ANSWERS and boto3.DEFAULT_SESSION is None


def test_a_stubber_answers_first() -> None:
    with intercept():
        client: Any = boto3.client("dynamodb")
        with Stubber(client) as stubber:
            stubber.add_response("list_tables", {"TableNames": ["Stubbed"]})
            assert names(client) == ["Stubbed"]
        assert names(client) == []


def test_other_handlers_of_a_client_are_called() -> None:
    called: list[str] = []
    with intercept():
        client: Any = boto3.client("dynamodb")
        for event in ("provide-client-params", "before-call", "after-call", "request-created"):
            client.meta.events.register(
                f"{event}.dynamodb", lambda event_name, **_: called.append(event_name)
            )
        names(client)
    assert called == [
        f"{event}.dynamodb.ListTables"
        for event in ("provide-client-params", "before-call", "after-call")
    ]


# --- Nesting ----------------------------------------------------------------------------------


def test_the_innermost_answers() -> None:
    with intercept():
        EARLY.create_table(**table("Outer"))
        with intercept() as inner:
            assert names() == []
            EARLY.create_table(**table("Inner"))
            assert inner(Request("ListTables", {})) == {"TableNames": ["Inner"]}
        assert names() == ["Outer"]


def test_one_engine_may_be_given_and_stays_open(engine: Engine) -> None:
    for number in range(2):
        with intercept(engine=engine) as given:
            assert given is engine
            EARLY.create_table(**table(f"Number{number}"))
    assert engine(Request("ListTables", {})) == {"TableNames": ["Number0", "Number1"]}


def test_an_intercept_is_entered_again() -> None:
    again = intercept()
    for _ in range(2):
        with again, again:
            EARLY.create_table(**table())


def test_interceptions_of_two_threads_may_end_in_any_order() -> None:
    first_is_over = threading.Event()
    second_began = threading.Event()

    def second() -> list[str]:
        with intercept():
            second_began.set()
            assert first_is_over.wait(60)
            EARLY.create_table(**table("Second"))
            return names()

    with ThreadPoolExecutor(1) as pool:
        with intercept():
            found = pool.submit(second)
            assert second_began.wait(60)
        first_is_over.set()
        assert found.result(60) == ["Second"]


@pytest.mark.parametrize("order", ["moto first", "moto last"])
def test_beside_moto(order: str) -> None:
    contexts: list[Any] = [mock_aws(), intercept()]
    first, last = contexts if order == "moto first" else reversed(contexts)
    with first, last:
        bucket: Any = boto3.client("s3", region_name="us-east-1")
        bucket.create_bucket(Bucket="pictures")
        bucket.put_object(Bucket="pictures", Key="cat", Body=b"meow")
        assert bucket.get_object(Bucket="pictures", Key="cat")["Body"].read() == b"meow"
        made: Any = boto3.client("dynamodb", region_name="us-east-1")
        made.create_table(**table())
        made.put_item(TableName="Things", Item={"pk": {"S": "a"}})
        assert names() == ["Things"]
        engine_only = "SELECT * FROM Things"
        assert made.execute_statement(Statement=engine_only)["Items"] == [{"pk": {"S": "a"}}]


def test_moto_never_hears_of_dynamodb() -> None:
    """Both would carry out the write; here moto has no such table, and is not asked."""
    with mock_aws():
        with intercept():
            EARLY.create_table(**table())
        inside: Any = boto3.client("dynamodb", region_name="eu-west-1")
        assert names(inside) == []


# --- Decorators -------------------------------------------------------------------------------


@intercept
def made_by_function(name: str, *, more: int = 0) -> list[str]:
    """Its docstring."""
    EARLY.create_table(**table(name))
    return names()


def test_a_function() -> None:
    assert made_by_function("One") == ["One"]
    assert made_by_function("Two", more=1) == ["Two"]
    assert made_by_function.__doc__ == "Its docstring."


def test_a_function_and_a_given_engine(engine: Engine) -> None:
    @intercept(engine=engine)
    def make(name: str) -> None:
        EARLY.create_table(**table(name))

    make("One")
    make("Two")
    assert engine(Request("ListTables", {})) == {"TableNames": ["One", "Two"]}


def test_an_async_function() -> None:
    @intercept()
    async def make() -> list[str]:
        EARLY.create_table(**table())
        await asyncio.sleep(0)
        return names()

    assert asyncio.run(make()) == ["Things"]


def test_generators_and_async_generators() -> None:
    @intercept
    def fixture() -> Iterator[list[str]]:
        EARLY.create_table(**table())
        yield names()
        assert names() == ["Things"]

    @intercept
    async def async_fixture() -> AsyncIterator[list[str]]:
        EARLY.create_table(**table())
        yield names()

    async def collect() -> list[list[str]]:
        return [found async for found in async_fixture()]

    assert list(fixture()) == asyncio.run(collect()) == [["Things"]]
