"""Laws of the item cache: it changes no answer, keeps within its room, and saves reads."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import Entity, Keys, System, Table, get, put, setup
from bigtime.store import CachedTransport, ItemCache, Store, open_store
from bigtime.wire import Request, Response
from tests.store.caching import item, key
from tests.store.places import create

PKS = st.sampled_from("abcd")
READS = st.one_of(
    st.builds(lambda pk: ("GetItem", {"TableName": "Things", "Key": key(pk)}), PKS),
    st.builds(
        lambda pks: (
            "BatchGetItem",
            {"RequestItems": {"Things": {"Keys": [key(pk) for pk in sorted(pks)]}}},
        ),
        st.sets(PKS, min_size=1),
    ),
    st.builds(lambda limit: ("Scan", {"TableName": "Things", "Limit": limit}), st.integers(1, 5)),
)
WRITES = st.one_of(
    st.builds(
        lambda pk, n: ("PutItem", {"TableName": "Things", "Item": item(pk, n)}),
        PKS,
        st.integers(0, 9),
    ),
    st.builds(lambda pk: ("DeleteItem", {"TableName": "Things", "Key": key(pk)}), PKS),
    st.builds(
        lambda pks: (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Delete": {"TableName": "Things", "Key": key(pk)}} for pk in sorted(pks)
                ]
            },
        ),
        st.sets(PKS, min_size=1),
    ),
)


def plain(response: Response) -> Any:
    """A batch answers in no order."""
    if "Responses" in response:
        return sorted(map(repr, response["Responses"]["Things"])), response["UnprocessedKeys"]
    return response


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(READS, WRITES), max_size=40), st.integers(0, 5), st.integers(0, 8))
def test_whoever_writes_only_through_the_cache_cannot_tell_that_it_is_there(
    asked: list[tuple[str, Any]], items: int, paged_items: int
) -> None:
    with Engine.memory(housekeeping=False) as engine:
        Store(engine).run(create())
        cached = CachedTransport(engine, ItemCache(items=items, paged_items=paged_items))
        for operation, params in asked:
            request = Request(operation, params)
            if operation in ("GetItem", "BatchGetItem", "Scan"):
                assert plain(cached(request)) == plain(engine(request))
            else:
                cached(request)


class Reads:
    """A table that has every item, and counts how often it is read."""

    def __init__(self, **settings: Any) -> None:
        self.count = 0
        self.cached = CachedTransport(self, ItemCache(**settings))

    def __call__(self, request: Request) -> Response:
        self.count += 1
        return {"Item": request.params["Key"]}

    def get(self, pk: str) -> None:
        asked = Request("GetItem", {"TableName": "Things", "Key": key(pk)})
        assert self.cached(asked) == {"Item": key(pk)}

    def page(self, number: int, size: int) -> None:
        params = {"TableName": "Things", "Limit": size, "Segment": number}
        self.cached(Request("Scan", {**params, "Key": {"Items": [{}] * size}}))


@given(st.integers(0, 20), st.lists(st.integers(0, 40), max_size=200))
def test_never_more_is_kept_than_there_is_room_for(room: int, asked: list[int]) -> None:
    reads = Reads(items=room)
    for number in asked:
        reads.get(f"{number}")
    reads.count = 0
    for number in range(41):
        reads.get(f"{number}")
    assert reads.count >= 41 - room


def test_what_is_read_again_and_again_survives_one_who_reads_everything_once() -> None:
    reads = Reads(items=100)
    hot = [f"hot {number}" for number in range(20)]
    for pk in hot * 2:
        reads.get(pk)
    for number in range(10_000):
        reads.get(f"{number}")
    reads.count = 0
    for pk in hot:
        reads.get(pk)
    assert reads.count == 0


def test_what_is_no_longer_read_makes_room_again() -> None:
    reads = Reads(items=100)
    random = Random(1)
    for era in ("old", "new"):
        for _ in range(4_000):
            reads.get(f"{era} {random.randrange(80)}")
    reads.count = 0
    for number in range(80):
        reads.get(f"new {number}")
    assert reads.count == 0


def test_the_room_of_pages_is_counted_in_items() -> None:
    class Pages(Reads):
        def __call__(self, request: Request) -> Response:
            self.count += 1
            return {"Items": [{}] * request.params["Limit"]}

    reads = Pages(paged_items=100)
    for number in range(10):
        reads.page(number, 25)
    reads.page(99, 1_000)
    reads.count = 0
    for number in range(10):
        reads.page(number, 25)
    reads.page(99, 1_000)
    assert 7 <= reads.count <= 11


def zipf(count: int, s: float, random: Random) -> Any:
    """Draws 0 to count - 1, the k-th as often as 1 / k^s says."""
    bounds = list(accumulate(1 / rank**s for rank in range(1, count + 1)))
    while True:
        yield bisect(bounds, random.random() * bounds[-1])


def test_a_fifth_of_the_deals_spares_the_store_85_of_100_reads() -> None:
    """10,000 deals that are read by Zipf's law with s = 1.1, 150,000 times, and room for 2,000."""
    reads = Reads(items=2_000)
    drawn = zipf(10_000, 1.1, Random(1))
    for _ in range(150_000):
        reads.get(f"deal-{next(drawn)}")
    statistics = reads.cached.middleware.statistics
    assert statistics.misses == reads.count
    assert reads.count / 150_000 <= 0.15


class Thing(Entity, table=Table("Things", "pk")):
    keys = Keys(main="{name}")
    name: str
    tags: list[str] = []
    notes: dict[str, Any] = {}


def test_an_entity_from_the_cache_is_its_readers_own() -> None:
    with open_store("memory:", cache=ItemCache()) as store:
        store.run(setup(System("things", (Thing.layout.table,))))
        store.run(put(Thing(name="a", tags=["x"], notes={"deep": {"list": [1]}})))
        for _ in range(2):
            seen = store.run(get(Thing.key("a")))
            assert seen == Thing(name="a", tags=["x"], notes={"deep": {"list": [1]}})
            seen.tags.append("y")
            seen.notes["deep"]["list"].append(2)
