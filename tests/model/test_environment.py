"""Environments: what they say, and a system's tables as they are run in one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bigtime.model import DesignError, Entity, Environment, Keys, System, Table

PROD = Environment(
    "prod",
    "af-south-1",
    "093646564004",
    dr_region="eu-west-1",
    prefix="shop",
    backup_frequency="hourly",
    protected=True,
    tags={"Environment": "prod", "Team": "shop"},
)
ORDERS = Table("orders", "PK", tags={"Team": "orders", "Data": "personal"})
CODES = Table("codes", "PK", point_in_time_recovery=7, encryption="alias/own")


class Order(Entity, table=ORDERS):
    keys = Keys(main="{id}")
    id: str


class Code(Entity, table=CODES):
    keys = Keys(main="{id}")
    id: str


SHOP = System("shop", (ORDERS, CODES), environments=(PROD,), unsaved=("codes",))


def test_a_table_is_run_as_its_environment_says() -> None:
    orders, codes = PROD.system(SHOP).tables
    assert orders.tags == {"Environment": "prod", "Team": "shop", "Data": "personal"}
    assert orders.deletion_protection
    assert orders.encryption == "AWS_MANAGED"
    assert orders.point_in_time_recovery == 35
    assert orders.replicas == ("eu-west-1",)
    assert orders.entities == [Order]
    assert (codes.encryption, codes.point_in_time_recovery) == ("alias/own", 7)
    assert not ORDERS.deletion_protection


def test_names_and_moments_follow_from_it() -> None:
    assert PROD.backup_schedule == "cron(0 * * * ? *)"
    assert PROD.backup_period == timedelta(hours=1)
    assert PROD.backup_vault == "shop-backup-vault-prod"
    assert PROD.backup_plan == "shop-dynamodb-prod-hourly"
    assert PROD.alert_topic == "shop-dynamodb-alerts-prod"
    assert Environment("dev", "af-south-1", backup_hour=1).backup_schedule == "cron(0 1 * * ? *)"


def test_a_system_knows_its_environments_and_what_it_saves() -> None:
    assert SHOP.environment("prod") is PROD
    assert SHOP.saved_tables == (ORDERS,)
    with pytest.raises(DesignError, match=r"system shop has no environment 'qa'; it has prod"):
        SHOP.environment("qa")
    with pytest.raises(DesignError, match="no table 'carts'"):
        System("shop", (ORDERS,), unsaved=("carts",))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "Prod 1"}, "rename it"),
        ({"account": "93646564004"}, "has 12 digits"),
        ({"region": "Cape Town"}, "'Cape Town' is no region"),
        ({"dr_region": "ireland"}, "'ireland' is no region"),
        ({"dr_region": "af-south-1"}, "name another"),
        ({"backup_frequency": "weekly"}, "hourly or daily, not 'weekly'"),
        ({"backup_hour": 24}, "24 is no hour"),
        ({"retention_days": 0}, "kept for a day at least"),
        ({"recovery_days": 36}, "1 to 35 days, not 36"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DesignError, match=sentence):
        Environment(**{"name": "prod", "region": "af-south-1", **fields})
