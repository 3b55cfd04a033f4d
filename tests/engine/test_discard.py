"""What is large and gone is out of sight at once, and goes bit by bit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage.discard import ROW_KEYS, SMALL
from bigtime.wire import ResourceNotFoundException
from tests.engine.calls import (
    Clock,
    add_index,
    call,
    describe_table,
    drop_index,
    fill,
    global_index,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    s,
)

DAY = 24 * 3600
MANY = 1_250


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        yield engine


def discarded_kinds(engine: Engine) -> list[str]:
    """The kinds of rows that are still to go, by their first letter."""
    names = physical_tables(engine)
    return sorted(name.split("_")[1][0] for name in names if name.startswith("discarded_"))


def switch(engine: Engine, *, on: bool, attribute: str = "until") -> None:
    specification = {"Enabled": on, "AttributeName": attribute}
    call(engine, "UpdateTimeToLive", TableName="crowd", TimeToLiveSpecification=specification)


def make_crowd(engine: Engine) -> None:
    """A table of every kind of rows: items, both indexes, collections, expiry and a stream."""
    make_table(
        engine,
        {"p": "S", "s": "N", "g": "S", "l": "S"},
        name="crowd",
        local=(index("local", key_schema("p", "l")),),
        globally=(index("global", key_schema("g")),),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    switch(engine, on=True)


def test_few_rows_go_at_once(engine: Engine) -> None:
    before = physical_tables(engine)
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    fill(engine, "crowd", SMALL)
    call(engine, "DeleteTable", TableName="crowd")
    assert physical_tables(engine) == before


def test_many_rows_of_every_kind_go_bit_by_bit(engine: Engine, clock: Clock) -> None:
    before = physical_tables(engine)
    make_crowd(engine)
    attributes = {"s": n(1), "g": s("same"), "l": s("a"), "until": n(int(clock.now) + DAY)}
    fill(engine, "crowd", MANY, **attributes)
    call(engine, "DeleteTable", TableName="crowd")
    with pytest.raises(ResourceNotFoundException):
        call(engine, "Scan", TableName="crowd")
    # The stream outlives its table by a day.
    assert discarded_kinds(engine) == ["c", "i", "i", "t", "x"]
    bits = 0
    while engine._housekeeper.drop():
        bits += 1
    assert bits > MANY // ROW_KEYS["t"][1]
    assert discarded_kinds(engine) == []
    clock.now += 2 * DAY
    while engine._housekeeper.trim():
        pass
    assert discarded_kinds(engine) == ["s"]
    engine.tidy()
    assert physical_tables(engine) - before <= {"sqlite_sequence"}


def test_an_index_dropped_and_made_again_is_another(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    fill(engine, "crowd", MANY, g=s("same"))
    new = index("new", key_schema("g"), "KEYS_ONLY")
    for times in range(1, 4):
        add_index(engine, "crowd", new, g="S")
        while engine._housekeeper.fill():
            pass
        assert global_index(engine, "crowd", "new")["ItemCount"] == MANY
        drop_index(engine, "crowd", "new")
        assert discarded_kinds(engine) == ["i"] * times
    engine.tidy()
    assert discarded_kinds(engine) == []
    assert call(engine, "Scan", TableName="crowd")["Count"] == MANY


def test_time_to_live_switched_on_and_off_again_and_again(engine: Engine, clock: Clock) -> None:
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    later, past = n(int(clock.now) + DAY), n(int(clock.now) - 1)
    fill(engine, "crowd", MANY, until=later, other=past)
    before = physical_tables(engine)
    for times in range(1, 5):
        switch(engine, on=True)
        while engine._housekeeper.fill():
            pass
        switch(engine, on=False)
        assert discarded_kinds(engine) == ["x"] * times
    # Half way through, and without a pause.
    switch(engine, on=True)
    switch(engine, on=False)
    engine.tidy()
    assert physical_tables(engine) == before
    assert describe_table(engine, "crowd")["ItemCount"] == MANY
    switch(engine, on=True, attribute="other")
    while engine._housekeeper.fill():
        pass
    engine.tidy()
    assert describe_table(engine, "crowd")["ItemCount"] == 0


def test_a_crash_leaves_the_rest_to_whoever_opens_the_file(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    fill(engine, "crowd", MANY)
    call(engine, "DeleteTable", TableName="crowd")
    engine._housekeeper.drop()
    assert discarded_kinds(engine) == ["t"]
    with Engine.open(engine.path, durability="relaxed", housekeeping=False) as other:
        other.tidy()
        assert discarded_kinds(other) == []
    assert discarded_kinds(engine) == []
    assert not engine._housekeeper.drop()
