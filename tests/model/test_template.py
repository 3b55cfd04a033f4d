"""Key templates: the charted keys, and the laws of encode, parse, prefix and range."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bigtime.engine import Engine
from bigtime.model.errors import ValueRefused
from bigtime.model.schema.bounds import OPERANDS, Operator, SortBounds, SortCondition, successor
from bigtime.model.schema.encoding import Role, TemplateError
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.language import common_text, literal
from bigtime.model.schema.template import KeyMismatch, Template
from bigtime.wire import Request

ID = Ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
AT = datetime(2024, 1, 15, 10, 30, 5, 123000, tzinfo=UTC)


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    PURCHASED = "PURCHASED"
    SAVED = "SAVED"


class Level(IntEnum):
    LOW = 1
    HIGH = 10


FIELDS: dict[str, Any] = {
    "deal_id": Ksuid,
    "brand": str,
    "category": str,
    "username": str,
    "email": str,
    "order_id": str,
    "item_id": str,
    "created_at": datetime,
    "status": Status,
    "entered_at": datetime,
    "sku": str,
    "sequence": int,
    "shard": int,
    "table": str,
    "id": str,
    "active": bool,
    "country": str,
    "state": str,
    "city": str,
    "zip_code": str,
    "timestamp": str,
    "activity_id": str,
    "purpose": str,
    "score": int,
    "discount": Decimal,
    "digest": bytes,
    "left_on": date | None,
}
VALUES: dict[str, Any] = {
    "deal_id": ID,
    "brand": "APPLE",
    "category": "ELECTRONICS",
    "username": "alex",
    "email": "alex@example.com",
    "order_id": "o-1",
    "item_id": "i-2",
    "created_at": AT,
    "status": Status.ACTIVE,
    "entered_at": AT,
    "sku": "72f49",
    "sequence": 42,
    "shard": 3,
    "table": "tenants",
    "id": "tenant_7",
    "active": True,
    "country": "USA",
    "state": "NE",
    "city": "OMAHA",
    "zip_code": "68118",
    "timestamp": "2024-01-15T10:00:00Z",
    "activity_id": "activity-view",
    "purpose": "register",
}


def template(text: str, role: Role = "sort", *, continued: bool = False) -> Template:
    return Template(text, FIELDS, role=role, continued=continued)


# The keys of the charts


@pytest.mark.parametrize("role", ["partition", "sort"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("DEAL#{deal_id}", f"DEAL#{ID}"),
        ("DEALS#{created_at:day}", "DEALS#2024-01-15T00:00:00"),
        ("BRAND#{brand}#{created_at:day}", "BRAND#APPLE#2024-01-15T00:00:00"),
        ("CATEGORY#{category}#{created_at:day}", "CATEGORY#ELECTRONICS#2024-01-15T00:00:00"),
        ("BRANDS", "BRANDS"),
        ("BRANDLIKE#{brand}#{username}", "BRANDLIKE#APPLE#alex"),
        ("USER#{username}", "USER#alex"),
        ("MESSAGES#{username}", "MESSAGES#alex"),
        ("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#alex@example.com"),
        ("#ORDER#{order_id}", "#ORDER#o-1"),
        ("ORDER#{order_id}#ITEM#{item_id}", "ORDER#o-1#ITEM#i-2"),
        ("{status}#{entered_at:millis}#{sku}", "ACTIVE#2024-01-15T10:30:05.123Z#72f49"),
        ("LINE#{sku}", "LINE#72f49"),
        ("METADATA", "METADATA"),
        ("EMAIL#{email}", "EMAIL#alex@example.com"),
        ("{table}#{id}", "tenants#tenant_7"),
        ("{sequence:012}", "000000000042"),
        ("CODE#{purpose}#{id}", "CODE#register#tenant_7"),
        ("{active}", "true"),
        ("{timestamp}#{activity_id}", "2024-01-15T10:00:00Z#activity-view"),
        ("{country}#{state}#{city}#{zip_code}", "USA#NE#OMAHA#68118"),
        ("ISSUE#{sequence:08}", "ISSUE#00000042"),
    ],
)
def test_ordinary_values_give_the_charted_keys(text: str, key: str, role: Role) -> None:
    compiled = template(text, role)
    assert compiled.encode(VALUES) == key
    assert compiled.encode(VALUES) == key
    parsed = compiled.parse(key)
    assert compiled.encode(parsed) == key
    assert tuple(parsed) == compiled.fields


def test_a_number_may_end_a_partition_key_as_it_is() -> None:
    assert template("DEALSCACHE#{shard}", "partition").encode(VALUES) == "DEALSCACHE#3"


def test_the_published_collision_is_none_here() -> None:
    """Other libraries give one key for these two."""
    pair = Template("{a}#{b}", {"a": str, "b": str}, role="partition")
    assert pair.encode({"a": "1#2", "b": "3"}) == "1$232#3"
    assert pair.encode({"a": "1", "b": "2#3"}) == "1#2#3"


def test_a_missing_field_makes_no_key() -> None:
    for text in ("LEFT#{left_on}", "{username}#{left_on}", "{username}#{brand}#{left_on}"):
        assert template(text).encode({**VALUES, "left_on": None}) is None
        assert template(text).encode(VALUES) is None


@pytest.mark.parametrize(
    ("text", "depth", "prefix"),
    [
        ("{country}#{state}#{city}#{zip_code}", 0, ""),
        ("{country}#{state}#{city}#{zip_code}", 1, "USA#"),
        ("{country}#{state}#{city}#{zip_code}", 3, "USA#NE#OMAHA#"),
        ("{country}#{state}#{city}#{zip_code}", 4, "USA#NE#OMAHA#68118"),
        ("ORDER#{order_id}#ITEM#{item_id}", 0, "ORDER#"),
        ("ORDER#{order_id}#ITEM#{item_id}", 1, "ORDER#o-1#ITEM#"),
        ("METADATA", 0, "METADATA"),
    ],
)
def test_a_prefix_reaches_to_the_first_field_not_given(text: str, depth: int, prefix: str) -> None:
    compiled = template(text)
    assert compiled.prefix({name: VALUES[name] for name in compiled.fields[:depth]}) == prefix


@pytest.mark.parametrize(
    ("text", "values", "asked", "condition"),
    [
        # The next page of a partition that only deals are in, and of one that others share.
        ("DEAL#{deal_id}", {}, ("<", ID), SortCondition(
            "between", ("DEAL#", f"DEAL#{ID}"), (f"DEAL#{ID}",))),
        ("A#{brand}#B#{sku}", {}, (">", "x"), SortCondition("between", ("A#x$", "A$"), ("A$",))),
        ("A#{brand}#B#{sku}", {}, ("=", "x"), SortCondition("begins_with", ("A#x#B#",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, ("=", "y"), SortCondition("=", ("A#x#B#y",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, ("begins_with", "y"), SortCondition(
            "begins_with", ("A#x#B#y",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, (">", "y"), SortCondition(
            "between", ("A#x#B#y\0", "A#x#B$"), ("A#x#B$",))),
        ("{timestamp}#{activity_id}", {}, (">=", "2024"), SortCondition(">=", ("2024",))),
        ("{timestamp}#{activity_id}", {}, (">", "2024"), SortCondition(">=", ("2024$",))),
        ("{timestamp}#{activity_id}", {}, ("<", "2024"), SortCondition("<=", ("2024",))),
        ("{timestamp}", {}, (">", "2024"), SortCondition(">", ("2024",))),
        ("{timestamp}", {}, ("<", "2024"), SortCondition("<", ("2024",))),
        ("{timestamp}", {}, (">=", ""), None),
        ("{timestamp}", {}, ("<", ""), SortCondition("<", ("\0",))),
        ("{status}#{entered_at:millis}#{sku}", {"status": "ACTIVE"},
         ("between", AT.replace(microsecond=0), AT), SortCondition("between", (
             "ACTIVE#2024-01-15T10:30:05.000Z", "ACTIVE#2024-01-15T10:30:05.123Z$"))),
    ],
)  # fmt: skip
def test_a_comparison_becomes_one_condition(
    text: str, values: dict[str, Any], asked: tuple[Any, ...], condition: SortCondition | None
) -> None:
    assert template(text).condition(values, asked[0], asked[1:]) == condition


def test_without_an_operator_all_keys_of_the_leading_values_are_meant() -> None:
    compiled = template("A#{brand}#B#{sku}")
    assert compiled.condition({}) == SortCondition("begins_with", ("A#",))
    assert compiled.condition({"brand": "x"}) == SortCondition("begins_with", ("A#x#B#",))
    assert compiled.condition({"brand": "x", "sku": "y"}) == SortCondition("=", ("A#x#B#y",))
    assert template("METADATA").condition({}) == SortCondition("=", ("METADATA",))
    assert template("{brand}#{sku}").condition({}) is None


def test_alone_in_its_partitions_an_entity_needs_no_guard() -> None:
    deals = template("DEAL#{deal_id}")
    assert deals.condition({}, "<", [ID], alone=True) == SortCondition("<", (f"DEAL#{ID}",))
    assert deals.condition({}, ">=", [ID], alone=True) == SortCondition(">=", (f"DEAL#{ID}",))
    assert deals.condition({}, alone=True) is None
    lines = template("{status}#{entered_at:millis}#{sku}")
    assert lines.bounds({"status": "ACTIVE"}, ">=", [AT], alone=True).high == "ACTIVE$"


def test_a_bucket_is_compared_by_its_bucket() -> None:
    compiled = template("{created_at:day}#{sku}")
    later = SortCondition(">=", ("2024-01-15T00:00:00$",))
    assert compiled.condition({}, ">", [AT]) == later
    assert compiled.lossy == ("created_at",)


def test_a_continued_key_is_escaped_and_ranges_take_its_continuations_along() -> None:
    order = template("ORDER#{order_id}", continued=True)
    assert order.encode({"order_id": "a#b"}) == "ORDER#a$23b"
    assert order.parse("ORDER#a$23b") == {"order_id": "a#b"}
    assert order.condition({}, "=", ["a"]) == SortCondition("=", ("ORDER#a",))
    assert order.condition({}, "<=", ["a"]) == SortCondition("between", ("ORDER#", "ORDER#a$"))


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


def day_of(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


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
    return template.field is not None and next(iter(values.values())) == ""


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

    def wanted(self) -> set[str]:
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
    assert answer(compiled.condition(*asked), keys) == question.wanted()
    assert within(compiled.bounds(*asked), keys) == question.wanted()


@given(questions())
def test_a_condition_on_an_entity_alone_takes_exactly_the_keys_that_are_wanted(
    question: Question,
) -> None:
    compiled = question.shape.template()
    asked = (question.leading, question.operator, question.operands)
    assert answer(compiled.condition(*asked, alone=True), question.own) == question.wanted()


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


# Keys that are no text


def test_a_bare_number_or_bare_bytes_are_the_key_itself() -> None:
    for name, type in (("score", "N"), ("discount", "N"), ("digest", "B")):
        compiled = template(f"{{{name}}}")
        assert (compiled.type, compiled.field) == (type, name)
        assert compiled.fields == (name,)
        with pytest.raises(ValueRefused, match="is stored as it is, not as text"):
            compiled.encode({name: 1})


def test_the_type_of_the_attribute_decides() -> None:
    as_text = Template("{score}", FIELDS, role="partition", type="S")
    assert as_text.encode({"score": 7}) == "7"
    as_number = Template("{created_at}", FIELDS, role="sort", type="N")
    assert as_number.field is not None and as_number.type == "N"
    for name in ("score", "discount", "digest"):
        with pytest.raises(TemplateError):
            Template(f"{{{name}}}", FIELDS, role="sort", type="S")


def test_only_a_field_alone_is_bare() -> None:
    for text in ("{sku}#", "X{sku}", "METADATA", "{created_at:day}", "{brand}#{sku}"):
        compiled = template(text)
        assert compiled.field is None
    assert template("{sku}").field == "sku"


def test_templates_are_equal_when_they_write_alike() -> None:
    assert template("A#{sku}") == template("A#{sku}")
    assert hash(template("A#{sku}")) == hash(template("A#{sku}"))
    assert template("A#{sku}") != template("A#{sku}", continued=True)
    assert template("A#{sku}#B") != template("A#{sku}#B", "partition")
    assert template("A#{sku}") != Template("A#{sku}", {"sku": Status}, role="sort")


# Declarations that cannot work


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "key in the template '': there is nothing in it; write at least one literal or field"),
        ("A#{nobody}", "'{nobody}' at character 3 in the template 'A#{nobody}': there is no field "
         "'nobody'; use one of deal_id, brand"),
        ("{}", "there is no field ''"),
        ("A#{created_at:dya}", "'{created_at:dya}' at character 3 in the template "
         "'A#{created_at:dya}': datetime has no format 'dya'; write millis"),
        ("A#{brand", "'{' at character 3 in the template 'A#{brand': this brace has no partner; "
         "write a field as {name} or {name:format}"),
        ("A#brand}", "'}' at character 8"),
        ("A#{{brand}}", "'{' at character 3"),
        ("{brand}{sku}", "'{sku}' at character 8 in the template '{brand}{sku}': it follows "
         "another field at once, and one of them has no fixed width; write # between them"),
        ("{created_at:day}{sku}", "one of them has no fixed width"),
        ("{status}{created_at:day}", "one of them has no fixed width"),
        ("{brand}/{sku}", "'/' at character 8 in the template '{brand}/{sku}': where 'brand' ends "
         "before it could not be told from what 'brand' may contain; begin it with #"),
        ("{status}-{sku}", "begin it with #"),
        ("{sku}#{sku}", "field 'sku' in the template '{sku}#{sku}': it is there twice; keep one"),
        ("{created_at:day}#{created_at}", "it is there twice"),
        ("N#{score}", "does not sort as a number in a sort key; pad it, as in {n:08}"),
        ("P#{discount}", "let the field alone be the template of a key attribute of type N"),
    ],
)  # fmt: skip
def test_a_template_that_cannot_work_says_where_and_what_to_write(text: str, words: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(words)):
        template(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SCORE#{score}", "a key attribute of type N holds no text; let the template be one field"),
        ("{score:08}", "a key attribute of type N holds no text"),
        ("{nobody}", "there is no field 'nobody'"),
    ],
)
def test_a_key_of_another_type_is_one_field(text: str, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        Template(text, FIELDS, role="sort", type="N")


# Values and questions that are refused


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("ISSUE#{sequence:08}", {"sequence": -1}, "field 'sequence' of the key "
         "'ISSUE#{sequence:08}' is -1, and a padded number cannot be negative"),
        ("{sku}#{sequence:02}", {"sku": "x", "sequence": 100}, "field 'sequence' of the key "
         "'{sku}#{sequence:02}' is 100, which does not fit 2 digits"),
        ("{sku}#{brand}#{sequence:02}", {"sku": "x", "brand": 5, "sequence": 1},
         "field 'brand' of the key '{sku}#{brand}#{sequence:02}' takes text, not 5"),
        ("{created_at}", {"created_at": datetime(2024, 1, 1)}, "which has no time zone"),
        ("{sku}", {"sku": ""}, "field 'sku' of the key '{sku}' is empty, and no key may be"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_by_name(
    text: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueRefused, match=re.escape(words)):
        template(text).encode(values)


@pytest.mark.parametrize(
    ("text", "values", "asked", "words"),
    [
        ("A#{brand}#{sku}", {"sku": "x"}, (), "cannot be asked by sku alone: also give brand"),
        ("A#{brand}#{sku}", {"bland": "x"}, (), "has no field 'bland'"),
        (
            "A#{brand}#{sku}",
            {"brand": None},
            (),
            "field 'brand' of the key 'A#{brand}#{sku}' takes",
        ),
        ("A#{sku}", {"sku": "x"}, ("=", "y"), "has no field left to compare"),
        ("METADATA", {}, ("=", "y"), "has no field left to compare"),
        ("A#{sku}", {}, ("=",), "= takes 1 operand(s)"),
        ("A#{sku}", {}, ("between", "x"), "between takes 2 operand(s)"),
        ("A#{sku}", {}, ("between", "y", "x"), "field 'sku': between takes the lower value first"),
        ("A#{sku}", {}, (">", 5), "takes text, not 5"),
        ("A#{created_at}", {}, ("begins_with", "2024"), "is not text: ask by its values"),
        ("A#{score:plain}", {}, (">", 5), "gave up its order: pad it, as in {n:08}"),
    ],
)
def test_a_question_that_no_key_can_answer_is_refused(
    text: str, values: dict[str, Any], asked: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(ValueRefused, match=re.escape(words)):
        template(text).condition(values, asked[0] if asked else None, asked[1:])


def test_a_number_without_order_can_still_be_asked_for() -> None:
    compiled = template("A#{score:plain}#{sku}")
    assert compiled.condition({}, "=", [5]) == SortCondition("begins_with", ("A#5#",))


def test_a_partition_key_has_no_ranges() -> None:
    with pytest.raises(ValueRefused, match="is only ever asked for whole"):
        template("A#{sku}", "partition").condition({}, ">", ["x"])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("DEAL#{deal_id}", "DEAL#short"),
        ("DEAL#{deal_id}", f"BRAND#{ID}"),
        ("DEAL#{deal_id}", f"DEAL#{ID}#"),
        ("A#{brand}#{sku}", "A#x"),
        ("A#{brand}#{sku}", "A#x y#z"),
        ("A#{brand}#{sku}", "A#x$2#z"),
        ("A#{brand}#{sku}", "A#x$41#z"),
        ("A#{sequence:03}", "A#1"),
        ("A#{sequence:03}", "A#٠٠١"),  # noqa: RUF001
        ("A#{score:plain}", "A#007"),
        ("{created_at:day}", "2024-02-30T00:00:00"),
        ("{created_at:day}", "2024-02-20T01:00:00"),
        ("{created_at}", "2024-02-20T01:00:00.000000+00:00"),
        ("{status}#{sku}", "GONE#x"),
        ("{sku}", ""),
        ("METADATA", "METADATA2"),
    ],
)
def test_a_text_that_the_template_cannot_have_made_is_no_key(text: str, key: str) -> None:
    with pytest.raises(KeyMismatch, match=re.escape(f"is no key of the template {text!r}")):
        template(text).parse(key)


@given(st.timedeltas(timedelta(0), timedelta(days=800)))
def test_a_bucket_parses_to_its_start(later: timedelta) -> None:
    month = template("{created_at:month}#{sku}")
    moment = AT + later
    parsed = month.parse(f"{month.encode({'created_at': moment, 'sku': 'x'})}")
    assert parsed["created_at"] == day_of(moment).replace(day=1)
