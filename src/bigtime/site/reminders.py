"""Reminding tenants who have not shown yet that their address is theirs: once a day each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bigtime.model import Clash, Position, RuleBroken, create, get_many, now, transact
from bigtime.site.design import Reminder
from bigtime.site.letters import reminder_letter
from bigtime.site.mail import letter
from bigtime.systems import portal
from bigtime.wire import Steps

KEPT: Final = timedelta(days=30)


class RemindedAlready(Clash):
    """This tenant was reminded today; do so again tomorrow."""


class NothingToRemind(RuleBroken):
    """This tenant has confirmed its address by now."""


@dataclass(frozen=True, slots=True)
class ToRemind:
    """A tenant, and who has reminded it today, if somebody has."""

    tenant: portal.Tenant
    reminder: Reminder | None


def to_remind(after: Position | None) -> Steps[tuple[list[ToRemind], Position | None]]:
    page = yield from portal.list_tenants_to_remind(after=after)
    day = (yield from now()).date()
    found = yield from get_many([Reminder.key(one.id, day) for one in page], consistent=True)
    pairs = zip(page.items, found, strict=True)
    return [ToRemind(tenant, reminder) for tenant, reminder in pairs], page.position


def remind(tenant_id: str, *, by: str, base_url: str) -> Steps[None]:
    """Writes to a tenant, and notes that it was done today: both, or neither."""
    tenant = yield from portal.get_tenant(tenant_id)
    if tenant.status != portal.Status.UNVALIDATED:
        raise NothingToRemind
    moment = yield from now()
    note = Reminder(tenant_id=tenant.id, day=moment.date(), by=by, expires_at=moment + KEPT)
    told = reminder_letter(tenant, f"{base_url}/portal/confirm")
    mail = yield from letter(
        f"reminder {tenant.id} {note.day}", tenant.email, told.subject, told.text
    )
    yield from transact(
        create(note, unless_exists=RemindedAlready), create(mail, unless_exists=RemindedAlready)
    )


def remind_each(tenant_ids: Sequence[str], *, by: str, base_url: str) -> Steps[int]:
    """Reminds those who still need it; tells how many."""
    count = 0
    for tenant_id in tenant_ids:
        try:
            yield from remind(tenant_id, by=by, base_url=base_url)
        except (RemindedAlready, NothingToRemind):
            continue
        count += 1
    return count
