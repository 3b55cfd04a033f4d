"""Partitions of one index, read as one: in order, page by page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import (
    CursorError,
    DesignError,
    Entity,
    Keys,
    Page,
    Position,
    System,
    Table,
    attr,
    global_index,
    merge,
    put_many,
    setup,
)
from bigtime.store import Store

ZOO = Table("Zoo", "PK", indexes=[global_index("ByKind", "kind", "weight")])
OTHER = Table("Farm", "PK", indexes=[global_index("ByKind", "kind", "weight")])


class Animal(Entity, table=ZOO):
    keys = Keys(main="ANIMAL#{name}", ByKind=("{kind}", "{weight:04}"))
    name: str
    kind: str
    weight: int


class Cow(Entity, table=OTHER):
    keys = Keys(main="COW#{name}", ByKind=("{kind}", "{weight:04}"))
    name: str
    kind: str
    weight: int


KINDS = ("cat", "dog", "owl")


def within(*kinds: str) -> Any:
    return [Animal.within("ByKind", kind=kind) for kind in kinds]


def read_through(store: Store, limit: int, *, newest_first: bool) -> list[Animal]:
    found: list[Animal] = []
    after: Position | None = None
    while True:
        page: Page[Animal] = store.run(
            merge(*within(*KINDS), limit=limit, newest_first=newest_first, after=after)
        )
        found += page.items
        after = page.position
        if after is None:
            return found


@given(
    made=st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 20)), max_size=30),
    limit=st.integers(1, 8),
    newest_first=st.booleans(),
)
def test_pages_join_to_the_whole_in_order(
    made: list[tuple[str, int]], limit: int, newest_first: bool
) -> None:
    animals = [Animal(name=f"a{n}", kind=kind, weight=w) for n, (kind, w) in enumerate(made)]
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(System("zoo", (ZOO,))))
        store.run(put_many(animals))
        found = read_through(store, limit, newest_first=newest_first)
    weights = [each.weight for each in found]
    assert weights == sorted(weights, reverse=newest_first)
    assert sorted(each.name for each in found) == sorted(animal.name for animal in animals)


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(System("zoo", (ZOO,))))
    some = [Animal(name=f"a{n}", kind=KINDS[n % 3], weight=n) for n in range(9)]
    store.run(put_many(some))
    return store


def test_a_filter_holds_for_all_of_them(store: Store) -> None:
    heavy = merge(*within("cat", "dog"), limit=10, filter=attr("name") > "a2")
    assert [each.weight for each in store.run(heavy)] == [3, 4, 6, 7]


def test_a_position_belongs_to_these_partitions_in_this_order(store: Store) -> None:
    page = store.run(merge(*within("cat", "dog"), limit=2))
    for steps in (
        merge(*within("dog", "cat"), limit=2, after=page.position),
        merge(*within("cat", "dog", "owl"), limit=2, after=page.position),
        merge(*within("cat", "dog"), limit=2, after=page.position, newest_first=True),
    ):
        with pytest.raises(CursorError):
            store.run(steps)


def test_what_has_no_common_order_is_refused() -> None:
    for stretches in (
        (),
        (Animal.within("ByKind", kind="cat"), Cow.within("ByKind", kind="cow")),
    ):
        with pytest.raises(DesignError):
            merge(*stretches, limit=2)
