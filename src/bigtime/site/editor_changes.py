"""The log of what editors changed: by whom, and when.

A change is noted in the transaction that makes it: what happened is in the list, and what is in
the list has happened. The two tables are one transaction's, so no crash comes between them.
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
    random_bytes,
    transact,
)
from bigtime.site.design import EditorAction, EditorChange
from bigtime.wire import Steps

PAGE: Final = 25


MOST_WORDS: Final = 400


def new_change(who: str, action: EditorAction, what: str, link: str) -> Steps[EditorChange]:
    """That somebody changes something now; `link` is the path of a page that shows it."""
    moment = yield from now()
    drawn = yield from random_bytes(12)
    return EditorChange(
        # An id sorts by its second; what comes first in the rest sorts within that.
        change_id=Ksuid.make(moment, moment.microsecond.to_bytes(4) + drawn),
        at=moment,
        who=who,
        action=action,
        what=shortened(what),
        link=link,
    )


def shortened(words: str) -> str:
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1] + "…"


def noted(change: EditorChange, *writes: Write[Any]) -> Steps[None]:
    """The writes and the note of them, or nothing."""
    # With a token, an answer that was lost on the way is asked for again.
    token = (yield from random_bytes(16)).hex()
    yield from transact(*writes, create(change), token=token, at=change.at)


def view_changes(*, after: Position | None = None, limit: int = PAGE) -> Steps[Page[EditorChange]]:
    """Newest first; those of a month lie together."""
    return (yield from newest_first(months(), limit=limit, after=after))


@cache
def months() -> Buckets[EditorChange]:
    return buckets(EditorChange, "main")
