"""The checker of transactions: it finds what no order explains."""

from __future__ import annotations

from math import inf

from proofs.serializability import Lists, Transaction, faults


def append(
    name: str, value: int, *lists: str, called: float = 0, returned: float = inf
) -> Transaction:
    return Transaction(name, called, returned, value, lists)


def read(name: str, saw: Lists, called: float = 0, returned: float = inf) -> Transaction:
    return Transaction(name, called, returned, saw=saw)


def test_appends_and_reads_in_turn_are_fine() -> None:
    history = [
        append("first", 1, "a", "b", called=1, returned=2),
        read("between", {"a": [1], "b": [1]}, 3, 4),
        append("second", 2, "a", called=5, returned=6),
        read("last", {"a": [1, 2], "b": [1]}, 7, 8),
    ]
    assert faults(history, {"a": [1, 2], "b": [1]}) == []


def test_a_lost_append_is_found() -> None:
    assert faults([append("first", 1, "a")], {})


def test_an_append_applied_twice_is_found() -> None:
    assert faults([append("first", 1, "a")], {"a": [1, 1]})


def test_a_refused_append_that_shows_is_found() -> None:
    assert faults([], {"a": [1]})


def test_half_a_transaction_is_found() -> None:
    assert faults([append("first", 1, "a", "b")], {"a": [1], "b": []})


def test_a_read_of_what_never_was_is_found() -> None:
    history = [append("first", 1, "a"), append("second", 2, "a"), read("odd", {"a": [2]})]
    assert faults(history, {"a": [1, 2]})


def test_a_read_of_half_a_transaction_is_found() -> None:
    history = [append("first", 1, "a", "b"), read("torn", {"a": [1], "b": []})]
    assert faults(history, {"a": [1], "b": [1]})


def test_lists_that_disagree_about_the_order_are_found() -> None:
    history = [append("first", 1, "a", "b"), append("second", 2, "a", "b")]
    assert faults(history, {"a": [1, 2], "b": [2, 1]})


def test_two_readers_who_see_two_writers_in_two_orders_are_found() -> None:
    history = [
        append("first", 1, "a"),
        append("second", 2, "b"),
        read("one", {"a": [1], "b": []}),
        read("other", {"a": [], "b": [2]}),
    ]
    assert faults(history, {"a": [1], "b": [2]})


def test_a_stale_read_is_found_by_the_clock() -> None:
    written = append("first", 1, "a", called=1, returned=2)
    assert faults([written, read("beside", {"a": []}, called=1.5, returned=3)], {"a": [1]}) == []
    assert faults([written, read("stale", {"a": []}, called=3, returned=4)], {"a": [1]})
