"""Templates: what pages tell of limits comes from where the limits are kept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from bigtime.systems.accounts.design import Role
from bigtime.systems.accounts.password import LEAST_CHARACTERS
from bigtime.systems.deals.values import MOST_DESCRIPTION
from bigtime.web.pages.page import Page, slot
from bigtime.web.pages.rendering import FOLDER, environment, initials
from tests.web.browsing import Web, words

LIMIT = re.compile(r'(?:[Aa]t (?:most|least)|can keep|max(?:length)?=")\s*[0-9]')


def test_no_limit_is_written_out_in_a_template() -> None:
    written = {
        f"{path.name}: {each}"
        for path in FOLDER.rglob("*.html")
        for each in LIMIT.findall(path.read_text())
    }
    assert written == set()


def test_the_limits_are_told(web: Web) -> None:
    visitor, editor = web.browser(), web.signed_in("erin", Role.EDITOR)
    password = f"At least {LEAST_CHARACTERS} characters."
    assert password in words(visitor.get("/sign-up").text)
    assert password in words(editor.get("/me").text)
    description = f"At most {MOST_DESCRIPTION} characters."
    assert description in words(editor.get("/editor/deals/new").text)


def test_initials_are_those_of_words() -> None:
    for name, shown in [
        ("Apple", "A"),
        ("Tom & Söhne", "TS"),
        ("the big lamp company", "TB"),
        ("7-Eleven", "7"),
        ("火", "火"),
        ("&", "&"),
        ("  (Acme)  ", "A"),
    ]:
        assert initials(name) == shown


SHOWS_TEXT = environment().from_string("<p title='{{ text }}'>{{ text }}{{ text | upper }}</p>")


@given(st.text(), st.text())
def test_no_text_makes_a_slot(before: str, after: str) -> None:
    page = Page.from_text(SHOWS_TEXT.render(text=f"{before}{slot('header')!s}{after}"))
    assert page.slots == ()


@pytest.mark.parametrize("text", ["{{ nothing }}", "{{ x.nothing }}", "{{ x.nothing.more }}"])
def test_what_is_not_there_is_an_error(text: str) -> None:
    with pytest.raises(UndefinedError):
        environment().from_string(text).render(x={"b": 1})
