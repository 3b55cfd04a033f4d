"""Which shards may be read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bigtime.store.consumption import Shard, readable


def shard(id: str, *parents: str) -> Shard:
    return Shard(id, "arn", frozenset(parents), closed=False)


def test_a_child_waits_for_its_parent() -> None:
    parent, child = shard("a"), shard("b", "a")
    assert readable([parent, child], done=()) == [parent]
    assert readable([parent, child], done={"a"}) == [child]
    assert readable([parent, child], done={"a", "b"}) == []


def test_a_parent_that_is_gone_is_not_waited_for() -> None:
    orphan = shard("b", "a")
    assert readable([orphan], done=()) == [orphan]


@st.composite
def families(draw: st.DrawFn) -> list[Shard]:
    """Shards in any order, each with parents among those made before it, or long gone."""
    shards: list[Shard] = []
    for number in range(draw(st.integers(1, 12))):
        known = [each.id for each in shards] + ["gone"]
        parents = draw(st.lists(st.sampled_from(known), max_size=2, unique=True))
        shards.append(shard(f"s{number}", *parents))
    return draw(st.permutations(shards))


@given(families())
def test_every_shard_is_read_once_and_after_its_parents(shards: list[Shard]) -> None:
    done: list[str] = []
    while ready := readable(shards, done):
        for each in ready:
            assert all(parent in done or parent == "gone" for parent in each.parents)
        done += [each.id for each in ready]
    assert sorted(done) == sorted(shard.id for shard in shards)
