"""How one field is written inside a key.

A key is text, compared byte by byte, so each type gets a text that is unique for each value and,
in a sort key, sorts as the values do (Python orders text as DynamoDB orders its UTF-8 bytes):

- Text in a sort key that something follows: each character up to `$` becomes `$` and two hex
  digits. The delimiter `#` then sorts below everything that an encoded text can contain, so a
  text sorts before its own continuations, whatever follows the delimiter. (`%23` for `#` would
  put the delimiter above the space, and "a b" before "a".)
- Text in a partition key that something follows: only `#` and `$` are escaped; order is moot.
- Text that nothing follows is written unchanged.
- Numbers are padded with zeros, since "10" sorts before "9". A padded number refuses a negative
  value, and one that is too large for the padding.
- A time is written in UTC at a fixed width. `:seconds` and `:millis` refuse a finer time rather
  than lose precision; only a bucket (`:day`, `:hour`, `:month`) is lossy, by design. A bucket is
  written as the moment it starts.
- UUIDs, KSUIDs, enums, `Literal`s and booleans are written unchanged: none has a character
  that would need an escape.

An encoding refuses a wrong value with a ValueError whose message continues the field's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, Flag
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_origin
from uuid import UUID

from bigtime.model.schema.annotation import bare_type, name_of
from bigtime.model.schema.ksuid import LENGTH, Ksuid
from bigtime.model.schema.language import (
    ANY_CHARACTER,
    Characters,
    Language,
    fixed_width,
    one_of,
    repetition_of,
)

Role: TypeAlias = Literal["partition", "sort"]

DIGIT: Final = Characters((("0", "9"),))
HEX: Final = Characters((("0", "9"), ("a", "f")))
BASE_62: Final = Characters((("0", "9"), ("A", "Z"), ("a", "z")))
UPPER_HEX: Final = Characters((("0", "9"), ("A", "F")))


class TemplateError(ValueError):
    """A declaration that cannot work: what is wrong with it, where, and what to write instead."""

    def __init__(self, problem: str, remedy: str, *, place: str = "", template: str = "") -> None:
        where = f"{place} in the template {template!r}: " if place else ""
        super().__init__(f"{where}{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy

    def at(self, place: str, template: str) -> TemplateError:
        """The same error, with its location in the template."""
        return TemplateError(self.problem, self.remedy, place=place, template=template)


class KeyPlace(NamedTuple):
    """Where in a key a field stands."""

    role: Role
    followed: bool
    """Whether anything follows it, in its own template or in that of another entity."""


class Encoding(NamedTuple):
    """Maps values to text: `decode` reverses `encode`, to the bucket's start if it is lossy."""

    encode: Callable[[Any], str]
    decode: Callable[[str], Any]
    language: Language
    ordered: bool = True
    """Whether the texts sort as the values do."""
    textual: bool = False
    """Whether encoding a prefix of a value gives a prefix of the encoded value."""
    bucket: str | None = None
    """The period of time whose values share one text, such as `day`."""
    is_plain: Callable[[str], object] = re.compile("(?!)").fullmatch
    """Whether a text certainly needs no escapes: faster to check than to encode."""

    @property
    def lossy(self) -> bool:
        return self.bucket is not None


def encoding_for(annotation: Any, format: str | None, *, place: KeyPlace) -> Encoding:
    """The encoding of a field of that type in that place, or a TemplateError."""
    kind = bare_type(annotation)
    if get_origin(kind) is Literal:
        return literal_encoding(kind, format, place)
    if not isinstance(kind, type):
        raise no_encoding(kind)
    if issubclass(kind, Enum):
        return enum_encoding(kind, format, place)
    for base in kind.__mro__:
        if base in ENCODINGS:
            return ENCODINGS[base](kind, format, place)
    raise no_encoding(kind)


# What cannot be part of a key


REMEDIES: Final[Mapping[type, str]] = {
    Decimal: "let the field alone be the template of a key attribute of type N, "
    "or keep whole units in an int, as in {cents:08}",
    float: "keep whole units in an int, as in {cents:08}",
    bytes: "let the field alone be the template of a key attribute of type B",
}


def no_encoding(kind: Any) -> TemplateError:
    bases = kind.__mro__ if isinstance(kind, type) else ()
    remedies = [REMEDIES[base] for base in bases if base in REMEDIES]
    usual = "use str, int, datetime, date, UUID, Ksuid, an Enum, a Literal of texts or bool"
    problem = f"{name_of(kind)} has no text that could be part of a key"
    return TemplateError(problem, *(remedies or [usual]))


def without_format(kind: Any, format: str | None) -> None:
    if format is not None:
        raise unknown_format(kind, format, "leave the format out")


def unknown_format(kind: Any, format: str, remedy: str) -> TemplateError:
    return TemplateError(f"{name_of(kind)} has no format {format!r}", remedy)


# Text


ESCAPED: Final[Mapping[Role, re.Pattern[str]]] = {
    "partition": re.compile("[#$]"),
    "sort": re.compile("[\0-$]"),
}
PLAIN: Final[Mapping[Role, re.Pattern[str]]] = {
    "partition": re.compile('[\0-"%-\x7f]*'),
    "sort": re.compile("[%-\x7f]*"),
}
"""ASCII only, and so without surrogates."""
DOLLAR: Final = Characters((("$", "$"),))
TEXTS: Final[Mapping[Role, Language]] = {
    "partition": repetition_of(
        (Characters((("\0", '"'), ("%", "\ud7ff"), ("\ue000", "\U0010ffff"))),),
        (DOLLAR, Characters((("2", "2"),)), Characters((("3", "4"),))),
    ),
    "sort": repetition_of(
        (Characters((("%", "\ud7ff"), ("\ue000", "\U0010ffff"))),),
        (DOLLAR, Characters((("0", "1"),)), UPPER_HEX),
        (DOLLAR, Characters((("2", "2"),)), Characters((("0", "4"),))),
    ),
}
ESCAPE: Final = re.compile(r"\$([0-9A-F]{2})")


def text_encoding(kind: type[str], format: str | None, place: KeyPlace) -> Encoding:
    without_format(kind, format)
    make: Callable[[str], Any] = (lambda text: text) if kind is str else kind
    if not place.followed:
        anything = repetition_of((ANY_CHARACTER,))
        return Encoding(as_text, make, anything, textual=True, is_plain=str.isascii)
    return Encoding(
        escape_encoder(ESCAPED[place.role]),
        lambda text: make(ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)),
        TEXTS[place.role],
        ordered=place.role == "sort",
        textual=True,
        is_plain=PLAIN[place.role].fullmatch,
    )


def as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"takes text, not {value!r}")
    if not value.isascii():
        check_whole(value)
    return value if type(value) is str else str.__str__(value)


def check_whole(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = value[error.start]
        raise ValueError(
            f"has a lone surrogate at {error.start}, {half!r}, which is no character and cannot be"
            " stored: decode what it came from with errors='replace'"
        ) from None


def escape_encoder(escaped: re.Pattern[str]) -> Callable[[Any], str]:
    find, replace = escaped.search, escaped.sub

    def encode(value: Any) -> str:
        text = as_text(value)
        return text if find(text) is None else replace(as_escape, text)

    return encode


def as_escape(found: re.Match[str]) -> str:
    return f"${ord(found[0]):02X}"


# Numbers


def int_encoding(kind: type[int], format: str | None, place: KeyPlace) -> Encoding:
    if format is None and place.role == "sort":
        raise TemplateError(
            f"a bare {name_of(kind)} does not sort as a number in a sort key",
            "pad it, as in {n:08}, or give up its order with {n:plain}",
        )
    if format in (None, "plain"):
        language = one_of(["", "-"]) + fixed_width("9") + repetition_of((DIGIT,))
        return Encoding(plain, lambda text: kind(int(text)), language, ordered=False)
    if not re.fullmatch("0[1-9][0-9]?", f"{format}"):
        raise unknown_format(kind, f"{format}", "pad it, as in {n:08}, or write {n:plain}")
    width = int(f"{format}")
    return Encoding(pad_encoder(width), lambda text: kind(int(text)), fixed_width("9" * width))


def as_int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"takes an int, not {value!r}")
    return value


def plain(value: Any) -> str:
    return int.__repr__(as_int(value))


def pad_encoder(width: int) -> Callable[[Any], str]:
    limit = 10**width

    def encode(value: Any) -> str:
        number = as_int(value)
        if 0 <= number < limit:
            return int.__repr__(number).zfill(width)
        if number < 0:
            raise ValueError(
                f"is {number}, and a padded number cannot be negative: store it with an offset, "
                "or give up its order with the format 'plain'"
            )
        raise ValueError(
            f"is {number}, which does not fit {width} digits: pad to more digits, and rewrite "
            "the keys that are stored already"
        )

    return encode


# Times


def datetime_encoding(kind: type[datetime], format: str | None, place: KeyPlace) -> Encoding:
    if format in MOMENTS:
        return MOMENTS[format]
    raise unknown_format(kind, f"{format}", "write millis, seconds, hour, day, month or no format")


def date_encoding(kind: type[date], format: str | None, place: KeyPlace) -> Encoding:
    if format in DATES:
        return DATES[format]
    raise unknown_format(kind, f"{format}", "write month, or no format")


def utc(value: Any) -> datetime:
    """The moment with its clock in UTC, whatever its zone is called; refuses one without a zone."""
    if not isinstance(value, datetime):
        raise ValueError(f"takes a datetime, not {value!r}")
    offset = value.utcoffset()
    if offset is None:
        raise ValueError(f"is {value}, which has no time zone: make it as datetime.now(UTC) is")
    if not offset:
        return value
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"is {value}, which UTC cannot write in four digits of a year") from None


def day(value: Any) -> date:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise ValueError(f"takes a date, not {value!r}")
    return value


def moment_of(timespec: str, *, microseconds: int, shape: str) -> Encoding:
    """Encodes times to a precision of so many microseconds."""

    def encode(value: Any) -> str:
        moment = utc(value)
        if moment.microsecond % microseconds:
            raise ValueError(
                f"is {value}, of which {timespec} would lose a part: round it before it is "
                "stored, or leave the format out"
            )
        # Faster than isoformat of the whole datetime, which also writes the time zone.
        return f"{date.isoformat(moment)}T{moment.time().isoformat(timespec)}Z"

    return Encoding(encode, datetime.fromisoformat, fixed_width(shape))


def moments_of(bucket: str, start: Callable[[datetime], str], *, shape: str) -> Encoding:
    """Encodes times as the start of their bucket."""

    def encode(value: Any) -> str:
        return start(utc(value))

    def decode(text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    return Encoding(encode, decode, fixed_width(shape), bucket=bucket)


def hour_text(moment: datetime) -> str:
    return f"{date.isoformat(moment)}T{moment.hour:02}:00:00"


def day_text(moment: datetime) -> str:
    return date.isoformat(moment) + "T00:00:00"


def month_text(moment: date) -> str:
    return date.isoformat(moment)[:7] + "-01"


MOMENTS: Final[Mapping[str | None, Encoding]] = {
    None: moment_of("microseconds", microseconds=1, shape="9999-19-39T29:59:59.999999Z"),
    "millis": moment_of("milliseconds", microseconds=1_000, shape="9999-19-39T29:59:59.999Z"),
    "seconds": moment_of("seconds", microseconds=1_000_000, shape="9999-19-39T29:59:59Z"),
    "hour": moments_of("hour", hour_text, shape="9999-19-39T29:00:00"),
    "day": moments_of("day", day_text, shape="9999-19-39T00:00:00"),
    "month": moments_of(
        "month",
        lambda moment: month_text(moment) + "T00:00:00",
        shape="9999-19-01T00:00:00",
    ),
}
DATES: Final[Mapping[str | None, Encoding]] = {
    None: Encoding(
        lambda value: day(value).isoformat(), date.fromisoformat, fixed_width("9999-19-39")
    ),
    "month": Encoding(
        lambda value: month_text(day(value)),
        date.fromisoformat,
        fixed_width("9999-19-01"),
        bucket="month",
    ),
}


# Ids


def uuid_encoding(kind: type[UUID], format: str | None, place: KeyPlace) -> Encoding:
    without_format(kind, format)
    shape = "-".join("h" * digits for digits in (8, 4, 4, 4, 12))
    return Encoding(uuid_text, UUID, fixed_width(shape, h=HEX))


def uuid_text(value: Any) -> str:
    if not isinstance(value, UUID):
        raise ValueError(f"takes a UUID, not {value!r}")
    return str(value)


def ksuid_encoding(kind: type[Ksuid], format: str | None, place: KeyPlace) -> Encoding:
    without_format(kind, format)

    def encode(value: Any) -> str:
        return str.__str__(value if isinstance(value, Ksuid) else kind(as_text(value)))

    return Encoding(encode, kind, fixed_width("b" * LENGTH, b=BASE_62))


# Choices


def bool_encoding(kind: type[bool], format: str | None, place: KeyPlace) -> Encoding:
    without_format(kind, format)
    return choice({True: "true", False: "false"})


def literal_encoding(kind: Any, format: str | None, place: KeyPlace) -> Encoding:
    without_format(kind, format)
    values = [value for value in get_args(kind) if value is not None]
    return choice({value: plain_word(value, kind, place) for value in values})


def enum_encoding(kind: type[Enum], format: str | None, place: KeyPlace) -> Encoding:
    values = [member.value for member in kind]
    if issubclass(kind, Flag) or not values:
        raise no_encoding(kind)
    if not all(isinstance(value, int) for value in values):
        without_format(kind, format)
        return choice({each: plain_word(each.value, kind, place) for each in kind})
    numbers = int_encoding(int, format, place)
    try:
        texts = {member: numbers.encode(member.value) for member in kind}
    except ValueError as error:
        raise TemplateError(f"a value of {name_of(kind)} {error}", "change the format") from None
    return choice(texts, ordered=numbers.ordered)


def plain_word(value: Any, kind: Any, place: KeyPlace) -> str:
    """The text of a fixed value; refuses one that would need an escape where it stands."""
    if not isinstance(value, str) or not value:
        raise TemplateError(
            f"{value!r}, a value of {name_of(kind)}, cannot be part of a key",
            "let all of its values be texts, none of them empty",
        )
    found = ESCAPED[place.role].search(value) if place.followed else None
    if found:
        raise TemplateError(
            f"{value!r}, a value of {name_of(kind)}, contains {found[0]!r}, which a key cannot "
            "hold where something follows",
            "change the value, or declare the field as str",
        )
    return str.__str__(value)


def choice(texts: Mapping[Any, str], *, ordered: bool = True) -> Encoding:
    """Encodes a fixed set of values; an enum's member may also be given as its bare value."""
    members = {text: value for value, text in texts.items()}
    bare = {each.value: text for each, text in texts.items() if isinstance(each, Enum)}
    known = {(type(value), value): text for each in (texts, bare) for value, text in each.items()}

    def encode(value: Any) -> str:
        try:
            return known[type(value), value]
        except (KeyError, TypeError):
            raise ValueError(f"takes one of {', '.join(members)}, not {value!r}") from None

    def decode(text: str) -> Any:
        if text not in members:
            raise ValueError(f"is none of {', '.join(members)}")
        return members[text]

    return Encoding(encode, decode, one_of(members), ordered=ordered)


ENCODINGS: Final[Mapping[type, Callable[[Any, str | None, KeyPlace], Encoding]]] = {
    bool: bool_encoding,
    date: date_encoding,
    datetime: datetime_encoding,
    int: int_encoding,
    Ksuid: ksuid_encoding,
    str: text_encoding,
    UUID: uuid_encoding,
}
