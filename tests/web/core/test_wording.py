"""What is wrong with a field: told in plain words, whatever kind of wrong it is."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import AfterValidator, BaseModel, Field, HttpUrl
from pydantic_core.core_schema import ErrorType

from bigtime.model import one_line
from bigtime.web.http.fields import OTHERWISE, field_message
from bigtime.web.pages.forms import check_form


class Colour(StrEnum):
    RED = "red"


def even(number: int) -> int:
    if number % 2:
        raise ValueError("give an even number")
    return number


class Asked(BaseModel):
    """A field of each kind."""

    text: Annotated[str, Field(min_length=2, max_length=1_000)] = ""
    line: Annotated[str, AfterValidator(one_line)] = ""
    code: Annotated[str, Field(pattern="^[A-Z]+$")] = ""
    count: Annotated[int, Field(ge=1, le=9_999)] = 1
    above: Annotated[int, Field(gt=0, lt=10)] = 1
    price: Annotated[Decimal, Field(decimal_places=2)] = Decimal(1)
    share: float = 0
    day: date = date(2026, 1, 1)
    at: datetime = datetime(2026, 1, 1)
    colour: Colour = Colour.RED
    size: Literal["small", "large"] = "small"
    agreed: bool = False
    link: HttpUrl | None = None
    pair: Annotated[int, AfterValidator(even)] = 2


@pytest.mark.parametrize(
    ("field", "typed", "says"),
    [
        ("text", "x", "At least 2 characters."),
        ("text", "x" * 1_001, "At most 1,000 characters."),
        ("line", "R\x00", "This contains invisible characters; remove them."),
        ("code", "a", "Please check the format."),
        ("count", "0", "Enter a number of 1 or more."),
        ("count", "10000", "Enter a number of 9,999 or less."),
        ("count", "x", "Enter a whole number, such as 3."),
        ("count", "1.5", "Enter a whole number, such as 3."),
        ("count", "9" * 5_000, "This number is too large."),
        ("above", "0", "Enter a number above 0."),
        ("above", "10", "Enter a number below 10."),
        ("price", "x", "Enter a number, such as 19.99."),
        ("price", "1.234", "At most 2 decimal places."),
        ("share", "x", "Enter a number, such as 19.99."),
        ("day", "31/07/2026", "Enter a date, such as 2026-07-31."),
        ("at", "noon", "Enter a date and time, such as 2026-07-31T12:00."),
        ("colour", "blue", "Choose one of the options."),
        ("size", "huge", "Choose one of the options."),
        ("agreed", "perhaps", "Choose yes or no."),
        ("link", "nowhere", "Enter an address such as https://example.com."),
        ("pair", "3", "Give an even number."),
    ],
)
def test_a_fault_is_told_in_plain_words(field: str, typed: str, says: str) -> None:
    assert check_form(Asked, {field: typed}).wrong == {field: says}


class Some(dict[str, int]):
    """Whatever a kind tells of itself."""

    def items(self) -> Any:
        names = ("max_length", "min_length", "gt", "ge", "lt", "le", "multiple_of")
        return [(name, 3) for name in (*names, "decimal_places")]


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_kind_of_fault_has_a_sentence(kind: str) -> None:
    error: Any = {"type": kind, "loc": (), "msg": "Input should be 3", "input": 0, "ctx": Some()}
    said = field_message(error)
    assert said.endswith(".")
    assert "Input" not in said and "{" not in said


def test_a_kind_that_nobody_thought_of_is_told_to_be_written_otherwise() -> None:
    error: Any = {"type": "frozen_set_type", "loc": (), "msg": "Input should be", "input": None}
    assert field_message(error) == OTHERWISE
