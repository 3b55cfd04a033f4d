"""Which items a query reads: the conditions that fields become, and what cannot be asked."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, Field

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.operations.bucket_list import list_buckets
from bigtime.model.operations.bucket_query import buckets, newest_first
from bigtime.model.operations.collection import partition
from bigtime.model.operations.query import all_of, query
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import (
    Comparison,
    KeyRange,
    at_least,
    at_most,
    begins_with,
    between,
    less_than,
    more_than,
)
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.stored import Seconds
from bigtime.model.schema.table import Table, binary, global_index, number
from bigtime.model.schema.view import View
from tests.model.designs import (
    CART,
    NOON,
    PLACES,
    SHOP,
    TRENDING,
    Customer,
    Deal,
    Line,
    Measurement,
    Message,
    Order,
    Shop,
    Status,
    Team,
    TrendingDeal,
    User,
    Vote,
    fill,
    ksuid,
    open_tables,
)

ID = ksuid(NOON, 7)
HALF = Decimal("9.5")


def conditions(within: KeyRange[Any]) -> list[tuple[str, ...]]:
    return [
        (
            condition.attribute,
            condition.operator,
            *(next(iter(value.values())) for value in condition.operands),
        )
        for condition in within.conditions
    ]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (
            Deal.within("GSI2", brand="APPLE", created_at=NOON),
            [("GSI2PK", "=", "BRAND#APPLE#2026-03-10T00:00:00")],
        ),
        (
            Deal.within("GSI1", created_at=NOON, deal_id=less_than(ID)),
            [("GSI1PK", "=", "DEALS#2026-03-10T00:00:00"), ("GSI1SK", "<", f"DEAL#{ID}")],
        ),
        (
            Deal.within("main", deal_id=ID),
            [("PK", "=", f"DEAL#{ID}"), ("SK", "=", f"DEAL#{ID}")],
        ),
        (
            Message.within("main", username="alex"),
            [("PK", "=", "MESSAGES#alex")],
        ),
        (
            Order.within("main", username="alex"),
            [("PK", "=", "CUSTOMER#alex"), ("SK", "begins_with", "#ORDER#")],
        ),
        (
            Order.within("main", username="alex", order_id=less_than(ID)),
            [("PK", "=", "CUSTOMER#alex"), ("SK", "between", "#ORDER#", f"#ORDER#{ID}")],
        ),
        (
            Customer.within("main", username="alex"),
            [("PK", "=", "CUSTOMER#alex"), ("SK", "=", "CUSTOMER#alex")],
        ),
        (
            User.within("UserIndex", username="alex"),
            [("UserIndex", "=", "USER#alex")],
        ),
        (
            Shop.within("main", country="US", state="NE", city="Omaha"),
            [("PK", "=", "COUNTRY#US"), ("SK", "begins_with", "SHOP#NE#Omaha#")],
        ),
        (
            Shop.within("main", country="US", state="NE", city=begins_with("Om")),
            [("PK", "=", "COUNTRY#US"), ("SK", "begins_with", "SHOP#NE#Om")],
        ),
        (
            Team.within("main", org="o", team=at_least("m")),
            [("PK", "=", "ORG#o"), ("SK", "between", "TEAM#m", "TEAM$")],
        ),
        (
            TrendingDeal.within("main", category_id="tv", engagement_score=more_than(90)),
            [("category_id", "=", "tv"), ("engagement_score", ">", "90")],
        ),
        (
            TrendingDeal.within(
                "ByMaker", maker="LG", country="KR", model="C4", year=at_most(2024)
            ),
            [
                ("maker", "=", "MAKER#LG"),
                ("country", "=", "KR"),
                ("model", "=", "C4"),
                ("year", "<=", "2024"),
            ],
        ),
        (
            TrendingDeal.within("main", category_id="tv", engagement_score=less_than(HALF)),
            [("category_id", "=", "tv"), ("engagement_score", "<", "9.5")],
        ),
        (
            TrendingDeal.within("ByMaker", maker="LG", country="KR", model=begins_with("C")),
            [("maker", "=", "MAKER#LG"), ("country", "=", "KR"), ("model", "begins_with", "C")],
        ),
        (
            Vote.within("ByTime", poll="p", shard=3, cast_at=between(NOON, NOON)),
            [("shard_key", "=", "POLL#p#3"), ("cast_at", "=", "2026-03-10T12:00:00Z")],
        ),
    ],
)
def test_fields_become_conditions(within: KeyRange[Any], expected: list[tuple[str, ...]]) -> None:
    assert conditions(within) == expected


class TestBucketInThePartitionAndTimeInTheSortKey:
    def test_a_plain_value_says_which_bucket(self) -> None:
        within = Measurement.within("main", sensor="s", at=NOON)
        assert conditions(within) == [("PK", "=", "SENSOR#s#2026-03-10T12:00:00")]

    def test_a_comparison_says_that_and_where_in_it(self) -> None:
        within = Measurement.within("main", sensor="s", at=at_least(NOON))
        assert conditions(within) == [
            ("PK", "=", "SENSOR#s#2026-03-10T12:00:00"),
            ("SK", ">=", "2026-03-10T12:00:00.000000Z"),
        ]

    def test_a_comparison_over_several_buckets_is_refused(self) -> None:
        with pytest.raises(ValueRefused, match=r"over several partitions.*newest_first"):
            Measurement.within("main", sensor="s", at=between(NOON, NOON + timedelta(hours=1)))


@pytest.mark.parametrize(
    ("entity", "index", "fields", "error", "words"),
    [
        (Deal, "GSI9", {}, DesignError, "BigTimeDeals has no index 'GSI9'; it has main, GSI1"),
        (User, "GSI1", {}, DesignError, "User is not in index GSI1; it is in main, UserIndex"),
        (Deal, "GSI2", {"brand": "A"}, DesignError, r"within\('GSI2'\) also needs created_at"),
        (Deal, "GSI2", {"brand": "A"}, DesignError, r"to walk its buckets, ask newest_first"),
        (Deal, "GSI2", {"created_at": NOON}, DesignError, r"also needs brand: its partition key"),
        (Message, "main", {"username": "a", "subject": "x"}, DesignError, "takes username, "),
        (Message, "main", {"username": None}, ValueRefused, "username is None"),
        (Message, "main", {"username": begins_with("a")}, DesignError, "takes a value, no compar"),
        (
            Shop, "main", {"country": "US", "city": "Omaha"}, DesignError,
            "city cannot be asked without a plain value for every field before it",
        ),
        (
            Shop, "main", {"country": "US", "state": begins_with("N"), "city": "Omaha"},
            DesignError, "city cannot be asked",
        ),
        (
            TrendingDeal, "main", {"category_id": "x", "engagement_score": begins_with("1")},
            ValueRefused, r"TrendingDeal.within\('main'\): .*a number, which has no beginning",
        ),
        (
            TrendingDeal, "main", {"category_id": "x", "engagement_score": between(2, 1)},
            ValueRefused, "lower value first",
        ),
        (
            TrendingDeal, "main", {"category_id": "x", "engagement_score": HALF},
            ValueRefused, "TrendingDeal.engagement_score: Input should be a valid integer",
        ),
        (
            TrendingDeal, "main", {"category_id": "x", "engagement_score": at_least(9.5)},
            ValueRefused, "TrendingDeal.engagement_score: Input should be a valid integer",
        ),
        (
            TrendingDeal, "ByMaker", {"maker": "LG", "country": "KR", "year": 3}, DesignError,
            "year cannot be asked",
        ),
        (
            Order, "main", {"username": "a", "order_id": between("2" * 27, "1" * 27)},
            ValueRefused, r"Order.within\('main'\): .*between takes the lower value first",
        ),
        (
            Order, "main", {"username": "a", "order_id": begins_with("b")},
            ValueRefused, r"Order.within\('main'\): field 'order_id'.*is not text",
        ),
        (Deal, "main", {"deal_id": "short"}, ValueRefused, r"Deal.within\('main'\): .*KSUID"),
    ],
)  # fmt: skip
def test_what_a_key_cannot_answer_is_refused_before_any_request(
    entity: type[Entity], index: str, fields: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        entity.within(index, **fields)


LETTERS = "#$%& Aa~é"
COMPARISONS: dict[str, Any] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def matches(value: Any, asked: Any) -> bool:
    if not isinstance(asked, Comparison):
        return bool(value == asked)
    if asked.operator == "between":
        return bool(asked.operands[0] <= value <= asked.operands[1])
    if asked.operator == "begins_with":
        return bool(value.startswith(asked.operands[0]))
    return bool(COMPARISONS[asked.operator](value, asked.operands[0]))


def comparisons(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Comparison]:
    pairs = st.tuples(values, values).map(sorted).map(lambda pair: between(*pair))
    plain = st.sampled_from([less_than, at_most, more_than, at_least])
    return pairs | st.builds(lambda make, value: make(value), plain, values)


words = st.text(LETTERS, max_size=3)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """Values for some of the first fields, and perhaps a comparison of the next."""
    names = ["state", "city", "zip_code"]
    given_values = draw(st.integers(0, 3))
    asked: dict[str, Any] = {name: draw(words) for name in names[:given_values]}
    if given_values < 3 and draw(st.booleans()):
        prefixes = st.text(LETTERS, min_size=1, max_size=2).map(begins_with)
        asked[names[given_values]] = draw(comparisons(words) | prefixes)
    return asked


@given(
    st.lists(st.tuples(words, words, words), max_size=12, unique=True), questions(), st.booleans()
)
def test_a_question_finds_exactly_what_it_describes_in_order(
    places: list[tuple[str, str, str]], asked: dict[str, Any], newest_first: bool
) -> None:
    shops = [
        Shop(country="US", state=state, city=city, zip_code=zip_code)
        for state, city, zip_code in places
    ]
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, PLACES)
        fill(store, [*shops, Shop(country="CA", state="a", city="a", zip_code="a")])
        within = Shop.within("main", country="US", **asked)
        found = store.run(all_of(within, newest_first=newest_first))
    expected = [
        shop
        for shop in shops
        if all(matches(getattr(shop, name), value) for name, value in asked.items())
    ]
    expected.sort(key=lambda shop: (shop.state, shop.city, shop.zip_code), reverse=newest_first)
    assert found == expected


@given(st.lists(st.integers(-20, 20), max_size=8, unique=True), comparisons(st.integers(-20, 20)))
def test_numbers_compare_as_numbers(scores: list[int], asked: Comparison) -> None:
    deals = [TrendingDeal(category_id="tv", engagement_score=score) for score in scores]
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, TRENDING)
        fill(store, deals)
        within = TrendingDeal.within("main", category_id="tv", engagement_score=asked)
        found = store.run(all_of(within))
    assert [each.engagement_score for each in found] == sorted(
        score for score in scores if matches(score, asked)
    )


@given(
    st.lists(st.tuples(words.filter(len), st.integers(0, 9)), max_size=10, unique=True),
    st.data(),
)
def test_keys_of_several_attributes(made: list[tuple[str, int]], data: st.DataObject) -> None:
    asked: dict[str, Any] = {}
    if data.draw(st.booleans()):
        asked["model"] = data.draw(words.filter(len))
        if data.draw(st.booleans()):
            asked["year"] = data.draw(st.integers(0, 9) | comparisons(st.integers(0, 9)))
    deals = [
        TrendingDeal(
            category_id="tv", engagement_score=n, maker="LG", country="KR", model=model, year=year
        )
        for n, (model, year) in enumerate(made)
    ]
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, TRENDING)
        fill(store, deals)
        within = TrendingDeal.within("ByMaker", maker="LG", country="KR", **asked)
        found = store.run(all_of(within))
        first = store.run(query(within, limit=2))
        rest = store.run(query(within, after=first.position)).items if first.position else []
    expected = sorted(
        (model, year)
        for model, year in made
        if all(matches({"model": model, "year": year}[name], each) for name, each in asked.items())
    )
    assert [(each.model, each.year) for each in found] == expected
    assert [*first, *rest] == found


def test_a_question_does_not_see_neighbours_beyond_its_range(engine: Engine) -> None:
    store = open_tables(engine, CART)
    moments = [NOON + timedelta(hours=hours) for hours in range(6)]
    fill(
        store,
        [
            Line(account_id="a", status=status, entered_at=at, sku=f"sku{n}")
            for status in Status
            for n, at in enumerate(moments)
        ],
    )
    asked = Line.within("main", account_id="a", status=Status.ACTIVE, entered_at=at_least(NOON))
    assert len(store.run(all_of(asked))) == 6
    earlier = Line.within(
        "main", account_id="a", status=Status.SAVED, entered_at=less_than(moments[2])
    )
    assert [each.entered_at for each in store.run(all_of(earlier))] == moments[:2]


def test_a_bound_that_is_left_out_is_left_out(engine: Engine) -> None:
    """`less_than` of a last field beside neighbours takes in one key too many, and drops it."""
    store = open_tables(engine, SHOP)
    orders = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(3)]
    fill(store, [*orders, Customer(username="alex", email="a@b.c")])
    asked = Order.within("main", username="alex", order_id=less_than(orders[2].order_id))
    assert store.run(all_of(asked)) == orders[:2]
    page = store.run(query(asked, limit=1))
    rest = store.run(query(asked, limit=2, after=page.position))
    assert [*page, *rest] == orders[:2]


def test_a_time_in_another_zone_asks_the_same() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=2)))
    assert conditions(Deal.within("GSI1", created_at=elsewhere)) == (
        conditions(Deal.within("GSI1", created_at=NOON))
    )


# Values are what their types make of them

LETTERS_TABLE = Table(
    "Letters",
    "PK",
    "SK",
    indexes=[
        global_index("ByDay", "ByDayPK", "ByDaySK"),
        global_index("ByRank", "GroupPK", number("rank")),
        global_index("ByGrade", "GroupPK", number("grade")),
        global_index("ByDigest", "GroupPK", binary("digest")),
        global_index("ByHour", "ReadPK", "ReadSK"),
    ],
)
Email = Annotated[str, AfterValidator(str.lower), Field(max_length=20)]
SINCE_2020 = Annotated[datetime, Field(ge=datetime(2020, 1, 1, tzinfo=UTC)), Seconds]


def on_the_hour(moment: datetime) -> datetime:
    return moment.replace(minute=0)


class Grade(Enum):
    LOW = 1
    HIGH = 10


class Letter(Entity, table=LETTERS_TABLE):
    keys = Keys(
        main=("TO#{receiver}", "FROM#{sender}#{number:04}"),
        ByDay=("DAY#{sent_at:day}", "{sent_at}#{sender}"),
        ByRank=("TO#{receiver}", "{rank}"),
        ByGrade=("TO#{receiver}", "{grade}"),
        ByDigest=("TO#{receiver}", "{digest}"),
        ByHour=("READ", "{read_at}"),
    )
    receiver: Email
    sender: Email
    number: int = Field(default=0, ge=0)
    sent_at: SINCE_2020 = NOON
    rank: int | None = Field(default=None, ge=0)
    grade: Grade | None = None
    read_at: Annotated[datetime, AfterValidator(on_the_hour)] | None = None
    digest: bytes | None = None


list_buckets(Letter, "ByDay")


class LetterNumber(View, of=Letter, index="ByRank"):
    receiver: Email
    rank: int | None = Field(ge=0)


AL, BO = "TO#al@x.org", "FROM#bo@x.org"


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        (
            Letter.within("main", receiver="Al@X.org", sender="BO@x.org", number="7"),
            Letter.within("main", receiver="al@x.org", sender="bo@x.org", number=7),
        ),
        (
            Letter.within("main", receiver="Al@X.org", sender=less_than("Bo")),
            Letter.within("main", receiver="al@x.org", sender=less_than("bo")),
        ),
        (
            Letter.within("main", receiver="a", sender=between("B", "C")),
            Letter.within("main", receiver="a", sender=between("b", "c")),
        ),
        (
            Letter.within("main", receiver="a", sender="b", number=at_most("12")),
            Letter.within("main", receiver="a", sender="b", number=at_most(12)),
        ),
        (
            Letter.within("ByRank", receiver="A", rank="7"),
            Letter.within("ByRank", receiver="a", rank=7),
        ),
        (
            LetterNumber.within(receiver="A", rank=more_than("7")),
            LetterNumber.within(receiver="a", rank=more_than(7)),
        ),
        (
            Letter.within("ByGrade", receiver="a", grade=between(1, 10)),
            Letter.within("ByGrade", receiver="a", grade=between(Grade.LOW, Grade.HIGH)),
        ),
        (
            Letter.within("ByGrade", receiver="a", grade=10),
            Letter.within("ByGrade", receiver="a", grade=Grade.HIGH),
        ),
        (
            Letter.within("ByDay", sent_at="2026-03-10T12:00:00Z"),
            Letter.within("ByDay", sent_at=NOON),
        ),
        (
            Letter.within("ByDay", sent_at=at_least("2026-03-10T12:00:00Z")),
            Letter.within("ByDay", sent_at=at_least(NOON)),
        ),
        (partition(Letter, "main", receiver="AL"), partition(Letter, "main", receiver="al")),
    ],
)
def test_values_are_asked_for_as_their_types_have_them(
    asked: KeyRange[Any], plain: KeyRange[Any]
) -> None:
    assert conditions(asked) == conditions(plain)


@pytest.mark.parametrize(
    ("index", "fields", "words"),
    [
        ("main", {"receiver": 5}, "Letter.receiver: Input should be a valid"),
        ("main", {"receiver": "x" * 21}, "Letter.receiver: Value should have at most 20"),
        ("main", {"receiver": "a", "sender": at_least(5)}, "Letter.sender: Input should be"),
        ("main", {"receiver": "a", "sender": between("a", None)}, "Letter.sender: Input should be"),
        ("main", {"receiver": "a", "sender": begins_with(b"b")}, "field 'sender' of the key"),
        ("main", {"receiver": "a", "sender": "b", "number": -1}, "Letter.number: Input should be"),
        ("ByRank", {"receiver": "a", "rank": "many"}, "Letter.rank: Input should be a valid int"),
        ("ByGrade", {"receiver": "a", "grade": 5}, "Letter.grade: Input should be 1 or 10"),
        ("ByGrade", {"receiver": "a", "grade": between(10, 1)}, "lower value first"),
        ("ByDigest", {"receiver": "a", "digest": between(b"b", b"a")}, "lower value first"),
        ("ByDigest", {"receiver": "a", "digest": 5}, "Letter.digest: Input should be a valid"),
        ("ByDay", {"sent_at": "soon"}, "Letter.sent_at: Input should be a valid datetime"),
        (
            "ByHour", {"read_at": less_than(NOON + timedelta(minutes=5))},
            "Letter.read_at: its type makes 2026-03-10 12:00:00+00:00 of 2026-03-10 12:05:00+00:00",
        ),
    ],
)  # fmt: skip
def test_a_value_that_its_type_refuses_is_refused_by_the_name_of_its_field(
    index: str, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueRefused) as caught:
        Letter.within(index, **fields)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"Letter.within('{index}'): ")


def test_a_number_may_be_compared_with_any_other() -> None:
    asked = Letter.within("ByRank", receiver="a", rank=between(Decimal("-0.5"), 3))
    assert conditions(asked)[1:] == [("rank", "between", "-0.5", "3")]


@given(
    st.sampled_from([NOON, NOON.replace(hour=23, minute=59, second=59)]),
    st.sampled_from([-1, 0]),
    st.sampled_from([less_than, at_most, more_than, at_least]) | st.sampled_from([-2.5, -0.5, 0.5]),
    st.sampled_from([-1.5, -1.0, -0.5, 0.0, 0.5]),
)
def test_a_time_finer_than_what_is_stored_still_compares_as_it_should(
    base: datetime, second: int, how: Any, by: float
) -> None:
    def at(seconds: float) -> datetime:
        return base + timedelta(seconds=seconds)

    letter = Letter(receiver="a", sender="b", sent_at=at(second))
    asked = between(at(min(how, by)), at(by)) if isinstance(how, float) else how(at(by))
    if isinstance(how, float) and not any(matches(at(n), asked) for n in range(-4, 1)):
        with pytest.raises(ValueRefused, match="never stored between"):
            Letter.within("ByDay", sent_at=asked)
        return
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, LETTERS_TABLE)
        fill(store, [letter])
        found = store.run(all_of(Letter.within("ByDay", sent_at=asked)))
    assert bool(found) == matches(letter.sent_at, asked)


def test_nothing_is_stored_after_the_end_of_time() -> None:
    end = datetime.max.replace(tzinfo=UTC)
    with pytest.raises(ValueRefused, match="nothing is stored after 9999-12-31"):
        Letter.within("ByDay", sent_at=at_least(end))
    Letter.within("ByDay", sent_at=at_least(end.replace(microsecond=0)))
    Letter.within("ByDay", sent_at=at_most(end))


def test_any_moment_says_which_bucket(engine: Engine) -> None:
    """A walk meets days on which the field could not have been."""
    store = open_tables(engine, LETTERS_TABLE, now=datetime(2020, 1, 2, tzinfo=UTC))
    letter = Letter(receiver="a", sender="b", sent_at=datetime(2020, 1, 1, tzinfo=UTC))
    fill(store, [letter])
    page = store.run(newest_first(buckets(Letter, "ByDay"), limit=5, since=date(2019, 12, 30)))
    assert page.items == [letter]


@given(st.sampled_from(["Al", "aL", "BO"]), st.sampled_from([less_than, at_most, at_least]))
def test_what_was_put_is_found_by_the_values_it_was_put_with(receiver: str, compare: Any) -> None:
    letter = Letter(receiver=receiver, sender="Cy")
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, LETTERS_TABLE)
        fill(store, [letter])
        whole = Letter.within("main", receiver=receiver, sender="Cy", number=0)
        assert store.run(all_of(whole)) == [letter]
        beside = Letter.within("main", receiver=receiver, sender=compare("CY"))
        assert store.run(all_of(beside)) == ([] if compare is less_than else [letter])
