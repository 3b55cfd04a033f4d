"""Records that are made and changed together with the entry that tells of it.

A change reads the record and the end of its chain, and then writes both in one transaction: the
record, on condition that nothing of it has changed since it was read; the entry, on condition that
there is none with its number. If somebody was faster, one of the two fails, and all begins again
with what is there then. So the rules of a change are always judged on the state that it changes,
and no number is given out twice.

The salt of the entry is also the token of the transaction. So a store may send it again when it
does not know whether it was carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, Generic, TypeVar

from bigtime.model import (
    Condition,
    Conflict,
    DomainError,
    Key,
    Page,
    Position,
    Write,
    attr,
    create,
    get,
    now,
    pattern,
    query,
    random_bytes,
    transact,
    update,
)
from bigtime.systems.portal.chain import (
    SALT_BYTES,
    LastEntry,
    Link,
    digest,
    next_entry,
    state_of,
    without_key,
)
from bigtime.systems.portal.design import (
    Action,
    Audited,
    AuditEntry,
    Campaign,
    Order,
    Product,
    Record,
    Tenant,
)
from bigtime.systems.portal.errors import IdTaken, ImmutableField, RecordMoved, UnknownField
from bigtime.systems.portal.paging import PAGE, checked_size
from bigtime.systems.portal.values import (
    checked_actor,
    checked_campaign_id,
    checked_moment,
    checked_order_id,
    checked_product_id,
    checked_tenant_id,
    example_of,
)
from bigtime.wire import Steps

R = TypeVar("R", bound=Record)

TRIES: Final = 20

TABLES: Final[Mapping[type[Record], Audited]] = {
    Tenant: Audited.TENANTS,
    Product: Audited.PRODUCTS,
    Campaign: Audited.CAMPAIGNS,
    Order: Audited.ORDERS,
}


ID_CHECKS: Final[Mapping[Audited, Callable[[Any], str]]] = {
    Audited.TENANTS: checked_tenant_id,
    Audited.PRODUCTS: checked_product_id,
    Audited.CAMPAIGNS: checked_campaign_id,
    Audited.ORDERS: checked_order_id,
    Audited.PRICES: checked_product_id,
}


class Overtaken(Conflict):
    """Somebody else changed it meanwhile: read it again and retry."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a record; `checks` are done together with it, or nothing is."""

    fields: Mapping[str, Any]
    action: Action = Action.UPDATED
    reason: str | None = None
    checks: tuple[Write[Any], ...] = ()
    tells_before: bool = True


@dataclass(frozen=True, slots=True)
class Changing(Generic[R]):
    """One record that somebody changes, and what is said when it is missing."""

    key: Key[R]
    by: str
    missing: type[DomainError]

    def run(self, decide: Callable[[R], Steps[Change | None]]) -> Steps[R]:
        """Changes the record as `decide` says of the state it meets; None changes nothing."""
        actor = checked_actor(self.by)
        for _ in range(TRIES):
            record = yield from get(self.key, consistent=True, missing=self.missing)
            change = yield from decide(record)
            if change is None:
                return record
            last = yield from last_entry(TABLES[type(record)], record.id)
            try:
                return (yield from self.write(record, last, change, actor))
            except Overtaken:
                continue
        raise Conflict

    def write(self, record: R, last: Link | None, change: Change, actor: str) -> Steps[R]:
        moment = checked_moment((yield from now()))
        salt = yield from random_bytes(SALT_BYTES)
        stamps = {"date_last_updated": moment, "last_updated_by": actor}
        after = but(record, {**change.fields, **stamps})
        entry = next_entry(
            last,
            TABLES[type(record)],
            record.id,
            action=change.action,
            at=moment,
            actor=actor,
            salt=salt,
            reason=change.reason,
            before=state_of(record) if change.tells_before else None,
            after=state_of(after),
        )
        yield from transact(
            update(
                record,
                if_exists=self.missing,
                when=is_unchanged(record),
                otherwise=Overtaken,
                **{**differing_fields(record, after), **stamps},
            ),
            create(entry, unless_exists=Overtaken),
            *change.checks,
            token=salt.hex(),
            at=moment,
        )
        return after


def create_record(
    record: R, *, taken: type[DomainError] = IdTaken, checks: tuple[Write[Any], ...] = ()
) -> Steps[R]:
    """Makes a record and begins its chain."""
    salt = yield from random_bytes(SALT_BYTES)
    entry = next_entry(
        None,
        TABLES[type(record)],
        record.id,
        action=Action.CREATED,
        at=record.date_created,
        actor=record.last_updated_by,
        salt=salt,
        after=state_of(record),
    )
    yield from transact(
        create(record, unless_exists=taken),
        *checks,
        create(entry, unless_exists=IdTaken),
        token=salt.hex(),
    )
    return record


def last_entry(table: Audited, id: str) -> Steps[LastEntry | None]:
    """The end of a chain, if it has begun."""
    chain = AuditEntry.within("main", table=table, id=id)
    page = yield from query(chain, only=LastEntry, newest_first=True, limit=1, consistent=True)
    return page.items[0] if page else None


def but(record: R, fields: Mapping[str, Any]) -> R:
    """The record with other values, each as its field has it, or the field's own refusal."""
    return type(record)(**{**record.__dict__, **fields})


def differing_fields(record: Record, other: Record) -> dict[str, Any]:
    return {
        name: getattr(other, name)
        for name in type(record).model_fields
        if getattr(other, name) != getattr(record, name)
    }


def is_unchanged(record: Record) -> Condition:
    """That every field is as it was read; the key cannot change."""
    key = {*record.own_key().fields}
    names = [name for name in type(record).model_fields if name not in key]
    return reduce(
        Condition.__and__,
        (
            attr(name).missing()
            if getattr(record, name) is None
            else attr(name) == getattr(record, name)
            for name in names
        ),
    )


def mark_of(record: Record) -> str:
    """A mark of a record as somebody has seen it: after any change it has another."""
    return digest(without_key(record.layout.to_item(record)))


def check_seen(record: Record, seen: str | None) -> None:
    """That a record is what somebody saw who wants to change it, if they say what they saw."""
    if seen is not None and seen != mark_of(record):
        raise RecordMoved


def edit(
    key: Key[R],
    changes: Mapping[str, Any],
    *,
    by: str,
    changeable: frozenset[str],
    missing: type[DomainError],
    deleted: type[DomainError],
    seen: str | None = None,
) -> Steps[R]:
    """Changes a record as an editor says; what is so already is not changed again."""

    def decide(record: R) -> Steps[Change | None]:
        check_seen(record, seen)
        return edit_change(record, changes, changeable, deleted)
        yield

    return (yield from Changing(key, by, missing).run(decide))


def edit_change(
    record: R, changes: Mapping[str, Any], changeable: frozenset[str], deleted: type[DomainError]
) -> Change | None:
    """What an editor's changes make of a record: its field `active` deletes and restores it."""
    for name in changes:
        if name not in type(record).model_fields:
            known = ", ".join(sorted(changeable))
            raise UnknownField(f"There is no field {name!r}; there are {known}.")
        if name not in changeable:
            raise ImmutableField(f"The field {name!r} cannot be changed.")
    after = but(record, changes)
    if after == record:
        return None
    if not record.active and not after.active:
        raise deleted
    return Change(differing_fields(record, after), edit_of(record, after))


def edit_of(record: Record, after: Record) -> Action:
    if record.active == after.active:
        return Action.UPDATED
    return Action.RESTORED if after.active else Action.DELETED


@pattern(
    "View Audit Log of Record",
    index="Main table",
    sample={"id": example_of("tenant")},
)
def audit_log(
    table: Audited,
    id: str,
    *,
    limit: int = PAGE,
    after: Position | None = None,
    newest_first: bool = True,
) -> Steps[Page[AuditEntry]]:
    """who changed what, when, from and to; newest first, paged"""
    chain = AuditEntry.within("main", table=table, id=ID_CHECKS[table](id))
    return (
        yield from query(
            chain,
            limit=checked_size(limit),
            after=after,
            newest_first=newest_first,
            consistent=True,
        )
    )
