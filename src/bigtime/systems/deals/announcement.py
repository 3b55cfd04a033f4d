"""What happens when a deal appears: those who watch for it are told.

Who watches both its brand and its category gets two messages, one of each kind; `single` has the
reaction for those who want to give them one. Being told of the same deal again, as streams do,
finds every message there.

A deal that is older than an hour when it is written is history: imported, restored, or made up for
a demonstration. Nobody is told of it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from bigtime.model import Change, reaction
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal, MessageKind
from bigtime.systems.deals.watchers import tell_brand_watchers, tell_category_watchers
from bigtime.wire import Steps

NEWS: Final = timedelta(hours=1)


@reaction(BIG_TIME_DEALS, of=[Deal])
def announce_deal(change: Change[Any]) -> Steps[None]:
    """Tells who watches a new deal's brand, and who watches its category."""
    deal = deal_to_announce(change)
    if deal is not None:
        yield from tell_brand_watchers(deal, MessageKind.BRAND)
        yield from tell_category_watchers(deal, MessageKind.CATEGORY)


def deal_to_announce(change: Change[Any]) -> Deal | None:
    """The deal that has appeared, if it is news."""
    told = change.of(Deal)
    if told is None or told.kind != "insert" or told.after is None:
        return None
    return told.after if change.at - told.after.created_at <= NEWS else None
