"""Updates: compute the new item from the old one.

Every operand is read from the item as it was before the update, whatever the order of the actions.
The new item shares with the old one the parts that no path changes; the old one is never modified.
List indexes refer to the old list: elements set beyond its end are appended in the order of their
indexes, and removed elements are taken out last.

AWS: "Using update expressions in DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import partial
from typing import Any, TypeAlias

from bigtime.engine.expressions import paths, tree
from bigtime.engine.expressions.condition import Reader, ReaderBinder, Values, constant
from bigtime.wire import AttributeValue, Item, ValidationException, number

MISSING_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
INVALID_PATH = "The document path provided in the update expression is invalid for update"
INCORRECT_TYPE = "An operand in the update expression has an incorrect data type"

# Bytes that AWS adds to the attributes that an update changes, when it compares them with the limit
# of 400 KB; the other attributes do not count. (Bisected on AWS; its pages do not say:
# https://github.com/nubo-db/dynoxide/issues/187, https://github.com/nubo-db/dynoxide/issues/210)
UPDATE_BYTES = 3
REMOVE_BYTES = 2
CHANGE_BYTES = 19
ARITHMETIC_BYTES = 50
LIST_INDEX_BYTES = 1

# The digits of two numbers are at most 10^125 and 10^-167 apart.
EXACT = Context(prec=300)

Change: TypeAlias = Callable[[AttributeValue | None], AttributeValue | None]
"""Maps the old value at a path to the new one; None means no value."""

Preparation: TypeAlias = Callable[[Item], Change]
"""Reads the operands, before any path is followed, so that their errors come first."""

PreparationBinder: TypeAlias = Callable[[Values], Preparation]


@dataclass(slots=True, eq=False)
class Update:
    """An update bound to its values."""

    preparations: list[Preparation]
    root: paths.Branch
    touched: paths.Projection
    """The part of an item that this update affects, for UPDATED_OLD and UPDATED_NEW."""
    attributes: frozenset[str]
    nested_attributes: frozenset[str]
    """Attributes that a path leads into, to change or to read."""
    named: frozenset[str]
    """Attributes that it changes, or that a path leads into."""
    only_removes: bool
    overhead: int
    """Bytes that count toward an item's limit beside the changed attributes."""

    def apply(self, item: Item) -> Item:
        changes = [prepare(item) for prepare in self.preparations]
        return changed_map(self.root, changes, item)


@dataclass(frozen=True, slots=True)
class UpdateProgram:
    binders: tuple[PreparationBinder, ...]
    root: paths.Branch
    touched: paths.Projection
    nested_attributes: frozenset[str]
    named: frozenset[str]
    only_removes: bool
    overhead: int

    def bind(self, values: Values) -> Update:
        return Update(
            [binder(values) for binder in self.binders],
            self.root,
            self.touched,
            self.touched.attributes,
            self.nested_attributes,
            self.named,
            self.only_removes,
            self.overhead,
        )


def compile_update(
    actions: Sequence[tree.Action], names: paths.Names, mismatch: str = INCORRECT_TYPE
) -> UpdateProgram:
    """`mismatch` is the error of ADD and DELETE for an attribute of another type."""
    targets = [paths.resolve(action.path, names) for action in actions]
    read = [
        paths.resolve(leaf, names)
        for action in actions
        if isinstance(action, tree.Set)
        for leaf in tree.leaves(action.operand)
        if isinstance(leaf, tree.Path)
    ]
    touched = paths.projection(targets)
    nested = paths.nested_names([*targets, *read])
    return UpdateProgram(
        tuple(compile_action(action, names, mismatch) for action in actions),
        paths.branches(targets),
        touched,
        nested,
        touched.attributes | nested,
        all(isinstance(action, tree.Remove) for action in actions),
        UPDATE_BYTES + sum(map(overhead_of, actions)),
    )


def overhead_of(action: tree.Action) -> int:
    if isinstance(action, tree.Remove):
        return REMOVE_BYTES
    size = CHANGE_BYTES
    if any(isinstance(element, int) for element in action.path.elements):
        size += LIST_INDEX_BYTES
    if isinstance(action, tree.Set) and isinstance(action.operand, tree.Arithmetic):
        size += ARITHMETIC_BYTES
    return size


def compile_action(action: tree.Action, names: paths.Names, mismatch: str) -> PreparationBinder:
    match action:
        case tree.Set(_, operand):
            return assignment(compile_assigned_value(operand, names))
        case tree.Remove():
            return lambda values: lambda item: lambda existing: None
        case tree.Add(_, value):
            return adjustment(add_value, value.name, mismatch)
        case tree.Delete(_, value):
            return adjustment(delete_members, value.name, mismatch)


def assignment(operand: ReaderBinder) -> PreparationBinder:
    def bind(values: Values) -> Preparation:
        read = operand(values)

        def prepare(item: Item) -> Change:
            value = read(item)
            return lambda existing: value

        return prepare

    return bind


def adjustment(
    adjust: Callable[[AttributeValue, str, AttributeValue | None], AttributeValue | None],
    value_name: str,
    mismatch: str,
) -> PreparationBinder:
    def bind(values: Values) -> Preparation:
        change = partial(adjust, values[value_name], mismatch)
        return lambda item: change

    return bind


def add_value(
    value: AttributeValue, mismatch: str, existing: AttributeValue | None
) -> AttributeValue | None:
    if existing is None:
        return value
    ((tag, more),) = value.items()
    if tag not in existing:
        raise ValidationException(mismatch)
    content = existing[tag]
    if tag == "N":
        return {"N": add_numbers(content, more)}
    if tag == "L":
        return {"L": [*content, *more]}
    present = set(content)
    return {tag: [*content, *(element for element in more if element not in present)]}


def add_numbers(a: str, b: str) -> str:
    """The exact sum of two canonical numbers."""
    if is_short_integer(a) and is_short_integer(b):
        return str(int(a) + int(b))
    return refuse_overflow(EXACT.add(number.decimal(a), number.decimal(b)))


def subtract_numbers(a: str, b: str) -> str:
    """The exact difference of two canonical numbers."""
    if is_short_integer(a) and is_short_integer(b):
        return str(int(a) - int(b))
    return refuse_overflow(EXACT.subtract(number.decimal(a), number.decimal(b)))


def is_short_integer(text: str) -> bool:
    return len(text) < number.MAX_DIGITS and "." not in text


def refuse_overflow(result: Decimal) -> str:
    # A literal of 39 digits has an error of its own, but a sum of 39 digits counts as an overflow.
    # (Reported of AWS; undocumented.)
    if len(EXACT.normalize(result).as_tuple().digits) > number.MAX_DIGITS:
        raise ValidationException(number.OVERFLOW)
    return number.from_decimal(result) if result else "0"


def delete_members(
    value: AttributeValue, mismatch: str, existing: AttributeValue | None
) -> AttributeValue | None:
    if existing is None:
        return None
    ((tag, elements),) = value.items()
    if tag not in existing:
        raise ValidationException(mismatch)
    unwanted = set(elements)
    rest = [element for element in existing[tag] if element not in unwanted]
    # A set cannot be empty: without elements the attribute is removed too.
    return {tag: rest} if rest else None


def compile_assigned_value(operand: tree.Operand, names: paths.Names) -> ReaderBinder:
    """The value that SET assigns, read from the item; a missing one is an error."""
    match operand:
        case tree.Value(name):
            return lambda values: constant(values[name])
        case tree.Path():
            required = required_reader(paths.getter(paths.resolve(operand, names)))
            return lambda values: required
        case tree.Arithmetic(symbol, left, right):
            compute = add_numbers if symbol == "+" else subtract_numbers
            return combine_operands(
                compile_assigned_value(left, names),
                compile_assigned_value(right, names),
                lambda a, b: {"N": compute(content(a, "N"), content(b, "N"))},
            )
        case tree.Function("list_append", (left, right)):
            return combine_operands(
                compile_assigned_value(left, names),
                compile_assigned_value(right, names),
                lambda a, b: {"L": [*content(a, "L"), *content(b, "L")]},
            )
        case tree.Function(_, (tree.Path() as path, default)):
            return existing_or(
                paths.getter(paths.resolve(path, names)), compile_assigned_value(default, names)
            )
        case _:
            raise AssertionError("refused before it is compiled")


def required_reader(get: Reader) -> Reader:
    def read(item: Item) -> AttributeValue | None:
        value = get(item)
        if value is None:
            raise ValidationException(MISSING_ATTRIBUTE)
        return value

    return read


def combine_operands(
    left: ReaderBinder, right: ReaderBinder, combine: Callable[[Any, Any], AttributeValue]
) -> ReaderBinder:
    def bind(values: Values) -> Reader:
        read_left, read_right = left(values), right(values)
        return lambda item: combine(read_left(item), read_right(item))

    return bind


def content(value: AttributeValue, tag: str) -> Any:
    try:
        return value[tag]
    except KeyError:
        raise ValidationException(INCORRECT_TYPE) from None


def existing_or(get: Reader, default: ReaderBinder) -> ReaderBinder:
    def bind(values: Values) -> Reader:
        otherwise = default(values)

        def read(item: Item) -> AttributeValue | None:
            value = get(item)
            return otherwise(item) if value is None else value

        return read

    return bind


def changed_map(branch: paths.Branch, changes: Sequence[Change], members: Item) -> Item:
    new = dict(members)
    for name, child in branch.children.items():
        assert isinstance(name, str)
        existing = members.get(name)
        value = change_child(child, changes, existing)
        if value is not None:
            new[name] = value
        elif existing is not None:
            del new[name]
    return new


def change_child(
    child: paths.Branch | int, changes: Sequence[Change], existing: AttributeValue | None
) -> AttributeValue | None:
    if isinstance(child, int):
        return changes[child](existing)
    tag = "L" if child.is_list else "M"
    if existing is None or tag not in existing:
        raise ValidationException(INVALID_PATH)
    if tag == "L":
        return {"L": changed_list(child, changes, existing["L"])}
    return {"M": changed_map(child, changes, existing["M"])}


def changed_list(
    branch: paths.Branch, changes: Sequence[Change], elements: list[AttributeValue]
) -> list[AttributeValue]:
    new: list[AttributeValue | None] = list(elements)
    for index, child in sorted(branch.children.items()):
        assert isinstance(index, int)
        if index < len(elements):
            new[index] = change_child(child, changes, elements[index])
        else:
            new.append(change_child(child, changes, None))
    return [value for value in new if value is not None]
