"""The visitor's own data: a download of all of it, and the deletion of the account.

Both ask for the password again: a browser that was left open is not enough.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final

import orjson
from fastapi import Request, Response
from pydantic import BaseModel, Field, SecretStr
from starlette.responses import StreamingResponse

from bigtime import site
from bigtime.model import DomainError, Find, Person, RuleBroken
from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web import pages
from bigtime.web.http import Settings, TooManyTries, page_router
from bigtime.web.pages import AnyForm, AppContext, SubmittedForm, context_of
from bigtime.web.shop.me import WrongPassword

DATA: Final = "shopper/data.html"
DELETE: Final = "shopper/delete.html"
WORD: Final = "delete"
LONGEST_RECOVERY: Final = 35
"""Days: point-in-time recovery goes back no further, and a daily backup is kept for a week."""

router = page_router()


class NotConfirmed(RuleBroken):
    """Type your e-mail address, or the word "delete"."""


class AskForExport(BaseModel):
    """The form that asks for a copy of all data."""

    password: SecretStr


class AskForDeletion(BaseModel):
    """The form that deletes the account."""

    confirmation: str = Field(max_length=254)
    password: SecretStr


@router.get("/me/data")
async def show_data(request: Request) -> Response:
    context = context_of(request)
    visitor = await context.signed_in(request)
    return await context.form_page(request, DATA, form=pages.empty_form(), visitor=visitor)


# Export


@router.post("/me/data/export")
async def export_data(request: Request) -> Response:
    """Everything that is kept of the visitor, as JSON that is written as it is read."""
    context, visitor, form = await pages.read_visitor_form(request, AskForExport)
    if form.value is None:
        return await context.form_page(request, DATA, form=form, visitor=visitor)
    password = form.value.password.get_secret_value()
    try:
        await context.count_try_of("export", visitor.login)
        await context.cpu_pool.run(accounts.verify_password(visitor.login, password))
    except (TooManyTries, accounts.WrongCredentials) as error:
        return await refused_page(request, DATA, form, error, visitor=visitor)
    person = await context.store.run(site.find_person(visitor.login))
    moment = context.store.clock()
    name = f"bigtime-data-{moment:%Y-%m-%d}.json"
    return StreamingResponse(
        export_chunks(context, person, moment),
        media_type="application/json",
        headers={
            "content-disposition": f'attachment; filename="{name}"',
            "cache-control": "no-store",
        },
    )


async def export_chunks(
    context: AppContext, person: Person, moment: datetime
) -> AsyncIterator[bytes]:
    """The text of an export: a list of items by system and entity, a page at a time."""
    yield b'{"exported_at": ' + orjson.dumps(moment) + b',\n"account": '
    yield orjson.dumps(person.login) + b',\n"data": {'
    system, seen = "", set[tuple[str, str]]()
    for name, data, find in site.listed_data():
        if name != system:
            yield (b"\n}," if system else b"") + b"\n" + orjson.dumps(name) + b": {"
        else:
            yield b","
        system = name
        entity = data.entity.__name__
        label = entity if (name, entity) not in seen else f"{entity}.{data.field}"
        seen.add((name, entity))
        yield b"\n" + orjson.dumps(label) + b": ["
        async for chunk in item_chunks(context, person, find):
            yield chunk
        yield b"]"
    yield b"\n}}}\n"


async def item_chunks(context: AppContext, person: Person, find: Find) -> AsyncIterator[bytes]:
    position, between = None, b""
    while True:
        page = await context.store.run(find(person, position))
        if page.items:
            yield between + b",\n".join(orjson.dumps(site.export_item(item)) for item in page)
            between = b",\n"
        position = page.position
        if position is None:
            return


# Deletion


@router.get("/me/delete")
async def show_deletion(request: Request) -> Response:
    visitor = await context_of(request).signed_in(request)
    return await deletion_page(request, visitor, pages.empty_form())


@router.post("/me/data/delete")
async def delete_account(request: Request) -> Response:
    """Closes the account at once and signs out; the worker erases it."""
    context, visitor, form = await pages.read_visitor_form(request, AskForDeletion)
    if form.value is not None and not is_confirmed(form.value, visitor):
        form.refuse(NotConfirmed(), "confirmation")
    if form.value is None:
        return await deletion_page(request, visitor, form)
    password = form.value.password.get_secret_value()
    try:
        await context.count_try_of("delete account", visitor.login)
        await context.cpu_pool.run(site.delete_account(visitor.login, password))
    except (
        TooManyTries,
        accounts.WrongCredentials,
        accounts.PasswordChanged,
        accounts.LastAdmin,
        accounts.RolesChanged,
    ) as error:
        return await refused_page(request, DELETE, form, error, **deletion_facts(context, visitor))
    context.visitors.forget_login(visitor.login)
    return await pages.sign_out(context, request, then="/account-deleted")


def is_confirmed(sent: AskForDeletion, visitor: Visitor) -> bool:
    return sent.confirmation.strip().strip('"').lower() in (visitor.login.lower(), WORD)


async def deletion_page(request: Request, visitor: Visitor, form: AnyForm) -> Response:
    context = context_of(request)
    return await context.form_page(request, DELETE, form=form, **deletion_facts(context, visitor))


def deletion_facts(context: AppContext, visitor: Visitor) -> dict[str, Any]:
    is_staff = bool(visitor.roles - {accounts.Role.SHOPPER})
    return {
        "visitor": visitor,
        "reasons": site.reasons_to_keep(is_staff=is_staff),
        "backup_days": backup_days(context.settings),
    }


def backup_days(settings: Settings) -> int:
    """For how long backups and point-in-time recovery keep what was deleted, at the most."""
    if not settings.environment:
        return LONGEST_RECOVERY
    environment = site.SITE.environment(settings.environment)
    return max(environment.retention_days, environment.recovery_days)


@router.get("/account-deleted")
async def show_deleted(request: Request) -> Response:
    context = context_of(request)
    return await context.answer(request, context.templates.page("shopper/deleted.html"))


async def refused_page(
    request: Request,
    template: str,
    form: SubmittedForm[Any],
    error: DomainError,
    **facts: Any,
) -> Response:
    is_wrong = isinstance(error, accounts.WrongCredentials)
    form.refuse(WrongPassword() if is_wrong else error, "password" if is_wrong else None)
    return await context_of(request).form_page(request, template, form=form, **facts)
