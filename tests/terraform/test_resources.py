"""The other resources and data sources of DynamoDB: applied, planned without a change, removed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.terraform.conftest import Terraform

pytestmark = pytest.mark.terraform

TABLE = """
resource "aws_dynamodb_table" "orders" {{
  name             = "orders"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "id"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"
  table_class      = "STANDARD_INFREQUENT_ACCESS"
  deletion_protection_enabled = false

  attribute {{
    name = "id"
    type = "S"
  }}
  attribute {{
    name = "status"
    type = "S"
  }}
  global_secondary_index {{
    name            = "by-status"
    hash_key        = "status"
    projection_type = "KEYS_ONLY"
  }}
  ttl {{
    enabled        = true
    attribute_name = "until"
  }}
  point_in_time_recovery {{
    enabled                 = true
    recovery_period_in_days = 7
  }}
  server_side_encryption {{
    enabled = true
  }}
  tags = {{ team = "shop" }}
  lifecycle {{
    ignore_changes = [tags["paid-by"], tags_all["paid-by"]]
  }}
}}

resource "aws_dynamodb_table_item" "first" {{
  table_name = aws_dynamodb_table.orders.name
  hash_key   = aws_dynamodb_table.orders.hash_key
  item = jsonencode({{ id = {{ S = "1" }}, status = {{ S = "{status}" }}, n = {{ N = "10" }} }})
}}

resource "aws_dynamodb_resource_policy" "read" {{
  resource_arn = aws_dynamodb_table.orders.arn
  policy = jsonencode({{
    Version = "2012-10-17"
    Statement = [{{
      Sid       = "Read"
      Effect    = "Allow"
      Principal = {{ AWS = "arn:aws:iam::000000000000:root" }}
      Action    = "dynamodb:GetItem"
      Resource  = aws_dynamodb_table.orders.arn
    }}]
  }})
}}

resource "aws_dynamodb_contributor_insights" "table" {{
  table_name = aws_dynamodb_table.orders.name
}}

resource "aws_dynamodb_contributor_insights" "index" {{
  table_name = aws_dynamodb_table.orders.name
  index_name = "by-status"
}}

resource "aws_kinesis_stream" "changes" {{
  name        = "changes"
  shard_count = 1
}}

resource "aws_dynamodb_kinesis_streaming_destination" "changes" {{
  table_name                               = aws_dynamodb_table.orders.name
  stream_arn                               = aws_kinesis_stream.changes.arn
  approximate_creation_date_time_precision = "MICROSECOND"
}}

resource "aws_dynamodb_tag" "paid_by" {{
  resource_arn = aws_dynamodb_table.orders.arn
  key          = "paid-by"
  value        = "sales"
}}

data "aws_dynamodb_table" "orders" {{
  name = aws_dynamodb_table.orders.name
}}

data "aws_dynamodb_tables" "all" {{
  depends_on = [aws_dynamodb_table.orders]
}}

data "aws_dynamodb_table_item" "first" {{
  table_name = aws_dynamodb_table.orders.name
  key        = jsonencode({{ id = {{ S = "1" }} }})
  depends_on = [aws_dynamodb_table_item.first]
}}

output "seen" {{
  value = {{
    class  = data.aws_dynamodb_table.orders.table_class
    ttl    = data.aws_dynamodb_table.orders.ttl
    pitr   = data.aws_dynamodb_table.orders.point_in_time_recovery
    tables = data.aws_dynamodb_tables.all.names
    item   = jsondecode(data.aws_dynamodb_table_item.first.item)
  }}
}}
"""

IMPORTED = """
resource "aws_dynamodb_table" "imported" {
  name         = "imported"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"

  attribute {
    name = "id"
    type = "S"
  }

  import_table {
    input_compression_type = "GZIP"
    input_format           = "DYNAMODB_JSON"
    s3_bucket_source {
      bucket     = "exports"
      key_prefix = "orders/"
    }
  }
}
"""


def test_an_item_a_policy_insights_a_destination_a_tag_and_the_data_sources(
    terraform: Terraform,
) -> None:
    terraform.apply(TABLE.format(status="NEW"))
    assert terraform.changes() == []
    assert json.loads(terraform.run("output", "-json", "seen")) == {
        "class": "STANDARD_INFREQUENT_ACCESS",
        "ttl": [{"attribute_name": "until", "enabled": True}],
        "pitr": [{"enabled": True, "recovery_period_in_days": 7}],
        "tables": ["orders"],
        "item": {"id": {"S": "1"}, "status": {"S": "NEW"}, "n": {"N": "10"}},
    }
    client = terraform.client()
    table = client.describe_table(TableName="orders")["Table"]
    arn = table["TableArn"]
    assert "GetItem" in client.get_resource_policy(ResourceArn=arn)["Policy"]
    states = client.list_contributor_insights(TableName="orders")["ContributorInsightsSummaries"]
    assert [state["ContributorInsightsStatus"] for state in states] == ["ENABLED", "ENABLED"]
    (place,) = client.describe_kinesis_streaming_destination(TableName="orders")[
        "KinesisDataStreamDestinations"
    ]
    assert place["DestinationStatus"] == "ACTIVE"
    tags = client.list_tags_of_resource(ResourceArn=arn)["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "shop", "paid-by": "sales"}

    terraform.apply(TABLE.format(status="SENT"))
    assert terraform.changes() == []
    item = client.get_item(TableName="orders", Key={"id": {"S": "1"}})["Item"]
    assert item["status"] == {"S": "SENT"}

    terraform.destroy()
    assert client.list_tables()["TableNames"] == []


def test_a_table_made_by_an_import(terraform: Terraform, s3: Path) -> None:
    lines = [json.dumps({"Item": {"id": {"S": f"{n}"}, "n": {"N": f"{n}"}}}) for n in range(100)]
    folder = s3 / "exports" / "orders"
    folder.mkdir(parents=True)
    (folder / "part.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    terraform.apply(IMPORTED)
    assert terraform.changes() == []
    assert terraform.client().scan(TableName="imported", Select="COUNT")["Count"] == 100
    terraform.destroy()
