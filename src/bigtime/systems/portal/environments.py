"""The portal's environments: development, integration tests, production."""

from __future__ import annotations

from typing import Final

from bigtime import model as bt

PREFIX: Final = "bbws"
REGION: Final = "af-south-1"

TAGS: Final = {
    "Project": "BBWS WP Containers",
    "Owner": "Tebogo",
    "CostCenter": "AWS",
    "ManagedBy": "Terraform",
    "Component": "dynamodb",
    "Application": "CustomerPortalPublic",
}
"""The tags of every table, besides its environment."""

DEV: Final = bt.Environment(
    "dev",
    REGION,
    "536580886816",
    prefix=PREFIX,
    backup_hour=1,
    retention_days=7,
    budget_dollars=500,
    estimates={"DynamoDB": 50, "backups": 5, "streams": 10},
    tags={"Environment": "dev", **TAGS},
)
SIT: Final = bt.Environment(
    "sit",
    REGION,
    "815856636111",
    prefix=PREFIX,
    backup_hour=2,
    retention_days=14,
    budget_dollars=1_000,
    estimates={"DynamoDB": 100, "backups": 10, "streams": 20},
    tags={"Environment": "sit", **TAGS},
)
PROD: Final = bt.Environment(
    "prod",
    REGION,
    "093646564004",
    dr_region="eu-west-1",
    prefix=PREFIX,
    backup_frequency="hourly",
    retention_days=90,
    protected=True,
    budget_dollars=5_000,
    estimates={
        "DynamoDB": 800,
        "DynamoDB in eu-west-1": 800,
        "backups": 100,
        "streams": 100,
        "replication": 300,
    },
    tags={"Environment": "prod", **TAGS, "BackupPolicy": "hourly", "DR": "enabled", "LLD": "2.1.8"},
)
