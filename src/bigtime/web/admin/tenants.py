"""Tenants for an admin: found, created, changed, archived and restored."""

from __future__ import annotations

from datetime import UTC, datetime, time
from operator import attrgetter
from typing import Any, Final

from pydantic import BaseModel
from starlette.responses import Response

from bigtime.model import DomainError, Page, Position, get_many
from bigtime.projections.search import SearchOff, SearchUnavailable
from bigtime.site import form_values
from bigtime.systems import portal
from bigtime.web import pages
from bigtime.web.admin import records
from bigtime.web.admin.lists import AT_ONCE, Column, answer_listing, download_list, listing_of
from bigtime.web.admin.records import Admin
from bigtime.web.http import see_other, status_of
from bigtime.web.pages import AnyForm, AppRequest, page_router
from bigtime.wire import Steps

tenants = page_router()

HERE: Final = "/admin/tenants"
DELETED: Final = "deleted"
WHICH: Final = (
    ("", "Active"),
    *((status.value, status.value.capitalize()) for status in portal.Status),
    (DELETED, "Archived"),
)
PAGE: Final = 20
ORDERS: Final = 25
NEWEST: Final = 5
END_OF_DAY: Final = time(23, 59, 59)


class Filters(BaseModel):
    """Which tenants to list."""

    which: str = ""
    since: portal.Day | None = None
    until: portal.Day | None = None
    archived: str = ""

    def steps(
        self, after: Position | None, *, limit: int = PAGE, newest_first: bool = True
    ) -> Steps[Page[portal.Tenant]]:
        query: dict[str, Any] = {
            "created_from": self.since and datetime.combine(self.since, time(), UTC),
            "created_to": self.until and datetime.combine(self.until, END_OF_DAY, UTC),
            "limit": limit,
            "after": after,
            "newest_first": newest_first,
        }
        if self.which == DELETED:
            return portal.list_deleted_tenants(**query)
        query["include_inactive"] = bool(self.archived)
        if not self.which:
            return portal.list_tenants(**query)
        return portal.list_tenants_by_status(portal.Status(self.which), **query)


class NewTenant(BaseModel):
    """The form of a tenant to be made."""

    email: portal.Email
    organization_name: portal.Name | None = None
    destination_email: portal.Email | None = None


class Changes(BaseModel):
    """The form that changes a tenant; `seen` is the mark of what it was."""

    organization_name: portal.Name | None = None
    destination_email: portal.Email | None = None
    seen: str = ""


# Lists


COLUMNS: Final[tuple[Column[portal.Tenant], ...]] = (
    Column("email", "E-mail", attrgetter("email")),
    Column("organization", "Organization", attrgetter("organization_name")),
    Column("status", "Status", attrgetter("status")),
    Column("since", "Since", attrgetter("date_created"), by_index=True),
    Column("kept", "Archived?", lambda tenant: not tenant.active),
    Column("destination", "Form submissions go to", attrgetter("destination"), is_shown=False),
    Column("changed", "Last changed", attrgetter("date_last_updated"), is_shown=False),
    Column("id", "Id", attrgetter("id"), is_shown=False),
)


@tenants.get(HERE)
async def show_tenants(request: AppRequest, admin: Admin) -> Response:
    """Tenants, newest first or in another order, by status and by when they came."""
    form = read_filters(request)
    listing = listing_of(request, COLUMNS, sort="-since", filters=Filters.model_fields)
    found: Page[portal.Tenant] = Page([])
    if form.value is not None:
        steps = form.value.steps(
            request.page_start, newest_first=listing.newest_first(default=True)
        )
        try:
            found = await request.run(steps)
        except portal.RangeReversed as error:
            form.refuse(error, "until")
    return await answer_listing(
        request,
        "admin/tenants.html",
        listing,
        found,
        form=form,
        which=WHICH,
        counts=await records.count_by_status(request.context),
    )


def read_filters(request: AppRequest) -> pages.SubmittedForm[Filters]:
    form = pages.check_form(Filters, dict(request.query_params))
    records.check_choice(form, "which", WHICH)
    return form


@tenants.get(f"{HERE}.csv")
async def download_tenants(request: AppRequest, admin: Admin) -> Response:
    """All tenants that the filters let through; the download is logged."""
    filters = read_filters(request).require("These filters do not go together.")
    return await download_list(
        request,
        admin,
        "tenants",
        COLUMNS,
        lambda after: filters.steps(after, limit=AT_ONCE),
    )


@tenants.get(f"{HERE}/find")
async def find_tenant(request: AppRequest, admin: Admin, email: str = "") -> Response:
    """The tenant of an address, archived or not; else tenants by organization or part of it."""
    try:
        found = await request.run(portal.get_tenant_by_email(email, include_inactive=True))
    except DomainError as error:
        form = pages.empty_form(email=email)
        fault: DomainError = portal.UnknownTenant() if email.strip() else error
        by_words: list[portal.Tenant] = []
        try:
            by_words = await find_by_words(request.context, email)
        except SearchOff:  # without search, tenants are found by their addresses only
            fault = error
        except SearchUnavailable as unavailable:
            fault = unavailable
        if not by_words:
            form.refuse(fault, "email", status=status_of(error))
        return await request.page("admin/find_tenant.html", form=form, tenants=by_words)
    return see_other(f"{HERE}/{found.id}")


async def find_by_words(context: pages.AppContext, text: str) -> list[portal.Tenant]:
    """The tenants that the search index finds; raises SearchUnavailable while there is none."""
    if not text.strip():
        return []
    page = await context.search.tenants(text, None)
    found = await context.store.run(get_many([portal.Tenant.key(hit.key) for hit in page.hits]))
    return [tenant for tenant in found if tenant is not None]


# New tenants


@tenants.get(f"{HERE}/new")
async def show_new(request: AppRequest, admin: Admin) -> Response:
    return await request.form_page("admin/new_tenant.html", form=pages.empty_form())


@tenants.post(f"{HERE}/new")
async def create(request: AppRequest, admin: Admin) -> Response:
    """Makes a tenant; an address that is taken is refused."""
    form = await request.read_form(NewTenant)
    if form.value is not None:
        try:
            steps = portal.create_tenant(**form.value.model_dump(), by=admin.login)
            tenant = await request.run(steps)
        except portal.EmailTaken as error:
            form.refuse(error, "email", status=status_of(error))
        else:
            return see_other(f"{HERE}/{tenant.id}?done=made")
    return await request.form_page("admin/new_tenant.html", form=form)


# A tenant

records.add_archiving(
    tenants,
    f"{HERE}/{{tenant_id}}",
    portal.soft_delete_tenant,
    portal.restore_tenant,
    attrgetter("id"),
)


@tenants.get(f"{HERE}/{{tenant_id}}")
async def show_tenant(
    request: AppRequest, admin: Admin, tenant_id: str, done: str = ""
) -> Response:
    return await tenant_page(request, tenant_id, done=done)


@tenants.post(f"{HERE}/{{tenant_id}}")
async def change(request: AppRequest, admin: Admin, tenant_id: str) -> Response:
    """Changes a tenant's details, if they are still those that the admin has seen."""
    form = await request.read_form(Changes)
    if form.value is None:
        return await tenant_page(request, tenant_id, form=form)
    changes = form.value.model_dump(exclude={"seen"})
    try:
        steps = portal.update_tenant(tenant_id, changes, by=admin.login, seen=form.value.seen)
        await request.run(steps)
    except (portal.RecordMoved, portal.TenantDeleted) as error:
        return await tenant_page(request, tenant_id, form=form.refuse(error))
    return see_other(f"{HERE}/{tenant_id}?done=changed")


def whole_tenant(
    tenant_id: str,
) -> Steps[tuple[portal.Tenant, Page[portal.Order], list[records.EntryRow]]]:
    """A tenant, its newest orders and its newest history."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    orders = yield from portal.list_orders(tenant.id, limit=NEWEST)
    log = yield from portal.audit_log(portal.Audited.TENANTS, tenant.id, limit=NEWEST)
    return tenant, orders, records.entry_rows(log)


async def tenant_page(
    request: AppRequest,
    tenant_id: str,
    *,
    form: AnyForm | None = None,
    moving: AnyForm | None = None,
    done: str = "",
) -> Response:
    """The page of a tenant; `form` and `moving` are its two forms as typed."""
    tenant, orders, entries = await request.run(whole_tenant(tenant_id))
    return await request.form_page(
        "admin/tenant.html",
        tenant=tenant,
        orders=orders,
        entries=entries,
        form=form or pages.empty_form(**form_values(tenant)),
        moving=moving or pages.empty_form(),
        seen=portal.mark_of(tenant),
        onward=portal.onward(tenant) if tenant.active else [],
        others=[(other, other.capitalize()) for other in portal.Status if other != tenant.status],
        done=done,
    )


# Its orders


@tenants.get(f"{HERE}/{{tenant_id}}/orders")
async def show_orders(request: AppRequest, admin: Admin, tenant_id: str) -> Response:
    tenant = await request.run(portal.get_tenant(tenant_id, include_inactive=True))
    steps = portal.list_orders(tenant.id, limit=ORDERS, after=request.page_start)
    found = await request.run(steps)
    return await request.list_page("admin/orders.html", found, tenant=tenant, orders=found.items)


# Its status


class Move(BaseModel):
    """A step along the lifecycle, from the status that was shown."""

    status: portal.TenantStatus
    expected: portal.TenantStatus


class Override(Move):
    """A step to any status, with the reason."""

    reason: portal.Reason


@tenants.post(f"{HERE}/{{tenant_id}}/status")
async def move(request: AppRequest, admin: Admin, tenant_id: str) -> Response:
    """Moves a tenant to what its lifecycle allows."""
    form = await request.read_form(Move)
    if form.value is None:
        return await tenant_page(request, tenant_id, moving=form)
    steps = portal.update_tenant_status(
        tenant_id, form.value.status, by=admin.login, expected=form.value.expected
    )
    return await run_move(request, tenant_id, form, steps)


@tenants.post(f"{HERE}/{{tenant_id}}/override")
async def override(request: AppRequest, admin: Admin, tenant_id: str) -> Response:
    """Moves a tenant to any status, and notes the reason."""
    form = await request.read_form(Override)
    if form.value is None:
        return await tenant_page(request, tenant_id, moving=form)
    sent = form.value
    steps = portal.override_tenant_status(
        tenant_id, sent.status, sent.reason, by=admin.login, expected=sent.expected
    )
    return await run_move(request, tenant_id, form, steps)


async def run_move(
    request: AppRequest, tenant_id: str, form: AnyForm, steps: Steps[object]
) -> Response:
    try:
        await request.run(steps)
    except (portal.MoveRefused, portal.StatusMoved, portal.TenantDeleted) as error:
        return await tenant_page(request, tenant_id, moving=form.refuse(error))
    return see_other(f"{HERE}/{tenant_id}?done=moved")
