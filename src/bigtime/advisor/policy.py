"""The least-privilege IAM policy of a system's patterns: what their requests need, and no more.

Each pattern is run dry on sample arguments, on tables that hold what it asks for and on empty
ones; the policy allows the actions that its requests take, on the tables and indexes that they
name. A transaction needs the permissions of its actions (AWS: transaction-apis-iam.html).

Where every entity of a table has a tenant, the policy adds the condition `dynamodb:LeadingKeys`
(AWS: specifying-conditions.html), and leaves out Scan, which has no leading key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from bigtime.advisor.request_actions import actions_of
from bigtime.advisor.system_check import dry_run
from bigtime.engine import Engine
from bigtime.model import MAIN, DesignError, Pattern, System, Table, check_kind, leading_texts
from bigtime.store import TableNames, table_names

SINGLE: Final = {
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
TENANT: Final = "${aws:PrincipalTag/tenant}"
Need: TypeAlias = tuple[str, str, str]
"""An action of IAM, a table, and an index of it."""


def iam_policy(
    system: System,
    *,
    patterns: Iterable[str] = (),
    roles: Iterable[str] = (),
    region: str = "*",
    account: str = "*",
    tenant: str = TENANT,
    tables: TableNames | Mapping[str, str] | str | None = None,
) -> dict[str, Any]:
    """The policy for these patterns and those of these roles; for all, if none is named.

    `tables` are the real names of tables, as of `open_store`: `BIGTIME_TABLES` by default.
    """
    check_kind(system, "iam_policy")
    names = table_names(tables)

    def arn(table: Table) -> str:
        real = table.name if names is None else names.real(table.name)
        return f"arn:aws:dynamodb:{region}:{account}:table/{real}"

    needs = needs_of(system, chosen_patterns(system, patterns, roles))
    granted: dict[tuple[str, ...], list[tuple[Table, str]]] = {}
    for (table, index), actions in by_place(system, needs):
        granted.setdefault(tuple(sorted(actions)), []).append((table, index))
    statements = [
        statement
        for actions, places in granted.items()
        for statement in statements_of(actions, places, arn, tenant)
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def chosen_patterns(
    system: System, patterns: Iterable[str], roles: Iterable[str]
) -> list[Pattern[..., Any]]:
    names = [*patterns, *(name for role in roles for name in patterns_of_role(system, role))]
    if not names:
        return list(system.patterns.values())
    return [system.pattern(name) for name in dict.fromkeys(names)]


def patterns_of_role(system: System, role: str) -> tuple[str, ...]:
    if role not in system.roles:
        known = ", ".join(system.roles) or "none; declare them, as in System(roles={...})"
        raise DesignError(f"system {system.name} has no role {role!r}; it has {known}")
    return system.roles[role]


def needs_of(system: System, patterns: Iterable[Pattern[..., Any]]) -> set[Need]:
    found: set[Need] = set()
    with Engine.memory(housekeeping=False) as engine:
        for pattern in patterns:
            for explained in (
                dry_run(engine, system, pattern),
                dry_run(engine, system, pattern, holding=()),
            ):
                for request in explained.requests:
                    operation = request.request.operation
                    actions = [action.kind for action in actions_of(request.request)]
                    whole = operation.startswith("Batch") or not actions
                    names = {operation} if whole else {SINGLE[kind] for kind in actions}
                    found |= {
                        (name, table.name, index.name)
                        for name in names
                        for table, index in request.used
                    }
    return found


def by_place(system: System, needs: Iterable[Need]) -> Iterator[tuple[tuple[Table, str], set[str]]]:
    """What is needed of each table and index."""
    needed: dict[tuple[str, str], set[str]] = {}
    for action, name, index in sorted(needs):
        needed.setdefault((name, index), set()).add(action)
    tables = {table.name: table for table in system.all_tables}
    for (name, index), actions in needed.items():
        table = tables[name]
        yield (table, index), actions - {"Scan"} if is_by_tenant(table) else actions


def is_by_tenant(table: Table) -> bool:
    return all(entity.layout.tenant for entity in table.entities)


def statements_of(
    actions: tuple[str, ...],
    places: list[tuple[Table, str]],
    arn: Callable[[Table], str],
    tenant: str,
) -> Iterator[dict[str, Any]]:
    """One statement for all places, and one for each table that goes by tenant."""
    shared = [place for place in places if not is_by_tenant(place[0])]
    groups = [shared, *([place] for place in places if place not in shared)]
    for group in groups:
        if not group or not actions:
            continue
        statement: dict[str, Any] = {
            "Effect": "Allow",
            "Action": [f"dynamodb:{action}" for action in actions],
            "Resource": [
                arn(table) if index == MAIN else f"{arn(table)}/index/{index}"
                for table, index in group
            ],
        }
        if is_by_tenant(group[0][0]):
            keys = leading_keys(group[0][0], tenant)
            statement["Condition"] = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys}}
        yield statement


def leading_keys(table: Table, tenant: str) -> list[str]:
    texts = dict.fromkeys(
        text for entity in table.entities for text in leading_texts(entity.layout)
    )
    return [key for text in texts for key in (f"{text}{tenant}", f"{text}{tenant}#*")]
