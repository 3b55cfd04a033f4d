"""`aws_dynamodb_table` with replicas: applied, planned without a change, altered, destroyed."""

from __future__ import annotations

import pytest

from tests.terraform.conftest import Terraform

pytestmark = pytest.mark.terraform

AWAY, THIRD = "eu-west-1", "ap-south-1"

TABLE = """
resource "aws_dynamodb_table" "orders" {{
  name             = "orders"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "id"
  range_key        = "at"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {{
    name = "id"
    type = "S"
  }}
  attribute {{
    name = "at"
    type = "N"
  }}
  attribute {{
    name = "status"
    type = "S"
  }}

  global_secondary_index {{
    name            = "by-status"
    hash_key        = "status"
    range_key       = "at"
    projection_type = "ALL"
  }}

  ttl {{
    enabled        = true
    attribute_name = "until"
  }}

  {replicas}

  tags = {{ team = "shop" }}
}}
"""


def replica(region: str, *, propagate_tags: bool = False) -> str:
    return (
        f'replica {{\n    region_name = "{region}"\n'
        f"    propagate_tags = {str(propagate_tags).lower()}\n  }}"
    )


def test_a_table_with_replicas(terraform: Terraform) -> None:
    terraform.apply(TABLE.format(replicas=replica(AWAY, propagate_tags=True)))
    assert terraform.changes() == []
    home, away = terraform.client(), terraform.client(AWAY)
    (shown,) = home.describe_table(TableName="orders")["Table"]["Replicas"]
    assert (shown["RegionName"], shown["ReplicaStatus"]) == (AWAY, "ACTIVE")
    table = away.describe_table(TableName="orders")["Table"]
    assert table["GlobalSecondaryIndexes"][0]["IndexName"] == "by-status"
    ttl = away.describe_time_to_live(TableName="orders")["TimeToLiveDescription"]
    assert ttl["AttributeName"] == "until"
    tags = away.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "shop"}]

    both = f"{replica(AWAY, propagate_tags=True)}\n  {replica(THIRD)}"
    terraform.apply(TABLE.format(replicas=both))
    assert terraform.changes() == []
    assert terraform.client(THIRD).list_tables()["TableNames"] == ["orders"]

    terraform.apply(TABLE.format(replicas=replica(THIRD)))
    assert terraform.changes() == []
    assert away.list_tables()["TableNames"] == []

    terraform.destroy()
    for region in ("us-east-1", AWAY, THIRD):
        assert terraform.client(region).list_tables()["TableNames"] == []


def test_a_replica_as_a_resource_of_its_own(terraform: Terraform) -> None:
    alias = (
        f'provider "aws" {{\n  alias = "away"\n  region = "{AWAY}"\n'
        '  access_key = "local"\n  secret_key = "local"\n'
        "  skip_credentials_validation = true\n"
        "  skip_metadata_api_check = true\n  skip_region_validation = true\n"
        f"  endpoints {{\n{terraform.endpoints}\n  }}\n}}\n"
    )
    ignore = "lifecycle {\n    ignore_changes = [replica]\n  }"
    resource = (
        'resource "aws_dynamodb_table_replica" "away" {\n  provider = aws.away\n'
        "  global_table_arn = aws_dynamodb_table.orders.arn\n}\n"
    )
    terraform.apply(alias + TABLE.format(replicas=ignore) + resource)
    assert terraform.changes() == []
    assert terraform.client(AWAY).list_tables()["TableNames"] == ["orders"]
    terraform.destroy()
