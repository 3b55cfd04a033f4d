"""Walking through whole tables, by several segments of a Scan at once; it survives interruption.

Each segment is scanned by a thread, which passes every page to a handler and then records the key
that the page ended with. So a page that was being handled when the process died is handled again:
handlers must tolerate that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from bigtime.free_memory import give_back_free_memory
from bigtime.store import Store
from bigtime.wire import Item, Request, Response

LOOK_SECONDS: Final = 0.2
TIDY_SECONDS: Final = 5.0
PAGE_ITEMS: Final = 500
"""Keeps the data in flight small, however large the items."""

PageHandler: TypeAlias = Callable[[str, list[Item]], None]


@dataclass(slots=True)
class Segment:
    """How far the scan of a segment has come."""

    key: Item | None = None
    is_done: bool = False


class TableWalk:
    """Tables to be read in full; `places` holds each segment's position, for a state file."""

    def __init__(
        self,
        tables: Sequence[str],
        segments: int,
        places: dict[str, list[Any]] | None = None,
        *,
        consistent: bool = True,
    ) -> None:
        self.options = {"ConsistentRead": consistent, "Limit": PAGE_ITEMS}
        found = places or {}
        self.segments: dict[str, list[Segment]] = {
            table: [Segment(*place) for place in found[table]]
            if table in found
            else [Segment() for _ in range(segments)]
            for table in tables
        }
        self.at_once = segments
        self.seen = 0
        self._stopping = threading.Event()
        self._counting = threading.Lock()

    def places(self) -> dict[str, list[Any]]:
        return {
            table: [[segment.key, segment.is_done] for segment in segments]
            for table, segments in self.segments.items()
        }

    def run(self, store: Store, handle: PageHandler, look: Callable[[], None]) -> None:
        """Passes the rest to the handler; `look` is called regularly, by the caller's thread."""
        scans = [
            partial(self._scan, store, table, number, handle)
            for table, segments in self.segments.items()
            for number, segment in enumerate(segments)
            if not segment.is_done
        ]
        run_scans(scans, self.at_once, look, self._stopping)

    def _scan(self, store: Store, table: str, number: int, handle: PageHandler) -> None:
        segments = self.segments[table]
        segment = segments[number]
        if self._stopping.is_set():
            return
        params = {"TableName": table, **self.options}
        for page, key in scan_pages(store, params, segment.key, part=(number, len(segments))):
            handle(table, page)
            with self._counting:
                self.seen += len(page)
            segment.key, segment.is_done = key, key is None
            if self._stopping.is_set():
                return


def run_scans(
    scans: Sequence[Callable[[], None]],
    at_once: int,
    look: Callable[[], None],
    stopping: threading.Event,
) -> None:
    """Runs scans on threads; if one fails the others stop. `look` is called regularly."""
    with ThreadPoolExecutor(at_once, "scan") as threads:
        running = [threads.submit(scan) for scan in scans]
        tidied_at = time.monotonic()
        try:
            while wait(running, LOOK_SECONDS, FIRST_EXCEPTION).not_done:
                look()
                if time.monotonic() - tidied_at > TIDY_SECONDS:
                    give_back_free_memory()
                    tidied_at = time.monotonic()
                if any(map(has_failed, running)):
                    break
        finally:
            stopping.set()
    look()
    for scan in running:
        scan.result()


def has_failed(scan: Future[None]) -> bool:
    return scan.done() and scan.exception() is not None


def scan_pages(
    store: Store, params: dict[str, Any], after: Item | None, *, part: tuple[int, int]
) -> Iterator[tuple[list[Item], Item | None]]:
    """The pages of a Scan after a key, each with the key that the next one starts after.

    `part` is the number of the segment and how many there are.
    """
    number, of = part
    segment = {"Segment": number, "TotalSegments": of} if of > 1 else {}
    start = {} if after is None else {"ExclusiveStartKey": after}
    for page in pages(store, "Scan", {**params, **segment, **start}, after="Key"):
        yield page["Items"], page.get("LastEvaluatedKey")


def pages(
    store: Store, operation: str, params: Mapping[str, Any], *, after: str
) -> Iterator[Response]:
    """The pages of a response; `after` completes LastEvaluated... and ExclusiveStart..."""
    start: dict[str, Any] = {}
    while True:
        page = store.send(Request(operation, {**params, **start}))
        yield page
        last = page.get(f"LastEvaluated{after}")
        if not last:
            return
        start = {f"ExclusiveStart{after}": last}
