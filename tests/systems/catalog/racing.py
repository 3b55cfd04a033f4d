"""A process of its own, for races between processes: engages with a deal so many times."""

from __future__ import annotations

import sys

from bigtime.store import open_store
from bigtime.systems.catalog.errors import AlreadyWatching, EngagementMoved
from bigtime.systems.catalog.trending import find_trending, record_engagement
from bigtime.systems.catalog.watches import watch_category
from bigtime.wire import Steps


def engage(times: int) -> Steps[int]:
    """Records views from the place that was seen first, and tells how many went through."""
    seen = yield from find_trending("electronics", "deal-12345")
    recorded = 0
    while recorded < times:
        try:
            yield from record_engagement(seen, views=1)
            recorded += 1
        except EngagementMoved:
            seen = yield from find_trending("electronics", "deal-12345")
    return recorded


def main(file: str, times: int) -> None:
    with open_store(f"file:{file}") as store:
        store.run(engage(times))
        won = 0
        for number in range(times):
            try:
                store.run(watch_category(f"user-{number}", "electronics"))
                won += 1
            except AlreadyWatching:
                continue
    print(won)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
