"""KSUIDs: ids that sort by the second they were made in.

Twenty bytes, the seconds since 2014-05-13 in four and a payload in sixteen, written in 27 base-62
digits. The digits are in ASCII order, so ids sort as text as they do in time; ids of one second
sort by payload, which is arbitrary.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

KSUID_EPOCH: Final = 1_400_000_000
LENGTH: Final = 27
PAYLOAD_BYTES: Final = 16
DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
VALUES: Final = {digit: value for value, digit in enumerate(DIGITS)}
LAST: Final = "aWgEPTl1tmebfsQzFP4bxwgy80V"


class Ksuid(str):
    """A KSUID in its text form."""

    __slots__ = ()

    def __new__(cls, text: object) -> Self:
        if (
            not isinstance(text, str)
            or len(text) != LENGTH
            or not (text.isascii() and text.isalnum())
        ):
            raise ValueError(f"a KSUID is {LENGTH} base-62 digits, not {text!r}")
        if text > LAST:
            raise ValueError(f"{text!r} is beyond the last KSUID")
        return str.__new__(cls, text)

    @classmethod
    def make(cls, at: datetime, payload: bytes | None = None) -> Self:
        """The id for a moment; `payload` distinguishes it from others of the same second."""
        payload = secrets.token_bytes(PAYLOAD_BYTES) if payload is None else payload
        if len(payload) != PAYLOAD_BYTES:
            raise ValueError(f"a KSUID's payload is {PAYLOAD_BYTES} bytes, not {len(payload)}")
        if at.utcoffset() is None:
            raise ValueError(f"{at.isoformat()} has no time zone: make it as datetime.now(UTC) is")
        second = int(at.timestamp()) - KSUID_EPOCH
        if not 0 <= second < 1 << 32:
            raise ValueError(f"{at.isoformat()} is outside the years that a KSUID can hold")
        return super().__new__(cls, text_of(second << 128 | int.from_bytes(payload)))

    @property
    def at(self) -> datetime:
        """The second it was made in."""
        return datetime.fromtimestamp((number_of(self) >> 128) + KSUID_EPOCH, UTC)

    @property
    def payload(self) -> bytes:
        return (number_of(self) & ((1 << 128) - 1)).to_bytes(PAYLOAD_BYTES)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validated by pydantic's own code for speed: every id that is read passes through here."""
        text = core_schema.custom_error_schema(
            core_schema.str_schema(pattern=up_to(LAST)),
            custom_error_type="ksuid",
            custom_error_message=f"a KSUID is {LENGTH} base-62 digits, and none is after {LAST}",
        )
        return core_schema.no_info_after_validator_function(
            partial(str.__new__, cls), text, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string"}


def ksuid_or(refused: type[Exception]) -> Callable[[str], Ksuid]:
    """A parser of ids that raises the application's own error for anything else."""

    def read(text: str) -> Ksuid:
        if isinstance(text, Ksuid):
            return text
        try:
            return Ksuid(text)
        except ValueError:
            raise refused from None

    return read


def up_to(last: str) -> str:
    """A pattern for base-62 texts of the same length that sort no later than this one."""
    less = (
        f"{last[:place]}[{DIGITS[: VALUES[digit]]}][0-9A-Za-z]{{{len(last) - place - 1}}}"
        for place, digit in enumerate(last)
        if VALUES[digit]
    )
    return f"^(?:{'|'.join((*less, last))})$"


def number_of(text: str) -> int:
    number = 0
    for digit in text:
        number = number * 62 + VALUES[digit]
    return number


def text_of(number: int) -> str:
    digits = []
    for _ in range(LENGTH):
        number, digit = divmod(number, 62)
        digits.append(DIGITS[digit])
    return "".join(reversed(digits))
