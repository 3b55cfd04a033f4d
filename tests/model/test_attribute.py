"""How values are stored: what is written comes back equal, and a wrong value is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import AwareDatetime, BaseModel, Field, RootModel, TypeAdapter

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.attribute import stored_form
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.stored import EpochSeconds, Millis, Seconds
from bigtime.model.schema.table import pascal_case
from bigtime.wire import check_value
from tests.strategies import decimals, fewer_examples, texts


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Size(StrEnum):
    SMALL = "S"
    LARGE = "L"


class Level(IntEnum):
    LOW = 1
    HIGH = 10


class Share(Enum):
    HALF = Decimal("0.50")
    ALL = Decimal(1)


class Secret(Enum):
    ONE = b"1"
    TWO = b"2"


class Address(BaseModel):
    street_name: str
    zip_code: str | None = None
    floor: int | None
    tags: set[str] = {"new"}


class Person(BaseModel):
    first_name: str = Field(alias="firstName")
    home: Address | None = None
    others: list[Address] = []
    friends: list[Person] = []


class Ids(RootModel[list[UUID]]):
    pass


Username = NewType("Username", str)
Number = TypeVar("Number", bound=int)

moments = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=30))]))
moments = moments.filter(lambda moment: 2 < moment.year < 9998)
seconds = moments.map(lambda moment: moment.replace(microsecond=0))
ksuids = st.builds(
    Ksuid.make,
    st.datetimes(datetime(2015, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    st.binary(min_size=16, max_size=16),
)
addresses = st.builds(
    Address,
    street_name=texts,
    zip_code=st.none() | texts,
    floor=st.none() | st.integers(-5, 100),
    tags=st.sets(texts),
)
people: SearchStrategy[Person] = st.deferred(
    lambda: st.builds(
        Person,
        firstName=texts,
        home=st.none() | addresses,
        others=st.lists(addresses, max_size=2),
        friends=st.lists(people, max_size=1),
    )
)
plain = st.recursive(
    st.none() | st.booleans() | texts | st.binary() | decimals | st.integers(-(10**38), 10**38),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

EXACT: list[tuple[Any, SearchStrategy[Any]]] = [
    (str, texts),
    (Username, texts),
    (int, st.integers(-(10**38) + 1, 10**38 - 1)),
    (int, st.sampled_from([10**100, -(10**125)])),
    (Number, st.integers(-9, 9)),
    (Decimal, decimals),
    (bool, st.booleans()),
    (datetime, moments),
    (AwareDatetime, moments),
    (Annotated[datetime, Seconds], seconds),
    (Annotated[datetime, Millis], seconds),
    (Annotated[datetime, EpochSeconds], seconds),
    (Annotated[datetime, EpochSeconds()], seconds),
    (date, st.dates()),
    (UUID, st.uuids()),
    (Ksuid, ksuids),
    (Colour, st.sampled_from(Colour)),
    (Size, st.sampled_from(Size)),
    (Level, st.sampled_from(Level)),
    (Share, st.sampled_from(Share)),
    (Secret, st.sampled_from(Secret)),
    (bytes, st.binary()),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Literal[1, 20], st.sampled_from([1, 20])),
    (Annotated[int, Field(ge=0)], st.integers(0, 99)),
    (list[str], st.lists(texts)),
    (Sequence[int], st.lists(st.integers(-9, 9))),
    (list[str | None], st.lists(st.none() | texts)),
    (list[Annotated[datetime, EpochSeconds]], st.lists(seconds)),
    (tuple[int, ...], st.lists(st.integers(-9, 9)).map(tuple)),
    (tuple[int, str, Colour | None], st.tuples(st.integers(-9, 9), texts, st.just(Colour.RED))),
    (set[str], st.sets(texts, min_size=1)),
    (frozenset[Decimal], st.frozensets(decimals, min_size=1)),
    (set[bytes], st.sets(st.binary(), min_size=1)),
    (set[UUID], st.sets(st.uuids(), min_size=1)),
    (set[Level], st.sets(st.sampled_from(Level), min_size=1)),
    (set[datetime], st.sets(moments, min_size=1)),
    (list[set[int]], st.lists(st.sets(st.integers(-9, 9)))),
    (dict[str, int], st.dictionaries(texts, st.integers(-9, 9))),
    (Mapping[str, set[str]], st.dictionaries(texts, st.sets(texts))),
    (dict[str, date | None], st.dictionaries(texts, st.none() | st.dates())),
    (dict[str, list[Address]], st.dictionaries(texts, st.lists(addresses), max_size=2)),
    (Address, addresses),
    (Person, people),
    (Ids, st.lists(st.uuids()).map(Ids)),
    (int | str, st.integers(-9, 9) | texts | st.just("12")),
    (bool | int | None, st.booleans() | st.integers(-9, 9)),
    (str | list[str] | Address, texts | st.lists(texts) | addresses),
    (Optional[UUID], st.uuids()),  # noqa: UP045
    (Any, plain.filter(lambda value: value is not None)),
    (Any, st.sets(texts, min_size=1) | st.sets(st.binary(), min_size=1)),
    (Any, st.sets(decimals, min_size=1)),
    (dict, st.dictionaries(texts, plain, max_size=3)),
    (list, st.lists(plain, max_size=3)),
    (set, st.sets(texts, min_size=1)),
]


@pytest.mark.parametrize(("annotation", "values"), EXACT)
@fewer_examples()
@given(data=st.data())
def test_what_is_written_comes_back(
    annotation: Any, values: SearchStrategy[Any], data: st.DataObject
) -> None:
    form = stored_form(annotation, pascal_case)
    value = data.draw(values)
    stored, _ = check_value(form.write(value))
    back = TypeAdapter(annotation).validate_python(form.reading(stored), by_name=True)
    assert back == value
    # A whole number is an int again, where nothing says which it was.
    assert annotation is Any or type(back) is type(value)


@given(moments, moments)
def test_times_sort_as_they_are_stored(one: datetime, other: datetime) -> None:
    for unit in (None, Seconds, Millis):
        form = stored_form(Annotated[datetime, unit] if unit else datetime, pascal_case)
        cut = unit.cut if unit else (lambda moment: moment)
        written = [form.write(cut(moment))["S"] for moment in (one, other)]
        assert (written[0] < written[1]) == (cut(one) < cut(other))


def test_a_time_is_cut_to_its_unit_when_the_value_is_made() -> None:
    class Event(BaseModel):
        at: Annotated[datetime, Seconds]
        milli: Annotated[datetime, Millis] | None = None
        expires: Annotated[datetime | None, EpochSeconds] = None

    moment = datetime(2026, 3, 10, 12, 0, 0, 123456, UTC)
    event = Event(at=moment, milli=moment, expires=moment)
    assert event.at == event.expires == moment.replace(microsecond=0)
    assert event.milli == moment.replace(microsecond=123000)
    assert Event(at=moment).expires is None


def test_how_times_and_names_are_written() -> None:
    moment = datetime(2026, 3, 10, 12, 0, 0, 500, timezone(timedelta(hours=2)))
    written = {
        kind: stored_form(kind, pascal_case).write(moment)
        for kind in (datetime, Annotated[datetime, Seconds], Annotated[datetime, EpochSeconds])
    }
    assert list(written.values()) == [
        {"S": "2026-03-10T10:00:00.000500Z"},
        {"S": "2026-03-10T10:00:00Z"},
        {"N": "1773136800"},
    ]
    assert stored_form(Address, pascal_case).write(
        Address(street_name="Main", floor=None, tags=set())
    ) == {"M": {"StreetName": {"S": "Main"}}}


def test_a_time_before_1970_and_one_far_ahead_are_seconds_too() -> None:
    form = stored_form(Annotated[datetime, EpochSeconds], pascal_case)
    for moment in (
        datetime(1969, 12, 31, 23, 59, 58, tzinfo=UTC),
        datetime(9000, 1, 1, tzinfo=UTC),
    ):
        assert form.reading(form.write(moment)) == moment


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (str, 5, "takes text, not 5"),
        (str, "\ud800", "has a lone surrogate at 0"),
        (int, "5", "takes an int, not '5'"),
        (int, True, "takes an int, not True"),
        (int, 1.5, "takes an int, not 1.5"),
        (int, 10**126, "beyond what DynamoDB can store"),
        (int, 10**38 + 1, "more than 38 digits"),
        (Decimal, Decimal("1." + 38 * "1"), "more than 38 digits: round it first"),
        (Decimal, Decimal("1E-131"), "beyond what DynamoDB can store"),
        (Decimal, Decimal("NaN"), "is NaN"),
        (Decimal, Decimal("-Infinity"), "is -Infinity"),
        (Decimal, 0.1, "takes an int or a Decimal, not 0.1"),
        (bool, 1, "takes True or False, not 1"),
        (datetime, datetime(2026, 1, 1), "no time zone"),
        (datetime, date(2026, 1, 1), "takes a datetime"),
        (date, datetime(2026, 1, 1, tzinfo=UTC), "takes a date"),
        (UUID, "x", "takes a UUID"),
        (bytes, "x", "takes bytes"),
        (set[str], set(), "is an empty set"),
        (Any, 0.1, "is a float, which would not come back as one: pass a Decimal"),
        (Any, UUID(int=0), "is a UUID, which would not come back as one: declare its type"),
        (Any, {1: "x"}, "takes text, not 1"),
        (Any, set(), "empty or mixes types"),
        (Any, {"a", 1}, "empty or mixes types"),
        (Any, {True}, "empty or mixes types"),
        (int | str, b"x", "takes one of int, str"),
        (dict[str, int], {5: 5}, "takes text, not 5"),
    ],
)
def test_a_wrong_value_is_refused(annotation: Any, value: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        stored_form(annotation, pascal_case).write(value)
    assert words in str(caught.value)


class Lost(BaseModel):
    name: str | None = "nobody"


class Clash(BaseModel):
    a_b: int
    aB: int  # noqa: N815


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (float, "declare Decimal"),
        (complex, "complex cannot be stored as an attribute; declare a plain type"),
        (set[float], "declare Decimal"),
        (set[bool], "a stored set holds text, numbers or bytes; use a list"),
        (set[str | None], "a stored set holds text, numbers or bytes; use a list"),
        (set[str] | None, "a set cannot also be None"),
        (dict[int, str], "a stored map has text for its keys"),
        (Literal["a", 1], "mixes types"),
        (date | datetime, "are stored alike"),
        (Any | str, "are stored alike"),
        (Address | Person, "are stored alike"),
        (Lost, "Lost.name: it may be None, which is stored as nothing"),
        (Clash, "Clash: a_b and aB would both be stored as 'AB'; rename one"),
        ("Nobody", "cannot be stored"),
    ],
)
def test_a_type_that_cannot_be_stored_says_what_to_declare(annotation: Any, words: str) -> None:
    with pytest.raises(DesignError) as caught:
        stored_form(annotation, pascal_case)
    assert words in str(caught.value)


def test_a_value_is_checked_by_pydantic() -> None:
    form = stored_form(Annotated[int, Field(ge=1)], pascal_case)
    assert form.check("5") == 5
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        form.check(0)


def test_a_refusal_is_an_error_of_the_kit() -> None:
    with pytest.raises(ValueRefused):
        stored_form(Any, pascal_case).write(0.5)
