"""Capacity units: DynamoDB's rules for what a request costs, given sizes in bytes.

A read is counted in blocks of 4 KB, half if it is eventually consistent and double in a
transaction; a write in blocks of 1 KB of the larger of the item before and after, double in a
transaction. A query rounds up once, over all that it read; a batch rounds up each item. The
minimum is one block, even if nothing was read or written.

An index is written to when its projection of the item changes: once when the item enters it, leaves
it or changes in it, twice when the item's index key changes, because that is a delete and a put.
Each write is sized by the projection. Only the table's writes cost double in a transaction.

AWS: "DynamoDB read and write operations", and on indexes "Using Global Secondary Indexes in
DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html
"""

from __future__ import annotations

READ_BLOCK = 4096
WRITE_BLOCK = 1024


def read_units(size: int, *, consistent: bool) -> float:
    blocks = -(-size // READ_BLOCK) or 1
    return float(blocks) if consistent else blocks / 2


def transactional_read_units(size: int) -> float:
    return 2 * read_units(size, consistent=True)


def write_units(size: int) -> float:
    return float(-(-size // WRITE_BLOCK) or 1)


def index_write_units(old_size: int | None, new_size: int | None, *, moves: bool) -> float:
    """The units of a change in an index, given the sizes of its projection; None for no entry."""
    removed = 0.0 if old_size is None else write_units(old_size)
    added = 0.0 if new_size is None else write_units(new_size)
    return removed + added if moves else max(removed, added)
