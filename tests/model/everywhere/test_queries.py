"""Queries: key conditions of every type, order, limits, filters, counts, views, collections."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from bigtime.model import (
    Condition,
    DesignError,
    Entity,
    all_of,
    at_least,
    at_most,
    attr,
    begins_with,
    between,
    collection,
    count,
    less_than,
    more_than,
    partition,
    put,
    put_many,
    query,
)
from bigtime.wire import Steps
from tests.model.designs import (
    BIG_TIME_DEALS,
    CART,
    NOON,
    PLACES,
    SHOP,
    TRENDING,
    WATCHES,
    BrandWatcher,
    Customer,
    Deal,
    DealCard,
    Line,
    Marker,
    Member,
    Order,
    OrderItem,
    Shop,
    Status,
    Team,
    TrendingDeal,
    UserWatch,
    WatchOfType,
    deal,
    ksuid,
)
from tests.model.everywhere.parcels import PARCELS, Parcel, Priced, State, Stated
from tests.model.everywhere.scenario import everywhere
from tests.model.portal import PORTAL, Maker, Player

ODD_TEXTS = [
    "",
    "#",
    "#a",
    "$",
    "%",
    "%23",
    "A",
    "A#B",
    "A#C",
    "B",
    "\x00",
    "\x01",
    "é",
    "\uffff",
    "😀",
]
SENDER = UUID("0190163d-8694-739b-aea5-966c26f8ad91")

Comparison = Callable[..., Any]
COMPARISONS: list[tuple[Comparison, Callable[[Any, Any], bool]]] = [
    (lambda x: x, lambda value, x: value == x),
    (less_than, lambda value, x: value < x),
    (at_most, lambda value, x: value <= x),
    (more_than, lambda value, x: value > x),
    (at_least, lambda value, x: value >= x),
]


def compare_conditions(
    within: Callable[[Any], Any], value_of: Callable[[Any], Any], values: list[Any], x: Any, y: Any
) -> Steps[list[list[Any]]]:
    """What each key condition finds, which must be what Python finds among the values."""
    found: list[list[Any]] = []
    for make, holds in COMPARISONS:
        seen = [value_of(each) for each in (yield from all_of(within(make(x))))]
        assert seen == [value for value in values if holds(value, x)]
        found.append(seen)
    seen = [value_of(each) for each in (yield from all_of(within(between(x, y))))]
    assert seen == [value for value in values if x <= value <= y]
    return [*found, seen]


@everywhere(TRENDING)
def test_key_conditions_of_a_number() -> Steps[object]:
    scores = [-(10**20), -10, -9, -1, 0, 1, 2, 9, 10, 11, 100, 10**20]
    yield from put_many(TrendingDeal(category_id="tv", engagement_score=score) for score in scores)
    return (
        yield from compare_conditions(
            lambda wanted: TrendingDeal.within("main", category_id="tv", engagement_score=wanted),
            lambda found: found.engagement_score,
            scores,
            -1,
            10,
        )
    )


@everywhere(PLACES)
def test_key_conditions_of_a_text_that_is_raw() -> Steps[object]:
    names = sorted(name for name in ODD_TEXTS if name)
    yield from put_many(Member(org="o", team="t", name=name) for name in names)
    yield from put_many(Member(org="o", team=team, name="A") for team in ("s", "t!", "t#", "u"))
    yield from put(Member(org="p", team="t", name="A"))

    def within(wanted: Any) -> Any:
        return Member.within("main", org="o", team="t", name=wanted)

    found = yield from compare_conditions(within, lambda one: one.name, names, "%23", "A#C")
    for prefix in ("A", "#", "%2", "é"):
        seen = [each.name for each in (yield from all_of(within(begins_with(prefix))))]
        assert seen == [name for name in names if name.startswith(prefix)]
        found.append(seen)
    return found


@everywhere(PLACES)
def test_key_conditions_of_a_text_that_is_escaped() -> Steps[object]:
    """Whatever is in a name, it sorts as it does in Python, and no two are one."""
    cities = sorted(ODD_TEXTS)
    yield from put_many(
        Shop(country="US", state="NE", city=city, zip_code=code)
        for city in cities
        for code in ("1", "2")
    )

    def within(wanted: Any) -> Any:
        return Shop.within("main", country="US", state="NE", city=wanted)

    twice = [city for city in cities for _ in range(2)]
    found = yield from compare_conditions(within, lambda one: one.city, twice, "#a", "B")
    for prefix in ("A", "#", "%"):
        seen = [each.city for each in (yield from all_of(within(begins_with(prefix))))]
        assert seen == [city for city in twice if city.startswith(prefix)]
        found.append(seen)
    return found


@everywhere(CART)
def test_a_sort_key_of_several_fields_told_from_the_left() -> Steps[object]:
    times = [NOON + timedelta(days=day) for day in range(4)]
    lines = [
        Line(account_id="a", status=status, entered_at=at, sku=sku)
        for status in (Status.ACTIVE, Status.PURCHASED, Status.SAVED)
        for at in times
        for sku in ("x", "y")
    ]
    markers = [Marker(account_id="a", item=line.sku, line="-") for line in lines[:2]]
    yield from put_many([*lines, *markers])
    asked: list[tuple[dict[str, Any], list[Line]]] = [
        ({}, lines),
        ({"status": Status.SAVED}, lines[16:]),
        ({"status": at_most(Status.PURCHASED)}, lines[:16]),
        ({"status": Status.ACTIVE, "entered_at": less_than(times[2])}, lines[:4]),
        ({"status": Status.ACTIVE, "entered_at": between(times[1], times[2])}, lines[2:6]),
        ({"status": Status.ACTIVE, "entered_at": times[3]}, lines[6:8]),
        ({"status": Status.ACTIVE, "entered_at": times[3], "sku": "y"}, lines[7:8]),
        ({"status": Status.ACTIVE, "entered_at": times[3], "sku": begins_with("x")}, lines[6:7]),
    ]
    for fields, expected in asked:
        assert (yield from all_of(Line.within("main", account_id="a", **fields))) == expected
    by_sku = yield from all_of(Line.within("GSI-SKU", sku="x", status=Status.SAVED))
    assert by_sku == lines[16::2]
    assert (yield from all_of(Marker.within("main", account_id="a"))) == markers
    return by_sku


@everywhere(TRENDING)
def test_keys_of_several_attributes() -> Steps[object]:
    deals = [
        TrendingDeal(
            category_id="tv", engagement_score=n, maker="LG", country="KR", model=model, year=year
        )
        for n, (model, year) in enumerate([("a", 9), ("a", 10), ("a", 11), ("b", 1)])
    ]
    yield from put_many([*deals, TrendingDeal(category_id="tv", engagement_score=99, maker="LG")])

    def makers(**sort: Any) -> Any:
        return TrendingDeal.within("ByMaker", maker="LG", country="KR", **sort)

    assert (yield from all_of(makers())) == deals
    assert (yield from all_of(makers(model="a", year=more_than(9)))) == deals[1:3]
    assert (yield from all_of(makers(model=at_least("b")))) == deals[3:]
    return (yield from all_of(makers(model="a"), newest_first=True))


@everywhere(PARCELS)
def test_indexes_by_bytes_by_numbers_and_by_days() -> Steps[object]:
    days = [date(2026, 1, 31), date(2026, 2, 1), date(2026, 10, 1)]
    parcels = [
        Parcel(
            sender=SENDER,
            weight=Decimal(n),
            parcel_id=ksuid(NOON, n),
            digest=b"\x00#",
            price=Decimal(price),
            day=day,
            sender_name=f"name {n}",
        )
        for n, (price, day) in enumerate(zip(("-1.5", "9", "10"), days, strict=True))
    ]
    yield from put_many(
        [*parcels, Parcel(sender=SENDER, weight=Decimal(9), parcel_id=ksuid(NOON, 9))]
    )
    priced = yield from all_of(Priced.within(digest=b"\x00#", price=at_least(Decimal(9))))
    assert [(int(each.price), each.sender_name) for each in priced] == [
        (9, "name 1"),
        (10, "name 2"),
    ]
    stated = yield from all_of(Stated.within(state=State.SENT), newest_first=True)
    assert [each.parcel_id for each in stated] == [ksuid(NOON, n) for n in (9, 2, 1, 0)]
    later = Parcel.within("ByDay", sender=SENDER, day=more_than(days[0]))
    assert (yield from all_of(later, consistent=True)) == parcels[1:]
    return priced, stated


@everywhere(BIG_TIME_DEALS)
def test_direction_limit_and_count() -> Steps[object]:
    deals = [deal(NOON + timedelta(seconds=n), n) for n in range(7)]
    yield from put_many(deals)
    today = Deal.within("GSI1", created_at=NOON)
    assert (yield from query(today, limit=3)).items == deals[:3]
    assert (yield from query(today, limit=3, newest_first=True)).items == deals[:3:-1]
    assert (yield from query(today, limit=7)).items == deals
    assert (yield from count(today)) == 7
    before = Deal.within("GSI1", created_at=NOON, deal_id=less_than(deals[2].deal_id))
    assert (yield from count(before)) == 2
    assert (yield from all_of(Deal.within("GSI1", created_at=NOON - timedelta(days=1)))) == []
    return (yield from all_of(today, only=DealCard))


@everywhere(PORTAL)
def test_a_filter_of_every_kind() -> Steps[object]:
    players = [
        Player(name="al", team="t", level="a", score=1, rating=Decimal(5), tags={"x", "y"}),
        Player(name="bo", team="t", level="ab", score=2, notes=["x"], at=NOON),
        Player(name="cy", team="t", level="b", score=3, counts={"won": 3}, rating=Decimal(3)),
        Player(name="di", team="t", level="c", score=3, maker=Maker(full_name="Dee")),
    ]
    yield from put_many(players)
    level, score, rating = attr("level"), attr("score"), attr("rating")
    filters: list[tuple[Condition, str]] = [
        (level == "ab", "bo"),
        (level != "ab", "al cy di"),
        (score < 2, "al"),
        (score <= 2, "al bo"),
        (score > 2, "cy di"),
        (score >= 2, "bo cy di"),
        (score.between(2, 3), "bo cy di"),
        (level.one_of("a", "c", "z"), "al di"),
        (rating.exists(), "al cy"),
        (rating.missing(), "bo di"),
        (rating == attr("score"), "cy"),
        (attr("counts.won") >= attr("rating"), "cy"),
        (level.begins_with("a"), "al bo"),
        (level.contains("b"), "bo cy"),
        (attr("tags").contains("x"), "al"),
        (attr("notes").contains("x"), "bo"),
        (attr("maker.full_name") == "Dee", "di"),
        (level.size() > 1, "bo"),
        (attr("at") == NOON, "bo"),
        ((score == 3) & rating.exists(), "cy"),
        ((score == 1) | (level == "c"), "al di"),
        (~(score == 3), "al bo"),
        (~((score == 1) | rating.missing()) & (level > "a"), "cy"),
    ]
    team = Player.within("ByOwner", team="t")
    for filter, names in filters:
        found = yield from all_of(team, filter=filter)
        assert [each.name for each in found] == names.split()
        assert (yield from count(team, filter=filter)) == len(found)
    return players


@everywhere(PORTAL, moto_differs="it fails on the size of an attribute that is not there")
def test_what_is_not_there_has_no_size() -> Steps[object]:
    yield from put_many([Player(name="al", team="t", tags={"x", "y"}), Player(name="bo", team="t")])
    team, size = Player.within("ByOwner", team="t"), attr("tags").size()
    found = yield from all_of(team, filter=size == 2)
    assert [each.name for each in found] == ["al"]
    assert (yield from all_of(team, filter=size < 9)) == found
    return found


@everywhere(WATCHES)
def test_views_of_what_an_index_projects() -> Steps[object]:
    watches = [
        UserWatch(
            user_id=f"user{n}",
            watch_key=f"BRAND#{n}",
            brand_id="apple",
            target_name=f"tv {n}" if n else None,
            created_at=NOON + timedelta(seconds=n),
        )
        for n in range(4)
    ]
    yield from put_many(watches)
    watchers = yield from all_of(BrandWatcher.within(brand_id="apple"))
    assert watchers == [
        BrandWatcher(user_id=watch.user_id, watch_key=watch.watch_key) for watch in watches
    ]
    of_type = yield from all_of(WatchOfType.within(watch_type="BRAND"), newest_first=True)
    assert [(each.user_id, each.target_name) for each in of_type] == [
        ("user3", "tv 3"),
        ("user2", "tv 2"),
        ("user1", "tv 1"),
        ("user0", None),
    ]
    return watchers, of_type


@everywhere(
    WATCHES,
    moto_differs="asked for all attributes, its local indexes give only what they project; AWS"
    " fetches the rest from the table",
)
def test_a_local_index_gives_the_whole_entity() -> Steps[object]:
    watches = [
        UserWatch(user_id="u", watch_key=f"k{n}", brand_id="b", target_name=f"tv {9 - n}")
        for n in range(3)
    ]
    yield from put_many(watches)
    found = yield from all_of(UserWatch.within("ByTarget", user_id="u"), consistent=True)
    assert found == watches[::-1]
    return found


@everywhere(SHOP)
def test_a_collection_of_several_entities() -> Steps[object]:
    customer = Customer(username="alex", email="a@b.c")
    orders = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(4)]
    items = [OrderItem(order_id=orders[0].order_id, item_id=item) for item in "abc"]
    yield from put_many([customer, *orders, *items, Customer(username="bo", email="b@b.c")])
    whole = partition(Customer, "main", username="alex")
    page = yield from collection(Customer, Order, within=whole, newest_first=True, limit=3)
    newest: list[Entity] = [customer, *orders[:1:-1]]
    assert page.items == newest
    rest = yield from collection(
        Customer, Order, within=whole, newest_first=True, after=page.position
    )
    assert rest.items == orders[1::-1]
    alone = yield from collection(Order, Customer, within=whole, limit=2)
    assert alone.items == orders[:2]
    by_order = partition(Order, "GSI1", order_id=orders[0].order_id)
    assembled = yield from collection(Order, OrderItem, within=by_order)
    assert assembled.items == [*items, orders[0]]
    return page.items, assembled.items


@everywhere(PLACES)
def test_entities_that_lie_among_each_other_are_told_apart() -> Steps[object]:
    teams = [Team(org="o", team=team) for team in ("red", "teal")]
    members = [Member(org="o", team=team, name=name) for team in ("red", "teal") for name in "ab"]
    yield from put_many([*members, *teams])
    assert (yield from all_of(Team.within("main", org="o"))) == teams
    assert (yield from count(Team.within("main", org="o"))) == 2
    assert (yield from all_of(Member.within("main", org="o"))) == members
    both = yield from collection(Team, Member, within=partition(Team, "main", org="o"))
    return both.items


@everywhere(BIG_TIME_DEALS)
def test_a_global_index_cannot_be_asked_consistently() -> Steps[object]:
    with pytest.raises(DesignError) as caught:
        yield from query(Deal.within("GSI1", created_at=NOON), consistent=True)
    return str(caught.value)
