"""Who may look after the portal: every route of its admin takes an `Admin`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from bigtime.systems.accounts.design import Role
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor


async def admin_of(request: Request) -> Visitor:
    return await site_of(request).with_role(request, Role.ADMIN)


Admin: TypeAlias = Annotated[Visitor, Depends(admin_of)]
