"""One message for one deal, also to those who watch both its brand and its category.

This reaction takes the place of `announce_deal`; the system `MERGED` has it so. Both messages have
one id then, and whichever comes second finds the first. Change from one to the other when no deal
is waiting in the stream, or its watchers are told by both.
"""

from __future__ import annotations

from typing import Any

from bigtime.model import Change, reaction
from bigtime.systems.deals.announcement import deal_to_announce
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal, MessageKind
from bigtime.systems.deals.watchers import tell_brand_watchers, tell_category_watchers
from bigtime.wire import Steps


@reaction(BIG_TIME_DEALS, of=[Deal])
def announce_deal_once(change: Change[Any]) -> Steps[None]:
    """Tells who watches a new deal's brand or its category, or both, once."""
    deal = deal_to_announce(change)
    if deal is not None:
        yield from tell_brand_watchers(deal, MessageKind.WATCHED)
        yield from tell_category_watchers(deal, MessageKind.WATCHED)
