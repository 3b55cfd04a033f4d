"""Dead letters: stream records that a consumer could not handle, set aside to be retried later.

A record holds up to two images of 400 KB, and so may be larger than an item: it is stored as
compressed JSON, in as many items as it needs. The first item also describes the failure.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Final

import orjson

from bigtime.store.owned_table import OwnedTable
from bigtime.wire import Item, ResourceNotFoundException, Response, Steps

PART_BYTES: Final = 350_000
ERROR_CHARACTERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that was set aside, and the error of the last attempt to handle it."""

    consumer: str
    """The name of the consumer."""
    shard: str
    """The id of the shard."""
    sequence: str
    """The sequence number of the record."""
    error: str
    """The error of the last attempt, as text."""
    attempts: int
    """The number of attempts."""
    failed_at: str
    """When it was set aside, in UTC."""
    record: Response = field(repr=False)
    """The record, as DynamoDB Streams has it."""

    @property
    def place(self) -> str:
        """The record's position in its stream, which identifies it among the consumer's letters."""
        return f"{self.shard}#{self.sequence}"


@dataclass(frozen=True, slots=True)
class RetriedLetters:
    """How many dead letters were handled by a retry, and why the others were not."""

    handled: int
    """Handled now, and deleted."""
    failures: tuple[str, ...]
    """The errors of those that failed again, and are kept."""


class DeadLetters:
    """Stores dead letters in a table, which it creates if it is missing."""

    def __init__(self, table: str = "DeadLetters") -> None:
        self.table = OwnedTable(table, "Consumer", "Place")

    def ready(self) -> Steps[bool]:
        return self.table.ready()

    def put(self, letter: DeadLetter) -> Steps[None]:
        parts = parts_of(letter.record)
        # The first part is written last: without it the others are not listed.
        for number, part in reversed([*enumerate(parts)]):
            item = {
                **self.table.key(letter.consumer, part_name(letter.place, number)),
                "Record": {"B": b64encode(part).decode()},
            }
            if number == 0:
                item |= description_of(letter, len(parts))
            yield from self.table.put(item)

    def of(self, consumer: str) -> Steps[list[DeadLetter]]:
        """The dead letters of a consumer, in the order of their shards and sequence numbers.

        Empty if no consumer has created the table yet.
        """
        try:
            items = yield from self.table.items_in(consumer)
        except ResourceNotFoundException:
            return []
        by_place = {item["Place"]["S"]: item for item in items}
        return [letter_in(item, by_place) for item in items if "Parts" in item]

    def remove(self, letter: DeadLetter) -> Steps[None]:
        for number in range(len(parts_of(letter.record))):
            yield from self.table.delete(letter.consumer, part_name(letter.place, number))


def parts_of(record: Response) -> list[bytes]:
    packed = zlib.compress(orjson.dumps(record))
    return [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]


def part_name(place: str, number: int) -> str:
    return f"{place}#{number}" if number else place


def description_of(letter: DeadLetter, parts: int) -> Item:
    return {
        "Shard": {"S": letter.shard},
        "Sequence": {"S": letter.sequence},
        "Error": {"S": letter.error[:ERROR_CHARACTERS]},
        "Attempts": {"N": str(letter.attempts)},
        "FailedAt": {"S": letter.failed_at},
        "Parts": {"N": str(parts)},
    }


def letter_in(item: Item, by_place: dict[str, Item]) -> DeadLetter:
    names = [part_name(item["Place"]["S"], number) for number in range(int(item["Parts"]["N"]))]
    packed = b"".join(b64decode(by_place[name]["Record"]["B"]) for name in names)
    return DeadLetter(
        consumer=item["Consumer"]["S"],
        shard=item["Shard"]["S"],
        sequence=item["Sequence"]["S"],
        error=item["Error"]["S"],
        attempts=int(item["Attempts"]["N"]),
        failed_at=item["FailedAt"]["S"],
        record=orjson.loads(zlib.decompress(packed)),
    )
