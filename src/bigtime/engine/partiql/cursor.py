"""Reading the parts that all statements share: names, paths and values.

Nothing that a text can nest goes deeper than `MAX_DEPTH`, so that no text exhausts the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bigtime.engine import expressions
from bigtime.engine.partiql import literals
from bigtime.engine.partiql.tokens import NAME, NUMBER, QUOTED, STRING, statement_error, tokens
from bigtime.wire import ValidationException

Element = TypeVar("Element")

MAX_DEPTH = 64
MAX_PATH_ELEMENTS = 32
MAX_INDEX_DIGITS = 9


class Cursor:
    """A cursor over the tokens of one statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.position = 0
        self.depth = 0
        self.parameters = 0
        self.literals: dict[str, literals.Literal] = {}

    @property
    def next(self) -> str:
        return self.tokens[self.position].kind

    def take(self, *kinds: str) -> str:
        token = self.tokens[self.position]
        if token.kind not in kinds:
            raise self.unexpected_token()
        self.position += 1
        return token.text

    def skip(self, kind: str) -> bool:
        if self.next != kind:
            return False
        self.position += 1
        return True

    def unexpected_token(self) -> ValidationException:
        # AWS names what it expected; its texts for each place are not known.
        return statement_error(f"Unexpected {self.tokens[self.position].text}")

    def nest(self, read: Callable[[], Element]) -> Element:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise statement_error("The statement is nested too deeply")
        element = read()
        self.depth -= 1
        return element

    def list_of(self, read: Callable[[], Element], close: str) -> tuple[Element, ...]:
        """The elements up to the closing token, which may be none."""
        elements: list[Element] = []
        if not self.skip(close):
            elements.append(self.nest(read))
            while self.skip(","):
                elements.append(self.nest(read))
            self.take(close)
        return tuple(elements)

    def paths(self) -> tuple[expressions.Path, ...]:
        paths = [self.path()]
        while self.skip(","):
            paths.append(self.path())
        return tuple(paths)

    def path(self) -> expressions.Path:
        elements: list[str | int] = [self.take(NAME, QUOTED)]
        while self.next in (".", "["):
            elements.append(self.member() if self.skip(".") else self.place())
        if len(elements) > MAX_PATH_ELEMENTS:
            raise statement_error("The path has too many components")
        return expressions.Path(tuple(elements))

    def member(self) -> str:
        if self.next not in (NAME, QUOTED):
            raise statement_error("Invalid path dot component")
        return self.take(NAME, QUOTED)

    def place(self) -> str | int:
        self.take("[")
        is_name = self.next == STRING
        text = self.take(STRING, NUMBER)
        self.take("]")
        if is_name:
            return text
        if not text.isdigit() or len(text) > MAX_INDEX_DIGITS:
            raise statement_error(f"Invalid list index {text}")
        return int(text)

    def value(self) -> expressions.Value:
        name = f":{len(self.literals)}"
        self.literals[name] = literals.fold(self.literal())
        return expressions.Value(name)

    def literal(self) -> literals.Literal:
        readers: dict[str, Callable[[], literals.Literal]] = {
            "[": lambda: literals.ListLiteral(self.list_of(self.literal, "]")),
            "<<": lambda: literals.SetLiteral(self.list_of(self.literal, ">>")),
            "{": lambda: literals.MapLiteral(self.list_of(self.entry, "}")),
            "?": self.parameter,
        }
        read = readers.get(self.next)
        if read is None:
            return self.scalar()
        self.position += 1
        return read()

    def entry(self) -> tuple[str, literals.Literal]:
        name = self.take(STRING, QUOTED)
        self.take(":")
        return name, self.literal()

    def parameter(self) -> literals.Parameter:
        self.parameters += 1
        return literals.Parameter(self.parameters - 1)

    def scalar(self) -> literals.Constant:
        sign = ""
        if self.next in ("+", "-"):
            sign = "-" if self.take("+", "-") == "-" else ""
            if self.next != NUMBER:
                raise self.unexpected_token()
        kind = self.next
        text = self.take(STRING, NUMBER, "TRUE", "FALSE", "NULL")
        match kind:
            case "string":
                return literals.Constant({"S": text})
            case "number":
                return literals.Constant({"N": sign + text})
            case "NULL":
                return literals.Constant({"NULL": True})
            case _:
                return literals.Constant({"BOOL": kind == "TRUE"})
