"""Each pattern runs under the roles that name it, on an engine that evaluates their policies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from bigtime.advisor import iam_policy
from bigtime.advisor.policy import dry_runs
from bigtime.engine import Engine
from bigtime.engine.access import UserTransport
from bigtime.engine.iam import Principal
from bigtime.model import System, setup
from bigtime.store import Store
from bigtime.systems import portal
from bigtime.wire import AccessDeniedException, DynamoDBError, Request

ERASING = portal.portal(anonymise=True)
ROLES = ("public", "checkout", "admin", "consumer", "auditor", "backup", "restore")
FOREVER = ("tenants", "products", "campaigns", "orders", "audit")
STREAM = "ListStreams"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


@cache
def policy(system: System, role: str) -> dict[str, Any]:
    return iam_policy(system, roles=[role], region="us-east-1", account="000000000000")


def as_role(engine: Engine, system: System, role: str) -> UserTransport:
    return engine.as_user(Principal.role(role, [policy(system, role)]))


@pytest.fixture(scope="module")
def tables() -> Iterator[Engine]:
    with Engine.memory() as engine:
        Store(engine).run(setup(ERASING))
        yield engine


@pytest.fixture(scope="module")
def requests() -> dict[str, list[Request]]:
    """All requests of each pattern and reaction, on every branch."""
    found: dict[str, list[Request]] = {}
    with Engine.memory(housekeeping=False) as engine:
        for name in (*ERASING.patterns, *ERASING.reactions):
            runs = dry_runs(engine, ERASING, name)
            found[name] = [request.request for run in runs for request in run.requests]
    for name, reaction in ERASING.reactions.items():
        found[name].append(Request(STREAM, {"TableName": reaction.table.name}))
    return found


def is_allowed(user: UserTransport, request: Request) -> bool:
    try:
        user(request)
    except AccessDeniedException:
        return False
    except DynamoDBError:  # the item is not there, or its condition fails
        return True
    return True


@pytest.mark.parametrize("role", ROLES)
def test_a_role_runs_its_own_patterns_and_no_others(
    tables: Engine, requests: dict[str, list[Request]], role: str
) -> None:
    user = as_role(tables, ERASING, role)
    runs = {
        name
        for name, sent in requests.items()
        if sent and all(is_allowed(user, request) for request in sent)
    }
    assert runs == {*ERASING.roles.get(role, ())}


def test_every_pattern_with_requests_has_a_role(requests: dict[str, list[Request]]) -> None:
    named = {name for names in ERASING.roles.values() for name in names}
    assert named == {name for name, sent in requests.items() if sent}


def test_branches_reach_their_end() -> None:
    with Engine.memory(housekeeping=False) as engine:
        for name in ERASING.branches:
            if name in ERASING.patterns:
                for run in [*dry_runs(engine, ERASING, name)][2:]:
                    assert run.ended is None, name


def test_indexes_are_named_and_nothing_is_a_wildcard() -> None:
    allowed = [each for each in policy(portal.SYSTEM, "public")["Statement"] if is_allow(each)]
    arns = {arn for each in allowed for arn in each["Resource"]}
    where = "arn:aws:dynamodb:us-east-1:000000000000:table"
    assert arns == {
        f"{where}/products", f"{where}/products/index/ProductActiveIndex",
        f"{where}/campaigns", f"{where}/campaigns/index/CampaignActiveIndex",
        f"{where}/Writers",
    }  # fmt: skip


def is_allow(statement: dict[str, Any]) -> bool:
    return bool(statement["Effect"] == "Allow")


@pytest.mark.parametrize("role", ROLES[:5])
def test_the_application_deletes_nothing(tables: Engine, role: str) -> None:
    user = as_role(tables, portal.SYSTEM, role)
    key = {"PK": {"S": "TENANT#x"}, "SK": {"S": "METADATA"}}
    for table in FOREVER:
        assert not is_allowed(user, Request("DeleteItem", {"TableName": table, "Key": key}))
        assert not is_allowed(user, Request("DeleteTable", {"TableName": table}))
        off = {"PointInTimeRecoveryEnabled": False}
        asked = {"TableName": table, "PointInTimeRecoverySpecification": off}
        assert not is_allowed(user, Request("UpdateContinuousBackups", asked))


def test_a_denial_holds_beside_any_permission(tables: Engine) -> None:
    everything = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    both = [policy(portal.SYSTEM, "admin"), {"Version": "2012-10-17", "Statement": [everything]}]
    user = tables.as_user(Principal.role("admin", both))
    key = {"PK": {"S": "EMAIL#x"}, "SK": {"S": "METADATA"}}
    assert not is_allowed(user, Request("DeleteItem", {"TableName": "tenants", "Key": key}))
    assert is_allowed(user, Request("DeleteItem", {"TableName": "codes", "Key": key}))
    statement = "DELETE FROM tenants WHERE PK='EMAIL#x' AND SK='METADATA'"
    assert not is_allowed(user, Request("ExecuteStatement", {"Statement": statement}))


def test_anonymising_may_delete_markers_of_addresses_alone(tables: Engine) -> None:
    user = as_role(tables, ERASING, "admin")
    for text, allowed in (("EMAIL#a@example.com", True), ("TENANT#x", False)):
        key = {"PK": {"S": text}, "SK": {"S": "METADATA"}}
        delete = Request("DeleteItem", {"TableName": "tenants", "Key": key})
        assert is_allowed(user, delete) is allowed


def test_backup_and_restore_touch_no_live_item(tables: Engine) -> None:
    backup, restore = (as_role(tables, portal.SYSTEM, role) for role in ("backup", "restore"))
    make = Request("CreateBackup", {"TableName": "tenants", "BackupName": "before"})
    assert is_allowed(backup, make) and not is_allowed(restore, make)
    put = {"Item": {"PK": {"S": "x"}, "SK": {"S": "x"}}}
    for user in (backup, restore):
        assert not is_allowed(user, Request("PutItem", {"TableName": "tenants", **put}))
        assert not is_allowed(user, Request("DeleteTable", {"TableName": "tenants"}))
    assert not is_allowed(backup, Request("Scan", {"TableName": "tenants"}))
    back = {"BackupArn": finished_backup(tables), "TargetTableName": "tenants_restored"}
    assert not is_allowed(backup, Request("RestoreTableFromBackup", back))
    assert restore(Request("RestoreTableFromBackup", back))["TableDescription"]["TableName"]
    assert is_allowed(restore, Request("PutItem", {"TableName": "tenants_restored", **put}))
    for table in ("tenants", "tenants_restored"):
        tags = {"ResourceArn": f"{ARN}{table}", "Tags": [{"Key": "a", "Value": "b"}]}
        assert is_allowed(restore, Request("TagResource", tags)) == (table == "tenants_restored")


def finished_backup(tables: Engine) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (made,) = tables(Request("ListBackups", {"TableName": "tenants"}))["BackupSummaries"]
        if made["BackupStatus"] == "AVAILABLE":
            return str(made["BackupArn"])
        time.sleep(0.05)
    raise AssertionError(made)


def test_an_order_is_placed_under_the_roles_that_are_meant_for_it(tables: Engine) -> None:
    admin, checkout, auditor = (
        Store(as_role(tables, portal.SYSTEM, role)) for role in ("admin", "checkout", "auditor")
    )
    by = "admin@example.com"
    plan = admin.run(
        portal.create_product(
            name="Plan",
            description="A plan",
            price=Decimal("99.00"),
            billing_cycle=portal.BillingCycle.MONTHLY,
            by=by,
        )
    )
    tenant = checkout.run(portal.tenant_at_checkout("buyer@example.com"))
    code = checkout.run(portal.issue_code(portal.Purpose.VALIDATE, tenant.id))
    checkout.run(portal.validate_tenant(tenant.id, code))
    order = checkout.run(portal.place_order(tenant.id, {plan.id: 1}))
    assert auditor.run(portal.get_order(tenant.id, order.id)) == order
    assert auditor.run(portal.verify_chains()) is not None
    for store in (admin, auditor):
        with pytest.raises(AccessDeniedException):
            store.run(portal.place_order(tenant.id, {plan.id: 1}))
    with pytest.raises(AccessDeniedException):
        checkout.run(portal.update_product(plan.id, {"price": Decimal("1.00")}, by=by))
