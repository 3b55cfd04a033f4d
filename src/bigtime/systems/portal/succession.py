"""Succession: when an account moves to another e-mail address, its tenant hands over to another.

A tenant's e-mail address is its identity and never changes. So the tenant of the new address, which
is created if there is none, becomes the successor: it is REGISTERED, and gets the organization and
the orders of its predecessor.

1. `prepare_successor` is one transaction with the writes that belong to it, such as those of the
   account.
2. `hand_over` comes after it. No record is deleted, so each order is archived and a copy of it
   created for the successor, in one transaction with an audit entry of each that names the other.
   The id of the copy is derived from the order and the successor: if `hand_over` is interrupted, it
   is called again and continues where it was. Then the customer's details are removed from the
   tenant, as its address may get another owner.

Orders that are placed for the old address after the handover stay with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias
from uuid import UUID

from bigtime import model as bt
from bigtime.systems.portal import errors, records, values
from bigtime.systems.portal.chain import SALT_BYTES, entries_of
from bigtime.systems.portal.design import Action, Audited, Order, Tenant
from bigtime.systems.portal.records import Change, RecordChange
from bigtime.systems.portal.tenants import orderly, tenant_of
from bigtime.systems.portal.values import Status

Along: TypeAlias = Callable[[Tenant], tuple[bt.Write[Any], ...]]
"""The writes to other tables that belong to a succession, given the successor."""

TIME_BYTES: Final = 6


def prepare_successor(tenant_id: str, email: str, *, along: Along) -> bt.Steps[Tenant]:
    """One transaction: the tenant of an address that was just confirmed, REGISTERED, and `along`.

    A suspended or deleted tenant cannot have a successor or become one.
    """
    address = values.checked_email(email)
    for _ in range(records.TRIES):
        former = yield from bt.get(
            Tenant.key(tenant_id), consistent=True, missing=errors.UnknownTenant
        )
        unchanged = bt.check(
            orderly(former).own_key(),
            if_exists=records.Overtaken,
            when=bt.unchanged(former),
            otherwise=records.Overtaken,
        )
        known = yield from tenant_of(address)
        try:
            if known is None:
                return (yield from create_successor(former, address, unchanged, along))
            return (yield from register_successor(former, known, unchanged, along))
        except (errors.EmailTaken, records.Overtaken):
            continue
    raise bt.Conflict


def create_successor(
    former: Tenant, address: str, unchanged: bt.Write[Any], along: Along
) -> bt.Steps[Tenant]:
    moment = values.checked_moment((yield from bt.now()))
    successor = Tenant(
        id=values.random_id("tenant", (yield from bt.random_bytes(16))),
        email=address,
        status=Status.REGISTERED,
        organization_name=former.organization_name,
        destination_email=former.destination_email,
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=former.id,
    )
    return (
        yield from records.create_record(
            successor, checks=(unchanged, *along(successor)), reason=takeover_reason(former)
        )
    )


def register_successor(
    former: Tenant, known: Tenant, unchanged: bt.Write[Any], along: Along
) -> bt.Steps[Tenant]:
    """Registers the address's existing tenant, which keeps its own details."""
    details = {
        "organization_name": known.organization_name or former.organization_name,
        "destination_email": known.destination_email or former.destination_email,
    }

    def decide(tenant: Tenant) -> Change | None:
        return Change(
            {"status": Status.REGISTERED, **details},
            Action.STATUS_CHANGED if tenant.status != Status.REGISTERED else Action.UPDATED,
            takeover_reason(former),
            checks=(unchanged, *along(orderly(tenant))),
        )

    change = RecordChange(known.own_key(), former.id, errors.UnknownTenant)
    return (yield from change.apply(decide))


TAKEOVER: Final = "Takes over the account and the orders of {}."
HANDOVER: Final = "Its account and orders moved to {}."


def takeover_reason(former: Tenant) -> str:
    return TAKEOVER.format(former.id)


def former_tenants(successor_id: str) -> bt.Steps[list[Tenant]]:
    """The tenants that this one took over from, unless their address has another owner since.

    The audit log of each shows it: afterwards nothing was done to such a tenant except by this
    module or to erase it, and it has no orders.
    """
    found: list[Tenant] = []
    for entry in (yield from entries_of(Audited.TENANTS, successor_id)):
        former_id = former_in(entry.reason)
        former = (yield from bt.get(Tenant.key(former_id), consistent=True)) if former_id else None
        if former is not None and (yield from is_left(former.id, successor_id, entry.at)):
            found.append(former)
    return found


def is_left(tenant_id: str, successor_id: str, since: datetime) -> bt.Steps[bool]:
    """Whether nobody has used a tenant since it handed over."""
    for entry in (yield from entries_of(Audited.TENANTS, tenant_id)):
        is_erasing = entry.action in ERASING and entry.actor == tenant_id
        if entry.at > since and entry.reason != HANDOVER.format(successor_id) and not is_erasing:
            return False
    orders = yield from bt.all_of(Order.within("main", tenant_id=tenant_id), consistent=True)
    return not any(order.active for order in orders)


ERASING: Final = frozenset({Action.DELETED, Action.ANONYMISED})


def former_in(reason: str | None) -> str | None:
    """The tenant that a `takeover_reason` names."""
    before, after = TAKEOVER.split("{}")
    if reason is None or not reason.startswith(before):
        return None
    return reason.removeprefix(before).removesuffix(after)


# After the transaction


def hand_over(tenant_id: str, successor_id: str, *, until: datetime) -> bt.Steps[int]:
    """Moves the orders that were placed up to a moment; returns how many. Idempotent."""
    own = Order.within("main", tenant_id=values.checked_tenant_id(tenant_id))
    count, position = 0, None
    while True:
        page = yield from bt.query(own, limit=records.PAGE, after=position, consistent=True)
        for order in page:
            if order.active and order.date_created <= until:
                yield from move_order(order, successor_id)
                count += 1
        position = page.position
        if position is None:
            break
    yield from clear_details(tenant_id, successor_id)
    return count


def move_order(order: Order, successor_id: str) -> bt.Steps[None]:
    """One transaction: archives the order, creates its copy, and an audit entry of each."""
    moment = values.checked_moment((yield from bt.now()))
    copy = order.model_copy(
        update={
            "id": copied_id(order.id, successor_id),
            "tenant_id": successor_id,
            "date_last_updated": moment,
            "last_updated_by": order.tenant_id,
        }
    )
    salt = yield from bt.random_bytes(SALT_BYTES)
    reason = f"Copy of {order.id} of {order.tenant_id}."
    created = records.record_entry(None, copy, Action.CREATED, salt, reason=reason)
    archive = Change({"active": False}, Action.DELETED, f"Moved to {successor_id} as {copy.id}.")
    writes = (
        bt.create(copy, unless_exists=errors.IdTaken),
        bt.create(created, unless_exists=errors.IdTaken),
    )

    def decide(present: Order) -> Change | None:
        return replace(archive, checks=writes) if present.active else None

    change = RecordChange(order.own_key(), order.tenant_id, errors.UnknownOrder)
    with suppress(errors.IdTaken):  # another request has just moved it
        yield from change.apply(decide)


def copied_id(order_id: str, successor_id: str) -> str:
    """The id of an order's copy: it sorts like the order's, and is always the same."""
    time = UUID(values.checked_order_id(order_id).removeprefix("order_")).bytes[:TIME_BYTES]
    digest = sha256(f"{order_id} of {successor_id}".encode()).digest()
    return f"order_{values.uuid_of(time, digest)}"


def clear_details(tenant_id: str, successor_id: str) -> bt.Steps[None]:
    """Removes the organization and the forms' address from a tenant that has handed over."""
    reason = HANDOVER.format(successor_id)

    def decide(tenant: Tenant) -> Change | None:
        if tenant.organization_name is None and tenant.destination_email is None:
            return None
        return Change({"organization_name": None, "destination_email": None}, reason=reason)

    change = RecordChange(Tenant.key(tenant_id), tenant_id, errors.UnknownTenant)
    yield from change.apply(decide)
