"""Limits counted in the store: they slide, hold over processes, and leave nothing behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import scan_all, setup
from bigtime.site import SITE
from bigtime.site.design import TryCount
from bigtime.site.rate_limits import (
    KNOWN_FOR,
    count_try,
    forget_tries,
    is_network_known,
    remember_network,
)
from bigtime.store import Exchange, Store
from tests.store.places import START

TRIES, SECONDS = 10, 60


class Site:
    """A store with a clock that stands still until it is moved, as several processes have it."""

    def __init__(self, engine: Engine) -> None:
        self.now: datetime = START
        self.exchanges: list[Exchange] = []
        self.store = Store(engine, clock=lambda: self.now, hooks=[self.exchanges.append])
        self.store.run(setup(SITE))

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def take(self, subject: str = "alex@example.com", action: str = "log in") -> float:
        return self.store.run(count_try(action, subject, tries=TRIES, seconds=SECONDS))


@pytest.fixture
def site(engine: Engine) -> Site:
    return Site(engine)


def test_tries_run_out_and_the_wait_is_told_exactly(site: Site) -> None:
    assert [site.take() for _ in range(TRIES)] == [0.0] * TRIES
    wait = site.take()
    assert 0 < wait <= 2 * SECONDS
    site.wait(wait - 0.5)
    assert site.take() > 0
    site.wait(0.5)
    assert site.take() == 0.0


def test_subjects_and_actions_are_counted_apart(site: Site) -> None:
    for _ in range(TRIES):
        site.take()
    assert site.take() > 0
    assert site.take("bo@example.com") == site.take(action="sign up") == 0.0


def test_another_process_and_one_that_starts_again_go_on_counting(engine: Engine) -> None:
    for _ in range(TRIES // 2):
        Site(engine).take()
        Site(engine).take()
    assert Site(engine).take() > 0


def test_a_refused_try_writes_nothing(site: Site) -> None:
    for _ in range(TRIES):
        site.take()
    site.exchanges.clear()
    for _ in range(50):
        assert site.take() > 0
    assert {exchange.request.operation for exchange in site.exchanges} == {"BatchGetItem"}


def test_a_try_is_one_update(site: Site) -> None:
    site.exchanges.clear()
    site.take()
    sent = [exchange.request.operation for exchange in site.exchanges]
    assert sent == ["BatchGetItem", "UpdateItem"]


def test_the_end_of_a_window_gives_no_second_limit(site: Site) -> None:
    site.wait(SECONDS - 1)
    taken = [site.take() for _ in range(TRIES)]
    site.wait(2)
    assert taken == [0.0] * TRIES
    assert site.take() > 0


@given(st.lists(st.floats(0, 40), min_size=1, max_size=60))
def test_no_stretch_of_time_has_many_more_tries_than_the_limit(waits: list[float]) -> None:
    """The window before is weighed as if its tries lay evenly in it; at worst they lay at its
    end. So some stretch may have more than the limit, and none has twice as many."""
    with Engine.memory(housekeeping=False) as engine:
        site = Site(engine)
        allowed: list[datetime] = []
        for wait in waits:
            site.wait(wait / 10)
            allowed += [site.now for _ in range(4) if site.take() == 0.0]
        for begin in allowed:
            end = begin + timedelta(seconds=SECONDS)
            assert sum(begin <= moment < end for moment in allowed) < 2 * TRIES


def test_tries_at_once_are_no_more_than_the_limit(site: Site) -> None:
    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda _: site.take(), range(4 * TRIES)))
    assert sum(wait == 0.0 for wait in waits) <= TRIES
    (counted,) = site.store.run(scan_all(TryCount))
    assert counted.count == TRIES


def test_counts_expire_and_tell_nobody_who_tried(site: Site) -> None:
    site.take()
    (counted,) = site.store.run(scan_all(TryCount))
    assert counted.expires_at - counted.begins_at == timedelta(seconds=2 * SECONDS)
    assert "alex" not in repr(counted)


def test_tries_may_be_forgotten(site: Site) -> None:
    for _ in range(TRIES):
        site.take()
    site.store.run(forget_tries("log in", "alex@example.com", seconds=SECONDS))
    assert site.take() == 0.0


@pytest.mark.parametrize("subject", ["", "x" * 100_000, "a#b", "\ud800", "\0"])
def test_a_subject_is_any_text(site: Site, subject: str) -> None:
    assert site.take(subject) == 0.0


def test_a_network_is_known_for_half_a_year(site: Site) -> None:
    def is_known(login: str, network: str) -> bool:
        return site.store.run(is_network_known(login, network))

    site.store.run(remember_network("alex@example.com", "192.0.2.1"))
    assert is_known("alex@example.com", "192.0.2.1")
    assert not is_known("alex@example.com", "192.0.2.2")
    assert not is_known("bo@example.com", "192.0.2.1")
    site.now += KNOWN_FOR
    assert not is_known("alex@example.com", "192.0.2.1")
