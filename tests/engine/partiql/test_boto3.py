"""boto3's PartiQL calls, over the network and in process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from bigtime.engine import Engine
from tests.cli.program import server


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    file = tmp_path_factory.mktemp("data") / "partiql.db"
    with server("--data", file) as running:
        yield boto3.client(
            "dynamodb",
            endpoint_url=running.url,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(retries={"total_max_attempts": 1}),
        )


@pytest.fixture(params=["endpoint", "process"])
def client(request: pytest.FixtureRequest, engine: Engine) -> Any:
    if request.param == "endpoint":
        return request.getfixturevalue("remote")
    return engine.boto3_client()


def test_a_round(client: Any) -> None:
    client.create_table(
        TableName="Songs",
        KeySchema=[{"AttributeName": "artist", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "artist", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    insert = "INSERT INTO Songs VALUE {'artist': ?, 'raw': ?, 'plays': ?}"
    given = [{"S": "Acme"}, {"B": b"\x00\xff"}, {"N": "1"}]
    assert client.execute_statement(Statement=insert, Parameters=given)["Items"] == []
    with pytest.raises(client.exceptions.DuplicateItemException) as duplicate:
        client.execute_statement(Statement=insert, Parameters=given)
    assert duplicate.value.response["Error"]["Message"] == "Duplicate primary key exists in table"
    select = "SELECT * FROM Songs WHERE artist = ?"
    answer = client.execute_statement(Statement=select, Parameters=[{"S": "Acme"}])
    assert answer["Items"] == [
        {"artist": {"S": "Acme"}, "raw": {"B": b"\x00\xff"}, "plays": {"N": "1"}}
    ]
    batch = client.batch_execute_statement(
        Statements=[
            {"Statement": "UPDATE Songs SET plays = plays + 1 WHERE artist = 'Acme'"},
            {"Statement": "INSERT INTO Songs VALUE {'artist': 'Other'}"},
            {"Statement": "oops"},
        ]
    )["Responses"]
    assert batch[:2] == [{"TableName": "Songs"}] * 2
    assert batch[2]["Error"]["Code"] == "ValidationError"
    exists = "EXISTS(SELECT * FROM Songs WHERE artist = 'Acme' AND plays = 2)"
    delete = "DELETE FROM Songs WHERE artist = 'Other'"
    client.execute_transaction(TransactStatements=[{"Statement": exists}, {"Statement": delete}])
    with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
        client.execute_transaction(
            TransactStatements=[{"Statement": exists.replace("2", "7")}, {"Statement": delete}]
        )
    assert [reason["Code"] for reason in cancelled.value.response["CancellationReasons"]] == [
        "ConditionalCheckFailed",
        "None",
    ]
    with pytest.raises(ClientError, match="Statement wasn't well formed, can't be processed: "):
        client.execute_statement(Statement="SELECT FROM")
    pages = client.execute_statement(Statement="SELECT artist FROM Songs", Limit=1)
    assert pages["Items"] == [{"artist": {"S": "Acme"}}]
    rest = client.execute_statement(
        Statement="SELECT artist FROM Songs", NextToken=pages["NextToken"]
    )
    assert rest["Items"] == []
    assert "NextToken" not in rest
