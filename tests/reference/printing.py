"""A tree as a request says it: expression text, names behind `#`, values behind `:`.

Parentheses are printed only where precedence (NOT before AND before OR) needs them, so that
precedence itself is under test. DynamoDB refuses redundant ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bigtime.wire import AttributeValue
from tests.reference import trees as t

PLAIN_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]*")
RESERVED_HERE = frozenset({"name", "size", "set", "and", "data"})
CLAUSES = {t.Set: "SET", t.Remove: "REMOVE", t.Add: "ADD", t.DeleteFrom: "DELETE"}


@dataclass(frozen=True)
class Style:
    """How one request spells what it asks: choices that must change nothing."""

    placeholders: bool = True
    lower_case: bool = False
    spaces: str = " "
    legacy: bool = False
    """Without expressions, where that is possible."""


@dataclass
class Printer:
    style: Style
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, AttributeValue] = field(default_factory=dict)

    def placeholders(self) -> dict[str, Any]:
        """The placeholder parameters; an empty map of them would be an error."""
        params: dict[str, Any] = {}
        if self.names:
            params["ExpressionAttributeNames"] = {v: k for k, v in self.names.items()}
        if self.values:
            params["ExpressionAttributeValues"] = self.values
        return params

    def keyword(self, word: str) -> str:
        return word.lower() if self.style.lower_case else word

    def name(self, name: str) -> str:
        plain = PLAIN_NAME.fullmatch(name) and name.lower() not in RESERVED_HERE
        if plain and not self.style.placeholders:
            return name
        return self.names.setdefault(name, f"#n{len(self.names)}")

    def value(self, value: AttributeValue) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def path(self, path: t.Path) -> str:
        text = self.name(path.root)
        for step in path.steps[1:]:
            text += f"[{step}]" if isinstance(step, int) else f".{self.name(step)}"
        return text

    def projection(self, paths: t.Projection) -> str:
        return f",{self.style.spaces}".join(self.path(path) for path in paths)

    def key_condition(self, tests: t.KeyCondition) -> str:
        return f" {self.keyword('AND')} ".join(self.key_test(test) for test in tests)

    def key_test(self, test: t.KeyTest) -> str:
        name, values = self.name(test.name), [self.value(value) for value in test.values]
        if test.operator == "BETWEEN":
            both = f" {self.keyword('AND')} ".join(values)
            return f"{name} {self.keyword('BETWEEN')} {both}"
        if test.operator == "begins_with":
            return f"begins_with({name},{self.style.spaces}{values[0]})"
        return self.comparison(name, test.operator, values[0])

    def comparison(self, left: str, operator: str, right: str) -> str:
        return f"{left}{self.style.spaces}{operator}{self.style.spaces}{right}"

    def operand(self, operand: t.Operand) -> str:
        match operand:
            case t.Path():
                return self.path(operand)
            case t.SizeOf(path):
                return f"size({self.path(path)})"
            case t.Literal(value):
                return self.value(value)

    def condition(self, tree: t.Condition) -> str:
        match tree:
            case t.And(left, right):
                return self.join("AND", tree, left, right)
            case t.Or(left, right):
                return self.join("OR", tree, left, right)
            case t.Not(inner):
                return f"{self.keyword('NOT')} {self.guard(inner, binding(tree))}"
            case _:
                return self.test(tree)

    def join(self, word: str, tree: t.Condition, left: t.Condition, right: t.Condition) -> str:
        sides = [self.guard(side, binding(tree)) for side in (left, right)]
        return f" {self.keyword(word)} ".join(sides)

    def guard(self, tree: t.Condition, strength: int) -> str:
        text = self.condition(tree)
        return f"({text})" if binding(tree) < strength else text

    def test(self, tree: t.Condition) -> str:
        match tree:
            case t.Compare(operator, left, right):
                return self.comparison(self.operand(left), operator, self.operand(right))
            case t.Between(operand, low, high):
                word, both = self.keyword("BETWEEN"), self.keyword("AND")
                x, y, z = (self.operand(part) for part in (operand, low, high))
                return f"{x} {word} {y} {both} {z}"
            case t.OneOf(operand, options):
                first = self.operand(operand)
                listed = ", ".join(self.operand(option) for option in options)
                return f"{first} {self.keyword('IN')} ({listed})"
            case _:
                return self.function(tree)

    def function(self, tree: t.Condition) -> str:
        match tree:
            case t.Exists(path):
                return f"attribute_exists({self.path(path)})"
            case t.Missing(path):
                return f"attribute_not_exists({self.path(path)})"
            case t.IsOfType(path, kind):
                return f"attribute_type({self.path(path)}, {self.value({'S': kind})})"
            case t.BeginsWith(path, prefix):
                return f"begins_with({self.path(path)}, {self.operand(prefix)})"
            case t.Contains(path, member):
                return f"contains({self.path(path)}, {self.operand(member)})"
            case _:
                raise TypeError(tree)

    def update(self, actions: t.Update) -> str:
        clauses: dict[str, list[str]] = {}
        for action in actions:
            clauses.setdefault(CLAUSES[type(action)], []).append(self.action(action))
        return " ".join(f"{self.keyword(w)} {', '.join(done)}" for w, done in clauses.items())

    def action(self, action: t.Action) -> str:
        match action:
            case t.Set(path, value):
                return self.comparison(self.path(path), "=", self.assigned_text(value))
            case t.Remove(path):
                return self.path(path)
            case t.Add(path, literal) | t.DeleteFrom(path, literal):
                return f"{self.path(path)} {self.value(literal.value)}"

    def assigned_text(self, value: t.Assigned) -> str:
        match value:
            case t.Arithmetic(operator, left, right):
                return self.comparison(
                    self.assigned_text(left), operator, self.assigned_text(right)
                )
            case t.IfMissing(path, otherwise):
                return f"if_not_exists({self.path(path)}, {self.assigned_text(otherwise)})"
            case t.Append(first, second):
                return f"list_append({self.assigned_text(first)}, {self.assigned_text(second)})"
            case _:
                return self.operand(value)


def binding(tree: t.Condition) -> int:
    match tree:
        case t.Or():
            return 0
        case t.And():
            return 1
        case t.Not():
            return 2
        case _:
            return 3
