"""Tenants: found by id, e-mail, status and date; made, changed, deleted and restored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.errors import (
    EmailTaken,
    ImmutableField,
    TenantDeleted,
    UnknownField,
    UnknownTenant,
)
from bigtime.systems.portal.records import Counts
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import (
    count_deleted_tenants,
    count_tenants,
    count_tenants_by_status,
    count_tenants_to_remind,
    create_tenant,
    get_tenant,
    get_tenant_by_email,
    list_deleted_tenants,
    list_tenants,
    list_tenants_by_status,
    list_tenants_to_remind,
    restore_tenant,
    soft_delete_tenant,
    update_tenant,
)
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    EMAIL,
    NOBODY,
    contents,
    new_tenant,
    registered_tenant,
    request_steps,
    stored_item,
    validated_tenant,
)


def spread(place: Place, count: int) -> list[Tenant]:
    """Tenants that were made an hour apart."""
    made = []
    for number in range(count):
        made.append(place.run(create_tenant(f"t{number}@example.com", by=ADMIN)))
        place.time.now += timedelta(hours=1)
    return made


def test_a_tenant_is_found_by_id_and_by_email_in_any_case(place: Place) -> None:
    made = place.run(
        create_tenant("  Customer@Example.COM ", "Example Corp", "forms@example.com", by=ADMIN)
    )

    assert made.email == "customer@example.com"
    assert made.status == Status.UNVALIDATED
    assert (made.last_updated_by, made.active) == (ADMIN, True)
    assert made.date_created == made.date_last_updated == datetime(2026, 11, 15, 12, tzinfo=UTC)
    assert place.run(get_tenant(made.id)) == made
    assert place.run(get_tenant_by_email("CUSTOMER@example.com")) == made
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_what_is_stored_is_what_the_chart_says(alone: Place) -> None:
    made = alone.run(create_tenant(EMAIL, by=ADMIN))

    assert stored_item(alone, "tenants", f"TENANT#{made.id}") == {
        "PK": {"S": f"TENANT#{made.id}"},
        "SK": {"S": "METADATA"},
        "id": {"S": made.id},
        "email": {"S": EMAIL},
        "status": {"S": "UNVALIDATED"},
        "active": {"S": "true"},
        "dateCreated": {"S": "2026-11-15T12:00:00Z"},
        "dateLastUpdated": {"S": "2026-11-15T12:00:00Z"},
        "lastUpdatedBy": {"S": ADMIN},
    }
    assert stored_item(alone, "tenants", f"EMAIL#{EMAIL}") == {
        "PK": {"S": f"EMAIL#{EMAIL}"},
        "SK": {"S": "METADATA"},
        "address": {"S": EMAIL},
        "tenantId": {"S": made.id},
    }
    for index in ("EmailIndex", "TenantStatusIndex", "ActiveIndex"):
        found = alone.run(request_steps("Scan", TableName="tenants", IndexName=index))
        assert [item["id"]["S"] for item in found["Items"]] == [made.id]


def test_the_reads_that_must_be_strongly_consistent_are(alone: Place) -> None:
    made = alone.run(create_tenant(EMAIL, by=ADMIN))
    alone.exchanges.clear()

    alone.run(get_tenant(made.id))

    (exchange,) = alone.exchanges
    assert exchange.request.params["ConsistentRead"] is True


def test_an_admin_cannot_create_a_second_tenant_with_an_email(place: Place) -> None:
    place.run(create_tenant(EMAIL, by=ADMIN))
    before = contents(place)

    with pytest.raises(EmailTaken):
        place.run(create_tenant("CUSTOMER@EXAMPLE.COM", by=ADMIN))

    assert contents(place) == before


def test_a_deleted_tenant_is_hidden_keeps_its_email_and_comes_back(place: Place) -> None:
    made = registered_tenant(place)
    place.time.now += timedelta(minutes=1)

    gone = place.run(soft_delete_tenant(made.id, by=ADMIN))

    assert not gone.active
    assert gone.date_last_updated >= made.date_last_updated + timedelta(minutes=1)
    for steps in (get_tenant(made.id), get_tenant_by_email(EMAIL)):
        with pytest.raises(UnknownTenant):
            place.run(steps)
    assert place.run(get_tenant(made.id, include_inactive=True)) == gone
    assert place.run(get_tenant_by_email(EMAIL, include_inactive=True)) == gone
    assert place.run(list_tenants()).items == []
    assert place.run(list_tenants(include_inactive=True)).items == [gone]
    assert place.run(list_deleted_tenants()).items == [gone]
    with pytest.raises(EmailTaken):
        place.run(create_tenant(EMAIL, by=ADMIN))

    back = place.run(restore_tenant(made.id, by=ADMIN))

    assert (back.active, back.status) == (True, Status.REGISTERED)
    assert place.run(list_tenants()).items == [back]
    assert place.run(verify_audit()) == []


def test_deleting_or_restoring_twice_changes_nothing_more(alone: Place) -> None:
    made = new_tenant(alone)
    alone.run(soft_delete_tenant(made.id, by=ADMIN))
    before = contents(alone)
    alone.run(soft_delete_tenant(made.id, by="another@example.com"))
    assert contents(alone) == before
    alone.run(restore_tenant(made.id, by=ADMIN))
    before = contents(alone)
    alone.run(restore_tenant(made.id, by="another@example.com"))
    assert contents(alone) == before


def test_organization_and_destination_come_and_go(place: Place) -> None:
    made = new_tenant(place)
    assert (made.destination, made.is_business) == (EMAIL, False)

    told = {"organization_name": "Example Corp", "destination_email": "Forms@Example.com"}
    business = place.run(update_tenant(made.id, told, by=ADMIN))

    assert (business.destination, business.is_business) == ("forms@example.com", True)
    cleared = {"organization_name": None, "destination_email": None}
    place.run(update_tenant(made.id, cleared, by=ADMIN))
    item = stored_item(place, "tenants", f"TENANT#{made.id}")
    assert item is not None
    assert not {"organizationName", "destinationEmail"} & item.keys(), "None is not stored as NULL"


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"email": "other@example.com"}, ImmutableField),
        ({"id": NOBODY}, ImmutableField),
        ({"status": "REGISTERED"}, ImmutableField),
        ({"date_created": datetime(2020, 1, 1, tzinfo=UTC)}, ImmutableField),
        ({"last_updated_by": "mallory@example.com"}, ImmutableField),
        ({"colour": "red"}, UnknownField),
    ],
    ids=["email", "id", "status", "date", "actor", "unknown"],
)
def test_an_update_cannot_touch_what_is_not_its_own(
    alone: Place, changes: dict[str, object], refused: type[Exception]
) -> None:
    made = new_tenant(alone)
    before = contents(alone)

    with pytest.raises(refused):
        alone.run(update_tenant(made.id, {"organization_name": "Example", **changes}, by=ADMIN))

    assert contents(alone) == before


def test_a_deleted_tenant_is_not_edited_until_it_is_restored(alone: Place) -> None:
    made = new_tenant(alone)
    alone.run(soft_delete_tenant(made.id, by=ADMIN))
    with pytest.raises(TenantDeleted):
        alone.run(update_tenant(made.id, {"organization_name": "Example"}, by=ADMIN))

    back = {"active": True, "organization_name": "Example"}
    assert alone.run(update_tenant(made.id, back, by=ADMIN)).is_business


def test_an_update_of_a_missing_tenant_is_unknown_and_leaves_no_ghost(place: Place) -> None:
    """Deciding test 15."""
    before = contents(place)
    for steps in (
        update_tenant(NOBODY, {"organization_name": "Ghost"}, by=ADMIN),
        soft_delete_tenant(NOBODY, by=ADMIN),
        restore_tenant(NOBODY, by=ADMIN),
        suspend_tenant(NOBODY, "fraud", by=ADMIN),
    ):
        with pytest.raises(UnknownTenant):
            place.run(steps)
    assert contents(place) == before == {table.name: [] for table in SYSTEM.tables}


def test_a_list_by_status_has_a_range_of_dates_and_only_active_ones(place: Place) -> None:
    made = spread(place, 5)
    place.run(soft_delete_tenant(made[3].id, by=ADMIN))

    def ids(**asked: object) -> list[str]:
        page = place.run(list_tenants_by_status(Status.UNVALIDATED, **asked))  # type: ignore[arg-type]
        return [each.id for each in page]

    assert ids() == [made[4].id, made[2].id, made[1].id, made[0].id]
    assert ids(include_inactive=True, newest_first=False) == [each.id for each in made]
    assert ids(created_from=made[1].date_created, created_to=made[2].date_created) == [
        made[2].id,
        made[1].id,
    ]
    assert ids(created_to=made[0].date_created) == [made[0].id]
    assert ids(created_from=made[4].date_created) == [made[4].id]
    assert place.run(list_tenants_by_status("SUSPENDED")).items == []  # type: ignore[arg-type]


def test_a_list_of_all_has_a_range_of_dates(place: Place) -> None:
    made = spread(place, 4)
    page = place.run(
        list_tenants(created_from=made[1].date_created, created_to=made[2].date_created)
    )
    assert [each.id for each in page] == [made[2].id, made[1].id]


def test_counts_by_status_count_active_ones(place: Place) -> None:
    registered_tenant(place, "a@example.com")
    validated_tenant(place, "b@example.com")
    gone = new_tenant(place, "c@example.com")
    new_tenant(place, "d@example.com")
    place.run(soft_delete_tenant(gone.id, by=ADMIN))

    assert place.run(count_tenants_by_status()) == {
        Status.UNVALIDATED: 1,
        Status.VALIDATED: 1,
        Status.REGISTERED: 1,
        Status.SUSPENDED: 0,
    }
    assert place.run(count_tenants_by_status(include_inactive=True))[Status.UNVALIDATED] == 2
    assert place.run(count_tenants()) == Counts(active=3, inactive=1)
    assert place.run(count_deleted_tenants()) == 1
    counting = [
        exchange.request.params
        for exchange in place.exchanges
        if exchange.request.operation == "Query"
    ]
    assert {each["Select"] for each in counting if each["TableName"] == "tenants"} == {"COUNT"}


def test_those_to_remind_came_in_the_last_day_and_have_not_validated(place: Place) -> None:
    late = new_tenant(place, "late@example.com")
    place.time.now += timedelta(hours=20)
    validated_tenant(place, "done@example.com")
    gone = new_tenant(place, "gone@example.com")
    place.run(soft_delete_tenant(gone.id, by=ADMIN))
    first = new_tenant(place, "first@example.com")
    place.time.now += timedelta(hours=3)
    second = new_tenant(place, "second@example.com")

    assert [each.id for each in place.run(list_tenants_to_remind())] == [
        second.id,
        first.id,
        late.id,
    ]
    assert place.run(count_tenants_to_remind()) == 3
    place.time.now += timedelta(hours=2)
    assert [each.id for each in place.run(list_tenants_to_remind())] == [second.id, first.id]
    assert place.run(count_tenants_to_remind()) == 2


def test_pages_of_those_to_remind_join_up_while_time_passes(place: Place) -> None:
    """And end where the last day begins."""
    new_tenant(place, "yesterday@example.com")
    place.time.now += timedelta(hours=25)
    made = spread(place, 5)
    assert place.run(list_tenants_to_remind(limit=5)).position is None

    found, position = [], None
    while True:
        page = place.run(list_tenants_to_remind(limit=2, after=position))
        found += page.items
        position = page.position
        place.time.now += timedelta(minutes=1)
        if position is None:
            break

    assert found == made[::-1]
