"""Anonymising: an extension that is off, and what it takes and leaves when it is on."""

from __future__ import annotations

import json

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM as WITHOUT
from bigtime.systems.portal import portal
from bigtime.systems.portal.design import Action, Audited
from bigtime.systems.portal.errors import AnonymiseForbidden, UnknownTenant
from bigtime.systems.portal.orders import list_orders, place_order
from bigtime.systems.portal.personal import anonymise_tenant, erase_contents
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.tenants import (
    get_tenant,
    soft_delete_tenant,
    tenant_at_checkout,
    update_tenant,
)
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    EMAIL,
    NOBODY,
    contents,
    new_product,
    registered_tenant,
    request_steps,
    stored_item,
)

SYSTEM = portal(anonymise=True)
WHY = "a request of the customer"


def gone_tenant(place: Place) -> str:
    tenant, product = registered_tenant(place), new_product(place)
    place.run(place_order(tenant.id, {product.id: 1}))
    told = {"organization_name": "Example Corp", "destination_email": "forms@example.com"}
    place.run(update_tenant(tenant.id, told, by=ADMIN))
    place.run(soft_delete_tenant(tenant.id, by=ADMIN))
    return tenant.id


def test_it_is_off_unless_it_is_asked_for() -> None:
    assert "anonymise_tenant" not in WITHOUT.patterns
    assert "anonymise_tenant" in SYSTEM.patterns


def test_what_tells_who_it_was_is_gone_and_the_chain_holds(place: Place) -> None:
    tenant_id = gone_tenant(place)

    place.run(anonymise_tenant(tenant_id, WHY, by=ADMIN))

    everything = json.dumps(contents(place))
    for word in (EMAIL, "Example Corp", "forms@example.com"):
        assert word not in everything
    tenant = place.run(get_tenant(tenant_id, include_inactive=True))
    assert tenant.email == f"{tenant_id}@erased.invalid"
    assert len(place.run(list_orders(tenant_id))) == 1
    entries = place.run(audit_log(Audited.TENANTS, tenant_id)).items
    assert (entries[0].action, entries[0].reason) == (Action.ANONYMISED, WHY)
    assert [entry.action for entry in entries[1:]] == [
        Action.DELETED,
        Action.UPDATED,
        Action.STATUS_CHANGED,
        Action.STATUS_CHANGED,
        Action.CREATED,
    ]
    assert {entry.actor for entry in entries} >= {ADMIN, tenant_id}
    assert place.run(verify_audit()) == []
    assert place.run(verify(SYSTEM)) == []


def test_the_address_is_free_again(alone: Place) -> None:
    tenant_id = gone_tenant(alone)
    alone.run(anonymise_tenant(tenant_id, WHY, by=ADMIN))
    assert alone.run(tenant_at_checkout(EMAIL)).id != tenant_id
    assert alone.run(verify(SYSTEM)) == []


def test_doing_it_again_changes_nothing_and_ends_what_was_begun(alone: Place) -> None:
    tenant_id = gone_tenant(alone)
    before = stored_item(alone, "audit", f"tenants#{tenant_id}", f"{1:012}")
    assert before is not None
    alone.run(anonymise_tenant(tenant_id, WHY, by=ADMIN))
    done = contents(alone)
    alone.run(anonymise_tenant(tenant_id, "again", by=ADMIN))
    assert contents(alone) == done

    alone.run(request_steps("PutItem", TableName="audit", Item=before))
    assert alone.run(verify_audit()) == [], "an entry that was not reached yet is still well"
    tenant = alone.run(get_tenant(tenant_id, include_inactive=True))
    alone.run(erase_contents(tenant))
    assert contents(alone) == done


def test_only_a_deleted_tenant_is_anonymised(alone: Place) -> None:
    tenant = registered_tenant(alone)
    before = contents(alone)
    with pytest.raises(AnonymiseForbidden):
        alone.run(anonymise_tenant(tenant.id, WHY, by=ADMIN))
    with pytest.raises(UnknownTenant):
        alone.run(anonymise_tenant(NOBODY, WHY, by=ADMIN))
    assert contents(alone) == before


def test_what_the_entry_of_an_erased_one_still_says_cannot_be_changed(alone: Place) -> None:
    tenant_id = gone_tenant(alone)
    alone.run(anonymise_tenant(tenant_id, WHY, by=ADMIN))
    item = stored_item(alone, "audit", f"tenants#{tenant_id}", f"{2:012}")
    assert item is not None
    touched = {**item, "actor": {"S": "mallory@example.com"}}
    alone.run(request_steps("PutItem", TableName="audit", Item=touched))
    assert [each.sequence for each in alone.run(verify_audit())] == [2]
