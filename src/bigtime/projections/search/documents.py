"""Documents: an entity as an index stores it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final

from bigtime.model import Entity, Key, SearchIndex

TIE_BITS: Final = 16
MOST: Final = 2**46


@dataclass(frozen=True, slots=True)
class Document:
    """An entity's text, facets and ranks, by the names of its fields."""

    key: str
    text: Mapping[str, str]
    parts: Mapping[str, str]
    facets: Mapping[str, str]
    ranks: Mapping[str, int]


def document_of(index: SearchIndex, entity: Entity) -> Document:
    key = key_text(entity.own_key())
    return Document(
        key,
        texts_of(entity, index.text),
        texts_of(entity, index.parts),
        texts_of(entity, index.facets),
        {name: rank(getattr(entity, name), key) for name in index.sort},
    )


def texts_of(entity: Entity, names: tuple[str, ...]) -> dict[str, str]:
    values = ((name, getattr(entity, name)) for name in names)
    return {name: str(value) for name, value in values if value is not None}


def key_text(key: Key[Any]) -> str:
    """The field of a main key as text; if there are several, a JSON list of them."""
    fields = [str(value) for value in key.fields.values()]
    return fields[0] if len(fields) == 1 else json.dumps(fields)


# Ranks. Many hits have the same price, and their order must not change between two pages, nor when
# the index is rebuilt. So a rank is the value followed by some bits of the key's hash. Remaining
# ties are rare enough to be listed in a cursor.


def rank(value: object, key: str) -> int:
    """An integer that sorts like the value, and among equal values by a hash of the key."""
    return (scale(value) << TIE_BITS) | (zlib.crc32(key.encode()) & ((1 << TIE_BITS) - 1))


def rank_bounds(least: Decimal | None, most: Decimal | None) -> tuple[int | None, int | None]:
    """The ranks of all values from `least` to `most`."""
    low = None if least is None else scale(least) << TIE_BITS
    high = None if most is None else ((scale(most) + 1) << TIE_BITS) - 1
    return low, high


def scale(value: object) -> int:
    """A number in hundredths, or a time in seconds; None sorts before all others."""
    match value:
        case None:
            return -MOST
        case datetime():
            return int(value.timestamp())
        case int() | float() | Decimal():
            whole = int((Decimal(value) * 100).to_integral_value(ROUND_FLOOR))
            return max(-MOST, min(MOST - 1, whole))
    raise TypeError(f"search sorts by numbers and times, not by {value!r}")
