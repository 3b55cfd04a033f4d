"""The table of AWS's examples of fine-grained access, and requests to it as a user."""

from __future__ import annotations

from typing import Any

from bigtime.engine import Engine
from bigtime.engine.access import UserTransport
from bigtime.engine.iam import Principal
from bigtime.wire import AccessDeniedException, Request, Response, Transport
from tests.engine.calls import index, key_schema, make_table, n, s

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/GameScores"
INDEX = f"{ARN}/index/TopScoreDateTimeIndex"


def make_games(engine: Transport) -> None:
    """`GameScores`, with an item of alice and one of bob."""
    make_table(
        engine,
        {"UserId": "S", "GameTitle": "S", "TopScoreDateTime": "S"},
        name="GameScores",
        keys=("UserId", "GameTitle"),
        globally=(index("TopScoreDateTimeIndex", key_schema("GameTitle", "TopScoreDateTime")),),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    for user in ("alice", "bob"):
        engine(Request("PutItem", {"TableName": "GameScores", "Item": game(user)}))


def game(user: str, **more: Any) -> Any:
    return {
        **key(user),
        "TopScoreDateTime": s("2015-10-22"),
        "TopScore": n(5842),
        "PersonalDetails": s("secret"),
        **more,
    }


def key(user: str) -> Any:
    return {"UserId": s(user), "GameTitle": s("Galaxy Invaders")}


def allow(*actions: str, resource: Any = ARN, **condition: Any) -> dict[str, Any]:
    return statement("Allow", *actions, resource=resource, **condition)


def deny(*actions: str, resource: Any = ARN, **condition: Any) -> dict[str, Any]:
    return statement("Deny", *actions, resource=resource, **condition)


def statement(effect: str, *actions: str, resource: Any = ARN, **condition: Any) -> dict[str, Any]:
    """Conditions are given as `ForAllValues__StringEquals={...}`."""
    given = {
        "Effect": effect,
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": resource,
    }
    conditions = {name.replace("__", ":"): value for name, value in condition.items()}
    return {**given, "Condition": conditions} if condition else given


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def user(engine: Engine, *statements: dict[str, Any], name: str = "alice") -> UserTransport:
    documents = [policy(*statements)] if statements else []
    return engine.as_user(Principal.user(name, documents))


def ask(transport: UserTransport, operation: str, **params: Any) -> Response | str:
    """The response, or `denied`."""
    named = {} if operation in UNNAMED else {"TableName": "GameScores"}
    try:
        return transport(Request(operation, {**named, **params}))
    except AccessDeniedException:
        return "denied"


UNNAMED = frozenset(
    "BatchGetItem BatchWriteItem TransactGetItems TransactWriteItems ExecuteStatement ListTables "
    "ExecuteTransaction BatchExecuteStatement DescribeLimits GetShardIterator GetRecords "
    "DescribeStream TagResource UntagResource PutResourcePolicy GetResourcePolicy".split()
)


def may(transport: UserTransport, operation: str, **params: Any) -> bool:
    return ask(transport, operation, **params) != "denied"
