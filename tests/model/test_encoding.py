"""How each type is written inside a key: there and back, in order, in its language, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag, StrEnum
from itertools import pairwise
from typing import Annotated, Any, Literal, NewType, Optional
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import (
    AwareDatetime,
    BaseModel,
    EmailStr,
    PastDate,
    PositiveInt,
    StringConstraints,
    TypeAdapter,
    conint,
)
from pydantic import Field as Constraint

from bigtime.model.schema.annotation import native_type
from bigtime.model.schema.encoding import Encoding, KeyPlace, TemplateError, encoding_for
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.language import common_text, literal


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    PURCHASED = "PURCHASED"
    SAVED = "SAVED"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 10
    TOP = 99


class Sku(str):
    __slots__ = ()


LONGEST = {"hour": timedelta(hours=1), "day": timedelta(days=1), "month": timedelta(days=31)}


@dataclass(frozen=True)
class Bucket:
    """The stretches of time that share a text; each starts where the one before it ends."""

    encoding: Encoding
    instant: timedelta
    """The least time between two values."""

    @property
    def longest(self) -> timedelta:
        assert self.encoding.bucket
        return LONGEST[self.encoding.bucket]

    def start(self, value: Any) -> Any:
        return self.encoding.decode(self.encoding.encode(value))

    def next(self, value: Any) -> Any:
        return self.start(self.start(value) + self.longest)

    def previous(self, value: Any) -> Any:
        return self.start(self.start(value) - self.instant)


SORT = KeyPlace("sort", followed=True)
SORT_LAST = KeyPlace("sort", followed=False)
PARTITION = KeyPlace("partition", followed=True)
PARTITION_LAST = KeyPlace("partition", followed=False)
PLACES = [SORT, SORT_LAST, PARTITION, PARTITION_LAST]

TRICKY = '\0\x01\x1f !"#$%&2309AFaz~é\ud7ff\ue000\uffff\U0001f600\U0010ffff'
texts = st.text(st.sampled_from(TRICKY), max_size=5) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=8
)
zones = st.just(UTC) | st.integers(-14 * 60, 14 * 60).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)
ksuids = st.builds(
    Ksuid.make,
    st.datetimes(datetime(2015, 1, 1), datetime(2149, 1, 1), timezones=st.just(UTC)),
    st.binary(min_size=16, max_size=16),
)


def to_millis(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def to_seconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


@dataclass(frozen=True)
class Kind:
    """A type in a format, and values of it that the format takes whole."""

    annotation: Any
    format: str | None
    values: SearchStrategy[Any]
    rank: Callable[[Any], Any] = lambda value: value

    def encoding(self, place: KeyPlace) -> Encoding:
        return encoding_for(self.annotation, self.format, place=place)


KINDS = {
    "text": Kind(str, None, texts),
    "own text": Kind(Sku, None, texts.map(Sku)),
    "padded": Kind(int, "08", st.integers(0, 10**8 - 1)),
    "microseconds": Kind(datetime, None, moments),
    "milliseconds": Kind(datetime, "millis", moments.map(to_millis)),
    "seconds": Kind(datetime, "seconds", moments.map(to_seconds)),
    "date": Kind(date, None, st.dates()),
    "uuid": Kind(UUID, None, st.uuids()),
    "ksuid": Kind(Ksuid, None, ksuids),
    "text enum": Kind(Status, None, st.sampled_from(Status), lambda member: member.value),
    "plain enum": Kind(Colour, None, st.sampled_from(Colour), lambda member: member.value),
    "number enum": Kind(Level, "02", st.sampled_from(Level)),
    "literal": Kind(Literal["b", "a", "ab"], None, st.sampled_from(["a", "ab", "b"])),
    "bool": Kind(bool, None, st.booleans()),
}
BUCKETS = {
    "hour": Kind(datetime, "hour", moments),
    "day": Kind(datetime, "day", moments),
    "month": Kind(datetime, "month", moments),
    "month of dates": Kind(date, "month", st.dates()),
}
UNORDERED = {
    "plain": Kind(int, "plain", st.integers()),
    "plain enum of numbers": Kind(Level, "plain", st.sampled_from(Level)),
}


def with_names(kinds: dict[str, Kind]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds.values(), ids=kinds.keys())


# Laws


@with_names(KINDS | UNORDERED)
@given(data=st.data())
def test_decode_undoes_encode(kind: Kind, data: st.DataObject) -> None:
    value = data.draw(kind.values)
    for place in PLACES:
        encoding = kind.encoding(place)
        decoded = encoding.decode(encoding.encode(value))
        assert decoded == value
        assert type(decoded) is type(value)
        assert not encoding.lossy


@with_names(KINDS | BUCKETS)
@given(data=st.data())
def test_bytes_sort_as_values_do(kind: Kind, data: st.DataObject) -> None:
    one, other = data.draw(kind.values), data.draw(kind.values)
    for place, delimiter in ((SORT, b"#"), (SORT_LAST, b"")):
        encoding = kind.encoding(place)
        if encoding.bucket:
            one, other = (encoding.decode(encoding.encode(value)) for value in (one, other))
        a, b = (encoding.encode(value).encode() + delimiter for value in (one, other))
        assert encoding.ordered
        assert (a < b) == (kind.rank(one) < kind.rank(other))
        assert (a == b) == (one == other)


@with_names(KINDS | BUCKETS | UNORDERED)
@given(data=st.data())
def test_every_text_is_in_the_language(kind: Kind, data: st.DataObject) -> None:
    value = data.draw(kind.values)
    for place in PLACES:
        encoding = kind.encoding(place)
        text = encoding.encode(value)
        assert common_text(literal(text), encoding.language) == text
        assert encoding.language.width in (None, len(text))


@pytest.mark.parametrize("place", [SORT, PARTITION], ids=str)
@given(one=texts, other=texts)
def test_the_text_of_a_beginning_is_the_beginning_of_the_text(
    place: KeyPlace, one: str, other: str
) -> None:
    encode = encoding_for(str, None, place=place).encode
    assert encode(other).startswith(encode(one)) == other.startswith(one)
    assert "#" not in encode(one)


@given(texts)
def test_in_a_sort_key_nothing_in_a_text_sorts_below_the_delimiter(text: str) -> None:
    encoded = encoding_for(str, None, place=SORT).encode(text)
    assert all(character > "#" for character in encoded)


@with_names(BUCKETS)
@given(data=st.data())
def test_a_bucket_decodes_to_its_start(kind: Kind, data: st.DataObject) -> None:
    encoding = kind.encoding(PARTITION)
    value = data.draw(kind.values)
    assert encoding.lossy and encoding.bucket
    start = encoding.decode(encoding.encode(value))
    assert start == encoding.decode(encoding.encode(start)) <= value
    assert encoding.encode(start) == encoding.encode(value)


@with_names(BUCKETS)
@given(data=st.data())
def test_buckets_walk_without_gaps(kind: Kind, data: st.DataObject) -> None:
    is_moment = kind.annotation is datetime
    instant = timedelta.resolution if is_moment else timedelta(days=1)
    bucket = Bucket(kind.encoding(PARTITION), instant)
    within = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 1), timezones=zones)
    value = data.draw(within if is_moment else within.map(datetime.date))
    start, after = bucket.start(value), bucket.next(value)
    assert start <= value < after
    assert bucket.previous(after) == start
    assert bucket.next(bucket.previous(value)) == start
    just_before = after - bucket.instant
    assert bucket.start(just_before) == start


def test_a_walk_of_months_has_every_month() -> None:
    bucket = Bucket(encoding_for(datetime, "month", place=PARTITION), timedelta.resolution)
    walk = [datetime(2023, 12, 31, 23, 59, tzinfo=UTC)]
    for _ in range(15):
        walk.append(bucket.next(walk[-1]))
    months = [(moment.year, moment.month, moment.day) for moment in walk[1:]]
    assert months == [(2024, month, 1) for month in range(1, 13)] + [
        (2025, month, 1) for month in range(1, 4)
    ]
    assert all(bucket.previous(later) == earlier for earlier, later in pairwise(walk[1:]))


# Literal texts

AT = datetime(2024, 1, 15, 10, 30, 5, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("annotation", "format", "value", "text"),
    [
        (str, None, "APPLE", "APPLE"),
        (int, "08", 42, "00000042"),
        (int, "012", 7, "000000000007"),
        (int, "plain", -42, "-42"),
        (datetime, None, AT, "2024-01-15T10:30:05.123456Z"),
        (datetime, None, to_seconds(AT), "2024-01-15T10:30:05.000000Z"),
        (datetime, "millis", to_millis(AT), "2024-01-15T10:30:05.123Z"),
        (datetime, "seconds", to_seconds(AT), "2024-01-15T10:30:05Z"),
        (datetime, "hour", AT, "2024-01-15T10:00:00"),
        (datetime, "day", AT, "2024-01-15T00:00:00"),
        (datetime, "month", AT, "2024-01-01T00:00:00"),
        (datetime, None, datetime.min.replace(tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
        (date, None, date(2024, 1, 15), "2024-01-15"),
        (date, "month", date(2024, 1, 15), "2024-01-01"),
        (UUID, None, UUID(int=255), "00000000-0000-0000-0000-0000000000ff"),
        (Ksuid, None, "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
        (Status, None, Status.SAVED, "SAVED"),
        (Status, None, "SAVED", "SAVED"),
        (Colour, None, Colour.RED, "red"),
        (Colour, None, "red", "red"),
        (Level, "03", Level.HIGH, "010"),
        (bool, None, True, "true"),
        (bool, None, False, "false"),
        (Literal["x"], None, "x", "x"),
    ],
)
def test_an_ordinary_value_is_written_as_it_reads(
    annotation: Any, format: str | None, value: Any, text: str
) -> None:
    for place in PLACES:
        written = encoding_for(annotation, format, place=place).encode(value)
        assert written == text
        assert type(written) is str


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (SORT, "a$20b$23c$24d%$00"),
        (PARTITION, "a b$23c$24d%\0"),
        (SORT_LAST, "a b#c$d%\0"),
        (PARTITION_LAST, "a b#c$d%\0"),
    ],
    ids=str,
)
def test_text_escapes_only_what_its_place_asks_for(place: KeyPlace, text: str) -> None:
    assert encoding_for(str, None, place=place).encode("a b#c$d%\0") == text


def test_a_time_is_written_in_utc_whatever_its_zone() -> None:
    there = AT.astimezone(timezone(timedelta(hours=-11)))
    from_pydantic = TypeAdapter(datetime).validate_python("2024-01-15T10:30:05.123456Z")
    encode = encoding_for(datetime, None, place=SORT).encode
    assert encode(there) == encode(AT) == encode(from_pydantic)
    late = datetime(2024, 1, 15, 23, tzinfo=timezone(timedelta(hours=-2)))
    assert encoding_for(datetime, "day", place=SORT).encode(late) == "2024-01-16T00:00:00"


# Types beneath other types

Name = NewType("Name", str)
DealId = NewType("DealId", Ksuid)


class Alias:
    """What `type X = ...` makes in Python 3.12."""

    __value__ = Annotated[int, Constraint(ge=0)]


@pytest.mark.parametrize(
    ("annotation", "format", "value", "text"),
    [
        (Annotated[str, StringConstraints(to_upper=True)], None, "A", "A"),
        (Optional[str], None, "A", "A"),  # noqa: UP045
        (str | None, None, "A", "A"),
        (Annotated[str | None, "note"], None, "A", "A"),
        (Annotated[Name, "note"] | None, None, "A", "A"),
        (Name, None, "A", "A"),
        (DealId, None, "1" * 27, "1" * 27),
        (EmailStr, None, "a@b.c", "a@b.c"),
        (PositiveInt, "03", 7, "007"),
        (conint(ge=1), "03", 7, "007"),
        (Alias(), "03", 7, "007"),
        (AwareDatetime, "seconds", to_seconds(AT), "2024-01-15T10:30:05Z"),
        (AwareDatetime | None, "day", AT, "2024-01-15T00:00:00"),
        (PastDate, None, date(2024, 1, 15), "2024-01-15"),
        (Literal["a", None], None, "a", "a"),
    ],
)
def test_a_type_is_found_beneath_what_wraps_it(
    annotation: Any, format: str | None, value: Any, text: str
) -> None:
    assert encoding_for(annotation, format, place=SORT).encode(value) == text


@pytest.mark.parametrize(
    ("annotation", "native"),
    [
        (int, "N"),
        (Decimal | None, "N"),
        (Annotated[int, "note"], "N"),
        (Level, "N"),
        (bytes, "B"),
        (str, None),
        (bool, None),
        (datetime, None),
        (Status, None),
        (list[int], None),
    ],
)
def test_numbers_and_bytes_may_be_key_attributes_by_themselves(
    annotation: Any, native: str | None
) -> None:
    assert native_type(annotation) == native


# Declarations that cannot work


class Spaced(StrEnum):
    IN_PROGRESS = "IN PROGRESS"


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Blank(StrEnum):
    NOTHING = ""


class Bits(IntFlag):
    ONE = 1


class Below(IntEnum):
    ZERO = -1


class Nobody(Enum):
    pass


class Model(BaseModel):
    pass


@pytest.mark.parametrize(
    ("annotation", "format", "words"),
    [
        (int, None, "does not sort as a number in a sort key; pad it, as in {n:08}"),
        (Level, None, "does not sort as a number in a sort key; pad it, as in {n:08}"),
        (int, "8", "int has no format '8'; pad it, as in {n:08}, or write {n:plain}"),
        (int, "00", "int has no format '00'"),
        (int, "0999999999", "int has no format '0999999999'"),
        (int, "", "int has no format ''"),
        (str, "upper", "str has no format 'upper'; leave the format out"),
        (UUID, "hex", "UUID has no format 'hex'"),
        (bool, "yes", "bool has no format 'yes'"),
        (Ksuid, "day", "Ksuid has no format 'day'"),
        (Status, "08", "Status has no format '08'"),
        (Literal["a"], "08", "has no format '08'"),
        (datetime, "dya", "no format 'dya'; write millis, seconds, hour, day, month or no format"),
        (datetime, "", "datetime has no format ''"),
        (date, "day", "date has no format 'day'; write month, or no format"),
        (Decimal, None, "Decimal has no text that could be part of a key; let the field alone be"),
        (Decimal | None, "08", "key attribute of type N, or keep whole units in an int"),
        (float, None, "keep whole units in an int, as in {cents:08}"),
        (bytes, None, "let the field alone be the template of a key attribute of type B"),
        (list[str], None, "has no text that could be part of a key; use str, int"),
        (dict, None, "dict has no text"),
        (Model, None, "Model has no text"),
        (str | int, None, "has no text"),
        (Any, None, "has no text"),
        (timedelta, None, "timedelta has no text"),
        (Spaced, None, "'IN PROGRESS', a value of Spaced, contains ' '"),
        (Literal["a#b"], None, "contains '#', which a key cannot hold where something follows"),
        (Literal["a", 1], None, "1, a value of typing.Literal['a', 1], cannot be part of a key"),
        (Mixed, None, "1, a value of Mixed, cannot be part of a key; let all of its values be"),
        (Blank, None, "none of them empty"),
        (Bits, "08", "Bits has no text"),
        (Nobody, None, "Nobody has no text"),
        (Below, "08", "a value of Below is -1, and a padded number cannot be negative"),
        (Level, "01", "a value of Level is 10, which does not fit 1 digits"),
    ],
)
def test_a_declaration_that_cannot_work_says_what_to_write_instead(
    annotation: Any, format: str | None, words: str
) -> None:
    with pytest.raises(TemplateError, match=re.escape(words)):
        encoding_for(annotation, format, place=SORT)


def test_an_enum_is_held_only_to_what_its_place_needs() -> None:
    for place in (SORT_LAST, PARTITION, PARTITION_LAST):
        assert encoding_for(Spaced, None, place=place).encode("IN PROGRESS") == "IN PROGRESS"
    with pytest.raises(TemplateError):
        encoding_for(Literal["a#b"], None, place=PARTITION)


def test_a_bare_number_is_enough_in_a_partition_key() -> None:
    for place in (PARTITION, PARTITION_LAST):
        assert encoding_for(int, None, place=place).encode(-7) == "-7"


# Values that are refused


@pytest.mark.parametrize(
    ("annotation", "format", "value", "words"),
    [
        (str, None, 5, "takes text, not 5"),
        (str, None, None, "takes text, not None"),
        (str, None, b"raw", "takes text, not b'raw'"),
        (str, None, "\ud800", "has a lone surrogate at 0"),
        (int, "08", -1, "is -1, and a padded number cannot be negative"),
        (int, "03", 1000, "is 1000, which does not fit 3 digits: pad to more digits"),
        (int, "03", True, "takes an int, not True"),
        (int, "03", "7", "takes an int, not '7'"),
        (int, "plain", 7.0, "takes an int, not 7.0"),
        (datetime, None, datetime(2024, 1, 15), "has no time zone"),
        (datetime, "day", datetime(2024, 1, 15), "has no time zone"),
        (datetime, None, date(2024, 1, 15), "takes a datetime"),
        (datetime, None, "2024-01-15", "takes a datetime"),
        (datetime, "millis", AT, "of which milliseconds would lose a part: round it"),
        (datetime, "seconds", to_millis(AT), "of which seconds would lose a part"),
        (datetime, None, datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), "four digits"),
        (date, None, AT, "takes a date, not datetime"),
        (date, "month", "2024-01", "takes a date"),
        (UUID, None, "00000000-0000-0000-0000-0000000000ff", "takes a UUID"),
        (Ksuid, None, "short", "27 base-62 digits"),
        (Ksuid, None, 5, "takes text"),
        (Status, None, "GONE", "takes one of ACTIVE, PURCHASED, SAVED, not 'GONE'"),
        (Status, None, ["ACTIVE"], "takes one of"),
        (bool, None, 1, "takes one of true, false, not 1"),
        (bool, None, "true", "takes one of"),
        (Level, "02", 2, "takes one of 01, 10, 99, not 2"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    annotation: Any, format: str | None, value: Any, words: str
) -> None:
    encoding = encoding_for(annotation, format, place=SORT)
    with pytest.raises(ValueError, match=re.escape(words)):
        encoding.encode(value)
