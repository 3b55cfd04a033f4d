"""A declaration that would be misunderstood silently is refused when it is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import ModuleType
from typing import Annotated, Any

import pytest

from bigtime.model import (
    DesignError,
    Entity,
    EpochSeconds,
    Keys,
    System,
    Table,
    View,
    get,
    global_index,
    pattern,
    reaction,
    shard_field,
)
from bigtime.wire import Steps

WRONG: Any = "wrong"


def table_of(**more: Any) -> Table:
    return Table("Things", "PK", stream="NEW_AND_OLD_IMAGES", **more)


class Thing(Entity, table=table_of()):
    keys = Keys(main="THING#{name}")
    name: str


def misspelt_role() -> None:
    class A(Entity, table=table_of(), verison="version"):
        keys = Keys(main="A#{name}")
        name: str
        version: int | None = None


def misspelt_view() -> None:
    class A(View, of=Thing, indx="GSI1"):
        name: str


def role_without_a_table() -> None:
    class A(Entity, deleted="deleted_at"):
        deleted_at: datetime | None = None


def keys_that_are_text() -> None:
    class A(Entity, table=table_of()):
        keys = WRONG
        name: str


def table_that_is_text() -> None:
    class A(Entity, table=WRONG):
        keys = Keys(main="A#{name}")
        name: str


def template_that_is_none() -> None:
    Keys(main=("A", None))  # type: ignore[arg-type]


def two_of_one_name(type_attribute: str | None = None) -> None:
    table = table_of(type_attribute=type_attribute)

    class A(Entity, table=table):
        keys = Keys(main="A#{name}")
        name: str

    one = A

    class A(Entity, table=table):  # type: ignore[no-redef]
        keys = Keys(main="B#{name}")
        name: str

    assert one is not A


def expiry_that_nobody_writes() -> None:
    table = table_of(ttl="expiers")

    class A(Entity, table=table):
        keys = Keys(main="A#{name}")
        name: str
        expires: Annotated[datetime, EpochSeconds] | None = None

    System("things", (table,))


def shard_before_its_field() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main="A#{shard}#{name}")
        shard: int = shard_field(3, by="name")
        name: str


def shard_by_nothing() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main="A#{shard}#{name}")
        name: str
        shard: int = shard_field(3, by="nmae")


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (misspelt_role, "A has no 'verison'; an entity takes table, created, updated, version,"),
        (misspelt_view, "A has no 'indx'; a view takes of, index"),
        (role_without_a_table, "A has no table, so nothing would heed its deleted; say it where"),
        (keys_that_are_text, "A.keys is 'wrong'; write `keys = Keys(main=...)`"),
        (table_that_is_text, "A: table is 'wrong'; declare one, as in Table('Shop', 'PK', 'SK')"),
        (template_that_is_none, "keys of main: a template is a text, not None"),
        (two_of_one_name, "table Things has an entity A already; rename one"),
        (lambda: two_of_one_name("Type"), "table Things has an entity A already; rename one"),
        (shard_before_its_field, "A.shard goes by name, which has to be declared before it"),
        (shard_by_nothing, "A.shard goes by nmae, which has to be declared before it"),
        (lambda: Table("Things", None), "a key attribute is a text, number"),  # type: ignore[arg-type]
        (lambda: Table("Things", ["PK", None]), "a key attribute is a text, number"),  # type: ignore[arg-type]
        (lambda: table_of(indexes=["GSI1"]), "'GSI1' is no index; declare it with global_index"),
        (lambda: table_of(indexes=global_index("GSI1", "A")), "indexes is a list of them"),
        (lambda: table_of(naming="pascal"), "naming is 'pascal'; pass pascal_case, camel_case"),
        (lambda: System("things", Thing.layout.table), "tables is a tuple of tables"),  # type: ignore[arg-type]
        (expiry_that_nobody_writes, "table Things: no entity stores 'expiers', by which its items"),
        (lambda: System("things", (WRONG,)), "tables is a tuple of tables, not ('wrong',)"),
    ],
)
def test_a_declaration_that_cannot_work_says_what_to_change(
    declare: Callable[[], object], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        declare()
    assert words in str(caught.value)


def module_of(name: str, **values: Any) -> ModuleType:
    module = ModuleType(name)
    for key, value in values.items():
        value.function.__module__ = name
        setattr(module, key, value)
    return module


def fetch_pattern(title: str) -> Any:
    @pattern(title, index="Main table")
    def fetch(name: str) -> Steps[Thing | None]:
        return (yield from get(Thing.key(name)))

    return fetch


def reaction_of() -> Any:
    @reaction(Thing.layout.table)
    def react(change: Any) -> Steps[None]:
        yield from get(Thing.key("x"))

    return react


def test_two_patterns_of_one_name_do_not_hide_each_other() -> None:
    modules = (
        module_of("a", fetch=fetch_pattern("Fetch")),
        module_of("b", fetch=fetch_pattern("Get")),
    )
    with pytest.raises(DesignError, match="system things has two patterns fetch, in a and b; re"):
        System("things", (Thing.layout.table,), modules)


def test_two_reactions_of_one_name_do_not_hide_each_other() -> None:
    modules = module_of("a", react=reaction_of()), module_of("b", react=reaction_of())
    with pytest.raises(DesignError, match="system things has two reactions react, in a and b; re"):
        System("things", (Thing.layout.table,), modules)
