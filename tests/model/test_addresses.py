"""Addresses of mail and of pages, refused in the domain's own word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import DomainError, EmailAddress, WebAddress


class NoAddress(DomainError):
    """This is no address."""


EMAIL = EmailAddress(NoAddress)
PAGE = WebAddress(NoAddress, most=40)


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "alex", "a@b", "@b.example", "a@", "a b@c.example", "a#b@c.example", "a@b@c.d"),
        *("a\n@b.example", "a\0@b.example", "a@b.", "x" * 250 + "@b.example", None, 7),
    ],
    ids=repr,
)
def test_what_is_no_address_of_mail_is_refused(value: Any) -> None:
    with pytest.raises(NoAddress):
        EMAIL(value)


def test_spellings_of_one_address_are_one() -> None:
    assert EMAIL(" Alex@Example.COM ") == EMAIL("alex@example.com") == "alex@example.com"


@pytest.mark.parametrize(
    "value",
    [
        *("", "page", "//a.example", "javascript:alert(1)", "https://", "https:///a", "ftp://a.b"),
        *("https://a b", " https://a.example", "https://a.example\n", "https://" + "a" * 40, None),
    ],
    ids=repr,
)
def test_what_is_no_address_of_a_page_is_refused(value: Any) -> None:
    with pytest.raises(NoAddress):
        PAGE(value)


def test_the_address_of_a_page_stays_as_it_is() -> None:
    for text in ("https://A.example/b?c=d#e", "http://localhost:8000", "https://a.example?x"):
        assert PAGE(text) == text


@given(st.text(max_size=30) | st.emails())
def test_an_address_is_its_own_address(text: str) -> None:
    try:
        address = EMAIL(text)
    except NoAddress:
        return
    assert EMAIL(address) == address
