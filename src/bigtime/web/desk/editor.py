"""Who may sit at the desk: every route of it takes an `Editor`, and so is closed to others."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web.pages import context_of


async def editor_of(request: Request) -> Visitor:
    return await context_of(request).with_role(request, accounts.Role.EDITOR)


Editor: TypeAlias = Annotated[Visitor, Depends(editor_of)]
