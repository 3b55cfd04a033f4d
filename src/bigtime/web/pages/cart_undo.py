"""Undoing the removal of a cart line: the line itself is in the signed text of the undo button."""

from __future__ import annotations

from datetime import datetime, timedelta

from bigtime.model import CursorError, Position
from bigtime.site import Visitor
from bigtime.systems.cart import CartLine
from bigtime.web.pages.app_context import AppContext

UNDO_LASTS = timedelta(hours=1)
"""How long it is offered; the price of a line has no end of its own."""


def undo_text(context: AppContext, line: CartLine) -> str:
    told = line.model_dump(mode="json")
    told["removed_at"] = context.store.clock().isoformat()
    return context.cursors.write(Position(undo_name(line.account_id), told))


def undo_name(username: str) -> str:
    """Whose removal it is; no query is called so."""
    return f"removed by {username}"


def line_in(context: AppContext, visitor: Visitor, text: str) -> CartLine | None:
    """The line that somebody removed here, not long ago."""
    try:
        found = context.cursors.read(text)
    except CursorError:
        return None
    if found.query != undo_name(visitor.username):
        return None
    told = dict(found.place)
    removed_at = datetime.fromisoformat(told.pop("removed_at"))
    return CartLine(**told) if context.store.clock() - removed_at < UNDO_LASTS else None
