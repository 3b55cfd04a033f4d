"""The least-privilege IAM policy for a system's patterns: what their requests need, and no more.

Each pattern is dry-run on sample arguments, on tables that hold the items it reads and on empty
ones; the policy allows the actions of its requests, on the tables and indexes that they name. A
transaction needs the permissions of its actions (AWS: transaction-apis-iam.html).

Where every entity of a table has a tenant, the policy adds the condition `dynamodb:LeadingKeys`
(AWS: specifying-conditions.html), and leaves out Scan, which has no leading key.

A reaction also needs to read its table's stream. If a system has `permanent` tables, whose items
are never deleted, the policy denies deleting from them, except for items that one of the patterns
deletes (a marker), and denies deleting a table or turning off its point-in-time recovery.

If an environment has a replica, the policy allows reading the table `Writers`, which tells a
process whether its region is the writer.

Every system has the roles `backup` and `restore` in addition to its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime.advisor.explanation import Explanation, explain_on
from bigtime.advisor.prices import rate
from bigtime.advisor.request_actions import Action, actions_of
from bigtime.advisor.sample import MOMENT, entity_of, sample_arguments, sample_model
from bigtime.advisor.system_check import dry_run
from bigtime.engine import Engine
from bigtime.model import (
    MAIN,
    Branch,
    Change,
    DesignError,
    Pattern,
    Reaction,
    System,
    Table,
    check_kind,
    leading_texts,
)
from bigtime.store import WRITERS, TableNames, read_table_names

SINGLE: Final = {
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
TENANT: Final = "${aws:PrincipalTag/tenant}"
Need: TypeAlias = tuple[str, str, str]
"""An IAM action, a table, and one of its indexes."""

STREAM: Final = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
FOREVER: Final = ("DeleteItem", "PartiQLDelete")
KEPT: Final = ("DeleteTable", "UpdateContinuousBackups")
READ_TABLE: Final = ("DescribeTable", "DescribeContinuousBackups")
OPERATORS: Final = {
    "backup": (*READ_TABLE, "CreateBackup", "DescribeBackup", "ListBackups"),
    "restore": (
        *READ_TABLE,
        "DescribeBackup",
        "ListBackups",
        "ListTagsOfResource",
        "RestoreTableFromBackup",
        "RestoreTableToPointInTime",
    ),
}
"""The actions of the roles that every system has, on its tables and their backups."""
RESTORED: Final = "_restored"
RESTORES: Final = (
    "BatchWriteItem",
    "DeleteItem",
    "DescribeTable",
    "GetItem",
    "ListTagsOfResource",
    "PutItem",
    "Query",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "Scan",
    "TagResource",
    "UpdateItem",
)
"""The actions of a restore on the new table (AWS: "Using IAM with DynamoDB backup and restore"),
and those by which `bigtime restore` notes what it is restored from."""


class Where(NamedTuple):
    """Where the tables are, and their actual names."""

    region: str
    account: str
    names: TableNames | None
    tenant: str


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
    """The policy for these patterns and those of these roles; for all patterns, if none is named.

    `tables` gives the actual table names, as for `open_store`: `BIGTIME_TABLES` by default.
    `tenant` is the policy variable with the tenant whose items a caller may access.
    """
    check_kind(system, "iam_policy")
    where, roles = Where(region, account, read_table_names(tables), tenant), list(roles)
    operators = [role for role in roles if role in OPERATORS and role not in system.roles]
    names = [*patterns, *(name for role in roles for name in names_of_role(system, role))]
    statements = [
        statement for role in operators for statement in operator_statements(system, role, where)
    ]
    if names or not operators:
        statements += application_statements(system, names or [*system.patterns], where)
    return {"Version": "2012-10-17", "Statement": statements}


def names_of_role(system: System, role: str) -> tuple[str, ...]:
    if role in system.roles:
        return system.roles[role]
    if role in OPERATORS:
        return ()
    known = ", ".join(system.roles) or "none; declare them, as in System(roles={...})"
    raise DesignError(
        f"system {system.name} has no role {role!r}; it has {known}, and backup and restore"
    )


def application_statements(
    system: System, names: Iterable[str], where: Where
) -> Iterator[dict[str, Any]]:
    """What patterns and reactions need, and what is denied to all of them."""
    runs: list[Explanation[Any]] = []
    streams: list[Table] = []
    with Engine.memory(housekeeping=False) as engine:
        for name in dict.fromkeys(names):
            if name in system.reactions:
                streams.append(system.reactions[name].table)
            runs += dry_runs(engine, system, name)
    erased = erasures(system, runs)
    needs = {
        need
        for run in runs
        for need in needs_of(run)
        if need[0] != "DeleteItem" or need[1] not in erased
    }
    granted: dict[tuple[str, ...], list[tuple[Table, str]]] = {}
    for (table, index), actions in by_place(system, needs):
        granted.setdefault(tuple(sorted(actions)), []).append((table, index))
    for grant, places in granted.items():
        yield from statements_of(grant, places, where)
    if streams:
        arns = [f"{resource(table.name, MAIN, where)}/stream/*" for table in dict.fromkeys(streams)]
        yield statement("Allow", STREAM, arns)
    for name, texts in erased.items():
        arn = resource(name, MAIN, where)
        keys = {"ForAllValues:StringLike": [f"{text}*" for text in texts]}
        yield statement("Allow", ("DeleteItem",), [arn], keys)
    yield from fence_statements(system, where)
    yield from denials(system, erased, where)


def fence_statements(system: System, where: Where) -> Iterator[dict[str, Any]]:
    """Lets each process look up which region is the writer, if there is a replica."""
    if not any(environment.dr_region for environment in system.environments):
        return
    keys = {"ForAllValues:StringEquals": [f"WRITER#{each.name}" for each in (system, *system.uses)]}
    yield statement("Allow", ("Query",), [resource(WRITERS.name, MAIN, where)], keys)


def operator_statements(system: System, role: str, where: Where) -> Iterator[dict[str, Any]]:
    """Access to the tables' backups; to items only for restored tables."""
    arns = [resource(table.name, MAIN, where) for table in system.tables]
    places = [place for arn in arns for place in (arn, f"{arn}/backup/*")]
    yield statement("Allow", OPERATORS[role], places)
    if role == "restore":
        yield statement("Allow", RESTORES, [f"{arn}{RESTORED}" for arn in arns])


def denials(system: System, erased: dict[str, list[str]], where: Where) -> Iterator[dict[str, Any]]:
    """Denies deleting from permanent tables, except for what one of these patterns deletes."""
    if not system.permanent:
        return
    whole = [name for name in system.permanent if name not in erased]
    tables = [resource(name, MAIN, where) for name in whole]
    if tables:
        yield statement("Deny", FOREVER, tables)
    for name, texts in erased.items():
        arn = resource(name, MAIN, where)
        keys = {"ForAnyValue:StringNotLike": [f"{text}*" for text in texts]}
        yield statement("Deny", FOREVER, [arn], keys)
    yield statement("Deny", KEPT, [resource(table.name, MAIN, where) for table in system.tables])


def statement(
    effect: str,
    actions: Iterable[str],
    resources: list[str],
    keys: Mapping[str, list[str]] | None = None,
) -> dict[str, Any]:
    """A statement; `keys` limits it to leading keys, by comparison operator."""
    made = {
        "Effect": effect,
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": resources,
    }
    if not keys:
        return made
    condition = {operator: {"dynamodb:LeadingKeys": texts} for operator, texts in keys.items()}
    return {**made, "Condition": condition}


# Dry runs of patterns and reactions


def dry_runs(engine: Engine, system: System, name: str) -> Iterator[Explanation[Any]]:
    """Dry runs of a pattern: on tables with the items it reads, on empty ones, and its branches."""
    reaction = system.reactions.get(name)
    if reaction is not None:
        yield from reaction_runs(engine, system, reaction)
        return
    pattern = system.pattern(name)
    yield dry_run(engine, system, pattern)
    yield dry_run(engine, system, pattern, holding=())
    for branch in system.branches.get(name, ()):
        yield branch_run(engine, system, pattern, branch)


def branch_run(
    engine: Engine, system: System, named: Pattern[..., Any] | Reaction, branch: Branch
) -> Explanation[Any]:
    samples = sample_arguments(named) if isinstance(named, Pattern) else {}
    steps = named(**{**samples, **branch.arguments})
    return explain_on(engine, steps, tables=system.all_tables, rate=rate(), holding=branch.holding)


def reaction_runs(engine: Engine, system: System, reaction: Reaction) -> Iterator[Explanation[Any]]:
    """Dry runs of a reaction: to an insert, modify and remove of each entity, and its branches."""
    for entity in reaction.table.entities:
        sample = sample_model(entity)
        for kind, before, after in (
            ("insert", None, sample),
            ("modify", sample, sample),
            ("remove", sample, None),
        ):
            change: Change[Any] = Change(
                kind,  # type: ignore[arg-type]
                entity,
                sample.own_key(),
                before,
                after,
                "1",
                MOMENT,
                by_service=False,
            )
            yield branch_run(engine, system, reaction, Branch({"change": change}))
    for branch in system.branches.get(reaction.name, ()):
        yield branch_run(engine, system, reaction, branch)


def needs_of(run: Explanation[Any]) -> Iterator[Need]:
    for request in run.requests:
        operation = request.request.operation
        actions = list(actions_of(request.request))
        if operation.startswith("Batch") or not actions:
            yield from ((operation, table.name, index.name) for table, index in request.used)
        else:
            yield from ((SINGLE[action.kind], action.table, MAIN) for action in actions)


def erasures(system: System, runs: Iterable[Explanation[Any]]) -> dict[str, list[str]]:
    """The permanent tables that the runs delete from, with the prefixes of the deleted keys."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for action in (
            action for request in run.requests for action in actions_of(request.request)
        ):
            if action.kind == "Delete" and action.table in system.permanent:
                texts = found.setdefault(action.table, [])
                texts += [text for text in key_texts(system, action) if text not in texts]
    return found


def key_texts(system: System, action: Action) -> list[str]:
    known = entity_of(system.table(action.table), action.key)
    return [] if known is None else leading_texts(known[0].layout)


def by_place(system: System, needs: Iterable[Need]) -> Iterator[tuple[tuple[Table, str], set[str]]]:
    """The actions needed on each table and index."""
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
    actions: tuple[str, ...], places: list[tuple[Table, str]], where: Where
) -> Iterator[dict[str, Any]]:
    """One statement for all places, and one for each table with a tenant."""
    shared = [place for place in places if not is_by_tenant(place[0])]
    groups = [shared, *([place] for place in places if place not in shared)]
    for group in groups:
        if not group or not actions:
            continue
        arns = [resource(table.name, index, where) for table, index in group]
        table = group[0][0]
        keys = {}
        if is_by_tenant(table):
            keys["ForAllValues:StringLike"] = leading_keys(table, where.tenant)
        yield statement("Allow", actions, arns, keys)


def resource(table: str, index: str, where: Where) -> str:
    name = table if where.names is None else where.names.real(table)
    arn = f"arn:aws:dynamodb:{where.region}:{where.account}:table/{name}"
    return arn if index == MAIN else f"{arn}/index/{index}"


def leading_keys(table: Table, tenant: str) -> list[str]:
    texts = dict.fromkeys(
        text for entity in table.entities for text in leading_texts(entity.layout)
    )
    return [key for text in texts for key in (f"{text}{tenant}", f"{text}{tenant}#*")]
