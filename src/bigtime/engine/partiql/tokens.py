"""Cutting a PartiQL statement into tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from bigtime.wire import ValidationException

END = "end of the statement"
NAME, QUOTED, STRING, NUMBER = "name", "quoted name", "string", "number"

# AWS does not list the words that PartiQL reserves. These are the words of its statements, and
# SIZE, of which it is known. (https://github.com/passren/PyDynamoDB/issues/28)
KEYWORDS = frozenset(
    "AND ASC BETWEEN BY DELETE DESC EXISTS FALSE FROM IN INSERT INTO IS MISSING NOT NULL OR ORDER"
    " REMOVE RETURNING SELECT SET SIZE TRUE UPDATE VALUE VALUES WHERE".split()
)

TOKEN = re.compile(
    r"\s+"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r'|(?P<quoted>"(?:[^"]|"")*")'
    r"|(?P<string>'(?:[^']|'')*')"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<symbol><<|>>|<=|>=|<>|!=|.)",
    re.DOTALL,
)


class Token(NamedTuple):
    """`kind` is one of the constants above, a keyword in capitals, or a symbol itself."""

    kind: str
    text: str


def statement_error(reason: str) -> ValidationException:
    """AWS's words for a bad statement; of what follows them only some texts are known."""
    return ValidationException(f"Statement wasn't well formed, can't be processed: {reason}")


def tokens(statement: str) -> list[Token]:
    found = []
    for match in TOKEN.finditer(statement):
        text = match[0]
        match match.lastgroup:
            case "name":
                word = text.upper()
                found.append(Token(word if word in KEYWORDS else NAME, text))
            case "quoted":
                found.append(Token(QUOTED, text[1:-1].replace('""', '"')))
            case "string":
                found.append(Token(STRING, text[1:-1].replace("''", "'")))
            case "number":
                found.append(Token(NUMBER, text))
            case "symbol":
                found.append(Token("<>" if text == "!=" else text, text))
    found.append(Token(END, END))
    return found
