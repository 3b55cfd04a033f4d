"""Parses what all statements share: tokens, names, paths and values.

AWS's errors about syntax are those of Amazon's own parser, which goes through a statement in the
same way: https://github.com/partiql/partiql-lang-kotlin (SqlParser.kt of 2020). What its lexer
refuses has no reason at all. (Seen on AWS: https://github.com/floci-io/floci/pull/3798)

No nesting goes deeper than `MAX_DEPTH`, so that no statement exhausts the stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from bigtime.engine import expressions
from bigtime.engine.expressions import Token, TokenCursor
from bigtime.engine.partiql import statements
from bigtime.engine.partiql.reserved_words import FUNCTION_WORDS, RESERVED_WORDS
from bigtime.engine.partiql.statements import statement_error
from bigtime.wire import AttributeValue, ValidationException

Element = TypeVar("Element")

MAX_DEPTH = 64
MAX_PATH_ELEMENTS = 32
MAX_LEVELS = 32
# AWS's message for an unknown kind of statement, and for an UPDATE without SET and REMOVE, as for
# one whose table should have been quoted. (Seen: https://github.com/nubo-db/dynoxide/pull/149 and
# https://github.com/awsdocs/aws-sdk-for-javascript-v3/issues/98)
NO_ACTION = "Expected data manipulation"
MAX_INDEX = 2**31 - 1

END = "end of the statement"
NAME, QUOTED, STRING, NUMBER = "name", "quoted name", "string", "number"
RESERVED = "reserved word"

KEYWORDS = frozenset(
    "AND ASC BETWEEN BY DELETE DESC EXISTS FALSE FROM IN INSERT INTO IS MISSING NOT NULL OR ORDER"
    " REMOVE RETURNING SELECT SET SIZE TRUE UPDATE VALUE VALUES WHERE".split()
)

# What is expected after an element, where one token alone can follow.
EXPECTED = {
    ")": "RIGHT_PAREN",
    "]": "RIGHT_BRACKET",
    "}": "RIGHT_CURLY",
    ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
    ":": "COLON",
    "AND": "AND keyword",
    "=": "'='",
}
OPERATORS = frozenset(("=", "<>", "<", "<=", ">", ">=", "/", "%", "@"))
SYMBOLS = OPERATORS | frozenset("+-*()[]{},.:;?") | {"<<", ">>"}

# Comments count as white space, as in SQL.
TOKEN = re.compile(
    r"\s+|--[^\n]*|/\*.*?\*/"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r'|(?P<quoted>"(?:[^"]|"")*")'
    r"|(?P<string>'(?:[^']|'')*')"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<symbol><<|>>|<=|>=|<>|!=|/\*|.)",
    re.DOTALL,
)


def tokens(statement: str) -> list[Token]:
    found = []
    for match in TOKEN.finditer(statement):
        text, span = match[0], match.span()
        match match.lastgroup:
            case "name":
                found.append(Token(kind_of_word(text.upper()), text, *span))
            case "quoted":
                found.append(Token(QUOTED, text[1:-1].replace('""', '"'), *span))
            case "string":
                found.append(Token(STRING, text[1:-1].replace("''", "'"), *span))
            case "number":
                found.append(Token(NUMBER, text, *span))
            case "symbol":
                symbol = "<>" if text == "!=" else text
                if symbol not in SYMBOLS:
                    raise statement_error("")
                found.append(Token(symbol, text, *span))
    found.append(Token(END, END, len(statement), len(statement)))
    return found


def kind_of_word(word: str) -> str:
    if word in KEYWORDS:
        return word
    return RESERVED if word in RESERVED_WORDS else NAME


class Cursor(TokenCursor):
    """A cursor over the tokens of one statement."""

    def __init__(self, text: str) -> None:
        super().__init__(tokens(text))
        self.text = text
        self.depth = 0
        self.levels = 0
        self.parameters = 0
        self.literals: dict[str, statements.Literal] = {}

    def take(self, *kinds: str) -> str:
        if len(kinds) == 1 and self.next != kinds[0] and kinds[0] in EXPECTED:
            raise statement_error(f"Expected {EXPECTED[kinds[0]]}")
        return super().take(*kinds)

    def unexpected_token(self) -> ValidationException:
        """The error where an attribute or a value is expected."""
        token = self.tokens[self.position]
        if token.kind == "FROM" and self.tokens[self.position + 1].kind != END:
            # A statement may begin so; what follows must change something.
            return statement_error(NO_ACTION)
        if token.kind == RESERVED or token.kind in KEYWORDS:
            # Seen on AWS: https://github.com/passren/PyDynamoDB/issues/26
            return statement_error("Unexpected keyword")
        if token.kind in OPERATORS:
            return statement_error("Unexpected operator")
        if token.kind == END or token.kind in SYMBOLS:
            return statement_error("Unexpected term")
        # Amazon's parser goes on, and DynamoDB refuses what it makes of it; how is not known.
        return statement_error(f"Unexpected {token.text}")

    def expect_right_side(self) -> None:
        if self.next == END:
            raise statement_error("Missing right-hand side expression of infix operator")

    def locate(self, token: Token) -> str:
        """A token's place in the text, as AWS gives it: its line, its column and its length.

        (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
        """
        before = self.text[: token.start]
        line, column = before.count("\n") + 1, token.start - (before.rfind("\n") + 1) + 1
        return f"{line}:{column}:{token.end - token.start}"

    def is_call(self) -> bool:
        token = self.tokens[self.position]
        is_name = token.kind in (NAME, "SIZE") or token.text.upper() in FUNCTION_WORDS
        return is_name and self.tokens[self.position + 1].kind == "("

    def unknown_function(self) -> ValidationException:
        # AWS's message is not known.
        return statement_error(f"Unsupported function {self.tokens[self.position].text}")

    def nest(self, read: Callable[[], Element]) -> Element:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise statement_error("The statement is nested too deeply")
        element = read()
        self.depth -= 1
        return element

    def list_until(self, read: Callable[[], Element], close: str) -> tuple[Element, ...]:
        """The elements up to the closing token; possibly none."""
        if self.skip(close):
            return ()
        elements = self.list_of(lambda: self.nest(read))
        self.take(close)
        return tuple(elements)

    def name(self) -> str:
        """The first name of what is changed: of a table, or of an attribute."""
        if self.next not in (NAME, QUOTED):
            raise statement_error("Expected identifier for simple path")
        return self.take(NAME, QUOTED)

    def target(self) -> expressions.Path:
        """The path of an attribute that is changed."""
        if self.next not in (NAME, QUOTED):
            raise statement_error("Expected identifier for simple path")
        return self.path()

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
        sign = self.sign()
        token = self.tokens[self.position]
        is_name = self.next == STRING and not sign
        text = self.take(*((STRING, NUMBER) if not sign else (NUMBER,)))
        self.take("]")
        if is_name:
            return text
        if not text.isdigit():
            raise statement_error(f"Invalid list index {text}")
        if sign == "-" or len(text) > len(str(MAX_INDEX)) or int(text) > MAX_INDEX:
            # Seen on AWS: https://github.com/floci-io/floci/pull/3798
            index = f"{sign.strip('+')}{text}"
            raise ValidationException(
                f"List index is not within the allowable range; index: [{index}] "
                f"at {self.locate(token)}"
            )
        return int(text)

    def sign(self) -> str:
        """The signs before a number, as one: "-", "+" or none."""
        signs = ""
        while self.next in ("+", "-"):
            signs += self.take("+", "-")
        return signs and ("-" if signs.count("-") % 2 else "+")

    def value(self) -> expressions.Value:
        return self.add_literal(self.literal())

    def add_literal(self, literal: statements.Literal) -> expressions.Value:
        name = f":{len(self.literals)}"
        self.literals[name] = statements.fold(literal)
        return expressions.Value(name)

    def literal(self, path: str = "") -> statements.Constant | statements.Parameter:
        """A value; `path` says where it is if it is in a list, a map or a set.

        (The errors were seen on AWS: https://github.com/floci-io/floci/pull/3798)
        """
        if self.levels == MAX_LEVELS:
            raise ValidationException(f"Nesting Levels have exceeded supported limits under {path}")
        token = self.tokens[self.position]
        if self.next == "?" and path:
            raise ValidationException(
                f"Unsupported data type: Parameter under key {path} at {self.locate(token)}"
            )
        readers: dict[str, Callable[[str], AttributeValue]] = {
            "[": self.list_literal,
            "<<": self.set_literal,
            "{": self.map_literal,
        }
        read = readers.get(self.next)
        if read is None:
            return self.parameter() if self.skip("?") else self.scalar()
        self.position += 1
        self.levels += 1
        value = read(path or "root")
        self.levels -= 1
        return statements.Constant(value)

    def constant(self, path: str) -> AttributeValue:
        """A value within another one, where no parameter may be."""
        literal = self.literal(path)
        assert isinstance(literal, statements.Constant)
        return literal.value

    def list_literal(self, path: str) -> AttributeValue:
        elements: list[AttributeValue] = []
        self.list_until(lambda: elements.append(self.constant(f"{path}[{len(elements)}]")), "]")
        return {"L": elements}

    def set_literal(self, path: str) -> AttributeValue:
        return statements.set_of(list(self.list_until(lambda: self.set_element(path), ">>")), path)

    def set_element(self, path: str) -> AttributeValue:
        if self.next == "?":
            raise ValidationException(statements.UNSUPPORTED_BAG)
        return self.constant(path)

    def map_literal(self, path: str) -> AttributeValue:
        def entry() -> tuple[str, AttributeValue]:
            name = self.entry_name()
            return name, self.constant(f"{path}.{name}")

        return {"M": dict(self.list_until(entry, "}"))}

    def item(self) -> expressions.Value:
        """The value of an INSERT, whose attributes may be parameters."""
        if not self.skip("{"):
            return self.value()
        members = self.list_until(lambda: (self.entry_name(), self.literal()), "}")
        return self.add_literal(statements.ItemLiteral(members))

    def entry_name(self) -> str:
        name = self.take(STRING, QUOTED)
        self.take(":")
        return name

    def parameter(self) -> statements.Parameter:
        self.parameters += 1
        return statements.Parameter(self.parameters - 1)

    def scalar(self) -> statements.Constant:
        sign = self.sign()
        if sign and self.next in (NAME, QUOTED, STRING, "?"):
            # Seen on AWS: https://github.com/floci-io/floci/pull/3798
            raise ValidationException(
                "Unsupported operator in Condition Expression. "
                f"Operator: {self.tokens[self.position - 1].text}"
            )
        if sign and self.next != NUMBER:
            raise self.unexpected_token()
        kind = self.next
        text = self.take(STRING, NUMBER, "TRUE", "FALSE", "NULL")
        match kind:
            case "string":
                return statements.Constant({"S": text})
            case "number":
                return statements.Constant({"N": sign.strip("+") + text})
            case "NULL":
                return statements.Constant({"NULL": True})
            case _:
                return statements.Constant({"BOOL": kind == "TRUE"})
