"""Products: the pricing page, and what an admin does to it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Action, Audited
from bigtime.systems.portal.errors import (
    ImmutableField,
    ProductDeleted,
    UnknownField,
    UnknownProduct,
)
from bigtime.systems.portal.products import (
    count_products,
    get_product,
    list_deleted_products,
    list_product_names,
    list_products,
    restore_product,
    soft_delete_product,
    update_product,
)
from bigtime.systems.portal.records import Counts, audit_log
from bigtime.systems.portal.values import BillingCycle
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, contents, new_product, stored_item


def test_a_product_is_made_and_found(place: Place) -> None:
    made = new_product(place, price="299.9")

    assert place.run(get_product(made.id)) == made
    assert (made.price, made.billing_cycle) == (Decimal("299.90"), BillingCycle.MONTHLY)
    item = stored_item(place, "products", f"PRODUCT#{made.id}")
    assert item is not None
    assert (item["active"], item["price"]) == ({"S": "true"}, {"N": "299.9"})
    assert item["features"]["L"][0] == {"S": "Up to 10 WordPress sites"}
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_the_pricing_page_is_oldest_first_and_has_active_ones(place: Place) -> None:
    made = []
    for number in range(4):
        made.append(new_product(place, name=f"Plan {number}"))
        place.time.now += timedelta(days=1)
    gone = place.run(soft_delete_product(made[1].id, by=ADMIN))

    assert place.run(list_products()).items == [made[0], made[2], made[3]]
    assert place.run(list_products(newest_first=True)).items == [made[3], made[2], made[0]]
    everything = [made[0], gone, made[2], made[3]]
    assert place.run(list_products(include_inactive=True)).items == everything
    assert place.run(list_deleted_products()).items == [gone]
    assert place.run(count_products()) == Counts(active=3, inactive=1)
    named = [(name.id, name.active) for name in place.run(list_product_names())]
    assert named == [(each.id, each.active) for each in (made[0], made[2], made[3], gone)]
    assert len(place.run(list_product_names(limit=2))) == 3


def test_every_field_that_may_change_changes(place: Place) -> None:
    made = new_product(place)
    changes = {
        "name": "Agency Plan",
        "description": "Fifty sites",
        "price": Decimal("1299.00"),
        "features": ["Up to 50 sites"],
        "billing_cycle": BillingCycle.YEARLY,
    }
    place.time.now += timedelta(hours=1)

    changed = place.run(update_product(made.id, changes, by="editor@example.com"))

    assert {name: getattr(changed, name) for name in changes} == changes
    assert changed == place.run(get_product(made.id))
    assert changed.last_updated_by == "editor@example.com"
    assert changed.date_last_updated >= made.date_created + timedelta(hours=1)
    entry = place.run(audit_log(Audited.PRODUCTS, made.id)).items[0]
    assert (entry.action, entry.actor) == (Action.UPDATED, "editor@example.com")
    assert (entry.before or {})["price"] == Decimal("299.99")
    assert (entry.after or {})["price"] == Decimal(1299)


def test_an_update_that_changes_nothing_leaves_no_entry(alone: Place) -> None:
    made = new_product(alone)
    before = contents(alone)
    alone.run(update_product(made.id, {"price": "299.990", "name": made.name}, by=ADMIN))
    alone.run(update_product(made.id, {}, by=ADMIN))
    assert contents(alone) == before


def test_a_product_is_deleted_and_restored(place: Place) -> None:
    made = new_product(place)
    place.run(update_product(made.id, {"active": False}, by=ADMIN))
    with pytest.raises(UnknownProduct):
        place.run(get_product(made.id))
    assert not place.run(get_product(made.id, include_inactive=True)).active
    with pytest.raises(ProductDeleted):
        place.run(update_product(made.id, {"price": "1"}, by=ADMIN))

    back = place.run(restore_product(made.id, by=ADMIN))

    stamped = {"date_last_updated": back.date_last_updated, "last_updated_by": ADMIN}
    assert back == made.model_copy(update=stamped)
    entries = place.run(audit_log(Audited.PRODUCTS, made.id, newest_first=False))
    assert [entry.action for entry in entries] == [Action.CREATED, Action.DELETED, Action.RESTORED]
    assert place.run(verify_audit()) == []


def test_server_fields_and_unknown_ones_are_refused(alone: Place) -> None:
    made = new_product(alone)
    before = contents(alone)
    for name in ("id", "date_created", "date_last_updated", "last_updated_by"):
        with pytest.raises(ImmutableField):
            alone.run(update_product(made.id, {"price": "1", name: "x"}, by=ADMIN))
    with pytest.raises(UnknownField):
        alone.run(update_product(made.id, {"price": "1", "colour": "x"}, by=ADMIN))
    assert contents(alone) == before


def test_an_update_of_a_missing_product_leaves_no_ghost(place: Place) -> None:
    """Deciding test 15."""
    for steps in (
        update_product(NO_PRODUCT, {"price": "1"}, by=ADMIN),
        soft_delete_product(NO_PRODUCT, by=ADMIN),
        restore_product(NO_PRODUCT, by=ADMIN),
    ):
        with pytest.raises(UnknownProduct):
            place.run(steps)
    assert contents(place) == {table.name: [] for table in SYSTEM.tables}
