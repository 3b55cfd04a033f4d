"""What users did, by time, wherever the store is."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.errors import ActivityExists
from bigtime.systems.catalog.users import (
    get_user_activities,
    get_user_activities_after,
    get_user_notifications,
    record_activity,
)
from tests.store.places import Place
from tests.systems.catalog.samples import activity, join_lists, minutes, pages, stored_items


def record_activities(place: Place, count: int) -> list[str]:
    for number in range(count):
        place.run(record_activity(activity(f"activity-{number}", minutes(number))))
    return [f"activity-{number}" for number in range(count)]


def test_an_activity_is_stored_under_its_time_and_its_id(alone: Place) -> None:
    """D21: the sort key is made of both, and is no field."""
    alone.run(record_activity(activity("activity-view-deal-12345")))

    (item,) = stored_items(alone, "UserActivities")
    assert item["sk"] == {"S": "2024-01-15T10:00:00Z#activity-view-deal-12345"}
    assert item["details"]["M"]["duration_seconds"] == {"N": "45"}
    (found,) = alone.run(get_user_activities("user-67890"))
    assert found == activity("activity-view-deal-12345")
    assert alone.run(verify(SYSTEM)) == []


def test_activities_come_newest_first_or_oldest_first(place: Place) -> None:
    """D23."""
    names = record_activities(place, 4)

    newest = place.run(get_user_activities("user-67890"))
    assert [each.activity_id for each in newest] == names[::-1]
    oldest = place.run(get_user_activities("user-67890", ascending=True, consistent=True))
    assert [each.activity_id for each in oldest] == names
    assert place.run(get_user_activities("nobody")).items == []


def test_catching_up_begins_with_the_second_that_was_asked_for(place: Place) -> None:
    """D21, D23: the bound is the bare time, and the oldest comes first."""
    names = record_activities(place, 4)
    place.run(record_activity(activity("activity-also", minutes(2))))

    page = place.run(get_user_activities_after("user-67890", minutes(2)))
    assert [each.activity_id for each in page] == [names[2], "activity-also", names[3]]
    backwards = place.run(get_user_activities_after("user-67890", minutes(2), ascending=False))
    assert backwards.items == page.items[::-1]
    later = minutes(2) + timedelta(milliseconds=1)
    (last,) = place.run(get_user_activities_after("user-67890", later))
    assert last.activity_id == names[3]


def test_several_activities_of_one_second_are_kept(place: Place) -> None:
    for number in range(5):
        place.run(record_activity(activity(f"activity-{number}")))

    paged = pages(place, lambda after: get_user_activities("user-67890", limit=2, after=after))
    assert len({each.activity_id for each in join_lists(paged)}) == 5


def test_an_activity_is_recorded_once(place: Place) -> None:
    place.run(record_activity(activity("activity-1")))

    with pytest.raises(ActivityExists):
        place.run(record_activity(activity("activity-1", activity_type="deal_click")))
    (item,) = stored_items(place, "UserActivities")
    assert item["activity_type"] == {"S": "deal_view"}


def test_an_activity_needs_no_details(alone: Place) -> None:
    alone.run(record_activity(activity("activity-1", details=None)))

    (item,) = stored_items(alone, "UserActivities")
    assert "details" not in item
    assert alone.run(get_user_activities("user-67890")).items[0].details is None


def test_details_keep_their_numbers_exactly(alone: Place) -> None:
    details = {"price": Decimal("149.99"), "tags": ["a", "b"], "seen": True}
    alone.run(record_activity(activity("activity-1", details=details)))

    assert alone.run(get_user_activities("user-67890")).items[0].details == details


def test_notifications_are_found_among_the_other_activities(place: Place) -> None:
    record_activities(place, 12)
    for number in (3, 8):
        told = activity(f"told-{number}", minutes(number), activity_type="deal_notification")
        place.run(record_activity(told))

    paged = pages(place, lambda after: get_user_notifications("user-67890", limit=1, after=after))
    assert [each.activity_id for each in join_lists(paged)] == ["told-8", "told-3"]
