"""When an item expires.

The attribute must be a number of epoch seconds; anything else never expires, nor does a time
more than five years past (AWS: "Using time to live (TTL) in DynamoDB"). An expired item can be
read until the expiry worker deletes it.
"""

from __future__ import annotations

from bigtime.wire import Item, decimal

OLDEST_SECONDS = 5 * 365 * 24 * 3600
LATEST_SECOND = 1 << 53


def expiry_second(item: Item | None, attribute: str) -> int | None:
    """The second at which the item expires; None if never."""
    if item is None or attribute not in item:
        return None
    text = item[attribute].get("N")
    if text is None or len(text.partition(".")[0]) > len(str(LATEST_SECOND)):
        return None
    second = int(decimal(text))
    return second if 0 < second <= LATEST_SECOND else None
