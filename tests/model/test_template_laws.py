"""Laws of key templates, on templates of every shape: encode, parse, order, ranges."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Any, Literal
from uuid import UUID

from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bigtime.engine import Engine
from bigtime.model.schema.bounds import OPERANDS, Operator, SortBounds, SortCondition, successor
from bigtime.model.schema.encoding import Role
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.language import common_text, literal
from bigtime.model.schema.parts import bare_field
from bigtime.model.schema.template import KeyMismatch, Template
from bigtime.wire import Request
from tests.model.templates import Status, day_of


class Level(IntEnum):
    LOW = 1
    HIGH = 10


# Laws, on templates of every shape


@dataclass(frozen=True)
class Kind:
    """A type in a format, how wide its texts are, and how its values sort."""

    annotation: Any
    format: str
    values: SearchStrategy[Any]
    fixed: bool = True
    rank: Callable[[Any], Any] = lambda value: value
    textual: bool = False


TRICKY = '\0 !"#$%&23AZaz~\ud7ff\ue000\U0001f600\U0010ffff'
texts = st.text(st.sampled_from(TRICKY), max_size=3) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=5
)
moments = st.datetimes(datetime(2023, 12, 30), datetime(2024, 1, 3), timezones=st.just(UTC))


KINDS = [
    Kind(str, "", texts, fixed=False, textual=True),
    Kind(int, ":03", st.integers(0, 999)),
    Kind(datetime, "", moments),
    Kind(datetime, ":seconds", moments.map(lambda moment: moment.replace(microsecond=0))),
    Kind(datetime, ":day", moments, rank=day_of),
    Kind(date, "", st.dates()),
    Kind(date, ":month", st.dates(), rank=lambda day: day.replace(day=1)),
    Kind(UUID, "", st.uuids()),
    Kind(Ksuid, "", st.builds(Ksuid.make, moments, st.binary(min_size=16, max_size=16))),
    Kind(Status, "", st.sampled_from(Status), fixed=False, rank=lambda status: status.value),
    Kind(Level, ":02", st.sampled_from(Level)),
    Kind(bool, "", st.booleans(), fixed=False),
    Kind(Literal["x", "xy"], "", st.sampled_from(["x", "xy"]), fixed=False),
]


@dataclass(frozen=True)
class Shape:
    """A template with the kinds of its fields."""

    text: str
    kinds: tuple[Kind, ...]
    continued: bool

    def template(self, role: Role = "sort") -> Template:
        fields = {f"f{n}": kind.annotation for n, kind in enumerate(self.kinds)}
        return Template(self.text, fields, role=role, continued=self.continued, type="S")

    def values(self) -> SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({f"f{n}": kind.values for n, kind in enumerate(self.kinds)})

    def rank(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """What its keys sort by, and are told apart by."""
        return tuple(kind.rank(values[f"f{n}"]) for n, kind in enumerate(self.kinds))


@st.composite
def shapes(draw: st.DrawFn, heads: Sequence[str] = ("", "A", "A#", "#A#", "\U0010ffff")) -> Shape:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3).map(tuple))
    text = draw(st.sampled_from(heads))
    for number, kind in enumerate(kinds):
        text += f"{{f{number}{kind.format}}}"
        if number + 1 < len(kinds):
            joints = ["#", "#J#"]
            joints += ["/"] if kind.fixed else []
            joints += [""] if kind.fixed and kinds[number + 1].fixed else []
            text += draw(st.sampled_from(joints))
    text += draw(st.sampled_from(["", "", "#", "#END"]))
    return Shape(text, kinds, continued=draw(st.booleans()))


roles: SearchStrategy[Role] = st.sampled_from(["partition", "sort"])


def is_empty(template: Template, values: Mapping[str, Any]) -> bool:
    return bare_field(template.text) is not None and next(iter(values.values())) == ""


@given(shapes(), roles, st.data())
def test_parse_undoes_encode(shape: Shape, role: Role, data: st.DataObject) -> None:
    compiled = shape.template(role)
    values = data.draw(shape.values())
    assume(not is_empty(compiled, values))
    key = compiled.encode(values)
    assert key is not None
    assert shape.rank(compiled.parse(key)) == shape.rank(values)
    assert compiled.encode(compiled.parse(key)) == key
    assert common_text(literal(key), compiled.language) == key


@given(shapes(), roles, st.data())
def test_no_two_values_share_a_key(shape: Shape, role: Role, data: st.DataObject) -> None:
    compiled = shape.template(role)
    one, other = data.draw(shape.values()), data.draw(shape.values())
    assume(not is_empty(compiled, one) and not is_empty(compiled, other))
    assert (compiled.encode(one) == compiled.encode(other)) == (
        shape.rank(one) == shape.rank(other)
    )


@given(a=texts, b=texts, c=texts, d=texts, role=roles)
def test_no_two_texts_share_a_key(a: str, b: str, c: str, d: str, role: Role) -> None:
    pair = Template("{a}#{b}", {"a": str, "b": str}, role=role)
    same = pair.encode({"a": a, "b": b}) == pair.encode({"a": c, "b": d})
    assert same == ((a, b) == (c, d))


@given(shapes(), st.data())
def test_keys_sort_as_their_values_do(shape: Shape, data: st.DataObject) -> None:
    compiled = shape.template()
    one, other = data.draw(shape.values()), data.draw(shape.values())
    assume(not is_empty(compiled, one) and not is_empty(compiled, other))
    a, b = compiled.encode(one), compiled.encode(other)
    assert a is not None and b is not None
    assert (a.encode() < b.encode()) == (shape.rank(one) < shape.rank(other))


@given(shapes(), roles, texts)
def test_parse_takes_only_keys(shape: Shape, role: Role, text: str) -> None:
    compiled = shape.template(role)
    try:
        values = compiled.parse(text)
    except KeyMismatch:
        return
    assert compiled.encode(values) == text


@given(shapes(), st.data())
def test_a_prefix_begins_the_keys_of_its_values_and_no_others(
    shape: Shape, data: st.DataObject
) -> None:
    compiled = shape.template()
    one, other = data.draw(shape.values()), data.draw(shape.values())
    assume(not is_empty(compiled, other))
    depth = data.draw(st.integers(0, len(shape.kinds) - 1))
    prefix = compiled.prefix({name: one[name] for name in compiled.fields[:depth]})
    key = compiled.encode(other)
    assert key is not None
    assert key.startswith(prefix) == (shape.rank(one)[:depth] == shape.rank(other)[:depth])


@given(texts, texts)
def test_the_successor_is_above_all_that_begin_so_and_below_the_rest(prefix: str, key: str) -> None:
    above = successor(prefix)
    if above is None:
        assert not prefix.strip("\U0010ffff")
    elif key.startswith(prefix):
        assert key.encode() < above.encode()
    elif key.encode() > prefix.encode():
        assert key.encode() >= above.encode()


# Ranges, beside a plain reading of DynamoDB's conditions

COMPARE: dict[Operator, Callable[..., bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "between": lambda key, low, high: low <= key <= high,
    "begins_with": lambda key, prefix: key[: len(prefix)] == prefix,
}


def answer(condition: SortCondition | None, keys: Iterable[str]) -> set[str]:
    """What a reader gets who sends the condition and drops what it says to drop."""
    if condition is None:
        return set(keys)
    operands = [operand.encode() for operand in condition.operands]
    assert all(operands), "DynamoDB takes no empty operand"
    assert condition.operator != "between" or operands[0] <= operands[1]
    matches = COMPARE[condition.operator]
    return {key for key in keys if matches(key.encode(), *operands)} - set(condition.drop_equal)


def within(bounds: SortBounds, keys: Iterable[str]) -> set[str]:
    def holds(key: str) -> bool:
        above = (
            bounds.low is None or key > bounds.low or (key == bounds.low and bounds.low_inclusive)
        )
        below = (
            bounds.high is None
            or key < bounds.high
            or (key == bounds.high and bounds.high_inclusive)
        )
        return above and below

    return {key for key in keys if holds(key)}


@dataclass(frozen=True)
class Question:
    """A comparison of the field after the leading ones, and the keys it is asked among."""

    shape: Shape
    leading: dict[str, Any]
    operator: Operator
    operands: list[Any]
    own: dict[str, tuple[Any, ...]]

    def expected_keys(self) -> set[str]:
        depth = len(self.leading)
        kind = self.shape.kinds[depth]
        ranks = [kind.rank(operand) for operand in self.operands]
        given = tuple(
            each.rank(value)
            for each, value in zip(self.shape.kinds, self.leading.values(), strict=False)
        )
        return {
            key
            for key, rank in self.own.items()
            if rank[:depth] == given and COMPARE[self.operator](rank[depth], *ranks)
        }


@st.composite
def questions(draw: st.DrawFn) -> Question:
    shape = draw(shapes())
    compiled = shape.template()
    some = draw(st.lists(shape.values(), min_size=1, max_size=6))
    some = [values for values in some if not is_empty(compiled, values)]
    assume(some)
    depth = draw(st.integers(0, len(shape.kinds) - 1))
    leading = {name: some[0][name] for name in compiled.fields[:depth]}
    name, kind = f"f{depth}", shape.kinds[depth]
    asked: Operator = draw(
        st.sampled_from([each for each in OPERANDS if each != "begins_with" or kind.textual])
    )
    among = st.sampled_from([values[name] for values in some]) | kind.values
    operands = draw(st.lists(among, min_size=OPERANDS[asked], max_size=OPERANDS[asked]))
    operands = sorted(operands, key=kind.rank)
    own = {key: shape.rank(values) for values in some if (key := compiled.encode(values))}
    return Question(shape, leading, asked, operands, own)


def strangers(compiled: Template) -> SearchStrategy[list[str]]:
    """Keys of other entities: none begins with this entity's prefix, some nearly do."""
    prefix = compiled.prefix({})
    near = [prefix[:-1], prefix[:-1] + "$", prefix[:-1] + '"', f"{successor(prefix)}", "A", "A$"]
    keys = st.lists(texts | st.sampled_from(near), max_size=4)
    return keys.map(lambda some: [key for key in some if key and not key.startswith(prefix)])


@given(questions(), st.data())
def test_a_condition_takes_exactly_the_keys_that_are_wanted(
    question: Question, data: st.DataObject
) -> None:
    compiled = question.shape.template()
    keys = [*question.own, *data.draw(strangers(compiled))]
    asked = (question.leading, question.operator, question.operands)
    assert answer(compiled.condition(*asked), keys) == question.expected_keys()
    assert within(compiled.bounds(*asked), keys) == question.expected_keys()


@given(questions())
def test_a_condition_on_an_entity_alone_takes_exactly_the_keys_that_are_wanted(
    question: Question,
) -> None:
    compiled = question.shape.template()
    asked = (question.leading, question.operator, question.operands)
    assert answer(compiled.condition(*asked, alone=True), question.own) == question.expected_keys()


@given(
    st.sampled_from(sorted(OPERANDS)),
    st.lists(texts, min_size=2, max_size=2),
    st.lists(texts, max_size=4),
    st.lists(st.tuples(texts, texts), max_size=4),
)
@example("<", ["a", "a"], ["a"], [("a", "")])
def test_what_continues_a_key_goes_with_it_in_every_range(
    asked: Operator, operands: list[str], parents: list[str], children: list[tuple[str, str]]
) -> None:
    fields = {"x": str, "y": str}
    parent = Template("A#{x}", fields, role="sort", continued=True)
    child = Template("A#{x}#B#{y}", fields, role="sort")
    keys = {f"{parent.encode({'x': x})}": x for x in parents}
    keys |= {f"{child.encode({'x': x, 'y': y})}": x for x, y in children}
    operands = sorted(operands)[: OPERANDS[asked]]
    wanted = {key for key, x in keys.items() if COMPARE[asked](x, *operands)}
    if asked == "=":
        wanted &= {parent.encode({"x": operands[0]})}
    assert answer(parent.condition({}, asked, operands), keys) == wanted


def test_the_engine_answers_as_the_laws_say(engine: Engine) -> None:
    pair = Template("A#{x}#B#{y}", {"x": str, "y": str}, role="sort")
    words = ["", "a", "a b", "a#", "a$", "aa", "b", "\U0001f600"]
    own = {f"{pair.encode({'x': x, 'y': y})}": (x, y) for x in words for y in words}
    store(engine, [*own, "A", "A$", 'A"', "B", "0"])
    for x in words:
        for asked in (each for each in OPERANDS if OPERANDS[each] == 1):
            wanted = {key for key, found in own.items() if COMPARE[asked](found[0], x)}
            assert query_keys(engine, pair.condition({}, asked, [x])) == wanted
            inner = {key for key, (a, b) in own.items() if a == "a" and COMPARE[asked](b, x)}
            assert query_keys(engine, pair.condition({"x": "a"}, asked, [x])) == inner


def store(engine: Engine, keys: Iterable[str]) -> None:
    schema = [("pk", "HASH"), ("sk", "RANGE")]
    params = {
        "TableName": "keys",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n, _ in schema],
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in schema],
        "BillingMode": "PAY_PER_REQUEST",
    }
    engine(Request("CreateTable", params))
    for key in keys:
        item = {"pk": {"S": "p"}, "sk": {"S": key}}
        engine(Request("PutItem", {"TableName": "keys", "Item": item}))


def query_keys(engine: Engine, condition: SortCondition | None) -> set[str]:
    assert condition is not None
    names = [f":{number}" for number, _ in enumerate(condition.operands)]
    spelt = {
        "between": "sk BETWEEN :0 AND :1",
        "begins_with": "begins_with(sk, :0)",
    }.get(condition.operator, f"sk {condition.operator} :0")
    params = {
        "TableName": "keys",
        "KeyConditionExpression": f"pk = :pk AND {spelt}",
        "ExpressionAttributeValues": {
            ":pk": {"S": "p"},
            **{name: {"S": text} for name, text in zip(names, condition.operands, strict=True)},
        },
    }
    found = {item["sk"]["S"] for item in engine(Request("Query", params))["Items"]}
    return found - set(condition.drop_equal)
