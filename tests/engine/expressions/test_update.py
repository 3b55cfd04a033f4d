from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.expressions.parameters import read_expressions
from bigtime.wire import AttributeValue, Item, ValidationException
from tests.engine.expressions.reading import apply_update, attribute_value, item, map_value, read
from tests.strategies import items, names, values

numbers = st.integers(-(10**37), 10**37)  # and their sums: DynamoDB keeps 38 digits

ITEM = item(
    n=5,
    s="text",
    tags={"SS": ["a", "b"]},
    seq=[0, 1, 2, 3],
    doc=map_value(n=1, seq=[map_value(x=1), map_value(x=2)]),
)


@pytest.mark.parametrize(
    ("text", "given_values", "changes"),
    [
        ("SET n = :v", {"v": "fresh"}, {"n": "fresh"}),
        ("SET fresh = :v", {"v": 1}, {"fresh": 1}),
        ("SET n = n + :v", {"v": {"N": "0.5"}}, {"n": {"N": "5.5"}}),
        ("SET n = :v - n", {"v": 1}, {"n": -4}),
        ("SET fresh = n + n", {}, {"fresh": 10}),
        ("SET fresh = (n - :v)", {"v": 5}, {"fresh": 0}),
        ("SET n = s, s = n", {}, {"n": "text", "s": 5}),
        ("SET n = if_not_exists(n, :v)", {"v": 0}, {}),
        ("SET fresh = if_not_exists(fresh, :v) + :w", {"v": 0, "w": 3}, {"fresh": 3}),
        ("SET fresh = if_not_exists(gone, s)", {}, {"fresh": "text"}),
        ("SET n = if_not_exists(n, gone)", {}, {}),
        ("SET seq = list_append(seq, :v)", {"v": [9]}, {"seq": [0, 1, 2, 3, 9]}),
        ("SET seq = list_append(:v, seq)", {"v": [9]}, {"seq": [9, 0, 1, 2, 3]}),
        (
            "SET fresh = list_append(if_not_exists(fresh, :e), :v)",
            {"e": [], "v": [1]},
            {"fresh": [1]},
        ),
        ("SET seq[1] = :v", {"v": "x"}, {"seq": [0, "x", 2, 3]}),
        ("SET seq[9] = :v", {"v": "x"}, {"seq": [0, 1, 2, 3, "x"]}),
        (
            "SET seq[9] = :v, seq[7] = :w, seq[0] = :v",
            {"v": "x", "w": "y"},
            {"seq": ["x", 1, 2, 3, "y", "x"]},
        ),
        ("REMOVE seq[1], seq[3]", {}, {"seq": [0, 2]}),
        ("REMOVE seq[9]", {}, {}),
        ("REMOVE seq[0] SET seq[1] = :v", {"v": "x"}, {"seq": ["x", 2, 3]}),
        ("REMOVE seq[0] SET seq[4] = :v", {"v": "x"}, {"seq": [1, 2, 3, "x"]}),
        ("SET seq[0] = seq[3], seq[3] = seq[0]", {}, {"seq": [3, 1, 2, 0]}),
        ("ADD seq[2] :v", {"v": 5}, {"seq": [0, 1, 7, 3]}),
        ("ADD seq[7] :v", {"v": 5}, {"seq": [0, 1, 2, 3, 5]}),
        ("REMOVE gone", {}, {}),
        ("REMOVE doc.gone", {}, {}),
        ("ADD n :v", {"v": -7}, {"n": -2}),
        ("ADD fresh :v", {"v": 3}, {"fresh": 3}),
        ("ADD tags :v", {"v": {"SS": ["b", "c"]}}, {"tags": {"SS": ["a", "b", "c"]}}),
        ("ADD fresh :v", {"v": {"SS": ["c"]}}, {"fresh": {"SS": ["c"]}}),
        ("DELETE tags :v", {"v": {"SS": ["b", "z"]}}, {"tags": {"SS": ["a"]}}),
        ("DELETE gone :v", {"v": {"SS": ["b"]}}, {}),
        (
            "SET doc.n = doc.n + :v, doc.fresh = n",
            {"v": 1},
            {"doc": map_value(n=2, fresh=5, seq=[map_value(x=1), map_value(x=2)])},
        ),
        (
            "SET doc.seq[1].y = :v REMOVE doc.seq[0].x ADD doc.n :v",
            {"v": 1},
            {"doc": map_value(n=2, seq=[map_value(), map_value(x=2, y=1)])},
        ),
    ],
)
def test_what_an_update_makes_of_an_item(
    text: str, given_values: dict[str, Any], changes: dict[str, Any]
) -> None:
    before = deepcopy(ITEM)
    assert apply_update(text, ITEM, **given_values) == {**ITEM, **item(**changes)}
    assert before == ITEM


@pytest.mark.parametrize(
    ("text", "given_values", "gone"),
    [
        ("REMOVE s, n", {}, {"s", "n"}),
        ("DELETE tags :v", {"v": {"SS": ["b", "a"]}}, {"tags"}),
        ("SET n = s REMOVE s", {}, {"s"}),
    ],
)
def test_what_an_update_takes_away(text: str, given_values: dict[str, Any], gone: set[str]) -> None:
    assert apply_update(text, ITEM, **given_values).keys() == ITEM.keys() - gone


MISSING = "The provided expression refers to an attribute that does not exist in the item"
INVALID_PATH = "The document path provided in the update expression is invalid for update"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


@pytest.mark.parametrize(
    ("text", "given_values", "problem"),
    [
        ("SET fresh = gone", {}, MISSING),
        ("SET fresh = gone + :v", {"v": 1}, MISSING),
        ("SET fresh = list_append(gone, :v)", {"v": []}, MISSING),
        ("SET fresh = if_not_exists(gone, gone2)", {}, MISSING),
        ("SET fresh = seq[9]", {}, MISSING),
        ("SET gone.a = gone", {}, MISSING),
        ("SET gone.a = :v", {"v": 1}, INVALID_PATH),
        ("SET gone[0] = :v", {"v": 1}, INVALID_PATH),
        ("SET n.a = :v", {"v": 1}, INVALID_PATH),
        ("SET seq.a = :v", {"v": 1}, INVALID_PATH),
        ("SET doc[0] = :v", {"v": 1}, INVALID_PATH),
        ("SET seq[9].a = :v", {"v": 1}, INVALID_PATH),
        ("SET doc.gone.a = :v", {"v": 1}, INVALID_PATH),
        ("REMOVE gone.a", {}, INVALID_PATH),
        ("ADD gone.a :v", {"v": 1}, INVALID_PATH),
        ("SET fresh = s + :v", {"v": 1}, WRONG_TYPE),
        ("SET fresh = n - seq", {}, WRONG_TYPE),
        ("SET fresh = list_append(seq, n)", {}, WRONG_TYPE),
        ("ADD s :v", {"v": 1}, WRONG_TYPE),
        ("ADD n :v", {"v": {"SS": ["a"]}}, WRONG_TYPE),
        ("ADD tags :v", {"v": {"NS": ["1"]}}, WRONG_TYPE),
        ("DELETE tags :v", {"v": {"NS": ["1"]}}, WRONG_TYPE),
        ("DELETE n :v", {"v": {"NS": ["1"]}}, WRONG_TYPE),
    ],
)
def test_what_an_item_refuses(text: str, given_values: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationException) as caught:
        apply_update(text, ITEM, **given_values)
    assert caught.value.message == problem


def test_a_sum_out_of_range_is_an_error() -> None:
    with pytest.raises(ValidationException, match="Number overflow"):
        apply_update("SET n = n + :v", item(n={"N": "9" * 38}), v={"N": "1e-5"})


def test_what_no_path_touches_is_shared() -> None:
    subject = item(a=map_value(x=[1], y=[2]), b=[3])
    after = apply_update("SET a.x[0] = :v", subject, v=9)
    assert after["a"]["M"]["y"] is subject["a"]["M"]["y"]
    assert after["b"] is subject["b"]
    assert subject == item(a=map_value(x=[1], y=[2]), b=[3])


def test_an_update_knows_what_it_touches() -> None:
    update = read(
        "UpdateExpression", "SET n = :v, doc.seq[1].x = :v REMOVE seq[3], seq[0], gone", v=1
    ).update
    assert update is not None
    assert update.attributes == {"n", "doc", "seq", "gone"}
    assert update.nested_attributes == {"doc", "seq"}
    assert update.touched(ITEM) == item(n=5, doc=map_value(seq=[map_value(x=2)]), seq=[0, 3])


@given(items, names, values)
def test_set_then_get_and_nothing_else_changes(
    subject: Item, name: str, value: AttributeValue
) -> None:
    after = apply_update("SET #n = :v", subject, {"#n": name}, v=value)
    assert after == {**subject, name: value}


@given(items, names, values)
def test_remove_undoes_set(subject: Item, name: str, value: AttributeValue) -> None:
    without = {other: kept for other, kept in subject.items() if other != name}
    after = apply_update("SET #n = :v", without, {"#n": name}, v=value)
    assert apply_update("REMOVE #n", after, {"#n": name}) == without


@given(st.lists(numbers, max_size=6), st.sets(st.integers(0, 8), min_size=1, max_size=6))
def test_removed_places_are_those_of_the_old_list(elements: list[int], places: set[int]) -> None:
    text = "REMOVE " + ", ".join(f"l[{place}]" for place in places)
    rest = [element for place, element in enumerate(elements) if place not in places]
    assert apply_update(text, item(l=elements)) == item(l=rest)


@given(
    st.lists(numbers, max_size=4),
    st.dictionaries(st.integers(0, 9), numbers, min_size=1, max_size=5),
)
def test_places_beyond_the_end_append_in_order(elements: list[int], fresh: dict[int, int]) -> None:
    text = "SET " + ", ".join(f"l[{place}] = :v{place}" for place in fresh)
    expected = [fresh.get(place, element) for place, element in enumerate(elements)]
    expected += [fresh[place] for place in sorted(fresh) if place >= len(elements)]
    given_values = {f"v{place}": value for place, value in fresh.items()}
    assert apply_update(text, item(l=elements), **given_values) == item(l=expected)


@given(st.sets(st.text(max_size=3), min_size=1), st.sets(st.text(max_size=3), min_size=1))
def test_adding_and_deleting_are_set_operations(old: set[str], more: set[str]) -> None:
    subject = item(t={"SS": sorted(old)})
    added = apply_update("ADD t :v", subject, v={"SS": sorted(more)})
    assert set(added["t"]["SS"]) == old | more
    assert len(added["t"]["SS"]) == len(old | more)
    left = apply_update("DELETE t :v", added, v={"SS": sorted(more)})
    assert set(left.get("t", {"SS": []})["SS"]) == old - more


@given(numbers, numbers)
def test_add_is_plus_and_minus_undoes_it(start: int, step: int) -> None:
    added = apply_update("ADD n :v", item(n=start), v=step)
    assert added == apply_update("SET n = n + :v", item(n=start), v=step) == item(n=start + step)
    assert apply_update("SET n = n - :v", added, v=step) == item(n=start)


@given(items.filter(bool), st.data())
def test_the_order_of_actions_does_not_matter(subject: Item, data: st.DataObject) -> None:
    first = data.draw(st.sampled_from(sorted(subject)))
    aliases = {"#a": first, "#b": f"{first}!"}
    one = apply_update("SET #b = #a REMOVE #a", subject, aliases)
    two = apply_update("REMOVE #a SET #b = #a", subject, aliases)
    assert one == two
    assert one[f"{first}!"] == subject[first]


def test_an_update_bound_once_may_be_applied_often() -> None:
    update = read_expressions(
        {"UpdateExpression": "ADD n :v", "ExpressionAttributeValues": {":v": attribute_value(1)}}
    ).update
    assert update is not None
    assert [update.apply(item(n=n)) for n in range(3)] == [item(n=n + 1) for n in range(3)]
