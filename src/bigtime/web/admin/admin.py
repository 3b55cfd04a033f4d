"""Who may look after the portal: every route of its admin takes an `Admin`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web.pages import context_of


async def admin_of(request: Request) -> Visitor:
    return await context_of(request).with_role(request, accounts.Role.ADMIN)


Admin: TypeAlias = Annotated[Visitor, Depends(admin_of)]
