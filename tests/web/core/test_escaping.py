"""What templates put out: escaped as Jinja2 would have escaped it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, StrictUndefined, UndefinedError
from markupsafe import Markup, escape

from bigtime.web.pages.escaping import ShowingEnvironment, shown
from bigtime.web.pages.page import CLOSES, OPENS, slot

TEMPLATE = """
{% macro row(one) %}<li title='{{ one }}'>{{ one | upper }}</li>{% endmacro %}
{% set kept %}<b>{{ value }}</b>{% endset %}
{{ value }} {{ value ~ "<" }} {{ kept }} {{ row(value) }} {{ [value, value] | join("<br>") }}
{% for one in [value] %}{{ loop.index }}{{ one }}{% endfor %}
{% if value %}{{ "&" }}{{ 3 < 4 }}{% endif %}
{{ thing.name }} {{ thing.within.name }} {{ told.name }} {{ told.within.within }}
{{ told.get("no") }}
{{ told.items() | list }} {{ thing.nothing is defined }} {{ told.nothing is defined }}
{% for one in [thing, told] if one.name %}{{ one.name.upper() }}{{ loop.first }}{% endfor %}
{% macro of(one) %}{{ one.within.name }}{% endmacro %}{{ of(thing) }}{{ of(told) }}
"""


class Thing:
    """Has attributes, one of which is another of its kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def within(self) -> Thing:
        return Thing(f"in {self.name}")


unmarked = st.text().filter(lambda text: CLOSES not in text)
anything = st.one_of(unmarked, st.integers(), st.decimals(), st.none(), st.booleans())


@given(anything)
def test_a_value_is_escaped_as_jinja_escapes_it(value: Any) -> None:
    assert shown(value) == str(escape(value))


@given(unmarked)
def test_a_page_is_the_same_as_with_jinjas_own_escaping(value: str) -> None:
    told = {"name": value, "within": {"name": "<", "within": value}}
    pages = [
        kind(autoescape=True)
        .from_string(TEMPLATE)
        .render(value=value, thing=Thing(value), told=told)
        for kind in (Environment, ShowingEnvironment)
    ]
    assert pages[0] == pages[1]


def test_html_is_put_out_as_it_is() -> None:
    assert shown(Markup("<b>&amp;</b>")) == "<b>&amp;</b>"
    assert shown(slot("header")) == str(slot("header"))


@given(st.text(), st.text())
def test_no_text_makes_a_gap(before: str, after: str) -> None:
    put_out = shown(f"{before}{slot('header')}{after}")
    assert OPENS not in put_out and CLOSES not in put_out


@pytest.mark.parametrize("text", ["{{ nothing }}", "{{ x.nothing }}", "{{ x.nothing.more }}"])
def test_what_is_not_there_is_an_error(text: str) -> None:
    templates = ShowingEnvironment(autoescape=True, undefined=StrictUndefined)
    for x in (Thing("a"), {"b": 1}):
        with pytest.raises(UndefinedError):
            templates.from_string(text).render(x=x)


def test_a_number_is_put_out_as_text() -> None:
    assert shown(Decimal("1.50")) == "1.50"
