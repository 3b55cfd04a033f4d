"""The same port over OpenSearch's documented HTTP API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from bigtime.model import CursorError, Position, delete
from bigtime.projections.search import (
    FacetCount,
    Follower,
    OpenSearchBackend,
    Query,
    Range,
    SearchUnavailable,
    open_backend,
    rebuild,
)
from bigtime.projections.search.port import IndexFault, NoIndex
from bigtime.store import Store
from bigtime.systems import deals
from tests.projections.search.conftest import PostDeal, keys
from tests.projections.search.stand_in import Cluster, cluster_in_thread

CatchUp = Callable[[], None]


@pytest.fixture
def cluster_address() -> Iterator[tuple[str, Cluster]]:
    with cluster_in_thread() as served:
        yield served


@pytest.fixture
def cluster(cluster_address: tuple[str, Cluster]) -> Cluster:
    return cluster_address[1]


@pytest.fixture
def backend(cluster_address: tuple[str, Cluster]) -> OpenSearchBackend:
    backend = open_backend(cluster_address[0], deals.DEAL_SEARCH)
    assert isinstance(backend, OpenSearchBackend)
    return backend


def test_what_is_written_changed_and_deleted_is_followed(
    store: Store, post: PostDeal, catch_up: CatchUp, backend: OpenSearchBackend
) -> None:
    before = post("A lamp")
    catch_up()
    lamp = post("Another lamp")
    catch_up()
    reader = backend.reader()
    assert {*keys(reader.find(Query("lamps")))} == {before.deal_id, lamp.deal_id}
    store.run(deals.update_deal(lamp.deal_id, title="A torch"))
    store.run(delete(before.own_key()))
    catch_up()
    assert reader.find(Query("lamp")).total == 0
    assert keys(reader.find(Query("torch"))) == [lamp.deal_id]
    assert reader.suggest("tor") == ["torch"]


def test_typos_highlights_counts_filters_and_ranges(
    post: PostDeal, catch_up: CatchUp, backend: OpenSearchBackend
) -> None:
    post("Noise cancelling headphones <x>", "50", category_name="Home")
    post("Wireless headphones", "20", category_name="Toys", brand_name="Apple")
    catch_up()
    reader = backend.reader()
    page = reader.find(Query("headfones"))
    assert page.total == 2 and page.corrections == {"headfones": "headphones"}
    exact = reader.find(Query("headphones", filters={"category": ("HOME",)}))
    assert exact.hits[0].highlights["title"] == (
        "Noise cancelling <mark>headphones</mark> &lt;x&gt;"
    )
    assert exact.total == 1
    assert exact.facets["category"] == [FacetCount("HOME", 1), FacetCount("TOYS", 1)]
    assert exact.facets["brand"] == [FacetCount("SONY", 1)]
    cheap = Query("headphones", ranges={"price": Range(None, Decimal(20))})
    assert reader.find(cheap).total == 1


@pytest.mark.parametrize("sort", [None, "price", "-price", "-created_at", "-discount"])
def test_pages_join_up_to_the_whole(
    sort: str | None, post: PostDeal, catch_up: CatchUp, backend: OpenSearchBackend
) -> None:
    posted = {post("Lamp", str(number % 3 + 1)).deal_id for number in range(20)}
    catch_up()
    reader, found = backend.reader(), []
    after: Position | None = None
    while True:
        page = reader.find(Query("lamp", sort=sort, limit=7, after=after))
        found += keys(page)
        after = page.position
        if after is None:
            break
    assert len(found) == 20 and {*found} == posted
    first = reader.find(Query("lamp", sort=sort, limit=7))
    with pytest.raises(CursorError):
        reader.find(Query("torch", sort=sort, limit=7, after=first.position))


def test_a_refused_write_is_repeated_and_nothing_is_skipped(
    post: PostDeal,
    catch_up: CatchUp,
    follower: Follower,
    cluster: Cluster,
    backend: OpenSearchBackend,
) -> None:
    catch_up()
    lamp = post("A lamp")
    cluster.refuse_bulk = 100
    with pytest.raises(IndexFault):
        catch_up()
    follower.close()
    cluster.refuse_bulk = 0
    catch_up()
    assert keys(backend.reader().find(Query("lamp"))) == [lamp.deal_id]


def test_a_rebuild_moves_the_alias_and_removes_the_index_before(
    store: Store, post: PostDeal, catch_up: CatchUp, cluster: Cluster, backend: OpenSearchBackend
) -> None:
    post("A lamp")
    catch_up()
    before = backend.current()
    reader, seen = backend.reader(), []
    rebuild(store, backend, note=lambda _: seen.append(reader.status()))
    assert seen[-1].state == "ready" and seen[-1].building is not None
    assert backend.current() not in (None, before) and before not in cluster.documents
    assert reader.find(Query("lamp")).total == 1
    status = reader.status()
    assert (status.state, status.documents, status.building) == ("ready", 1, None)


def test_without_an_index_or_a_cluster_search_is_unavailable(
    backend: OpenSearchBackend,
) -> None:
    assert backend.reader().status().state == "missing"
    with pytest.raises(SearchUnavailable):
        backend.reader().find(Query("lamp"))
    with pytest.raises(NoIndex):
        backend.open_writer()
    away = OpenSearchBackend("http://127.0.0.1:9", deals.DEAL_SEARCH)
    with pytest.raises(SearchUnavailable):
        away.reader().suggest("lamp")
    assert away.reader().status().state == "missing"
    with pytest.raises(IndexFault):
        away.open_writer()


def test_hostile_text_is_only_words(
    post: PostDeal, catch_up: CatchUp, backend: OpenSearchBackend
) -> None:
    post("A lamp")
    catch_up()
    reader = backend.reader()
    for text in ("(" * 10_000, '{"match_all": {}}', "*", "lamp* OR torch", "a" * 10_000):
        assert reader.find(Query(text)).total in (0, 1)
        assert isinstance(reader.suggest(text), list)
