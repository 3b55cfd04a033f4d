"""Moving a tenant along: what its lifecycle allows, or anything else with a reason."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems.portal import (
    MoveRefused,
    Reason,
    StatusMoved,
    TenantDeleted,
    TenantStatus,
    override_tenant_status,
    update_tenant_status,
)
from bigtime.web.admin.admin import Admin
from bigtime.web.admin.tenants import HERE, tenant_page
from bigtime.web.http import see_other, status_of
from bigtime.web.pages import SubmittedForm, context_of, read_form
from bigtime.wire import Steps

statuses = APIRouter(include_in_schema=False)


class Move(BaseModel):
    """A step along the lifecycle, from the status that was shown."""

    status: TenantStatus
    expected: TenantStatus


class Override(Move):
    """A step anywhere; somebody has to say why."""

    reason: Reason


@statuses.post(f"{HERE}/{{tenant_id}}/status")
async def move(request: Request, admin: Admin, tenant_id: str) -> Response:
    """Moves a tenant to what its lifecycle allows."""
    form = await read_form(request, context_of(request), Move)
    if form.value is None:
        return await tenant_page(request, tenant_id, moving=form, status=422)
    steps = update_tenant_status(
        tenant_id, form.value.status, by=admin.login, expected=form.value.expected
    )
    return await run_move(request, tenant_id, form, steps)


@statuses.post(f"{HERE}/{{tenant_id}}/override")
async def override(request: Request, admin: Admin, tenant_id: str) -> Response:
    """Moves a tenant to any status, and notes the reason."""
    form = await read_form(request, context_of(request), Override)
    if form.value is None:
        return await tenant_page(request, tenant_id, moving=form, status=422)
    told = form.value
    steps = override_tenant_status(
        tenant_id, told.status, told.reason, by=admin.login, expected=told.expected
    )
    return await run_move(request, tenant_id, form, steps)


async def run_move(
    request: Request, tenant_id: str, form: SubmittedForm[Any], steps: Steps[Any]
) -> Response:
    try:
        await context_of(request).store.run(steps)
    except (MoveRefused, StatusMoved, TenantDeleted) as error:
        form.refuse(error)
        status = status_of(error)
        return await tenant_page(request, tenant_id, moving=form, status=status)
    return see_other(f"{HERE}/{tenant_id}?done=moved")
