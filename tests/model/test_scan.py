"""Scans: all of an entity, in segments, page by page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.delete import delete
from bigtime.model.operations.page import CursorError, Page, Position
from bigtime.model.operations.put import put
from bigtime.model.operations.scan import each_page, scan, scan_all
from bigtime.model.schema.condition import attr
from bigtime.store import Store
from bigtime.wire.requests import Steps
from tests.model.churn import Churn
from tests.model.designs import (
    BIG_TIME_DEALS,
    CART,
    NOON,
    PLACES,
    Brand,
    Line,
    Marker,
    Message,
    Shop,
    Status,
    User,
    UserWatch,
    fill,
    ksuid,
    open_tables,
    requests,
)


@pytest.fixture
def store(engine: Engine) -> Store:
    store = open_tables(engine, BIG_TIME_DEALS)
    fill(store, [User(username=f"user{n}") for n in range(20)])
    fill(store, [Brand(brand=f"B{n}", like_count=n) for n in range(10)])
    return store


def names(users: list[User]) -> list[str]:
    return sorted(user.username for user in users)


EVERYONE = sorted(f"user{n}" for n in range(20))


def test_a_scan_finds_its_entity_only(store: Store) -> None:
    assert names(store.run(scan_all(User))) == EVERYONE
    assert len(store.run(scan_all(Brand))) == 10


def test_an_index_that_holds_one_entity_is_scanned_for_it_alone(store: Store) -> None:
    page = store.run(scan(User, index="UserIndex", limit=20))
    assert names(page.items) == EVERYONE
    (request,) = requests(store)
    assert request.params["IndexName"] == "UserIndex"


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_segments_join_to_the_whole(store: Store, segments: int) -> None:
    assert names(store.run(scan_all(User, segments=segments, limit=3))) == EVERYONE
    if segments > 1:
        seen = {request.params["Segment"] for request in requests(store)}
        assert seen == set(range(segments))


def test_each_page_is_handed_to_steps(store: Store) -> None:
    sent: list[str] = []

    def tell(page: Page[User]) -> Steps[None]:
        for user in page:
            sent.append(user.username)
            message = Message(username=user.username, message_id=ksuid(NOON, 1), subject="hot")
            yield from put(message)

    assert store.run(each_page(User, tell, index="UserIndex", segments=3, limit=4)) == 20
    assert sorted(sent) == EVERYONE
    assert len(store.run(scan_all(Message))) == 20


def test_a_filter(store: Store) -> None:
    found = store.run(scan_all(Brand, filter=attr("like_count") >= 7))
    assert sorted(brand.like_count for brand in found) == [7, 8, 9]


def test_a_table_without_types_is_told_by_its_keys(engine: Engine) -> None:
    store = open_tables(engine, CART)
    line = Line(account_id="a", status=Status.SAVED, entered_at=NOON, sku="x")
    marker = Marker(account_id="a", item="x", line="-")
    fill(store, [line, marker])
    assert store.run(scan_all(Line)) == [line]
    assert store.run(scan_all(Marker)) == [marker]


def test_what_was_deleted_softly_is_not_found_unless_asked_for(engine: Engine) -> None:
    store = open_tables(engine, PLACES)
    open_, closed = (
        Shop(country="US", state="NE", city="Omaha", zip_code=str(n), closed_at=at)
        for n, at in enumerate([None, NOON])
    )
    fill(store, [open_, closed])
    assert store.run(scan_all(Shop)) == [open_]
    assert len(store.run(scan_all(Shop, deleted=True))) == 2


def test_a_position_belongs_to_its_segment(store: Store) -> None:
    position = store.run(scan(User, index="UserIndex", limit=1, segment=0, segments=2)).position
    with pytest.raises(CursorError):
        store.run(scan(User, index="UserIndex", limit=1, segment=1, segments=2, after=position))
    with pytest.raises(CursorError):
        store.run(scan(User, limit=1, after=position))


@pytest.mark.parametrize(("segment", "segments"), [(0, 0), (2, 2), (-1, 3), (0, 1_000_001)])
def test_segments_that_cannot_be_are_refused(segment: int, segments: int) -> None:
    with pytest.raises(DesignError, match="segments, counted from 0"):
        scan(User, segment=segment, segments=segments)


def test_an_index_that_projects_too_little_is_refused() -> None:
    with pytest.raises(DesignError, match="does not project all"):
        scan(UserWatch, index="WatchesByBrand")


@given(st.integers(1, 9), st.integers(0, 30))
def test_pages_of_any_size_join_to_the_whole(size: int, count: int) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        fill(store, [User(username=str(n)) for n in range(count)])
        fill(store, [Brand(brand=str(n)) for n in range(5)])
        seen: list[User] = []
        position: Position | None = None
        while True:
            page = store.run(scan(User, limit=size, after=position))
            assert len(page) == size or page.position is None
            seen += page.items
            position = page.position
            if position is None:
                break
    assert names(seen) == sorted(str(n) for n in range(count))


users = st.integers(0, 25)
changes = st.lists(st.tuples(st.booleans(), users), max_size=5)


@given(
    st.sets(users),
    st.lists(st.tuples(st.integers(1, 6), changes), min_size=1, max_size=8),
    st.sampled_from([None, "UserIndex"]),
    st.integers(1, 3),
)
def test_pages_join_to_the_whole_while_items_come_and_go(
    there: set[int],
    pages: list[tuple[int, list[tuple[bool, int]]]],
    index: str | None,
    segments: int,
) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        fill(store, [User(username=str(n)) for n in there])
        fill(store, [Brand(brand=str(n)) for n in range(5)])
        churn = Churn(there)
        seen: list[int] = []
        script = iter(pages)
        for segment in range(segments):
            position: Position | None = None
            while True:
                size, happening = next(script, (4, []))
                page = store.run(
                    scan(
                        User,
                        index=index,
                        limit=size,
                        after=position,
                        segment=segment,
                        segments=segments,
                    )
                )
                assert len(page) == size or page.position is None
                seen += [int(each.username) for each in page]
                position = page.position
                for comes, n in happening:
                    churn.happens(n, comes=comes)
                    user = User(username=str(n))
                    store.run(put(user) if comes else delete(user.own_key()))
                if position is None:
                    break
    churn.check(seen)
