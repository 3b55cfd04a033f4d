"""One-time codes and registration: what proves a mailbox, and how often it may be tried."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Action, Audited, Purpose
from bigtime.systems.portal.errors import (
    CodeSpent,
    CodeUsed,
    CodeWrong,
    MoveRefused,
    TenantDeleted,
    TenantSuspended,
    UnknownCode,
    UnknownTenant,
)
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import (
    issue_code,
    redeem_code,
    register_tenant,
    suspend_tenant,
    validate_tenant,
)
from bigtime.systems.portal.tenants import get_tenant, soft_delete_tenant
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    NOBODY,
    contents,
    new_tenant,
    stored_item,
    validated_tenant,
)

PEPPER = b"a key of the site's own"


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


def test_a_code_validates_and_registration_follows(place: Place) -> None:
    tenant = new_tenant(place)
    code = place.run(issue_code(Purpose.VALIDATE, tenant.id, pepper=PEPPER))
    assert len(code) == 6 and code.isdigit()

    proven = place.run(validate_tenant(tenant.id, code, pepper=PEPPER))
    account = place.run(register_tenant(tenant.id, "Example Corp", "Forms@Example.com"))

    assert proven.status == Status.VALIDATED
    assert (account.status, account.organization_name) == (Status.REGISTERED, "Example Corp")
    assert account.destination == "forms@example.com"
    entries = place.run(audit_log(Audited.TENANTS, tenant.id, newest_first=False))
    assert [entry.action for entry in entries] == [
        Action.CREATED,
        Action.STATUS_CHANGED,
        Action.STATUS_CHANGED,
    ]
    assert [entry.actor for entry in entries][1:] == [tenant.id, tenant.id]
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_the_table_knows_the_hash_and_never_the_code(alone: Place) -> None:
    tenant = new_tenant(alone)
    code = alone.run(issue_code(Purpose.VALIDATE, tenant.id))

    item = stored_item(alone, "codes", f"CODE#VALIDATE#{tenant.id}")

    assert item is not None
    assert code not in json.dumps(item)
    assert item["expiresAt"] == {"N": str(int(alone.time.seconds()) + 600)}
    assert alone.ask("DescribeTimeToLive", TableName="codes")["TimeToLiveDescription"] == {
        "AttributeName": "expiresAt",
        "TimeToLiveStatus": "ENABLED",
    }


def test_the_same_code_hashes_otherwise_with_another_pepper(alone: Place) -> None:
    tenant = new_tenant(alone)
    code = alone.run(issue_code(Purpose.VALIDATE, tenant.id, pepper=PEPPER))
    with pytest.raises(CodeWrong):
        alone.run(validate_tenant(tenant.id, code))
    assert alone.run(validate_tenant(tenant.id, code, pepper=PEPPER)).status == Status.VALIDATED


def test_five_tries_and_no_more(place: Place) -> None:
    tenant = new_tenant(place)
    code = place.run(issue_code(Purpose.VALIDATE, tenant.id))
    for _ in range(5):
        with pytest.raises(CodeWrong):
            place.run(validate_tenant(tenant.id, wrong(code)))
    with pytest.raises(CodeSpent):
        place.run(validate_tenant(tenant.id, code))
    assert place.run(get_tenant(tenant.id)).status == Status.UNVALIDATED

    again = place.run(issue_code(Purpose.VALIDATE, tenant.id))
    assert place.run(validate_tenant(tenant.id, again)).status == Status.VALIDATED


def test_the_fifth_try_may_be_the_right_one(alone: Place) -> None:
    tenant = new_tenant(alone)
    code = alone.run(issue_code(Purpose.VALIDATE, tenant.id))
    for guess in (wrong(code), "", "abc", "12345678"):
        with pytest.raises(CodeWrong):
            alone.run(validate_tenant(tenant.id, guess))
    assert alone.run(validate_tenant(tenant.id, code)).status == Status.VALIDATED


def test_a_code_is_good_for_ten_minutes(place: Place) -> None:
    tenant = new_tenant(place)
    code = place.run(issue_code(Purpose.VALIDATE, tenant.id))
    place.time.now += timedelta(minutes=10)
    before = contents(place)
    with pytest.raises(UnknownCode):
        place.run(validate_tenant(tenant.id, code))
    assert contents(place) == before, "the table may keep it until its time to live is over"


def test_a_code_is_good_almost_ten_minutes(alone: Place) -> None:
    tenant = new_tenant(alone)
    code = alone.run(issue_code(Purpose.VALIDATE, tenant.id))
    alone.time.now += timedelta(minutes=9, seconds=59)
    alone.run(validate_tenant(tenant.id, code))


def test_a_code_is_used_once(place: Place) -> None:
    tenant = new_tenant(place)
    code = place.run(issue_code(Purpose.SIGN_IN, tenant.id))
    place.run(redeem_code(Purpose.SIGN_IN, tenant.id, code))
    with pytest.raises(CodeUsed):
        place.run(redeem_code(Purpose.SIGN_IN, tenant.id, code))


def test_a_code_is_for_one_purpose_and_one_tenant(alone: Place) -> None:
    one, other = new_tenant(alone), new_tenant(alone, "other@example.com")
    code = alone.run(issue_code(Purpose.SIGN_IN, one.id))
    alone.run(issue_code(Purpose.SIGN_IN, other.id))
    with pytest.raises(UnknownCode):
        alone.run(validate_tenant(one.id, code))
    with pytest.raises(CodeWrong):
        alone.run(redeem_code(Purpose.SIGN_IN, other.id, code))
    with pytest.raises(UnknownCode):
        alone.run(redeem_code(Purpose.SIGN_IN, NOBODY, code))


def test_a_new_code_takes_the_place_of_the_old(alone: Place) -> None:
    tenant = new_tenant(alone)
    old = alone.run(issue_code(Purpose.VALIDATE, tenant.id))
    new = alone.run(issue_code(Purpose.VALIDATE, tenant.id))
    assert old != new
    with pytest.raises(CodeWrong):
        alone.run(validate_tenant(tenant.id, old))
    alone.run(validate_tenant(tenant.id, new))


def test_no_code_for_who_needs_none_or_may_have_none(alone: Place) -> None:
    done = validated_tenant(alone)
    with pytest.raises(MoveRefused):
        alone.run(issue_code(Purpose.VALIDATE, done.id))
    alone.run(suspend_tenant(done.id, "fraud", by=ADMIN))
    with pytest.raises(TenantSuspended):
        alone.run(issue_code(Purpose.SIGN_IN, done.id))
    gone = new_tenant(alone, "gone@example.com")
    alone.run(soft_delete_tenant(gone.id, by=ADMIN))
    with pytest.raises(TenantDeleted):
        alone.run(issue_code(Purpose.VALIDATE, gone.id))
    with pytest.raises(UnknownTenant):
        alone.run(issue_code(Purpose.VALIDATE, NOBODY))


def test_nobody_comes_out_of_suspension_by_himself(alone: Place) -> None:
    tenant = new_tenant(alone)
    code = alone.run(issue_code(Purpose.VALIDATE, tenant.id))
    alone.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    with pytest.raises(TenantSuspended):
        alone.run(validate_tenant(tenant.id, code))
    proven = validated_tenant(alone, "proven@example.com")
    alone.run(suspend_tenant(proven.id, "fraud", by=ADMIN))
    with pytest.raises(TenantSuspended):
        alone.run(register_tenant(proven.id))


def test_who_has_not_validated_cannot_register(alone: Place) -> None:
    tenant = new_tenant(alone)
    before = contents(alone)
    with pytest.raises(MoveRefused):
        alone.run(register_tenant(tenant.id))
    assert contents(alone) == before
