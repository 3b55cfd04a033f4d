"""Names in keys, refused in the domain's own word wherever one comes in."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator

from bigtime.engine import Engine
from bigtime.model import (
    DomainError,
    Entity,
    ItemMismatch,
    Keys,
    Name,
    System,
    Table,
    get,
    scan_all,
    setup,
    update,
    verify,
)
from bigtime.store import Store
from bigtime.wire import Request


class InvalidName(DomainError):
    """A name has 1 to 8 printable characters, none of them `#`."""


NAME = Name(InvalidName, most=8, case=str.lower)
PEOPLE = Table("People", "PK")


class Person(Entity, table=PEOPLE):
    keys = Keys(main="{name}")
    name: Annotated[str, AfterValidator(NAME)]
    nickname: Annotated[str, AfterValidator(NAME)] | None = None


SYSTEM = System("people", (PEOPLE,))


@pytest.mark.parametrize("text", ["", "  ", "a#b", "a\nb", "a\0b", "\ud800", "123456789"], ids=repr)
def test_a_bad_name_is_refused_in_an_entity_a_key_and_an_update(text: str) -> None:
    for refused in (
        lambda: NAME(text),
        lambda: Person(name=text),
        lambda: Person.key(text),
        lambda: update(Person.key("al"), nickname=text),
    ):
        with pytest.raises(InvalidName):
            refused()


def test_spellings_of_one_name_are_one() -> None:
    assert NAME(" Zu\u0308Rich ") == NAME("zürich")


@given(st.text(max_size=12))
def test_a_name_is_its_own_name(text: str) -> None:
    try:
        name = NAME(text)
    except InvalidName:
        return
    assert NAME(name) == name
    assert 1 <= len(name) <= 8 and "#" not in name


def test_a_stored_name_that_is_none_is_an_item_that_does_not_fit() -> None:
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        item = {"PK": {"S": "al"}, "name": {"S": "al"}, "nickname": {"S": "a#l"}}
        store.send(Request("PutItem", {"TableName": "People", "Item": item}))
        for steps in (get(Person.key("al")), scan_all(Person)):
            with pytest.raises(ItemMismatch, match="none of them"):
                store.run(steps)
        (violation,) = store.run(verify(SYSTEM))
        assert "none of them" in violation.sentence
