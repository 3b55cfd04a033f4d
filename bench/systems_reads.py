"""Big Time Deals in process: a deal by its id, and the latest 25 of a brand.

Two tables take turns, one a hundred times as large as the other. Deals come at the same rate in
both, so a page spans as many days in one as in the other; what differs is how far back the days go.
It is noon, and what today's deals do not fill of a page comes from yesterday. A brand is requested
as often as it has deals. Pages from anywhere follow a deal of their brand; in the large table they
miss the engine's own cache, as in real use.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import Scale
from bench.systems_filling import check_room, demo_of, fill
from bigtime.engine import Engine
from bigtime.model import UNTIL
from bigtime.store import Store
from bigtime.systems import deals
from bigtime.systems.deals.deals import fetch_brand_deals, fetch_deal
from bigtime.systems.deals.design import PAGE, Deal
from bigtime.systems.deals.values import DealId
from bigtime.wire import Steps

BYTES_A_DEAL = 3_500  # with index entries, the stream's record, the log and room to spare
ASKED = 10_000
"""How many of the deals are requested; all, if there are fewer."""
FULL_PAGES = timedelta(days=2)
"""After a deal that is this much newer than the oldest one, every brand has a full page."""

Asking: TypeAlias = Callable[[], Steps[object]]
Draw: TypeAlias = Callable[[Deal], Asking]


def measure(scale: Scale, folder: Path, screen: Console) -> Iterator[Figure]:
    check_room(folder, scale.many_deals, BYTES_A_DEAL)
    counts = {"few": scale.few_deals, "many": scale.many_deals}
    asked = {name: build(folder / f"{name}.db", counts[name], screen) for name in counts}
    few, many = (
        Engine.open(folder / f"{name}.db", durability="relaxed", housekeeping=False)
        for name in counts
    )
    with few, many:
        stores = {name: Store(each, clock=noon) for name, each in (("few", few), ("many", many))}
        yield from figures(scale, stores, asked)


def noon() -> datetime:
    return UNTIL


def build(path: Path, count: int, screen: Console) -> list[Deal]:
    """Writes so many deals, newest first; returns those to be requested."""
    asked: list[Deal] = []
    made = note_some(demo_of(deals.SYSTEM, Deal, count), asked, every=max(1, count // ASKED))
    with Engine.open(path, durability="relaxed") as engine:
        fill(Store(engine), deals.SYSTEM, made, count, screen)
    return [each for each in asked if each.created_at - asked[-1].created_at > FULL_PAGES]


def note_some(made: Iterator[Deal], asked: list[Deal], every: int) -> Iterator[Deal]:
    for number, deal in enumerate(made):
        if number % every == 0:
            asked.append(deal)
        yield deal


def figures(
    scale: Scale, stores: dict[str, Store], asked: dict[str, list[Deal]]
) -> Iterator[Figure]:
    many, few = f"of {scale.many_deals:,} deals", f"of {scale.few_deals:,}"
    pages = scale.operations // 5

    def figure(what: str, seen: dict[str, float], bar: Bar) -> Figure:
        ours, other = seen["many"], seen["few"]
        return Figure(what, ours, "us", other, few, ours / other, bar)

    seen = compare(scale, stores, asked, a_deal, scale.operations)
    yield figure(f"Deal by id, {many}", seen, Bar("at most", 100, "us"))
    seen = compare(scale, stores, asked, first_page, pages)
    latest = f"Latest {PAGE} for a brand"
    yield figure(f"{latest}, {many}", seen, Bar("at most", 500, "us"))
    yield figure(f"{latest}, {many}, how it grows", seen, Bar("at most", 1.5, "x"))
    seen = compare(scale, stores, asked, any_page, pages)
    yield figure(f"{PAGE} for a brand, from anywhere {many}", seen, Bar("at most", 1.5, "x"))
    seen = compare(scale, stores, asked, a_brand_without_deals, pages)
    yield Figure(f"{latest} that has none", seen["many"], "us")


def compare(
    scale: Scale,
    stores: dict[str, Store],
    asked: dict[str, list[Deal]],
    draw: Draw,
    operations: int,
) -> dict[str, float]:
    """CPU microseconds of requests drawn anew each round; the tables take turns."""
    source = random.Random(0)

    def contender(name: str) -> Contender:
        drawn: list[Asking] = []

        def choose() -> None:
            drawn[:] = [draw(deal) for deal in source.choices(asked[name], k=operations)]

        return Contender(lambda: run_all(stores[name], drawn), operations, choose)

    return race({name: contender(name) for name in stores}, scale.rounds)


def run_all(store: Store, drawn: list[Asking]) -> None:
    for ask in drawn:
        store.run(ask())


# The requests


def a_deal(deal: Deal) -> Asking:
    return partial(fetch_deal, deal.deal_id)


def first_page(deal: Deal) -> Asking:
    return partial(full_page, deal.brand_name, None)


def any_page(deal: Deal) -> Asking:
    return partial(full_page, deal.brand_name, deal.deal_id)


def full_page(brand_name: str, last_seen: DealId | None) -> Steps[None]:
    page = yield from fetch_brand_deals(brand_name, last_seen)
    if len(page) != PAGE:
        raise AssertionError(f"a page of {brand_name} has {len(page)} deals")


def a_brand_without_deals(deal: Deal) -> Asking:
    return partial(fetch_brand_deals, "a brand without deals", deal.deal_id)
