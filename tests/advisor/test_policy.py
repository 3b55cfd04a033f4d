"""The least-privilege policy: what patterns need on which tables and indexes, by tenant."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from bigtime.advisor import iam_policy, open_findings, workbench_model
from bigtime.model import (
    Change,
    DesignError,
    Entity,
    Keys,
    Steps,
    System,
    Table,
    all_of,
    get,
    get_many,
    global_index,
    pattern,
    put,
    reaction,
    scan_all,
    tenant,
    transact,
    update,
)
from bigtime.site import SITE
from bigtime.systems import accounts
from tests.cli.program import invoke

INDEXES = [global_index("GSI1", "GSI1PK", "GSI1SK")]
NOTES = Table("Notes", "PK", "SK", indexes=INDEXES, stream="NEW_AND_OLD_IMAGES")
SHARED = Table("Shared", "PK")


class Note(Entity, table=NOTES):
    keys = Keys(main=("T#{tenant}#NOTE#{name}", "NOTE"), GSI1=("T#{tenant}", "NOTE#{name}"))
    tenant: str = tenant()
    name: str
    text: str = ""


class Plan(Entity, table=SHARED):
    keys = Keys(main="PLAN#{plan}")
    plan: str


@pattern("Read", index="Main table")
def read(owner: str, name: str) -> Steps[Note | None]:
    return (yield from get(Note.key(owner, name)))


@pattern("List", index="GSI1")
def list_notes(owner: str) -> Steps[list[Note]]:
    return (yield from all_of(Note.within("GSI1", tenant=owner)))


@pattern("Save", index="Main table")
def save(owner: str, name: str) -> Steps[None]:
    note = Note(tenant=owner, name=name)
    if (yield from get(note.own_key())) is None:
        yield from transact(put(note))
    else:
        yield from update(note.own_key(), text="x")


@pattern("Plans", index="Main table", accepted={"scan": "few"})
def plans() -> Steps[list[Plan]]:
    yield from get_many([Plan.key("free")])
    return (yield from scan_all(Plan))


SYSTEM = System(
    "notes", (NOTES, SHARED), (sys.modules[__name__],), roles={"reader": ("read", "list_notes")}
)
KEYS = ["T#${aws:PrincipalTag/tenant}", "T#${aws:PrincipalTag/tenant}#*"]
BY_TENANT = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": KEYS}}


def statement(actions: list[str], resource: str, **more: Any) -> dict[str, Any]:
    named = [f"dynamodb:{action}" for action in actions]
    arn = f"arn:aws:dynamodb:eu-west-1:1:table/{resource}"
    return {"Effect": "Allow", "Action": named, "Resource": [arn], **more}


def test_a_role_may_do_what_its_patterns_do() -> None:
    policy = iam_policy(SYSTEM, roles=["reader"], region="eu-west-1", account="1")
    assert policy == {
        "Version": "2012-10-17",
        "Statement": [
            statement(["GetItem"], "Notes", Condition=BY_TENANT),
            statement(["Query"], "Notes/index/GSI1", Condition=BY_TENANT),
        ],
    }


def test_both_branches_of_a_pattern_are_allowed() -> None:
    policy = iam_policy(SYSTEM, patterns=["save"], region="eu-west-1", account="1")
    actions = ["GetItem", "PutItem", "UpdateItem"]
    assert policy["Statement"] == [statement(actions, "Notes", Condition=BY_TENANT)]


def test_a_policy_may_name_another_variable_for_the_tenant() -> None:
    variable = "${cognito-identity.amazonaws.com:sub}"
    policy = iam_policy(SYSTEM, patterns=["list_notes"], tenant=variable)
    (allowed,) = policy["Statement"]
    keys = {"dynamodb:LeadingKeys": [f"T#{variable}", f"T#{variable}#*"]}
    assert allowed["Condition"] == {"ForAllValues:StringLike": keys}


def bound_system() -> System:
    """Nothing in its steps says which tenant it is."""

    @pattern("Rename", index="Main table, GSI1")
    def rename(name: str, other: str, note: Note) -> Steps[list[Note]]:
        yield from transact(put(Note(name=other)), update(note, text="x"))
        yield from get(Note.key(name))
        return (yield from all_of(Note.within("GSI1")))

    @reaction(NOTES, of=[Note])
    def tidy(change: Change[Note]) -> Steps[None]:
        if change.before:
            yield from update(change.key, text="")

    module = ModuleType(__name__)
    vars(module).update(rename=rename, tidy=tidy)
    return System("bound", (NOTES,), (module,))


def test_a_pattern_may_leave_the_tenant_to_the_store() -> None:
    bound = bound_system()
    policy = iam_policy(bound, patterns=["rename", "tidy"], region="eu-west-1", account="1")
    needed = ["GetItem", "PutItem", "UpdateItem"]
    assert policy["Statement"][:2] == [
        statement(needed, "Notes", Condition=BY_TENANT),
        statement(["Query"], "Notes/index/GSI1", Condition=BY_TENANT),
    ]
    assert open_findings(bound) == []
    model = workbench_model(bound, at=datetime(2026, 3, 10, tzinfo=UTC))
    assert "T#tenant-1#NOTE#" in json.dumps(model)


def test_a_table_without_tenants_has_no_condition() -> None:
    policy = iam_policy(SYSTEM, patterns=["plans"], region="eu-west-1", account="1")
    assert policy["Statement"] == [statement(["BatchGetItem", "Scan"], "Shared")]


def test_the_real_names_of_tables_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    staging = {"*": "staging-*"}
    policy = iam_policy(SYSTEM, roles=["reader"], region="eu-west-1", account="1", tables=staging)
    assert [
        statement["Resource"][0].partition(":table/")[2] for statement in policy["Statement"]
    ] == [
        "staging-Notes",
        "staging-Notes/index/GSI1",
    ]
    monkeypatch.setenv("BIGTIME_TABLES", json.dumps(staging))
    assert iam_policy(SYSTEM, roles=["reader"], region="eu-west-1", account="1") == policy


def test_the_program_prints_it() -> None:
    result = invoke("iam", "tests.advisor.test_policy:SYSTEM", "--role", "reader")
    assert json.loads(result.output) == iam_policy(SYSTEM, roles=["reader"])
    refused = invoke("iam", "tests.advisor.test_policy:SYSTEM", "--role", "writer")
    assert refused.exit_code == 2
    assert "has no role 'writer'; it has reader" in refused.output


def test_a_role_of_an_unknown_pattern_is_refused() -> None:
    with pytest.raises(DesignError, match="has no pattern 'nothing'"):
        System("notes", (NOTES,), (sys.modules[__name__],), roles={"x": ("nothing",)})


def test_where_there_is_a_replica_the_fence_may_be_read() -> None:
    (fence,) = [
        each
        for each in iam_policy(SITE, patterns=["view_worker_report"], region="eu-west-1")[
            "Statement"
        ]
        if "table/Writers" in str(each["Resource"])
    ]
    assert (fence["Effect"], fence["Action"]) == ("Allow", ["dynamodb:Query"])
    assert fence["Resource"] == ["arn:aws:dynamodb:eu-west-1:*:table/Writers"]
    keys = fence["Condition"]["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"]
    assert {"WRITER#site", "WRITER#portal"} <= set(keys)
    assert "Writers" not in str(iam_policy(accounts.SYSTEM))


def test_an_admin_s_role_is_taken_with_the_index_that_finds_another() -> None:
    policy = iam_policy(accounts.SYSTEM, patterns=["revoke_role"])
    places = {place for each in policy["Statement"] for place in each["Resource"]}
    assert "arn:aws:dynamodb:*:*:table/Accounts/index/StaffIndex" in places
