"""Rate limits: so many at once, then as many as time gives back."""

from __future__ import annotations

import pytest

from bigtime.web.http import limits as module
from bigtime.web.http.limits import Limit, Limits, TooManyTries


def test_tries_run_out_and_come_back() -> None:
    now = [0.0]
    limits = Limits({"log in": Limit(3, 60)}, clock=lambda: now[0])
    for _ in range(3):
        limits.take("log in", "a")
    with pytest.raises(TooManyTries, match="Try again in 20 seconds") as refused:
        limits.take("log in", "a")
    assert refused.value.seconds == 20
    limits.take("log in", "b")
    now[0] = 20.0
    limits.take("log in", "a")
    with pytest.raises(TooManyTries):
        limits.take("log in", "a")


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.2, "in 1 second."), (1.5, "in 2 seconds."), (3_600, "in 3,600 seconds.")],
)
def test_how_long_to_wait_is_said_in_words_that_fit(seconds: float, says: str) -> None:
    assert str(TooManyTries(seconds)).endswith(says)


def test_refused_tries_cost_nothing() -> None:
    now = [0.0]
    limits = Limits({"like": Limit(1, 10)}, clock=lambda: now[0])
    limits.take("like", "a")
    for _ in range(100):
        with pytest.raises(TooManyTries):
            limits.take("like", "a")
    now[0] = 10.0
    limits.take("like", "a")


def test_a_try_that_was_none_is_given_back() -> None:
    limits = Limits({"missing picture": Limit(1, 10)}, clock=lambda: 0.0)
    limits.give_back("missing picture", "a")
    for _ in range(3):
        limits.take("missing picture", "a")
        limits.give_back("missing picture", "a")
    limits.take("missing picture", "a")
    with pytest.raises(TooManyTries):
        limits.take("missing picture", "a")


def test_those_who_have_all_their_tries_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 10)
    now = [0.0]
    limits = Limits({"like": Limit(1, 10)}, clock=lambda: now[0])
    for number in range(10):
        limits.take("like", f"{number}")
    now[0] = 100.0
    limits.take("like", "one more")
    assert len(limits._buckets["like"]) == 1


def test_of_too_many_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 10)
    limits = Limits({"like": Limit(1, 10)}, clock=lambda: 0.0)
    for number in range(1_000):
        limits.take("like", f"{number}")
        assert len(limits._buckets["like"]) <= 10
        with pytest.raises(TooManyTries):
            limits.take("like", f"{number}")


def test_who_fills_up_one_action_changes_nothing_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 10)
    limits = Limits({"view": Limit(1, 10), "log in": Limit(1, 10)}, clock=lambda: 0.0)
    limits.take("log in", "a")
    for number in range(100):
        limits.take("view", f"{number}")
    with pytest.raises(TooManyTries):
        limits.take("log in", "a")


def test_a_try_may_be_counted_without_an_error() -> None:
    limits = Limits({"view": Limit(2, 10)}, clock=lambda: 0.0)
    assert [limits.count_try("view", "a") for _ in range(4)] == [0.0, 0.0, 5.0, 5.0]
