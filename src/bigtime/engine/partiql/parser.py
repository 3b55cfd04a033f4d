"""Parses a statement's tokens into its tree.

AWS: "PartiQL statements for DynamoDB"; the error messages are undocumented. Those for an invalid
FROM, for RETURNING and for trailing tokens were seen on AWS by a suite that runs there.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.statements.html
https://github.com/paritysuite/dynamodb-conformance
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from bigtime.engine import expressions
from bigtime.engine.partiql import statements
from bigtime.engine.partiql.conditions import ConditionParser
from bigtime.engine.partiql.cursor import END, NAME, NO_ACTION, NUMBER, QUOTED, RESERVED, STRING
from bigtime.engine.partiql.statements import statement_error
from bigtime.wire import ValidationException

CACHED_TEXTS = 1024

ADJUSTMENTS: dict[str, type[expressions.Add | expressions.Delete]] = {
    "set_add": expressions.Add,
    "set_delete": expressions.Delete,
}
ONE_STATEMENT = "Unexpected token after semicolon. (Only one query is allowed.)"
ASTERISK_NOT_ALONE = (
    "Other expressions may not be present in the select list when '*' is used without dot notation."
)
RETURNING = {
    ("ALL", "OLD"): "ALL_OLD",
    ("MODIFIED", "OLD"): "UPDATED_OLD",
    ("ALL", "NEW"): "ALL_NEW",
    ("MODIFIED", "NEW"): "UPDATED_NEW",
}


class Parser(ConditionParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.sets: list[tuple[str, str]] = []

    def parse(self) -> statements.Statement:
        readers: dict[str, Callable[[], statements.Body]] = {
            "SELECT": self.select,
            "EXISTS": self.exists,
            "INSERT": self.insert,
            "UPDATE": self.update,
            "DELETE": self.delete,
        }
        read = readers.get(self.next)
        if self.next == END:
            raise self.unexpected_token()
        if read is None:
            raise statement_error(NO_ACTION)
        body = read()
        ended = self.skip(";")
        if self.next != END:
            raise statement_error(ONE_STATEMENT if ended else "Unexpected token after expression")
        return statements.Statement(self.text, body, self.literals, self.parameters)

    def select(self) -> statements.Select:
        self.take("SELECT")
        paths = None if self.skip("*") else self.shown_paths()
        if paths is None and self.next == ",":
            raise statement_error(ASTERISK_NOT_ALONE)
        if not self.skip("FROM"):
            raise statement_error("Expected FROM after SELECT list")
        table, index = self.source(self.source_name)
        select = statements.Select(table, index, paths, self.where(), self.order())
        if self.is_reserved("LIMIT"):
            raise self.no_limit()
        return select

    # The three error messages for SELECT below are those of Amazon's DynamoDB Local, as recorded in
    # https://github.com/xo/dbimp (its document on DynamoDB).

    def shown_paths(self) -> tuple[expressions.Path, ...]:
        """The projection; each attribute is shown under its own name, and each name once."""
        paths = tuple(self.list_of(self.column))
        if self.is_reserved("AS") or self.next in (NAME, QUOTED):
            raise ValidationException("Aliasing is not supported")
        names = [statements.shown_name(path.elements) for path in paths]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise ValidationException(f"Duplicate identifiers in select clause: {name}")
        return paths

    def column(self) -> expressions.Path:
        if self.next == "*":
            raise statement_error(ASTERISK_NOT_ALONE)
        return self.path()

    def no_limit(self) -> ValidationException:
        """The error for LIMIT, a request parameter instead: it gives the position of its number."""
        token = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        return ValidationException(f"Unsupported clause: LIMIT at {self.locate(token)}")

    def is_reserved(self, word: str) -> bool:
        return self.next == RESERVED and self.tokens[self.position].text.upper() == word

    def exists(self) -> statements.Exists:
        self.take("EXISTS")
        if not self.skip("("):
            raise statement_error("Unexpected keyword")
        select = self.select()
        self.take(")")
        return statements.Exists(select)

    def insert(self) -> statements.Insert:
        self.take("INSERT")
        if not self.skip("INTO"):
            raise statement_error("Unexpected keyword")
        table = self.changed_name()
        if self.next == ".":
            raise ValidationException("FROM clause may only contain a single table name")
        if self.next in ("VALUES", "<<", "{", "[", "(", "?", STRING, NUMBER):
            raise ValidationException(
                "Unsupported operation: Inserting multiple items in a single statement is not "
                'supported, use "INSERT INTO tableName VALUE item" instead'
            )
        self.take("VALUE")
        return statements.Insert(table, self.item())

    def update(self) -> statements.Update:
        self.take("UPDATE")
        table, index = self.source(self.changed_name)
        actions: list[expressions.Action] = []
        while self.next in ("SET", "REMOVE"):
            read = self.assignment if self.take("SET", "REMOVE").upper() == "SET" else self.removal
            actions.extend(self.list_of(read))
        if not actions:
            raise statement_error(NO_ACTION)
        where = self.where()
        returning = self.return_values()
        return statements.Update(table, tuple(actions), where, returning, index, tuple(self.sets))

    def delete(self) -> statements.Delete:
        self.take("DELETE")
        if not self.skip("FROM"):
            raise statement_error("Expected FROM after DELETE")
        table, index = self.source(self.changed_name)
        where = self.where()
        returning = self.return_values()
        if returning not in ("NONE", "ALL_OLD"):
            wanted = returning.replace("UPDATED", "MODIFIED").replace("_", " ")
            raise ValidationException(
                f"Invalid returning clause: RETURNING {wanted} *. "
                "Only RETURNING ALL OLD * is allowed in DELETE statements."
            )
        return statements.Delete(table, where, returning, index)

    # The errors of the next three were seen on AWS: https://github.com/floci-io/floci/pull/3798

    def source(self, read: Callable[[], str]) -> tuple[str, str | None]:
        """A table, and an index of it."""
        table = read()
        index = None
        if self.skip("."):
            index = checked_name(self.member())
        if self.next == ".":
            raise ValidationException("A path may contain at most 2 components in the FROM clause")
        return table, index

    def source_name(self) -> str:
        return checked_name(self.take(NAME, QUOTED))

    def changed_name(self) -> str:
        return checked_name(self.name())

    def where(self) -> expressions.Condition | None:
        return self.condition(self.expression()) if self.skip("WHERE") else None

    def order(self) -> tuple[statements.Order, ...]:
        if not self.skip("ORDER"):
            return ()
        self.take("BY")
        return tuple(self.list_of(self.sort_term))

    def sort_term(self) -> statements.Order:
        attribute = self.take(NAME, QUOTED)
        descending = self.next == "DESC"
        if self.next in ("ASC", "DESC"):
            self.position += 1
        return statements.Order(attribute, not descending)

    def return_values(self) -> str:
        if not self.skip("RETURNING"):
            return "NONE"
        wanted = self.take(RESERVED).upper(), self.take(RESERVED).upper()
        self.take("*")
        if wanted not in RETURNING:
            raise statement_error(f"Unexpected {' '.join(wanted)}")
        return RETURNING[wanted]

    # --- SET and REMOVE ---------------------------------------------------------------------

    def removal(self) -> expressions.Action:
        return expressions.Remove(self.target())

    def assignment(self) -> expressions.Action:
        path = self.target()
        self.take("=")
        adjust = ADJUSTMENTS.get(self.tokens[self.position].text.lower())
        if adjust is not None and self.tokens[self.position + 1].kind == "(":
            return self.adjustment(path, adjust)
        return expressions.Set(path, self.assigned_value())

    def adjustment(
        self, path: expressions.Path, adjust: type[expressions.Add | expressions.Delete]
    ) -> expressions.Action:
        """SET_ADD or SET_DELETE, which must be assigned to the attribute that they change.

        (The errors were seen on AWS: https://github.com/floci-io/floci/pull/3798)
        """
        function = self.tokens[self.position]
        name = self.take(NAME).upper()
        self.take("(")
        first = self.tokens[self.position]
        changed = self.assigned_operand()
        self.take(",")
        value = self.assigned_operand()
        self.take(")")
        if changed != path:
            raise ValidationException(
                f"The first argument to {name} must equal the assignment value at "
                f"{self.locate(function)}"
            )
        no_set = (
            f"The second argument to {name} must be a value with type SET at {self.locate(first)}"
        )
        if not isinstance(value, expressions.Value):
            raise ValidationException(no_set)
        self.sets.append((value.name, no_set))
        return adjust(path, value)

    def assigned_value(self) -> expressions.Operand:
        left = self.assigned_operand()
        if self.next not in ("+", "-"):
            return left
        operator = self.take("+", "-")
        self.expect_right_side()
        return expressions.Arithmetic(
            "+" if operator == "+" else "-", left, self.assigned_operand()
        )

    def assigned_operand(self) -> expressions.Operand:
        if self.skip("("):
            inner = self.nest(self.assigned_value)
            self.take(")")
            return inner
        if self.is_call():
            return self.append()
        return self.path() if self.next in (NAME, QUOTED) else self.value()

    def append(self) -> expressions.Function:
        text = self.tokens[self.position].text
        if text.lower() != "list_append":
            raise self.unknown_function()
        self.position += 1
        self.take("(")
        operands = self.list_until(self.assigned_value, ")")
        if len(operands) != 2:
            raise statement_error(f"{text} takes 2 arguments, not {len(operands)}")
        return expressions.Function("list_append", operands)


def checked_name(name: str) -> str:
    if not name:
        raise ValidationException("Path component cannot be an empty string")
    return name


@lru_cache(CACHED_TEXTS)
def parse_statement(text: str) -> statements.Statement:
    return Parser(text).parse()
