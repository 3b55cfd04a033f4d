"""Backfill: a new index takes in what is there, a chunk at a time, while writes go on."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.storage import backfill
from bigtime.wire import DynamoDBError, Item, LimitExceededException
from tests.engine.calls import (
    add_index,
    call,
    drop_index,
    fill,
    global_index,
    index,
    key_schema,
    make_table,
    n,
    refusal_of,
    s,
)

NEW = index("new", key_schema("g"), "KEYS_ONLY")


def crowded_engine(items: int = 2_500) -> Engine:
    engine = Engine.memory(housekeeping=False)
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    fill(engine, "crowd", items, g=s("same"))
    return engine


def count_indexed(engine: Engine) -> int:
    return int(call(engine, "Scan", TableName="crowd", IndexName="new", Select="COUNT")["Count"])


def test_a_large_table_is_taken_in_by_the_housekeeper() -> None:
    with crowded_engine() as engine:
        add_index(engine, "crowd", NEW, g="S")
        shown = global_index(engine, "crowd", "new")
        assert (shown["IndexStatus"], shown["Backfilling"]) == ("CREATING", True)
        engine.tidy()
        shown = global_index(engine, "crowd", "new")
        assert (shown["IndexStatus"], shown["ItemCount"]) == ("ACTIVE", 2_500)
        assert count_indexed(engine) == 2_500


def test_an_index_that_is_being_filled_cannot_be_read() -> None:
    with crowded_engine() as engine:
        add_index(engine, "crowd", NEW, g="S")
        message = "Cannot read from backfilling global secondary index: new"
        assert refusal_of(engine, "Scan", TableName="crowd", IndexName="new") == message
        assert message == refusal_of(
            engine,
            TableName="crowd",
            IndexName="new",
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": s("same")},
        )


def test_one_index_is_filled_at_a_time() -> None:
    with crowded_engine() as engine:
        add_index(engine, "crowd", NEW, g="S")
        with pytest.raises(LimitExceededException):
            add_index(engine, "crowd", index("more", key_schema("g")), g="S")
        engine.tidy()
        add_index(engine, "crowd", index("more", key_schema("g")), g="S")


def test_an_index_dropped_half_full_leaves_nothing() -> None:
    with crowded_engine() as engine:
        add_index(engine, "crowd", NEW, g="S")
        drop_index(engine, "crowd", "new")
        engine.tidy()
        assert global_index(engine, "crowd", "new") is None
        add_index(engine, "crowd", NEW, g="S")
        call(engine, "DeleteTable", TableName="crowd")
        engine.tidy()
        assert call(engine, "ListTables")["TableNames"] == []


def test_writes_meanwhile_are_in_the_index_too() -> None:
    with crowded_engine() as engine:
        add_index(engine, "crowd", NEW, g="S")
        put: list[Item] = [
            {"p": s("0"), "g": s("changed")},  # already taken in
            {"p": s("2400"), "g": s("changed")},  # not yet
            {"p": s("2401")},  # leaves the index before it was in it
            {"p": s("new"), "g": s("changed")},
        ]
        for item in put:
            call(engine, "PutItem", TableName="crowd", Item=item)
        call(engine, "DeleteItem", TableName="crowd", Key={"p": s("1")})
        call(engine, "DeleteItem", TableName="crowd", Key={"p": s("2402")})
        engine.tidy()
        assert count_indexed(engine) == global_index(engine, "crowd", "new")["ItemCount"] == 2_498
        found = call(
            engine,
            "Query",
            TableName="crowd",
            IndexName="new",
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": s("changed")},
        )
        assert {item["p"]["S"] for item in found["Items"]} == {"0", "2400", "new"}


def test_items_of_another_type_stay_out() -> None:
    with Engine.memory(housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        odd: list[Any] = [s(""), n(1), {"B": "AA=="}, {"NULL": True}, {"SS": ["a"]}, s("right")]
        for number, value in enumerate(odd):
            call(engine, "PutItem", TableName="crowd", Item={"p": s(f"{number}"), "g": value})
        call(engine, "PutItem", TableName="crowd", Item={"p": s("none")})
        add_index(engine, "crowd", NEW, g="S")
        assert count_indexed(engine) == global_index(engine, "crowd", "new")["ItemCount"] == 1
        # Once out, an item can be taken out of the way.
        call(engine, "DeleteItem", TableName="crowd", Key={"p": s("1")})
        assert global_index(engine, "crowd", "new")["ItemCount"] == 1


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 12), st.sampled_from([None, "y", "z"])),
        st.tuples(st.just("delete"), st.integers(0, 12), st.none()),
        st.tuples(st.just("chunk"), st.just(0), st.none()),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(st.lists(st.sampled_from([None, "y", "z"]), max_size=12), steps)
def test_an_index_filled_among_writes_equals_one_made_first(
    before: list[str | None], script: list[tuple[str, int, str | None]]
) -> None:
    with pytest.MonkeyPatch.context() as patch, Engine.memory(housekeeping=False) as engine:
        patch.setattr(backfill, "CHUNK", 2)
        first = index("first", key_schema("g"))
        make_table(engine, {"p": "S", "g": "S"}, name="crowd", keys=("p",), globally=(first,))

        def put(number: int, g: str | None) -> None:
            item: Item = {"p": s(f"{number}"), **({"g": s(g)} if g else {})}
            call(engine, "PutItem", TableName="crowd", Item=item)

        for number, g in enumerate(before):
            put(number, g)
        add_index(engine, "crowd", index("new", key_schema("g")), p="S", g="S")
        for step, number, g in script:
            if step == "put":
                put(number, g)
            elif step == "delete":
                call(engine, "DeleteItem", TableName="crowd", Key={"p": s(f"{number}")})
            else:
                engine._housekeeper.fill()
        engine.tidy()
        contents = [
            call(engine, "Scan", TableName="crowd", IndexName=name)["Items"]
            for name in ("first", "new")
        ]
        assert contents[0] == contents[1]
        one, two = (global_index(engine, "crowd", name) for name in ("first", "new"))
        for count in ("ItemCount", "IndexSizeBytes"):
            assert one[count] == two[count]


FILL_AND_DIE = """
    import os, sys
    from bigtime.engine import Engine
    from tests.engine.calls import add_index, fill, index, key_schema, make_table, s

    engine = Engine.open(sys.argv[1], housekeeping=False)
    make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
    fill(engine, "crowd", 2500, g=s("same"))
    add_index(engine, "crowd", index("new", key_schema("g"), "KEYS_ONLY"), g="S")
    os._exit(9)
"""


def test_a_crash_in_the_middle_resumes(tmp_path: Path) -> None:
    path = tmp_path / "crash.db"
    script = textwrap.dedent(FILL_AND_DIE)
    root = Path(__file__).parents[2]
    died = subprocess.run([sys.executable, "-c", script, str(path)], check=False, cwd=root)
    assert died.returncode == 9
    with Engine.open(path, housekeeping=False) as engine:
        assert global_index(engine, "crowd", "new")["IndexStatus"] == "CREATING"
        engine.tidy()
        assert global_index(engine, "crowd", "new")["IndexStatus"] == "ACTIVE"
        assert count_indexed(engine) == global_index(engine, "crowd", "new")["ItemCount"] == 2_500


def test_the_housekeeper_fills_without_being_asked() -> None:
    with crowded_engine() as quiet:
        path = quiet.path
        add_index(quiet, "crowd", NEW, g="S")
        with Engine.open(path, durability="relaxed") as engine:
            for _ in range(100):
                if "Backfilling" not in global_index(engine, "crowd", "new"):
                    break
                engine._housekeeper._thread.join(0.1)
            assert count_indexed(engine) == 2_500


def test_an_index_that_cannot_be_is_not_begun() -> None:
    with crowded_engine(10) as engine:
        with pytest.raises(DynamoDBError):
            add_index(engine, "crowd", index("new", key_schema("absent")), g="S")
        assert global_index(engine, "crowd", "new") is None
