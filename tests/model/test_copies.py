"""Copies that a reaction keeps: what is missing, differs or is left over is found and mended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bigtime import model as bt
from bigtime.engine import Engine
from bigtime.store import Store

SOURCES = bt.Table("Sources", "PK", "SK", type_attribute="Type")
COPIES = bt.Table("Copies", "PK", "SK", type_attribute="Type")


class Source(bt.Entity, table=SOURCES):
    """What is copied."""

    keys = bt.Keys(main=("SOURCE#{name}", "SOURCE"))
    name: str
    colour: str | None = None


class Copy(bt.Entity, table=COPIES):
    """What follows from it."""

    keys = bt.Keys(main=("COPY#{name}", "COPY"))
    name: str
    colour: str | None = None


def copy_of(source: Source) -> Copy:
    return Copy(name=source.name, colour=source.colour)


COPIED = bt.copies(Source, Copy, copy_of, lambda copy: Source.key(copy.name))
SYSTEM = bt.System("copies", (COPIES,), copies=(COPIED,))


@pytest.fixture
def store() -> Iterator[Store]:
    with Engine.memory() as engine:
        store = Store(engine)
        store.run(bt.setup(bt.System("all", (SOURCES, COPIES))))
        yield store


def sentences(store: Store) -> list[str]:
    return sorted(violation.sentence for violation in store.run(bt.verify(SYSTEM)))


def test_each_fault_is_found_and_mended(store: Store) -> None:
    names = ("late", "pale", "same")
    store.run(bt.put_many([Source(name=name, colour="red") for name in names]))
    store.run(bt.put_many([Copy(name="pale"), Copy(name="same", colour="red"), Copy(name="left")]))
    assert sentences(store) == [
        "differs from its source",
        "is missing, and its source is there",
        "is the copy of what is gone",
    ]
    for violation in store.run(bt.verify(SYSTEM)):
        store.run(bt.repair(violation))
    assert sentences(store) == []
    copies = store.run(bt.scan_all(Copy))
    assert {copy.name: copy.colour for copy in copies} == dict.fromkeys(names, "red")


def test_an_attribute_that_the_source_has_lost_is_removed(store: Store) -> None:
    store.run(bt.put(Source(name="a")))
    store.run(bt.put(Copy(name="a", colour="red")))
    (violation,) = store.run(bt.verify(SYSTEM))
    store.run(bt.repair(violation))
    assert store.run(bt.get(Copy.key("a"))) == Copy(name="a")


@pytest.mark.parametrize("case", ["missing", "differs", "left over"])
def test_a_copy_that_has_changed_since_is_left_alone(store: Store, case: str) -> None:
    if case != "left over":
        store.run(bt.put(Source(name="a", colour="red")))
    if case != "missing":
        store.run(bt.put(Copy(name="a", colour="blue")))
    (violation,) = store.run(bt.verify(SYSTEM))
    store.run(bt.put(Copy(name="a", colour="green")))
    with pytest.raises(bt.Conflict):
        store.run(bt.repair(violation))
    assert store.run(bt.get(Copy.key("a"))) == Copy(name="a", colour="green")


def test_copies_whose_sources_are_not_set_up_are_not_missed() -> None:
    with Engine.memory() as engine:
        store = Store(engine)
        store.run(bt.setup(SYSTEM))
        assert sentences(store) == []
