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
from bigtime.engine.partiql.cursor import END, NAME, QUOTED, RESERVED, Cursor
from bigtime.engine.partiql.statements import statement_error
from bigtime.wire import ValidationException

Part: TypeAlias = expressions.Condition | expressions.Operand

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
MAX_COMPARED = 300
# AWS's page does not list the first two, but takes them: https://github.com/floci-io/floci/pull/3798
TESTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
}


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
            self.expect_right_side()
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
            self.expect_right_side()
            return self.comparison(operator, left, self.primary())
        if self.skip("IS"):
            return self.kind_test(self.operand(left))
        opposite = self.skip("NOT")
        if self.skip("BETWEEN"):
            found = self.between(left)
        elif self.skip("IN"):
            found = self.membership(left)
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
            if self.next != RESERVED:
                raise statement_error("Expected type name")
            # AWS: "TRUE if the operand is a given, PartiQL data type, including NULL or MISSING";
            # its names for the other types are not documented.
            raise statement_error("IS takes NULL or MISSING; attribute_type tells other types")
        null = self.add_literal(statements.Constant({"S": "NULL"}))
        found = expressions.Function("attribute_type", (operand, null))
        return expressions.Not(found) if opposite else found

    def between(self, part: Part) -> expressions.Condition:
        self.expect_right_side()
        low = self.operand_next()
        self.take("AND")
        if self.next == END:
            raise statement_error("Expected expression after AND")
        high = self.operand_next()
        if not is_operand(part):
            raise no_order("BETWEEN")
        return expressions.Between(self.operand(part), low, high)

    def membership(self, part: Part) -> expressions.Condition:
        self.expect_right_side()
        close = "]" if self.next == "[" else ")"
        self.take("[", "(")
        choices = self.list_until(self.primary, close)
        if not choices:
            raise statement_error("IN needs at least one value")
        if is_operand(part):
            return expressions.In(self.operand(part), tuple(map(self.operand, choices)))
        return expressions.Or(tuple(self.same_truth(part, choice) for choice in choices))

    def comparison(
        self, operator: expressions.Comparator, left: Part, right: Part
    ) -> expressions.Condition:
        if is_operand(left) and is_operand(right):
            return expressions.Comparison(operator, self.operand(left), self.operand(right))
        if operator not in ("=", "<>"):
            raise no_order(operator)
        same = self.same_truth(left, right)
        return same if operator == "=" else expressions.Not(same)

    def same_truth(self, left: Part, right: Part) -> expressions.Condition:
        """A condition compared with something, as AWS does it: the condition reads as a boolean.

        (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
        """
        both = expressions.And((self.truth(left, holds=True), self.truth(right, holds=True)))
        neither = expressions.And((self.truth(left, holds=False), self.truth(right, holds=False)))
        same = expressions.Or((both, neither))
        # Each part is in it twice, so that comparisons of comparisons would grow without bound.
        if sum(1 for _ in expressions.simple_conditions(same)) > MAX_COMPARED:
            raise statement_error("The compared conditions are too large")
        return same

    def truth(self, part: Part, *, holds: bool) -> expressions.Condition:
        if is_operand(part):
            boolean = self.add_literal(statements.Constant({"BOOL": holds}))
            return expressions.Comparison("=", self.operand(part), boolean)
        condition = self.condition(part)
        return condition if holds else expressions.Not(condition)

    def primary(self) -> Part:
        if self.skip("("):
            part = self.nest(self.expression)
            self.take(")")
            return part
        if self.is_call():
            return self.call()
        if self.next in (NAME, QUOTED):
            return self.path()
        return self.value()

    def call(self) -> expressions.Function:
        text = self.tokens[self.position].text
        name = text.lower()
        count = 1 if name == "size" else TESTS.get(name)
        if count is None:
            raise self.unknown_function()
        self.position += 1
        self.take("(")
        operands = self.list_until(self.operand_next, ")")
        if len(operands) != count:
            raise statement_error(f"{text} takes {count} arguments, not {len(operands)}")
        return expressions.Function(name, operands)

    def condition(self, part: Part) -> expressions.Condition:
        if is_operand(part):
            raise statement_error("Expected a condition")
        return cast(expressions.Condition, part)

    def operand(self, part: Part) -> expressions.Operand:
        if is_operand(part):
            return cast(expressions.Operand, part)
        raise statement_error("Expected an attribute or a value")

    def operand_next(self) -> expressions.Operand:
        return self.operand(self.primary())


def is_operand(part: Part) -> bool:
    if isinstance(part, expressions.Function):
        return part.name == "size"
    return isinstance(part, expressions.Path | expressions.Value)


def no_order(operator: str) -> ValidationException:
    return ValidationException(
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: BOOL"
    )
