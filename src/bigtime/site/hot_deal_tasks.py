"""Work that takes long: an editor asks for it, the second process does it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bigtime.model import Change, Clash, Write, create, now, random_bytes, transact
from bigtime.site.design import Task
from bigtime.systems import deals
from bigtime.wire import Steps


class AlreadyAsked(Clash):
    """Everybody is told of this deal already."""


def ask_for_hot_deal(deal_id: deals.DealId, who: str, *also: Write[Any]) -> Steps[None]:
    """Asks that everybody is told of a deal; to ask again changes nothing.

    What `also` is to be written is written with the first asking, or not at all.
    """
    deal = yield from deals.fetch_deal(deal_id)
    task = Task(deal_id=deal.deal_id, asked_by=who, asked_at=(yield from now()))
    token = (yield from random_bytes(16)).hex()
    with suppress(AlreadyAsked):
        yield from transact(create(task, unless_exists=AlreadyAsked), *also, token=token)


def do_task(change: Change[Any]) -> Steps[None]:
    """Does what was asked for; after a crash it comes again, and goes on where it stopped."""
    task = change.of(Task)
    if task is None or task.kind != "insert" or task.after is None:
        return
    with suppress(deals.UnknownDeal):
        yield from deals.send_hot_deal_message(task.after.deal_id)
