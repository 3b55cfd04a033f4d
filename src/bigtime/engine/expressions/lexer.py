"""Cutting an expression into tokens, and saying which token is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

END = "<EOF>"
NAME, ALIAS, VALUE, NUMBER = "name", "alias", "value", "number"

TOKEN = re.compile(
    r"[ \t\r\n]+"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<alias>\#[A-Za-z0-9_]+)"
    r"|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<number>[0-9]+)"
    r"|(?P<symbol><=|>=|<>|.)",
    re.DOTALL,
)


class ExpressionError(Exception):
    """What is wrong with an expression; the caller knows which parameter it came from."""


class Token(NamedTuple):
    """`kind` is one of the constants above, a keyword in capitals, or a symbol itself."""

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str, keywords: frozenset[str]) -> list[Token]:
    found = []
    for match in TOKEN.finditer(source):
        kind = match.lastgroup
        if kind is not None:
            found.append(Token(token_kind(kind, match[0], keywords), match[0], *match.span()))
    found.append(Token(END, END, len(source), len(source)))
    return found


def token_kind(kind: str, text: str, keywords: frozenset[str]) -> str:
    if kind == "symbol":
        return text
    if kind == NAME and text.upper() in keywords:
        return text.upper()
    return kind


def syntax_error(source: str, found: list[Token], position: int) -> ExpressionError:
    """DynamoDB shows the wrong token between its neighbours, as they stand in the text."""
    wrong = found[position]
    first = found[max(position - 1, 0)]
    last = found[min(position + 1, len(found) - 1)]
    if wrong.kind == END:
        near = source[first.start : first.end]
    elif last.kind == END:
        near = source[first.start : wrong.end]
    else:
        near = source[first.start : last.end]
    return ExpressionError(f'Syntax error; token: "{wrong.text}", near: "{near}"')
