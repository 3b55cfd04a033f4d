"""Where a page starts: the `ExclusiveStartKey`, checked and turned into a position."""

from __future__ import annotations

import re

from bigtime.engine.storage import Index, KeyAttribute, Table, base_key, check_key_value
from bigtime.wire import Item, Params, ValidationException, check_value

# AWS puts the prefix before some of the value errors only.
BARE = re.compile(
    "contains duplicates|number set|numeric value|significant digits|number with magnitude"
)
INVALID = "The provided starting key is invalid"


def read_start_key(params: Params) -> Item | None:
    """The start key with its values checked; what it means depends on the table."""
    given = params.get("ExclusiveStartKey")
    if given is None:
        return None
    try:
        return {name: check_value(value)[0] for name, value in given.items()}
    except ValidationException as error:
        if BARE.search(error.message):
            raise
        raise ValidationException(f"{INVALID}: {error.message}") from None


def check_start_value(start: Item, attribute: KeyAttribute, *, is_hash: bool) -> None:
    """One attribute of the key that is read by, as the start key has it."""
    value = start.get(attribute.name)
    if value is None:
        raise ValidationException(INVALID)
    if attribute.type not in value:
        raise ValidationException("The provided key element does not match the schema")
    check_key_value(attribute, value, is_hash=is_hash)


def position(table: Table, index: Index | None, start: Item) -> tuple[bytes, ...]:
    """The blobs of the last item seen: (pk, sk), and in an index also its base key."""
    try:
        blobs = table.key_blobs(table.key_of(start))
    except KeyError:
        raise ValidationException(
            f"{INVALID}: The provided key element does not match the schema"
        ) from None
    except ValidationException as error:
        raise ValidationException(f"{INVALID}: {error.message}") from None
    if index is None:
        return blobs
    return index.codec.partition(start), index.codec.sort(start), base_key(*blobs)
