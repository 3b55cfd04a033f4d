"""The tables of a system as a CloudFormation template.

A table with replicas is an `AWS::DynamoDB::GlobalTable`, any other an `AWS::DynamoDB::Table`:

- https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
- https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html

Both retain the table, and so its data, when the stack is deleted or has to replace it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from bigtime import model as bt

FORMAT: Final = "2010-09-09"
LOCAL_REGION: Final = {"Ref": "AWS::Region"}


def cloudformation_template(system: bt.System) -> dict[str, Any]:
    """The template that creates a system's tables."""
    bt.check_kind(system, "cloudformation_template")
    resources: dict[str, Any] = {}
    for table in system.tables:
        resources[logical_id(table, resources)] = resource(table)
    outputs = {
        f"{name}{attribute}": {"Value": {"Fn::GetAtt": [name, attribute]}}
        for name, table in zip(resources, system.tables, strict=True)
        for attribute in ("Arn", *(("StreamArn",) if table.stream or table.replicas else ()))
    }
    return {
        "AWSTemplateFormatVersion": FORMAT,
        "Description": f"The tables of {system.name}",
        "Resources": resources,
        "Outputs": outputs,
    }


def logical_id(table: bt.Table, taken: dict[str, Any]) -> str:
    """A logical id for a table: letters and digits only."""
    name = bt.pascal_case("_".join(re.findall(r"[A-Za-z0-9]+", table.name))) or "Table"
    while name in taken:
        name += "x"
    return name


def resource(table: bt.Table) -> dict[str, Any]:
    kind = "AWS::DynamoDB::GlobalTable" if table.replicas else "AWS::DynamoDB::Table"
    return {
        "Type": kind,
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": global_properties(table) if table.replicas else properties(table),
    }


def properties(table: bt.Table) -> dict[str, Any]:
    """The parameters of CreateTable and of other calls, under CloudFormation's names."""
    made = dict(bt.create_table_request(table).params)
    if table.stream:
        made["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.encryption:
        made["SSESpecification"] = {"SSEEnabled": True, **encryption(table)}
    return {**made, **expiry(table), **recovery(table)}


def encryption(table: bt.Table) -> dict[str, Any]:
    managed = {"SSEType": "KMS"}
    if table.encryption == bt.MANAGED_KEY:
        return managed
    return {**managed, "KMSMasterKeyId": table.encryption}


def expiry(table: bt.Table) -> dict[str, Any]:
    if table.ttl is None:
        return {}
    return {"TimeToLiveSpecification": {"AttributeName": table.ttl, "Enabled": True}}


def recovery(table: bt.Table) -> dict[str, Any]:
    days = table.point_in_time_recovery
    if not days:
        return {}
    made: dict[str, Any] = {"PointInTimeRecoveryEnabled": True}
    if not isinstance(days, bool):
        made["RecoveryPeriodInDays"] = days
    return {"PointInTimeRecoverySpecification": made}


# Global tables


def global_properties(table: bt.Table) -> dict[str, Any]:
    """The properties that all replicas share, and a replica per region, the stack's own first."""
    shared = dict(bt.create_table_request(table).params)
    own = ("Tags", "TableClass", "DeletionProtectionEnabled", "ProvisionedThroughput")
    for name in own:
        shared.pop(name, None)
    for index in shared.get("GlobalSecondaryIndexes") or ():
        if index.pop("ProvisionedThroughput", None):
            index["WriteProvisionedThroughputSettings"] = write_settings(table)
    shared["StreamSpecification"] = {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    if table.encryption:
        shared["SSESpecification"] = {"SSEEnabled": True, "SSEType": "KMS"}
    if table.throughput:
        shared["WriteProvisionedThroughputSettings"] = write_settings(table)
    regions = (LOCAL_REGION, *table.replicas)
    shared["Replicas"] = [replica(table, region) for region in regions]
    return {**shared, **expiry(table)}


def write_settings(table: bt.Table) -> dict[str, Any]:
    """The write capacity settings: a global table must autoscale, from the declared units up."""
    return {"WriteCapacityAutoScalingSettings": scaling_settings(table, "write")}


def scaling_settings(table: bt.Table, side: str) -> dict[str, Any]:
    assert table.throughput is not None
    least = getattr(table.throughput, side)
    return {
        "MinCapacity": least,
        "MaxCapacity": 10 * least,
        "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70},
    }


def replica(table: bt.Table, region: object) -> dict[str, Any]:
    made: dict[str, Any] = {"Region": region, **recovery(table)}
    if table.table_class:
        made["TableClass"] = table.table_class
    if table.deletion_protection:
        made["DeletionProtectionEnabled"] = True
    if table.throughput:
        made["ReadProvisionedThroughputSettings"] = {"ReadCapacityUnits": table.throughput.read}
        made["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": table.throughput.read},
            }
            for index in table.indexes
            if index.is_global
        ]
    if table.encryption and table.encryption != bt.MANAGED_KEY:
        made["SSESpecification"] = {"KMSMasterKeyId": table.encryption}
    if table.tags:
        made["Tags"] = [{"Key": key, "Value": value} for key, value in table.tags.items()]
    return made
