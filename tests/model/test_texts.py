"""Texts that people write: of any script, and without what nobody can see."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, TypeAdapter, ValidationError

from bigtime.model import is_readable, one_line

LINE: TypeAdapter[str] = TypeAdapter(Annotated[str, AfterValidator(one_line)])


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_what_people_write_is_readable_and_stays_as_it_is(text: str) -> None:
    assert is_readable(text)
    assert LINE.validate_python(text) == text


@given(st.text(max_size=5), st.characters(categories=["Cc", "Zl", "Zp", "Cs"]), st.text(max_size=5))
def test_one_character_that_nobody_sees_is_enough(before: str, unseen: str, after: str) -> None:
    assert not is_readable(before + unseen + after)
    with pytest.raises(ValidationError, match="invisible characters; remove them"):
        LINE.validate_python(f"R{unseen}")


def test_several_lines_are_readable_where_they_may_be() -> None:
    assert is_readable("First.\r\n\tSecond.\n", lines=True)
    assert not is_readable("First.\nSecond.")
    assert not is_readable("First.\x00\n", lines=True)
