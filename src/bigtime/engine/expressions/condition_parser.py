"""Parsing conditions, filters and key conditions.

NOT binds more tightly than AND, and AND more tightly than OR, and IN takes up to 100 values.
(AWS: "Condition and filter expressions, operators, and functions in DynamoDB",
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html)

Waiting operators and open
parentheses are on one stack (`pending`), finished conditions on another (`parts`); an operand
may stand on the second too, until it is known whether it begins a comparison or a group.
"""

from __future__ import annotations

from typing import cast

from bigtime.engine.expressions import parser, tree
from bigtime.engine.expressions.lexer import END

MAX_CHOICES = 100

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
KEYWORDS = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN"))


class ConditionParser(parser.TreeParser[tree.Condition]):
    keywords = KEYWORDS
    functions = parser.CONDITION_FUNCTIONS
    kind = "a condition"
    mistakes_in_order = (
        "parentheses",
        "unknown function",
        "misused function",
        "reserved",
        "path",
        "choices",
    )

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.pending: list[tuple[str, int]] = []
        self.parts: list[tree.Condition | tree.Operand] = []
        self.open = 0
        self.closed = (-1, -1)

    def parse(self) -> tree.Condition:
        self.term()
        while self.next != END or self.open:
            if self.next in ("AND", "OR"):
                self.combine(self.next)
                self.term()
            elif self.next == ")" and self.open:
                self.close()
                self.complete()
            else:
                raise self.unexpected_token()
        self.reduce(lowest="OR")
        parsed = self.condition(self.parts.pop())
        self.finish()
        return parsed

    def term(self) -> None:
        """One condition, or one operand that so far stands alone in parentheses."""
        while self.next in ("NOT", "("):
            self.operators += self.next == "NOT"
            self.open += self.next == "("
            self.pending.append((self.next, self.position))
            self.position += 1
        self.parts.append(self.bare_operand(0))
        self.complete()

    def complete(self) -> None:
        """What has just been read may be the left side of a comparison."""
        left = self.parts[-1]
        while isinstance(left, tree.Path | tree.Value | tree.Function):
            if self.next in COMPARATORS or self.next in ("BETWEEN", "IN"):
                self.parts[-1] = left = self.comparison(left)
            elif self.next == ")" and self.pending and self.pending[-1][0] == "(":
                self.close()
                left = self.parts[-1]
            elif isinstance(left, tree.Function):
                return
            else:
                raise self.unexpected_token()

    def close(self) -> None:
        self.reduce(lowest="OR")
        _, opened = self.pending.pop()
        self.open -= 1
        self.take(")")
        self.check_parentheses(opened)

    def check_parentheses(self, opened: int) -> None:
        """Rejects ``((...))`` around conditions, operands and paths alike."""
        if self.closed == (opened + 1, self.position - 2):
            self.mistake("parentheses", parser.REDUNDANT_PARENTHESES)
        self.closed = (opened, self.position - 1)

    def combine(self, operator: str) -> None:
        self.reduce(lowest=operator)
        self.operators += 1
        self.pending.append((operator, self.position))
        self.position += 1

    def reduce(self, lowest: str) -> None:
        """Applies the waiting operators that bind at least as tightly as `lowest`."""
        binding = ("NOT", "AND") if lowest == "AND" else ("NOT", "AND", "OR")
        while self.pending and self.pending[-1][0] in binding:
            operator, _ = self.pending.pop()
            right = self.condition(self.parts.pop())
            if operator == "NOT":
                self.parts.append(right.part if isinstance(right, tree.Not) else tree.Not(right))
            else:
                left = self.condition(self.parts.pop())
                self.parts.append(join_parts(operator, left, right))

    def condition(self, part: tree.Condition | tree.Operand) -> tree.Condition:
        if isinstance(part, tree.Function) and part.name == "size":
            self.note_misuse(part)
        return cast(tree.Condition, part)

    def comparison(self, left: tree.Operand) -> tree.SimpleCondition:
        self.operators += 1
        if self.skip("BETWEEN"):
            low = self.operand()
            self.take("AND")
            high = self.operand()
            self.check_arguments((left, low, high))
            return tree.Between(left, low, high)
        if self.skip("IN"):
            return tree.In(left, self.choices(left))
        operator = cast(tree.Comparator, self.take(*COMPARATORS))
        right = self.operand()
        self.check_arguments((left, right))
        return tree.Comparison(operator, left, right)

    def choices(self, left: tree.Operand) -> tuple[tree.Operand, ...]:
        choices = self.arguments(0)
        self.check_arguments((left, *choices))
        if len(choices) > MAX_CHOICES:
            self.mistake(
                "choices",
                "The IN operator is provided with too many operands; "
                f"number of operands: {len(choices)}",
            )
        return choices

    def check_arguments(self, arguments: tuple[tree.Operand, ...]) -> None:
        for argument in arguments:
            if isinstance(argument, tree.Function) and argument.name != "size":
                self.note_misuse(argument)

    def note_misuse(self, function: tree.Function) -> None:
        self.mistake("misused function", f"{parser.MISUSED_FUNCTION}; function: {function.name}")


def join_parts(operator: str, left: tree.Condition, right: tree.Condition) -> tree.Condition:
    """AND and OR take any number of parts, so that a long chain stays a flat tree."""
    if operator == "AND":
        return tree.And((*left.parts, right) if isinstance(left, tree.And) else (left, right))
    return tree.Or((*left.parts, right) if isinstance(left, tree.Or) else (left, right))


parse_condition = parser.cached_parser(ConditionParser)
