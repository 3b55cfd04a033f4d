"""Messages that the worker owes to those who watch, compared with their inboxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bigtime.model import Position, all_of, scan
from bigtime.store import Store
from bigtime.systems.deals.design import BrandWatch, CategoryWatch, MessageKind, User
from bigtime.systems.deals.users import view_messages
from bigtime.systems.deals.values import brand_key, category_key
from bigtime.wire import Steps
from proofs.crowd import BRAND, CATEGORY
from proofs.site import wait_until

Told = tuple[str, str, MessageKind]
"""Who is told, of which deal, and why."""


def messages_owed(
    deals: Iterable[str], hot: Iterable[str], everybody: Iterable[str]
) -> Steps[set[Told]]:
    """All messages due: deals go to those who watch the editor's brand or category, hot ones to
    everybody."""
    brands = yield from all_of(BrandWatch.within("main", brand=brand_key(BRAND)))
    categories = yield from all_of(CategoryWatch.within("main", category=category_key(CATEGORY)))
    watchers = {brand.username for brand in brands}
    watchers |= {category.username for category in categories}
    told = {(username, deal, MessageKind.WATCHED) for deal in deals for username in watchers}
    return told | {(username, deal, MessageKind.HOT) for deal in hot for username in everybody}


def usernames() -> Steps[list[str]]:
    """The names of all users."""
    found: list[str] = []
    position: Position | None = None
    while True:
        page = yield from scan(User, index="UserIndex", after=position)
        found += [each.username for each in page]
        position = page.position
        if position is None:
            return found


def inbox_of(username: str) -> Steps[list[Told]]:
    found: list[Told] = []
    position: Position | None = None
    while True:
        page = yield from view_messages(username, after=position)
        found += [(username, str(each.deal_id), each.kind) for each in page]
        position = page.position
        if position is None:
            return found


def inboxes(named: Iterable[str]) -> Steps[Counter[Told]]:
    found: Counter[Told] = Counter()
    for username in named:
        found.update((yield from inbox_of(username)))
    return found


def message_faults(owed: set[Told], found: Counter[Told]) -> list[str]:
    missing = sorted(owed - found.keys())
    faults = [f"{who} was not told of deal {deal} ({kind})" for who, deal, kind in missing]
    twice = sorted(each for each, times in found.items() if times > 1)
    return faults + [f"{who} was told twice of deal {deal} ({kind})" for who, deal, kind in twice]


def arrival_faults(store: Store, told: set[Told], seconds: float) -> list[str]:
    """What is wrong with the inboxes, if something still is after so many seconds."""
    named = sorted({username for username, _, _ in told})
    faults: list[str] = []

    def are_there() -> bool:
        faults[:] = message_faults(told, store.run(inboxes(named)))
        return not faults

    wait_until(are_there, seconds)
    return faults
