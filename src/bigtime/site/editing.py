"""What editors do: deals, brands, featured deals and hot deals, with a log of their changes.

A change and its log entry are one transaction: neither exists without the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final, TypeAlias

from bigtime import model as bt
from bigtime.site import cache_tags
from bigtime.site.design import (
    SITE_TABLE,
    EditorAction,
    EditorChange,
    HotDealTask,
    inserted_item,
    new_change_id,
    transact_once,
)
from bigtime.systems import deals
from bigtime.wire import Steps

# --- The slots for featured deals: the front page, the editors' choice, each category ------


FeaturingItem: TypeAlias = deals.FrontPage | deals.EditorsChoice | deals.Category
"""An item that holds featured deals."""


@dataclass(frozen=True, slots=True)
class FeaturedSlot:
    """A list of featured deals: `path` is its form's URL path, `public_path` its page's."""

    name: str
    of: deals.PageName | str
    path: str
    public_path: str
    tag: str
    limits: deals.Limits

    @property
    def category(self) -> str | None:
        return None if isinstance(self.of, deals.PageName) else self.of

    @property
    def key(self) -> bt.Key[Any]:
        """The key of the item that holds the deals."""
        if isinstance(self.of, deals.PageName):
            key: bt.Key[Any] = deals.PAGES[self.of].key
            return key
        return deals.Category.key(self.of)

    @property
    def candidates_tag(self) -> str:
        """The cache tag of its candidates."""
        if self.category is None:
            return cache_tags.ALL_DEALS
        return cache_tags.category_deals_tag(self.category)


FRONT_SLOT: Final = FeaturedSlot(
    "Front page",
    deals.PageName.FRONT_PAGE,
    "/editor/featured/front-page",
    "/",
    cache_tags.FRONT_PAGE,
    deals.ON_A_PAGE,
)
CHOICE_SLOT: Final = FeaturedSlot(
    "Editor's choice",
    deals.PageName.EDITORS_CHOICE,
    "/editor/featured/editors-choice",
    "/editors-choice",
    cache_tags.EDITORS_CHOICE,
    deals.ON_A_PAGE,
)


def category_slot(name: str) -> FeaturedSlot:
    key = deals.category_key(name)
    return FeaturedSlot(
        name,
        key,
        f"/editor/featured/categories/{key}",
        f"/categories/{key}",
        cache_tags.category_tag(key),
        deals.IN_A_CATEGORY,
    )


CATEGORY_NAMES: Final = {deals.category_key(name): name for name in deals.CATEGORIES}
"""The names of categories by their keys."""
SLOTS: Final = (FRONT_SLOT, CHOICE_SLOT, *map(category_slot, deals.CATEGORIES))
SAMPLE_SLOT: Final = {"slot": FRONT_SLOT}


@bt.pattern("Fetch Featured Deals of Slot", index="Main table", sample=SAMPLE_SLOT)
def fetch_featuring(slot: FeaturedSlot) -> Steps[FeaturingItem]:
    """The item that holds them, strongly consistent."""
    if isinstance(slot.of, deals.PageName):
        page: FeaturingItem = yield from deals.PAGES[slot.of].get(consistent=True)
        return page
    return (
        yield from bt.get(
            deals.Category.key(slot.of), missing=deals.UnknownCategory, consistent=True
        )
    )


@bt.pattern("Count Featured Deals of every Slot", index="Main table")
def count_featured() -> Steps[list[int]]:
    """BatchGetItem of the items that hold them, strongly consistent; in the order of the slots."""
    found = yield from bt.get_many((slot.key for slot in SLOTS), consistent=True)
    return [0 if stored is None else len(stored.featured_deals) for stored in found]


def feature_write(
    slot: FeaturedSlot, deal_ids: Sequence[deals.DealId], seen: FeaturingItem
) -> Steps[bt.Write[Any]]:
    """Features deals in a slot, on condition that it still has the ones that were seen."""
    if isinstance(seen, deals.Category):
        return (yield from deals.choosing_for_category(seen, deal_ids, limits=slot.limits))
    assert isinstance(slot.of, deals.PageName)
    return (
        yield from deals.choosing_for_page(
            slot.of, deal_ids, seen.featured_deals, limits=slot.limits
        )
    )


@bt.pattern("Fetch latest Deals for Slot", index="GSI1", sample=SAMPLE_SLOT)
def fetch_latest_for_slot(
    slot: FeaturedSlot, *, after: bt.Position | None = None
) -> Steps[bt.Page[deals.Deal]]:
    """The deals that could be featured in it: all, or those of its category by GSI3."""
    days = deals.all_days() if slot.category is None else deals.category_days(slot.category)
    return (yield from deals.latest(days, after=after))


# --- What editors do -------------------------------------------------------------------


class AlreadyAsked(bt.Clash):
    """The message about this deal was already requested."""


@bt.pattern("Post Deal", index="N/A")
def post_deal(who: deals.Username, deal: deals.Deal, *also: bt.Write[Any]) -> Steps[deals.Deal]:
    """One transaction: the deal, its entry in the log, and `also` other writes."""
    change = yield from new_change(who, EditorAction.CREATED_DEAL, deal.title, deal_path(deal))
    yield from write_with_change(change, *also, bt.create(deal, unless_exists=deals.DealExists))
    return deal


@bt.pattern(
    "Change Deal",
    index="N/A",
    sample={"facts": {"title": "A lamp", "link": "https://example.com", "price": Decimal(5)}},
)
def change_deal(
    who: deals.Username, seen: deals.Deal, facts: Mapping[str, Any]
) -> Steps[deals.Deal]:
    """One transaction: these facts and no others, if the deal is still as it was seen.

    Another `brand` or `category` may be among them, by the name that keys have; without one, both
    stay.
    """
    place = {name: facts.get(name) or getattr(seen, name) for name in deals.PLACE}
    new = {**dict.fromkeys(deals.FACTS), **facts, **place}
    changed = [name for name, value in new.items() if value != getattr(seen, name)]
    if not {*deals.PLACE}.isdisjoint(changed):
        new |= yield from deals.find_place(place["brand"], place["category"])
    at = yield from bt.now()
    write = deals.facts_write(seen, new, at=at)
    if not changed:
        return seen
    names = ", ".join(name.replace("_", " ") for name in changed)
    what = f"{new['title']}: {names}"
    change = yield from new_change(who, EditorAction.CHANGED_DEAL, what, deal_path(seen))
    yield from write_with_change(change, write)
    return seen.model_copy(update=deals.changed_facts(seen, new, at))


@bt.pattern("Unpublish Deal", index="Main table", sample={"why": "A mistake"})
def unpublish_deal(
    who: deals.Username, deal_id: deals.DealId, *, why: str | None = None
) -> Steps[deals.Deal]:
    """One transaction: the deal is off all lists, and an entry in the log."""
    seen = yield from deals.fetch_deal_for_editor(deal_id)
    if not seen.is_listed:
        return seen
    what = f"{seen.title}: {why}" if why else seen.title
    write = deals.unpublish_write(seen, why)
    return (yield from write_status(who, seen, EditorAction.UNPUBLISHED_DEAL, what, write))


@bt.pattern("Publish Deal again", index="Main table")
def publish_deal(who: deals.Username, deal_id: deals.DealId) -> Steps[deals.Deal]:
    """One transaction: the deal is in its lists again, and an entry in the log."""
    seen = yield from deals.fetch_deal_for_editor(deal_id)
    if seen.is_listed:
        return seen
    place = yield from deals.find_place(seen.brand, seen.category)
    write = deals.publish_write(seen, place, at=(yield from bt.now()))
    return (yield from write_status(who, seen, EditorAction.PUBLISHED_DEAL, seen.title, write))


def write_status(
    who: str, seen: deals.Deal, action: EditorAction, what: str, write: bt.Write[deals.Deal]
) -> Steps[deals.Deal]:
    change = yield from new_change(who, action, what, f"/editor{deal_path(seen)}")
    yield from write_with_change(change, write)
    return (yield from deals.fetch_deal_for_editor(seen.deal_id))


@bt.pattern("Create Brand by Editor", index="N/A")
def create_brand(who: deals.Username, name: str, logo: str | None = None) -> Steps[deals.Brand]:
    """One transaction: the brand, its name among all brands, and its entry in the log."""
    change = yield from new_change(who, EditorAction.CREATED_BRAND, name, brand_path(name))
    return (yield from deals.make_brand(name, bt.create(change), logo=logo))


@bt.pattern(
    "Change Brand",
    index="N/A",
    sample={"seen": deals.Brand(brand="Acme", name="Acme"), "facts": {"name": "ACME"}},
)
def change_brand(
    who: deals.Username, seen: deals.Brand, facts: Mapping[str, Any]
) -> Steps[deals.Brand]:
    """One transaction: these facts and no others, if the brand is still as it was seen."""
    new = {**dict.fromkeys(deals.BRAND_FACTS), **facts}
    changed = [name for name, value in new.items() if value != getattr(seen, name)]
    if not changed:
        return seen
    writes = yield from deals.brand_writes(seen, new)
    what = f"{new['name']}: {', '.join(changed)}"
    change = yield from new_change(who, EditorAction.CHANGED_BRAND, what, brand_path(seen.brand))
    yield from write_with_change(change, *writes)
    return (yield from deals.fetch_brand_for_editor(seen.brand))


@bt.pattern(
    "Feature Deals",
    index="Main table",
    sample={"slot": FRONT_SLOT, "seen": deals.FrontPage()},
)
def feature_deals(
    who: deals.Username, slot: FeaturedSlot, deal_ids: Sequence[deals.DealId], seen: FeaturingItem
) -> Steps[None]:
    """One transaction: deals in a slot instead of the ones seen there, and an entry in the log."""
    write = yield from feature_write(slot, deal_ids, seen)
    count = "1 deal" if len(deal_ids) == 1 else f"{len(deal_ids)} deals"
    what = f"{slot.name}: {count}"
    change = yield from new_change(who, EditorAction.FEATURED, what, slot.public_path)
    yield from write_with_change(change, write)


def deal_path(deal: deals.Deal) -> str:
    return f"/deals/{deal.deal_id}"


def brand_path(name: str) -> str:
    return f"/brands/{deals.brand_key(name)}"


# Hot deals: an editor asks for the message, the worker sends it


@bt.pattern("Request Hot Deal Message", index="Main table")
def request_hot_deal(who: deals.Username, deal_id: deals.DealId) -> Steps[deals.Deal]:
    """One transaction: the task and an entry in the log; a second request changes nothing."""
    deal = yield from deals.fetch_deal(deal_id)
    if deal.status is deals.DealStatus.EXPIRED:
        raise deals.DealExpired("This deal has expired; nobody will be notified.")
    change = yield from new_change(who, EditorAction.SENT_HOT_DEAL, deal.title, deal_path(deal))
    task = HotDealTask(deal_id=deal.deal_id, asked_by=who, asked_at=change.at)
    with suppress(AlreadyAsked):
        yield from write_with_change(change, bt.create(task, unless_exists=AlreadyAsked))
    return deal


@bt.pattern("Fetch Hot Deal Task", index="Main table")
def fetch_hot_deal_task(deal_id: deals.DealId) -> Steps[HotDealTask | None]:
    """None if the message was not requested."""
    return (yield from bt.get(HotDealTask.key(deal_id), consistent=True))


@bt.reaction(SITE_TABLE, of=[HotDealTask])
def send_hot_deals(change: bt.Change[bt.Entity]) -> Steps[None]:
    """Sends every user the message of a hot deal; after a crash it continues where it stopped."""
    task = inserted_item(change, HotDealTask)
    if task is not None:
        with suppress(deals.UnknownDeal):
            yield from deals.send_hot_deal_message(task.deal_id)


# --- The log of what editors changed: by whom, and when -----------------------------------


PAGE: Final = 25
MOST_CHARACTERS: Final = 400


def new_change(who: str, action: EditorAction, what: str, link: str) -> Steps[EditorChange]:
    """An entry for the log, as of now; `link` is the path of a page that shows what changed."""
    moment = yield from bt.now()
    return EditorChange(
        change_id=(yield from new_change_id(moment)),
        at=moment,
        who=who,
        action=action,
        what=shorten(what),
        link=link,
    )


def shorten(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def write_with_change(change: EditorChange, *writes: bt.Write[Any]) -> Steps[None]:
    """One transaction: the writes, and the entry in the log."""
    yield from transact_once(*writes, bt.create(change), at=change.at)


@bt.pattern("View Editor Changes", index="Main table")
def view_changes(
    *, after: bt.Position | None = None, limit: int = PAGE
) -> Steps[bt.Page[EditorChange]]:
    """A query for each month that has changes, newest first, paged."""
    return (yield from bt.newest_first(months(), limit=limit, after=after))


@bt.pattern("Fetch last Editor", index="Main table", sample={"path": "/brands/APPLE"})
def fetch_last_editor(path: str, *, besides: deals.Username) -> Steps[str | None]:
    """Who has changed the deal or brand of a page, besides one editor; None if none of late."""
    changes = yield from view_changes()
    others = (each for each in changes if each.who != besides)
    return next((each.who for each in others if each.link in (path, f"/editor{path}")), None)


@cache
def months() -> bt.Buckets[EditorChange]:
    return bt.buckets(EditorChange, "main")
