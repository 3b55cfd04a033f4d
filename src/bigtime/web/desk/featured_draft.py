"""A draft of featured deals, as it stands in an address, and what a button makes of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Final

from pydantic import BaseModel

from bigtime.site import FeaturedSlot, Featuring
from bigtime.systems.deals import (
    FeaturedTwice,
    TooManyFeatured,
    WrongCategory,
    deal_id_of,
    fetch_deal,
)
from bigtime.wire import Steps

SEPARATOR: Final = "."
MOST_DRAFTED: Final = 25
UP: Final = ("up", "down", "remove")
DOWN: Final = ("down", "up", "remove")
FIELD: Final = "add"


class Step(BaseModel):
    """What a button does to a draft; `deals` is None where there is no draft yet.

    `seen` is a mark of the deals that were featured when the draft was begun.
    """

    deals: str | None = None
    seen: str = ""
    add: str | None = None
    up: str | None = None
    down: str | None = None
    remove: str | None = None
    after: str | None = None
    done: bool = False


def parse(text: str) -> list[str]:
    ids = dict.fromkeys(one for one in text.split(SEPARATOR) if one)
    return list(ids)[:MOST_DRAFTED]


def joined(ids: Sequence[str]) -> str:
    return SEPARATOR.join(ids)


def ids_in(stored: Featuring) -> list[str]:
    return [featured_deal.deal_id for featured_deal in stored.featured_deals]


def mark_of(stored: Featuring) -> str:
    """A mark of what is featured: another choice has another mark, and none has none."""
    ids = joined(ids_in(stored))
    return sha256(ids.encode()).hexdigest()[:16] if ids else ""


def added(slot: FeaturedSlot, ids: list[str], text: str) -> Steps[list[str]]:
    """A draft with one more deal; its id may come with the address of its page."""
    deal = yield from fetch_deal(deal_id_of(text.strip().rstrip("/").rpartition("/")[2]))
    if deal.deal_id in ids:
        raise FeaturedTwice
    if len(ids) >= slot.limits.most:
        raise TooManyFeatured(f"{slot.limits.most} deals are enough here; remove one first.")
    if slot.category not in (None, deal.category):
        raise WrongCategory(
            f"{slot.name} features only deals of its own; this one is in {deal.category_name}."
        )
    return [*ids, deal.deal_id]


def moved(ids: list[str], step: Step) -> list[str]:
    """A draft after a deal has been moved or removed; what is not in it stays out."""
    ids = [id_ for id_ in ids if id_ != step.remove]
    for moving, by in ((step.up, -1), (step.down, 1)):
        if moving in ids:
            here = ids.index(moving)
            there = min(max(here + by, 0), len(ids) - 1)
            ids[here], ids[there] = ids[there], ids[here]
    return ids


# The button that was pressed may be gone from the page that comes. Whoever has no mouse goes on
# from another that is as near to it as can be.


def focus_after(step: Step, ids: Sequence[str], listed: Sequence[str]) -> str:
    """The id of what has the focus after a step; `listed` are the deals that could be added."""
    if step.up in ids:
        return button_of(step.up, UP, ids)
    if step.down in ids:
        return button_of(step.down, DOWN, ids)
    if step.remove is not None:
        nearest = nearest_to(step.remove, parse(step.deals or ""), among=ids)
        return f"remove-{nearest}" if nearest else FIELD
    if step.add is not None:
        nearest = nearest_to(step.add, listed, among={*listed} - {*ids})
        return f"add-{nearest}" if nearest else FIELD
    return ""


def button_of(deal_id: str | None, wanted: Sequence[str], ids: Sequence[str]) -> str:
    """The first of those buttons that a deal has: none leads up from the top."""
    missing = {"up": ids[0], "down": ids[-1]}
    return next(f"{name}-{deal_id}" for name in wanted if missing.get(name) != deal_id)


def nearest_to(one: str, line: Sequence[str], among: Collection[str]) -> str | None:
    """The next in a line that is still there, or else the one before."""
    if one not in line:
        return None
    here = line.index(one)
    return next((other for other in (*line[here:], *line[here::-1]) if other in among), None)
