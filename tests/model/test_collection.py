"""Item collections: several kinds of entity in one query, each as its own type."""

from __future__ import annotations

from datetime import datetime
from typing import Any, assert_type

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.advisor.charges import measure
from bigtime.advisor.explanation import explain
from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.collection import collection, partition
from bigtime.model.operations.delete import delete
from bigtime.model.operations.page import Page, Position
from bigtime.model.operations.put import put
from bigtime.model.operations.query import Query
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import less_than
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index, number
from bigtime.store import Store
from tests.model.churn import Churn
from tests.model.designs import (
    NOON,
    PLACES,
    SHOP,
    Brand,
    Customer,
    Member,
    Order,
    OrderItem,
    Shop,
    Team,
    fill,
    ksuid,
    open_tables,
    requests,
)

ALEX = Customer(username="alex", email="alex@example.com")
ORDERS = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(25)]


@pytest.fixture
def store(engine: Engine) -> Store:
    store = open_tables(engine, SHOP)
    fill(store, [ALEX, *ORDERS, Order(username="bob", order_id=ksuid(NOON, 99))])
    return store


def test_a_customer_and_the_newest_orders_in_one_request(store: Store) -> None:
    asked = collection(
        Customer,
        Order,
        within=partition(Customer, "main", username="alex"),
        newest_first=True,
        limit=11,
    )
    assert_type(asked, Query[Customer | Order])
    customer, *orders = store.run(asked)
    assert len(requests(store)) == 1
    assert customer == ALEX
    assert orders == ORDERS[:-11:-1]


def test_later_pages_hold_orders_only(store: Store) -> None:
    everything = partition(Customer, "main", username="alex")
    first = store.run(collection(Customer, Order, within=everything, newest_first=True, limit=11))
    later = Order.within("main", username="alex", order_id=less_than(ORDERS[15].order_id))
    assert (
        store.run(collection(Customer, Order, within=later, newest_first=True, limit=10)).items
        == ORDERS[14:4:-1]
    )
    second = store.run(
        collection(
            Customer, Order, within=everything, newest_first=True, limit=10, after=first.position
        )
    )
    assert second.items == ORDERS[14:4:-1]


def test_an_order_and_its_items_by_an_index(store: Store) -> None:
    order = ORDERS[3]
    items = [OrderItem(order_id=order.order_id, item_id=item) for item in "abc"]
    fill(store, items)
    within = partition(Order, "GSI1", order_id=order.order_id)
    found = store.run(collection(Order, OrderItem, within=within, newest_first=True))
    assert found.items == [order, *items[::-1]]


def test_entities_that_are_not_named_are_passed_over(engine: Engine) -> None:
    store = open_tables(engine, PLACES)
    team, member = Team(org="o", team="red"), Member(org="o", team="red", name="ann")
    fill(store, [team, member])
    within = partition(Team, "main", org="o")
    assert store.run(collection(Team, within=within)).items == [team]
    assert store.run(collection(Team, Member, within=within)).items == [team, member]


def test_what_was_deleted_softly_is_passed_over(engine: Engine) -> None:
    store = open_tables(engine, PLACES)
    shops = [
        Shop(country="US", state="NE", city="Omaha", zip_code=str(n), closed_at=at)
        for n, at in enumerate([None, NOON])
    ]
    fill(store, shops)
    within = partition(Shop, "main", country="US")
    assert store.run(collection(Shop, Team, within=within)).items == shops[:1]
    assert store.run(collection(Shop, Team, within=within, deleted=True)).items == shops


def test_a_partition_takes_its_own_fields_only() -> None:
    with pytest.raises(DesignError, match="takes username, not 'order_id'"):
        partition(Order, "main", username="alex", order_id=ksuid(NOON, 1))
    with pytest.raises(DesignError, match="also needs username"):
        partition(Order, "main")


def test_entities_of_another_table_or_index_are_refused() -> None:
    with pytest.raises(DesignError, match="Brand is in table BigTimeDeals"):
        collection(Customer, Brand, within=partition(Customer, "main", username="alex"))
    with pytest.raises(DesignError, match="Customer is not in index GSI1"):
        collection(Customer, Order, within=partition(Order, "GSI1", order_id=ksuid(NOON, 1)))


# Only what is asked for is read

ORGS = Table(
    "Orgs",
    "PK",
    "SK",
    indexes=[
        global_index("ByDay", "DayPK", "DaySK"),
        global_index("ByRank", "RankPK", number("rank")),
        global_index("ByKind", ["RankPK", "DayPK"], ["SK", "DaySK"]),
    ],
    type_attribute="kind",
)


class Org(Entity, table=ORGS):
    keys = Keys(main=("ORG#{org}", "#ORG#{org}"))
    org: str


class Audit(Entity, table=ORGS):
    keys = Keys(
        main=("ORG#{org}", "AUDIT#{at:seconds}"),
        ByDay=("DAY#{at:day}", "{at:seconds}#{org}"),
        ByRank=("RANKED", "{rank}"),
        ByKind=(("RANKED", "DAY#{at:day}"), ("AUDIT#{at:seconds}", "{at:seconds}#{org}")),
    )
    org: str
    at: datetime
    rank: int | None = None


class Bill(Entity, table=ORGS):
    keys = Keys(
        main=("ORG#{org}", "BILL#{number:06}"),
        ByDay=("DAY#{at:day}", "BILL#{number:06}"),
        ByRank=("RANKED", "{rank}"),
        ByKind=(("RANKED", "DAY#{at:day}"), ("BILL#{number:06}", "BILL#{number:06}")),
    )
    org: str
    number: int
    at: datetime = NOON
    rank: int | None = None


class Squad(Entity, table=ORGS):
    keys = Keys(main=("ORG#{org}", "SQUAD#{squad}"))
    org: str
    squad: str


class Seat(Entity, table=ORGS):
    keys = Keys(main=("ORG#{org}", "SQUAD#{squad}#SEAT#{name}"))
    org: str
    squad: str
    name: str


KINDS: list[type[Entity]] = [Org, Audit, Bill, Squad, Seat]


def sort_condition(asked: Query[Any]) -> tuple[str, ...]:
    _, *conditions = asked.within.conditions
    return tuple(
        text
        for condition in conditions
        for text in (
            condition.attribute,
            condition.operator,
            *(value["S"] for value in condition.operands),
        )
    )


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([Org], ("SK", "=", "#ORG#o")),
        ([Bill], ("SK", "begins_with", "BILL#")),
        ([Squad], ("SK", "begins_with", "SQUAD#")),
        ([Squad, Seat], ("SK", "begins_with", "SQUAD#")),
        ([Bill, Squad], ("SK", "between", "BILL#", "SQUAD$")),
        ([Squad, Bill], ("SK", "between", "BILL#", "SQUAD$")),
        ([Bill, Org], ("SK", "between", "#ORG#o", "BILL$")),
        (KINDS, ("SK", "between", "#ORG#o", "SQUAD$")),
    ],
)
def test_a_collection_asks_for_the_span_of_its_entities(
    kinds: list[type[Entity]], expected: tuple[str, ...]
) -> None:
    assert sort_condition(collection(*kinds, within=partition(Bill, "main", org="o"))) == expected


def test_a_stretch_that_was_told_stays_as_it_is() -> None:
    told = Bill.within("main", org="o", number=less_than(9))
    assert collection(Bill, Squad, within=told).within.conditions == told.conditions


def test_what_a_bucket_does_not_tell_narrows_nothing() -> None:
    """Of a day in the partition, nobody knows at which moment of it the sort key begins."""
    day = partition(Audit, "ByDay", at=NOON)
    assert sort_condition(collection(Audit, within=day)) == ()
    assert sort_condition(collection(Audit, Bill, within=day)) == ()
    assert sort_condition(collection(Bill, within=day)) == ("DaySK", "begins_with", "BILL#")


def test_numbers_are_read_from_end_to_end() -> None:
    assert sort_condition(collection(Bill, within=partition(Bill, "ByRank"))) == ()


def test_of_several_sort_attributes_the_first_is_narrowed(engine: Engine) -> None:
    store = open_tables(engine, ORGS)
    bills = [Bill(org="o", number=n, rank=n) for n in range(3)]
    audit = Audit(org="o", at=NOON, rank=9)
    fill(store, [*bills, audit])
    day = partition(Bill, "ByKind", at=NOON)
    assert store.run(collection(Bill, within=day)).items == bills
    (request,) = requests(store)
    assert request.params["KeyConditionExpression"].endswith("begins_with(#n2, :v2)")
    assert store.run(collection(Bill, Audit, within=day)).items == [audit, *bills]


def test_an_entity_that_never_lies_there_changes_nothing() -> None:
    shops = partition(Shop, "main", country="US")
    assert sort_condition(collection(Shop, Team, within=shops)) == ("SK", "begins_with", "SHOP#")
    assert sort_condition(collection(Team, within=shops)) == ()


def test_what_is_not_asked_for_is_neither_read_nor_paid(engine: Engine) -> None:
    store = open_tables(engine, ORGS)
    fill(store, [Bill(org="o", number=n) for n in range(200)] + [Squad(org="o", squad="red")])
    whole = partition(Bill, "main", org="o")
    squads = store.run(measure(iter(collection(Squad, Seat, within=whole))))
    assert (len(squads.result), squads.read_units) == (1, 0.5)
    assert store.run(measure(iter(collection(*KINDS, within=whole)))).read_units > 1


def test_the_narrowed_question_is_explained() -> None:
    asked = collection(Squad, Bill, within=partition(Bill, "main", org="o"), limit=9)
    explained = explain(asked, tables=[ORGS])
    assert "BETWEEN" in str(explained) and "SQUAD$" in str(explained)
    assumed = explained.requests[0].assumption
    assert "Bill" in assumed and "Squad" in assumed and "Seat" in assumed
    assert "Audit" not in assumed and "Org" not in assumed


words = st.text("a#$ é~", max_size=2)
orgs = st.sampled_from(["o", "o#"])
members: st.SearchStrategy[Entity] = st.one_of(
    st.builds(Org, org=orgs),
    st.builds(Audit, org=orgs, at=st.just(NOON)),
    st.builds(Bill, org=orgs, number=st.integers(0, 3)),
    st.builds(Squad, org=orgs, squad=words),
    st.builds(Seat, org=orgs, squad=words, name=words),
)


@given(
    st.lists(members, max_size=12),
    st.sets(st.sampled_from(KINDS), min_size=1),
    st.booleans(),
    st.lists(st.tuples(st.integers(1, 4), st.booleans(), members), min_size=1, max_size=6),
)
def test_a_collection_is_all_of_its_kinds_in_order_while_items_come_and_go(
    items: list[Entity],
    kinds: set[type[Entity]],
    newest_first: bool,
    script: list[tuple[int, bool, Entity]],
) -> None:
    there = {str(item.own_key().item): item for item in items}
    numbered = list({**there, **{str(each.own_key().item): each for _, _, each in script}}.values())
    churn = Churn(numbered.index(each) for each in there.values())
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, ORGS)
        fill(store, there.values())
        found: list[Entity] = []
        position: Position | None = None
        happening = iter(script)
        while True:
            size, comes, item = next(happening, (3, False, None))
            page: Page[Entity] = store.run(
                collection(
                    *sorted(kinds, key=KINDS.index),
                    within=partition(Org, "main", org="o"),
                    newest_first=newest_first,
                    limit=size,
                    after=position,
                )
            )
            found += page
            position = page.position
            if position is None:
                break
            if item is not None:
                churn.happens(numbered.index(item), comes=comes)
                store.run(put(item) if comes else delete(item.own_key()))
    order = [each.own_key().item["SK"]["S"] for each in found]
    assert order == sorted(order, reverse=newest_first)
    wanted = (n for n, each in enumerate(numbered) if type(each) in kinds and each.org == "o")  # type: ignore[attr-defined]
    churn.check([numbered.index(each) for each in found], wanted)
