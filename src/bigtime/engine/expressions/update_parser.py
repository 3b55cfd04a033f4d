"""Parsing update expressions."""

from __future__ import annotations

from collections.abc import Callable

from bigtime.engine.expressions.lexer import END
from bigtime.engine.expressions.parser import (
    MAX_OPERAND_DEPTH,
    UPDATE_FUNCTIONS,
    Parsed,
    Parser,
    cache_by_text,
    check_size,
)
from bigtime.engine.expressions.tree import (
    Action,
    Add,
    Arithmetic,
    Delete,
    Operand,
    Path,
    Remove,
    Set,
)

SECTIONS = frozenset(("SET", "REMOVE", "ADD", "DELETE"))


class UpdateParser(Parser):
    keywords = SECTIONS
    functions = UPDATE_FUNCTIONS
    kind = "an update"
    mistakes_in_order = ("reserved", "unknown function", "section", "path")

    def parse(self) -> tuple[Action, ...]:
        actions: list[Action] = []
        sections: set[str] = set()
        while self.next != END or not sections:
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

    def section(self, name: str) -> list[Action]:
        readers: dict[str, Callable[[], Action]] = {
            "SET": lambda: Set(self.path(), self.assigned()),
            "REMOVE": lambda: Remove(self.path()),
            "ADD": lambda: Add(self.path(), self.value()),
            "DELETE": lambda: Delete(self.path(), self.value()),
        }
        return self.listed(readers[name])

    def assigned(self) -> Operand:
        self.take("=")
        return self.arithmetic(0)

    def arithmetic(self, depth: int) -> Operand:
        left = self.grouped(depth)
        if isinstance(left, Arithmetic) or self.next not in ("+", "-"):
            return left
        self.operators += 1
        operator = self.take("+", "-")
        return Arithmetic("+" if operator == "+" else "-", left, self.operand())

    def grouped(self, depth: int) -> Operand:
        """Parentheses may stand around a whole sum, or around one side of it."""
        if self.next != "(" or depth > MAX_OPERAND_DEPTH:
            return self.operand(depth)
        self.take("(")
        inner = self.arithmetic(depth + 1)
        self.take(")")
        return self.path_after(list(inner.elements)) if isinstance(inner, Path) else inner


@cache_by_text
def parse_update(source: str) -> Parsed[tuple[Action, ...]]:
    check_size(source)
    parser = UpdateParser(source)
    return Parsed(parser.parse(), tuple(parser.aliases), tuple(parser.values))
