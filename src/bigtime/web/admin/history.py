"""The history of a record: who changed what, when, from and to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.admin.admin import Admin
from bigtime.web.http import NoSuchPage
from bigtime.web.pages import context_of

HISTORY_PAGE = 25

history = APIRouter(include_in_schema=False)


@history.get("/admin/history/{table}/{record_id}")
async def show_history(
    request: Request, admin: Admin, table: str, record_id: str, after: str | None = None
) -> Response:
    """Everything that was done to a record, newest first."""
    context = context_of(request)
    audited = audited_table(table)
    steps = portal.audit_log(
        audited, record_id, limit=HISTORY_PAGE, after=context.cursors.read(after)
    )
    found = await context.store.run(steps)
    page = context.templates.page(
        "admin/history.html",
        table=audited,
        record_id=record_id,
        entries=entry_rows(found),
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
    return await context.answer(request, page)


def audited_table(table: str) -> portal.Audited:
    try:
        return portal.Audited(table)
    except ValueError:
        raise NoSuchPage() from None


# ------------------------------------------------------------------------------------------
# Entries of the audit log as a page shows them: what was done, and which fields it changed.


STAMPS: Final = frozenset({"dateLastUpdated", "lastUpdatedBy", "dateCreated", "id"})


ACTION_WORDS: Final = {
    portal.Action.CREATED: "made it",
    portal.Action.UPDATED: "changed it",
    portal.Action.DELETED: "archived it",
    portal.Action.RESTORED: "restored it",
    portal.Action.STATUS_CHANGED: "moved its status",
    portal.Action.STATUS_OVERRIDDEN: "set its status",
    portal.Action.PRICE_CHANGED: "changed its price",
    portal.Action.ANONYMISED: "anonymised it",
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field, what it was and what it became, in words."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry, what was done in words, and the fields that it changed."""

    entry: portal.AuditEntry
    did: str
    changes: list[FieldChange]


def entry_rows(entries: Iterable[portal.AuditEntry]) -> list[EntryRow]:
    return [EntryRow(entry, ACTION_WORDS[entry.action], changes_in(entry)) for entry in entries]


def changes_in(entry: portal.AuditEntry) -> list[FieldChange]:
    """What differs. Of what was made, everything does; of what was erased nothing is known."""
    if entry.before is None and entry.action != portal.Action.CREATED:
        return []
    before, after = entry.before or {}, entry.after or {}
    names = sorted((before.keys() | after.keys()) - STAMPS)
    return [
        FieldChange(name, value_text(before.get(name)), value_text(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]


def value_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case Decimal():
            return f"{value:f}"
        case list():
            return ", ".join(map(value_text, value))
        case dict():
            return ", ".join(f"{name} {value_text(one)}" for name, one in value.items())
    return str(value)
