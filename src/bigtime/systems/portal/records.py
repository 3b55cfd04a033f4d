"""Records, each created and changed in one transaction with its audit entry; and pages of records.

A change reads the record and the end of its chain, and then writes both in one transaction: the
record, on condition that it is unchanged since it was read; the entry, on condition that there is
none with its number. If another request was faster, one of the conditions fails, and the change
starts again from reading. So the rules of a change are always checked against the state that it
changes, and no number is used twice.

The salt of the entry is also the client request token of the transaction. So a store can send it
again when it does not know whether it was carried out.

A page has 1 to 100 records, only active ones unless inactive ones are included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from bigtime import model as bt
from bigtime.systems.portal import chain as chains
from bigtime.systems.portal import design, errors, values
from bigtime.systems.portal.design import Action, Audited, AuditEntry, Record

R = TypeVar("R", bound=Record)

TRIES: Final = 20
STAMPS: Final = frozenset({"date_last_updated", "last_updated_by"})
PAGE: Final = 50
MOST_ON_A_PAGE: Final = 100
IS_ACTIVE: Final = bt.attr("active") == True  # noqa: E712


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are, by whether they are active."""

    active: int
    inactive: int


def checked_size(limit: object) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_ON_A_PAGE:
        raise errors.PageSizeRefused
    return limit


def activity_page(
    entity: type[R],
    index: str,
    limit: int,
    after: bt.Position | None,
    *,
    newest_first: bool,
    include_inactive: bool = False,
    filter: bt.Condition | None = None,
    **stretch: object,
) -> bt.Steps[bt.Page[R]]:
    """A page of an index by `active`; with the inactive ones, both partitions in one order."""
    size = checked_size(limit)
    kinds = (True, False) if include_inactive else (True,)
    partitions = [entity.within(index, active=active, **stretch) for active in kinds]
    if len(partitions) == 1:
        page = yield from bt.query(
            partitions[0], limit=size, after=after, newest_first=newest_first, filter=filter
        )
    else:
        page = yield from bt.merge(
            *partitions, limit=size, after=after, newest_first=newest_first, filter=filter
        )
    return page


def created_between(start: datetime | None, end: datetime | None) -> dict[str, Any]:
    """The sort-key condition for a range of creation times; both ends are inclusive, or open."""
    low = None if start is None else values.checked_moment(start)
    high = None if end is None else values.checked_moment(end)
    if low and high:
        if low > high:
            raise errors.RangeReversed
        return {"date_created": bt.between(low, high)}
    if low:
        return {"date_created": bt.at_least(low)}
    return {"date_created": bt.at_most(high)} if high else {}


# Changes

TABLES: Final[Mapping[type[Record], Audited]] = {
    design.Tenant: Audited.TENANTS,
    design.Product: Audited.PRODUCTS,
    design.Campaign: Audited.CAMPAIGNS,
    design.Order: Audited.ORDERS,
}
ID_CHECKS: Final[Mapping[Audited, Callable[[Any], str]]] = {
    Audited.TENANTS: values.checked_tenant_id,
    Audited.PRODUCTS: values.checked_product_id,
    Audited.CAMPAIGNS: values.checked_campaign_id,
    Audited.ORDERS: values.checked_order_id,
    Audited.PRICES: values.checked_product_id,
}


class Overtaken(bt.Conflict):
    """Another request changed it meanwhile: read it again and retry."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a record; `checks` are part of its transaction."""

    fields: Mapping[str, Any]
    action: Action = Action.UPDATED
    reason: str | None = None
    checks: tuple[bt.Write[Any], ...] = ()
    tells_before: bool = True


@dataclass(frozen=True, slots=True)
class RecordChange(Generic[R]):
    """Changes a record: has its key, by whom, and the error if it is missing."""

    key: bt.Key[R]
    by: str
    missing: type[bt.DomainError]

    def apply(self, decide: Callable[[R], Change | None]) -> bt.Steps[R]:
        """The same as `run`, where the decision takes no steps."""

        def steps(record: R) -> bt.Steps[Change | None]:
            return decide(record)
            yield

        return self.run(steps)

    def run(self, decide: Callable[[R], bt.Steps[Change | None]]) -> bt.Steps[R]:
        """Changes the record as `decide` says for its current state; None changes nothing."""
        actor = values.checked_actor(self.by)
        for _ in range(TRIES):
            record = yield from bt.get(self.key, consistent=True, missing=self.missing)
            change = yield from decide(record)
            if change is None:
                return record
            last = yield from last_entry(record)
            try:
                return (yield from self.write(record, last, change, actor))
            except Overtaken:
                continue
        raise bt.Conflict

    def write(self, record: R, last: chains.Link | None, change: Change, actor: str) -> bt.Steps[R]:
        moment = values.checked_moment((yield from bt.now()))
        salt = yield from bt.random_bytes(chains.SALT_BYTES)
        stamps = {"date_last_updated": moment, "last_updated_by": actor}
        after = with_fields(record, {**change.fields, **stamps})
        before = record if change.tells_before else None
        entry = record_entry(last, after, change.action, salt, reason=change.reason, before=before)
        yield from bt.transact(
            bt.update(
                record,
                if_exists=self.missing,
                when=bt.unchanged(record),
                otherwise=Overtaken,
                **{**differing_fields(record, after), **stamps},
            ),
            bt.create(entry, unless_exists=Overtaken),
            *change.checks,
            token=salt.hex(),
            at=moment,
        )
        return after


def create_record(
    record: R,
    *,
    taken: type[bt.DomainError] = errors.IdTaken,
    checks: tuple[bt.Write[Any], ...] = (),
    reason: str | None = None,
) -> bt.Steps[R]:
    """Creates a record and begins its chain."""
    salt = yield from bt.random_bytes(chains.SALT_BYTES)
    entry = record_entry(None, record, Action.CREATED, salt, reason=reason)
    yield from bt.transact(
        bt.create(record, unless_exists=taken),
        *checks,
        bt.create(entry, unless_exists=errors.IdTaken),
        token=salt.hex(),
        at=record.date_created,
    )
    return record


def bring_back(record: R, *, by: str, reason: str | None = None) -> bt.Steps[R]:
    """Restores a record to an earlier state, with an entry in its chain; also one that is gone.

    The stamps of its last change are new. If nothing differs, nothing is written.
    """

    def decide(present: R) -> Change | None:
        fields = {
            name: value
            for name, value in differing_fields(present, record).items()
            if name not in STAMPS
        }
        return Change(fields, Action.RESTORED, reason) if fields else None

    class Gone(bt.NotFound):
        """The record is not in its table."""

    try:
        return (yield from RecordChange(record.own_key(), by, Gone).apply(decide))
    except Gone:
        return (yield from create_again(record, values.checked_actor(by), reason))


def create_again(record: R, actor: str, reason: str | None) -> bt.Steps[R]:
    """Creates a record that is gone, and continues its chain."""
    moment = values.checked_moment((yield from bt.now()))
    salt = yield from bt.random_bytes(chains.SALT_BYTES)
    after = with_fields(record, {"date_last_updated": moment, "last_updated_by": actor})
    last = yield from last_entry(record)
    entry = record_entry(last, after, Action.RESTORED, salt, reason=reason)
    yield from bt.transact(
        bt.create(after, unless_exists=errors.IdTaken),
        bt.create(entry, unless_exists=Overtaken),
        token=salt.hex(),
        at=moment,
    )
    return after


def record_entry(
    last: chains.Link | None,
    record: Record,
    action: Action,
    salt: bytes,
    *,
    reason: str | None = None,
    before: Record | None = None,
) -> AuditEntry:
    """The entry for a record's last change: its state before and after."""
    return chains.next_entry(
        last,
        TABLES[type(record)],
        record.id,
        action=action,
        at=record.date_last_updated,
        actor=record.last_updated_by,
        salt=salt,
        reason=reason,
        before=chains.state_of(before) if before else None,
        after=chains.state_of(record),
    )


def last_entry(record: Record) -> bt.Steps[chains.LastEntry | None]:
    """The last entry of a record's chain, if any."""
    chain = AuditEntry.within("main", table=TABLES[type(record)], id=record.id)
    page = yield from bt.query(
        chain, only=chains.LastEntry, newest_first=True, limit=1, consistent=True
    )
    return page.items[0] if page else None


def with_fields(record: R, fields: Mapping[str, object]) -> R:
    """The record with other values, each validated by its field; raises the field's own error."""
    return type(record)(**{**record.__dict__, **fields})


def differing_fields(record: Record, other: Record) -> dict[str, Any]:
    return {
        name: getattr(other, name)
        for name in type(record).model_fields
        if getattr(other, name) != getattr(record, name)
    }


def mark_of(record: Record) -> str:
    """The version mark of a record, which differs after any change."""
    return chains.digest(chains.without_key(record.layout.to_item(record)))


def check_seen(record: Record, seen: str | None) -> None:
    """Raises RecordMoved if the record's mark is not the one that the caller saw."""
    if seen is not None and seen != mark_of(record):
        raise errors.RecordMoved


def edit(
    key: bt.Key[R],
    changes: Mapping[str, object],
    *,
    by: str,
    changeable: frozenset[str],
    missing: type[bt.DomainError],
    deleted: type[bt.DomainError],
    seen: str | None = None,
) -> bt.Steps[R]:
    """Applies an editor's changes to a record; if nothing differs, nothing is written."""

    def decide(record: R) -> Change | None:
        check_seen(record, seen)
        return edit_change(record, changes, changeable, deleted)

    return RecordChange(key, by, missing).apply(decide)


def edit_change(
    record: R,
    changes: Mapping[str, object],
    changeable: frozenset[str],
    deleted: type[bt.DomainError],
) -> Change | None:
    """The change that an editor's fields make; the field `active` deletes and restores a record."""
    for name in changes:
        if name not in type(record).model_fields:
            known = ", ".join(sorted(changeable))
            raise errors.UnknownField(f"There is no field {name!r}; there are {known}.")
        if name not in changeable:
            raise errors.ImmutableField(f"The field {name!r} cannot be changed.")
    after = with_fields(record, changes)
    if after == record:
        return None
    if not record.active and not after.active:
        raise deleted
    return Change(differing_fields(record, after), edit_of(record, after))


def edit_of(record: Record, after: Record) -> Action:
    if record.active == after.active:
        return Action.UPDATED
    return Action.RESTORED if after.active else Action.DELETED


@bt.pattern(
    "View Audit Log of Record", index="Main table", sample={"id": values.example_of("tenant")}
)
def audit_log(
    table: Audited,
    id: str,
    *,
    limit: int = PAGE,
    after: bt.Position | None = None,
    newest_first: bool = True,
) -> bt.Steps[bt.Page[AuditEntry]]:
    """who changed what, when, from and to; newest first, paged"""
    chain = AuditEntry.within("main", table=table, id=ID_CHECKS[table](id))
    size = checked_size(limit)
    return (
        yield from bt.query(
            chain, limit=size, after=after, newest_first=newest_first, consistent=True
        )
    )
