"""The catalogue behind the item cache: what a deal from the cache costs, and the hit rate.

Readers draw deals by Zipf's law: the deal of rank r is requested 1 / r ** 1.1 as often as the
first. The cache starts empty and has room for a fifth of them. Each deal that is requested at all
is read at least once: of 50,000 reads those alone are 11 %, of 100,000 they are 7 %, so a shorter
run would measure its own length.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

from rich.console import Console

from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import Scale
from bench.systems_filling import demo_of, fill
from bigtime.engine import Engine
from bigtime.store import CachedTransport, ItemCache, Store
from bigtime.systems import catalog
from bigtime.systems.catalog.deals import get_deal_by_id
from bigtime.systems.catalog.design import Deal
from bigtime.wire import Request, Response

EXPONENT = 1.1


class Counting:
    """A transport that counts the requests that reach it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.requests = 0

    def __call__(self, request: Request) -> Response:
        self.requests += 1
        return self.engine(request)


def measure(scale: Scale, screen: Console) -> Iterator[Figure]:
    with Engine.memory(housekeeping=False) as engine:
        deals = list(demo_of(catalog.SYSTEM, Deal, scale.deals))
        fill(Store(engine), catalog.SYSTEM, deals, len(deals), screen)
        ids = [deal.deal_id for deal in deals]
        yield from_cache(scale, engine, ids)
        yield reads_saved(scale, engine, ids)


def from_cache(scale: Scale, engine: Engine, ids: list[str]) -> Figure:
    """The same deals, eventually consistent, from the cache and from the engine."""
    some = random.Random(0).sample(ids, scale.operations)
    cached = Store(CachedTransport(engine, ItemCache(items=scale.cached_deals)))
    bare = Store(engine)
    seen = race(
        {
            "cache": Contender(lambda: read_all(cached, some), len(some)),
            "engine": Contender(lambda: read_all(bare, some), len(some)),
        },
        scale.rounds,
    )
    ours, other = seen["cache"], seen["engine"]
    what, bar = "Deal of the catalogue by id, from the item cache", Bar("at most", 20, "us")
    return Figure(what, ours, "us", other, "from the engine", ours / other, bar)


def reads_saved(scale: Scale, engine: Engine, ids: list[str]) -> Figure:
    """Without the cache, every read would reach the store."""
    counting = Counting(engine)
    store = Store(CachedTransport(counting, ItemCache(items=scale.cached_deals)))
    weights = list(accumulate(rank**-EXPONENT for rank in range(1, len(ids) + 1)))
    draw = random.Random(0)
    read_all(store, draw.choices(ids, cum_weights=weights, k=scale.zipf_reads))
    saved = 100 * (1 - counting.requests / scale.zipf_reads)
    what = (
        f"Reads of the store that the item cache saves: {scale.zipf_reads:,} by Zipf's law with"
        f" s = {EXPONENT}, {len(ids):,} deals, room for {scale.cached_deals:,}, empty at first"
    )
    return Figure(what, saved, "%", bar=Bar("at least", 85, "%"))


def read_all(store: Store, ids: list[str]) -> None:
    for deal_id in ids:
        store.run(get_deal_by_id(deal_id, consistent=False))
