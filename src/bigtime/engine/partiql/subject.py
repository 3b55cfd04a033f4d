"""What policies evaluate of a statement: its action, table, partition keys and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bigtime import wire
from bigtime.engine import expressions
from bigtime.engine.partiql import statements
from bigtime.engine.partiql.compiler import select_plan, write_plan
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.storage import Index, Table
from bigtime.wire import Item, Params

ACTIONS: Final = {
    statements.Select: "PartiQLSelect",
    statements.Exists: "PartiQLSelect",
    statements.Insert: "PartiQLInsert",
    statements.Update: "PartiQLUpdate",
    statements.Delete: "PartiQLDelete",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """`partitions` are the partition keys read or written; a Scan has none."""

    index: Index | None
    partitions: list[Item]
    attributes: frozenset[str]
    select: str | None = None
    return_values: str | None = None


def statement_action(request: Params) -> tuple[str, str, str | None]:
    """The IAM action of a statement, and its table and index as written."""
    body = parse_statement(request["Statement"]).body
    index = body.index if isinstance(body, statements.Select) else None
    return ACTIONS[type(body)], body.table, index


def statement_subject(request: Params, table: Table) -> Subject:
    """What a request's statement reads or writes in its table."""
    statement = parse_statement(request["Statement"])
    values = statement.bind(request.get("Parameters") or ())
    body = statement.body
    if isinstance(body, statements.Select):
        return select_subject(statement.text, body, values, table)
    returned = "NONE" if isinstance(body, statements.Insert | statements.Exists) else body.returning
    if request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
        returned = "ALL_OLD"
    if isinstance(body, statements.Insert):
        item = wire.check_item(values[body.item.name].get("M", {}))[0]
        return Subject(None, [item], frozenset(item), return_values=returned)
    key = write_plan(statement.text, table).key_of(values)
    return Subject(None, [key], written_attributes(body), return_values=returned or "NONE")


def written_attributes(
    body: statements.Update | statements.Delete | statements.Exists,
) -> frozenset[str]:
    if isinstance(body, statements.Exists):
        return where_attributes(body.select.where)
    actions = body.actions if isinstance(body, statements.Update) else ()
    paths = [path for action in actions for path in expressions.action_paths(action)]
    return expressions.attributes_at(paths, {}) | where_attributes(body.where)


def select_subject(
    text: str, body: statements.Select, values: dict[str, wire.AttributeValue], table: Table
) -> Subject:
    plan = select_plan(text, table)
    partitions = [
        {term.attribute: values[term.value_names[0]] for term in terms} for terms in plan.partitions
    ]
    named = where_attributes(body.where) | {order.attribute for order in body.order}
    select = "ALL_PROJECTED_ATTRIBUTES" if plan.index else "ALL_ATTRIBUTES"
    if body.paths is not None:
        named |= expressions.attributes_at(body.paths, {})
        select = "SPECIFIC_ATTRIBUTES"
    return Subject(plan.index, partitions, named, select)


def where_attributes(where: expressions.Condition | None) -> frozenset[str]:
    paths = () if where is None else expressions.condition_paths(where)
    return expressions.attributes_at(paths, {})
