"""Who may sit at the desk: every route of it takes an `Editor`, and so is closed to others."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from bigtime.systems.accounts.design import Role
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor


async def editor_of(request: Request) -> Visitor:
    return await site_of(request).with_role(request, Role.EDITOR)


Editor: TypeAlias = Annotated[Visitor, Depends(editor_of)]
