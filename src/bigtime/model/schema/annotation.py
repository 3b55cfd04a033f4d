"""What an annotation says about a field's type, beneath any wrappers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

# Some pydantic types are classes of their own, but validate to an ordinary value.
STANDS_FOR: Final[Mapping[str, type]] = {
    "pydantic.networks.EmailStr": str,
    "pydantic.types.AwareDatetime": datetime,
    "pydantic.types.FutureDate": date,
    "pydantic.types.FutureDatetime": datetime,
    "pydantic.types.PastDate": date,
    "pydantic.types.PastDatetime": datetime,
}


def bare_type(annotation: Any) -> Any:
    """The type beneath Annotated, Optional, NewType, type aliases and pydantic's constraints."""
    while True:
        inner = inner_type(annotation)
        if inner is annotation:
            return annotation
        annotation = inner


def inner_type(annotation: Any) -> Any:
    origin = get_origin(annotation)
    if origin is Annotated:
        return get_args(annotation)[0]
    if origin in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not type(None)]
        return members[0] if len(members) == 1 else annotation
    if isinstance(annotation, type):
        return STANDS_FOR.get(f"{annotation.__module__}.{annotation.__qualname__}", annotation)
    # A NewType has a `__supertype__`, a type alias a `__value__`.
    return getattr(annotation, "__supertype__", getattr(annotation, "__value__", annotation))


def name_of(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def native_type(annotation: Any) -> Literal["N", "B"] | None:
    """The type, N or B, of a field that can be a key attribute by itself; None for other fields."""
    kind = bare_type(annotation)
    if not isinstance(kind, type) or issubclass(kind, bool):
        return None
    if issubclass(kind, int | Decimal):
        return "N"
    return "B" if issubclass(kind, bytes) else None
