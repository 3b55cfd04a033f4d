"""Samples: values that fit their types, entities that fit their keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, NewType, Self
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PositiveInt,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from bigtime.advisor.sample import (
    CannotSample,
    entity_of,
    fields_in_prefix,
    sample_arguments,
    sample_item,
    sample_model,
    sample_value,
)
from bigtime.model.pattern import pattern
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Key, Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.table import Table, global_index
from bigtime.model.schema.template import Template
from bigtime.wire.requests import Steps
from tests.model.deals import BIG_TIME_DEALS, SYSTEM, Brand, Deal, Message


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    zip_code: Annotated[str, Field(pattern=r"^\d{5}$")]


def no_hash(text: str) -> str:
    if "#" in text:
        raise ValueError("no #")
    return text


Name = NewType("Name", str)

TYPES: list[Any] = [
    str,
    int,
    bool,
    Decimal,
    bytes,
    date,
    datetime,
    UUID,
    Ksuid,
    Colour,
    Name,
    PositiveInt,
    Literal["a", "b"],
    str | None,
    int | str,
    Address,
    Address | str,
    list[Address],
    set[str],
    frozenset[int],
    dict[str, Decimal],
    tuple[int, str],
    tuple[int, ...],
    list,
    Annotated[str, AfterValidator(no_hash)],
    Annotated[str, Field(min_length=3, max_length=5)],
    Annotated[str, Field(max_length=1)],
    Annotated[str, StringConstraints(pattern="^[A-Z]+[0-9]$", max_length=9)],
    Annotated[str, Field(pattern=r"^[a-z]+$", examples=["alex"])],
    Annotated[int, Field(ge=100, lt=200)],
    Annotated[int, Field(gt=5, multiple_of=5)],
    Annotated[Decimal, Field(le=-1)],
    Annotated[list[str], Field(min_length=5, max_length=10)],
    Annotated[int | None, Field(ge=3)],
]


@pytest.mark.parametrize("annotation", TYPES)
def test_a_sample_is_a_value_of_its_type(annotation: Any) -> None:
    for number in range(5):
        sample = sample_value(annotation, number=number)
        assert TypeAdapter(annotation).validate_python(sample) == sample


@pytest.mark.parametrize(
    "annotation", [str, int, Decimal, bytes, datetime, date, UUID, Ksuid, list[str], Address]
)
@given(numbers=st.sets(st.integers(0, 5_000), min_size=2, max_size=5))
def test_two_numbers_give_two_samples(annotation: Any, numbers: set[int]) -> None:
    samples = [repr(sample_value(annotation, number=number)) for number in numbers]
    assert len(set(samples)) == len(numbers)


def test_text_is_half_as_long_as_it_may_be() -> None:
    assert len(sample_value(Annotated[str, Field(max_length=200)])) == 100


@pytest.mark.parametrize(
    "annotation", [Callable[[str], str], Annotated[str, Field(pattern="^x{7}y$")], object()]
)
def test_what_cannot_be_sampled_says_what_to_declare(annotation: Any) -> None:
    with pytest.raises(CannotSample, match=r"Field\(examples="):
        sample_value(annotation, name="rule")


# --- Entities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("entity", SYSTEM.entities)
@given(number=st.integers(0, 300))
def test_a_sample_of_an_entity_can_be_stored_and_read(entity: type[Entity], number: int) -> None:
    sample = sample_model(entity, number=number)
    assert entity.layout.from_item(entity.layout.to_item(sample)) == sample


@pytest.mark.parametrize("entity", SYSTEM.entities)
@given(number=st.integers(0, 300))
def test_a_key_tells_its_entity_and_its_fields(entity: type[Entity], number: int) -> None:
    sample = sample_model(entity, number=number)
    found = entity_of(BIG_TIME_DEALS, sample.own_key().item)
    assert found is not None
    assert found[0] is entity
    assert sample_model(entity, found[1]).own_key().item == sample.own_key().item


def test_a_key_of_no_entity_is_not_one() -> None:
    assert entity_of(BIG_TIME_DEALS, {"PK": {"S": "NOTHING"}, "SK": {"S": "NOTHING"}}) is None


def test_examples_come_before_defaults_and_defaults_before_made_values() -> None:
    deal = sample_model(Deal)
    assert deal.price == Decimal("19.99")
    assert sample_model(Brand).like_count == 0


def test_what_an_index_needs_is_there() -> None:
    assert sample_model(Message).unread_by is None
    item = sample_item(Message, present=["unread_by"])
    assert {"GSI1PK", "GSI1SK"} <= item.keys()


def test_an_entity_that_cannot_be_sampled_is_named_with_its_field() -> None:
    class Odd(Entity, table=Table("Odd", "id", indexes=[global_index("ByCode", "code")])):
        keys = Keys(main="{id}", ByCode="{code}")
        id: str
        code: Annotated[str, Field(pattern="^x{7}y$")]

    with pytest.raises(CannotSample, match=r"Odd\.code: no sample of 'code'"):
        sample_model(Odd)


def test_the_beginning_of_a_key_tells_the_fields_that_are_whole_in_it() -> None:
    template = Template("SHOP#{state}#{city}", {"state": str, "city": str}, role="sort")
    assert fields_in_prefix(template, "SHOP#NE#OMA") == {"state": "NE"}
    assert fields_in_prefix(template, "SHOP#N") == {}
    assert fields_in_prefix(template, "SH") == {}
    assert fields_in_prefix(template, "SHOP#NE#a#b") == {"state": "NE"}
    assert fields_in_prefix(template, "TEAM#") is None
    team = Template("TEAM#{team}", {"team": str}, role="sort", continued=True)
    assert fields_in_prefix(team, "TEAM#a#MEMBER#") is None
    assert fields_in_prefix(team, "TEAM#a#") is None
    dated = Template("{at:day}#{n:04}", {"at": datetime, "n": int}, role="sort")
    assert fields_in_prefix(dated, "2026-01-01T00:00:00#00") == {
        "at": datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    }
    assert fields_in_prefix(dated, "not a day, you see#") is None


# --- Arguments ----------------------------------------------------------------------------------


@pattern("Take Everything", index="Main table", sample={"colour": Colour.BLUE})
def take(
    brand: Brand,
    key: Key[Deal],
    colour: Colour,
    names: Annotated[list[str], Field(min_length=3)],
    limit: int = 25,
    **more: Any,
) -> Steps[None]:
    yield from ()


def test_arguments_are_given_made_or_left_to_their_defaults() -> None:
    arguments = sample_arguments(take)
    assert arguments.keys() == {"brand", "key", "colour", "names"}
    assert isinstance(arguments["brand"], Brand)
    assert isinstance(arguments["key"], Key) and arguments["key"].entity is Deal
    assert arguments["colour"] is Colour.BLUE
    assert len(arguments["names"]) == 3


def test_an_argument_that_cannot_be_made_is_named() -> None:
    @pattern("Follow a Rule", index="Main table")
    def follow(rule: Callable[[], None]) -> Steps[None]:
        yield from ()

    with pytest.raises(CannotSample, match="parameter rule"):
        sample_arguments(follow)


def test_fields_that_go_together_are_made_together() -> None:
    class Parcel(BaseModel):
        is_sent: bool
        sent_to: str | None = None

        @model_validator(mode="after")
        def check_sent(self) -> Self:
            if self.is_sent and self.sent_to is None:
                raise ValueError("sent where?")
            return self

    assert sample_model(Parcel, {"is_sent": False}).sent_to is None
    assert sample_model(Parcel, {"is_sent": True}).sent_to == "sent-to-1"
