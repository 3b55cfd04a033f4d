"""The log of what editors changed: by whom, and when.

A change is recorded in the transaction that makes it: what happened is in the log, and what is in
the log has happened.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from bigtime.model import (
    Buckets,
    Ksuid,
    Page,
    Position,
    Write,
    buckets,
    create,
    newest_first,
    now,
    pattern,
    random_bytes,
    transact,
)
from bigtime.site.design import EditorAction, EditorChange
from bigtime.wire import Steps

PAGE: Final = 25
MOST_CHARACTERS: Final = 400


def new_change(who: str, action: EditorAction, what: str, link: str) -> Steps[EditorChange]:
    """An entry for the log, as of now; `link` is the path of a page that shows what changed."""
    moment = yield from now()
    randomness = yield from random_bytes(12)
    return EditorChange(
        # A KSUID sorts by its second; microseconds first in its payload sort within that.
        change_id=Ksuid.make(moment, moment.microsecond.to_bytes(4) + randomness),
        at=moment,
        who=who,
        action=action,
        what=shorten(what),
        link=link,
    )


def shorten(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def write_with_change(change: EditorChange, *writes: Write[Any]) -> Steps[None]:
    """One transaction: the writes, and the entry in the log."""
    # With a token, a retry after a lost response is not carried out twice.
    token = (yield from random_bytes(16)).hex()
    yield from transact(*writes, create(change), token=token, at=change.at)


@pattern("View Editor Changes", index="Main table")
def view_changes(*, after: Position | None = None, limit: int = PAGE) -> Steps[Page[EditorChange]]:
    """A query for each month that has changes, newest first, paged."""
    return (yield from newest_first(months(), limit=limit, after=after))


@cache
def months() -> Buckets[EditorChange]:
    return buckets(EditorChange, "main")
