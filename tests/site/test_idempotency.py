"""Idempotency records: who carries a request out, and when a key is free again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bigtime.engine import Engine
from bigtime.model import setup, transact
from bigtime.site import SITE
from bigtime.site.idempotency import (
    EXPIRES_AFTER,
    HOLD,
    AnsweredAlready,
    KeyReused,
    answer_write,
    claim_request,
    fetch_record,
    record_answer,
    release_key,
)
from bigtime.store import Store
from tests.store.places import START

REQUEST = ("alex@example.com", "key", "fingerprint")


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> object:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(engine: Engine, clock: Clock) -> Store:
    store = Store(engine, clock=clock)  # type: ignore[arg-type]
    store.run(setup(SITE))
    return store


def test_the_first_holds_the_record_and_the_second_waits(store: Store) -> None:
    first, second = (store.run(claim_request(*REQUEST)) for _ in range(2))
    assert (first.is_ours, first.is_first) == (True, True)
    assert (second.is_ours, second.is_first) == (False, False)
    assert second.record == first.record


def test_another_request_under_the_same_key_is_refused(store: Store) -> None:
    store.run(claim_request(*REQUEST))
    with pytest.raises(KeyReused):
        store.run(claim_request(*REQUEST[:2], "another"))


def test_a_dead_attempt_is_taken_over_with_its_seed_and_its_moment(
    store: Store, clock: Clock
) -> None:
    first = store.run(claim_request(*REQUEST))
    clock.now += HOLD
    second = store.run(claim_request(*REQUEST))
    assert (second.is_ours, second.is_first) == (True, False)
    assert second.record.seed == first.record.seed
    assert second.record.begun_at == first.record.begun_at


def test_an_answer_is_given_to_whoever_asks_again(store: Store, clock: Clock) -> None:
    claim = store.run(claim_request(*REQUEST))
    store.run(record_answer(claim.record, 201, "{}"))
    clock.now += 2 * HOLD
    again = store.run(claim_request(*REQUEST))
    assert (again.is_ours, again.record.status, again.record.body) == (False, 201, "{}")


def test_an_answer_in_the_transaction_is_recorded_once(store: Store) -> None:
    claim = store.run(claim_request(*REQUEST))
    store.run(transact(answer_write(claim.record, 201, "{}")))
    with pytest.raises(AnsweredAlready):
        store.run(transact(answer_write(claim.record, 201, "{}")))


def test_a_refused_request_frees_its_key_unless_it_was_taken_over(
    store: Store, clock: Clock
) -> None:
    claim = store.run(claim_request(*REQUEST))
    store.run(release_key(claim.record))
    assert store.run(fetch_record(*REQUEST[:2])) is None
    claim = store.run(claim_request(*REQUEST))
    clock.now += HOLD
    store.run(claim_request(*REQUEST))
    store.run(release_key(claim.record))
    assert store.run(fetch_record(*REQUEST[:2])) is not None


def test_an_expired_record_is_replaced(store: Store, clock: Clock) -> None:
    first = store.run(claim_request(*REQUEST))
    clock.now += EXPIRES_AFTER + timedelta(seconds=1)
    second = store.run(claim_request(*REQUEST[:2], "another"))
    assert second.is_first
    assert second.record.seed != first.record.seed
