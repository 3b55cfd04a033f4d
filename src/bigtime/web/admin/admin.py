"""Who may look after the portal: every route of its admin takes an `Admin`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web.pages import SubmittedForm, context_of


async def admin_of(request: Request) -> Visitor:
    return await context_of(request).with_role(request, accounts.Role.ADMIN)


Admin: TypeAlias = Annotated[Visitor, Depends(admin_of)]


# --- Filters of which one of a few is chosen ----------------------------------------------


def check_choice(form: SubmittedForm[Any], name: str, choices: Iterable[tuple[str, str]]) -> None:
    """Refuses what is none of the choices; nothing chosen is the first of them."""
    if form.typed.get(name, "") not in dict(choices):
        refuse_choice(form, name, "Choose one of these.")


def refuse_choice(form: SubmittedForm[Any], name: str, why: str) -> None:
    form.value = None
    form.wrong[name] = why
