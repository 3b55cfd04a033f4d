"""States that a table keeps and describes, through boto3: insights, Kinesis, policies, capacity."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from bigtime.engine import Engine
from tests.engine.calls import Clock, index, key_schema, make_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOW = 1_700_000_000.0
KINESIS = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
OTHER_KINESIS = "arn:aws:kinesis:us-east-1:000000000000:stream/others"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Things"
INVALID = "One or more parameter values were invalid: "
NO_POLICY_FOUND = "Resource-based policy not found for the provided ResourceArn: "


@pytest.fixture
def client(engine: Engine) -> DynamoDBClient:
    make_table(
        engine,
        {"p": "S", "s": "S", "d": "S"},
        name="Things",
        local=(index("local", key_schema("p", "d")),),
        globally=(index("by-d", key_schema("d")),),
    )
    return engine.boto3_client()


def refusal(act: Callable[[], Any]) -> tuple[str, str]:
    """The code and the message of the error that boto3 raises."""
    with pytest.raises(ClientError) as caught:
        act()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def body(answer: Any) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "ResponseMetadata"}


# --- Contributor insights -------------------------------------------------------------------


def test_insights_are_switched_on_and_off() -> None:
    with Engine.memory(clock=Clock(), housekeeping=False) as engine:
        make_table(engine, {"p": "S", "s": "S"}, name="Things")
        client = engine.boto3_client()
        fresh = {"TableName": "Things", "ContributorInsightsStatus": "DISABLED"}
        assert body(client.describe_contributor_insights(TableName="Things")) == fresh
        answer = client.update_contributor_insights(
            TableName="Things", ContributorInsightsAction="ENABLE"
        )
        mode = "ACCESSED_AND_THROTTLED_KEYS"
        assert body(answer) == {
            "TableName": "Things",
            "ContributorInsightsStatus": "ENABLING",
            "ContributorInsightsMode": mode,
        }
        described = client.describe_contributor_insights(TableName="Things")
        assert described["ContributorInsightsStatus"] == "ENABLED"
        assert described["ContributorInsightsMode"] == mode
        assert described["LastUpdateDateTime"].timestamp() == NOW
        assert described["ContributorInsightsRuleList"] == [
            f"DynamoDBContributorInsights-{rule}-Things-1700000000000"
            for rule in ("PKC", "SKC", "PKT", "SKT")
        ]
        client.update_contributor_insights(TableName="Things", ContributorInsightsAction="DISABLE")
        described = client.describe_contributor_insights(TableName="Things")
        assert described["ContributorInsightsStatus"] == "DISABLED"
        assert "ContributorInsightsRuleList" not in described


def test_insights_that_are_as_they_were_asked_for_stay(client: DynamoDBClient) -> None:
    """(DDB-TABLE-091 and -341 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""

    def answer(action: Any, **mode: Any) -> Any:
        update = partial(client.update_contributor_insights, TableName="Things", **mode)
        return body(update(ContributorInsightsAction=action))

    fresh = {"TableName": "Things", "ContributorInsightsStatus": "DISABLED"}
    assert answer("DISABLE") == fresh
    throttled: Any = {"ContributorInsightsMode": "THROTTLED_KEYS"}
    assert answer("ENABLE", **throttled)["ContributorInsightsStatus"] == "ENABLING"
    described = client.describe_contributor_insights(TableName="Things")
    on = {"TableName": "Things", "ContributorInsightsStatus": "ENABLED", **throttled}
    assert answer("ENABLE", **throttled) == on
    assert body(client.describe_contributor_insights(TableName="Things")) == body(described)
    assert answer("ENABLE") == {
        "TableName": "Things",
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS",
    }
    assert answer("DISABLE")["ContributorInsightsStatus"] == "DISABLING"
    assert answer("DISABLE")["ContributorInsightsStatus"] == "DISABLED"


def test_insights_of_throttled_keys_have_fewer_rules(client: DynamoDBClient) -> None:
    answer = client.update_contributor_insights(
        TableName="Things",
        IndexName="by-d",
        ContributorInsightsAction="ENABLE",
        ContributorInsightsMode="THROTTLED_KEYS",
    )
    assert (answer["IndexName"], answer["ContributorInsightsMode"]) == ("by-d", "THROTTLED_KEYS")
    described = client.describe_contributor_insights(TableName="Things", IndexName="by-d")
    (rule,) = described["ContributorInsightsRuleList"]
    assert rule.startswith("DynamoDBContributorInsights-PKT-Things-by-d-")
    table = client.describe_contributor_insights(TableName="Things")
    assert table["ContributorInsightsStatus"] == "DISABLED"


def test_insights_are_listed_page_by_page(engine: Engine, client: DynamoDBClient) -> None:
    make_table(engine, {"p": "S"}, name="Another", keys=("p",))
    for name in ("Things", "Another"):
        client.update_contributor_insights(TableName=name, ContributorInsightsAction="ENABLE")
    client.update_contributor_insights(
        TableName="Things", IndexName="by-d", ContributorInsightsAction="ENABLE"
    )
    pages: list[Any] = []
    token: dict[str, str] = {}
    while True:
        page = client.list_contributor_insights(MaxResults=2, **token)
        pages.append([(e["TableName"], e.get("IndexName")) for e in summaries(page)])
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert pages == [[("Another", None), ("Things", None)], [("Things", "by-d")]]
    client.update_contributor_insights(TableName="Another", ContributorInsightsAction="DISABLE")
    assert summaries(client.list_contributor_insights(TableName="Another")) == []


def summaries(page: Any) -> list[Any]:
    listed: list[Any] = page["ContributorInsightsSummaries"]
    return listed


def test_insights_go_with_their_index(client: DynamoDBClient) -> None:
    client.update_contributor_insights(
        TableName="Things", IndexName="by-d", ContributorInsightsAction="ENABLE"
    )
    delete: Any = [{"Delete": {"IndexName": "by-d"}}]
    client.update_table(TableName="Things", GlobalSecondaryIndexUpdates=delete)
    assert summaries(client.list_contributor_insights()) == []
    create: Any = [{"Create": index("by-d", key_schema("d"))}]
    client.update_table(
        TableName="Things",
        AttributeDefinitions=[{"AttributeName": "d", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=create,
    )
    described = client.describe_contributor_insights(TableName="Things", IndexName="by-d")
    assert described["ContributorInsightsStatus"] == "DISABLED"


def test_insights_need_a_table_or_a_global_index(client: DynamoDBClient) -> None:
    missing = ("ResourceNotFoundException", "Requested resource not found: Table: none not found")
    assert refusal(lambda: client.describe_contributor_insights(TableName="none")) == missing
    assert refusal(lambda: client.list_contributor_insights(TableName="none")) == missing
    for name in ("local", "nothing"):
        asked: Any = {"TableName": "Things", "IndexName": name}
        enable = partial(
            client.update_contributor_insights, **asked, ContributorInsightsAction="ENABLE"
        )
        assert refusal(enable) == (
            "ResourceNotFoundException",
            f"Requested resource not found: Index: {name} not found for table: Things",
        )


# --- Kinesis --------------------------------------------------------------------------------

WRONG_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "


def destinations(client: DynamoDBClient) -> Any:
    answer = client.describe_kinesis_streaming_destination(TableName="Things")
    return answer["KinesisDataStreamDestinations"]


def test_a_kinesis_destination_comes_changes_and_goes(client: DynamoDBClient) -> None:
    assert destinations(client) == []
    answer = client.enable_kinesis_streaming_destination(TableName="Things", StreamArn=KINESIS)
    assert body(answer) == {
        "TableName": "Things",
        "StreamArn": KINESIS,
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {},
    }
    active = {"StreamArn": KINESIS, "DestinationStatus": "ACTIVE"}
    assert destinations(client) == [active]
    finer: Any = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    changed = client.update_kinesis_streaming_destination(
        TableName="Things", StreamArn=KINESIS, UpdateKinesisStreamingConfiguration=finer
    )
    assert changed["DestinationStatus"] == "UPDATING"
    assert changed["UpdateKinesisStreamingConfiguration"] == finer
    assert destinations(client) == [{**active, **finer}]
    gone = client.disable_kinesis_streaming_destination(TableName="Things", StreamArn=KINESIS)
    assert gone["DestinationStatus"] == "DISABLING"
    assert destinations(client) == [{**active, **finer, "DestinationStatus": "DISABLED"}]
    client.enable_kinesis_streaming_destination(
        TableName="Things",
        StreamArn=OTHER_KINESIS,
        EnableKinesisStreamingConfiguration=finer,
    )
    states = [(each["StreamArn"], each["DestinationStatus"]) for each in destinations(client)]
    assert states == [(KINESIS, "DISABLED"), (OTHER_KINESIS, "ACTIVE")]


def test_a_kinesis_destination_in_the_wrong_state_is_refused(client: DynamoDBClient) -> None:
    off = (
        "ValidationException",
        f"{WRONG_STATE}KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.",
    )
    named: Any = {"TableName": "Things", "StreamArn": KINESIS}
    precision: Any = {"ApproximateCreationDateTimePrecision": "MILLISECOND"}
    finer: Any = {"UpdateKinesisStreamingConfiguration": precision}
    assert refusal(lambda: client.disable_kinesis_streaming_destination(**named)) == off
    assert refusal(lambda: client.update_kinesis_streaming_destination(**named, **finer)) == (
        "ValidationException",
        f"{WRONG_STATE}Kinesis streaming is not in ACTIVE state. Updates are only allowed in "
        f"ACTIVE state. TableName: Things, kdsArn: {KINESIS}",
    )
    assert refusal(lambda: client.update_kinesis_streaming_destination(**named)) == (
        "ValidationException",
        "Streaming destination cannot be updated with given parameters: "
        "UpdateKinesisStreamingConfiguration cannot be null or contain only null values",
    )
    client.enable_kinesis_streaming_destination(**named)
    twice = (
        "ValidationException",
        f"{WRONG_STATE}EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to "
        "perform ENABLE operation.",
    )
    for arn in (KINESIS, OTHER_KINESIS):
        again = partial(
            client.enable_kinesis_streaming_destination, TableName="Things", StreamArn=arn
        )
        assert refusal(again) == twice
    table_id = client.describe_table(TableName="Things")["Table"]["TableId"]
    assert refusal(lambda: client.update_kinesis_streaming_destination(**named, **finer)) == (
        "ValidationException",
        "Invalid Request: Precision is already set to the desired value of MILLISECOND for "
        f"tableId: {table_id}, kdsArn: {KINESIS}",
    )


def test_a_kinesis_destination_needs_a_table_and_a_stream(client: DynamoDBClient) -> None:
    missing = ("ResourceNotFoundException", "Requested resource not found: Table: none not found")
    named: Any = {"TableName": "none", "StreamArn": KINESIS}
    assert refusal(lambda: client.enable_kinesis_streaming_destination(**named)) == missing
    assert refusal(lambda: client.disable_kinesis_streaming_destination(**named)) == missing
    assert (
        refusal(lambda: client.describe_kinesis_streaming_destination(TableName="none")) == missing
    )


def test_a_stream_that_cannot_be_used_is_told_by_the_destination(client: DynamoDBClient) -> None:
    """As seen on AWS: DDB-TABLE-318 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks."""
    elsewhere = KINESIS.replace("us-east-1", "us-west-2")
    for arn, why in (
        (f"{ARN}/stream/2026-01-01T00:00:00.000", "User does not have a permission to use"),
        (elsewhere, "belongs to a stream which is not in the current region"),
    ):
        answer = client.enable_kinesis_streaming_destination(TableName="Things", StreamArn=arn)
        assert answer["DestinationStatus"] == "ENABLING"
        (found,) = (each for each in destinations(client) if each["StreamArn"] == arn)
        assert found["DestinationStatus"] == "ENABLE_FAILED"
        assert why in found["DestinationStatusDescription"]
    client.enable_kinesis_streaming_destination(TableName="Things", StreamArn=KINESIS)
    states = [each["DestinationStatus"] for each in destinations(client)]
    assert sorted(states) == ["ACTIVE", "ENABLE_FAILED", "ENABLE_FAILED"]


# --- Auto scaling ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Things", "none"])
def test_a_table_without_replicas_has_no_replica_auto_scaling(
    client: DynamoDBClient, name: str
) -> None:
    missing = ("ResourceNotFoundException", f"Global table with name: '{name}' does not exist.")
    assert refusal(lambda: client.describe_table_replica_auto_scaling(TableName=name)) == missing
    assert refusal(lambda: client.update_table_replica_auto_scaling(TableName=name)) == missing


# --- Resource policies ----------------------------------------------------------------------


INVALID_ACTIONS = "Invalid policy document: The following action names are invalid: "


def policy(action: str | list[str] = "dynamodb:GetItem", resource: str = ARN) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::000000000000:root"},
        "Action": action,
        "Resource": resource,
    }
    # Without white space, as AWS keeps it.
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, separators=(",", ":"))


def test_a_policy_is_put_read_and_deleted(client: DynamoDBClient) -> None:
    first = client.put_resource_policy(ResourceArn=ARN, Policy=policy())["RevisionId"]
    assert body(client.get_resource_policy(ResourceArn=ARN)) == {
        "Policy": policy(),
        "RevisionId": first,
    }
    same = json.dumps(json.loads(policy()), indent=2)
    assert client.put_resource_policy(ResourceArn=ARN, Policy=same)["RevisionId"] == first
    other = policy("dynamodb:Query")
    second = client.put_resource_policy(ResourceArn=ARN, Policy=other, ExpectedRevisionId=first)[
        "RevisionId"
    ]
    assert second != first
    assert client.delete_resource_policy(ResourceArn=ARN)["RevisionId"] == second
    assert body(client.delete_resource_policy(ResourceArn=ARN)) == {}
    assert refusal(lambda: client.get_resource_policy(ResourceArn=ARN)) == (
        "PolicyNotFoundException",
        NO_POLICY_FOUND + ARN,
    )


def test_a_policy_of_another_revision_stays(client: DynamoDBClient) -> None:
    put, delete = client.put_resource_policy, client.delete_resource_policy
    none: Any = {"ResourceArn": ARN, "ExpectedRevisionId": "NO_POLICY"}
    revision = put(**none, Policy=policy())["RevisionId"]
    assert refusal(lambda: put(**none, Policy=policy("dynamodb:Query"))) == (
        "PolicyNotFoundException",
        f"{NO_POLICY_FOUND}Requested policy update expecting none to be present for table Things, "
        f"but a policy exists with revision id {revision}.",
    )
    stale: Any = {"ResourceArn": ARN, "ExpectedRevisionId": "1"}
    refused = (
        "PolicyNotFoundException",
        f"{NO_POLICY_FOUND}Requested update for policy with revision id 1, but the policy "
        f"associated to target table Things has revision id {revision}.",
    )
    assert refusal(lambda: put(**stale, Policy=policy("dynamodb:Query"))) == refused
    assert refusal(lambda: delete(**stale)) == refused
    assert client.get_resource_policy(ResourceArn=ARN)["RevisionId"] == revision
    delete(ResourceArn=ARN, ExpectedRevisionId=revision)
    assert refusal(lambda: delete(**stale))[0] == "PolicyNotFoundException"


def test_a_delete_that_expects_a_revision_fails_without_a_policy(client: DynamoDBClient) -> None:
    for expected in ("1", "NO_POLICY"):
        code, message = refusal(
            partial(client.delete_resource_policy, ResourceArn=ARN, ExpectedRevisionId=expected)
        )
        assert code == "PolicyNotFoundException"
        assert message == (
            f"{NO_POLICY_FOUND}Requested update for policy with revision id {expected}, "
            "but no policy is associated to target table Things."
        )


def test_a_stream_has_a_policy_of_its_own(client: DynamoDBClient) -> None:
    stream: Any = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    client.update_table(TableName="Things", StreamSpecification=stream)
    arn = client.describe_table(TableName="Things")["Table"]["LatestStreamArn"]
    text = policy("dynamodb:GetRecords", arn)
    client.put_resource_policy(ResourceArn=arn, Policy=text)
    assert client.get_resource_policy(ResourceArn=arn)["Policy"] == text
    assert refusal(lambda: client.get_resource_policy(ResourceArn=ARN))[0] == (
        "PolicyNotFoundException"
    )
    assert refusal(lambda: client.get_resource_policy(ResourceArn=f"{ARN}/stream/2000")) == (
        "ResourceNotFoundException",
        "Requested resource not found: Stream: 2000 not found for Table: Things",
    )


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("Things", INVALID + "ARNs must start with 'arn:': Things"),
        (
            f"{ARN}/backup/1",
            INVALID + f"Provided Arn is not a DynamoDB resource arn: {ARN}/backup/1",
        ),
        (
            ARN.replace("000000000000", "111111111111"),
            "This action is only supported by accounts that match "
            "the resource owner\u2019s account.",
        ),
        (
            ARN.replace("us-east-1", "eu-west-1"),
            INVALID + f"Invalid resource Arn: {ARN.replace('us-east-1', 'eu-west-1')}",
        ),
        (
            f"{ARN}/index/by-d",
            INVALID + "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {ARN}/index/by-d",
        ),
    ],
)
def test_a_policy_belongs_to_a_table_or_a_stream(
    client: DynamoDBClient, arn: str, message: str
) -> None:
    refused = ("ValidationException", message)
    assert refusal(lambda: client.get_resource_policy(ResourceArn=arn)) == refused
    assert refusal(lambda: client.put_resource_policy(ResourceArn=arn, Policy=policy())) == refused
    assert refusal(lambda: client.delete_resource_policy(ResourceArn=arn)) == refused


def test_a_policy_needs_its_table(client: DynamoDBClient) -> None:
    arn = ARN.replace("Things", "none")
    missing = ("ResourceNotFoundException", "Requested resource not found: Table: none not found")
    assert refusal(lambda: client.get_resource_policy(ResourceArn=arn)) == missing
    assert refusal(lambda: client.put_resource_policy(ResourceArn=arn, Policy=policy())) == missing


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "Invalid policy document: This policy contains invalid Json"),
        # DDB-TABLE-457 of https://github.com/aws-controllers-k8s/dynamodb-controller
        ("[]", "Invalid policy document: This policy contains invalid Json"),
        ("null", "Invalid policy document: This text appears not to be a policy"),
        ("{}", "Invalid policy document: Syntax error at position (1,3)"),
        (
            '{"Statement": []}',
            "Invalid policy document: Could not parse the policy: Statement is empty!",
        ),
        (
            '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*"}]}',
            "Invalid policy document: Missing required field Resource",
        ),
        (policy() + " " * 20_480, "Maximum policy size of 20480 bytes exceeded"),
        (policy("s3:GetObject"), INVALID_ACTIONS + '"s3:GetObject"'),
        (
            policy(["dynamodb:Query", "dynamodb:GetRecords", "dynamodb:ListStreams"]),
            INVALID_ACTIONS + '"dynamodb:GetRecords", "dynamodb:ListStreams"',
        ),
    ],
)
def test_a_policy_has_a_form(client: DynamoDBClient, text: str, problem: str) -> None:
    assert refusal(lambda: client.put_resource_policy(ResourceArn=ARN, Policy=text)) == (
        "ValidationException",
        INVALID + problem,
    )


def test_a_policy_is_kept_in_one_form(client: DynamoDBClient) -> None:
    """(DDB-TABLE-207, -208 and -351 to -355 of aws-controllers-k8s/dynamodb-controller)"""
    role = "arn:aws:iam::000000000000:role/reader"
    statement = {
        "Resource": [ARN],
        "Action": ["dynamodb:Query", "dynamodb:GetItem", "dynamodb:GetItem"],
        "Condition": {"StringEquals": {"aws:PrincipalAccount": ["111122223333"]}},
        "Principal": {"AWS": ["111122223333", role, "arn:aws:iam::111122223333:root"]},
        "Effect": "Allow",
    }
    first = client.put_resource_policy(ResourceArn=ARN, Policy=json.dumps({"Statement": statement}))
    kept = client.get_resource_policy(ResourceArn=ARN)["Policy"]
    assert kept == (
        '{"Version":"2008-10-17","Statement":[{"Effect":"Allow",'
        f'"Principal":{{"AWS":["arn:aws:iam::111122223333:root","{role}"]}},'
        '"Action":["dynamodb:Query","dynamodb:GetItem","dynamodb:GetItem"],'
        f'"Resource":"{ARN}",'
        '"Condition":{"StringEquals":{"aws:PrincipalAccount":"111122223333"}}}]}'
    )
    again = client.put_resource_policy(ResourceArn=ARN, Policy=kept)
    assert again["RevisionId"] == first["RevisionId"]


def policy_for(effect: str, action: str, **more: Any) -> str:
    statement = {"Effect": effect, "Principal": "*", "Action": action, "Resource": ARN, **more}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_a_policy_lets_not_everybody_in_and_locks_nobody_out(client: DynamoDBClient) -> None:
    """(DDB-TABLE-210 and -356 of aws-controllers-k8s/dynamodb-controller)"""
    put = partial(client.put_resource_policy, ResourceArn=ARN)
    for action in ("dynamodb:GetItem", "*"):
        assert refusal(partial(put, Policy=policy_for("Allow", action))) == (
            "ValidationException",
            "Resource-based policy grants unbounded access in one or more elements. "
            "Please revise the policy to ensure least-privilege form of access",
        )
    some = {"StringEquals": {"aws:PrincipalAccount": "111122223333"}}
    put(Policy=policy_for("Allow", "dynamodb:GetItem", Condition=some))
    put(Policy=policy_for("Deny", "dynamodb:DeleteResourcePolicy"))
    locked = policy_for("Deny", "dynamodb:*")
    assert refusal(partial(put, Policy=locked)) == (
        "AccessDeniedException",
        "The new resource policy will not allow you to update the resource policy in the future.",
    )
    put(Policy=locked, ConfirmRemoveSelfResourceAccess=True)


def test_the_policy_of_a_stream_names_actions_of_streams(client: DynamoDBClient) -> None:
    client.update_table(
        TableName="Things",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    stream = client.describe_table(TableName="Things")["Table"]["LatestStreamArn"]
    read = policy(["dynamodb:GetRecords", "dynamodb:DescribeStream"], stream)
    client.put_resource_policy(ResourceArn=stream, Policy=read)
    wrong = policy("dynamodb:ListStreams", stream)
    assert refusal(lambda: client.put_resource_policy(ResourceArn=stream, Policy=wrong)) == (
        "ValidationException",
        INVALID + INVALID_ACTIONS + '"dynamodb:ListStreams"',
    )


# --- Together -------------------------------------------------------------------------------


def test_a_new_table_may_bring_its_policy_and_capacity(engine: Engine) -> None:
    client = engine.boto3_client()
    create: Any = {
        "TableName": "Things",
        "KeySchema": key_schema("p"),
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "ResourcePolicy": policy(),
        "WarmThroughput": {"ReadUnitsPerSecond": 15_000, "WriteUnitsPerSecond": 5_000},
        "OnDemandThroughput": {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50},
    }
    client.create_table(**create)
    assert client.get_resource_policy(ResourceArn=ARN)["Policy"] == policy()
    table = client.describe_table(TableName="Things")["Table"]
    assert table["WarmThroughput"] == {**create["WarmThroughput"], "Status": "ACTIVE"}
    assert table["OnDemandThroughput"] == create["OnDemandThroughput"]
    client.update_table(TableName="Things", WarmThroughput={"WriteUnitsPerSecond": 6_000})
    warm = client.describe_table(TableName="Things")["Table"]["WarmThroughput"]
    assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == (15_000, 6_000)


def test_states_outlive_the_process_and_not_the_table(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    with Engine.open(path) as engine:
        make_table(engine, {"p": "S"}, name="Things", keys=("p",))
        client = engine.boto3_client()
        client.update_contributor_insights(TableName="Things", ContributorInsightsAction="ENABLE")
        client.enable_kinesis_streaming_destination(TableName="Things", StreamArn=KINESIS)
        client.put_resource_policy(ResourceArn=ARN, Policy=policy())
    with Engine.open(path) as engine:
        client = engine.boto3_client()
        assert len(summaries(client.list_contributor_insights())) == 1
        assert destinations(client)[0]["DestinationStatus"] == "ACTIVE"
        assert client.get_resource_policy(ResourceArn=ARN)["Policy"] == policy()
        client.delete_table(TableName="Things")
        make_table(engine, {"p": "S"}, name="Things", keys=("p",))
        assert summaries(client.list_contributor_insights()) == []
        assert destinations(client) == []
        assert refusal(lambda: client.get_resource_policy(ResourceArn=ARN))[0] == (
            "PolicyNotFoundException"
        )
