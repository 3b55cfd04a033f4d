"""From a statement's tokens to its tree.

AWS's pages have the syntax: "PartiQL select statements for DynamoDB" and its neighbours, "PartiQL
arithmetic, comparison, and logical operators" and "Use PartiQL functions with DynamoDB",
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.statements.html

Nothing that a text can nest goes deeper than `MAX_DEPTH`, so that no text exhausts the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias, TypeVar, cast

from bigtime.engine import expressions
from bigtime.engine.partiql import literals, statements
from bigtime.engine.partiql.tokens import END, NAME, NUMBER, QUOTED, STRING, malformed, tokens
from bigtime.wire import ValidationException

Element = TypeVar("Element")
Part: TypeAlias = expressions.Condition | expressions.Operand

MAX_DEPTH = 64
MAX_PATH_ELEMENTS = 32
MAX_INDEX_DIGITS = 9
CACHED_TEXTS = 1024

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
TESTS = {"begins_with": 2, "contains": 2, "attribute_type": 2}
ADJUSTMENTS: dict[str, type[expressions.Add | expressions.Delete]] = {
    "set_add": expressions.Add,
    "set_delete": expressions.Delete,
}
RETURNING = {
    ("ALL", "OLD"): "ALL_OLD",
    ("MODIFIED", "OLD"): "UPDATED_OLD",
    ("ALL", "NEW"): "ALL_NEW",
    ("MODIFIED", "NEW"): "UPDATED_NEW",
}


class Parser:
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
            raise self.unexpected()
        self.position += 1
        return token.text

    def skip(self, kind: str) -> bool:
        if self.next != kind:
            return False
        self.position += 1
        return True

    def unexpected(self) -> ValidationException:
        # AWS names what it expected; its texts for each place are not known.
        return malformed(f"Unexpected {self.tokens[self.position].text}")

    def nested(self, read: Callable[[], Element]) -> Element:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise malformed("The statement is nested too deeply")
        element = read()
        self.depth -= 1
        return element

    def list_of(self, read: Callable[[], Element], close: str) -> tuple[Element, ...]:
        """The elements up to the closing token, which may be none."""
        elements: list[Element] = []
        if not self.skip(close):
            elements.append(self.nested(read))
            while self.skip(","):
                elements.append(self.nested(read))
            self.take(close)
        return tuple(elements)

    # --- Statements -------------------------------------------------------------------------

    def parse(self) -> statements.Statement:
        readers: dict[str, Callable[[], statements.Body]] = {
            "SELECT": self.select,
            "EXISTS": self.exists,
            "INSERT": self.insert,
            "UPDATE": self.update,
            "DELETE": self.delete,
        }
        read = readers.get(self.next)
        if read is None:
            raise self.unexpected()
        body = read()
        self.take(END)
        return statements.Statement(self.text, body, self.literals, self.parameters)

    def select(self) -> statements.Select:
        self.take("SELECT")
        paths = None if self.skip("*") else self.paths()
        self.take("FROM")
        table = self.source_name()
        index = self.source_name() if self.skip(".") else None
        return statements.Select(table, index, paths, self.where(), self.order())

    def exists(self) -> statements.Exists:
        self.take("EXISTS")
        self.take("(")
        select = self.select()
        self.take(")")
        return statements.Exists(select)

    def insert(self) -> statements.Insert:
        self.take("INSERT")
        self.take("INTO")
        table = self.source_name()
        if self.next == "VALUES" or self.next == "<<":
            raise ValidationException(
                "Unsupported operation: Inserting multiple items in a single statement is not "
                'supported, use "INSERT INTO tableName VALUE item" instead'
            )
        self.take("VALUE")
        return statements.Insert(table, self.value())

    def update(self) -> statements.Update:
        self.take("UPDATE")
        table = self.source_name()
        actions: list[expressions.Action] = []
        while self.next in ("SET", "REMOVE"):
            read = self.assignment if self.take("SET", "REMOVE").upper() == "SET" else self.removal
            actions.append(read())
            while self.skip(","):
                actions.append(read())
        if not actions:
            raise self.unexpected()
        where = self.where()
        return statements.Update(table, tuple(actions), where, self.returning())

    def delete(self) -> statements.Delete:
        self.take("DELETE")
        self.take("FROM")
        table = self.source_name()
        where = self.where()
        returning = self.returning()
        if returning not in ("NONE", "ALL_OLD"):
            # AWS's text is not known; its page allows nothing else.
            raise ValidationException("A DELETE statement can only return ALL OLD *")
        return statements.Delete(table, where, returning)

    def source_name(self) -> str:
        return self.take(NAME, QUOTED)

    def where(self) -> expressions.Condition | None:
        return self.condition(self.expression()) if self.skip("WHERE") else None

    def order(self) -> tuple[statements.Order, ...]:
        if not self.skip("ORDER"):
            return ()
        self.take("BY")
        orders = [self.sort_term()]
        while self.skip(","):
            orders.append(self.sort_term())
        return tuple(orders)

    def sort_term(self) -> statements.Order:
        attribute = self.take(NAME, QUOTED)
        descending = self.next == "DESC"
        if self.next in ("ASC", "DESC"):
            self.position += 1
        return statements.Order(attribute, not descending)

    def returning(self) -> str:
        if not self.skip("RETURNING"):
            return "NONE"
        wanted = self.take(NAME).upper(), self.take(NAME).upper()
        self.take("*")
        if wanted not in RETURNING:
            raise malformed(f"Unexpected {' '.join(wanted)}")
        return RETURNING[wanted]

    # --- Paths and values -------------------------------------------------------------------

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
            raise malformed("The path has too many components")
        return expressions.Path(tuple(elements))

    def member(self) -> str:
        if self.next not in (NAME, QUOTED):
            raise malformed("Invalid path dot component")
        return self.take(NAME, QUOTED)

    def place(self) -> str | int:
        self.take("[")
        is_name = self.next == STRING
        text = self.take(STRING, NUMBER)
        self.take("]")
        if is_name:
            return text
        if not text.isdigit() or len(text) > MAX_INDEX_DIGITS:
            raise malformed(f"Invalid list index {text}")
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
                raise self.unexpected()
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

    # --- Conditions -------------------------------------------------------------------------

    def expression(self) -> Part:
        """Conditions joined by OR; or an operand, where parentheses stand around one."""
        parts = [self.conjunction()]
        while self.skip("OR"):
            parts.append(self.conjunction())
        if len(parts) == 1:
            return parts[0]
        return expressions.Or(tuple(map(self.condition, parts)))

    def conjunction(self) -> Part:
        parts = [self.negation()]
        while self.skip("AND"):
            parts.append(self.negation())
        if len(parts) == 1:
            return parts[0]
        return expressions.And(tuple(map(self.condition, parts)))

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
            raise self.unexpected()
        else:
            return left
        return expressions.Not(found) if opposite else found

    def kind_test(self, operand: expressions.Operand) -> expressions.Condition:
        """``IS MISSING`` and ``IS NULL``, which is true of the type NULL and not of nothing."""
        opposite = self.skip("NOT")
        if not isinstance(operand, expressions.Path):
            raise malformed("IS needs an attribute")
        if self.skip("MISSING"):
            name = "attribute_exists" if opposite else "attribute_not_exists"
            return expressions.Function(name, (operand,))
        self.take("NULL")
        null = self.constant(literals.Constant({"S": "NULL"}))
        found = expressions.Function("attribute_type", (operand, null))
        return expressions.Not(found) if opposite else found

    def constant(self, literal: literals.Constant) -> expressions.Value:
        name = f":{len(self.literals)}"
        self.literals[name] = literal
        return expressions.Value(name)

    def membership(self, operand: expressions.Operand) -> expressions.In:
        close = "]" if self.next == "[" else ")"
        self.take("[", "(")
        choices = self.list_of(self.operand_next, close)
        if not choices:
            raise malformed("IN needs at least one value")
        return expressions.In(operand, choices)

    def primary(self) -> Part:
        if self.skip("("):
            part = self.nested(self.expression)
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
        operands = self.list_of(self.operand_next, ")")
        count = 1 if name == "size" else TESTS.get(name)
        if count is None:
            # AWS's text is not known.
            raise malformed(f"Unsupported function {text}")
        if len(operands) != count:
            raise malformed(f"{text} takes {count} arguments, not {len(operands)}")
        return expressions.Function(name, operands)

    def condition(self, part: Part) -> expressions.Condition:
        if isinstance(part, expressions.Path | expressions.Value) or is_size(part):
            raise malformed("Expected a condition")
        return cast(expressions.Condition, part)

    def operand(self, part: Part) -> expressions.Operand:
        if isinstance(part, expressions.Path | expressions.Value):
            return part
        if is_size(part):
            return cast(expressions.Function, part)
        raise malformed("Expected an attribute or a value")

    def operand_next(self) -> expressions.Operand:
        return self.operand(self.primary())

    # --- SET and REMOVE ---------------------------------------------------------------------

    def removal(self) -> expressions.Action:
        return expressions.Remove(self.path())

    def assignment(self) -> expressions.Action:
        path = self.path()
        self.take("=")
        adjust = ADJUSTMENTS.get(self.tokens[self.position].text.lower())
        if adjust is not None and self.tokens[self.position + 1].kind == "(":
            return self.adjustment(path, adjust)
        return expressions.Set(path, self.assigned())

    def adjustment(
        self, path: expressions.Path, adjust: type[expressions.Add | expressions.Delete]
    ) -> expressions.Action:
        """SET_ADD and SET_DELETE, which change the attribute that they are assigned to."""
        text = self.take(NAME)
        self.take("(")
        changed = self.path()
        self.take(",")
        value = self.value()
        self.take(")")
        if changed != path:
            # AWS's text is not known; its examples name one attribute.
            raise malformed(f"{text} must be assigned to the attribute that it changes")
        return adjust(path, value)

    def assigned(self) -> expressions.Operand:
        left = self.assigned_term()
        if self.next not in ("+", "-"):
            return left
        operator = self.take("+", "-")
        return expressions.Arithmetic("+" if operator == "+" else "-", left, self.assigned_term())

    def assigned_term(self) -> expressions.Operand:
        if self.skip("("):
            inner = self.nested(self.assigned)
            self.take(")")
            return inner
        if self.next == NAME and self.tokens[self.position + 1].kind == "(":
            return self.append()
        return self.path() if self.next in (NAME, QUOTED) else self.value()

    def append(self) -> expressions.Function:
        text = self.take(NAME)
        if text.lower() != "list_append":
            raise malformed(f"Unsupported function {text}")
        self.take("(")
        operands = self.list_of(self.assigned, ")")
        if len(operands) != 2:
            raise malformed(f"{text} takes 2 arguments, not {len(operands)}")
        return expressions.Function("list_append", operands)


def is_size(part: Part) -> bool:
    return isinstance(part, expressions.Function) and part.name == "size"


@lru_cache(CACHED_TEXTS)
def parse_statement(text: str) -> statements.Statement:
    return Parser(text).parse()
