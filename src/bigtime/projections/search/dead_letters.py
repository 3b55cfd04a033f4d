"""Dead letters of search: changes whose documents could not be made, tried again.

An index tells what an item is now, so what is tried is the item as it is. If documents can be made
of all that failed, or of some, the index is built anew beside the one in use: the worker may be
writing to that.
"""

from __future__ import annotations

from bigtime.model import ItemMismatch, SearchIndex, layout_in
from bigtime.projections.search.follower import rebuild, searchable
from bigtime.projections.search.port import Backend
from bigtime.store import DeadLetter, DeadLetters, RetriedLetters, Store
from bigtime.wire import Request


def retry_dead_letters(store: Store, backend: Backend) -> RetriedLetters:
    """Builds the index anew, and removes the letters whose items can be indexed by now."""
    handled, _ = try_letters(store, backend.index)
    if handled:
        rebuild(store, backend)
    # To build reads the stream's last records too, and may set some of them aside again.
    handled, failures = try_letters(store, backend.index)
    for letter in handled:
        store.run(DeadLetters().remove(letter))
    return RetriedLetters(len(handled), tuple(failures))


def try_letters(store: Store, index: SearchIndex) -> tuple[list[DeadLetter], list[str]]:
    """The letters whose items can be indexed, and why others cannot."""
    handled: list[DeadLetter] = []
    failures: list[str] = []
    for letter in store.run(DeadLetters().of(f"search.{index.name}")):
        try:
            check_item(store, index, letter)
        except (ItemMismatch, ValueError, ArithmeticError) as error:
            failures.append(f"record {letter.sequence}: {error}")
        else:
            handled.append(letter)
    return handled, failures


def check_item(store: Store, index: SearchIndex, letter: DeadLetter) -> None:
    """Raises what keeps the item from being indexed; one that is gone is fine."""
    table = index.entity.layout.table
    keys = letter.record["dynamodb"]["Keys"]
    asked = Request("GetItem", {"TableName": table.name, "Key": keys, "ConsistentRead": True})
    item = store.send(asked).get("Item")
    layout = layout_in(table)(item) if item else None
    if item and layout is not None and layout.entity is index.entity:
        searchable(index, layout.from_item(item))
