"""`explain` says what the engine then reports; `measure` says what it did report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.advisor.charges import Charge, Charged, measure
from bigtime.advisor.dry_run import CannotExplain
from bigtime.advisor.explanation import explain, explain_on
from bigtime.advisor.prices import rate
from bigtime.advisor.sample import MOMENT
from bigtime.engine import Engine
from bigtime.model.errors import DesignError, DomainError
from bigtime.model.operations.batch import delete_many, get_many, put_many
from bigtime.model.operations.bucket_query import buckets, newest_first
from bigtime.model.operations.change import Add, Append, At, Discard, IfMissing, Remove
from bigtime.model.operations.collection import collection, partition
from bigtime.model.operations.create_table import setup
from bigtime.model.operations.delete import check, delete
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op, Runnable, now, random_bytes, together
from bigtime.model.operations.put import create, put
from bigtime.model.operations.query import all_of, count, query
from bigtime.model.operations.scan import scan_all
from bigtime.model.operations.shard_query import gather, shards
from bigtime.model.operations.transact import get_together, transact
from bigtime.model.operations.update import add, update
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import at_least, begins_with, between, less_than
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.table import Table, global_index, local_index, number
from bigtime.model.schema.view import View
from bigtime.model.system import System
from bigtime.store import Store
from bigtime.wire import Request, Response
from bigtime.wire.requests import Steps
from bigtime.wire.values import item_size
from tests.furnished import furnished_engine
from tests.model import deals, designs
from tests.model.deals import SYSTEM, AlreadyLiked, Brand, BrandLike, Deal, Message
from tests.model.designs import Measurement, TrendingDeal

if TYPE_CHECKING:
    from bigtime.advisor.explanation import Cost

T = TypeVar("T")

KSUID = Ksuid.make(MOMENT, bytes(16))

PARCELS = Table(
    "Parcels",
    "depot",
    "parcel",
    indexes=[
        global_index("ByState", "state", number("weight")),
        global_index("ByTown", "town_key", "parcel", keys_only=True),
        global_index("ByOwner", ["owner", "state"], include=["note"]),
        local_index("ByNote", "note", keys_only=True),
    ],
)


class Parcel(Entity, table=PARCELS):
    keys = Keys(
        main=("{depot}", "{parcel}"),
        ByState=("{state}", "{weight}"),
        ByTown=("TOWN#{town}", "{parcel}"),
        ByOwner=(("{owner}", "{state}"),),
        ByNote=("{depot}", "{note}"),
    )
    depot: str
    parcel: str
    state: str | None = None
    weight: Decimal | None = None
    town: str | None = None
    owner: str | None = None
    note: str | None = None
    label: str = ""
    marks: set[str] = set()
    stops: list[str] = []
    prices: dict[str, Decimal] = {}


class ParcelNote(View, of=Parcel, index="ByNote"):
    depot: str
    parcel: str
    note: str


ALL_TABLES = [var for var in vars(designs).values() if isinstance(var, Table)]
PARCEL_SYSTEM = System("parcels", (PARCELS,))


@contextmanager
def parcel_store(entities: Iterable[Entity] = ()) -> Iterator[Store]:
    with furnished_engine(make_parcels, housekeeping=False) as engine:
        store = Store(engine, clock=lambda: MOMENT)
        store.run(put_each(entities))
        yield store


def make_parcels(engine: Engine) -> None:
    Store(engine).run(setup(PARCEL_SYSTEM))


def put_each(entities: Iterable[Entity]) -> Steps[None]:
    for entity in entities:
        yield from put(entity)


def units(charged: Charged) -> dict[tuple[str, str | None], tuple[float, float]]:
    """Where how much went, without the places where nothing did."""
    return {
        (charge.table, charge.index): (charge.read_units, charge.write_units)
        for charge in charged.charges
        if charge.read_units or charge.write_units
    }


def runs_as_explained(store: Store, runnable: Any, held: Iterable[Entity]) -> None:
    """Explains first, runs then, and compares the requests, the units and the result."""
    explained = explain_on(
        shared_engine(), again(runnable), holding=held, tables=[PARCELS], rate=rate()
    )
    if explained.ended is not None:
        with pytest.raises(type(explained.ended)):
            store.run(again(runnable))
        return
    measured = store.run(measure(again(runnable)))
    assert units(explained) == units(measured)
    assert len(explained.requests) == measured.requests
    assert explained.result == measured.result


def explain_here(steps: Any, **told: Any) -> Charged:
    return explain_on(shared_engine(), steps, rate=rate(), **told)


@cache
def shared_engine() -> Engine:
    """To open one for each of thousands of explanations would take most of the time."""
    return Engine.memory(housekeeping=False)


def again(runnable: Any) -> Any:
    """An operation can be run twice; steps are made anew each time."""
    return runnable if isinstance(runnable, Op) else runnable()


# --- The estimate is the engine's report --------------------------------------------------------

names = st.sampled_from(["a", "b", "c#d"])
lengths = st.sampled_from([0, 1, 900, 1000, 1100, 3000, 4100, 9000])
maybe_names = st.none() | names
amounts = st.sampled_from([Decimal(1), Decimal("1.50"), Decimal("1.5"), Decimal(-7)])
weights = st.none() | amounts
parcels = st.builds(
    Parcel,
    depot=st.sampled_from(["north", "south"]),
    parcel=names,
    state=maybe_names,
    weight=weights,
    town=maybe_names,
    owner=maybe_names,
    note=maybe_names,
    label=lengths.map("x".__mul__),
    marks=st.sets(names, max_size=2),
    stops=st.lists(names, max_size=2),
    prices=st.dictionaries(st.sampled_from(["net", "gross"]), amounts, max_size=2),
)
keys = st.builds(Parcel.key, st.sampled_from(["north", "south"]), names)
changes = st.fixed_dictionaries(
    {},
    optional={
        "town": maybe_names,
        "note": maybe_names,
        "label": lengths.map("y".__mul__) | st.just(IfMissing("z")),
        "marks": st.sets(names, min_size=1, max_size=2).flatmap(
            lambda some: st.sampled_from([Add(some), Discard(some)])
        ),
        "stops": st.builds(Append, st.lists(names, max_size=2), st.booleans()) | st.just(Remove()),
    },
).filter(bool)
moves = st.fixed_dictionaries(
    {"state": maybe_names}, optional={"weight": weights | st.just(Add(Decimal("0.25")))}
)
writes = st.one_of(
    st.builds(put, parcels),
    st.builds(delete, keys),
    st.builds(lambda key, changed: update(key, **changed), keys, changes | moves),
    st.builds(lambda key, one, more: update(key, **one, **more), keys, changes, moves),
    st.builds(lambda key: update(key, At("prices", {"net": Decimal(1)})), keys),
    st.builds(lambda key: update(key, At("prices.gross", Decimal(2))), keys),
)
reads = st.one_of(
    st.builds(get, keys, consistent=st.booleans()),
    st.builds(get_together, keys),
)


def stretches() -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [
            Parcel.within("main", depot="north"),
            Parcel.within("main", depot="north", parcel=begins_with("c")),
            Parcel.within("main", depot="south", parcel=between("a", "b")),
            Parcel.within("ByState", state="a"),
            Parcel.within("ByState", state="a", weight=at_least(Decimal("1.5"))),
            Parcel.within("ByState", state="b", weight=less_than(0)),
            ParcelNote.within(depot="north"),
            Parcel.within("ByNote", depot="south"),
        ]
    )


@given(st.lists(parcels, max_size=4), st.lists(writes, min_size=1, max_size=6))
def test_a_write_costs_what_was_explained(held: list[Parcel], operations: list[Any]) -> None:
    with parcel_store(held) as store:
        for operation in operations:
            runs_as_explained(store, operation, store.run(scan_all(Parcel)))


@given(st.lists(parcels, max_size=6), st.lists(reads, min_size=1, max_size=4))
def test_a_read_costs_what_was_explained(held: list[Parcel], operations: list[Any]) -> None:
    with parcel_store(held) as store:
        for operation in operations:
            runs_as_explained(store, operation, store.run(scan_all(Parcel)))


@given(
    st.lists(parcels, max_size=6),
    st.lists(
        st.tuples(stretches(), st.none() | st.integers(1, 3), st.booleans()), min_size=1, max_size=3
    ),
)
def test_a_query_costs_what_was_explained(held: list[Parcel], asked: list[Any]) -> None:
    with parcel_store(held) as store:
        held = store.run(scan_all(Parcel))
        for stretch, limit, newest_first in asked:
            runs_as_explained(store, query(stretch, limit=limit, newest_first=newest_first), held)
            runs_as_explained(store, lambda stretch=stretch: count(stretch), held)
            runs_as_explained(store, lambda stretch=stretch: all_of(stretch), held)


@given(st.lists(parcels, max_size=4), st.lists(parcels, min_size=1, max_size=4), st.booleans())
def test_transactions_and_batches_cost_what_was_explained(
    held: list[Parcel], written: list[Parcel], is_batch: bool
) -> None:
    distinct = list({(each.depot, each.parcel): each for each in written}.values())
    first, *others = distinct
    with parcel_store(held) as store:
        held = store.run(scan_all(Parcel))
        if is_batch:
            runs_as_explained(store, lambda: put_many(distinct), held)
            held = store.run(scan_all(Parcel))
            gone = [other.own_key() for other in others]
            runs_as_explained(store, lambda: get_many([first.own_key(), *gone]), held)
            runs_as_explained(store, lambda: delete_many(gone), held)
        else:
            there = any(each.own_key().item == first.own_key().item for each in held)
            checked = check(first.own_key(), if_exists=there, unless_exists=not there)
            runs_as_explained(store, transact(checked, *map(put, others)), held)
            held = store.run(scan_all(Parcel))
            runs_as_explained(store, get_together(*(each.own_key() for each in distinct)), held)


@given(st.integers(200, 9000), st.integers(0, 30), st.none() | st.integers(1, 7))
def test_with_the_real_sizes_and_numbers_a_query_costs_what_was_explained(
    size: int, number_found: int, limit: int | None
) -> None:
    some = [parcel_of_size(size, number_) for number_ in range(number_found)]
    with parcel_store(some) as store:
        stretch = Parcel.within("ByState", state="here")
        told: dict[str, Any] = {"sizes": {Parcel: size}, "found": number_found, "tables": [PARCELS]}
        for make in (
            lambda: iter(query(stretch, limit=limit)),
            lambda: all_of(stretch),
            lambda: iter(count(stretch)),
        ):
            assert units(explain_here(make(), **told)) == units(store.run(measure(make())))


@given(st.integers(200, 9000))
def test_with_its_real_size_an_item_costs_what_was_explained(size: int) -> None:
    one = parcel_of_size(size, 1)
    told: dict[str, Any] = {"sizes": {Parcel: size}, "tables": [PARCELS]}
    with parcel_store() as store:
        assert units(explain_here(create(one), **told)) == units(store.run(measure(create(one))))
        read = get(one.own_key(), consistent=True)
        assert units(explain_here(read, **told)) == units(store.run(measure(read)))


def parcel_of_size(size: int, number: int) -> Parcel:
    """A parcel of so many bytes, in the state of being here."""
    bare = Parcel(depot="north", parcel=f"{number:04}", state="here", weight=Decimal(1))
    missing = size - item_size(bare.layout.to_item(bare))
    return bare.model_copy(update={"label": "x" * missing})


def test_a_query_of_more_than_a_megabyte_takes_several_requests() -> None:
    stretch = Parcel.within("main", depot="north")
    explained = explain(all_of(stretch), sizes={Parcel: 300_000}, found=10, tables=[PARCELS])
    assert len(explained.requests) == 3
    assert explained.read_units == (2 * 293 + 1 * 147) / 2


# --- What patterns cost -------------------------------------------------------------------------


def test_fetching_a_deal_is_half_a_unit(pattern_cost: Cost) -> None:
    assert pattern_cost(deals.fetch_deal(KSUID)).read_units == 0.5


def test_a_deal_is_written_once_for_itself_and_once_for_each_index(pattern_cost: Cost) -> None:
    created = pattern_cost(deals.create_deal(a_deal()))
    assert (created.write_units, created.amplification) == (3.0, 3.0)
    assert pattern_cost(deals.create_deal(a_deal()), sizes={Deal: 1500}).write_units == 6.0


def test_a_like_is_a_transaction_of_two(pattern_cost: Cost) -> None:
    liked = pattern_cost(deals.like_brand("APPLE", "alex"))
    assert (liked.write_units, liked.read_units) == (4.0, 0.0)
    assert liked.indexes == ("Main table",)
    assert liked.dollars == Decimal("0.0000025")


def test_reading_a_message_takes_it_out_of_its_index(pattern_cost: Cost) -> None:
    read = pattern_cost(deals.mark_as_read("alex", KSUID), holding=[a_message()])
    assert {(charge.index, charge.write_units) for charge in read.charges} == {
        (None, 1.0),
        ("GSI1", 1.0),
    }


def test_steps_that_run_together_are_all_counted(pattern_cost: Cost) -> None:
    page = pattern_cost(deals.fetch_brand("APPLE"))
    assert page.indexes == ("Main table", "GSI2")
    assert len(page.result[1]) == 25


def test_steps_that_delete_until_nothing_is_found_come_to_an_end(pattern_cost: Cost) -> None:
    forgotten = pattern_cost(deals.forget_watchers("APPLE"))
    assert forgotten.result == 6  # a page of 5, and the one that tells of a next page
    assert pattern_cost(deals.forget_watchers("APPLE"), found=12).result == 12


def test_what_is_written_is_read_again(pattern_cost: Cost) -> None:
    def twice() -> Steps[Brand]:
        yield from add(Brand.key("APPLE"), like_count=2)
        return (yield from add(Brand.key("APPLE"), like_count=3))

    assert pattern_cost(twice()).result.like_count == 5


def test_the_clock_and_the_dice_of_a_dry_run_always_fall_the_same(pattern_cost: Cost) -> None:
    def draw() -> Steps[tuple[datetime, bytes, bytes]]:
        return (yield from now()), (yield from random_bytes(16)), (yield from random_bytes(3))

    assert pattern_cost(draw()).result == pattern_cost(draw()).result
    assert pattern_cost(draw()).result[0] == MOMENT


def test_a_pattern_that_ends_in_an_error_has_no_cost_to_assert(pattern_cost: Cost) -> None:
    like = BrandLike(brand="APPLE", username="alex")
    with pytest.raises(AlreadyLiked):
        pattern_cost(deals.like_brand("APPLE", "alex"), holding=[like, Brand(brand="APPLE")])


def test_explain_shows_how_far_it_got() -> None:
    explained = explain(deals.like_brand("APPLE", "alex"), holding=[])
    assert isinstance(explained.ended, DomainError)
    assert "It ends there with UnknownBrand" in str(explained)


def test_an_error_of_the_steps_themselves_is_raised() -> None:
    def broken() -> Steps[None]:
        yield from get(Brand.key("APPLE"))
        raise KeyError("oops")

    with pytest.raises(KeyError):
        explain(broken())


# --- What samples are made of what questions ----------------------------------------------------


def kinds(steps: Any) -> dict[str, int]:
    """How many of what a question finds, on tables that hold what they are asked for."""
    found = explain(steps, tables=ALL_TABLES).result
    return dict(Counter(type(each).__name__ for each in found))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (lambda: all_of(designs.Member.within("main", org="o", team="t")), {"Member": 10}),
        (
            lambda: newest_first(buckets(Measurement, "main", sensor="s"), limit=7),
            {"Measurement": 7},
        ),
        (lambda: gather(shards(designs.Vote, "ByTime", poll="p"), limit=9), {"Vote": 9}),
        (lambda: all_of(designs.BrandWatcher.within(brand_id="apple")), {"BrandWatcher": 10}),
        (lambda: all_of(designs.UserWatch.within("ByTarget", user_id="u")), {"UserWatch": 10}),
        (
            lambda: all_of(TrendingDeal.within("ByMaker", maker="m", country="c")),
            {"TrendingDeal": 10},
        ),
        (
            lambda: all_of(TrendingDeal.within("main", category_id="c", engagement_score=7)),
            {"TrendingDeal": 1},
        ),
        (
            lambda: iter(
                collection(
                    designs.Customer,
                    designs.Order,
                    within=partition(designs.Customer, "main", username="alex"),
                    newest_first=True,
                    limit=11,
                )
            ),
            {"Customer": 1, "Order": 10},
        ),
        (
            lambda: iter(
                collection(
                    designs.Order,
                    designs.OrderItem,
                    within=partition(designs.Order, "GSI1", order_id=KSUID),
                )
            ),
            {"Order": 1, "OrderItem": 9},
        ),
    ],
)
def test_a_question_finds_what_its_keys_tell(asked: Any, found: dict[str, int]) -> None:
    assert kinds(asked()) == found


# --- What is shown ------------------------------------------------------------------------------


def test_an_explanation_reads_as_sentences() -> None:
    text = str(
        explain(deals.mark_as_read("alex", KSUID), holding=[a_message()], region="eu-west-1")
    )
    assert text.startswith(
        "1 request, 2 write units, $1.41 for a million runs (prices of eu-west-1, 2026-09-11)\n"
        "1. UpdateItem on Main table of BigTimeDeals: 2 write units\n"
        "  BigTimeDeals.GSI1: 1 write unit\n"
        "  indexes make it 2 times the writes\n"
        "  assuming a Message of 194 bytes, then 122\n"
    )
    assert text.endswith(
        f'  Key: PK = {{"S": "MESSAGES#alex"}}, SK = {{"S": "MESSAGE#{KSUID}"}}\n'
        "  UpdateExpression: REMOVE #n0, #n1, #n2\n"
        "  ConditionExpression: attribute_exists(#n3)\n"
        "  names: #n0 = UnreadBy, #n1 = GSI1PK, #n2 = GSI1SK, #n3 = PK\n"
        "  ReturnValuesOnConditionCheckFailure: ALL_OLD\n"
        "  ReturnValues: ALL_NEW"
    )


def lines_of(steps: Any, **assumed: Any) -> list[str]:
    """What is said of the first request, below its heading and what it assumes."""
    return str(explain(steps, **assumed).requests[0]).split("\n")[2:]


def test_a_request_is_shown_in_lines() -> None:
    stretch = Parcel.within("main", depot="north", parcel=between("a", "b"))
    assert lines_of(
        query(stretch, limit=3, newest_first=True, filter=attr("label") == "x"), tables=[PARCELS]
    ) == [
        "  KeyConditionExpression: #n0 = :v0 AND #n1 BETWEEN :v1 AND :v2",
        "  FilterExpression: #n2 = :v3",
        "  names: #n0 = depot, #n1 = parcel, #n2 = label",
        '  values: :v0 = {"S": "north"}, :v1 = {"S": "a"}, :v2 = {"S": "b"}, :v3 = {"S": "x"}',
        "  ScanIndexForward: false",
        "  Limit: 4",
    ]


def test_of_a_long_batch_the_first_few_are_shown() -> None:
    some = [Parcel.key("north", str(number)) for number in range(5)]
    assert lines_of(get_many(some, consistent=True), tables=[PARCELS]) == [
        "  in Parcels",
        "    ConsistentRead: true",
        *(
            f'    Key: depot = {{"S": "north"}}, parcel = {{"S": "{number}"}}'
            for number in range(3)
        ),
        "    and 2 more",
    ]
    assert lines_of(delete_many(some), tables=[PARCELS])[-1] == "    and 2 more"


def transaction_of(some: list[Parcel]) -> Any:
    return transact(*map(create, some))


@given(st.lists(parcels, min_size=1, max_size=5), st.sampled_from([put_many, transaction_of]))
def test_no_line_is_longer_than_it_must_be(some: list[Parcel], write: Any) -> None:
    distinct = list({(each.depot, each.parcel): each for each in some}.values())
    for line in lines_of(write(distinct), tables=[PARCELS]):
        assert len(line) <= 102 or line.count(" = ") < 2


def test_an_explanation_has_every_request_as_it_would_be_sent() -> None:
    (one,) = explain(deals.fetch_deal(KSUID)).requests
    assert one.request == get(Deal.key(KSUID)).request()
    assert one.charges == (Charge("BigTimeDeals", None, read_units=0.5),)
    assert one.assumption.startswith("a Deal of ")


# --- What cannot be explained -------------------------------------------------------------------


def test_operations_on_tables_are_not_explained() -> None:
    with pytest.raises(CannotExplain, match="not DescribeTable"):
        explain(setup(SYSTEM))


def test_steps_without_end_are_stopped() -> None:
    def forever() -> Steps[None]:
        while True:
            yield from get(Brand.key("APPLE"))

    with pytest.raises(CannotExplain, match="more than 1,000 requests"):
        explain(forever())


def test_what_is_no_step_is_told() -> None:
    def mistaken() -> Any:
        yield get(Brand.key("APPLE"))

    with pytest.raises(TypeError, match="was it meant as `yield from`"):
        explain(mistaken())


def test_a_table_that_nobody_declares_is_named() -> None:
    def ask() -> Steps[Any]:
        return (yield Request("GetItem", {"TableName": "Nowhere", "Key": {"pk": {"S": "a"}}}))

    with pytest.raises(DesignError, match="'Nowhere'"):
        explain(ask())


def test_of_two_tables_with_one_name_the_steps_own_is_meant() -> None:
    class Other(Entity, table=Table("BigTimeDeals", "PK", "SK")):
        keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
        brand: str
        padding: str = "x" * 5000

    def ask_other() -> Steps[Any]:
        return (yield from get(Other.key("APPLE")))

    assert explain(deals.fetch_brand("APPLE")).requests[0].read_units == 0.5
    with pytest.raises(DesignError, match="designs have a table"):
        explain(iter_elsewhere(get(Other.key("APPLE"))))
    told = explain(ask_other(), tables=[Other.layout.table])
    assert told.read_units == 1.0


def iter_elsewhere(op: Op[T]) -> Runnable[T]:
    """The steps of an operation, whose module is the kit's and knows no table."""
    return iter(op)


# --- What was measured --------------------------------------------------------------------------


def test_measuring_changes_nothing_but_tells_the_units(engine: Engine) -> None:
    store = Store(engine, clock=lambda: MOMENT)
    store.run(setup(SYSTEM))
    store.run(put(Brand(brand="APPLE")))
    liked = store.run(measure(deals.like_brand("APPLE", "alex")))
    assert (liked.result, liked.requests, liked.write_units) == (None, 1, 4.0)
    assert liked.dollars() == Decimal("0.0000025")
    fetched = store.run(measure(deals.fetch_brand("APPLE")))
    assert fetched.result[0].like_count == 1
    assert fetched.read_units == 0.5 + 0.5
    assert fetched.requests == 2


def test_measured_steps_still_raise_the_domains_own_errors(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(SYSTEM))
    with pytest.raises(deals.UnknownBrand):
        store.run(measure(deals.like_brand("APPLE", "alex")))


def test_measured_steps_are_asked_for_their_own_clock(engine: Engine) -> None:
    store = Store(engine, clock=lambda: MOMENT)
    assert store.run(measure(now())).result == MOMENT

    def both() -> Steps[Any]:
        return (yield from together(now(), random_bytes(2)))

    moment, drawn = store.run(measure(both())).result
    assert moment == MOMENT and len(drawn) == 2


def a_deal() -> Deal:
    return Deal(deal_id=KSUID, title="Phone", price=Decimal(9), brand="APPLE", created_at=MOMENT)


def a_message() -> Message:
    return Message(username="alex", message_id=KSUID, subject="Hot!", unread_by="alex")


def test_a_page_of_samples_is_distinct_and_in_order() -> None:
    messages = query(Message.within("main", username="alex"), limit=9)
    ids = [each.message_id for each in explain(messages, tables=SYSTEM.tables).result]
    assert len(set(ids)) == 9 and ids == sorted(ids)


def test_times_of_samples_are_near_the_clocks() -> None:
    page = explain(deals.latest_deals_for_brand("APPLE")).result
    day = datetime(2026, 1, 1, tzinfo=UTC)
    assert all(day <= each.created_at < day + timedelta(days=1) for each in page)


def test_what_is_not_reported_is_not_taken_for_nothing() -> None:
    def silent(request: Request) -> Response:
        return {}

    measured = Store(silent).run(measure(get(Brand.key("X"))))
    assert measured.unreported == 1
    assert isnan(measured.read_units)
