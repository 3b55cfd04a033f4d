"""The visitor's own data: a download of all of it, and the deletion of the account.

Both ask for the password again: a browser that was left open is not enough.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final

import orjson
from fastapi import Response
from pydantic import BaseModel, Field, SecretStr
from starlette.responses import StreamingResponse

from bigtime import site
from bigtime.model import DomainError, Find, Person, RuleBroken
from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web import pages
from bigtime.web.http import Settings, TooManyTries
from bigtime.web.pages import AnyForm, AppContext, AppRequest, SubmittedForm, page_router
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
async def show_data(request: AppRequest) -> Response:
    visitor = await request.signed_in()
    return await request.form_page(DATA, form=pages.empty_form(), visitor=visitor)


# Export


@router.post("/me/data/export")
async def export_data(request: AppRequest) -> Response:
    """Everything that is kept of the visitor, as JSON that is written as it is read."""
    visitor, form = await request.read_visitor_form(AskForExport)
    if form.value is None:
        return await request.form_page(DATA, form=form, visitor=visitor)
    password = form.value.password.get_secret_value()
    try:
        await request.context.count_try_of("export", visitor.login)
        await request.context.cpu_pool.run(accounts.verify_password(visitor.login, password))
    except (TooManyTries, accounts.WrongCredentials) as error:
        return await refused_page(request, DATA, form, error, visitor=visitor)
    person = await request.run(site.find_person(visitor.login))
    moment = request.context.store.clock()
    name = f"bigtime-data-{moment:%Y-%m-%d}.json"
    return StreamingResponse(
        export_chunks(request.context, person, moment),
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
async def show_deletion(request: AppRequest) -> Response:
    visitor = await request.signed_in()
    return await deletion_page(request, visitor, pages.empty_form())


@router.post("/me/data/delete")
async def delete_account(request: AppRequest) -> Response:
    """Closes the account at once and signs out; the worker erases it."""
    visitor, form = await request.read_visitor_form(AskForDeletion)
    if form.value is not None and not is_confirmed(form.value, visitor):
        form.refuse(NotConfirmed(), "confirmation")
    if form.value is None:
        return await deletion_page(request, visitor, form)
    password = form.value.password.get_secret_value()
    try:
        await request.context.count_try_of("delete account", visitor.login)
        await request.context.cpu_pool.run(site.delete_account(visitor.login, password))
    except (
        TooManyTries,
        accounts.WrongCredentials,
        accounts.PasswordChanged,
        accounts.LastAdmin,
        accounts.RolesChanged,
    ) as error:
        return await refused_page(
            request, DELETE, form, error, **deletion_facts(request.context, visitor)
        )
    request.context.visitors.forget_login(visitor.login)
    return await pages.sign_out(request, then="/account-deleted")


def is_confirmed(sent: AskForDeletion, visitor: Visitor) -> bool:
    return sent.confirmation.strip().strip('"').lower() in (visitor.login.lower(), WORD)


async def deletion_page(request: AppRequest, visitor: Visitor, form: AnyForm) -> Response:
    return await request.form_page(DELETE, form=form, **deletion_facts(request.context, visitor))


def deletion_facts(context: AppContext, visitor: Visitor) -> dict[str, Any]:
    is_staff = bool(visitor.roles - {accounts.Role.SHOPPER})
    return {
        "visitor": visitor,
        "reasons": site.reasons_to_keep(is_staff=is_staff),
        "backup_days": backup_days(context.settings),
    }


def backup_days(settings: Settings) -> int:
    """The longest time that backups and point-in-time recovery keep deleted data."""
    if not settings.environment:
        return LONGEST_RECOVERY
    environment = site.SITE.environment(settings.environment)
    return max(environment.retention_days, environment.recovery_days)


@router.get("/account-deleted")
async def show_deleted(request: AppRequest) -> Response:
    return await request.answer(request.context.templates.page("shopper/deleted.html"))


async def refused_page(
    request: AppRequest, template: str, form: SubmittedForm[Any], error: DomainError, **facts: Any
) -> Response:
    is_wrong = isinstance(error, accounts.WrongCredentials)
    form.refuse(WrongPassword() if is_wrong else error, "password" if is_wrong else None)
    return await request.form_page(template, form=form, **facts)
