"""Whatever entities a table lets in: no key is shared, and each finds its own items, in order."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from types import new_class
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import (
    DesignError,
    Entity,
    Keys,
    System,
    Table,
    ValueRefused,
    all_of,
    global_index,
    load_many,
    scan_all,
    setup,
    verify,
)
from bigtime.store import Store


class Kind(StrEnum):
    A = "A"
    AB = "AB"


TYPES: dict[str, Any] = {"s": str, "t": str, "n": int, "k": Kind}
WRITTEN = {"s": "{s}", "t": "{t}", "n": "{n:03}", "k": "{k}"}
odd_texts = st.text("#$%A1\0 ~\U0001f600", max_size=3)
values = st.fixed_dictionaries(
    {
        "s": odd_texts,
        "t": odd_texts,
        "n": st.sampled_from([0, 1, 9, 10, 999]),
        "k": st.sampled_from(Kind),
    }
)
templates = st.builds(
    lambda head, names, tail: head + "#".join(WRITTEN[name] for name in names) + tail,
    st.sampled_from(["A#", "A#", "B#", "AB#", "#", "A", ""]),
    st.lists(st.sampled_from(sorted(TYPES)), max_size=3, unique=True),
    st.sampled_from(["", "", "#", "#Z"]),
)
keys = st.tuples(templates, templates)


def declare_table(shapes: list[tuple[Any, Any]], type_attribute: str | None) -> Table:
    """A table with as many of these entities as it lets in."""
    index = global_index("GSI1", "GSI1PK", "GSI1SK")
    table = Table("Things", "PK", "SK", indexes=[index], type_attribute=type_attribute)
    for number, (main, other) in enumerate(shapes):
        with suppress(DesignError):
            declare(f"Thing{number}", table, Keys(main=main, GSI1=other))
    return table


def declare(name: str, table: Table, keys: Keys) -> None:
    body = {"__annotations__": TYPES, "keys": keys, "__module__": __name__}
    new_class(name, (Entity,), {"table": table}, lambda namespace: namespace.update(body))


designs = st.builds(
    declare_table,
    st.lists(st.tuples(keys, keys), min_size=2, max_size=4),
    st.sampled_from([None, "Type"]),
).filter(lambda table: len(table.entities) > 1)


@given(designs, st.lists(st.tuples(st.integers(0, 3), values), max_size=12))
def test_entities_that_share_a_table_leave_each_other_alone(table: Table, made: Any) -> None:
    placed = [table.entities[number % len(table.entities)](**fields) for number, fields in made]
    held: dict[Any, Entity] = {}
    for entity in placed:
        try:
            key = entity.own_key()
            entity.layout.to_item(entity)
        except ValueRefused:  # an empty text is no key
            continue
        other = held.setdefault(key.identity, entity)
        assert type(other) is type(entity)
        assert main_fields(other) == main_fields(entity)
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine)
        store.run(setup(table))
        store.run(load_many(held.values()))
        assert store.run(verify(System("things", (table,)))) == []
        for kind in table.entities:
            own = [entity for entity in held.values() if type(entity) is kind]
            assert by_key(store.run(scan_all(kind))) == by_key(own)
            for entity in own:
                check_partition(store, entity, own, "main")
                check_partition(store, entity, own, "GSI1")


def main_fields(entity: Entity) -> list[Any]:
    return [getattr(entity, name) for name in entity.layout.keys["main"].fields]


def by_key(entities: list[Any]) -> list[Any]:
    return sorted(entities, key=lambda entity: str(entity.own_key().identity))


def check_partition(store: Store, entity: Entity, own: list[Any], index: str) -> None:
    """A query of the partition finds the entity's own items there, by the order of their fields."""
    key = entity.layout.keys[index]
    asked = {name: getattr(entity, name) for name in key.hash_fields}
    found = store.run(all_of(type(entity).within(index, **asked)))
    there = [
        each for each in own if all(getattr(each, name) == value for name, value in asked.items())
    ]
    assert by_key(found) == by_key(there)
    names = key.range[0].template.fields
    order = [[getattr(each, name) for name in names] for each in found]
    assert order == sorted(order)
