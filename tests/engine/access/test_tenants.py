"""A tenant's policy against whatever a tenant may send: nothing of another tenant comes back."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from bigtime.engine import Engine
from bigtime.engine.access import UserTransport
from bigtime.engine.iam import Principal
from bigtime.wire import AccessDeniedException, DynamoDBError, Request
from tests.engine.calls import call, index, key_schema, make_table, s

CALLS = 10_000
MINE, THEIRS = "TENANT#mine", "TENANT#theirs"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Tenants"
# AWS: a Scan is refused by its action, since no leading key can bind it.
ACTIONS = (
    "GetItem PutItem UpdateItem DeleteItem ConditionCheckItem Query BatchGetItem BatchWriteItem "
    "PartiQLSelect PartiQLInsert PartiQLUpdate PartiQLDelete"
).split()


@pytest.fixture
def tenant(engine: Engine) -> UserTransport:
    make_table(
        engine,
        {"p": "S", "s": "S", "g": "S"},
        name="Tenants",
        local=(index("Local", key_schema("p", "g")),),
        globally=(index("Global", key_schema("g", "s")),),
    )
    for name in (MINE, THEIRS):
        call(engine, "PutItem", TableName="Tenants", Item=item(name))
    own = {
        "Effect": "Allow",
        "Action": [f"dynamodb:{action}" for action in ACTIONS],
        "Resource": [ARN, f"{ARN}/index/*"],
        "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [MINE]}},
    }
    no_scans = {
        "Effect": "Deny",
        "Action": "dynamodb:PartiQLSelect",
        "Resource": "*",
        "Condition": {"Bool": {"dynamodb:FullTableScan": "true"}},
    }
    policy = {"Version": "2012-10-17", "Statement": [own, no_scans]}
    return engine.as_user(Principal.user("mine", [policy]))


def item(tenant: str) -> Any:
    return {"p": s(tenant), "s": s("a"), "g": s(tenant), "secret": s(f"of {tenant}")}


class Sender:
    """Makes requests, each of which reaches for at least one item of another tenant."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def request(self) -> Request:
        kinds = [
            self.single,
            self.query,
            self.scan,
            self.batch_get,
            self.batch_write,
            self.transact_get,
            self.transact_write,
            self.statement,
            self.statements,
            self.transaction,
        ]
        return self.source.choice(kinds)()

    def key(self, tenant: str) -> Any:
        return {"p": s(tenant), "s": s(self.source.choice("ab"))}

    def tenants(self) -> list[str]:
        """Some tenants in any order, the other always among them."""
        found = [THEIRS, *[MINE] * self.source.randrange(3)]
        self.source.shuffle(found)
        return found

    def table(self) -> str:
        return self.source.choice(["Tenants", ARN])

    def keys(self) -> list[Any]:
        return [{"p": s(tenant), "s": s(f"{place}")} for place, tenant in enumerate(self.tenants())]

    def single(self) -> Request:
        table = {"TableName": self.table()}
        match self.source.randrange(4):
            case 0:
                return Request("GetItem", {**table, "Key": self.key(THEIRS)})
            case 1:
                return Request("PutItem", {**table, "Item": item(THEIRS)})
            case 2:
                update = {"UpdateExpression": "REMOVE secret", "ReturnValues": "ALL_OLD"}
                return Request("UpdateItem", {**table, "Key": self.key(THEIRS), **update})
            case _:
                gone = {"ReturnValues": "ALL_OLD"}
                return Request("DeleteItem", {**table, "Key": self.key(THEIRS), **gone})

    def query(self) -> Request:
        name, attribute = self.source.choice(
            [(None, "p"), ("Local", "p"), ("Global", "g"), (None, "#p"), ("Global", "#g")]
        )
        params: dict[str, Any] = {"TableName": self.table()}
        if name:
            params["IndexName"] = name
        if self.source.random() < 0.3:
            wanted = {"ComparisonOperator": "EQ", "AttributeValueList": [s(THEIRS)]}
            params["KeyConditions"] = {attribute.strip("#"): wanted}
            return Request("Query", params)
        text = self.source.choice(["{} = :v", ":v = {}", "({} = :v)"]).format(attribute)
        params["KeyConditionExpression"] = text
        params["ExpressionAttributeValues"] = {":v": s(THEIRS)}
        if attribute.startswith("#"):
            params["ExpressionAttributeNames"] = {attribute: attribute[1:]}
        return Request("Query", params)

    def scan(self) -> Request:
        index = self.source.choice([{}, {"IndexName": "Global"}, {"IndexName": "Local"}])
        return Request("Scan", {"TableName": self.table(), **index})

    def batch_get(self) -> Request:
        return Request("BatchGetItem", {"RequestItems": {self.table(): {"Keys": self.keys()}}})

    def batch_write(self) -> Request:
        requests = [
            {"DeleteRequest": {"Key": key}}
            if self.source.random() < 0.5
            else {"PutRequest": {"Item": {**key, "x": s("y")}}}
            for key in self.keys()
        ]
        return Request("BatchWriteItem", {"RequestItems": {self.table(): requests}})

    def transact_get(self) -> Request:
        gets = [{"Get": {"TableName": self.table(), "Key": key}} for key in self.keys()]
        return Request("TransactGetItems", {"TransactItems": gets})

    def transact_write(self) -> Request:
        return Request("TransactWriteItems", {"TransactItems": [*map(self.action, self.keys())]})

    def action(self, key: Any) -> Any:
        table = {"TableName": self.table()}
        match self.source.randrange(4):
            case 0:
                return {"Put": {**table, "Item": key}}
            case 1:
                return {"Delete": {**table, "Key": key}}
            case 2:
                return {"Update": {**table, "Key": key, "UpdateExpression": "REMOVE secret"}}
            case _:
                check = {
                    "ConditionExpression": "attribute_not_exists(secret)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
                return {"ConditionCheck": {**table, "Key": key, **check}}

    def text(self, tenant: str, place: int = 0) -> str:
        whole = f"p = '{tenant}' AND s = '{place}'"
        choices = [
            f"INSERT INTO \"Tenants\" VALUE {{'p': '{tenant}', 's': '{place}'}}",
            f"UPDATE Tenants SET x = 1 WHERE {whole} RETURNING ALL OLD *",
            f"DELETE FROM Tenants WHERE {whole} RETURNING ALL OLD *",
        ]
        return self.source.choice(choices)

    def statement(self) -> Request:
        listed = ", ".join(f"'{tenant}'" for tenant in self.tenants())
        choices = [
            self.text(THEIRS),
            f"SELECT * FROM Tenants WHERE p = '{THEIRS}'",
            f"SELECT * FROM Tenants WHERE p IN [{listed}]",
            f"SELECT * FROM Tenants WHERE p = '{MINE}' OR p = '{THEIRS}'",
            f"SELECT * FROM Tenants WHERE p = '{MINE}' OR s = 'a'",
            f"SELECT * FROM Tenants.\"Global\" WHERE g = '{THEIRS}'",
            "SELECT * FROM Tenants",
            'SELECT * FROM Tenants."Global"',
            f"SELECT * FROM Tenants WHERE NOT p = '{MINE}'",
            f"SELECT * FROM Tenants WHERE begins_with(p, '{THEIRS[:3]}')",
        ]
        return Request("ExecuteStatement", {"Statement": self.source.choice(choices)})

    def statements(self) -> Request:
        texts = [f"SELECT * FROM Tenants WHERE p = '{each}' AND s = 'a'" for each in self.tenants()]
        batch = [{"Statement": text} for text in texts]
        return Request("BatchExecuteStatement", {"Statements": batch})

    def transaction(self) -> Request:
        texts = [self.text(tenant, place) for place, tenant in enumerate(self.tenants())]
        return Request(
            "ExecuteTransaction", {"TransactStatements": [{"Statement": text} for text in texts]}
        )


def test_no_call_reaches_another_tenant(engine: Engine, tenant: UserTransport) -> None:
    sender = Sender(random.Random(12))
    before = call(engine, "Scan", TableName="Tenants")["Items"]
    let_through: list[tuple[Request, object]] = []
    for _ in range(CALLS):
        request = sender.request()
        try:
            response = tenant(request)
        except AccessDeniedException:
            continue
        except DynamoDBError as error:
            let_through.append((request, error))
            continue
        if request.operation != "BatchExecuteStatement" or THEIRS in str(
            [answer.get("Item") for answer in response["Responses"]]
        ):
            let_through.append((request, response))
    assert let_through == []
    assert call(engine, "Scan", TableName="Tenants")["Items"] == before


# --- What has no leading keys ---------------------------------------------------------------------

STREAM = f"{ARN}/stream/2026-01-01T00:00:00.000"
SOURCE = {"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON"}
WHOLE_TABLES: list[tuple[str, dict[str, Any]]] = [
    ("Scan", {"TableName": "Tenants"}),
    ("Scan", {"TableName": ARN, "IndexName": "Global"}),
    (
        "SearchVectors",
        {"TableName": "Tenants", "IndexName": "near", "SearchVector": [{"N": "1"}], "TopK": 1},
    ),
    ("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket"}),
    ("CreateBackup", {"TableName": "Tenants", "BackupName": "all"}),
    ("RestoreTableFromBackup", {"BackupArn": f"{ARN}/backup/1-a", "TargetTableName": "Copy"}),
    ("RestoreTableToPointInTime", {"SourceTableName": "Tenants", "TargetTableName": "Copy"}),
    ("ListStreams", {}),
    ("DescribeStream", {"StreamArn": STREAM}),
    (
        "GetShardIterator",
        {"StreamArn": STREAM, "ShardId": "s" * 28, "ShardIteratorType": "TRIM_HORIZON"},
    ),
    ("UpdateTable", {"TableName": "Tenants", "StreamSpecification": {"StreamEnabled": False}}),
    (
        "UpdateTable",
        {"TableName": "Tenants", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
    ),
    (
        "EnableKinesisStreamingDestination",
        {"TableName": "Tenants", "StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/all"},
    ),
    ("PutResourcePolicy", {"ResourceArn": ARN, "Policy": "{}"}),
    (
        "UpdateTimeToLive",
        {
            "TableName": "Tenants",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
    ),
    ("DeleteTable", {"TableName": "Tenants"}),
]


@pytest.mark.parametrize(("operation", "params"), WHOLE_TABLES)
def test_what_has_no_leading_keys_is_denied_where_they_must_be_there(
    engine: Engine, tenant: UserTransport, operation: str, params: Any
) -> None:
    """`ForAllValues` alone holds without a key; AWS's advice is to ask for the key by `Null`."""
    own = {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [MINE]},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    allowed = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", "Condition": own}
    policy = {"Version": "2012-10-17", "Statement": allowed}
    careful = engine.as_user(Principal.user("mine", [policy]))
    with pytest.raises(AccessDeniedException):
        careful(Request(operation, params))
    assert careful(Request("GetItem", {"TableName": ARN, "Key": {"p": s(MINE), "s": s("a")}}))


class OwnSender(Sender):
    """Makes the same requests about the tenant's own items."""

    def tenants(self) -> list[str]:
        return [MINE]

    def request(self) -> Request:
        request = super().request()
        text = orjson.dumps(request.params).decode()
        return Request(request.operation, orjson.loads(text.replace(THEIRS, MINE)))


def is_scan(request: Request) -> bool:
    text = request.params.get("Statement", "")
    scans = ("NOT p", "begins_with", "OR s")
    return request.operation == "Scan" or (
        text.startswith("SELECT") and ("WHERE" not in text or any(each in text for each in scans))
    )


def test_a_tenant_reaches_own_items_by_every_call_but_a_scan(tenant: UserTransport) -> None:
    sender = OwnSender(random.Random(12))
    for _ in range(500):
        request = sender.request()
        is_denied = False
        try:
            tenant(request)
        except AccessDeniedException:
            is_denied = True
        except DynamoDBError:
            pass  # allowed, and then refused for another reason
        assert is_denied is is_scan(request), request
