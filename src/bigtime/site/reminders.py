"""Reminders to tenants who have not confirmed their address: at most one a day each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bigtime.model import Clash, Position, RuleBroken, create, get_many, now, pattern, transact
from bigtime.site.design import Reminder
from bigtime.site.letters import reminder_letter
from bigtime.site.mail import draft_mail
from bigtime.systems import portal
from bigtime.wire import Steps

EXPIRES_AFTER: Final = timedelta(days=30)
SAMPLE: Final = {"by": "admin@example.com", "base_url": "https://example.com"}


class RemindedAlready(Clash):
    """This tenant was reminded today; do so again tomorrow."""


class NothingToRemind(RuleBroken):
    """This tenant has confirmed its address by now."""


@dataclass(frozen=True, slots=True)
class ToRemind:
    """A tenant to remind, and the reminder it was sent today, if any."""

    tenant: portal.Tenant
    reminder: Reminder | None


@pattern("View Tenants to remind", index="TenantStatusIndex, Main table")
def view_tenants_to_remind(
    *, after: Position | None = None
) -> Steps[tuple[list[ToRemind], Position | None]]:
    """Unvalidated tenants of the last day, paged, each with today's reminder."""
    page = yield from portal.list_tenants_to_remind(after=after)
    day = (yield from now()).date()
    keys = [Reminder.key(tenant.id, day) for tenant in page]
    reminders = yield from get_many(keys, consistent=True)
    return [*map(ToRemind, page.items, reminders)], page.position


@pattern("Remind Tenant", index="Main table", sample=SAMPLE)
def remind_tenant(tenant_id: portal.TenantId, *, by: str, base_url: str) -> Steps[None]:
    """One transaction: the mail, and today's reminder, of which there is one."""
    tenant = yield from portal.get_tenant(tenant_id)
    if tenant.status != portal.Status.UNVALIDATED:
        raise NothingToRemind
    moment = yield from now()
    reminder = Reminder(
        tenant_id=tenant.id, day=moment.date(), by=by, expires_at=moment + EXPIRES_AFTER
    )
    letter = reminder_letter(tenant, f"{base_url}/portal/confirm")
    mail = yield from draft_mail(f"reminder {tenant.id} {reminder.day}", tenant.email, *letter)
    yield from transact(
        create(reminder, unless_exists=RemindedAlready),
        create(mail, unless_exists=RemindedAlready),
    )


@pattern("Remind Tenants", index="Main table", sample=SAMPLE)
def remind_tenants(tenant_ids: Sequence[portal.TenantId], *, by: str, base_url: str) -> Steps[int]:
    """Those who still need it; gives how many."""
    count = 0
    for tenant_id in tenant_ids:
        try:
            yield from remind_tenant(tenant_id, by=by, base_url=base_url)
        except (RemindedAlready, NothingToRemind):
            continue
        count += 1
    return count
