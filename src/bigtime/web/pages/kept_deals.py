"""Deals by their ids, kept until they change: pages of all kinds show a few of the same."""

from __future__ import annotations

from collections.abc import Sequence

from bigtime.site import DealsById, deal_tag
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Steps


def kept_deals(deals: TaggedCache[Deal]) -> DealsById:
    """Asks for those that are not kept, and keeps them."""

    def fetch(deal_ids: Sequence[str]) -> Steps[list[Deal]]:
        begun = deals.begin()
        found = {one: deals.get(deal_tag(one)) for one in deal_ids}
        missing = [one for one, deal in found.items() if deal is None]
        if missing:
            for deal in (yield from fetch_deals(missing)):
                tag = deal_tag(deal.deal_id)
                deals.put(tag, deal, (tag,), begun=begun)
                found[deal.deal_id] = deal
        return [deal for deal in found.values() if deal is not None]

    return fetch
