"""Parses the tokens of a condition into its tree.

AWS: "PartiQL arithmetic, comparison, and logical operators for DynamoDB" and "Use PartiQL functions
with DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-functions.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from bigtime.engine import expressions
from bigtime.engine.partiql import statements
from bigtime.engine.partiql.cursor import NAME, QUOTED, Cursor
from bigtime.engine.partiql.statements import statement_error

Part: TypeAlias = expressions.Condition | expressions.Operand

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
TESTS = {"begins_with": 2, "contains": 2, "attribute_type": 2}


class ConditionParser(Cursor):
    def expression(self) -> Part:
        """Conditions joined by OR, or a single operand in parentheses."""
        return self.join_conditions("OR", self.conjunction, expressions.Or)

    def conjunction(self) -> Part:
        return self.join_conditions("AND", self.negation, expressions.And)

    def join_conditions(
        self,
        word: str,
        read: Callable[[], Part],
        join: Callable[[tuple[expressions.Condition, ...]], Part],
    ) -> Part:
        parts = [read()]
        while self.skip(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else join(tuple(map(self.condition, parts)))

    def negation(self) -> Part:
        opposite, found = False, False
        while self.skip("NOT"):
            opposite, found = not opposite, True
        part = self.predicate()
        if not found:
            return part
        condition = self.condition(part)
        return expressions.Not(condition) if opposite else condition

    def predicate(self) -> Part:
        left = self.primary()
        if self.next in COMPARATORS:
            operator = cast(expressions.Comparator, self.tokens[self.position].kind)
            self.position += 1
            return expressions.Comparison(operator, self.operand(left), self.operand_next())
        if self.skip("IS"):
            return self.kind_test(self.operand(left))
        opposite = self.skip("NOT")
        if self.skip("BETWEEN"):
            low = self.operand_next()
            self.take("AND")
            found: expressions.Condition = expressions.Between(
                self.operand(left), low, self.operand_next()
            )
        elif self.skip("IN"):
            found = self.membership(self.operand(left))
        elif opposite:
            raise self.unexpected_token()
        else:
            return left
        return expressions.Not(found) if opposite else found

    def kind_test(self, operand: expressions.Operand) -> expressions.Condition:
        """``IS MISSING`` and ``IS NULL``; the latter does not match a missing attribute."""
        opposite = self.skip("NOT")
        if not isinstance(operand, expressions.Path):
            raise statement_error("IS needs an attribute")
        if self.skip("MISSING"):
            name = "attribute_exists" if opposite else "attribute_not_exists"
            return expressions.Function(name, (operand,))
        if not self.skip("NULL"):
            # AWS: "TRUE if the operand is a given, PartiQL data type, including NULL or MISSING";
            # its names for the other types are not documented.
            raise statement_error("IS takes NULL or MISSING; attribute_type tells other types")
        null = self.constant(statements.Constant({"S": "NULL"}))
        found = expressions.Function("attribute_type", (operand, null))
        return expressions.Not(found) if opposite else found

    def constant(self, literal: statements.Constant) -> expressions.Value:
        name = f":{len(self.literals)}"
        self.literals[name] = literal
        return expressions.Value(name)

    def membership(self, operand: expressions.Operand) -> expressions.In:
        close = "]" if self.next == "[" else ")"
        self.take("[", "(")
        choices = self.list_until(self.operand_next, close)
        if not choices:
            raise statement_error("IN needs at least one value")
        return expressions.In(operand, choices)

    def primary(self) -> Part:
        if self.skip("("):
            part = self.nest(self.expression)
            self.take(")")
            return part
        if self.next in (NAME, "SIZE") and self.tokens[self.position + 1].kind == "(":
            return self.call()
        if self.next in (NAME, QUOTED):
            return self.path()
        return self.value()

    def call(self) -> expressions.Function:
        text = self.take(NAME, "SIZE")
        name = text.lower()
        self.take("(")
        operands = self.list_until(self.operand_next, ")")
        count = 1 if name == "size" else TESTS.get(name)
        if count is None:
            # AWS's message is not known.
            raise statement_error(f"Unsupported function {text}")
        if len(operands) != count:
            raise statement_error(f"{text} takes {count} arguments, not {len(operands)}")
        return expressions.Function(name, operands)

    def condition(self, part: Part) -> expressions.Condition:
        if isinstance(part, expressions.Path | expressions.Value) or is_size(part):
            raise statement_error("Expected a condition")
        return cast(expressions.Condition, part)

    def operand(self, part: Part) -> expressions.Operand:
        if isinstance(part, expressions.Path | expressions.Value):
            return part
        if is_size(part):
            return cast(expressions.Function, part)
        raise statement_error("Expected an attribute or a value")

    def operand_next(self) -> expressions.Operand:
        return self.operand(self.primary())


def is_size(part: Part) -> bool:
    return isinstance(part, expressions.Function) and part.name == "size"
