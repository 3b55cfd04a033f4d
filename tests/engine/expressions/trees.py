"""Random conditions: as trees, as texts, and as a plain meaning to compare ours with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bigtime.engine.expressions.tree import (
    Alias,
    And,
    Between,
    Comparison,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from bigtime.wire import AttributeValue, Item

NAMES = ("a", "b", "c", "deep")
VALUES: dict[str, AttributeValue] = {
    ":zero": {"N": "0"},
    ":one": {"N": "1"},
    ":ten": {"N": "10"},
    ":x": {"S": "x"},
    ":xy": {"S": "xy"},
    ":raw": {"B": "eHk="},
    ":true": {"BOOL": True},
    ":set": {"SS": ["x", "xy"]},
    ":turned": {"SS": ["xy", "x"]},
    ":list": {"L": [{"N": "1"}, {"S": "x"}]},
    ":map": {"M": {"a": {"N": "1"}}},
}
SORTABLE = (":zero", ":one", ":ten", ":x", ":xy", ":raw")

paths: SearchStrategy[Path] = st.one_of(
    st.sampled_from(NAMES).map(lambda name: Path((name,))),
    st.sampled_from([Path(("deep", "a")), Path(("deep", 1)), Path(("deep", "a", 0))]),
)
constants: SearchStrategy[Value] = st.sampled_from([Value(name) for name in VALUES])
sizes: SearchStrategy[Function] = paths.map(lambda path: Function("size", (path,)))
sortable: SearchStrategy[Operand] = st.one_of(
    paths, sizes, st.sampled_from([Value(name) for name in SORTABLE])
)
operands: SearchStrategy[Operand] = st.one_of(paths, sizes, constants)


def distinct(condition: Any) -> bool:
    match condition:
        case Comparison(_, left, right) | Function(_, (left, right)):
            return not (isinstance(left, Path) and left == right)
    return True


simple_conditions: SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, st.sampled_from(("=", "<>")), operands, operands),
    st.builds(Comparison, st.sampled_from(("<", "<=", ">", ">=")), sortable, sortable),
    st.builds(Between, sortable, paths, sortable),
    st.builds(In, operands, st.lists(operands, min_size=1, max_size=4).map(tuple)),
    paths.map(lambda path: Function("attribute_exists", (path,))),
    paths.map(lambda path: Function("attribute_not_exists", (path,))),
    st.builds(lambda path, value: Function("contains", (path, value)), paths, constants),
    st.builds(
        lambda path, prefix: Function("begins_with", (path, Value(prefix))),
        paths,
        st.sampled_from((":x", ":xy", ":raw")),
    ),
).filter(distinct)

conditions: SearchStrategy[Condition] = st.recursive(
    simple_conditions,
    lambda parts: st.one_of(
        parts.filter(lambda part: not isinstance(part, Not)).map(Not),
        st.lists(parts, min_size=2, max_size=3).map(lambda some: And(tuple(some))),
        st.lists(parts, min_size=2, max_size=3).map(lambda some: Or(tuple(some))),
    ),
    max_leaves=8,
)

stored: SearchStrategy[AttributeValue] = st.sampled_from(list(VALUES.values()))
items: SearchStrategy[Item] = st.dictionaries(
    st.sampled_from(NAMES),
    st.one_of(
        stored,
        st.lists(stored, max_size=3).map(lambda elements: {"L": elements}),
        st.dictionaries(st.sampled_from(NAMES), stored, max_size=3).map(lambda map_: {"M": map_}),
    ),
)


def shown_path(path: Path) -> str:
    text = ""
    for element in path.elements:
        if isinstance(element, int):
            text += f"[{element}]"
        else:
            text += "." * bool(text) + (element.name if isinstance(element, Alias) else element)
    return text


def shown_operand(operand: Operand) -> str:
    match operand:
        case Path():
            return shown_path(operand)
        case Value(name):
            return name
        case Function(name, arguments):
            return f"{name}({', '.join(map(shown_operand, arguments))})"
    raise AssertionError(operand)


def condition_text(condition: Condition) -> str:
    match condition:
        case And(parts):
            text = " AND ".join(grouped_text(part) for part in parts)
        case Or(parts):
            text = " OR ".join(grouped_text(part) for part in parts)
        case Not(part):
            text = f"NOT {grouped_text(part)}"
        case Comparison(symbol, left, right):
            text = f"{shown_operand(left)} {symbol} {shown_operand(right)}"
        case Between(operand, low, high):
            bounds = f"{shown_operand(low)} AND {shown_operand(high)}"
            text = f"{shown_operand(operand)} BETWEEN {bounds}"
        case In(operand, choices):
            text = f"{shown_operand(operand)} IN ({', '.join(map(shown_operand, choices))})"
        case Function():
            text = shown_operand(condition)
    return text


def grouped_text(condition: Condition) -> str:
    needed = isinstance(condition, And | Or | Not)
    return f"({condition_text(condition)})" if needed else condition_text(condition)


def flat(condition: Condition) -> Condition:
    """The same condition with chains of one operator in one node, as the parser leaves them."""
    match condition:
        case Not(part):
            inner = flat(part)
            return inner.part if isinstance(inner, Not) else Not(inner)
        case And(parts) | Or(parts):
            kind = type(condition)
            first, *others = map(flat, parts)
            leading = first.parts if isinstance(first, kind) else (first,)
            return kind((*leading, *others))
    return condition


def meaning(condition: Condition, item: Item) -> bool:
    """What the documentation says, without any hurry."""
    match condition:
        case And(parts):
            truth = all(meaning(part, item) for part in parts)
        case Or(parts):
            truth = any(meaning(part, item) for part in parts)
        case Not(part):
            truth = not meaning(part, item)
        case Comparison(symbol, left, right):
            truth = compare(symbol, value_at(left, item), value_at(right, item))
        case Between(operand, low, high):
            subject = value_at(operand, item)
            truth = compare(">=", subject, value_at(low, item))
            truth = truth and compare("<=", subject, value_at(high, item))
        case In(operand, choices):
            subject = value_at(operand, item)
            truth = any(compare("=", subject, value_at(choice, item)) for choice in choices)
        case Function(name, arguments):
            truth = FUNCTIONS[name](*(value_at(argument, item) for argument in arguments))
    return truth


def value_at(operand: Operand, item: Item) -> AttributeValue | None:
    match operand:
        case Value(name):
            return VALUES[name]
        case Function(_, (measured,)):
            return size(value_at(measured, item))
        case Path((name, *inner)):
            value = item.get(str(name))
            for element in inner:
                value = child(value, element)
            return value
    raise AssertionError(operand)


def child(value: AttributeValue | None, element: Any) -> AttributeValue | None:
    match value, element:
        case {"L": list() as elements}, int():
            return elements[element] if element < len(elements) else None
        case {"M": dict() as members}, str():
            return members.get(element)
    return None


def size(value: AttributeValue | None) -> AttributeValue | None:
    match value:
        case {"S": str() as text}:
            return {"N": str(len(text))}
        case {"B": str()}:
            return {"N": "2"}
        case {"SS": content} | {"L": content} | {"M": content}:
            return {"N": str(len(content))}
    return None


def compare(symbol: str, left: AttributeValue | None, right: AttributeValue | None) -> bool:
    if symbol == "<>":
        return not compare("=", left, right)
    if left is None or right is None or left.keys() != right.keys():
        return False
    if symbol == "=":
        return canonical(left) == canonical(right)
    (tag,) = left
    if tag not in ("S", "N", "B"):
        return False
    a, b = (Decimal(each["N"]) if tag == "N" else each[tag] for each in (left, right))
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[symbol])


def canonical(value: AttributeValue) -> AttributeValue:
    return {"SS": sorted(value["SS"])} if "SS" in value else value


def contains(container: AttributeValue | None, element: AttributeValue | None) -> bool:
    match container, element:
        case {"S": text}, {"S": part}:
            return part in text
        case {"SS": strings}, {"S": part}:
            return part in strings
        case {"B": raw}, {"B": part}:
            return bool(raw == part)
        case {"L": elements}, dict():
            return any(compare("=", each, element) for each in elements)
    return False


def begins_with(value: AttributeValue | None, prefix: AttributeValue | None) -> bool:
    match value, prefix:
        case ({"S": text}, {"S": start}) | ({"B": text}, {"B": start}):
            return bool(text.startswith(start))
    return False


FUNCTIONS: dict[str, Any] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "contains": contains,
    "begins_with": begins_with,
}
