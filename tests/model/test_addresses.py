"""Addresses of mail and of pages, refused in the domain's own word."""

from __future__ import annotations

from email.message import EmailMessage
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
        *("a<b@c.example>", "~;`@>*.b,<", '"a b"@c.example', "a(b)@c.example", "a,b@c.example"),
        *("a:b@c.example", "a\\b@c.example", "[a]@c.example", "é@c.example", "a@[127.0.0.1]"),
        *(".a@b.example", "a.@b.example", "a..b@c.example", "a@b..example", "a@-b.example"),
        *("a@b-.example", "a@b_c.example", "a@127.0.0.1", "a@b.example.", "a@b,c.example"),
        *("x" * 65 + "@b.example", "a@" + "b" * 64 + ".example", "a@" + "ü" * 60 + ".example"),
        *("a@straße.example", "a@xn--zz.example", "a@b\u200e.example", "a@\u0130.example"),
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
    ["o'brien+news@c.example", "a.b-c_d@e-f.example", "a@b.c.d.example", "x" * 64 + "@b.example"],
)
def test_an_ordinary_address_stays_as_it_is(value: str) -> None:
    assert EMAIL(value) == value


@pytest.mark.parametrize(
    "value",
    ["a@BÜCHER.example", "a@xn--bcher-kva.example", "a@bu\u0308cher.example", "a@bücher。example"],
    ids=ascii,
)
def test_spellings_of_one_host_are_one(value: str) -> None:
    assert EMAIL(value) == "a@bücher.example"


@given(st.text(alphabet="ab.,;:<>()[]\"'\\@é%ü!=?+-_*/|`~^${}", max_size=12))
def test_a_mail_program_reads_an_address_as_itself(text: str) -> None:
    try:
        address = EMAIL(f"{text}@example.com")
    except NoAddress:
        return
    message = EmailMessage()
    message["To"] = address
    (read,) = message["To"].addresses
    assert read.addr_spec == address


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
