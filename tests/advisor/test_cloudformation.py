"""CloudFormation templates have the properties that AWS documents, and what a table declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bigtime import model as bt
from bigtime.advisor import cloudformation_template
from bigtime.cli.systems import all_systems

INDEX: dict[str, Any] = {"IndexName": {}, "KeySchema": {"AttributeName": {}, "KeyType": {}}}
PROJECTION: dict[str, Any] = {"Projection": {"NonKeyAttributes": {}, "ProjectionType": {}}}
UNITS: dict[str, Any] = {"ReadCapacityUnits": {}, "WriteCapacityUnits": {}}
EXPIRY: dict[str, Any] = {"AttributeName": {}, "Enabled": {}}
RECOVERY: dict[str, Any] = {"PointInTimeRecoveryEnabled": {}, "RecoveryPeriodInDays": {}}
SCALING: dict[str, Any] = {
    "WriteCapacityAutoScalingSettings": {
        "MinCapacity": {},
        "MaxCapacity": {},
        "SeedCapacity": {},
        "TargetTrackingScalingPolicyConfiguration": {
            "DisableScaleIn": {},
            "ScaleInCooldown": {},
            "ScaleOutCooldown": {},
            "TargetValue": {},
        },
    }
}
READS: dict[str, Any] = {"ReadCapacityAutoScalingSettings": {}, "ReadCapacityUnits": {}}
TAGS: dict[str, Any] = {"Key": {}, "Value": {}}
SHARED: dict[str, Any] = {
    "AttributeDefinitions": {"AttributeName": {}, "AttributeType": {}},
    "BillingMode": {},
    "KeySchema": INDEX["KeySchema"],
    "LocalSecondaryIndexes": {**INDEX, **PROJECTION},
    "StreamSpecification": {"StreamViewType": {}, "ResourcePolicy": {}},
    "TableName": {},
    "TimeToLiveSpecification": EXPIRY,
}
DOCUMENTED: dict[str, dict[str, Any]] = {
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
    "AWS::DynamoDB::Table": {
        **SHARED,
        "ContributorInsightsSpecification": {},
        "DeletionProtectionEnabled": {},
        "GlobalSecondaryIndexes": {**INDEX, **PROJECTION, "ProvisionedThroughput": UNITS},
        "PointInTimeRecoverySpecification": RECOVERY,
        "ProvisionedThroughput": UNITS,
        "SSESpecification": {"KMSMasterKeyId": {}, "SSEEnabled": {}, "SSEType": {}},
        "TableClass": {},
        "Tags": TAGS,
    },
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
    "AWS::DynamoDB::GlobalTable": {
        **SHARED,
        "GlobalSecondaryIndexes": {
            **INDEX,
            **PROJECTION,
            "WriteProvisionedThroughputSettings": SCALING,
        },
        "Replicas": {
            "DeletionProtectionEnabled": {},
            "GlobalSecondaryIndexes": {
                "IndexName": {},
                "ReadProvisionedThroughputSettings": READS,
            },
            "PointInTimeRecoverySpecification": RECOVERY,
            "ReadProvisionedThroughputSettings": READS,
            "Region": {"Ref": {}},
            "SSESpecification": {"KMSMasterKeyId": {}},
            "TableClass": {},
            "Tags": TAGS,
        },
        "SSESpecification": {"SSEEnabled": {}, "SSEType": {}},
        "WriteProvisionedThroughputSettings": SCALING,
    },
}


def undocumented_names(made: object, documented: Mapping[str, Any], place: str = "") -> list[str]:
    if isinstance(made, list):
        return [name for each in made for name in undocumented_names(each, documented, place)]
    if not isinstance(made, dict):
        return []
    return [
        found
        for name, value in made.items()
        for found in (
            undocumented_names(value, documented[name], f"{place}.{name}")
            if name in documented
            else [f"{place}.{name}"]
        )
    ]


def everything(*replicas: str, **settings: Any) -> bt.System:
    table = bt.Table(
        "my-shop.orders",
        "PK",
        bt.number("SK"),
        indexes=[
            bt.global_index("GSI1", "A", include=["B"]),
            bt.local_index("LSI1", "C", keys_only=True),
        ],
        ttl="ExpiresAt",
        stream="NEW_AND_OLD_IMAGES",
        deletion_protection=True,
        tags={"team": "shop"},
        point_in_time_recovery=7,
        table_class="STANDARD_INFREQUENT_ACCESS",
        replicas=replicas,
        **settings,
    )

    class Order(bt.Entity, table=table, stored={"a": "A", "c": "C", "expires": "ExpiresAt"}):
        keys = bt.Keys(main=("{pk}", "{sk}"), GSI1="{a}", LSI1=("{pk}", "{c}"))
        pk: str
        sk: int
        a: str
        c: str
        expires: int

    return bt.System("orders", (table,))


SYSTEMS = [
    *all_systems(),
    everything(encryption="alias/shop"),
    everything(throughput=bt.Throughput(5, 2), encryption=bt.MANAGED_KEY),
    everything("eu-west-1", encryption="alias/shop"),
    everything("eu-west-1", throughput=bt.Throughput(5, 2)),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_template_has_documented_properties_alone(system: bt.System) -> None:
    template = cloudformation_template(system)
    assert len(template["Resources"]) == len(system.tables)
    for name, resource in template["Resources"].items():
        assert name.isalnum()
        assert undocumented_names(resource["Properties"], DOCUMENTED[resource["Type"]]) == []
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


def test_all_that_a_table_declares_is_in_it() -> None:
    template = cloudformation_template(everything(encryption="alias/shop"))
    properties = template["Resources"]["MyShopOrders"]["Properties"]
    assert properties == {
        "TableName": "my-shop.orders",
        "AttributeDefinitions": [
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "N"},
            {"AttributeName": "A", "AttributeType": "S"},
            {"AttributeName": "C", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": [{"AttributeName": "A", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["B"]},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "LSI1",
                "KeySchema": [
                    {"AttributeName": "PK", "KeyType": "HASH"},
                    {"AttributeName": "C", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
        "SSESpecification": {
            "SSEEnabled": True,
            "SSEType": "KMS",
            "KMSMasterKeyId": "alias/shop",
        },
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "DeletionProtectionEnabled": True,
        "Tags": [{"Key": "team", "Value": "shop"}],
        "TimeToLiveSpecification": {"AttributeName": "ExpiresAt", "Enabled": True},
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": 7,
        },
    }
    assert template["Outputs"]["MyShopOrdersStreamArn"] == {
        "Value": {"Fn::GetAtt": ["MyShopOrders", "StreamArn"]}
    }


def test_a_table_with_replicas_is_a_global_table() -> None:
    template = cloudformation_template(everything("eu-west-1", throughput=bt.Throughput(5, 2)))
    resource = template["Resources"]["MyShopOrders"]
    assert resource["Type"] == "AWS::DynamoDB::GlobalTable"
    here, there = resource["Properties"]["Replicas"]
    assert (here["Region"], there["Region"]) == ({"Ref": "AWS::Region"}, "eu-west-1")
    assert there["Tags"] == [{"Key": "team", "Value": "shop"}]
    assert there["ReadProvisionedThroughputSettings"] == {"ReadCapacityUnits": 5}
    assert "Tags" not in resource["Properties"]
