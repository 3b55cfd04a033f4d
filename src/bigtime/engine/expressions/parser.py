"""Parses tokens into trees: the parts that all expressions share.

Rule 1. A syntax error is the first token that no expression could continue with, so nothing
is decided before its token is reached: ``(a`` may become ``(a) = :v`` or ``(a = :v)``.

Rule 2. What a text can nest without limit does not recurse: the parentheses and NOTs of a condition
wait on an explicit stack. Only operands recurse, and no sensible operand is nested deeper than
`MAX_OPERAND_DEPTH`.

Rule 3. Errors other than syntax errors are collected while reading, the first of each kind, and
reported after the last token in DynamoDB's order, which each parser defines. AWS documents neither
the order nor the messages; both were recorded from it by dynalite's tests.
(https://github.com/architect/dynalite/tree/main/test)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from bigtime.engine.expressions import lexer, tree

Tree = TypeVar("Tree")

# AWS: "Constraints in Amazon DynamoDB", "Expression parameters" and "Attributes"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MAX_BYTES = 4096
MAX_OPERATORS = 300
MAX_PATH_ELEMENTS = 32
# (Measured on AWS: https://github.com/floci-io/floci/issues/3073)
MAX_LIST_INDEX = 2**32 - 2
MAX_OPERAND_DEPTH = 100
CACHED_TEXTS = 1024
LONGEST_CACHED_TEXT = 1024

# Since 2022 without the size, but for the filter of a Scan. (Seen on AWS:
# https://github.com/aws/aws-sdk-java-v2/issues/4597, https://github.com/floci-io/floci/pull/3447)
TOO_LONG = "Expression size has exceeded the maximum allowed size;"
# (Seen on AWS: https://github.com/floci-io/floci/pull/1442)
REDUNDANT_PARENTHESES = "The expression has redundant parentheses;"
MISUSED_FUNCTION = "The function is not allowed to be used this way in an expression"

CONDITION_FUNCTIONS = frozenset(
    "attribute_exists attribute_not_exists attribute_type begins_with contains size".split()
)
UPDATE_FUNCTIONS = frozenset(("if_not_exists", "list_append"))


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Tree]):
    """A tree with the placeholders that its text mentions, each once, in order."""

    tree: Tree
    aliases: tuple[str, ...]
    values: tuple[str, ...]


class Parser(lexer.TokenCursor):
    """A cursor over the tokens of one expression, and the parts all expressions share."""

    keywords: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    kind = ""
    mistakes_in_order: tuple[str, ...] = ("reserved", "path")

    def __init__(self, source: str) -> None:
        super().__init__(lexer.tokens(source, self.keywords))
        self.source = source
        self.operators = 0
        self.mistakes: dict[str, str] = {}
        self.aliases: dict[str, None] = {}
        self.values: dict[str, None] = {}

    def unexpected_token(self) -> lexer.ExpressionError:
        return lexer.syntax_error(self.source, self.tokens, self.position)

    def mistake(self, kind: str, message: str) -> None:
        self.mistakes.setdefault(kind, message)

    def finish(self) -> None:
        """Checks that no tokens remain, then reports errors other than syntax errors."""
        self.take(lexer.END)
        if self.operators > MAX_OPERATORS:
            raise lexer.ExpressionError(
                f"The expression contains too many operators; operator count: {MAX_OPERATORS + 1}"
            )
        for kind in self.mistakes_in_order:
            if kind in self.mistakes:
                raise lexer.ExpressionError(self.mistakes[kind])

    def path(self) -> tree.Path:
        elements: list[str | int | tree.Alias] = [self.path_name()]
        while self.next in (".", "["):
            if self.skip("."):
                elements.append(self.path_name())
            else:
                elements.append(self.path_index())
        if len(elements) > MAX_PATH_ELEMENTS:
            self.mistake(
                "path",
                f"The document path has too many nesting levels; nesting levels: {len(elements)}",
            )
        return tree.Path(tuple(elements))

    def path_name(self) -> str | tree.Alias:
        kind = self.next
        text = self.take(lexer.NAME, lexer.ALIAS)
        if kind == lexer.ALIAS:
            self.aliases[text] = None
            return tree.Alias(text)
        if lexer.is_reserved(text):
            self.mistake(
                "reserved", f"Attribute name is a reserved keyword; reserved keyword: {text}"
            )
        return text

    def path_index(self) -> int:
        self.take("[")
        index = int(self.take(lexer.NUMBER))
        self.take("]")
        if index > MAX_LIST_INDEX:
            self.mistake("path", f"List index is not within the allowable range; index: [{index}]")
        return index

    def value(self) -> tree.Value:
        name = self.take(lexer.VALUE)
        self.values[name] = None
        return tree.Value(name)

    def operand(self, depth: int = 0) -> tree.Operand:
        if self.next != "(":
            return self.bare_operand(depth)
        if depth > MAX_OPERAND_DEPTH:
            raise lexer.ExpressionError(REDUNDANT_PARENTHESES)
        opened = self.position
        self.take("(")
        inner = self.operand(depth + 1)
        self.take(")")
        self.check_parentheses(opened)
        return inner

    def bare_operand(self, depth: int) -> tree.Operand:
        if self.next == lexer.VALUE:
            return self.value()
        if self.next == lexer.NAME and self.tokens[self.position + 1].kind == "(":
            return self.call(depth)
        return self.path()

    def call(self, depth: int) -> tree.Function:
        name = self.take(lexer.NAME)
        if depth > MAX_OPERAND_DEPTH:
            raise lexer.ExpressionError(f"{MISUSED_FUNCTION}; function: {name}")
        arguments = self.arguments(depth)
        self.check_arguments(arguments)
        if name not in self.functions:
            self.unknown_function(name)
        return tree.Function(name, arguments)

    def unknown_function(self, name: str) -> None:
        elsewhere = name in CONDITION_FUNCTIONS or name in UPDATE_FUNCTIONS
        problem = (
            f"The function is not allowed in {self.kind} expression"
            if elsewhere
            else "Invalid function name"
        )
        self.mistake("unknown function", f"{problem}; function: {name}")

    def arguments(self, depth: int) -> tuple[tree.Operand, ...]:
        self.take("(")
        arguments = self.list_of(lambda: self.operand(depth + 1))
        self.take(")")
        return tuple(arguments)

    def check_arguments(self, arguments: tuple[tree.Operand, ...]) -> None:
        """Checks arguments: each kind of expression restricts which functions may be one."""

    def check_parentheses(self, opened: int) -> None:
        """`opened` is the position of the opening parenthesis that was just closed."""


class TreeParser(Parser, Generic[Tree]):
    """A parser of one kind of expression."""

    def parse(self) -> Tree:
        raise NotImplementedError


class ProjectionParser(TreeParser[tuple[tree.Path, ...]]):
    def parse(self) -> tuple[tree.Path, ...]:
        paths = self.list_of(self.path)
        self.finish()
        return tuple(paths)


def check_size(source: str) -> None:
    if not source:
        raise lexer.ExpressionError("The expression can not be empty;")
    if text_size(source) > MAX_BYTES:
        raise lexer.ExpressionError(TOO_LONG)


def text_size(source: str) -> int:
    """Its bytes in UTF-8, as sent: placeholders count as they are written."""
    return len(source) if source.isascii() else len(source.encode("utf-8", "surrogatepass"))


def cached_parser(parser: type[TreeParser[Tree]]) -> Callable[[str], Parsed[Tree]]:
    """A parser that caches its trees, except of long texts, which are hardly ever repeated."""

    def parse(source: str) -> Parsed[Tree]:
        check_size(source)
        cursor = parser(source)
        return Parsed(cursor.parse(), tuple(cursor.aliases), tuple(cursor.values))

    remembered = lru_cache(CACHED_TEXTS)(parse)
    return lambda source: (
        remembered(source) if len(source) <= LONGEST_CACHED_TEXT else parse(source)
    )


parse_projection = cached_parser(ProjectionParser)


SECTIONS = frozenset(("SET", "REMOVE", "ADD", "DELETE"))


class UpdateParser(TreeParser[tuple[tree.Action, ...]]):
    keywords = SECTIONS
    functions = UPDATE_FUNCTIONS
    kind = "an update"
    mistakes_in_order = ("reserved", "unknown function", "misused function", "section", "path")

    def parse(self) -> tuple[tree.Action, ...]:
        actions: list[tree.Action] = []
        sections: set[str] = set()
        while self.next != lexer.END or not sections:
            section = self.take(*SECTIONS).upper()
            if section in sections:
                self.mistake(
                    "section",
                    f'The "{section}" section can only be used once in an update expression;',
                )
            sections.add(section)
            actions.extend(self.section(section))
        self.finish()
        return tuple(actions)

    def check_arguments(self, arguments: tuple[tree.Operand, ...]) -> None:
        """`list_append` is a whole value: no argument, nor one side of a sum.

        (Seen on AWS by ScyllaDB's test_update_expression.py; AWS documents neither.)
        """
        for argument in arguments:
            if isinstance(argument, tree.Function) and argument.name == "list_append":
                self.mistake("misused function", f"{MISUSED_FUNCTION}; function: list_append")

    def section(self, name: str) -> list[tree.Action]:
        readers: dict[str, Callable[[], tree.Action]] = {
            "SET": lambda: tree.Set(self.path(), self.assigned_operand()),
            "REMOVE": lambda: tree.Remove(self.path()),
            "ADD": lambda: tree.Add(self.path(), self.value()),
            "DELETE": lambda: tree.Delete(self.path(), self.value()),
        }
        return self.list_of(readers[name])

    def assigned_operand(self) -> tree.Operand:
        self.take("=")
        return self.arithmetic(0)

    def arithmetic(self, depth: int) -> tree.Operand:
        left = self.group(depth)
        if isinstance(left, tree.Arithmetic) or self.next not in ("+", "-"):
            return left
        self.operators += 1
        operator = self.take("+", "-")
        right = self.operand()
        self.check_arguments((left, right))
        return tree.Arithmetic("+" if operator == "+" else "-", left, right)

    def group(self, depth: int) -> tree.Operand:
        """Parentheses may stand around a whole sum, or around one side of it."""
        if self.next != "(" or depth > MAX_OPERAND_DEPTH:
            return self.operand(depth)
        self.take("(")
        inner = self.arithmetic(depth + 1)
        self.take(")")
        return inner


parse_update = cached_parser(UpdateParser)
