"""Keys as bytes whose memcmp order is DynamoDB's order.

A table or index orders its items by two blobs, and SQLite compares blobs byte by byte:

1. The partition blob is four bytes of hash, then the partition key, so that a scan reads partitions
   in hash order and a parallel scan cuts that order into disjoint segments.
2. The sort blob is the sort key alone: a string is its UTF-8, a binary is its bytes, a number
   is `number.sort_bytes`. Without a sort key it is empty.
3. A global index may have up to four attributes in either half. Then each string or binary is
   escaped and terminated (00 becomes 00 FF, the end is 00 01), so that one attribute's bytes never
   run into the next one's; numbers are self-terminating.

A range of sort keys is always half open, `[low, high)`: every key condition becomes one.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, TypeAlias
from zlib import crc32

from bigtime.engine.storage.definition import KeyAttribute
from bigtime.wire import AttributeValue, Item, ValidationException, canonical, sort_bytes

# AWS: "Constraints in Amazon DynamoDB", "Partition keys and sort keys"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MAX_HASH_BYTES = 2048
MAX_RANGE_BYTES = 1024
HASH_SPACE = 1 << 32

Encoder: TypeAlias = Callable[[str], bytes]


class SortRange(NamedTuple):
    """Sort blobs from `low` up to but not including `high`; None means no bound."""

    low: bytes | None = None
    high: bytes | None = None


def number_bytes(text: str) -> bytes:
    return sort_bytes(canonical(text))


def encode_with_terminator(encode: Encoder, value: str) -> bytes:
    return encode(value).replace(b"\x00", b"\x00\xff") + b"\x00\x01"


RAW: Mapping[str, Encoder] = {"S": str.encode, "B": b64decode, "N": number_bytes}
CLOSED: Mapping[str, Encoder] = {
    "S": partial(encode_with_terminator, str.encode),
    "B": partial(encode_with_terminator, b64decode),
    "N": number_bytes,
}


def with_hash_prefix(partition: bytes) -> bytes:
    return crc32(partition).to_bytes(4, "big") + partition


def segment_range(segment: int, total: int) -> SortRange:
    """The partition blobs of one segment of a parallel scan."""
    low = -(-segment * HASH_SPACE // total)
    high = -(-(segment + 1) * HASH_SPACE // total)
    return SortRange(
        low.to_bytes(4, "big"), None if high == HASH_SPACE else high.to_bytes(4, "big")
    )


def after_prefix(prefix: bytes) -> bytes | None:
    """The first blob greater than every blob that starts with `prefix`."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes((stem[-1] + 1,)) if stem else None


class KeyCodec:
    """Turns the key attributes of one table or index into its two blobs."""

    def __init__(
        self, hash_key: tuple[KeyAttribute, ...], range_key: tuple[KeyAttribute, ...]
    ) -> None:
        self.hash_key = hash_key
        self.range_key = range_key
        self._hash = encoders(hash_key)
        self._range = encoders(range_key)
        self._texts = tuple(
            (attribute.name, attribute.type, most_bytes)
            for half, most_bytes in ((hash_key, MAX_HASH_BYTES), (range_key, MAX_RANGE_BYTES))
            for attribute in half
            if attribute.type != "N"
        )
        # One attribute in each half is by far the commonest case, and has its own path.
        self._simple_hash = self._hash[0] if len(hash_key) == 1 else None
        self._simple_range = self._range[0] if len(range_key) == 1 else None

    def blobs(self, item: Item) -> tuple[bytes, bytes] | None:
        """The blobs of an item; None if a key attribute is absent or cannot be a key.

        An item put before its index was created may have a value of another type, an empty one, or
        one too long for a key: such an item is not in the index.
        """
        try:
            for name, tag, most_bytes in self._texts:
                text = item[name][tag]
                if not text or (len(text) * 4 > most_bytes and len(RAW[tag](text)) > most_bytes):
                    return None
            return self.partition(item), self.sort(item)
        except KeyError:
            return None

    def partition(self, item: Item) -> bytes:
        if self._simple_hash:
            name, tag, encode = self._simple_hash
            partition = encode(item[name][tag])
        else:
            partition = b"".join(encode(item[name][tag]) for name, tag, encode in self._hash)
        return crc32(partition).to_bytes(4, "big") + partition

    def sort(self, item: Item) -> bytes:
        if self._simple_range:
            name, tag, encode = self._simple_range
            return encode(item[name][tag])
        return b"".join(encode(item[name][tag]) for name, tag, encode in self._range)

    def key(self, partition: bytes, sort: bytes) -> Item:
        """The key attributes encoded in the two blobs."""
        return key_values(partition[4:], self.hash_key) | key_values(sort, self.range_key)

    def sort_range(self, terms: tuple[tuple[str, tuple[AttributeValue, ...]], ...]) -> SortRange:
        """The range that a query's conditions select.

        `terms` are the (operator, operands) of the leading sort attributes: all but the last are
        "=".
        """
        prefix = b""
        for (_, tag, encode), (operator, operands) in zip(self._range, terms, strict=False):
            low, high = (encode(operands[0][tag]), encode(operands[-1][tag]))
            if operator == "begins_with":
                stem = prefix + self._stem(operands[0], tag)
                return SortRange(stem, after_prefix(stem))
            if operator == "=":
                equal = prefix + low
                bounds = SortRange(equal, self._after(equal))
                prefix = equal
            else:
                bounds = self._compare(operator, prefix, prefix + low, prefix + high)
        return bounds

    def _compare(self, operator: str, prefix: bytes, low: bytes, high: bytes) -> SortRange:
        end = after_prefix(prefix) if prefix else None
        match operator:
            case "<":
                return SortRange(prefix or None, low)
            case "<=":
                return SortRange(prefix or None, self._after(low))
            case ">":
                return SortRange(self._after(low), end)
            case ">=":
                return SortRange(low, end)
            case _:
                return SortRange(low, self._after(high))

    def _after(self, blob: bytes) -> bytes | None:
        """The bound after all sort blobs whose leading attributes are exactly `blob`."""
        return blob + b"\x00" if self._simple_range else after_prefix(blob)

    def _stem(self, operand: AttributeValue, tag: str) -> bytes:
        stem = RAW[tag](operand[tag])
        return stem if self._simple_range else stem.replace(b"\x00", b"\x00\xff")


# --- Back from bytes ------------------------------------------------------------------------
# Only used to name an item that can no longer be read.

POSITIVE, NEGATIVE = (
    {number_bytes(f"{sign}10{pair:02d}01")[3]: pair for pair in range(100)} for sign in ("", "-")
)


def number_text(blob: bytes) -> str:
    """The number that `number_bytes` encoded in these bytes."""
    if blob == b"\x80":
        return "0"
    is_negative = blob[0] == 0x7F
    pairs = NEGATIVE if is_negative else POSITIVE
    digits = "".join(f"{pairs[byte]:02d}" for byte in blob[2:-1])
    exponent = 126 - blob[1] if is_negative else blob[1] - 129
    return canonical(f"{'-' if is_negative else ''}0.{digits}e{exponent}")


def end_of_value(blob: bytes, tag: str) -> int:
    """Where the first of several attributes ends."""
    if tag != "N":
        return blob.index(b"\x00\x01") + 2
    if blob[0] == 0x80:
        return 1
    return blob.index(b"\xff" if blob[0] == 0x7F else b"\x00", 2) + 1


def key_values(blob: bytes, attributes: tuple[KeyAttribute, ...]) -> Item:
    """The key attributes encoded in a blob without its hash prefix."""
    item: Item = {}
    for attribute in attributes:
        value, blob = blob, b""
        if len(attributes) > 1:
            end = end_of_value(value, attribute.type)
            value, blob = value[:end], value[end:]
            if attribute.type != "N":
                value = value[:-2].replace(b"\x00\xff", b"\x00")
        item[attribute.name] = {attribute.type: TEXTS[attribute.type](value)}
    return item


def base64_text(raw: bytes) -> str:
    return b64encode(raw).decode()


TEXTS: Mapping[str, Callable[[bytes], str]] = {
    "S": bytes.decode,
    "B": base64_text,
    "N": number_text,
}


def encoders(attributes: tuple[KeyAttribute, ...]) -> tuple[tuple[str, str, Encoder], ...]:
    table = RAW if len(attributes) == 1 else CLOSED
    return tuple(
        (attribute.name, attribute.type, table[attribute.type]) for attribute in attributes
    )


def base_key(partition: bytes, sort: bytes) -> bytes:
    """Both blobs of a base item joined; distinguishes index entries with equal keys."""
    return len(partition).to_bytes(2, "big") + partition + sort


def base_blobs(entry_key: bytes) -> tuple[bytes, bytes]:
    """The partition and sort blob that `base_key` joined."""
    end = 2 + int.from_bytes(entry_key[:2], "big")
    return entry_key[2:end], entry_key[end:]


def check_key_value(attribute: KeyAttribute, value: AttributeValue, *, is_hash: bool) -> None:
    """A key attribute of the right type must not be empty nor too long."""
    text: str = value[attribute.type]
    if not text:
        kind = "string" if attribute.type == "S" else "binary"
        raise ValidationException(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            f"cannot contain an empty {kind} value. Key: {attribute.name}"
        )
    check_key_size(attribute, text, is_hash=is_hash)


def check_key_size(attribute: KeyAttribute, text: str, *, is_hash: bool) -> None:
    """Rejects a key that is too long, with AWS's message, which lacks a space.

    https://github.com/amazon-archives/dynamodb-janusgraph-storage-backend/issues/296
    https://github.com/formkiq/formkiq-core/issues/271
    """
    if attribute.type == "N" or len(text) * 4 <= MAX_RANGE_BYTES:
        return
    size = len(RAW[attribute.type](text))
    if is_hash and size > MAX_HASH_BYTES:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        )
    if not is_hash and size > MAX_RANGE_BYTES:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        )
