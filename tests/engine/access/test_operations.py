"""What each operation asks for: its resources, and the policies of tables and streams."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import orjson
import pytest
from botocore.exceptions import ClientError

from bigtime.engine import Engine
from bigtime.engine.access import UserTransport
from bigtime.engine.iam import Principal
from bigtime.store import AsyncStore, Store
from bigtime.wire import (
    AccessDeniedException,
    DynamoDBError,
    Request,
    ResourceNotFoundException,
    Steps,
)
from tests.engine.access.games import (
    ARN,
    INDEX,
    allow,
    ask,
    deny,
    game,
    key,
    make_games,
    may,
    policy,
    user,
)
from tests.engine.calls import call, n, s

EVERY_TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/*"


@pytest.fixture
def games(engine: Engine) -> Engine:
    make_games(engine)
    return engine


def denial(engine: Engine, operation: str, **params: Any) -> tuple[str, str]:
    """The action and the resource that a user without any policy is denied."""
    with pytest.raises(AccessDeniedException) as caught:
        user(engine)(Request(operation, params))
    words = caught.value.message.split("perform: ")[1].split(" because no")[0]
    action, _, resource = words.partition(" on resource: ")
    return action.removeprefix("dynamodb:"), resource


@pytest.mark.parametrize(
    ("operation", "params", "resource"),
    [
        ("DescribeTable", {"TableName": "GameScores"}, ARN),
        ("DescribeTable", {"TableName": ARN}, ARN),
        ("DescribeTable", {"TableName": "Absent"}, EVERY_TABLE.replace("*", "Absent")),
        ("DeleteTable", {"TableName": "GameScores"}, ARN),
        ("UpdateTable", {"TableName": "GameScores"}, ARN),
        ("ListTables", {}, EVERY_TABLE),
        ("ListStreams", {}, f"{EVERY_TABLE}/stream/*"),
        ("ListStreams", {"TableName": "GameScores"}, f"{ARN}/stream/*"),
        ("DescribeLimits", {}, "*"),
        ("DescribeEndpoints", {}, "*"),
        ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}, ARN),
        ("GetResourcePolicy", {"ResourceArn": ARN}, ARN),
        ("DescribeContributorInsights", {"TableName": "GameScores"}, ARN),
        (
            "DescribeGlobalTable",
            {"GlobalTableName": "GameScores"},
            "arn:aws:dynamodb::000000000000:global-table/GameScores",
        ),
        (
            "DescribeContributorInsights",
            {"TableName": "GameScores", "IndexName": "TopScoreDateTimeIndex"},
            INDEX,
        ),
        ("GetItem", {"TableName": "GameScores", "Key": key("alice")}, ARN),
        ("Scan", {"TableName": "GameScores", "IndexName": "TopScoreDateTimeIndex"}, INDEX),
    ],
)
def test_resources(games: Engine, operation: str, params: Any, resource: str) -> None:
    assert denial(games, operation, **params) == (operation, resource)


def test_a_shard_iterator_is_of_its_stream(games: Engine) -> None:
    stream = call(games, "ListStreams")["Streams"][0]["StreamArn"]
    shards = call(games, "DescribeStream", StreamArn=stream)["StreamDescription"]["Shards"]
    place = {
        "StreamArn": stream,
        "ShardId": shards[0]["ShardId"],
        "ShardIteratorType": "TRIM_HORIZON",
    }
    iterator = call(games, "GetShardIterator", **place)["ShardIterator"]
    assert denial(games, "GetRecords", ShardIterator=iterator) == ("GetRecords", stream)
    consumer = user(games, allow("GetRecords", resource=f"{ARN}/stream/*"))
    assert may(consumer, "GetRecords", ShardIterator=iterator)
    assert not may(consumer, "GetShardIterator", **place)


def test_what_a_transaction_asks_for_is_each_of_its_actions(games: Engine) -> None:
    actions = [
        {"Put": {"TableName": "GameScores", "Item": game("x")}},
        {"Delete": {"TableName": "GameScores", "Key": key("y")}},
    ]
    writer = user(games, allow("PutItem"))
    with pytest.raises(AccessDeniedException, match="perform: dynamodb:DeleteItem on resource"):
        writer(Request("TransactWriteItems", {"TransactItems": actions}))
    assert may(writer, "TransactWriteItems", TransactItems=actions[:1])
    assert not may(
        user(games, allow("TransactWriteItems")), "TransactWriteItems", TransactItems=actions
    )


def test_a_new_table_with_tags_needs_the_right_to_tag(engine: Engine) -> None:
    create = {
        "TableName": "GameScores",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "Tags": [{"Key": "team", "Value": "shop"}],
    }
    assert not may(user(engine, allow("CreateTable")), "CreateTable", **create)
    tagged = {"aws:RequestTag/team": "shop"}
    owner = user(engine, allow("CreateTable", "TagResource", StringEquals=tagged))
    create["Tags"][0]["Value"] = "other"  # type: ignore[index]
    assert not may(owner, "CreateTable", **create)
    create["Tags"][0]["Value"] = "shop"  # type: ignore[index]
    assert may(owner, "CreateTable", **create)
    by_tag = {"aws:ResourceTag/team": "${aws:PrincipalTag/team}"}
    document = policy(allow("DescribeTable", StringEquals=by_tag))
    for team, allowed in (("shop", True), ("press", False)):
        member = Principal.user("bob", [document], tags={"team": team})
        assert may(engine.as_user(member), "DescribeTable") is allowed


READ_AND_WRITE = "PutItem UpdateItem DeleteItem GetItem Query Scan BatchWriteItem".split()


@pytest.mark.parametrize("left_out", READ_AND_WRITE)
def test_a_restore_reads_and_writes_the_new_table(games: Engine, left_out: str) -> None:
    """AWS: "Using IAM with DynamoDB backup and restore"."""
    call(
        games,
        "UpdateContinuousBackups",
        TableName="GameScores",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    backup = call(games, "CreateBackup", TableName="GameScores", BackupName="nightly")
    backup_arn = backup["BackupDetails"]["BackupArn"]
    new = EVERY_TABLE.replace("*", "New")
    restores = ("RestoreTableFromBackup", "RestoreTableToPointInTime")
    from_old = allow(*restores, resource=[ARN, backup_arn, new])
    actions = [action for action in READ_AND_WRITE if action != left_out]
    restorer = user(games, from_old, allow(*actions, resource=new))
    to_new = {"TargetTableName": "New"}
    point = {"SourceTableName": "GameScores", "UseLatestRestorableTime": True}
    for operation, source in zip(restores, ({"BackupArn": backup_arn}, point), strict=True):
        with pytest.raises(AccessDeniedException, match=f"dynamodb:{left_out} on resource: {new}"):
            restorer(Request(operation, {**source, **to_new}))
    assert may(user(games, from_old, allow("*", resource=new)), restores[1], **point, **to_new)


def test_a_replica_needs_permissions_in_its_region(games: Engine) -> None:
    """AWS: "Using IAM with global tables"."""
    there = ARN.replace("us-east-1", "eu-west-1")
    call(
        games,
        "UpdateTable",
        TableName="GameScores",
        StreamSpecification={"StreamEnabled": False},
    )
    games.tidy()
    created = ["CreateTable", "CreateTableReplica", *READ_AND_WRITE]
    here = allow("UpdateTable", "UpdateTimeToLive")
    for left_out in created:
        actions = [action for action in created if action != left_out]
        assert not may(
            user(games, here, allow(*actions, resource=there)), "UpdateTable", **replica("Create")
        )
    asked_there = {"aws:RequestedRegion": "eu-west-1"}
    in_europe = allow(*created, resource="*", StringEquals=asked_there)
    assert may(user(games, here, in_europe), "UpdateTable", **replica("Create"))
    games.tidy()
    clear = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"}}
    assert not may(user(games, here), "UpdateTimeToLive", **clear)
    assert may(
        user(games, here, allow("UpdateTimeToLive", resource=there)), "UpdateTimeToLive", **clear
    )
    deleted = ("DeleteTable", "DeleteTableReplica")
    for action in deleted:
        assert not may(
            user(games, here, allow(action, resource=there)), "UpdateTable", **replica("Delete")
        )
    remover = user(games, here, allow(*deleted, resource=there))
    keep = {**deny("DeleteTable", resource=there), "Principal": "*"}
    ireland = games.in_region("eu-west-1")
    text = orjson.dumps(policy(keep)).decode()
    ireland(Request("PutResourcePolicy", {"ResourceArn": there, "Policy": text}))
    assert not may(remover, "UpdateTable", **replica("Delete"))
    ireland(Request("DeleteResourcePolicy", {"ResourceArn": there}))
    assert may(remover, "UpdateTable", **replica("Delete"))


def replica(kind: str) -> dict[str, Any]:
    return {"ReplicaUpdates": [{kind: {"RegionName": "eu-west-1"}}]}


def test_a_table_that_is_not_there_is_denied_before_it_is_missed(engine: Engine) -> None:
    get = Request("GetItem", {"TableName": "GameScores", "Key": key("alice")})
    with pytest.raises(AccessDeniedException):
        user(engine)(get)
    with pytest.raises(ResourceNotFoundException):
        user(engine, allow("GetItem"))(get)
    foreign = "arn:aws:dynamodb:us-east-1:999999999999:table/GameScores"
    with pytest.raises(AccessDeniedException, match="Access is denied"):
        user(engine, allow("GetItem", resource="*"))(
            Request("GetItem", {"TableName": foreign, "Key": key("alice")})
        )


def test_an_unknown_operation_is_unknown_to_all(engine: Engine) -> None:
    with pytest.raises(DynamoDBError) as caught:
        user(engine)(Request("MakeCoffee", {}))
    assert caught.value.code == "UnknownOperationException"


def test_each_region_is_judged_by_its_own_names_and_policies() -> None:
    there = ARN.replace("us-east-1", "eu-west-1")
    with Engine.memory(regions=["eu-west-1"]) as engine:
        ireland = engine.in_region("eu-west-1")
        for transport in (engine, ireland):
            make_games(transport)
        here_only = Principal.user("alice", [policy(allow("GetItem"))])
        there_only = Principal.user("bob", [policy(allow("GetItem", resource=there))])
        by_region = allow(
            "GetItem", resource="*", StringEquals={"aws:RequestedRegion": "eu-west-1"}
        )
        asked_there = Principal.user("carol", [policy(by_region)])
        for principal, regions in (
            (here_only, [None]),
            (there_only, ["eu-west-1"]),
            (asked_there, ["eu-west-1"]),
        ):
            for region in (None, "eu-west-1"):
                as_user = engine.as_user(principal, region=region)
                assert may(as_user, "GetItem", Key=key("alice")) is (region in regions)
        table_policy = orjson.dumps(
            policy(
                {
                    **allow("GetItem", resource=there),
                    "Principal": {"AWS": "arn:aws:iam::000000000000:user/dan"},
                }
            )
        ).decode()
        put = {"ResourceArn": there, "Policy": table_policy}
        ireland(Request("PutResourcePolicy", put))
        nobody = Principal.user("dan", [])
        assert may(engine.as_user(nobody, region="eu-west-1"), "GetItem", Key=key("alice"))
        assert not may(engine.as_user(nobody), "GetItem", Key=key("alice"))


# --- Conditions on the connection and the time ----------------------------------------------------


def test_conditions_on_the_connection(games: Engine) -> None:
    document = policy(
        allow(
            "GetItem",
            IpAddress={"aws:SourceIp": "10.0.0.0/8"},
            Bool={"aws:SecureTransport": "true"},
            DateGreaterThan={"aws:CurrentTime": "2020-01-01T00:00:00Z"},
        )
    )
    principal = Principal.user("alice", [document])
    for source, secure, allowed in (
        ("10.1.2.3", "true", True),
        ("10.1.2.3", "false", False),
        ("192.168.0.1", "true", False),
    ):
        about = {"aws:SourceIp": source, "aws:SecureTransport": secure}
        assert may(games.as_user(principal, about), "GetItem", Key=key("alice")) is allowed


# --- Resource policies ----------------------------------------------------------------------------


ALICE = {"AWS": "arn:aws:iam::000000000000:user/alice"}


def put_policy(engine: Engine, arn: str, *statements: dict[str, Any]) -> None:
    text = orjson.dumps(policy(*statements)).decode()
    call(engine, "PutResourcePolicy", ResourceArn=arn, Policy=text)


def test_a_resource_policy_adds_to_the_policies_of_a_user(games: Engine) -> None:
    put_policy(games, ARN, {**allow("GetItem"), "Principal": ALICE})
    assert may(user(games), "GetItem", Key=key("bob"))
    assert not may(user(games, name="bob"), "GetItem", Key=key("bob"))
    put_policy(games, ARN, {**deny("GetItem"), "Principal": "*"})
    with pytest.raises(AccessDeniedException, match="explicit deny in a resource-based policy"):
        user(games, allow("*"))(
            Request("GetItem", {"TableName": "GameScores", "Key": key("alice")})
        )
    call(games, "DeleteResourcePolicy", ResourceArn=ARN)
    assert not may(user(games), "GetItem", Key=key("bob"))


def test_a_table_and_its_stream_have_policies_apart(games: Engine) -> None:
    stream = call(games, "ListStreams")["Streams"][0]["StreamArn"]
    put_policy(games, stream, {**allow("*", resource=stream), "Principal": ALICE})
    assert may(user(games), "DescribeStream", StreamArn=stream)
    assert not may(user(games), "GetItem", Key=key("alice"))


def test_a_resource_policy_is_seen_when_another_process_has_set_it(games: Engine) -> None:
    alice = user(games)
    assert not may(alice, "GetItem", Key=key("bob"))
    with Engine.open(games.path, durability="relaxed", housekeeping=False) as other:
        put_policy(other, ARN, {**allow("GetItem"), "Principal": ALICE})
    assert may(alice, "GetItem", Key=key("bob"))


def test_a_resource_policy_that_cannot_be_evaluated_is_not_taken(games: Engine) -> None:
    with pytest.raises(DynamoDBError, match="there is no such operator") as caught:
        put_policy(games, ARN, {**deny("*", StringEqual={"a:b": "c"}), "Principal": "*"})
    assert caught.value.code == "ValidationException"


def test_a_denial_spells_its_message_with_a_capital(games: Engine) -> None:
    """So does AWS: https://github.com/sebdah/dynamic-dynamodb/issues/321."""
    with pytest.raises(AccessDeniedException) as caught:
        user(games)(Request("ListTables", {}))
    assert caught.value.body() == {
        "__type": "com.amazon.coral.service#AccessDeniedException",
        "Message": caught.value.message,
    }


# --- Ways to be a user ----------------------------------------------------------------------------


def test_boto3_and_stores_run_as_a_user(games: Engine) -> None:
    alice = user(games, allow("GetItem"))
    client = alice.boto3_client()
    assert client.get_item(TableName="GameScores", Key=key("alice"))["Item"] == game("alice")
    with pytest.raises(ClientError) as caught:
        client.delete_item(TableName="GameScores", Key=key("alice"))
    assert caught.value.response["Error"]["Code"] == "AccessDeniedException"


def test_a_pattern_runs_under_a_role(games: Engine) -> None:
    def scores(user_id: str) -> Steps[Any]:
        found = yield Request("GetItem", {"TableName": "GameScores", "Key": key(user_id)})
        return found["Item"]["TopScore"]

    mine = {"dynamodb:LeadingKeys": ["alice"]}
    role = Principal.role("player", [policy(allow("GetItem", ForAllValues__StringEquals=mine))])
    transport = games.as_user(role)
    with Store(transport) as store:
        assert store.run(scores("alice")) == n(5842)
        with pytest.raises(AccessDeniedException, match="assumed-role/player/bigtime"):
            store.run(scores("bob"))

    async def run_async(user_id: str) -> Any:
        async with AsyncStore(transport) as store:
            return await store.run(scores(user_id))

    assert asyncio.run(run_async("alice")) == n(5842)
    with pytest.raises(AccessDeniedException):
        asyncio.run(run_async("bob"))


def test_writes_and_reads_are_submitted(games: Engine) -> None:
    alice = user(games, allow("PutItem"))
    put = Request("PutItem", {"TableName": "GameScores", "Item": game("alice")})
    assert submit(alice, put) == ({}, None)
    get = Request("GetItem", {"TableName": "GameScores", "Key": key("alice")})
    response, error = submit(alice, get)
    assert response is None and isinstance(error, AccessDeniedException)


def submit(transport: UserTransport, request: Request) -> tuple[Any, BaseException | None]:
    outcome: Future[tuple[Any, BaseException | None]] = Future()
    transport.submit(request, lambda *words: outcome.set_result(words))
    return outcome.result(timeout=60)


def test_a_batch_of_statements_is_submitted(games: Engine) -> None:
    mine = {"dynamodb:LeadingKeys": ["alice"]}
    alice = user(games, allow("PartiQLSelect", ForAllValues__StringEquals=mine))
    text = "SELECT UserId FROM GameScores WHERE UserId = '{}' AND GameTitle = 'Galaxy Invaders'"
    outcomes: list[Any] = []
    for names in (("bob",), ("bob", "alice"), ("alice",)):
        batch = {"Statements": [{"Statement": text.format(name)} for name in names]}
        alice.submit(
            Request("BatchExecuteStatement", batch),
            lambda response, error: outcomes.append(response),
        )
    codes = [
        [each.get("Error", {}).get("Code") for each in found["Responses"]] for found in outcomes
    ]
    assert codes == [["AccessDenied"], ["AccessDenied", None], [None]]
    assert outcomes[1]["Responses"][1]["Item"] == {"UserId": s("alice")}
    assert ask(alice, "GetItem", Key=key("alice")) == "denied"
