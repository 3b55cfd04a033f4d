"""boto3 in process: the real client and resource, and nothing outside this process."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError, ParamValidationError, WaiterError
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.http.boto import NOWHERE, boto3_client, boto3_resource, boto3_session
from bigtime.wire import InternalServerError, Request, Response

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.service_resource import Table

ORDERS: Any = {
    "TableName": "Orders",
    "KeySchema": [
        {"AttributeName": "customer", "KeyType": "HASH"},
        {"AttributeName": "number", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "customer", "AttributeType": "S"},
        {"AttributeName": "number", "AttributeType": "N"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a client in process opened a socket")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.fixture
def client(engine: Engine) -> DynamoDBClient:
    client = engine.boto3_client()
    client.create_table(**ORDERS)
    return client


@pytest.fixture
def orders(engine: Engine) -> Table:
    return engine.boto3_resource().create_table(**ORDERS)


def key(number: int) -> Any:
    return {"customer": {"S": "alex"}, "number": {"N": str(number)}}


def test_half_of_a_surrogate_pair_is_refused_as_over_http(client: DynamoDBClient) -> None:
    with pytest.raises(ClientError) as caught:
        client.put_item(TableName="Orders", Item={**key(1), "text": {"S": "\ud800"}})
    assert caught.value.response["Error"]["Code"] == "SerializationException"


def test_the_client_writes_and_reads_dynamodb_json(client: DynamoDBClient) -> None:
    client.put_item(TableName="Orders", Item={**key(1), "raw": {"B": b"\x00\xff"}})
    answer = client.get_item(TableName="Orders", Key=key(1))
    assert answer["Item"] == {**key(1), "raw": {"B": b"\x00\xff"}}
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert len(answer["ResponseMetadata"]["RequestId"]) == 52
    assert answer["ResponseMetadata"]["RetryAttempts"] == 0


def test_the_resource_speaks_python(orders: Table) -> None:
    item: dict[str, Any] = {
        "customer": "alex",
        "number": Decimal(1),
        "price": Decimal("19.99"),
        "photo": Binary(b"\x89PNG"),
        "tags": {"new", "tea"},
        "sizes": {Decimal(1), Decimal("2.5")},
        "lines": [{"sku": "cup", "gift": True, "note": None}],
    }
    orders.put_item(Item=item)
    assert orders.get_item(Key={"customer": "alex", "number": 1})["Item"] == item


def test_conditions_and_keys_are_built_as_ever(orders: Table) -> None:
    with orders.batch_writer() as batch:
        for number in range(60):
            batch.put_item(Item={"customer": "alex", "number": number, "even": number % 2 == 0})
    found = orders.query(
        KeyConditionExpression=Key("customer").eq("alex") & Key("number").between(10, 19),
        FilterExpression=Attr("even").eq(True),
    )
    assert [item["number"] for item in found["Items"]] == [10, 12, 14, 16, 18]
    assert orders.item_count == 60


def test_paginators_walk_every_page(client: DynamoDBClient) -> None:
    for number in range(25):
        client.put_item(TableName="Orders", Item=key(number))
    pages = list(
        client.get_paginator("scan").paginate(TableName="Orders", PaginationConfig={"PageSize": 10})
    )
    assert [len(page["Items"]) for page in pages][:2] == [10, 10]
    assert sum(len(page["Items"]) for page in pages) == 25
    names = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 1})
    assert [name for page in names for name in page["TableNames"]] == ["Orders"]


def test_waiters_see_a_table_come_and_go(client: DynamoDBClient) -> None:
    client.get_waiter("table_exists").wait(TableName="Orders")
    client.delete_table(TableName="Orders")
    client.get_waiter("table_not_exists").wait(TableName="Orders")
    with pytest.raises(WaiterError):
        client.get_waiter("table_exists").wait(
            TableName="Orders", WaiterConfig={"Delay": 0, "MaxAttempts": 1}
        )


def test_errors_are_caught_by_name_and_read_as_ever(client: DynamoDBClient) -> None:
    client.put_item(TableName="Orders", Item=key(1))
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as caught:
        client.put_item(
            TableName="Orders",
            Item=key(1),
            ConditionExpression="attribute_not_exists(customer)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert str(caught.value) == (
        "An error occurred (ConditionalCheckFailedException) when calling the PutItem operation: "
        "The conditional request failed"
    )
    response: Any = caught.value.response
    assert response["Item"] == key(1)
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.get_item(TableName="Nowhere", Key=key(1))


def test_a_cancelled_transaction_gives_its_reasons(client: DynamoDBClient) -> None:
    check: Any = {
        "TableName": "Orders",
        "Key": key(1),
        "ConditionExpression": "attribute_exists(customer)",
    }
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": "Orders", "Item": key(2)}},
                {"ConditionCheck": check},
            ]
        )
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]


def test_boto3_still_checks_parameters_itself(client: DynamoDBClient) -> None:
    with pytest.raises(ParamValidationError):
        client.get_item(TableName="Orders", Key={"customer": {"S": 1}})


def test_the_streams_client_reads_what_was_written(client: DynamoDBClient, engine: Engine) -> None:
    client.put_item(TableName="Orders", Item=key(7))
    streams: Any = engine.boto3_client("dynamodbstreams")
    arn = streams.list_streams(TableName="Orders")["Streams"][0]["StreamArn"]
    images = [
        record["dynamodb"]["NewImage"]
        for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        for record in records(streams, arn, shard["ShardId"])
    ]
    assert images == [key(7)]


def records(streams: Any, arn: str, shard: str) -> Iterator[Any]:
    iterator = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )
    yield from streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.text(max_size=20)
    | st.binary(max_size=20).map(Binary)
    | st.integers(-(10**30), 10**30).map(Decimal)
    | st.sets(st.text(min_size=1, max_size=5), min_size=1, max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES)
def test_what_the_type_serializer_writes_comes_back_the_same(value: Any) -> None:
    with Engine.memory(housekeeping=False) as engine:
        client = engine.boto3_client()
        client.create_table(**ORDERS)
        written = TypeSerializer().serialize(value)
        client.put_item(TableName="Orders", Item={**key(1), "value": written})
        read = client.get_item(TableName="Orders", Key=key(1))["Item"]["value"]
        assert TypeDeserializer().deserialize(read) == value


# What is around the process does not matter.


def test_a_hostile_environment_has_no_say(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    config = tmp_path / "config"
    config.write_text("[default]\nregion = mars\n[broken")
    hostile = {
        "AWS_CONFIG_FILE": str(config),
        "AWS_SHARED_CREDENTIALS_FILE": str(config),
        "AWS_PROFILE": "nobody",
        "AWS_ENDPOINT_URL": "http://192.0.2.1",
        "AWS_ENDPOINT_URL_DYNAMODB": "http://192.0.2.1",
        "AWS_ENDPOINT_DISCOVERY_ENABLED": "true",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "required",
        "AWS_USE_FIPS_ENDPOINT": "true",
        "AWS_DEFAULTS_MODE": "nonsense",
        "AWS_MAX_ATTEMPTS": "nonsense",
        "AWS_CA_BUNDLE": "/nowhere",
        "HTTP_PROXY": "http://192.0.2.1",
        "AWS_DEFAULT_REGION": "mars",
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    boto3_session.cache_clear()
    client = engine.boto3_client()
    assert client.list_tables()["TableNames"] == []
    assert client.meta.region_name == engine.region
    assert client.meta.endpoint_url == NOWHERE
    boto3_session.cache_clear()


def test_nothing_is_retried_and_nobody_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def broken(request: Request) -> Response:
        asked.append(request)
        raise InternalServerError

    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it slept"))
    with pytest.raises(ClientError) as caught:
        boto3_client(broken).list_tables()
    assert caught.value.response["Error"]["Code"] == "InternalServerError"
    assert "max retries" not in str(caught.value)
    assert len(asked) == 1


def test_a_bug_behind_the_client_is_raised_as_itself() -> None:
    def buggy(request: Request) -> Response:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        boto3_resource(buggy).meta.client.list_tables()


def test_clients_of_two_engines_do_not_mix() -> None:
    one = boto3_client(lambda _: {"TableNames": ["one"]})
    two = boto3_client(lambda _: {"TableNames": ["two"]})
    assert one.list_tables()["TableNames"] == ["one"]
    assert two.list_tables()["TableNames"] == ["two"]


def test_many_threads_may_make_clients_at_once(engine: Engine) -> None:
    boto3_session.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: engine.boto3_client().list_tables(), range(16)))
    assert [answer["TableNames"] for answer in answers] == [[]] * 16
