"""Lists: pages of 1 to 100, in one order over active and inactive ones, with one cursor."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import CursorError, Cursors, Position, load_many, setup
from bigtime.store import Store
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import EmailMarker, Tenant
from bigtime.systems.portal.errors import MomentRefused, PageSizeRefused, RangeReversed
from bigtime.systems.portal.tenants import (
    list_deleted_tenants,
    list_tenants,
    list_tenants_by_status,
    soft_delete_tenant,
)
from bigtime.systems.portal.values import Status
from tests.store.places import START, Place
from tests.systems.portal.scenes import ADMIN, new_tenant

CURSORS = Cursors(["a secret of the tests, long enough"])


def tenant(number: int, minute: int, *, active: bool = True) -> Tenant:
    moment = START - timedelta(minutes=minute)
    return Tenant(
        id=f"tenant_00000000-0000-4000-8000-{number:012}",
        email=f"t{number}@example.com",
        active=active,
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=ADMIN,
    )


def fill_tenants(place: Any, tenants: list[Tenant]) -> None:
    markers = [EmailMarker(address=tenant.email, tenant_id=tenant.id) for tenant in tenants]
    place.run(load_many([*tenants, *markers]))


def read_through(place: Any, **asked: Any) -> list[Tenant]:
    """All pages, each asked for by the cursor of the one before."""
    found: list[Tenant] = []
    cursor: str | None = None
    while True:
        page = place.run(list_tenants(after=CURSORS.read(cursor), **asked))
        found += page.items
        cursor = CURSORS.write(page.position)
        if cursor is None:
            return found


def test_a_page_has_fifty_unless_told_otherwise(place: Place) -> None:
    fill_tenants(place, [tenant(number, number) for number in range(120)])
    assert len(place.run(list_tenants())) == 50
    assert len(place.run(list_tenants(limit=100))) == 100
    assert len(read_through(place)) == 120


@pytest.mark.parametrize("limit", [0, -1, 101, True, "50", 1.5], ids=str)
def test_a_page_of_another_size_is_refused(alone: Place, limit: Any) -> None:
    for steps in (
        list_tenants(limit=limit),
        list_tenants(limit=limit, include_inactive=True),
        list_tenants_by_status(Status.REGISTERED, limit=limit),
        list_deleted_tenants(limit=limit),
    ):
        with pytest.raises(PageSizeRefused):
            alone.run(steps)


def test_active_and_inactive_ones_are_merged_by_creation(place: Place) -> None:
    tenants = [tenant(number, number, active=number % 3 != 0) for number in range(20)]
    fill_tenants(place, tenants)

    assert read_through(place, include_inactive=True, limit=7) == tenants
    assert read_through(place, include_inactive=True, limit=7, newest_first=False) == tenants[::-1]
    assert read_through(place, limit=7) == [each for each in tenants if each.active]
    assert place.run(list_deleted_tenants()).items == [each for each in tenants if not each.active]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    made=st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=25),
    limit=st.integers(1, 9),
    newest_first=st.booleans(),
)
def test_pages_join_up_to_the_whole(
    made: list[tuple[int, bool]], limit: int, newest_first: bool
) -> None:
    """With many made in one minute, too, nobody is missed and nobody comes twice."""
    tenants = [tenant(number, minute, active=on) for number, (minute, on) in enumerate(made)]
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        fill_tenants(store, tenants)
        found = read_through(store, include_inactive=True, limit=limit, newest_first=newest_first)
    assert sorted(each.id for each in found) == sorted(each.id for each in tenants)
    dates = [each.date_created for each in found]
    assert dates == sorted(dates, reverse=newest_first)


def test_pages_join_up_while_tenants_are_deleted(alone: Place) -> None:
    """One that moves from one partition to the other between pages may be seen twice, or not."""
    tenants = [tenant(number, number) for number in range(12)]
    fill_tenants(alone, tenants)
    first = alone.run(list_tenants(limit=6, include_inactive=True))
    alone.run(soft_delete_tenant(tenants[1].id, by=ADMIN))
    rest = alone.run(list_tenants(limit=10, include_inactive=True, after=first.position))
    assert [each.id for each in first] == [each.id for each in tenants[:6]]
    seen = [each.id for each in rest if each.id != tenants[1].id]
    assert seen == [each.id for each in tenants[6:]]


# Cursors


def one_page(place: Any, **asked: Any) -> str:
    page = place.run(list_tenants(limit=2, **asked))
    cursor: str = CURSORS.write(page.position)
    return cursor


def test_a_cursor_that_was_touched_is_refused(place: Place) -> None:
    """Deciding test 11."""
    fill_tenants(place, [tenant(number, number, active=number % 2 == 0) for number in range(10)])
    for cursor in (one_page(place), one_page(place, include_inactive=True)):
        for spot in range(len(cursor)):
            other = "A" if cursor[spot] != "A" else "B"
            with pytest.raises(CursorError):
                CURSORS.read(cursor[:spot] + other + cursor[spot + 1 :])
        for touched in (cursor[:-1], cursor + "A", "", "x", cursor[::-1]):
            with pytest.raises(CursorError):
                CURSORS.read(touched)
        with pytest.raises(CursorError):
            Cursors(["another secret, also long enough"]).read(cursor)


def test_a_cursor_belongs_to_its_list(place: Place) -> None:
    fill_tenants(place, [tenant(number, number, active=number % 2 == 0) for number in range(10)])
    plain = CURSORS.read(one_page(place))
    merged = CURSORS.read(one_page(place, include_inactive=True))
    for steps in (
        list_tenants(after=merged),
        list_tenants(after=plain, include_inactive=True),
        list_tenants(after=plain, newest_first=False),
        list_tenants(after=merged, include_inactive=True, newest_first=False),
        list_tenants(after=plain, created_from=START - timedelta(days=1)),
        list_tenants_by_status(Status.UNVALIDATED, after=plain),
        list_deleted_tenants(after=plain),
        list_tenants(after=Position("made up", {})),
    ):
        with pytest.raises(CursorError):
            place.run(steps)


def test_a_range_the_wrong_way_round_or_without_a_zone_is_refused(alone: Place) -> None:
    new_tenant(alone)
    with pytest.raises(RangeReversed):
        alone.run(list_tenants(created_from=START, created_to=START - timedelta(seconds=1)))
    with pytest.raises(MomentRefused):
        alone.run(list_tenants(created_from=START.replace(tzinfo=None)))
