"""Forms: read field by field, and shown again with an error beside each field that is wrong.

A form is a pydantic model. Each field is checked by itself, so that all errors are shown at once;
the form is shown again with its fields as they were typed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Request
from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from bigtime import site
from bigtime.model import CursorError, DomainError, Malformed, Position
from bigtime.pictures import PictureFault, read_header
from bigtime.site import Visitor
from bigtime.systems.cart import CartLine
from bigtime.web.http import SESSION, BadForm, TooManyTries, field_message, local_path
from bigtime.web.pages.app_context import RESTORE, AppContext, context_of
from bigtime.web.pages.submitted_form import SubmittedForm

F = TypeVar("F", bound=BaseModel)

TOKEN = "form_token"
MOST_BYTES = 256 * 1024
MOST_FIELDS = 1_100
"""A cart has the counts of its lines in one form, and there may be 1,000."""
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
MOST_UPLOAD = 16 * 1024 * 1024
"""Of a form with a picture: one that is too large is read, and gets a sentence beside its field."""
PICTURE = "picture"
"""The field of a picture."""
TOO_LONG = "This form is too long; send less."


async def read_fields(
    request: Request, context: AppContext, *, with_file: bool = False
) -> FormData:
    """The fields of a form, once its token shows that it was sent from a page of this site.

    Every page that changes something reads its form here, so this is where writes are counted.
    A form `with_file` may be sent as multipart/form-data.
    """
    fields = await (parse_multipart if with_file and is_multipart(request) else parse_fields)(
        request
    )
    token = fields.get(TOKEN)
    if not context.form_tokens.fits(
        context.form_holder(request), token if isinstance(token, str) else ""
    ):
        raise BadForm()
    visitor = await context.visitor(request)
    context.count_write(visitor.login if visitor else context.client(request))
    return fields


async def read_open_fields(request: Request, context: AppContext) -> FormData:
    """The fields of a form that a visitor may send who is not signed in, from a cached page.

    Such a page is the same for all guests and sets no cookie, so its form has no token. What the
    browser says of the page it is on stands for it: all send `Sec-Fetch-Site` or `Origin`.
    """
    if await context.visitor(request) is not None or not is_same_origin(request):
        return await read_fields(request, context)
    context.count_write(context.client(request))
    return await parse_fields(request)


def is_same_origin(request: Request) -> bool:
    """Whether the browser says that a form was sent from a page of this host."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


async def parse_fields(request: Request) -> FormData:
    """The fields of a form, signed in or not; raises Malformed if it is none, or too long."""
    if media_type(request) != URLENCODED:
        raise Malformed("A form is sent as application/x-www-form-urlencoded.")
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        raise Malformed(TOO_LONG)
    return await request.form(max_files=0, max_fields=MOST_FIELDS)


def is_multipart(request: Request) -> bool:
    return media_type(request) == MULTIPART


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def fields_before_file(request: Request) -> FormData:
    """The fields of a form up to its file, which is not read: its sender is not signed in."""
    stream = chunks_up_to(request, MOST_BYTES)
    parser = MultiPartParser(request.headers, stream, max_files=0, max_fields=MOST_FIELDS)
    try:
        return await parser.parse()
    except MultiPartException:  # the file begins, or the fields end before it
        return FormData(parser.items)


async def chunks_up_to(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """The beginning of a request's body."""
    async for chunk in request.stream():
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


async def parse_multipart(request: Request) -> FormData:
    """The fields of a form with at most one file; raises Malformed if it is none, or too long."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MOST_UPLOAD:
        raise Malformed(TOO_LONG)
    return await request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)


# A form that was sent when its session had ended: its sender signs in, and finds it as it was


async def page_to_return(request: Request, context: AppContext, *, otherwise: str) -> str | None:
    """The page that a form was sent from, with what was typed kept for it.

    None if it cannot be known that the form is from a page of this site: its token does not fit the
    session that it was sent with, and the browser does not say so.
    """
    try:
        context.count_write(context.client(request))
        typed = typed_fields(await parse_again(request, context))
    except (Malformed, HTTPException, TooManyTries):
        return None
    is_ours = request.headers.get("sec-fetch-site") == "same-origin"
    session = context.cookies.read(SESSION, request.scope["headers"])
    if not is_ours and not context.form_tokens.fits(session, typed.get(TOKEN)):
        return None
    saved = await context.store.run(site.save_form(typed))
    parts = urlsplit(request.headers.get("referer", ""))
    is_here = parts.netloc == request.headers.get("host")
    page = local_path(f"{parts.path}?{parts.query}" if is_here else None, default=otherwise)
    query = {**dict(parse_qsl(urlsplit(page).query)), **({RESTORE: saved} if saved else {})}
    path = urlsplit(page).path
    return f"{path}?{urlencode(query)}" if query else path


async def parse_again(request: Request, context: AppContext) -> FormData:
    """The fields of a refused form; a file is read only if its sender is signed in."""
    if not is_multipart(request):
        return await parse_fields(request)
    is_known = await context.visitor(request) is not None
    return await (parse_multipart if is_known else fields_before_file)(request)


async def read_form(request: Request, context: AppContext, kind: type[F]) -> SubmittedForm[F]:
    return check_form(kind, typed_fields(await read_fields(request, context)))


async def read_picture_form(
    request: Request, context: AppContext, kind: type[F]
) -> tuple[SubmittedForm[F], bytes | None]:
    """A form that may have a picture, and the picture; it is None where it cannot be used."""
    fields = await read_fields(request, context, with_file=True)
    form = check_form(kind, typed_fields(fields))
    file = fields.get(PICTURE)
    content = await file.read() if isinstance(file, UploadFile) else b""
    await fields.close()
    if not content:
        return form, None
    visitor = await context.signed_in(request)
    await context.count_try_of("upload", visitor.login)
    try:
        read_header(content)
    except PictureFault as fault:
        form.value, form.wrong[PICTURE] = None, str(fault)
        return form, None
    return form, content


async def read_visitor_form(
    request: Request, kind: type[F]
) -> tuple[AppContext, Visitor, SubmittedForm[F]]:
    """A form that takes a visitor who is signed in, with the context and the visitor."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    return context, visitor, await read_form(request, context, kind)


def typed_fields(fields: FormData) -> dict[str, str]:
    return {name: value for name, value in fields.items() if isinstance(value, str)}


class CheckedTogether(BaseModel):
    """A form with rules between its fields, which are checked also while other fields are wrong."""

    @classmethod
    def check_together(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, DomainError]]:
        """The fields that break a rule, each with its error; `values` are those that are right."""
        raise NotImplementedError


def check_form(kind: type[F], typed: Mapping[str, str]) -> SubmittedForm[F]:
    """Checks every field; an empty field is a missing one.

    Space around a value is dropped, but not around a secret.
    """
    filled: SubmittedForm[F] = SubmittedForm(typed)
    values: dict[str, Any] = {}
    for name, info in kind.model_fields.items():
        given = typed.get(name, "")
        if info.annotation is not SecretStr:
            given = given.strip()
        if not given:
            if info.is_required():
                filled.wrong[name] = "Please fill out this field."
            continue
        try:
            values[name] = checker(kind, name).validate_python(given)
        except ValidationError as error:
            filled.wrong[name] = field_message(error.errors()[0])
        except DomainError as error:
            filled.wrong[name] = str(error)
    if issubclass(kind, CheckedTogether):
        wrong = {
            **filled.wrong,
            **{name: str(error) for name, error in kind.check_together(values)},
        }
        filled.wrong = {name: wrong[name] for name in kind.model_fields if name in wrong}
    if not filled.wrong:
        complete(filled, kind, values)
    return filled


def complete(filled: SubmittedForm[F], kind: type[F], values: dict[str, Any]) -> None:
    """Makes the form's value of its fields."""
    try:
        filled.value = kind.model_validate(values)
    except ValidationError as error:
        filled.fault = field_message(error.errors()[0])
    except DomainError as error:
        filled.fault = str(error)


@lru_cache(maxsize=1000)
def checker(kind: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = kind.model_fields[name]
    annotation: Any = info.annotation
    for constraint in info.metadata:
        annotation = Annotated[annotation, constraint]
    return TypeAdapter(annotation)


class Back(BaseModel):
    """The form of a button, with the page that it is on."""

    back: str = ""


def split_words(text: object) -> object:
    """A field with several values, separated by spaces, as a list."""
    return text.split() if isinstance(text, str) else text


# Undoing the removal of a cart line: the line itself is in the signed text of the undo button


UNDO_LASTS = timedelta(hours=1)


def undo_text(context: AppContext, line: CartLine) -> str:
    """The text of an undo button, signed as a cursor is, so that it cannot be forged."""
    place = {**line.model_dump(mode="json"), "removed_at": context.store.clock().isoformat()}
    return context.cursors.write(Position(undo_name(line.account_id), place))


def undo_name(account_id: str) -> str:
    """The name in the signed text, in place of a query's; no query has this name."""
    return f"removed by {account_id}"


def line_in(context: AppContext, account_id: str, text: str) -> CartLine | None:
    """The line in the text of an undo button; None if it is too old or of another cart."""
    try:
        found = context.cursors.read(text)
    except CursorError:
        return None
    if found.query != undo_name(account_id):
        return None
    fields = dict(found.place)
    removed_at = datetime.fromisoformat(fields.pop("removed_at"))
    return CartLine(**fields) if context.store.clock() - removed_at < UNDO_LASTS else None
