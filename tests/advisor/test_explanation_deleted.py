"""What was deleted softly is explained as it is: reads pass over it, and writes do not find it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bigtime.advisor import explain, measure
from bigtime.advisor.sample import MOMENT
from bigtime.engine import Engine
from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    all_of,
    attr,
    count,
    delete,
    erase,
    get,
    load_many,
    query,
    restore,
    scan,
    setup,
    update,
)
from bigtime.model.errors import ItemMissing
from bigtime.store import Store

NOTES = Table("Notes", "PK", "SK")


class Note(Entity, table=NOTES, deleted="gone_at"):
    keys = Keys(main=("NOTES", "NOTE#{number:02}"))
    number: int
    text: str = ""
    pinned: bool | None = None
    gone_at: datetime | None = None


notes = st.lists(
    st.builds(
        Note,
        number=st.integers(0, 5),
        text=st.sampled_from(["", "x" * 3000, "y" * 5000]),
        pinned=st.sampled_from([None, True]),
        gone_at=st.sampled_from([None, MOMENT]),
    ),
    unique_by=lambda note: note.number,
)
key = st.builds(Note.key, st.integers(0, 5))
pinned = st.sampled_from([None, attr("pinned").exists(), attr("pinned").missing()])
operations = st.one_of(
    st.builds(get, key),
    st.builds(delete, key),
    st.builds(erase, key),
    st.builds(restore, key),
    st.builds(lambda key: update(key, text="z"), key),
    st.builds(
        lambda limit, newest, filter: query(
            Note.within("main"), limit=limit, newest_first=newest, filter=filter
        ),
        st.none() | st.integers(1, 3),
        st.booleans(),
        pinned,
    ),
    st.builds(lambda filter: scan(Note, filter=filter), pinned),
)


@given(notes, operations)
def test_what_is_held_costs_what_was_explained(held: list[Note], operation: Any) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine, clock=lambda: MOMENT)
        store.run(setup(System("notes", (NOTES,))))
        store.run(load_many(held))
        explained = explain(operation, holding=held, tables=[NOTES])
        try:
            measured = store.run(measure(operation))
        except ItemMissing:
            assert isinstance(explained.ended, ItemMissing)
            return
        assert explained.result == measured.result
        assert (explained.read_units, explained.write_units) == (
            measured.read_units,
            measured.write_units,
        )


@given(notes)
def test_what_is_counted_and_listed_is_what_is_left(held: list[Note]) -> None:
    left = sum(note.gone_at is None for note in held)
    assert explain(count(Note.within("main")), holding=held, tables=[NOTES]).result == left
    listed = explain(all_of(Note.within("main")), holding=held, tables=[NOTES])
    assert len(listed.result) == left
    passed = "all" if left == len(held) else f"{left}"
    assert not held or f"{passed} of which pass the filter" in str(listed)
