"""The Developer Guide's policies for fine-grained access control, each with what it lets through.

AWS: "Using IAM policy conditions for fine-grained access control"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
"""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.access import UserTransport
from bigtime.wire import AccessDeniedException, Request
from tests.engine.access.games import ARN, INDEX, allow, ask, deny, game, key, make_games, may, user
from tests.engine.calls import make_table, n, s

ITEM_ACTIONS = (
    "GetItem",
    "BatchGetItem",
    "Query",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
)
OWN = {"dynamodb:LeadingKeys": ["${aws:username}"]}


@pytest.fixture
def games(engine: Engine) -> Engine:
    make_games(engine)
    return engine


def of_user(name: str) -> dict[str, Any]:
    return {
        "KeyConditionExpression": "UserId = :u",
        "ExpressionAttributeValues": {":u": s(name)},
    }


# --- Items by their partition key -----------------------------------------------------------------


@pytest.fixture
def alice(games: Engine) -> UserTransport:
    """FullAccessToUserItems, the guide's second example, with PartiQL's actions."""
    partiql = ("PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")
    actions = (*ITEM_ACTIONS, "ConditionCheckItem", *partiql)
    return user(games, allow(*actions, ForAllValues__StringEquals=OWN))


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("GetItem", lambda u: {"Key": key(u)}),
        ("PutItem", lambda u: {"Item": game(u)}),
        (
            "UpdateItem",
            lambda u: {
                "Key": key(u),
                "UpdateExpression": "SET Wins = :w",
                "ExpressionAttributeValues": {":w": n(1)},
            },
        ),
        ("DeleteItem", lambda u: {"Key": key(u)}),
        ("Query", of_user),
        (
            "Query",
            lambda u: {
                "KeyConditions": {
                    "UserId": {"ComparisonOperator": "EQ", "AttributeValueList": [s(u)]}
                }
            },
        ),
        ("BatchGetItem", lambda u: {"RequestItems": {"GameScores": {"Keys": [key(u)]}}}),
        ("BatchGetItem", lambda u: {"RequestItems": {ARN: {"Keys": [key(u)]}}}),
        (
            "BatchWriteItem",
            lambda u: {"RequestItems": {"GameScores": [{"PutRequest": {"Item": game(u)}}]}},
        ),
        (
            "BatchWriteItem",
            lambda u: {"RequestItems": {"GameScores": [{"DeleteRequest": {"Key": key(u)}}]}},
        ),
        (
            "TransactGetItems",
            lambda u: {"TransactItems": [{"Get": {"TableName": "GameScores", "Key": key(u)}}]},
        ),
        (
            "TransactWriteItems",
            lambda u: {"TransactItems": [{"Put": {"TableName": "GameScores", "Item": game(u)}}]},
        ),
        (
            "TransactWriteItems",
            lambda u: {
                "TransactItems": [
                    {
                        "ConditionCheck": {
                            "TableName": "GameScores",
                            "Key": key(u),
                            "ConditionExpression": "attribute_exists(UserId)",
                        }
                    }
                ]
            },
        ),
        (
            "ExecuteStatement",
            lambda u: {
                "Statement": "SELECT * FROM GameScores WHERE UserId = ?",
                "Parameters": [s(u)],
            },
        ),
        (
            "ExecuteStatement",
            lambda u: {"Statement": f"SELECT * FROM GameScores WHERE UserId IN ['{u}']"},
        ),
        (
            "ExecuteStatement",
            lambda u: {
                "Statement": f"INSERT INTO GameScores VALUE {{'UserId': '{u}', 'GameTitle': 'x'}}"
            },
        ),
        (
            "ExecuteStatement",
            lambda u: {
                "Statement": f"UPDATE GameScores SET Wins = 1 WHERE UserId = '{u}' AND "
                "GameTitle = 'Galaxy Invaders'"
            },
        ),
        (
            "ExecuteStatement",
            lambda u: {
                "Statement": f"DELETE FROM GameScores WHERE UserId = '{u}' AND "
                "GameTitle = 'Galaxy Invaders'"
            },
        ),
        (
            "ExecuteTransaction",
            lambda u: {
                "TransactStatements": [
                    {
                        "Statement": f"EXISTS(SELECT * FROM GameScores WHERE UserId = '{u}' AND "
                        "GameTitle = 'Galaxy Invaders' AND TopScore > 0)"
                    },
                    {
                        "Statement": f"INSERT INTO GameScores VALUE {{'UserId': '{u}', "
                        "'GameTitle': 'new'}"
                    },
                ]
            },
        ),
    ],
)
def test_a_user_reaches_own_items_only(alice: UserTransport, operation: str, params: Any) -> None:
    assert may(alice, operation, **params("alice"))
    assert not may(alice, operation, **params("bob"))


def test_a_batch_with_one_item_of_another_is_denied_whole(alice: UserTransport) -> None:
    keys = {"GameScores": {"Keys": [key("alice"), key("bob")]}}
    assert not may(alice, "BatchGetItem", RequestItems=keys)
    items = [{"PutRequest": {"Item": game(name)}} for name in ("alice", "bob")]
    assert not may(alice, "BatchWriteItem", RequestItems={"GameScores": items})


def test_an_index_is_not_in_the_policy_of_its_table(alice: UserTransport) -> None:
    query = {
        "IndexName": "TopScoreDateTimeIndex",
        "KeyConditionExpression": "GameTitle = :g",
        "ExpressionAttributeValues": {":g": s("alice")},
    }
    assert not may(alice, "Query", **query)


def test_the_leading_key_of_an_index_is_its_own(games: Engine) -> None:
    invaders = {"dynamodb:LeadingKeys": ["Galaxy Invaders"]}
    reader = user(games, allow("Query", resource=INDEX, ForAllValues__StringEquals=invaders))
    query = {
        "IndexName": "TopScoreDateTimeIndex",
        "KeyConditionExpression": "GameTitle = :g",
    }
    for title, allowed in (("Galaxy Invaders", True), ("Meteor Blasters", False)):
        values = {":g": s(title)}
        assert may(reader, "Query", **query, ExpressionAttributeValues=values) is allowed


def test_leading_keys_do_not_bind_a_scan(games: Engine) -> None:
    """The guide: "Scan returns all items regardless of the leading keys"."""
    careless = user(games, allow("Scan", "PartiQLSelect", ForAllValues__StringEquals=OWN))
    found = ask(careless, "Scan")
    assert isinstance(found, dict) and found["Count"] == 2
    assert may(careless, "ExecuteStatement", Statement="SELECT * FROM GameScores")
    careful = user(
        games,
        allow("PartiQLSelect", ForAllValues__StringEquals=OWN),
        deny("PartiQLSelect", Bool={"dynamodb:FullTableScan": "true"}),
    )
    assert not may(careful, "ExecuteStatement", Statement="SELECT * FROM GameScores")
    assert may(
        careful, "ExecuteStatement", Statement="SELECT * FROM GameScores WHERE UserId = 'alice'"
    )


def test_numbers_are_one_key_however_they_are_written(games: Engine) -> None:
    make_table(games, {"p": "N"}, name="Numbers", keys=("p",))
    reader = user(
        games,
        allow("GetItem", resource="*"),
        deny("GetItem", resource="*", ForAnyValue__StringEquals={"dynamodb:LeadingKeys": "7"}),
    )
    for text in ("7", "7.0", "07", "0.7e1"):
        assert not may(reader, "GetItem", TableName="Numbers", Key={"p": n(text)})
    assert may(reader, "GetItem", TableName="Numbers", Key={"p": n(8)})


# --- Attributes -----------------------------------------------------------------------------------


@pytest.fixture
def scores(games: Engine) -> UserTransport:
    """LimitAccessToSpecificAttributes, the guide's third example, with the sort key in it."""
    return user(
        games,
        allow(
            "UpdateItem",
            "GetItem",
            "Query",
            "BatchGetItem",
            "Scan",
            ForAllValues__StringEquals={"dynamodb:Attributes": ["UserId", "GameTitle", "TopScore"]},
            StringEqualsIfExists={
                "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
            },
        ),
    )


@pytest.mark.parametrize(
    ("operation", "params", "allowed"),
    [
        ("GetItem", {"ProjectionExpression": "TopScore"}, True),
        ("GetItem", {"ProjectionExpression": "TopScore, PersonalDetails"}, False),
        ("GetItem", {"ProjectionExpression": "PersonalDetails.address"}, False),
        (
            "GetItem",
            {
                "ProjectionExpression": "#d",
                "ExpressionAttributeNames": {"#d": "PersonalDetails"},
            },
            False,
        ),
        ("GetItem", {"AttributesToGet": ["TopScore"]}, True),
        ("GetItem", {"AttributesToGet": ["PersonalDetails"]}, False),
        ("GetItem", {}, False),  # all attributes
        (
            "UpdateItem",
            {
                "UpdateExpression": "SET TopScore = :t",
                "ExpressionAttributeValues": {":t": n(1)},
            },
            True,
        ),
        (
            "UpdateItem",
            {"UpdateExpression": "SET TopScore = PersonalDetails"},
            False,
        ),
        (
            "UpdateItem",
            {
                "UpdateExpression": "SET TopScore = :t",
                "ConditionExpression": "PersonalDetails = :t OR TopScore = :t",
                "ExpressionAttributeValues": {":t": n(1)},
            },
            False,
        ),
        (
            "UpdateItem",
            {"AttributeUpdates": {"PersonalDetails": {"Action": "DELETE"}}},
            False,
        ),
        (
            "UpdateItem",
            {
                "UpdateExpression": "SET TopScore = :t",
                "ExpressionAttributeValues": {":t": n(1)},
                "ReturnValues": "ALL_OLD",
            },
            False,
        ),
        (
            "UpdateItem",
            {
                "UpdateExpression": "SET TopScore = :t",
                "ConditionExpression": "TopScore < :t",
                "ExpressionAttributeValues": {":t": n(1)},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
            False,
        ),
        ("Scan", {"ProjectionExpression": "TopScore"}, True),
        ("Scan", {}, False),
        ("Scan", {"Select": "COUNT"}, False),
        (
            "Scan",
            {
                "ProjectionExpression": "TopScore",
                "FilterExpression": "contains(PersonalDetails, :t)",
                "ExpressionAttributeValues": {":t": s("x")},
            },
            False,
        ),
        ("PutItem", {"Item": key("alice")}, False),
    ],
)
def test_attributes(scores: UserTransport, operation: str, params: Any, allowed: bool) -> None:
    keyed = {"Key": key("alice")} if operation in ("GetItem", "UpdateItem") else {}
    assert may(scores, operation, **keyed, **params) is allowed


def test_updates_of_certain_attributes_are_prevented(games: Engine) -> None:
    """PreventUpdatesOnCertainAttributes, the guide's fourth example."""
    player = user(
        games,
        allow(
            "UpdateItem",
            ForAllValues__StringNotLike={
                "dynamodb:Attributes": ["FreeGamesAvailable", "BossLevelUnlocked"]
            },
            StringEquals={"dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]},
        ),
    )
    update = {"Key": key("alice"), "ExpressionAttributeValues": {":x": n(1)}}
    assert may(player, "UpdateItem", **update, UpdateExpression="SET Wins = :x")
    assert not may(player, "UpdateItem", **update, UpdateExpression="SET BossLevelUnlocked = :x")
    assert not may(
        player,
        "UpdateItem",
        **update,
        UpdateExpression="SET Wins = :x, FreeGamesAvailable.today = :x",
    )


@pytest.mark.parametrize(
    ("select", "params", "allowed"),
    [
        ("SPECIFIC_ATTRIBUTES", {"ProjectionExpression": "Wins"}, True),
        ("SPECIFIC_ATTRIBUTES", {}, False),
        ("ALL_PROJECTED_ATTRIBUTES", {}, True),
        ("ALL_PROJECTED_ATTRIBUTES", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, True),
        ("ALL_PROJECTED_ATTRIBUTES", {"Select": "ALL_ATTRIBUTES"}, False),
        ("COUNT", {"Select": "COUNT"}, True),
    ],
)
def test_queries_of_projected_attributes(
    games: Engine, select: str, params: Any, allowed: bool
) -> None:
    """QueryOnlyProjectedIndexAttributes and QueryAllIndexAttributes, the guide's fifth example."""
    names = ["TopScoreDateTime", "GameTitle", "Wins", "Losses", "Attempts"]
    reader = user(
        games,
        allow(
            "Query",
            resource=INDEX,
            ForAllValues__StringEquals={"dynamodb:Attributes": names},
            StringEquals={"dynamodb:Select": select},
        ),
    )
    query = {
        "IndexName": "TopScoreDateTimeIndex",
        "KeyConditionExpression": "GameTitle = :g",
        "ExpressionAttributeValues": {":g": s("Galaxy Invaders")},
    }
    assert may(reader, "Query", **query, **params) is allowed


# --- Transactions and PartiQL ---------------------------------------------------------------------


def test_only_transactions_are_allowed(games: Engine) -> None:
    """AWS: "Using IAM with DynamoDB transactions", example 2."""
    actions = ("ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem", "GetItem")
    enclosed = {"dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"]}
    writer = user(games, allow(*actions, ForAnyValue__StringEquals=enclosed))
    get = {"Get": {"TableName": "GameScores", "Key": key("alice")}}
    assert may(writer, "TransactGetItems", TransactItems=[get])
    assert not may(writer, "GetItem", Key=key("alice"))
    reader = user(games, allow(*actions), deny(*actions, ForAnyValue__StringEquals=enclosed))
    assert not may(reader, "TransactGetItems", TransactItems=[get])
    assert may(reader, "GetItem", Key=key("alice"))


def test_no_item_is_returned_by_a_condition_check(games: Engine) -> None:
    """The same page, example 4."""
    silent = {"dynamodb:ReturnValues": "NONE"}
    writer = user(games, allow("ConditionCheckItem", "PutItem", StringEqualsIfExists=silent))
    check = {
        "TableName": "GameScores",
        "Key": key("alice"),
        "ConditionExpression": "attribute_exists(UserId)",
    }
    assert may(writer, "TransactWriteItems", TransactItems=[{"ConditionCheck": check}])
    shown = {**check, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    assert not may(writer, "TransactWriteItems", TransactItems=[{"ConditionCheck": shown}])


def test_partiql_has_actions_of_its_own(games: Engine) -> None:
    reader = user(games, allow("PartiQLSelect"))
    select = "SELECT * FROM GameScores WHERE UserId = 'alice'"
    assert may(reader, "ExecuteStatement", Statement=select)
    assert not may(reader, "Query", **of_user("alice"))
    statement = 'SELECT * FROM "GameScores"."TopScoreDateTimeIndex"'
    with pytest.raises(AccessDeniedException) as caught:
        reader(Request("ExecuteStatement", {"Statement": statement}))
    assert caught.value.message == (
        "User: arn:aws:iam::000000000000:user/alice is not authorized to perform: "
        f"dynamodb:PartiQLSelect on resource: {INDEX} because no identity-based policy allows "
        "the dynamodb:PartiQLSelect action"
    )
    enclosed = {"dynamodb:EnclosingOperation": "ExecuteTransaction"}
    transacting = user(games, allow("PartiQLSelect", StringEquals=enclosed))
    whole = f"{select} AND GameTitle = 'Galaxy Invaders'"
    assert not may(transacting, "ExecuteStatement", Statement=whole)
    assert may(transacting, "ExecuteTransaction", TransactStatements=[{"Statement": whole}])


def test_a_batch_of_statements_says_which_are_denied(alice: UserTransport) -> None:
    text = "SELECT TopScore FROM GameScores WHERE UserId = '{}' AND GameTitle = 'Galaxy Invaders'"
    names = ("bob", "alice", "bob")
    batch = [{"Statement": text.format(name)} for name in names]
    found = ask(alice, "BatchExecuteStatement", Statements=[*batch, {"Statement": "nonsense"}])
    assert isinstance(found, dict)
    answers = found["Responses"]
    assert [answer.get("Error", {}).get("Code") for answer in answers] == [
        "AccessDenied",
        None,
        "AccessDenied",
        "ValidationError",
    ]
    assert answers[1]["Item"] == {"TopScore": n(5842)}
    found = ask(alice, "BatchExecuteStatement", Statements=batch[:1])
    assert isinstance(found, dict)
    assert [answer["TableName"] for answer in found["Responses"]] == ["GameScores"]
