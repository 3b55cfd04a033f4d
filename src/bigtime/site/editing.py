"""What editors do, each in one transaction with its entry in the log of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from typing import Any, Final

from bigtime.model import (
    Buckets,
    Change,
    Clash,
    Ksuid,
    Page,
    Position,
    Write,
    buckets,
    create,
    get,
    newest_first,
    now,
    pattern,
    random_bytes,
    reaction,
    transact,
)
from bigtime.site.design import SITE_TABLE, EditorAction, EditorChange, HotDealTask
from bigtime.site.featured_slots import FRONT_SLOT, FeaturedSlot, Featuring, feature_write
from bigtime.systems import deals
from bigtime.systems.deals import FACTS, Brand, Deal, DealExists, DealId, Username, brand_key
from bigtime.wire import Steps


class AlreadyAsked(Clash):
    """The message of this deal was requested before."""


@pattern("Post Deal", index="N/A")
def post_deal(who: Username, deal: Deal, *also: Write[Any]) -> Steps[Deal]:
    """One transaction: the deal, its entry in the log, and `also` other writes."""
    change = yield from new_change(who, EditorAction.CREATED_DEAL, deal.title, deal_path(deal))
    yield from write_with_change(change, *also, create(deal, unless_exists=DealExists))
    return deal


@pattern(
    "Change Deal",
    index="N/A",
    sample={"facts": {"title": "A lamp", "link": "https://example.com", "price": Decimal(5)}},
)
def change_deal(who: Username, seen: Deal, facts: Mapping[str, Any]) -> Steps[Deal]:
    """One transaction: these facts and no others, if the deal is still as it was seen."""
    changed = [name for name in FACTS if facts.get(name) != getattr(seen, name)]
    write = deals.facts_write(seen, facts)
    if changed:
        names = ", ".join(name.replace("_", " ") for name in changed)
        what = f"{facts['title']}: {names}"
        change = yield from new_change(who, EditorAction.CHANGED_DEAL, what, deal_path(seen))
        yield from write_with_change(change, write)
    return seen.model_copy(update={**dict.fromkeys(FACTS), **facts})


@pattern("Create Brand by Editor", index="N/A")
def create_brand(who: Username, name: str, logo: str | None = None) -> Steps[Brand]:
    """One transaction: the brand, its name among all brands, and its entry in the log."""
    link = f"/brands/{brand_key(name)}"
    change = yield from new_change(who, EditorAction.CREATED_BRAND, name, link)
    return (yield from deals.make_brand(name, create(change), logo=logo))


@pattern(
    "Feature Deals",
    index="Main table",
    sample={"slot": FRONT_SLOT, "seen": deals.FrontPage()},
)
def feature_deals(
    who: Username, slot: FeaturedSlot, deal_ids: Sequence[DealId], seen: Featuring
) -> Steps[None]:
    """One transaction: deals in a slot instead of the ones seen there, and an entry in the log."""
    write = yield from feature_write(slot, deal_ids, seen)
    count = "1 deal" if len(deal_ids) == 1 else f"{len(deal_ids)} deals"
    what = f"{slot.name}: {count}"
    change = yield from new_change(who, EditorAction.FEATURED, what, slot.public_path)
    yield from write_with_change(change, write)


def deal_path(deal: Deal) -> str:
    return f"/deals/{deal.deal_id}"


# Hot deals: an editor asks for the message, the worker sends it


@pattern("Request Hot Deal Message", index="Main table")
def request_hot_deal(who: Username, deal_id: DealId) -> Steps[Deal]:
    """One transaction: the task and an entry in the log; a second request changes nothing."""
    deal = yield from deals.fetch_deal(deal_id)
    change = yield from new_change(who, EditorAction.SENT_HOT_DEAL, deal.title, deal_path(deal))
    task = HotDealTask(deal_id=deal.deal_id, asked_by=who, asked_at=change.at)
    with suppress(AlreadyAsked):
        yield from write_with_change(change, create(task, unless_exists=AlreadyAsked))
    return deal


@pattern("Fetch Hot Deal Task", index="Main table")
def fetch_hot_deal_task(deal_id: DealId) -> Steps[HotDealTask | None]:
    """None if the message was not requested."""
    return (yield from get(HotDealTask.key(deal_id), consistent=True))


@reaction(SITE_TABLE, of=[HotDealTask])
def send_hot_deals(change: Change[Any]) -> Steps[None]:
    """Sends every user the message of a hot deal; after a crash it continues where it stopped."""
    task = change.of(HotDealTask)
    if task is None or task.kind != "insert" or task.after is None:
        return
    with suppress(deals.UnknownDeal):
        yield from deals.send_hot_deal_message(task.after.deal_id)


# --- The log of what editors changed: by whom, and when -----------------------------------
# A change is recorded in the transaction that makes it: what happened is in the log, and what is in
# the log has happened.


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
