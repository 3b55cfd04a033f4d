"""What the admin's pages of tenants, products and campaigns share: access, lists,
archiving and restoring, and the history of a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final, TypeAlias, TypeVar

from fastapi import APIRouter, Depends
from starlette.responses import Response

from bigtime.model import Pattern
from bigtime.site import RAND, TENANTS, Visitor, day, moment, money, percent
from bigtime.systems import accounts, portal
from bigtime.web.http import NoSuchPage, see_other
from bigtime.web.pages import AnyForm, AppContext, AppRequest, page_router, visitor_with

T = TypeVar("T")

HISTORY_PAGE: Final = 25
STAMPS: Final = frozenset({"dateLastUpdated", "lastUpdatedBy", "dateCreated", "id"})

history = page_router()


Admin: TypeAlias = Annotated[Visitor, Depends(visitor_with(accounts.Role.ADMIN))]


# Lists


async def count_by_status(context: AppContext) -> dict[portal.Status, int]:
    """Counts active tenants by status; cached until a tenant changes."""
    return await context.remember("tenants by status", (TENANTS,), portal.count_tenants_by_status)


def check_choice(form: AnyForm, name: str, choices: Iterable[tuple[str, str]]) -> None:
    """Raises an error unless the value is one of the choices; empty means the first."""
    if form.typed.get(name, "") not in dict(choices):
        refuse_choice(form, name, "Choose one of these.")


def refuse_choice(form: AnyForm, name: str, why: str) -> None:
    form.value = None
    form.wrong[name] = why


# Archiving and restoring


def add_archiving(
    router: APIRouter,
    path: str,
    archive: Pattern[..., T],
    restore: Pattern[..., T],
    key_of: Callable[[T], str],
) -> None:
    """Adds the routes that archive and restore a record; `path` is the record's page."""

    async def run(
        request: AppRequest, admin: Visitor, change: Pattern[..., T], done: str
    ) -> Response:
        await request.read_fields()
        (key,) = request.path_params.values()
        record = await request.run(change(key, by=admin.login))
        return see_other(f"{path.rpartition('/')[0]}/{key_of(record)}?done={done}")

    @router.post(f"{path}/archive")
    async def archive_record(request: AppRequest, admin: Admin) -> Response:
        return await run(request, admin, archive, "archived")

    @router.post(f"{path}/restore")
    async def restore_record(request: AppRequest, admin: Admin) -> Response:
        return await run(request, admin, restore, "restored")


# History


@history.get("/admin/history/{table}/{record_id}")
async def show_history(request: AppRequest, admin: Admin, table: str, record_id: str) -> Response:
    """Everything that was done to a record, newest first."""
    audited = audited_table(table)
    steps = portal.audit_log(audited, record_id, limit=HISTORY_PAGE, after=request.page_start)
    found = await request.run(steps)
    return await request.list_page(
        "admin/history.html",
        found,
        table=audited,
        record_id=record_id,
        **crumbs_of(audited, record_id),
        entries=entry_rows(found),
    )


def crumbs_of(table: portal.Audited, record_id: str) -> dict[str, str]:
    """The breadcrumbs: the list that has a record and, where the path has its id, its page."""
    listed, record_name = LISTED[table]
    path = f"/admin/{listed}"
    record = f"{path}/{record_id}" if record_name else ""
    return {
        "listed": path,
        "list_name": listed.capitalize(),
        "record": record,
        "record_name": record_name,
    }


LISTED: Final = {
    portal.Audited.TENANTS: ("tenants", "This tenant"),
    portal.Audited.PRODUCTS: ("products", "This product"),
    portal.Audited.PRICES: ("products", "This product"),
    portal.Audited.CAMPAIGNS: ("campaigns", ""),
    portal.Audited.ORDERS: ("tenants", ""),
}


def audited_table(table: str) -> portal.Audited:
    try:
        return portal.Audited(table)
    except ValueError:
        raise NoSuchPage() from None


ACTION_WORDS: Final = {
    portal.Action.CREATED: "created it",
    portal.Action.UPDATED: "changed it",
    portal.Action.DELETED: "archived it",
    portal.Action.RESTORED: "restored it",
    portal.Action.STATUS_CHANGED: "changed its status",
    portal.Action.STATUS_OVERRIDDEN: "set its status",
    portal.Action.PRICE_CHANGED: "changed its price",
    portal.Action.ANONYMISED: "anonymised it",
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field, with its old and new value in words."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An audit entry: what was done, in words, and the fields that it changed."""

    entry: portal.AuditEntry
    did: str
    changes: list[FieldChange]

    @property
    def who(self) -> str:
        """The e-mail address of an admin; a tenant acts by its id."""
        actor = self.entry.actor
        return "The customer" if actor.startswith("tenant_") else actor


def entry_rows(entries: Iterable[portal.AuditEntry]) -> list[EntryRow]:
    return [EntryRow(entry, ACTION_WORDS[entry.action], changes_in(entry)) for entry in entries]


def changes_in(entry: portal.AuditEntry) -> list[FieldChange]:
    """The fields that differ: all for a new record, none if the content was erased."""
    if entry.before is None and entry.action != portal.Action.CREATED:
        return []
    before, after = entry.before or {}, entry.after or {}
    names = sorted((before.keys() | after.keys()) - STAMPS)
    return [
        FieldChange(
            field_words(name), value_text(before.get(name), name), value_text(after.get(name), name)
        )
        for name in names
        if before.get(name) != after.get(name)
    ]


def field_words(name: str) -> str:
    """`billingCycle` as words."""
    return re.sub("[A-Z]", lambda letter: f" {letter[0].lower()}", name).capitalize()


MONEY: Final = frozenset(
    "price unitPrice amount subtotal total originalPrice discountedPrice".split()
)
STATUSES: Final = frozenset({"status", "previousStatus"})
PERCENTAGES: Final = frozenset({"discountPercentage"})


def value_text(value: object, field: str = "") -> str:
    """A field's value as shown on pages."""
    match value:
        case None:
            return ""
        case bool() | "true" | "false":  # a string, as it is an index key
            return "yes" if value in (True, "true") else "no"
        case Decimal() | int():
            return number_text(Decimal(value), field)
        case list():
            return ", ".join(value_text(member, field) for member in value)
        case dict():
            return ", ".join(
                f"{field_words(name).lower()} {value_text(member, name)}"
                for name, member in value.items()
            )
    return word_text(str(value), field)


def word_text(value: str, field: str) -> str:
    if ISO.fullmatch(value):
        read = datetime.fromisoformat(value)
        return moment(read) if read.tzinfo else day(read)
    return value.capitalize() if field in STATUSES else value


ISO: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?")


def number_text(value: Decimal, field: str) -> str:
    if field in MONEY:
        return money(value, RAND)
    return percent(value) if field in PERCENTAGES else f"{value:f}"
