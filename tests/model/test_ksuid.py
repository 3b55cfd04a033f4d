"""KSUIDs: order, round trips, and what is no KSUID."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from bigtime.model.errors import DomainError
from bigtime.model.schema.ksuid import (
    KSUID_EPOCH,
    LAST,
    LENGTH,
    Ksuid,
    ksuid_or,
    number_of,
    text_of,
)

FIRST_SECOND = datetime.fromtimestamp(KSUID_EPOCH, UTC)
LAST_SECOND = datetime.fromtimestamp(KSUID_EPOCH + 2**32 - 1, UTC)

moments = st.datetimes(
    FIRST_SECOND.replace(tzinfo=None), LAST_SECOND.replace(tzinfo=None), timezones=st.just(UTC)
)
payloads = st.binary(min_size=16, max_size=16)
ksuids = st.builds(Ksuid.make, moments, payloads)


@given(moments, payloads)
def test_an_id_tells_its_second_and_its_payload(at: datetime, payload: bytes) -> None:
    made = Ksuid.make(at, payload)
    assert made.at == at.replace(microsecond=0)
    assert made.payload == payload
    assert Ksuid(str(made)) == made


@given(moments, payloads, moments, payloads)
def test_ids_sort_by_second_then_payload(
    at: datetime, payload: bytes, other_at: datetime, other_payload: bytes
) -> None:
    one, other = Ksuid.make(at, payload), Ksuid.make(other_at, other_payload)
    in_time = (one.at, payload) < (other.at, other_payload)
    assert (one.encode() < other.encode()) == in_time


@given(st.integers(0, 2**160 - 1))
def test_every_number_of_twenty_bytes_has_a_text(number: int) -> None:
    assert number_of(Ksuid(text_of(number))) == number


def test_a_published_id_reads_as_published() -> None:
    """The example in the README of segmentio/ksuid."""
    published = Ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    assert published.at == datetime(2017, 10, 10, 4, 0, 47, tzinfo=UTC)
    assert published.payload.hex().upper() == "B5A1CD34B5F99D1154FB6853345C9735"


def test_the_last_id_is_the_last_number() -> None:
    assert text_of(2**160 - 1) == LAST
    assert Ksuid(LAST).payload == b"\xff" * 16


@pytest.mark.parametrize(
    "text",
    ["", "1" * (LENGTH - 1), "1" * (LENGTH + 1), "1" * 26 + "#", "1" * 26 + "é", "\u0661" * 27,
     LAST[:-1] + "W", "z" * LENGTH],
)  # fmt: skip
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Ksuid(text)


@pytest.mark.parametrize(
    "at", [FIRST_SECOND - timedelta(seconds=1), LAST_SECOND + timedelta(seconds=1)]
)
def test_a_moment_that_no_id_can_hold_is_refused(at: datetime) -> None:
    with pytest.raises(ValueError, match="outside the years"):
        Ksuid.make(at)


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        Ksuid.make(datetime(2024, 1, 15))


def test_a_payload_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        Ksuid.make(datetime(2024, 1, 15, tzinfo=UTC), b"short")


def test_the_second_does_not_depend_on_the_time_zone() -> None:
    here = datetime(2024, 1, 15, 12, tzinfo=timezone(timedelta(hours=2)))
    assert Ksuid.make(here, b"\0" * 16) == Ksuid.make(here.astimezone(UTC), b"\0" * 16)


def test_ids_of_one_moment_differ() -> None:
    at = datetime(2024, 1, 15, tzinfo=UTC)
    assert Ksuid.make(at) != Ksuid.make(at)


@given(ksuids)
def test_pydantic_reads_and_writes_it_as_text(made: Ksuid) -> None:
    adapter = TypeAdapter(Ksuid)
    assert isinstance(adapter.validate_python(str(made)), Ksuid)
    assert adapter.validate_json(adapter.dump_json(made)) == made
    assert adapter.json_schema()["type"] == "string"


def test_pydantic_says_what_is_wrong_with_a_text() -> None:
    with pytest.raises(ValidationError, match="27 base-62 digits"):
        TypeAdapter(Ksuid).validate_python("short")


@given(ksuids)
def test_a_copy_is_a_ksuid(made: Ksuid) -> None:
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(twin) is Ksuid and twin == made


class UnknownThing(DomainError):
    """There is no such thing."""


@given(ksuids)
def test_an_id_that_is_one_is_read_as_one(made: Ksuid) -> None:
    read = ksuid_or(UnknownThing)
    assert read(made) is made
    assert read(str(made)) == made


@pytest.mark.parametrize("wrong", ["", "x", "~" * 27, "z" * 27, 5, None, b"x" * 27, ["a"]])
def test_what_is_no_id_is_refused_in_the_domains_own_word(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"KSUID"):
        Ksuid(wrong)
    with pytest.raises(UnknownThing):
        ksuid_or(UnknownThing)(wrong)
