"""Compiles a condition's tree into a function of an item.

There are two steps, because requests repeat their texts and change their values. Compiling turns a
tree into a binder, once per text; binding gives it the values of one request and returns a
predicate, in which constants are converted, types are known and the usual comparison of an
attribute with a constant is one dictionary lookup.

What DynamoDB's comparisons mean: a missing attribute or an operand of another type makes a
condition false, but makes ``<>`` true, which is exactly "not =". (The functions are described in
AWS: "Condition and filter expressions, operators, and functions in DynamoDB"; that of ``<>`` was
seen on AWS by ScyllaDB's test_condition_expression.py.)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
https://github.com/scylladb/scylladb/tree/master/test/alternator
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.engine.expressions import tree
from bigtime.engine.expressions.paths import Names, getter, nested_names, resolve, top_level_names
from bigtime.wire import AttributeValue, Item
from bigtime.wire import values as attribute_values

Values: TypeAlias = Mapping[str, AttributeValue]
Predicate: TypeAlias = Callable[[Item], bool]
Binder: TypeAlias = Callable[[Values], Predicate]
Reader: TypeAlias = Callable[[Item], AttributeValue | None]
ReaderBinder: TypeAlias = Callable[[Values], Reader]

SCALARS = frozenset(("S", "N", "B", "BOOL", "NULL"))
ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(slots=True, eq=False)
class Filter:
    """A condition bound to its values, and the attributes it reads."""

    matches: Predicate
    attributes: frozenset[str]
    nested_attributes: frozenset[str]

    def __call__(self, item: Item) -> bool:
        return self.matches(item)


@dataclass(frozen=True, slots=True)
class ConditionProgram:
    binder: Binder
    attributes: frozenset[str]
    nested_attributes: frozenset[str]

    def bind(self, values: Values) -> Filter:
        return Filter(self.binder(values), self.attributes, self.nested_attributes)


def compile_condition(condition: tree.Condition, names: Names) -> ConditionProgram:
    paths = [resolve(path, names) for path in tree.condition_paths(condition)]
    return ConditionProgram(
        compile_tree(condition, names), top_level_names(paths), nested_names(paths)
    )


def compile_tree(condition: tree.Condition, names: Names) -> Binder:
    match condition:
        case tree.And(parts):
            binder = join([compile_tree(part, names) for part in parts], by_or=False)
        case tree.Or(parts):
            binder = join([compile_tree(part, names) for part in parts], by_or=True)
        case tree.Not(part):
            binder = opposite(compile_tree(part, names))
        case tree.Comparison(symbol, left, right):
            binder = comparison(symbol, left, right, names)
        case tree.Between(operand, low, high):
            at_least = comparison(">=", operand, low, names)
            binder = join([at_least, comparison("<=", operand, high, names)], by_or=False)
        case tree.In(operand, choices):
            binder = membership(operand, choices, names)
        case tree.Function():
            binder = function(condition, names)
    return binder


def join(binders: list[Binder], *, by_or: bool) -> Binder:
    """OR or AND, either of which stops at the first part that decides."""

    def bind(values: Values) -> Predicate:
        predicates = [binder(values) for binder in binders]

        def matches(item: Item) -> bool:
            for predicate in predicates:
                if predicate(item) is by_or:
                    return by_or
            return not by_or

        return matches

    return bind


def opposite(binder: Binder) -> Binder:
    def bind(values: Values) -> Predicate:
        predicate = binder(values)
        return lambda item: not predicate(item)

    return bind


def reader(operand: tree.Operand, names: Names) -> ReaderBinder:
    match operand:
        case tree.Value(name):
            return lambda values: constant(values[name])
        case tree.Path():
            get = getter(resolve(operand, names))
            return lambda values: get
        case tree.Function(_, (measured,)):
            return size(reader(measured, names))
        case tree.Function() | tree.Arithmetic():
            raise AssertionError("refused before it is compiled")


def constant(value: AttributeValue) -> Reader:
    return lambda item: value


def size(measured: ReaderBinder) -> ReaderBinder:
    def bind(values: Values) -> Reader:
        read = measured(values)

        def size_of(item: Item) -> AttributeValue | None:
            value = read(item)
            length = None if value is None else attribute_values.size_of(value)
            return None if length is None else {"N": str(length)}

        return size_of

    return bind


def comparison(symbol: str, left: tree.Operand, right: tree.Operand, names: Names) -> Binder:
    if isinstance(left, tree.Value) and not isinstance(right, tree.Value):
        return comparison(MIRRORED[symbol], right, left, names)
    if isinstance(right, tree.Value):
        return compared_with_constant(symbol, left, right.name, names)
    return compile_comparison(symbol, reader(left, names), reader(right, names))


def compared_with_constant(symbol: str, left: tree.Operand, value: str, names: Names) -> Binder:
    read = reader(left, names)
    if symbol in ORDERINGS:
        test = ORDERINGS[symbol]
        return lambda values: compares_with(read(values), test, values[value])
    if symbol == "<>":
        return opposite(compared_with_constant("=", left, value, names))
    name = top_level_name(left, names)
    if name is not None:
        return lambda values: attribute_equals(name, values[value])
    return lambda values: equals(read(values), values[value])


def top_level_name(operand: tree.Operand, names: Names) -> str | None:
    path = resolve(operand, names) if isinstance(operand, tree.Path) else ()
    return str(path[0]) if len(path) == 1 else None


def attribute_equals(name: str, value: AttributeValue) -> Predicate:
    """The commonest condition of all; validated scalars are equal if their texts are."""
    if SCALARS.isdisjoint(value):
        return equals(lambda item: item.get(name), value)
    return lambda item: item.get(name) == value


def equals(read: Reader, value: AttributeValue) -> Predicate:
    same = attribute_values.same

    def matches(item: Item) -> bool:
        found = read(item)
        return found is not None and same(found, value)

    return matches


def compares_with(
    read: Reader, test: Callable[[Any, Any], bool], value: AttributeValue
) -> Predicate:
    ((tag, text),) = value.items()
    convert = attribute_values.SORTABLE[tag]
    bound = convert(text)

    def matches(item: Item) -> bool:
        found = read(item)
        return found is not None and tag in found and test(convert(found[tag]), bound)

    return matches


def compile_comparison(symbol: str, left: ReaderBinder, right: ReaderBinder) -> Binder:
    if symbol == "<>":
        return opposite(compile_comparison("=", left, right))
    test = attribute_values.same if symbol == "=" else compare_order(ORDERINGS[symbol])
    return compile_test(test, left, right)


def compare_order(
    test: Callable[[Any, Any], bool],
) -> Callable[[AttributeValue, AttributeValue], bool]:
    def holds(a: AttributeValue, b: AttributeValue) -> bool:
        order = attribute_values.order(a, b)
        return order is not None and test(order, 0)

    return holds


def membership(operand: tree.Operand, choices: tuple[tree.Operand, ...], names: Names) -> Binder:
    subject = reader(operand, names)
    constants = [choice.name for choice in choices if isinstance(choice, tree.Value)]
    if len(constants) == len(choices):
        return lambda values: one_of(subject(values), [values[name] for name in constants])
    return join([comparison("=", operand, choice, names) for choice in choices], by_or=True)


def one_of(read: Reader, choices: list[AttributeValue]) -> Predicate:
    """Scalars are looked up in a set, so that a long list costs no more per item than a short."""
    scalars = {pair for choice in choices for pair in choice.items() if pair[0] in SCALARS}
    others = [choice for choice in choices if SCALARS.isdisjoint(choice)]

    def matches(item: Item) -> bool:
        found = read(item)
        if found is None:
            return False
        for pair in found.items():
            if pair[0] in SCALARS:
                return pair in scalars
        return any(attribute_values.same(found, choice) for choice in others)

    return matches


def function(call: tree.Function, names: Names) -> Binder:
    if call.name in ("attribute_exists", "attribute_not_exists"):
        return existence(call, names)
    subject, operand = (reader(each, names) for each in call.operands)
    return compile_test(TESTS[call.name], subject, operand)


def existence(call: tree.Function, names: Names) -> Binder:
    (path,) = call.operands
    wanted = call.name == "attribute_exists"
    name = top_level_name(path, names)
    if name is not None:
        exists: Predicate = lambda item: (name in item) is wanted  # noqa: E731
        return lambda values: exists
    read = reader(path, names)

    def bind(values: Values) -> Predicate:
        get = read(values)
        return lambda item: (get(item) is not None) is wanted

    return bind


def compile_test(
    test: Callable[[AttributeValue, AttributeValue], bool],
    subject: ReaderBinder,
    operand: ReaderBinder,
) -> Binder:
    def bind(values: Values) -> Predicate:
        read, read_operand = subject(values), operand(values)

        def matches(item: Item) -> bool:
            found, sought = read(item), read_operand(item)
            return found is not None and sought is not None and test(found, sought)

        return matches

    return bind


def begins_with(found: AttributeValue, prefix: AttributeValue) -> bool:
    if "S" in found and "S" in prefix:
        return bool(found["S"].startswith(prefix["S"]))
    if "B" in found and "B" in prefix:
        binary = attribute_values.binary
        return binary(found["B"]).startswith(binary(prefix["B"]))
    return False


TESTS: dict[str, Callable[[AttributeValue, AttributeValue], bool]] = {
    "attribute_type": lambda found, type_name: type_name["S"] in found,
    "begins_with": begins_with,
    "contains": attribute_values.contains,
}
