"""PartiQL: a call of the model as the statement that asks for it.

A statement is never made by itself: it is a Get, a Query, a Scan or a write of the model, printed
in another language. So the same model foretells it (see `spoken`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bigtime.wire import AttributeValue
from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.designs import Design
from tests.reference.operations import present
from tests.reference.printing import Printer

RETURNING = {
    "ALL_OLD": "ALL OLD",
    "ALL_NEW": "ALL NEW",
    "UPDATED_OLD": "MODIFIED OLD",
    "UPDATED_NEW": "MODIFIED NEW",
}
ORDINARY_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")

Inner: TypeAlias = o.Get | o.Query | o.Scan | o.Put | o.Update | o.Delete | o.Check


@dataclass
class StatementPrinter(Printer):
    """Names stand in double quotes; values are literals, or parameters in their order."""

    parameters: list[AttributeValue] = field(default_factory=list)

    def name(self, name: str) -> str:
        return f'"{name}"'

    def value(self, value: AttributeValue) -> str:
        text = None if self.style.placeholders else literal(value)
        if text is None:
            self.parameters.append(value)
            return "?"
        return text

    def function(self, tree: t.Condition) -> str:
        match tree:
            case t.Exists(path):
                return f"{self.path(path)} {self.keyword('IS NOT MISSING')}"
            case t.Missing(path):
                return f"{self.path(path)} {self.keyword('IS MISSING')}"
            case _:
                return super().function(tree)

    def update(self, actions: t.Update) -> str:
        return " ".join(self.clause(action) for action in actions)

    def clause(self, action: t.Action) -> str:
        match action:
            case t.Set():
                return f"{self.keyword('SET')} {self.action(action)}"
            case t.Remove(path):
                return f"{self.keyword('REMOVE')} {self.path(path)}"
            case t.Add(path, members) | t.DeleteFrom(path, members):
                word = "set_add" if isinstance(action, t.Add) else "set_delete"
                target = self.path(path)
                changed = f"{word}({target}, {self.value(members.value)})"
                return f"{self.keyword('SET')} {self.comparison(target, '=', changed)}"

    def statement(self, call: Inner) -> str:
        match call:
            case o.Get() | o.Query() | o.Scan():
                return self.select(call)
            case o.Put():
                members = [f"{quote(name)}: {self.value(v)}" for name, v in call.item.items()]
                verb = self.keyword("INSERT INTO")
                word = self.keyword("VALUE")
                return f'{verb} "{call.design.name}" {word} {{{", ".join(members)}}}'
            case o.Update():
                verb, actions = self.keyword("UPDATE"), self.update(call.actions)
                return f'{verb} "{call.design.name}" {actions}{self.where(call)}'
            case o.Delete():
                return f'{self.keyword("DELETE FROM")} "{call.design.name}"{self.where(call)}'
            case o.Check():
                source = f'{self.keyword("SELECT")} * {self.keyword("FROM")} "{call.design.name}"'
                return f"{self.keyword('EXISTS')}({source}{self.where(call)})"

    def select(self, call: o.Get | o.Query | o.Scan) -> str:
        shown = self.projection(call.projection) or "*"
        source = f'"{call.design.name}"'
        if not isinstance(call, o.Get) and call.index is not None:
            source += f'."{call.index}"'
        text = f"{self.keyword('SELECT')} {shown} {self.keyword('FROM')} {source}{self.where(call)}"
        if isinstance(call, o.Query) and (order := order_of(call)) is not None:
            direction = "DESC" if call.forward is False else "ASC"
            text += f" {self.keyword('ORDER BY')} {self.name(order)} {self.keyword(direction)}"
        return text

    def where(self, call: Inner) -> str:
        condition = condition_of(call)
        text = "" if condition is None else f" {self.keyword('WHERE')} {self.condition(condition)}"
        if isinstance(call, o.Update | o.Delete) and call.returns in RETURNING:
            text += f" {self.keyword(f'RETURNING {RETURNING[call.returns]}')} *"
        return text


def order_of(query: o.Query) -> str | None:
    """The sort key that a statement orders by, where there is one and the query has a direction."""
    index = query.design.index(query.index)
    names = index.sort if index else query.design.keys[1:]
    return names[0] if query.forward is not None and len(names) == 1 else None


def condition_of(call: Inner) -> t.Condition | None:
    """All that a WHERE says: the key, and what else is asked of the item."""
    match call:
        case o.Query():
            parts = [tree_of(test) for test in call.keys]
        case o.Scan() | o.Put():
            parts = []
        case _:
            parts = [t.Compare("=", t.Path((n,)), t.Literal(v)) for n, v in call.names().items()]
    asked = None
    if isinstance(call, o.Query | o.Scan):
        asked = call.filter
    elif isinstance(call, o.Write):
        asked = call.condition
    joined: t.Condition | None = None
    for part in [*parts, *([asked] if asked else [])]:
        joined = part if joined is None else t.And(joined, part)
    return joined


def tree_of(test: t.KeyTest) -> t.Condition:
    path, values = t.Path((test.name,)), [t.Literal(value) for value in test.values]
    match test.operator:
        case "BETWEEN":
            return t.Between(path, *values)
        case "begins_with":
            return t.BeginsWith(path, values[0])
        case _:
            return t.Compare(test.operator, path, values[0])


def literal(value: AttributeValue) -> str | None:
    """A value as a statement writes it; None for what only a parameter can be."""
    ((kind, content),) = value.items()
    match kind:
        case "SS" | "NS":
            return in_brackets("<<", [literal({kind[0]: member}) for member in content], ">>")
        case "L":
            return in_brackets("[", [literal(member) for member in content], "]")
        case "M":
            texts = {quote(name): literal(member) for name, member in content.items()}
            return in_brackets("{", [m and f"{n}: {m}" for n, m in texts.items()], "}")
        case _:
            return scalar_literal(kind, content)


def scalar_literal(kind: str, content: Any) -> str | None:
    match kind:
        case "S":
            return quote(content)
        case "N" if ORDINARY_NUMBER.fullmatch(content):
            return str(content)
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case _:
            return None


def in_brackets(opening: str, members: list[str | None], closing: str) -> str | None:
    texts = [text for text in members if text is not None]
    return f"{opening}{', '.join(texts)}{closing}" if len(texts) == len(members) else None


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, kw_only=True)
class Statement(o.Call):
    """ExecuteStatement."""

    call: Inner

    def name(self) -> str:
        return "ExecuteStatement"

    def main_design(self) -> Design:
        return self.call.design

    def params(self) -> dict[str, Any]:
        call = self.call
        params = self.member()
        if isinstance(call, o.Get | o.Query | o.Scan):
            params |= present(ConsistentRead=call.consistent)
        if isinstance(call, o.Query | o.Scan):
            params |= present(Limit=call.limit)
        return params

    def member(self) -> dict[str, Any]:
        """The statement as one of a batch or of a transaction."""
        call = self.call
        printer = StatementPrinter(call.style)
        text = printer.statement(call)
        shows = call.returns_on_failure if isinstance(call, o.Write) else None
        return present(
            Statement=text,
            Parameters=printer.parameters or None,
            ReturnValuesOnConditionCheckFailure=shows,
        )


@dataclass(frozen=True, kw_only=True)
class Statements(o.Call):
    statements: tuple[Statement, ...]

    def main_design(self) -> Design:
        return self.statements[0].main_design()

    @property
    def reads(self) -> bool:
        return isinstance(self.statements[0].call, o.Get)


@dataclass(frozen=True, kw_only=True)
class BatchStatement(Statements):
    def name(self) -> str:
        return "BatchExecuteStatement"

    def params(self) -> dict[str, Any]:
        return {"Statements": [statement.member() for statement in self.statements]}


@dataclass(frozen=True, kw_only=True)
class TransactStatement(Statements):
    token: str | None = None

    def name(self) -> str:
        return "ExecuteTransaction"

    def params(self) -> dict[str, Any]:
        members = [statement.member() for statement in self.statements]
        return present(TransactStatements=members, ClientRequestToken=self.token)


Spoken: TypeAlias = Statement | BatchStatement | TransactStatement
