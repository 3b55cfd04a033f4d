"""Time to live: what expires, when, and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.storage.definition import expiry_second
from bigtime.wire import AttributeValue
from tests.engine.calls import (
    Clock,
    call,
    describe_table,
    fill,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    refusal_of,
    s,
)
from tests.strategies import numbers

YEAR = 365 * 24 * 3600
NOW = 1_700_000_000


@pytest.fixture
def sessions(clock: Clock) -> Iterator[Engine]:
    """The table `sessions`, where `until` is the time to live."""
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "g": "S"},
            name="sessions",
            keys=("p",),
            globally=(index("global", key_schema("g")),),
        )
        switch(engine, True)
        yield engine


def switch(engine: Engine, enabled: bool, attribute: str = "until") -> Any:
    return call(
        engine,
        "UpdateTimeToLive",
        TableName="sessions",
        TimeToLiveSpecification={"Enabled": enabled, "AttributeName": attribute},
    )


def put(engine: Engine, p: str, until: AttributeValue | None = None) -> None:
    item = {"p": s(p), "g": s("all"), **({"until": until} if until else {})}
    call(engine, "PutItem", TableName="sessions", Item=item)


def left(engine: Engine) -> set[str]:
    return {item["p"]["S"] for item in call(engine, "Scan", TableName="sessions")["Items"]}


def test_an_item_is_there_until_the_second_it_expires(sessions: Engine, clock: Clock) -> None:
    put(sessions, "a", n(NOW + 10))
    put(sessions, "b", n(NOW + 11))
    clock.now = NOW + 9.9
    sessions.tidy()
    assert left(sessions) == {"a", "b"}
    clock.now = NOW + 10
    # It can be read until somebody takes it away.
    assert left(sessions) == {"a", "b"}
    sessions.tidy()
    assert left(sessions) == {"b"}


@pytest.mark.parametrize(
    "until",
    [
        s(str(NOW - 1)),
        n(NOW - 5 * YEAR - 1),
        n(-5),
        n(0),
        n("1e100"),
        n("1e-100"),
        {"L": [n(NOW - 1)]},
        {"NS": [str(NOW - 1)]},
        {"NULL": True},
        None,
    ],
)
def test_what_is_no_recent_time_never_expires(
    sessions: Engine, until: AttributeValue | None
) -> None:
    put(sessions, "a", until)
    sessions.tidy()
    assert left(sessions) == {"a"}


@pytest.mark.parametrize("until", [NOW - 1, NOW, NOW - 5 * YEAR + 1, f"{NOW - 1}.75"])
def test_what_is_past_expires(sessions: Engine, until: Any) -> None:
    put(sessions, "a", n(until))
    sessions.tidy()
    assert left(sessions) == set()


def test_expiry_takes_the_item_out_of_indexes_and_counts(sessions: Engine) -> None:
    put(sessions, "a", n(NOW - 1))
    put(sessions, "b")
    sessions.tidy()
    table = describe_table(sessions, "sessions")
    assert table["ItemCount"] == table["GlobalSecondaryIndexes"][0]["ItemCount"] == 1
    assert call(sessions, "Scan", TableName="sessions", IndexName="global")["Count"] == 1


def test_a_renewed_item_lives_on(sessions: Engine, clock: Clock) -> None:
    put(sessions, "a", n(NOW + 10))
    put(sessions, "b", n(NOW + 10))
    put(sessions, "c", n(NOW + 1000))
    put(sessions, "a", n(NOW + 100))
    put(sessions, "b")
    put(sessions, "c", n(NOW + 10))
    clock.now = NOW + 50
    sessions.tidy()
    assert left(sessions) == {"a", "b"}


def test_switching_on_takes_in_what_is_there(sessions: Engine) -> None:
    switch(sessions, False)
    put(sessions, "a", n(NOW - 1))
    sessions.tidy()
    assert left(sessions) == {"a"}
    switch(sessions, True)
    sessions.tidy()
    assert left(sessions) == set()


def test_a_large_table_expires_in_chunks(sessions: Engine) -> None:
    fill(sessions, "sessions", 1_300, until=n(NOW - 1))
    put(sessions, "stays")
    sessions.tidy()
    assert left(sessions) == {"stays"}
    assert describe_table(sessions, "sessions")["ItemCount"] == 1


def test_a_switch_thrown_back_while_a_large_table_is_taken_in(sessions: Engine) -> None:
    switch(sessions, False)
    fill(sessions, "sessions", 1_300, until=n(NOW - 1), other=n(NOW + 5))
    switch(sessions, True)
    switch(sessions, False)
    sessions.tidy()
    assert len(call(sessions, "Scan", TableName="sessions")["Items"]) == 1_300
    switch(sessions, True, "other")
    sessions.tidy()
    assert len(call(sessions, "Scan", TableName="sessions")["Items"]) == 1_300


def test_the_switch_describes_itself(sessions: Engine) -> None:
    def status() -> Any:
        found = call(sessions, "DescribeTimeToLive", TableName="sessions")
        return found["TimeToLiveDescription"]

    assert status() == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    answer = switch(sessions, False)
    assert answer == {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "until"}}
    assert status() == {"TimeToLiveStatus": "DISABLED"}


def test_a_switch_cannot_be_thrown_where_it_is(sessions: Engine) -> None:
    def refusal_to_switch(enabled: bool, attribute: str) -> str:
        return refusal_of(
            sessions,
            "UpdateTimeToLive",
            TableName="sessions",
            TimeToLiveSpecification={"Enabled": enabled, "AttributeName": attribute},
        )

    assert refusal_to_switch(True, "until") == "TimeToLive is already enabled"
    assert refusal_to_switch(False, "other") == (
        "TimeToLive is active on a different AttributeName: current AttributeName is until"
    )
    switch(sessions, False)
    assert refusal_to_switch(False, "until") == "TimeToLive is already disabled"


def test_nothing_of_the_list_is_left_behind(sessions: Engine) -> None:
    switch(sessions, False)
    before = physical_tables(sessions)
    switch(sessions, True)
    put(sessions, "a", n(NOW + 10))
    switch(sessions, False)
    sessions.tidy()
    assert physical_tables(sessions) == before


@given(st.one_of(numbers, st.integers(-(10**38), 10**38).map(str)))
def test_a_time_is_a_second_after_1970_or_none(text: str) -> None:
    second = expiry_second({"until": {"N": text}}, "until")
    if second is None:
        assert float(text) < 1 or float(text) > 2**53
    else:
        assert second == int(float(text)) or abs(second - float(text)) < 1
