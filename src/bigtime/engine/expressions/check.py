"""Semantic checks of an expression whose syntax is valid.

DynamoDB checks one simple condition after another, and in each first undefined placeholders, then
the number of operands, then equal operands, then types. In an update expression it checks the whole
expression for each kind of error in turn.

AWS documents neither this order nor the messages. (Seen on AWS by dynalite's tests, and by those of
ScyllaDB: https://github.com/architect/dynalite/tree/main/test and
https://github.com/scylladb/scylladb/tree/master/test/alternator)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bigtime.engine.expressions import tree
from bigtime.engine.expressions.condition import ORDERINGS, Values
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.paths import Names, check_overlaps, path_text, resolve
from bigtime.wire import AttributeValue
from bigtime.wire import values as attribute_values

OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}
ATTRIBUTE_TYPES = ("B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M")
SORTABLE_TYPES = frozenset(attribute_values.SORTABLE)
LONG_TYPE_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "NULL": "NULL",
    "BOOL": "BOOLEAN",
    "L": "LIST",
    "M": "MAP",
}


def check_condition(condition: tree.Condition, names: Names, values: Values) -> None:
    for simple in tree.simple_conditions(condition):
        check_simple_condition(simple, names, values)


def check_simple_condition(simple: tree.SimpleCondition, names: Names, values: Values) -> None:
    check_defined(tree.operands(simple), names, values)
    calls = calls_in(simple)
    for call in calls:
        check_operand_count(call)
    check_distinct(simple, names)
    for call in calls:
        CALL_CHECKS[call.name](call, values)
    if isinstance(simple, tree.Comparison) and simple.operator in ORDERINGS:
        check_sortable(simple.operator, tree.operands(simple), values)
    elif isinstance(simple, tree.Between):
        check_sortable("BETWEEN", tree.operands(simple), values)
        check_bounds(simple, values)


def calls_in(simple: tree.SimpleCondition) -> list[tree.Function]:
    """Every function that is called, those inside others first."""
    calls: list[tree.Function] = []
    waiting: list[tree.Operand] = (
        [simple] if isinstance(simple, tree.Function) else [*tree.operands(simple)]
    )
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, tree.Function):
            calls.append(operand)
            waiting.extend(operand.operands)
    return calls[::-1]


def check_defined(all_operands: Sequence[tree.Operand], names: Names, values: Values) -> None:
    for operand in all_operands:
        for leaf in tree.leaves(operand):
            if isinstance(leaf, tree.Path):
                resolve(leaf, names)
            elif leaf.name not in values:
                raise undefined_value(leaf)


def undefined_value(value: tree.Value) -> ExpressionError:
    return ExpressionError(
        "An expression attribute value used in expression is not defined; "
        f"attribute value: {value.name}"
    )


def check_operand_count(call: tree.Function) -> None:
    if len(call.operands) != OPERAND_COUNTS[call.name]:
        raise ExpressionError(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {call.name}, number of operands: {len(call.operands)}"
        )


def check_distinct(simple: tree.SimpleCondition, names: Names) -> None:
    match simple:
        case tree.Comparison(name, tree.Path() as first, tree.Path() as second):
            pass
        case tree.Function(name, (tree.Path() as first, tree.Path() as second)):
            pass
        case _:
            return
    path = resolve(first, names)
    if path == resolve(second, names):
        raise ExpressionError(
            "The first operand must be distinct from the remaining operands for this operator "
            f"or function; operator: {name}, first operand: {path_text(path)}"
        )


def operand_type(operand: tree.Operand, values: Values) -> str | None:
    """An operand's type if it is the same for every item; None for an attribute."""
    match operand:
        case tree.Value(name):
            return type_of(values[name])
        case tree.Function("size"):
            return "N"
        case _:
            return None


def type_of(value: AttributeValue) -> str:
    return next(iter(value))


def incorrect_type(name: str, operand_type: str) -> ExpressionError:
    return ExpressionError(
        "Incorrect operand type for operator or function; "
        f"operator or function: {name}, operand type: {operand_type}"
    )


def check_sortable(name: str, compared: Sequence[tree.Operand], values: Values) -> None:
    for operand in compared:
        found = operand_type(operand, values)
        if found is not None and found not in SORTABLE_TYPES:
            raise incorrect_type(name, found)


def check_bounds(between: tree.Between, values: Values) -> None:
    match between:
        case tree.Between(_, tree.Value(low_name), tree.Value(high_name)):
            low, high = values[low_name], values[high_name]
        case _:
            return
    if type_of(low) != type_of(high):
        problem = "same data type for lower and upper bounds"
    elif (attribute_values.order(low, high) or 0) > 0:
        problem = "upper bound to be greater than or equal to lower bound"
    else:
        return
    raise ExpressionError(
        f"The BETWEEN operator requires {problem}; "
        f"lower bound operand: {value_text(low)}, upper bound operand: {value_text(high)}"
    )


def value_text(value: AttributeValue) -> str:
    ((tag, content),) = value.items()
    return f"AttributeValue: {{{tag}:{content}}}"


def check_path_operand(call: tree.Function, values: Values) -> None:
    if not isinstance(call.operands[0], tree.Path):
        raise ExpressionError(
            f"Operator or function requires a document path; operator or function: {call.name}"
        )


def check_begins_with(call: tree.Function, values: Values) -> None:
    for operand in call.operands:
        found = operand_type(operand, values)
        if found is not None and found not in ("S", "B"):
            raise incorrect_type(call.name, found)


def check_attribute_type(call: tree.Function, values: Values) -> None:
    operand = call.operands[1]
    found = operand_type(operand, values)
    if found != "S" or not isinstance(operand, tree.Value):
        raise incorrect_type(call.name, found or "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
    name = values[operand.name]["S"]
    if name not in ATTRIBUTE_TYPES:
        raise ExpressionError(
            f"Invalid attribute type name found; type: {name}, "
            f"valid types: {{{','.join(ATTRIBUTE_TYPES)}}}"
        )


def check_size(call: tree.Function, values: Values) -> None:
    found = operand_type(call.operands[0], values)
    if found in ("N", "BOOL", "NULL"):
        raise incorrect_type(call.name, found)


def accept(call: tree.Function, values: Values) -> None:
    """Accepts any operands, for `contains`: whether they fit depends on the item."""


CALL_CHECKS: dict[str, Callable[[tree.Function, Values], None]] = {
    "attribute_exists": check_path_operand,
    "attribute_not_exists": check_path_operand,
    "attribute_type": check_attribute_type,
    "begins_with": check_begins_with,
    "contains": accept,
    "size": check_size,
}


def depends_on_contents(condition: tree.Condition) -> bool:
    """Whether values of the right types can still be invalid, so each request is checked."""
    return any(
        isinstance(simple, tree.Between)
        or (isinstance(simple, tree.Function) and simple.name == "attribute_type")
        for simple in tree.simple_conditions(condition)
    )


def check_update(actions: Sequence[tree.Action], names: Names, values: Values) -> None:
    paths = [action.path for action in actions]
    assigned = [action.operand for action in actions if isinstance(action, tree.Set)]
    for action in actions:
        check_defined_names(action, names)
    for action in actions:
        check_defined_values(action, values)
    check_overlaps([resolve(path, names) for path in paths])
    for action in actions:
        if isinstance(action, tree.Add | tree.Delete):
            check_set_action(action, values)
    for operand in assigned:
        check_assigned(operand, values)


def check_defined_names(action: tree.Action, names: Names) -> None:
    resolve(action.path, names)
    if isinstance(action, tree.Set):
        for leaf in tree.leaves(action.operand):
            if isinstance(leaf, tree.Path):
                resolve(leaf, names)


def check_defined_values(action: tree.Action, values: Values) -> None:
    match action:
        case tree.Set(_, operand):
            used = [leaf for leaf in tree.leaves(operand) if isinstance(leaf, tree.Value)]
        case tree.Add(_, value) | tree.Delete(_, value):
            used = [value]
        case _:
            used = []
    for value in used:
        if value.name not in values:
            raise undefined_value(value)


def check_set_action(action: tree.Add | tree.Delete, values: Values) -> None:
    """ADD takes a number or a set, DELETE takes a set."""
    found = type_of(values[action.value.name])
    name = type(action).__name__.upper()
    if found in LONG_TYPE_NAMES and not (name == "ADD" and found == "N"):
        raise ExpressionError(
            f"Incorrect operand type for operator or function; operator: {name}, "
            f"operand type: {LONG_TYPE_NAMES[found]}, typeSet: ALLOWED_FOR_{name}_OPERAND"
        )


def check_assigned(operand: tree.Operand, values: Values) -> None:
    """Checks an assigned operand, nested operands first."""
    match operand:
        case tree.Arithmetic(name, left, right):
            parts, wanted = (left, right), "N"
        case tree.Function(name, parts):
            wanted = "L"
        case _:
            return
    for part in parts:
        check_assigned(part, values)
    if isinstance(operand, tree.Function):
        check_operand_count(operand)
    if isinstance(operand, tree.Function) and name == "if_not_exists":
        check_path_operand(operand, values)
        return
    for part in parts:
        found = operand_type(part, values)
        if found is not None and found != wanted:
            raise incorrect_type(name, found)
