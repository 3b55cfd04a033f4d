"""What two languages share, beside Python's regular expressions and a search of short texts."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.language import (
    ANY_CHARACTER,
    Characters,
    Language,
    Piece,
    common_text,
    fixed_width,
    literal,
    one_of,
    repetition_of,
)
from bigtime.model.schema.template import Template

SOME = "#$ab"
LONGEST = 4

classes = st.sampled_from(["##", "$$", "aa", "bb", "ab", "$b", "#b"]).map(
    lambda ends: Characters(((ends[0], ends[1]),))
)
words = st.lists(classes, max_size=2).map(tuple)
pieces = st.builds(
    Piece, st.lists(words, min_size=1, max_size=2).map(tuple), repeated=st.booleans()
)
languages = st.lists(pieces, max_size=3).map(lambda some: Language(tuple(some)))


def disjoint(a: Language, b: Language) -> bool:
    return common_text(a, b) is None


def has_prefix_of(prefix: str, language: Language) -> str | None:
    """A shortest text of the language that begins with `prefix`."""
    return common_text(literal(prefix) + repetition_of((ANY_CHARACTER,)), language)


def expression(language: Language) -> re.Pattern[str]:
    """The same language as a regular expression."""

    def characters(some: Characters) -> str:
        return "[" + "".join(rf"\u{ord(a):04x}-\u{ord(b):04x}" for a, b in some.ranges) + "]"

    def piece(some: Piece) -> str:
        words = "|".join("".join(map(characters, word)) for word in some.words)
        return f"(?:{words}){'*' if some.repeated else ''}"

    return re.compile("".join(map(piece, language.pieces)))


def short_texts() -> list[str]:
    return ["".join(each) for n in range(LONGEST + 1) for each in product(SOME, repeat=n)]


@given(languages, languages)
def test_the_example_is_a_shortest_text_of_both(a: Language, b: Language) -> None:
    found = common_text(a, b)
    in_a, in_b = expression(a), expression(b)
    if found is not None:
        assert in_a.fullmatch(found) and in_b.fullmatch(found)
    both = [text for text in short_texts() if in_a.fullmatch(text) and in_b.fullmatch(text)]
    if both:
        assert found is not None and len(found) == len(both[0])
    assert disjoint(a, b) == (found is None)


@given(languages, st.text(SOME, max_size=3))
def test_an_example_with_a_prefix_begins_with_it(language: Language, prefix: str) -> None:
    found = has_prefix_of(prefix, language)
    inside = expression(language)
    if found is not None:
        assert found.startswith(prefix) and inside.fullmatch(found)
    assert found is not None or not any(
        inside.fullmatch(text) for text in short_texts() if text.startswith(prefix)
    )


@given(languages)
def test_width_is_that_of_every_text(language: Language) -> None:
    widths = {len(text) for text in short_texts() if expression(language).fullmatch(text)}
    if language.width is not None:
        assert widths <= {language.width}


def test_a_shape_names_the_greatest_digits() -> None:
    day = fixed_width("9999-19-39T00:00:00")
    assert day.width == 19
    assert common_text(day, literal("2024-01-15T00:00:00"))
    assert disjoint(day, literal("2024-01-15T00:00:01"))
    assert disjoint(day, literal("2024-21-15T00:00:00"))


def test_surrogates_are_in_no_language() -> None:
    assert "\ud800" not in ANY_CHARACTER and "\udfff" not in ANY_CHARACTER
    assert disjoint(repetition_of((ANY_CHARACTER,)), literal("\ud800"))


def test_a_choice_shares_its_members() -> None:
    assert common_text(one_of(["ACTIVE", "SAVED"]), one_of(["LINE", "SAVED"])) == "SAVED"
    assert disjoint(one_of(["ACTIVE", "SAVED"]), literal("LINE"))


# The languages of templates


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    SAVED = "SAVED"


FIELDS: dict[str, Any] = {
    "order": str, "item": str, "sku": str, "brand": str, "at": datetime, "deal": Ksuid,
    "status": Status, "n": int,
}  # fmt: skip


def language(text: str, *, continued: bool = False) -> Language:
    return Template(text, FIELDS, role="sort", continued=continued).language


def test_a_raw_last_field_can_hold_the_key_of_its_continuation() -> None:
    child = language("ORDER#{order}#ITEM#{item}")
    assert common_text(language("ORDER#{order}"), child) == "ORDER##ITEM#"
    assert disjoint(language("ORDER#{order}", continued=True), child)
    assert has_prefix_of("ORDER#", child) == "ORDER##ITEM#"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{status}#{at:millis}#{sku}", "LINE#{sku}"),
        ("BRAND#{brand}", "BRANDLIKE#{brand}"),
        ("DEAL#{deal}", "DEALS#{at:day}"),
        ("A#{at:day}", "A#{at:seconds}"),
        ("A#{at}", "A#{deal}"),
        ("A#{n:08}", "A#{n:07}"),
        ("#ORDER#{order}", "CUSTOMER#{order}"),
    ],
)
def test_keys_that_cannot_be_shared(one: str, other: str) -> None:
    assert disjoint(language(one), language(other))


@pytest.mark.parametrize(
    ("one", "other", "example"),
    [
        ("A#{at:day}", "A#{at:month}", "A#1111-11-01T00:00:00"),
        ("A#{deal}", "A#{deal}", "A#" + "1" * 27),
        ("A#{brand}", "A#{n:03}", "A#111"),
        ("{brand}", "LINE#{sku}", "LINE#"),
        ("{brand}#{sku}", "LINE#{sku}", "LINE#"),
        ("{status}", "{brand}", "SAVED"),
        ("A#{n:plain}", "A#{n:03}", "A#111"),
    ],
)
def test_keys_that_can_be_shared_have_an_example_that_reads_well(
    one: str, other: str, example: str
) -> None:
    assert common_text(language(one), language(other)) == example


def test_an_escaped_text_never_ends_inside_an_escape() -> None:
    assert disjoint(language("{brand}#x"), literal("a$#x"))
    assert disjoint(language("{brand}#x"), literal("a$25#x"))
    assert common_text(language("{brand}#x"), literal("a$24#x"))
