"""Forms: parsed, checked field by field, and shown again with an error beside each wrong field.

A form is a pydantic model. Each field is checked separately, so that all errors are shown at once;
the form is shown again with its fields as typed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Generic, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from bigtime.model import DomainError, Malformed, Position
from bigtime.systems.cart import CartLine
from bigtime.web.http import TooManyTries, field_message, status_in_form
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.guest_carts import signed_place

F = TypeVar("F", bound=BaseModel)
F_co = TypeVar("F_co", bound=BaseModel, covariant=True)

TOKEN = "form_token"
MOST_BYTES = 256 * 1024
MOST_FIELDS = 1_100
"""The counts of a cart's lines are one form, and a cart may have 1,000 lines."""
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
MOST_UPLOAD = 16 * 1024 * 1024
"""For a form with a picture: one that is too large is still read, to show an error at its field."""
PICTURE = "picture"
"""The field of a picture."""
TOO_LONG = "This form is too long; send less."


def is_same_origin(request: Request) -> bool:
    """Whether the browser says that a form was sent from a page of this host."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


async def parse_form(request: Request, *, with_file: bool = False) -> FormData:
    """The fields of a form; raises Malformed if the body is no form, or too long.

    A form `with_file` may be sent as multipart/form-data, with at most one file.
    """
    is_multipart = with_file and media_type(request) == MULTIPART
    if not is_multipart and media_type(request) != URLENCODED:
        raise Malformed("A form is sent as application/x-www-form-urlencoded.")
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > (MOST_UPLOAD if is_multipart else MOST_BYTES):
        raise Malformed(TOO_LONG)
    # Kept for an error response, which is built from another object of the same request.
    if not hasattr(request.state, "form"):
        request.state.form = await request.form(
            max_files=int(is_multipart), max_fields=MOST_FIELDS, max_part_size=MOST_BYTES
        )
    fields: FormData = request.state.form
    return fields


async def parse_again(request: Request, *, with_file: bool) -> FormData:
    """The fields of a refused form, up to its file, unless `with_file`."""
    if media_type(request) == MULTIPART and not with_file:
        return await fields_before_file(request)
    return await parse_form(request, with_file=with_file)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def fields_before_file(request: Request) -> FormData:
    """The fields of a form up to its file, which is not read as its sender is not signed in."""
    stream = chunks_up_to(request, MOST_BYTES)
    parser = MultiPartParser(request.headers, stream, max_files=0, max_fields=MOST_FIELDS)
    try:
        return await parser.parse()
    except MultiPartException:  # the file begins, or the fields end before it
        return FormData(parser.items)


async def chunks_up_to(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """Reads a request's body up to a size."""
    async for chunk in request.stream():
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


def typed_fields(fields: FormData) -> dict[str, str]:
    return {name: value for name, value in fields.items() if isinstance(value, str)}


@dataclass(slots=True)
class SubmittedForm(Generic[F_co]):
    """A form as submitted; `value` is None if anything is wrong with it.

    `typed` are its fields as text, `wrong` has a message for each wrong field, and `fault` is one
    for the form as a whole. `shown_as` is the status of its page, if it is not 422.
    """

    typed: Mapping[str, str]
    value: F_co | None = None
    wrong: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    shown_as: int | None = None
    retry_after: int | None = None

    @property
    def status(self) -> int:
        """The status of a page that shows the form."""
        return self.shown_as or (422 if self.wrong or self.fault else 200)

    def require(self, message: str) -> F_co:
        """The value; raises Malformed with the message if there is none."""
        if self.value is None:
            raise Malformed(message)
        return self.value

    def refuse(
        self, error: DomainError, field: str | None = None, *, status: int | None = None
    ) -> Self:
        """Adds an error to the form: beside a field, or for the whole form.

        The page gets the status of an error of the whole form, or the given status.
        """
        self.value = None
        if field is None:
            self.fault = str(error)
            self.shown_as = status_in_form(error)
        else:
            self.wrong[field] = str(error)
        if isinstance(error, TooManyTries):
            self.shown_as, self.retry_after = status_in_form(error), error.seconds
        self.shown_as = status or self.shown_as
        return self


AnyForm: TypeAlias = SubmittedForm[BaseModel]
"""A form that is shown, whatever its fields are."""


def empty_form(**typed: str) -> AnyForm:
    """A form before it is submitted, with its initial values."""
    return SubmittedForm(typed)


class CheckedTogether(BaseModel):
    """A form with rules between its fields, which are checked also while other fields are wrong."""

    @classmethod
    def check_together(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, DomainError]]:
        """The fields that break a rule, each with its error; `values` are those that are right."""
        raise NotImplementedError


def check_form(kind: type[F], typed: Mapping[str, str]) -> SubmittedForm[F]:
    """Checks every field; an empty field counts as missing.

    Surrounding space is stripped from values, but not from secrets.
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
    """Builds the form's value from its fields."""
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


# Undoing the removal of a cart line: the undo button's signed text contains the line itself


UNDO_LASTS = timedelta(hours=1)


def undo_text(context: AppContext, line: CartLine) -> str:
    """The text of an undo button, signed like a cursor, so that it cannot be forged."""
    place = {**line.model_dump(mode="json"), "removed_at": context.store.clock().isoformat()}
    return context.cursors.write(Position(undo_name(line.account_id), place))


def undo_name(account_id: str) -> str:
    """The name in the signed text, in place of a query's fingerprint; no query has this name."""
    return f"removed by {account_id}"


def line_in(context: AppContext, account_id: str, text: str) -> CartLine | None:
    """The line in the text of an undo button; None if it is too old or from another cart."""
    place = signed_place(context.cursors, undo_name(account_id), text)
    if place is None:
        return None
    fields = dict(place)
    removed_at = datetime.fromisoformat(fields.pop("removed_at"))
    return CartLine(**fields) if context.store.clock() - removed_at < UNDO_LASTS else None
