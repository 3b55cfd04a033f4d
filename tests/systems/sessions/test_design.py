"""The design of the session store: as charted, as checked, as stored."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bigtime.advisor import open_findings
from bigtime.model import Scale, load_many
from bigtime.systems.sessions import SYSTEM
from bigtime.systems.sessions.design import SESSION_STORE, hash_token
from bigtime.systems.sessions.session import create_session
from tests.store.places import Place
from tests.systems.cart.charted import expected_rows, generated_rows
from tests.systems.cart.contents import check_sound, contents


def test_the_charts_are_the_contract_s() -> None:
    assert generated_rows(SYSTEM) == expected_rows(Path(__file__).parent)


def test_the_index_is_keys_only_and_the_table_expires() -> None:
    (index,) = SESSION_STORE.indexes
    assert (index.name, index.projection, SESSION_STORE.ttl) == ("UserIndex", "KEYS_ONLY", "TTL")


def test_nothing_about_it_is_open() -> None:
    assert open_findings(SYSTEM) == []


def test_a_session_is_stored_with_both_its_times(alone: Place) -> None:
    token = hash_token("secret")
    alone.run(create_session(token, "Dave"))
    assert contents(alone, SYSTEM)["SessionStore"] == [
        {
            "SessionToken": {"S": token},
            "Username": {"S": "dave"},
            "CreatedAt": {"S": "2026-11-15T12:00:00.000000Z"},
            "ExpiresAt": {"S": "2026-11-22T12:00:00Z"},
            "TTL": {"N": "1795348800"},
        }
    ]


def test_demo_sessions_are_as_many_as_told_and_the_same_each_time(alone: Place) -> None:
    demo = SYSTEM.demo
    assert demo is not None
    made = list(demo.entities(Scale.SMALL, Random(7)))
    assert made == list(demo.entities(Scale.SMALL, Random(7)))
    assert len(made) == demo.count(Scale.SMALL)
    alone.run(load_many(made))
    assert len(contents(alone, SYSTEM)["SessionStore"]) == len(made)
    check_sound(alone, SYSTEM)
