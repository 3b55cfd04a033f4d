"""Queries: what they ask, filters, counts, and who is in a partition."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.operations.op import Op
from bigtime.model.operations.query import all_of, count, query
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import less_than
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index
from bigtime.model.schema.view import View
from bigtime.store import Store
from bigtime.wire import Request
from tests.model.designs import (
    BIG_TIME_DEALS,
    CART,
    NOON,
    PLACES,
    SHOP,
    WATCHES,
    Customer,
    Deal,
    DealCard,
    Line,
    Marker,
    Member,
    Message,
    Order,
    OrderItem,
    Shop,
    Status,
    Team,
    UserWatch,
    deal,
    fill,
    ksuid,
    open_tables,
    requests,
)


def message(n: int, subject: str = "hello") -> Message:
    return Message(username="alex", message_id=ksuid(NOON, n), subject=subject)


INBOX = Message.within("main", username="alex")


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, BIG_TIME_DEALS)


def test_a_query_is_a_value_that_shows_its_request() -> None:
    asked = query(INBOX, newest_first=True, limit=25, filter=attr("subject") == "hot")
    assert isinstance(asked, Op)
    assert asked.request() == Request(
        "Query",
        {
            "TableName": "BigTimeDeals",
            "KeyConditionExpression": "#n0 = :v0",
            "FilterExpression": "#n1 = :v1",
            "ScanIndexForward": False,
            "Limit": 26,  # one more tells whether there is a next page
            "ExpressionAttributeNames": {"#n0": "PK", "#n1": "Subject"},
            "ExpressionAttributeValues": {":v0": {"S": "MESSAGES#alex"}, ":v1": {"S": "hot"}},
        },
    )


def test_newest_first_and_oldest_first(store: Store) -> None:
    messages = [message(n) for n in range(5)]
    fill(store, messages)
    assert store.run(query(INBOX)).items == messages
    assert store.run(query(INBOX, newest_first=True)).items == messages[::-1]


def test_a_global_index_is_not_read_consistently(store: Store) -> None:
    with pytest.raises(DesignError, match="GSI1 is global"):
        query(Message.within("GSI1", unread_by="alex"), consistent=True)
    assert query(INBOX, consistent=True).request().params["ConsistentRead"] is True


def test_only_reads_a_view(store: Store) -> None:
    fill(store, [deal(NOON, n) for n in range(3)])
    within = Deal.within("GSI2", brand="APPLE", created_at=NOON)
    page = store.run(query(within, only=DealCard, limit=2))
    assert page.items == [DealCard(deal_id=ksuid(NOON, n), title=f"deal {n}") for n in (0, 1)]
    rest = store.run(query(within, only=DealCard, after=page.position))
    assert [card.title for card in rest] == ["deal 2"]
    (request, _) = requests(store)
    assert "ProjectionExpression" in request.params
    assert store.run(all_of(within, only=DealCard)) == [*page, *rest]


class TestNeighbours:
    """Items of other entities in the same partition."""

    def test_by_type(self, engine: Engine) -> None:
        store = open_tables(engine, PLACES)
        members = [Member(org="o", team="red", name=name) for name in ("ann", "bob")]
        teams = [Team(org="o", team="red"), Team(org="o", team="teal")]
        fill(store, [*members, *teams])
        assert store.run(all_of(Team.within("main", org="o"))) == teams
        assert store.run(all_of(Member.within("main", org="o"))) == members
        assert store.run(query(Team.within("main", org="o"), limit=2)).items == teams
        assert store.run(count(Team.within("main", org="o"))) == 2
        assert requests(store)[-1].params["Select"] == "COUNT"

    def test_by_key_where_the_table_has_no_type(self, engine: Engine) -> None:
        store = open_tables(engine, CART)
        lines = [
            Line(account_id="a", status=Status.ACTIVE, entered_at=NOON, sku=sku) for sku in "xy"
        ]
        fill(store, [*lines, *(Marker(account_id="a", item=sku, line="-") for sku in "xy")])
        assert store.run(all_of(Line.within("main", account_id="a"))) == lines
        assert len(store.run(all_of(Marker.within("main", account_id="a")))) == 2
        assert store.run(count(Line.within("main", account_id="a"))) == 2

    def test_an_item_that_does_not_fit_names_key_and_field_and_is_not_lost(
        self, store: Store
    ) -> None:
        fill(store, [message(1)])
        item = {**Message.layout.to_item(message(2)), "Subject": {"N": "5"}}
        store.transport(Request("PutItem", {"TableName": "BigTimeDeals", "Item": item}))
        with pytest.raises(ItemMismatch, match=r"Message at .*subject") as caught:
            store.run(query(INBOX))
        assert caught.value.item == item


class TestCount:
    def test_counts_without_reading(self, store: Store) -> None:
        fill(store, [message(n, "x" * 300_000) for n in range(8)])
        assert store.run(count(INBOX)) == 8
        assert {request.params["Select"] for request in requests(store)} == {"COUNT"}

    def test_a_count_is_a_value_that_can_be_run_again(self, engine: Engine) -> None:
        store = open_tables(engine, SHOP)
        orders = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(4)]
        fill(store, orders[:3])
        stretch = Order.within("main", username="alex", order_id=less_than(orders[3].order_id))
        counts = [count(Order.within("main", username="alex")), count(stretch)]
        assert [store.run(each) for each in counts] == [3, 3]
        fill(store, orders[3:])
        assert [store.run(each) for each in counts] == [4, 3]

    def test_with_a_filter(self, store: Store) -> None:
        fill(store, [message(n, "hot" if n % 3 else "cold") for n in range(9)])
        assert store.run(count(INBOX, filter=attr("subject") == "hot")) == 6

    @pytest.mark.parametrize("most", [1, 5, 6, 7, 9])
    def test_no_further_than_is_asked(self, store: Store, most: int) -> None:
        fill(store, [message(n, "hot" if n % 3 else "cold") for n in range(9)])
        assert store.run(count(INBOX, most=most)) == min(most, 9)
        assert max(request.params["Limit"] for request in requests(store)) == most
        hot = attr("subject") == "hot"
        assert store.run(count(INBOX, filter=hot, most=most)) == min(most, 6)

    def test_no_further_than_is_asked_where_items_have_to_be_read(self, engine: Engine) -> None:
        store = open_tables(engine, SHOP)
        orders = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(5)]
        fill(store, [*orders, Customer(username="alex", email="a@b.c")])
        asked = Order.within("main", username="alex", order_id=less_than(orders[4].order_id))
        assert [store.run(count(asked, most=most)) for most in (1, 3, 9)] == [1, 3, 4]

    def test_to_count_nothing_is_refused(self, store: Store) -> None:
        with pytest.raises(DesignError, match="most is the number of items"):
            store.run(count(INBOX, most=0))

    def test_leaves_out_the_bound_that_is_left_out(self, engine: Engine) -> None:
        store = open_tables(engine, SHOP)
        orders = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(3)]
        fill(store, [*orders, Customer(username="alex", email="a@b.c")])
        asked = Order.within("main", username="alex", order_id=less_than(orders[2].order_id))
        assert store.run(count(asked)) == 2

    def test_a_shared_index(self, engine: Engine) -> None:
        store = open_tables(engine, SHOP)
        order = Order(username="alex", order_id=ksuid(NOON, 1))
        items = [OrderItem(order_id=order.order_id, item_id=item) for item in "abc"]
        fill(store, [order, *items])
        assert store.run(count(OrderItem.within("GSI1", order_id=order.order_id))) == 3


class TestDeletedSoftly:
    def shops(self, store: Store) -> None:
        for n in range(6):
            closed = NOON if n % 2 else None
            shop = Shop(country="US", state="NE", city="Omaha", zip_code=str(n), closed_at=closed)
            fill(store, [shop])

    def test_is_not_found_unless_asked_for(self, engine: Engine) -> None:
        store = open_tables(engine, PLACES)
        self.shops(store)
        within = Shop.within("main", country="US")
        assert [shop.zip_code for shop in store.run(query(within, limit=3))] == ["0", "2", "4"]
        assert len(store.run(query(within, deleted=True))) == 6
        assert store.run(count(within)) == 3
        assert store.run(count(within, deleted=True)) == 6

    def test_an_index_that_cannot_tell_is_refused(self) -> None:
        table = Table("Notes", "PK", indexes=[global_index("ByTag", "tag", keys_only=True)])

        class Note(Entity, table=table, deleted="gone_at"):
            keys = Keys(main="NOTE#{name}", ByTag="{tag}")
            name: str
            tag: str
            gone_at: datetime | None = None

        class Tagged(View, of=Note, index="ByTag"):
            name: str

        with pytest.raises(DesignError, match="ByTag does not say which Note was deleted"):
            query(Tagged.within(tag="x"))
        assert query(Tagged.within(tag="x"), deleted=True).request().operation == "Query"


class TestLocalIndex:
    def test_gives_the_whole_entity_though_it_projects_keys_only(self, engine: Engine) -> None:
        store = open_tables(engine, WATCHES)
        watch = UserWatch(user_id="u", watch_key="k", brand_id="b", target_name="tv")
        fill(store, [watch])
        asked = query(UserWatch.within("ByTarget", user_id="u"), consistent=True)
        assert asked.request().params["Select"] == "ALL_ATTRIBUTES"
        assert store.run(asked).items == [watch]

    def test_a_global_index_cannot(self) -> None:
        with pytest.raises(DesignError, match=r"WatchesByBrand .* does not project all"):
            UserWatch.within("WatchesByBrand", brand_id="b")


def test_deals_of_a_day_later_than_the_last_seen(store: Store) -> None:
    """The bound of B14: no condition on the first page, `<` on the next."""
    deals = [deal(NOON + timedelta(seconds=n), n) for n in range(3)]
    fill(store, deals)
    within = Deal.within("GSI1", created_at=NOON, deal_id=less_than(deals[1].deal_id))
    assert store.run(query(within, newest_first=True)).items == [deals[0]]


LINKS = Table("Links", "PK", "SK", indexes=[global_index("Inverted", "SK", "PK")])


class Link(Entity, table=LINKS):
    keys = Keys(main=("FROM#{source}", "TO#{target}"), Inverted=("TO#{target}", "FROM#{source}"))
    source: str
    target: str
    weight: int


class Visit(Entity, table=LINKS):
    """Is in the inverted index as well, without saying so."""

    keys = Keys(main=("BY#{who}", "TO#{target}"))
    who: str
    target: str


def test_an_index_may_hold_entities_that_do_not_declare_it(engine: Engine) -> None:
    store = open_tables(engine, LINKS)
    link = Link(source="a", target="b", weight=1)
    fill(store, [link, Visit(who="alex", target="b")])
    stretch = Link.within("Inverted", target="b")
    assert store.run(query(stretch)).items == [link]
    assert store.run(count(stretch)) == 1
