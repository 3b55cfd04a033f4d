"""Who watches what, wherever the store is."""

from __future__ import annotations

import pytest

from bigtime.model import put, verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.design import UserWatch, WatchType
from bigtime.systems.catalog.errors import AlreadyWatching, NotWatching, UnknownBrand
from bigtime.systems.catalog.watches import (
    BrandWatcher,
    CategoryWatcher,
    WatchOfType,
    get_brand_watchers,
    get_category_watchers,
    get_user_watches,
    get_watches_by_type,
    unwatch,
    watch_brand,
    watch_brand_in_category,
    watch_category,
)
from tests.store.places import START, Place, Time
from tests.systems.catalog.samples import (
    ASUS,
    SONY,
    TEN,
    all_items,
    join_lists,
    pages,
    stored_items,
    with_brands,
)

FOREIGN = UserWatch(
    user_id="user-67890",
    watch_key="watch-electronics-sony",
    watch_type=WatchType.BRAND_CATEGORY,
    created_at=TEN,
    target_id=SONY,
    target_name="Sony",
    brand_id=SONY,
    category_id="electronics",
)
"""The schema's own sample: its key was chosen by somebody else."""


def brand_watchers(place: Place, brand_id: str = SONY) -> list[tuple[str, str]]:
    return [
        (watcher.user_id, watcher.watch_key) for watcher in place.run(get_brand_watchers(brand_id))
    ]


def category_watchers(place: Place, category_id: str = "electronics") -> list[tuple[str, str]]:
    page = place.run(get_category_watchers(category_id))
    return sorted((each.user_id, each.watch_key) for each in page)


def test_a_watch_has_a_key_that_says_what_it_is_for(place: Place) -> None:
    """D12, D13, D14: what a watch has nothing of is not stored, and keeps it out of the index."""
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    place.run(watch_category("ann", "electronics", category_name="Electronics"))
    place.run(watch_brand_in_category("ann", SONY, "electronics"))

    items = {item["watch_key"]["S"]: item for item in stored_items(place, "UserWatches")}
    assert items["BRAND#brand-sony"] == {
        "user_id": {"S": "ann"},
        "watch_key": {"S": "BRAND#brand-sony"},
        "watch_type": {"S": "brand"},
        "created_at": {"S": "2026-11-15T12:00:00Z"},
        "target_id": {"S": SONY},
        "target_name": {"S": "Sony"},
        "brand_id": {"S": SONY},
    }
    assert "brand_id" not in items["CATEGORY#electronics"]
    assert items["CATEGORY#electronics"]["watch_type"] == {"S": "category"}
    both = items["BRAND#brand-sony#CATEGORY#electronics"]
    assert (both["watch_type"], both["target_id"]) == ({"S": "brand_category"}, {"S": SONY})
    assert len(items) == 3


def test_the_watches_of_a_user_are_listed(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    place.run(watch_category("ann", "electronics"))
    place.run(watch_brand("bob", SONY))

    for consistent in (False, True):
        page = place.run(get_user_watches("ann", consistent=consistent))
        assert [each.watch_key for each in page] == ["BRAND#brand-sony", "CATEGORY#electronics"]


def test_nobody_watches_anything_twice(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    place.run(watch_category("ann", "electronics"))
    place.run(watch_brand_in_category("ann", SONY, "electronics"))
    before = all_items(place)

    for steps in (
        watch_brand("ann", SONY),
        watch_category("ann", "electronics"),
        watch_brand_in_category("ann", SONY, "electronics"),
    ):
        with pytest.raises(AlreadyWatching):
            place.run(steps)
    assert all_items(place) == before


def test_a_watch_of_a_brand_in_a_category_is_in_the_indexes_of_both(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand("bob", SONY))
    place.run(watch_category("cyd", "electronics"))
    place.run(watch_brand_in_category("ann", SONY, "electronics"))

    both = ("ann", "BRAND#brand-sony#CATEGORY#electronics")
    assert brand_watchers(place) == [both, ("bob", "BRAND#brand-sony")]
    assert category_watchers(place) == [both, ("cyd", "CATEGORY#electronics")]
    assert brand_watchers(place, ASUS) == category_watchers(place, "computers") == []


def test_indexes_tell_of_a_watch_what_they_project(place: Place) -> None:
    """D15: KEYS_ONLY and INCLUDE are types of their own."""
    with_brands(place)
    place.run(watch_brand_in_category("ann", SONY, "electronics"))
    key = "BRAND#brand-sony#CATEGORY#electronics"

    assert place.run(get_brand_watchers(SONY)).items == [
        BrandWatcher(brand_id=SONY, user_id="ann", watch_key=key)
    ]
    assert place.run(get_category_watchers("electronics")).items == [
        CategoryWatcher(
            category_id="electronics",
            user_id="ann",
            watch_key=key,
            target_name="Sony",
            created_at=START,
        )
    ]
    assert place.run(get_watches_by_type(WatchType.BRAND_CATEGORY)).items == [
        WatchOfType(
            watch_type=WatchType.BRAND_CATEGORY,
            created_at=START,
            user_id="ann",
            watch_key=key,
            target_name="Sony",
        )
    ]


def test_watches_of_a_type_come_newest_first(place: Place, time: Time) -> None:
    for name in ("ann", "bob", "cyd"):
        place.run(watch_category(name, "electronics"))
        time.sleep(1)

    newest = place.run(get_watches_by_type(WatchType.CATEGORY))
    assert [each.user_id for each in newest] == ["cyd", "bob", "ann"]
    oldest = place.run(get_watches_by_type(WatchType.CATEGORY, ascending=True, limit=2))
    assert [each.user_id for each in oldest] == ["ann", "bob"]
    assert place.run(get_watches_by_type(WatchType.BRAND)).items == []


def test_unwatching_takes_a_watch_out_of_every_index(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand_in_category("ann", SONY, "electronics"))
    key = "BRAND#brand-sony#CATEGORY#electronics"

    place.run(unwatch("ann", key))

    assert stored_items(place, "UserWatches") == []
    assert brand_watchers(place) == category_watchers(place) == []
    assert place.run(get_watches_by_type(WatchType.BRAND_CATEGORY)).items == []
    with pytest.raises(NotWatching):
        place.run(unwatch("ann", key))
    place.run(watch_brand_in_category("ann", SONY, "electronics"))


def test_a_watch_under_another_key_is_read_listed_and_ended(alone: Place) -> None:
    """D12: any string is accepted on read."""
    alone.run(put(FOREIGN))

    assert alone.run(get_user_watches("user-67890")).items == [FOREIGN]
    assert brand_watchers(alone) == [("user-67890", "watch-electronics-sony")]
    assert alone.run(verify(SYSTEM)) == []
    alone.run(unwatch("user-67890", "watch-electronics-sony"))
    assert stored_items(alone, "UserWatches") == []


def test_nobody_watches_a_brand_that_is_not_there(alone: Place) -> None:
    for steps in (watch_brand("ann", SONY), watch_brand_in_category("ann", SONY, "electronics")):
        with pytest.raises(UnknownBrand):
            alone.run(steps)
    assert stored_items(alone, "UserWatches") == []


def test_pages_of_watchers_join_up_without_a_sort_key(place: Place) -> None:
    """WatchesByCategory has none: what tells watches apart is their key in the table."""
    with_brands(place)
    for number in range(7):
        place.run(watch_category(f"user-{number}", "electronics"))
        place.run(watch_brand_in_category(f"user-{number}", SONY, "electronics"))

    of_category = pages(
        place, lambda after: get_category_watchers("electronics", limit=4, after=after)
    )
    found = [(each.user_id, each.watch_key) for each in join_lists(of_category)]
    assert len(found) == len({*found}) == 14
    of_brand = pages(place, lambda after: get_brand_watchers(SONY, limit=3, after=after))
    assert [each.user_id for each in join_lists(of_brand)] == [
        f"user-{number}" for number in range(7)
    ]
    of_type = pages(
        place, lambda after: get_watches_by_type(WatchType.CATEGORY, limit=2, after=after)
    )
    assert len({each.user_id for each in join_lists(of_type)}) == 7
    theirs = pages(place, lambda after: get_user_watches("user-3", limit=1, after=after))
    assert len(join_lists(theirs)) == 2
