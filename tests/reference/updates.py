"""What an update expression makes of an item, and what a projection leaves of it.

Both work on a *trie* of paths. Every position in it means a position in the item as it was, which
is what makes `REMOVE a[0], a[1]` take away the first two elements, and `SET a = b, b = a` a swap
(developerguide/Expressions.UpdateExpressions.html). No path of one expression may be the beginning
of another, so each node of the trie is either a leaf or has children.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, TypeAlias

from tests.reference import trees as t
from tests.reference.evaluation import child, literal_type, resolve
from tests.reference.values import EXACT, SETS, Item, Value, decode, storable

Trie: TypeAlias = dict[str | int, Any]
Leaf: TypeAlias = t.Action | bool
"""A leaf is the action to take there; in a projection it is just True."""

NO_SUCH_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
NO_SUCH_PATH = "The document path provided in the update expression is invalid for update"


class Unapplicable(Exception):
    """An update that this item cannot take, in DynamoDB's words."""


class BeyondLimits(Unapplicable):
    """A number that cannot be stored, an index key that cannot be one: words not known."""


def trie(leaves: Iterable[tuple[t.Path, Leaf]]) -> Trie:
    root: Trie = {}
    for path, leaf in leaves:
        node = root
        for step in path.steps[:-1]:
            node = node.setdefault(step, {})
        node[path.steps[-1]] = leaf
    return root


def project(paths: Iterable[t.Path], item: Item) -> Item:
    kept = keep(("M", item), trie((path, True) for path in paths))
    return kept[1] if kept else {}


def keep(value: Value, node: Trie) -> Value | None:
    """The part of a value that the trie names; list elements close up in their order."""
    kept: dict[str | int, Value] = {}
    for step, below in node.items():
        inner = child(value, step)
        part = inner if inner is None or below is True else keep(inner, below)
        if part is not None:
            kept[step] = part
    if not kept:
        return None
    if value[0] == "L":
        return "L", [kept[position] for position in sorted(kept, key=int)]
    return "M", kept


def apply_update(actions: t.Update, item: Item) -> Item:
    """The item after the update; raises Unapplicable."""
    assigned = {a.path: evaluate(a.value, item) for a in actions if isinstance(a, t.Set)}
    after = rebuild(("M", item), trie((action.path, action) for action in actions), assigned)
    return dict(after[1])


def rebuild(value: Value | None, node: Trie, assigned: dict[t.Path, Value]) -> Value:
    steps = {type(step) for step in node}
    if value is None or value[0] != ("L" if steps == {int} else "M"):
        raise Unapplicable(NO_SUCH_PATH)
    changed = {step: become(child(value, step), below, assigned) for step, below in node.items()}
    if value[0] == "M":
        members = {**value[1], **changed}
        return "M", {name: member for name, member in members.items() if member is not None}
    return "L", list_with(value[1], changed)


def list_with(members: list[Value], changed: dict[str | int, Value | None]) -> list[Value]:
    replaced = [changed.get(position, member) for position, member in enumerate(members)]
    beyond = sorted(int(step) for step in changed if int(step) >= len(members))
    replaced += [changed[step] for step in beyond]
    return [member for member in replaced if member is not None]


def become(
    old: Value | None, below: Trie | t.Action, assigned: dict[t.Path, Value]
) -> Value | None:
    match below:
        case t.Set(path, _):
            return assigned[path]
        case t.Remove():
            return None
        case t.Add(_, literal):
            return add_value(old, decode(literal.value))
        case t.DeleteFrom(_, literal):
            return without(old, decode(literal.value))
        case _:
            return rebuild(old, below, assigned)


def add_value(old: Value | None, new: Value) -> Value:
    if old is None:
        return new
    if old[0] != new[0]:
        raise Unapplicable(WRONG_TYPE)
    return total("+", old, new) if new[0] == "N" else (new[0], old[1] | new[1])


def without(old: Value | None, gone: Value) -> Value | None:
    if old is None:
        return None
    if old[0] != gone[0]:
        raise Unapplicable(WRONG_TYPE)
    left = old[1] - gone[1]
    return (old[0], left) if left else None


def total(operator: str, left: Value, right: Value) -> Value:
    if left[0] != "N" or right[0] != "N":
        raise Unapplicable(WRONG_TYPE)
    result = (EXACT.add if operator == "+" else EXACT.subtract)(left[1], right[1])
    if not storable(result):
        raise BeyondLimits
    return "N", result


def evaluate(term: t.Assigned, item: Item) -> Value:
    match term:
        case t.Literal(value):
            return decode(value)
        case t.IfMissing(path, otherwise):
            found = resolve(path, item)
            return evaluate(otherwise, item) if found is None else found
        case t.Append(first, second):
            return append_lists(evaluate(first, item), evaluate(second, item))
        case t.Arithmetic(operator, left, right):
            return total(operator, evaluate(left, item), evaluate(right, item))
        case t.Path():
            found = resolve(term, item)
            if found is None:
                raise Unapplicable(NO_SUCH_ATTRIBUTE)
            return found


def append_lists(first: Value, second: Value) -> Value:
    if first[0] != "L" or second[0] != "L":
        raise Unapplicable(WRONG_TYPE)
    return "L", first[1] + second[1]


def only_takes_away(actions: t.Update) -> bool:
    """Such an update does not make an item: "DELETE - Causes nothing to happen; there is no
    attribute to delete" (APIReference/API_AttributeValueUpdate.html)."""
    return bool(actions) and all(isinstance(a, t.Remove | t.DeleteFrom) for a in actions)


def only_removes(actions: t.Update) -> bool:
    """Of an item that does not exist AWS looks at no path (ScyllaDB, test_update_expression.py)."""
    return bool(actions) and all(isinstance(a, t.Remove) for a in actions)


def resizes_a_list(actions: t.Update, item: Item) -> bool:
    """Whether elements are added to a list or taken from one, so that positions mean others."""
    return any(
        isinstance(action.path.steps[-1], int)
        and (isinstance(action, t.Remove | t.DeleteFrom) or resolve(action.path, item) is None)
        for action in actions
    )


def mistakes(actions: t.Update) -> Iterator[str]:
    """What DynamoDB refuses in an update before it looks at the item."""
    yield from clashes([action.path for action in actions])
    for action in actions:
        match action:
            case t.Set(_, value):
                yield from term_mistakes(value)
            case t.Add(_, literal) if literal_type(literal) not in ("N", *SETS):
                yield "Incorrect operand type for operator or function"
            case t.DeleteFrom(_, literal) if literal_type(literal) not in SETS:
                yield "Incorrect operand type for operator or function"


def term_mistakes(term: t.Assigned) -> Iterator[str]:
    match term:
        case t.Arithmetic(_, left, right):
            yield from operand_mistakes("N", left, right)
        case t.Append(left, right):
            yield from operand_mistakes("L", left, right)
        case t.IfMissing(_, otherwise):
            yield from term_mistakes(otherwise)
        case _:
            return


def operand_mistakes(kind: str, *terms: t.Term) -> Iterator[str]:
    for term in terms:
        if term_type(term) not in (None, kind):
            yield "Incorrect operand type for operator or function"
        yield from term_mistakes(term)


def term_type(term: t.Term) -> str | None:
    """The type that a term has whatever the item, where it has one."""
    return "L" if isinstance(term, t.Append) else literal_type(term)


def clashes(paths: list[t.Path]) -> Iterator[str]:
    for each, two in combinations(paths, 2):
        shared = min(len(each.steps), len(two.steps))
        pairs = list(zip(each.steps, two.steps, strict=False))
        split = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if split is None:
            yield clash("overlap", each, two)
        elif type(split[0]) is not type(split[1]) and shared > 1:
            yield clash("conflict", each, two)


def clash(word: str, one: t.Path, two: t.Path) -> str:
    return (
        f"Two document paths {word} with each other; must remove or rewrite one of these paths; "
        f"path one: {path_text(one)}, path two: {path_text(two)}"
    )


def path_text(path: t.Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else step for step in path.steps)
    return f"[{', '.join(steps)}]"
