from __future__ import annotations

from importlib.resources import files

import pytest

from bigtime.engine.expressions.lexer import RESERVED_WORDS, is_reserved


def test_there_are_573_reserved_words() -> None:
    assert len(RESERVED_WORDS) == 573
    assert all(word == word.upper() for word in RESERVED_WORDS)


def test_the_list_is_the_one_that_moto_carries() -> None:
    moto = pytest.importorskip("moto.dynamodb.parsing", reason="moto is not installed")
    words = files(moto).joinpath("reserved_keywords.txt").read_text().upper().split()
    assert set(words) == RESERVED_WORDS


@pytest.mark.parametrize("word", ["name", "Status", "TTL", "user"])
def test_words_are_reserved_in_any_case(word: str) -> None:
    assert is_reserved(word)
    assert not is_reserved(f"{word}_")
