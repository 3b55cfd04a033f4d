"""The cache: nothing old survives a change, however the fill and the change fall together."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bigtime.web.pages import page_cache
from bigtime.web.pages.page_cache import TaggedCache


def fill_key(cache: TaggedCache[str], key: str, *tags: str) -> bool:
    return cache.put(key, f"value of {key}", tags, begun=cache.begin())


def test_what_was_put_is_found_until_one_of_its_tags_is_dropped() -> None:
    cache: TaggedCache[str] = TaggedCache()
    fill_key(cache, "a", "deal 1", "latest")
    fill_key(cache, "b", "deal 2")
    cache.invalidate(["latest"])
    assert cache.get("a") is None
    assert cache.get("b") == "value of b"
    assert (cache.hits, cache.misses) == (1, 1)


def test_a_fill_that_began_before_a_change_is_not_taken() -> None:
    cache: TaggedCache[str] = TaggedCache()
    begun = cache.begin()
    cache.invalidate(["deal 1"])
    assert not cache.put("a", "old", ["deal 1"], begun=begun)
    assert cache.put("b", "other", ["deal 2"], begun=begun)
    assert cache.put("a", "new", ["deal 1"], begun=cache.begin())
    assert cache.get("a") == "new"


def test_clearing_refuses_every_fill_under_way() -> None:
    cache: TaggedCache[str] = TaggedCache()
    begun = cache.begin()
    cache.clear()
    assert not cache.put("a", "old", ["anything"], begun=begun)


def test_with_seconds_a_value_lives_that_long() -> None:
    now = [0.0]
    cache: TaggedCache[str] = TaggedCache(seconds=1.0, clock=lambda: now[0])
    fill_key(cache, "a", "t")
    now[0] = 0.9
    assert cache.get("a")
    now[0] = 1.0
    assert cache.get("a") is None
    assert len(cache) == 0


def test_the_oldest_makes_room() -> None:
    cache: TaggedCache[str] = TaggedCache(most=2)
    for key in "abc":
        fill_key(cache, key, "t")
    assert [cache.get(key) is not None for key in "abc"] == [False, True, True]


def test_tags_that_were_dropped_long_ago_are_forgotten_safely(monkeypatch: Any) -> None:
    monkeypatch.setattr(page_cache, "MOST_TAGS_REMEMBERED", 3)
    cache: TaggedCache[str] = TaggedCache()
    begun = cache.begin()
    cache.invalidate(["x"])
    for number in range(10):
        cache.invalidate([f"tag {number}"])
    assert not cache.put("a", "old", ["x"], begun=begun)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "end", "change"]), st.sampled_from("ab"), st.sampled_from("xyz")
    ),
    max_size=30,
)


@given(steps=STEPS)
def test_no_reader_sees_what_was_read_before_the_last_change(steps: list[Any]) -> None:
    """Changes are dropped when they happen; reads begin and end at any time around them."""
    cache: TaggedCache[int] = TaggedCache()
    truth = dict.fromkeys("xyz", 0)
    under_way: dict[str, tuple[int, str, int]] = {}
    shows: dict[str, str] = {}
    for action, key, tag in steps:
        if action == "begin":
            under_way[key] = cache.begin(), tag, truth[tag]
        elif action == "change":
            truth[tag] += 1
            cache.invalidate([tag])
        elif key in under_way:
            begun, told, value = under_way.pop(key)
            if cache.put(key, value, [told], begun=begun):
                shows[key] = told
        for each, told in shows.items():
            found = cache.get(each)
            assert found is None or found == truth[told]
