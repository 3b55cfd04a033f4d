"""The quotas on throughput: what DescribeLimits reports, and requests beyond it."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.operations import quotas
from bigtime.wire import LimitExceededException
from tests.engine.calls import call, describe_table, key_schema

ALL = {"ProjectionType": "ALL"}
REFER = (
    "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher "
    "limits."
)


def units(read: int, write: int = 1) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def index(**more: Any) -> dict[str, Any]:
    return {"IndexName": "by-d", "KeySchema": key_schema("d"), "Projection": ALL, **more}


def create(engine: Engine, name: str = "Things", **more: Any) -> Any:
    declared = {"TableName": name, "KeySchema": key_schema("p"), **more}
    names = "pd" if "GlobalSecondaryIndexes" in more else "p"
    types = [{"AttributeName": each, "AttributeType": "S"} for each in names]
    return call(engine, "CreateTable", AttributeDefinitions=types, **declared)


def quota_error(engine: Engine, operation: str, **params: Any) -> str:
    with pytest.raises(LimitExceededException) as caught:
        call(engine, operation, **params)
    return caught.value.message


def test_limits_are_described(engine: Engine) -> None:
    assert call(engine, "DescribeLimits") == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_a_table_and_an_index_have_a_most_each(engine: Engine) -> None:
    """(DDB-TABLE-170 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    above = (
        "The requested ReadCapacityUnits{}, 40001, is above the per {} maximum for the account in "
        f"us-east-1. Per table maximum: 40000. {REFER}"
    )
    with pytest.raises(LimitExceededException) as caught:
        create(engine, ProvisionedThroughput=units(40_001))
    assert caught.value.message == above.format("", "table")
    with pytest.raises(LimitExceededException) as caught:
        create(
            engine,
            ProvisionedThroughput=units(1),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(40_001))],
        )
    assert caught.value.message == above.format(" for index by-d", "index")
    create(
        engine,
        ProvisionedThroughput=units(39_900),
        GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(200))],
    )
    more = {"TableName": "Things", "ProvisionedThroughput": units(40_001)}
    assert quota_error(engine, "UpdateTable", **more) == above.format("", "table")
    assert describe_table(engine, "Things")["ProvisionedThroughput"]["ReadCapacityUnits"] == 39_900


def test_the_tables_of_an_account_have_a_most_together(engine: Engine) -> None:
    """(DDB-TABLE-170 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    create(
        engine,
        ProvisionedThroughput=units(39_900),
        GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(236))],
    )
    with pytest.raises(LimitExceededException) as caught:
        create(engine, "Others", ProvisionedThroughput=units(40_000))
    assert caught.value.message == (
        "This request would have caused the ReadCapacityUnits limit to be exceeded for the account "
        "in us-east-1. Current ReadCapacityUnits reserved by the account: 40136. Limit: 80000. "
        f"Requested: 40000. {REFER}"
    )
    create(engine, "Others", ProvisionedThroughput=units(39_864))
    one_more = {"TableName": "Others", "ProvisionedThroughput": units(39_865)}
    assert "Current ReadCapacityUnits reserved by the account: 80000." in quota_error(
        engine, "UpdateTable", **one_more
    )
    call(engine, "UpdateTable", TableName="Others", ProvisionedThroughput=units(39_864, 9))
    call(engine, "UpdateTable", TableName="Others", ProvisionedThroughput=units(39_863))


def test_what_an_earlier_version_took_may_decrease(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        for quota in ("TABLE_MOST", "ACCOUNT_MOST"):
            earlier.setattr(quotas, quota, 1_000_000)
        more = [index(ProvisionedThroughput=units(60_000))]
        create(engine, ProvisionedThroughput=units(50_000), GlobalSecondaryIndexes=more)
    less = {"IndexName": "by-d", "ProvisionedThroughput": units(55_000)}
    call(engine, "UpdateTable", TableName="Things", ProvisionedThroughput=units(45_000))
    call(engine, "UpdateTable", TableName="Things", GlobalSecondaryIndexUpdates=[{"Update": less}])
    call(engine, "UpdateTable", TableName="Things", BillingMode="PAY_PER_REQUEST")
    shown = describe_table(engine, "Things")
    assert shown["WarmThroughput"]["ReadUnitsPerSecond"] == 50_000
    assert shown["GlobalSecondaryIndexes"][0]["WarmThroughput"]["ReadUnitsPerSecond"] == 60_000


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 40_001}}, "MaxReadRequestUnits"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 40_001}}, "ReadUnitsPerSecond"),
    ],
)
def test_on_demand_and_warm_throughput_have_the_most_of_a_table(
    engine: Engine, change: dict[str, Any], name: str
) -> None:
    """(DDB-TABLE-154 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    create(engine, BillingMode="PAY_PER_REQUEST", GlobalSecondaryIndexes=[index()])
    (member,) = change
    beyond = (
        f"Subscriber limit exceeded: Requested {name} for {member} for {{}} exceeds "
        "TableMaxReadCapacityUnits of the account in region us-east-1"
    )
    assert quota_error(engine, "UpdateTable", TableName="Things", **change) == beyond.format(
        "table"
    )
    update = {"Update": {"IndexName": "by-d", **change}}
    subject = "index : by-d" if member == "OnDemandThroughput" else "index by-d"
    assert quota_error(
        engine, "UpdateTable", TableName="Things", GlobalSecondaryIndexUpdates=[update]
    ) == beyond.format(subject)
    with pytest.raises(LimitExceededException) as caught:
        create(engine, "Others", BillingMode="PAY_PER_REQUEST", **change)
    assert caught.value.message == beyond.format("table")
