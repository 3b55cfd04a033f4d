"""Which operations a rule keeps out of a comparison, which differences in words it lets pass."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.features import (
    conditions,
    is_empty,
    numbers_in,
    operands,
    paths_in,
    tests,
    updates_of,
    writes_of,
)
from tests.reference.mistakes import mistakes
from tests.reference.model import Model
from tests.reference.outcomes import Refusal
from tests.reference.updates import BeyondLimits, Unapplicable, only_takes_away
from tests.reference.values import Value, decode, plain

Exclusion: TypeAlias = Callable[[o.Operation, Model], bool]
Excuse: TypeAlias = Callable[[o.Operation, Refusal, Refusal], bool]
"""Takes the operation, the engine's refusal and the other's."""


def nothing(_operation: o.Operation, _model: Model) -> bool:
    return False


def no_words(_operation: o.Operation, _ours: Refusal, _theirs: Refusal) -> bool:
    return False


def each_says(ours: str, theirs: str) -> Excuse:
    """Two texts for one mistake."""
    return lambda _, our_error, their_error: (
        ours in (our_error.message or "") and theirs in (their_error.message or "")
    )


def any_test(
    matches: Callable[[t.Condition, list[Value | None]], bool],
) -> Exclusion:
    return lambda operation, model: any(matches(*test) for test in tests(operation, model))


def kinds(values: list[Value | None]) -> set[str]:
    return {value[0] for value in values if value is not None}


def with_fault(*names: str) -> Exclusion:
    return lambda operation, _: operation.fault is not None and operation.fault.name in names


def both_say(*phrases: str) -> Excuse:
    def excuses(_operation: o.Operation, ours: Refusal, theirs: Refusal) -> bool:
        said = (ours.message or "", theirs.message or "")
        return any(all(phrase in message for message in said) for phrase in phrases)

    return excuses


def both_among(*sentences: str) -> Excuse:
    return lambda _, ours, theirs: ours.message in sentences and theirs.message in sentences


def signed_number(operation: o.Operation, _model: Model) -> bool:
    return any(text.startswith("+") for text in numbers_in(operation))


def shows_failed_item(operation: o.Operation, model: Model) -> bool:
    sound = [write for write in writes_of(operation) if not any(mistakes(write))]
    reasons = (model.objection(write, model.old(write)) for write in sound)
    return any(reason is not None and reason.item is not None for reason in reasons)


def two_missing(node: t.Condition, values: list[Value | None]) -> bool:
    return isinstance(node, t.Compare) and values == [None, None]


def documents_compared(node: t.Condition, values: list[Value | None]) -> bool:
    return isinstance(node, t.Compare | t.OneOf) and bool(kinds(values) & {"L", "M"})


def falsy_tested(node: t.Condition, values: list[Value | None]) -> bool:
    tested = isinstance(node, t.OneOf | t.Between | t.IsOfType)
    measured = any(isinstance(operand, t.SizeOf) for operand in operands(node))
    falsy = is_empty(values[0]) or values[0] == ("BOOL", False) if values else False
    return (tested and falsy) or (measured and ("N", 0) in values)


def attributes_as_bounds(operation: o.Operation, _model: Model) -> bool:
    return any(
        isinstance(node, t.OneOf | t.Between)
        and any(isinstance(bound, t.Path) for bound in operands(node)[1:])
        for node in conditions(operation)
    )


def binary_searched(node: t.Condition, values: list[Value | None]) -> bool:
    return isinstance(node, t.BeginsWith | t.Contains) and "B" in kinds(values)


def list_searched(node: t.Condition, values: list[Value | None]) -> bool:
    return isinstance(node, t.Contains) and "L" in kinds(values[:1])


def positions_changed(operation: o.Operation, _model: Model) -> bool:
    def is_element(action: t.Action) -> bool:
        return any(isinstance(step, int) for step in action.path.steps)

    several = (sum(is_element(a) for a in update.actions) > 1 for update in updates_of(operation))
    return any(several)


def shares_values(operation: o.Operation, _model: Model) -> bool:
    for update in updates_of(operation):
        inside = {action.path.root for action in update.actions if len(action.path.steps) > 1}
        sets = (action for action in update.actions if isinstance(action, t.Set))
        if inside & {path.root for action in sets for path in paths_in(action.value)}:
            return True
    return False


def beyond_the_plane(value: Value | None) -> bool:
    return value is not None and value[0] == "S" and max(value[1], default="") > "\uffff"


def orders_by_utf16(operation: o.Operation, model: Model) -> bool:
    compared = [
        value
        for node, values in tests(operation, model)
        if isinstance(node, t.Compare | t.Between)
        for value in values
    ]
    if isinstance(operation, o.Query):
        names = [test.name for test in operation.keys if test.operator != "="]
        items = model.table(operation).items.values()
        compared += [item.get(name) for name in names for item in items]
        compared += [decode(value) for test in operation.keys for value in test.values if names]
    return any(beyond_the_plane(value) for value in compared)


def wrong_operands(operation: o.Operation, _model: Model) -> bool:
    return any("is for strings, numbers and binaries" in mistake for mistake in mistakes(operation))


def not_not(operation: o.Operation, _model: Model) -> bool:
    return any(
        isinstance(node, t.Not) and isinstance(node.inner, t.Not) for node in conditions(operation)
    )


def fetches_for_index(operation: o.Operation, _model: Model) -> bool:
    if not isinstance(operation, o.Read):
        return False
    index = operation.design.index(operation.index)
    is_partial = index is not None and not index.is_global and index.projection != "ALL"
    return is_partial and bool(operation.projection)


def takes_from_nothing(operation: o.Operation, model: Model) -> bool:
    return any(
        only_takes_away(update.actions) and model.old(update) is None
        for update in updates_of(operation)
    )


def beyond_limits(operation: o.Operation, model: Model) -> bool:
    for update in updates_of(operation):
        try:
            if not any(mistakes(update)):
                model.become(update, model.old(update))
        except BeyondLimits:
            return True
        except Unapplicable:
            continue
    return False


def spelled_number_in_expected(operation: o.Operation, model: Model) -> bool:
    return "Expected" in operation.params() and spelled_number(operation, model)


def adds_without_expression(operation: o.Operation, _model: Model) -> bool:
    return "AttributeUpdates" in operation.params() and any(
        isinstance(action, t.Add) for update in updates_of(operation) for action in update.actions
    )


def unsound(operation: o.Operation, _model: Model) -> bool:
    return operation.fault is not None or any(mistakes(operation))


def spelled_number(operation: o.Operation, _model: Model) -> bool:
    return any(text != plain(Decimal(text)) for text in numbers_in(operation))


def tests_values(operation: o.Operation, _model: Model) -> bool:
    about_presence = t.And | t.Or | t.Not | t.Exists | t.Missing
    return any(not isinstance(node, about_presence) for node in conditions(operation))


def shows_what_changed(operation: o.Operation, _model: Model) -> bool:
    return any(update.returns in ("UPDATED_OLD", "UPDATED_NEW") for update in updates_of(operation))


def plain_update(update: o.Update) -> bool:
    """What moto does right: whole attributes set to given values or removed."""
    return bool(update.actions) and all(
        len(action.path.steps) == 1
        and (isinstance(action, t.Remove) or isinstance(getattr(action, "value", None), t.Literal))
        and not isinstance(action, t.Add | t.DeleteFrom)
        for action in update.actions
    )


def intricate_update(operation: o.Operation, _model: Model) -> bool:
    return not all(plain_update(update) for update in updates_of(operation))


def projections_of(operation: o.Operation) -> list[t.Projection]:
    match operation:
        case o.BatchGet() | o.TransactGet():
            return [get.projection for get in operation.gets]
        case o.Get() | o.Query() | o.Scan():
            return [operation.projection]
        case _:
            return []


def nested_projection(operation: o.Operation, _model: Model) -> bool:
    paths = (path for projection in projections_of(operation) for path in projection)
    in_transaction = isinstance(operation, o.TransactGet) and any(projections_of(operation))
    return in_transaction or any(len(path.steps) > 1 for path in paths)


def sort_key_first(operation: o.Operation, _model: Model) -> bool:
    if not isinstance(operation, o.Query):
        return False
    index = operation.design.index(operation.index)
    return operation.keys[0].name != (index.partition[0] if index else operation.design.partition)


def reads_local_index_whole(operation: o.Operation, model: Model) -> bool:
    return fetches_for_index(operation, model) or (
        isinstance(operation, o.Read) and operation.select == "ALL_ATTRIBUTES"
    )


def token_again(operation: o.Operation, model: Model) -> bool:
    return isinstance(operation, o.TransactWrite) and operation.token in model.tokens
