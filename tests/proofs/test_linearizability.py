"""The checker of histories: it accepts what could have happened, and nothing else."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from proofs.linearizability import Operation, Value, is_linearizable, step


def put(called: int, returned: float, value: int) -> Operation:
    return Operation("put", called, returned, value)


def get(called: int, returned: float, value: Value) -> Operation:
    return Operation("get", called, returned, result=value)


def swap(called: int, returned: float, expected: Value, value: int, done: bool) -> Operation:
    return Operation("cas", called, returned, value, expected, done)


def add(called: int, returned: float, amount: int, total: int) -> Operation:
    return Operation("add", called, returned, amount, result=total)


def test_nothing_happened() -> None:
    assert is_linearizable([])


def test_a_read_sees_the_write_before_it() -> None:
    assert is_linearizable([put(1, 2, 7), get(3, 4, 7)])
    assert not is_linearizable([put(1, 2, 7), get(3, 4, None)])


def test_a_read_beside_a_write_may_see_it_or_not() -> None:
    assert is_linearizable([put(1, 4, 7), get(2, 3, 7)])
    assert is_linearizable([put(1, 4, 7), get(2, 3, None)])


def test_reads_do_not_go_back_in_time() -> None:
    assert not is_linearizable([put(1, 6, 7), get(2, 3, 7), get(4, 5, None)])


def test_one_value_is_swapped_out_once() -> None:
    first = put(1, 2, 7)
    assert is_linearizable([first, swap(3, 6, 7, 8, True), swap(4, 5, 7, 9, False)])
    assert not is_linearizable([first, swap(3, 6, 7, 8, True), swap(4, 5, 7, 9, True)])


def test_every_addition_counts_once() -> None:
    assert is_linearizable([add(1, 4, 1, 2), add(2, 3, 1, 1), get(5, 6, 2)])
    assert not is_linearizable([add(1, 4, 1, 2), get(5, 6, 2)])


VALUES = st.integers(0, 3)
RESULTS = {
    "put": st.none(),
    "get": st.none() | VALUES,
    "cas": st.booleans(),
    "add": st.integers(0, 6),
}


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    kind = draw(st.sampled_from(["put", "get", "cas", "add"]))
    called = draw(st.integers(0, 20))
    returned = called + draw(st.integers(1, 10))
    expected = draw(st.none() | VALUES)
    result = draw(RESULTS[kind])
    return Operation(kind, called, returned, draw(VALUES), expected, result)  # type: ignore[arg-type]


@given(st.lists(operations(), max_size=5))
def test_it_agrees_with_trying_every_order(history: list[Operation]) -> None:
    assert is_linearizable(history) == any(map(explains, permutations(history)))


def explains(order: tuple[Operation, ...]) -> bool:
    value: Value = None
    for place, each in enumerate(order):
        if any(later.returned < each.called for later in order[place:]):
            return False
        fits, value = step(each, value)
        if not fits:
            return False
    return True
