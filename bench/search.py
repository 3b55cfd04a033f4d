"""Search: CPU time of a query over 50,000 deals, of its page, and of keeping the index current."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rich.console import Console

from bench.figure import Bar, Figure, NotHere
from bench.fresh import in_fresh_process
from bench.race import Contender, race
from bench.scale import Scale
from bench.site_making import Maker
from bench.site_scene import PageOf
from bench.systems_filling import check_room, demo_of, fill
from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.projections.search import Follower, open_backend, rebuild
from bigtime.projections.search.words import WORD
from bigtime.site import SYSTEMS, DealFilters, DealSort, Searches
from bigtime.store import Store
from bigtime.systems import deals

DEALS: Final = 50_000
SHARE: Final = 0.07
QUERIES: Final = 20
POLL_SECONDS: Final = 0.2
BYTES_EACH: Final = 3_000


def measure(scale: Scale, folder: Path, screen: Console) -> Iterator[Figure]:
    if find_spec("tantivy") is None:
        raise NotHere("tantivy is missing: install the extra [search]")
    check_room(folder, scale.many_deals + DEALS, BYTES_EACH)
    place = f"folder:{folder / 'search'}"
    with Engine.open(folder / "deals.db", durability="relaxed", housekeeping=False) as engine:
        store = Store(engine)
        store.run(setup(*SYSTEMS))
        fill(store, deals.SYSTEM, demo_of(deals.SYSTEM, deals.Deal, DEALS), DEALS, screen)
        store.run(deals.create_categories())
        store.run(deals.create_brand("Sony"))
        yield rebuild_figure(store, place)
        yield from query_figures(place, scale)
        yield page_figure(engine, folder, place, scale)
        yield found_figure(store, place)
    yield memory_figure(scale, folder, screen)


def rebuild_figure(store: Store, place: str) -> Figure:
    begun = time.process_time()
    count = rebuild(store, open_backend(place, deals.DEAL_SEARCH))
    spent = time.process_time() - begun
    return Figure("Rebuild, for each deal", spent / count * 1e6, "us")


# Queries


def query_figures(place: str, scale: Scale) -> Iterator[Figure]:
    searches = Searches(place)
    word, share = common_word()
    filtered = DealFilters(category="ELECTRONICS", max_price=Decimal(200))
    asked: dict[str, Callable[[], object]] = {
        f"search_deals, a word of {share:.1%} of the deals": lambda: searches.search_deals(word),
        "The same, by price": lambda: searches.search_deals(word, sort=DealSort.PRICE),
        "The same, with two filters, newest first": lambda: searches.search_deals(
            word, filtered, DealSort.NEWEST
        ),
        "search_deals, a word with a typo": lambda: searches.search_deals(
            f"{word[:-2]}x{word[-1]}"
        ),
        "Suggestions": lambda: searches.suggest_deals(word[:2]),
    }
    assert searches.search_deals(word).total >= SHARE / 2 * DEALS
    seen = race(
        {name: Contender(repeat(ask), QUERIES) for name, ask in asked.items()}, scale.rounds
    )
    bars = [Bar("at most", 1, "ms")] * 2
    for (name, us), bar in zip(seen.items(), [*bars, None, None, None], strict=True):
        yield Figure(name, us / 1000, "ms", bar=bar)


def repeat(ask: Callable[[], object]) -> Callable[[], object]:
    return lambda: [ask() for _ in range(QUERIES)]


def common_word() -> tuple[str, float]:
    """The word in the titles whose frequency is nearest below the bar's."""
    counts: Counter[str] = Counter()
    for deal in demo_of(deals.SYSTEM, deals.Deal, DEALS):
        counts.update({word for word in WORD.findall(deal.title.lower()) if len(word) > 4})
    shares = {word: count / DEALS for word, count in counts.items() if count <= SHARE * DEALS}
    word = max(shares, key=lambda each: shares[each])
    return word, shares[word]


# The page


def page_figure(engine: Engine, folder: Path, place: str, scale: Scale) -> Figure:
    word, _ = common_word()
    page = PageOf("results", f"/search?q={word}")

    async def best_page() -> float:
        maker = Maker(engine, folder, search=place)
        return min([(await maker.make_page(page))[0] for _ in range(scale.rounds * QUERIES)])

    bar = Bar("at most", 2.5, "ms")
    return Figure("The page of results, 25 deals", asyncio.run(best_page()) / 1e3, "ms", bar=bar)


# Keeping the index current


def found_figure(store: Store, place: str) -> Figure:
    """The time until a new deal is found, with a worker that polls every 200 ms."""
    follower = Follower(store, open_backend(place, deals.DEAL_SEARCH))
    searches, stop = Searches(place), threading.Event()
    follower.run_round()

    def follow() -> None:
        while not stop.wait(0 if any(turn.more for turn in follower.run_round()) else POLL_SECONDS):
            pass

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        slowest = max(seconds_until_found(store, searches, number) for number in range(5))
    finally:
        stop.set()
        thread.join()
        follower.close()
    bar = Bar("at most", 2, "s", on_wall=True)
    return Figure("A new deal is found, the slowest of 5", slowest, "s", bar=bar)


def seconds_until_found(store: Store, searches: Searches, number: int) -> float:
    title = f"Zyzzyva{number} lamp"
    begun = time.monotonic()
    store.run(deals.create_deal(title, "https://a.example/1", Decimal(5), "Sony", "Home"))
    while not searches.search_deals(title.partition(" ")[0]).total:
        time.sleep(0.02)
        assert time.monotonic() < begun + 60
    return time.monotonic() - begun


def memory_figure(scale: Scale, folder: Path, screen: Console) -> Figure:
    """The peak memory of a process that rebuilds an index, of few deals and of many."""
    peaks = []
    for count in (scale.few_deals, scale.many_deals):
        file = folder / f"deals-{count}.db"
        with Engine.open(file, durability="relaxed") as engine:  # otherwise its log takes 27 GB
            entities = demo_of(deals.SYSTEM, deals.Deal, count)
            fill(Store(engine), deals.SYSTEM, entities, count, screen)
        peaks.append(in_fresh_process("rebuild", file)["peak_mb"])
        file.unlink()
    few, many = peaks
    return Figure(
        f"Peak memory of a rebuild of {scale.many_deals:,} deals, without mapped files",
        many,
        "MB",
        few,
        f"for {scale.few_deals:,}",
        many / few,
        Bar("at most", 1.5, "x"),
    )
