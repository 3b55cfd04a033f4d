"""The engine in process, beside bare SQLite statements.

The bare statements are the floor: the same point read or insert by the same library, with the
same keys, rows, log and cache. What the engine takes beyond that is the price of being DynamoDB.
Both files are checkpointed between rounds, by the same rule, and outside the timing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from bench import workload
from bench.bare import BareFile, BareItem, bare_item, blobs
from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.wire import Request

PLAIN_TABLE = "PlainOrders"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    path = folder / "orders.db"
    with (
        Engine.open(path, durability="relaxed", housekeeping=False) as engine,
        closing(BareFile(folder / "bare.db")) as bare,
    ):
        engine(workload.create_table("by_day"))
        engine(workload.create_table(name=PLAIN_TABLE))
        for request in workload.fill_requests(workload.orders(scale.items)):
            engine(request)
        ask_all(engine, [workload.put(number, PLAIN_TABLE) for number in range(scale.items)])
        bare.fill(workload.orders(scale.items))
        yield get_item(engine, bare, scale)
        yield select_by_key(engine, scale)
        yield query(engine, scale)
        fresh = count(scale.items)
        yield put_item(engine, bare, scale, fresh, indexed=False)
        yield put_item(engine, bare, scale, fresh, indexed=True)
        yield transact_write_items(engine, scale, fresh)
    yield create_table(scale)
    yield memory_engine(scale)


def get_item(engine: Engine, bare: BareFile, scale: Scale) -> Figure:
    numbers = workload.some(scale.items, scale.operations * 4)
    gets = [workload.get(number) for number in numbers]
    keys = [blobs(workload.key(number)) for number in numbers]
    seen = race(
        {
            "engine": Contender(lambda: ask_all(engine, gets), len(gets)),
            "bare": Contender(lambda: bare.read_all(keys), len(keys)),
        },
        scale.rounds,
    )
    return beside_bare("GetItem, 1 KB, in process", seen, Bar("at most", 2, "x"))


def select_by_key(engine: Engine, scale: Scale) -> Figure:
    """A SELECT of one item beside its equivalent GetItem, once the statement is cached."""
    numbers = workload.some(scale.items, scale.operations * 4)
    gets = [workload.get(number) for number in numbers]
    selects = [workload.select(number) for number in numbers]
    seen = race(
        {
            "statement": Contender(lambda: ask_all(engine, selects), len(selects)),
            "plain": Contender(lambda: ask_all(engine, gets), len(gets)),
        },
        scale.rounds,
    )
    ours, other = seen["statement"], seen["plain"]
    return Figure(
        "PartiQL SELECT by key, 1 KB, in process",
        ours,
        "us",
        other,
        "for GetItem",
        ours / other,
        Bar("at most", 1.5, "x"),
    )


def put_item(
    engine: Engine, bare: BareFile, scale: Scale, fresh: Iterator[int], *, indexed: bool
) -> Figure:
    """Puts into a table with one GSI, beside a bare file with the same index; or without both."""
    insert = bare.insert_indexed if indexed else bare.insert_plain
    table = workload.TABLE if indexed else PLAIN_TABLE
    puts: list[Request] = []
    items: list[BareItem] = []

    def new_orders() -> None:
        numbers = [next(fresh) for _ in range(scale.operations)]
        puts[:] = [workload.put(number, table=table) for number in numbers]
        items[:] = map(bare_item, map(workload.order, numbers))
        engine.tidy()
        bare.tidy()

    seen = race(
        {
            "engine": Contender(lambda: ask_all(engine, puts), scale.operations, new_orders),
            "bare": Contender(lambda: insert(items), scale.operations),
        },
        scale.rounds,
    )
    index, bar = ("one GSI", Bar("at most", 3, "x")) if indexed else ("no index", None)
    return beside_bare(f"PutItem, 1 KB, {index}, relaxed, in process", seen, bar)


def query(engine: Engine, scale: Scale) -> Figure:
    groups = workload.some(scale.items // workload.GROUP, scale.operations // 5)
    queries = [workload.query(group) for group in groups]
    contender = Contender(lambda: ask_all(engine, queries), len(queries))
    microseconds = race({"engine": contender}, scale.rounds)["engine"]
    return Figure(
        "Query of 25 items by GSI, in process", microseconds, "us", bar=Bar("at most", 250, "us")
    )


def transact_write_items(engine: Engine, scale: Scale, fresh: Iterator[int]) -> Figure:
    purchases: list[Request] = []

    def new_purchases() -> None:
        numbers = [next(fresh) for _ in range(scale.operations // 2)]
        purchases[:] = [workload.buy(number, counter=number % 50) for number in numbers]
        engine.tidy()

    contender = Contender(lambda: ask_all(engine, purchases), scale.operations // 2, new_purchases)
    microseconds = race({"engine": contender}, scale.rounds)["engine"]
    return Figure(
        "TransactWriteItems of 2, without the sync, in process",
        microseconds,
        "us",
        bar=Bar("at most", 160, "us"),
    )


def create_table(scale: Scale) -> Figure:
    """Creates a table with one GSI; each round has a fresh engine."""
    tables = [workload.create_table("by_day", name=f"Orders{number}") for number in range(20)]
    engines: list[Engine] = []

    def fresh_engine() -> None:
        close_all(engines)
        engines.append(Engine.memory(housekeeping=False))

    contender = Contender(lambda: ask_all(engines[0], tables), len(tables), fresh_engine)
    milliseconds = race({"engine": contender}, scale.rounds)["engine"] / 1e3
    close_all(engines)
    return Figure(
        "CreateTable, one GSI, in memory", milliseconds, "ms", bar=Bar("at most", 3, "ms")
    )


def memory_engine(scale: Scale) -> Figure:
    engines: list[Engine] = []
    contender = Contender(
        lambda: engines.append(Engine.memory()), 1, prepare=lambda: close_all(engines)
    )
    milliseconds = race({"engine": contender}, scale.rounds)["engine"] / 1e3
    close_all(engines)
    return Figure("Engine.memory(), until ready", milliseconds, "ms", bar=Bar("at most", 5, "ms"))


def close_all(engines: list[Engine]) -> None:
    while engines:
        engines.pop().close()


def ask_all(ask: Callable[[Request], object], requests: list[Request]) -> None:
    for request in requests:
        ask(request)


def beside_bare(what: str, seen: dict[str, float], bar: Bar | None) -> Figure:
    ours, other = seen["engine"], seen["bare"]
    return Figure(what, ours, "us", other, "for bare SQLite", ours / other, bar)
