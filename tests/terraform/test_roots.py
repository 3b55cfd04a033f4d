"""The portal's Terraform: planned as declared, applied, planned without a change, destroyed.

What crashes the provider when moto answers it (a backup selection, an anomaly monitor), or what
moto does not know (region settings of AWS Backup, subscribers of a budget), is planned, and not
applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.model import Environment
from bigtime.ops import write_infrastructure
from bigtime.systems.portal import SYSTEM
from tests.cli.program import invoke, server
from tests.terraform import conftest

pytestmark = pytest.mark.terraform

TABLES = [table.name for table in SYSTEM.tables]
PROVIDER = """
provider "aws" {{
{alias}  access_key                  = "local"
  secret_key                  = "local"
  skip_metadata_api_check     = true
  endpoints {{
{endpoints}
  }}
}}
"""
LOCAL_STATE = 'terraform {\n  backend "local" {}\n}\n'
PLAN_ONLY = {
    "backup": ("aws_backup_selection", "aws_backup_region_settings"),
    "monitoring": ("aws_budgets_budget",),
}
MAIL = '-var=alert_emails=["ops@example.com"]'


class Root(conftest.Terraform):
    """An environment's root on an engine and on moto's server, with its state in its folder."""

    def __init__(self, folder: Path, there: Environment, engine: str, moto: str) -> None:
        write_infrastructure(SYSTEM, folder)
        self.modules = folder / "terraform" / "modules"
        self.there = there
        self.url = engine
        self.endpoints = conftest.endpoints(engine, moto)
        self.folder = folder / "terraform" / there.name
        aliases = ["", *(f'  alias = "{name.replace("-", "_")}"\n' for name in there.regions[1:])]
        providers = [PROVIDER.format(alias=alias, endpoints=self.endpoints) for alias in aliases]
        (self.folder / "override.tf").write_text("".join([LOCAL_STATE, *providers]))
        self.initialise()

    def plan(self, *options: str, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
        values = f"-var-file={self.there.name}.tfvars"
        self.run("plan", "-no-color", "-input=false", values, "-out=plan", *options, codes=codes)
        plan: dict[str, Any] = json.loads(self.run("show", "-json", "plan"))
        return plan

    def leave_out(self, kinds: dict[str, tuple[str, ...]]) -> None:
        """Has the modules make nothing of these kinds."""
        for module, names in kinds.items():
            blocks = (f'resource "{name}" "this" {{\n  count = 0\n}}\n' for name in names)
            (self.modules / module / "override.tf").write_text("\n".join(blocks))

    def do(self, verb: str, codes: tuple[int, ...] = (0,)) -> str:
        values = f"-var-file={self.there.name}.tfvars"
        return self.run(verb, "-auto-approve", "-no-color", "-input=false", values, codes=codes)


def planned_resources(plan: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What the resources of a kind will be."""
    return [
        change["change"]["after"]
        for change in plan["resource_changes"]
        if change["type"] == kind and change["mode"] == "managed"
    ]


@pytest.fixture(params=[there.name for there in SYSTEM.environments])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Root]:
    conftest.skip_without_terraform()
    there = SYSTEM.environment(request.param)
    data = ("--data", tmp_path / "engine.db", "--durability", "relaxed")
    with conftest.moto_server(there.account or "") as moto, server(*data) as running:
        yield Root(tmp_path / "repository", there, running.url, moto)


def test_an_environment(root: Root) -> None:
    """In one test, because each run of Terraform takes seconds."""
    root.run("validate", "-no-color")
    plan = root.plan("-var=anomaly_detection=true", MAIL)
    check_tables(plan, root.there)
    check_backups(plan, root.there)
    check_monitoring(plan, root.there)

    root.leave_out(PLAN_ONLY)
    root.do("apply")
    again = root.plan("-detailed-exitcode", codes=(0, 2))
    assert changed_addresses(again) == []
    name = root.there.name
    compared = invoke("tables", "diff", "portal", "--environment", name, "--store", root.url)
    assert compared.stdout == "the tables are as declared\n"

    code = 1 if root.there.protected else 0
    root.do("destroy", codes=(code,))
    left = root.client(root.there.region).list_tables()["TableNames"]
    assert left == (tables_of(root.there) if root.there.protected else [])


def tables_of(there: Environment) -> list[str]:
    """Where there is a replica, a table says which region writes."""
    return sorted([*TABLES, *(["Writers"] if there.dr_region else [])])


def changed_addresses(plan: dict[str, Any]) -> list[str]:
    """What a plan would change. Not the tags of backup plans and vaults, which moto forgets."""
    return [
        change["address"]
        for change in plan["resource_changes"]
        if change["change"]["actions"] not in (["no-op"], ["read"])
        and not (change["type"].startswith("aws_backup_") and is_of_tags(change["change"]))
    ]


def is_of_tags(change: dict[str, Any]) -> bool:
    before, after = change["before"] or {}, change["after"] or {}
    differing = {name for name in {**before, **after} if before.get(name) != after.get(name)}
    return differing <= {"tags", "tags_all"}


def check_tables(plan: dict[str, Any], there: Environment) -> None:
    tables = {table["name"]: table for table in planned_resources(plan, "aws_dynamodb_table")}
    assert sorted(tables) == tables_of(there)
    for table in tables.values():
        recovery = {"enabled": True, "recovery_period_in_days": 35}
        assert [each | recovery for each in table["point_in_time_recovery"]] == [recovery]
        assert table["deletion_protection_enabled"] is (there.name == "prod")
        assert table["tags"] == dict(there.tags)
        assert len(table["tags"]) == (10 if there.name == "prod" else 7)
        assert table["billing_mode"] == "PAY_PER_REQUEST"
        assert table["stream_view_type"] == "NEW_AND_OLD_IMAGES"
        assert table["server_side_encryption"][0]["enabled"]
        replicas = [
            (each["region_name"], each["point_in_time_recovery"]) for each in table["replica"]
        ]
        assert replicas == ([("eu-west-1", True)] if there.name == "prod" else [])
    indexes = {index["name"] for index in tables["tenants"]["global_secondary_index"]}
    assert indexes == {"EmailIndex", "TenantStatusIndex", "ActiveIndex"}
    assert tables["codes"]["ttl"][0]["attribute_name"] == "expiresAt"


def check_backups(plan: dict[str, Any], there: Environment) -> None:
    (backup,) = planned_resources(plan, "aws_backup_plan")
    (rule,) = backup["rule"]
    assert backup["name"] == there.backup_plan
    assert (rule["schedule"], rule["rule_name"]) == (there.backup_schedule, there.backup_rule)
    assert rule["lifecycle"][0]["delete_after"] == there.retention_days
    copies = [copy["lifecycle"][0]["delete_after"] for copy in rule["copy_action"]]
    assert copies == ([90] if there.name == "prod" else [])
    vaults = [vault["name"] for vault in planned_resources(plan, "aws_backup_vault")]
    assert vaults == [there.backup_vault] * len(there.regions)
    (selection,) = planned_resources(plan, "aws_backup_selection")
    assert selection["name"] == there.backup_selection


def check_monitoring(plan: dict[str, Any], there: Environment) -> None:
    alarms = planned_resources(plan, "aws_cloudwatch_metric_alarm")
    replicated = len(TABLES) if there.dr_region else 0
    assert len(alarms) == 4 * len(TABLES) + replicated
    thresholds = {(alarm["metric_name"], alarm["threshold"]) for alarm in alarms}
    assert {
        ("ConsumedReadCapacityUnits", 10_000),
        ("ConsumedWriteCapacityUnits", 5_000),
    } <= thresholds
    assert (("ReplicationLatency", 5_000) in thresholds) is bool(replicated)
    summed = [alarm for alarm in alarms if alarm["metric_query"]]
    assert {len(alarm["metric_query"]) for alarm in summed} == {11}
    (budget,) = planned_resources(plan, "aws_budgets_budget")
    assert float(budget["limit_amount"]) == there.budget_dollars
    assert budget["notification"][0]["threshold"] == 80
    assert len(planned_resources(plan, "aws_ce_anomaly_monitor")) == 1
    assert [topic["name"] for topic in planned_resources(plan, "aws_sns_topic")] == [
        there.alert_topic
    ]


def test_a_name_follows_the_region_that_is_ready(tmp_path: Path) -> None:
    conftest.skip_without_terraform()
    there = SYSTEM.environment("prod")
    hosts = {"host": "shop.example", "primary_host": "af.example", "secondary_host": "eu.example"}
    given = [f"-var={name}={value}" for name, value in {"zone_id": "Z1", **hosts}.items()]
    with conftest.moto_server(there.account or "") as moto:
        plan = Root(tmp_path, there, "http://127.0.0.1:9", moto).plan(*given)
    checks = {check["fqdn"]: check for check in planned_resources(plan, "aws_route53_health_check")}
    assert {fqdn: check["resource_path"] for fqdn, check in checks.items()} == {
        "af.example": "/readyz",
        "eu.example": "/healthz",
    }
    for check in checks.values():
        assert (check["type"], check["failure_threshold"]) == ("HTTPS", 3)
    records = planned_resources(plan, "aws_route53_record")
    assert {
        (record["set_identifier"], record["failover_routing_policy"][0]["type"], *record["records"])
        for record in records
    } == {("primary", "PRIMARY", "af.example"), ("secondary", "SECONDARY", "eu.example")}
    assert {record["ttl"] for record in records} == {60}


def test_another_account_is_refused(tmp_path: Path, moto: str) -> None:
    root = Root(tmp_path, SYSTEM.environment("dev"), "http://127.0.0.1:9", moto)
    values = "-var-file=dev.tfvars"
    root.run("plan", "-no-color", "-input=false", values, codes=(1,))
