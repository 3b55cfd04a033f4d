"""What editors do, each noted in the transaction that does it: for the desk, and for the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bigtime.model import Write, create
from bigtime.site.design import EditorAction
from bigtime.site.editor_changes import new_change, noted
from bigtime.site.featured_slots import Featuring, Place, choosing
from bigtime.site.hot_deal_tasks import ask_for_hot_deal
from bigtime.systems import deals
from bigtime.systems.deals import FACTS, Brand, Deal, DealExists, DealId, brand_key, rewriting
from bigtime.wire import Steps


def post_deal(who: str, deal: Deal, *also: Write[Any]) -> Steps[Deal]:
    """Makes a deal, and writes whatever has to be written with it."""
    change = yield from new_change(who, EditorAction.CREATED_DEAL, deal.title, shown_at(deal))
    yield from noted(change, *also, create(deal, unless_exists=DealExists))
    return deal


def change_deal(who: str, seen: Deal, facts: Mapping[str, Any]) -> Steps[Deal]:
    """Gives a deal these facts and no others, if it is still as it was seen."""
    changed = [name for name in FACTS if facts.get(name) != getattr(seen, name)]
    writing = rewriting(seen, facts)
    if changed:
        words = ", ".join(name.replace("_", " ") for name in changed)
        what = f"{facts['title']}: {words}"
        change = yield from new_change(who, EditorAction.CHANGED_DEAL, what, shown_at(seen))
        yield from noted(change, writing)
    return seen.model_copy(update={**dict.fromkeys(FACTS), **facts})


def make_brand(who: str, name: str, logo: str | None) -> Steps[Brand]:
    link = f"/brands/{brand_key(name)}"
    change = yield from new_change(who, EditorAction.CREATED_BRAND, name, link)
    return (yield from deals.make_brand(name, create(change), logo=logo))


def feature(who: str, place: Place, deal_ids: Sequence[DealId], seen: Featuring) -> Steps[None]:
    """Features deals in a place instead of those that were seen there."""
    chosen = yield from choosing(place, deal_ids, seen)
    count = "1 deal" if len(deal_ids) == 1 else f"{len(deal_ids)} deals"
    what = f"{place.name}: {count}"
    change = yield from new_change(who, EditorAction.FEATURED, what, place.shown_at)
    yield from noted(change, chosen)


def tell_everybody(who: str, deal: Deal) -> Steps[None]:
    """Asks for a message to every user; again, it changes nothing."""
    change = yield from new_change(who, EditorAction.SENT_HOT_DEAL, deal.title, shown_at(deal))
    yield from ask_for_hot_deal(deal.deal_id, who, create(change))


def shown_at(deal: Deal) -> str:
    return f"/deals/{deal.deal_id}"
