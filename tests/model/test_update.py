"""Updates: every kind of change, and indexes that are never left behind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model.errors import ConditionFailed, Conflict, DesignError, ItemMissing, ValueRefused
from bigtime.model.operations.change import Add, Append, At, Discard, IfMissing, Remove, Set
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op
from bigtime.model.operations.put import put
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import add, update
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table
from tests.model.designs import NOON, WATCHES, UserWatch
from tests.model.portal import PORTAL, Maker, Player, Product, TooDear, UnknownProduct
from tests.model.updates import SCORES, TWINS, Twin
from tests.model.world import World, check_indexes

TABLES = [PORTAL, WATCHES, SCORES, TWINS]


@pytest.fixture
def player(world: World) -> Player:
    return world.run(
        put(
            Player(
                name="al",
                team="red",
                score=5,
                tags={"a", "b"},
                notes=["x"],
                counts={"won": 1},
                maker=Maker(full_name="Ace", labels={"l"}),
                makers={"a.b": Maker(full_name="Bee", founded_in=7)},
                lines=[Maker(full_name="Cee")],
            )
        )
    )


def change_player(world: World, *paths: At, **fields: Any) -> Player:
    """The player after an update; as the update tells it, and as it is then read."""
    told = world.run(update(Player.key("al"), *paths, **fields))
    assert world.run(get(Player.key("al"))) == told
    check_indexes(world, PORTAL)
    return told


CHANGES: list[tuple[str, Any, Any]] = [
    ("level", "high", "high"),
    ("level", Set("high"), "high"),
    ("level", Remove(), "low"),
    ("team", None, None),
    ("team", Set(None), None),
    ("team", "blue", "blue"),
    ("score", "17", 17),
    ("score", Add(3), 8),
    ("score", Add(-3), 2),
    ("score", IfMissing(1), 5),
    ("rating", Add(Decimal("0.5")), Decimal("0.5")),
    ("rating", IfMissing(Decimal(4)), Decimal(4)),
    ("tags", {"c"}, {"c"}),
    ("tags", set(), set()),
    ("tags", Remove(), set()),
    ("tags", Add({"c"}), {"a", "b", "c"}),
    ("tags", Add(set()), {"a", "b"}),
    ("tags", Discard({"a", "z"}), {"b"}),
    ("tags", Discard({"a", "b"}), set()),
    ("tags", Discard(set()), {"a", "b"}),
    ("notes", Append(["y", "z"]), ["x", "y", "z"]),
    ("notes", Append(["y"], at_start=True), ["y", "x"]),
    ("notes", Append([]), ["x"]),
    ("notes", [], []),
    ("counts", {"lost": 2}, {"lost": 2}),
    ("maker", Maker(full_name="Zed"), Maker(full_name="Zed")),
    ("maker", {"full_name": "Zed"}, Maker(full_name="Zed")),
    ("at", NOON, NOON),
]


@pytest.mark.parametrize(("name", "change", "after"), CHANGES)
@pytest.mark.usefixtures("player")
def test_a_field_changes(world: World, name: str, change: Any, after: Any) -> None:
    assert getattr(change_player(world, **{name: change}), name) == after


PATHS: list[tuple[At, Callable[[Any], Any], Any]] = [
    (At("counts.won", Add(2)), lambda one: one.counts, {"won": 3}),
    (At("counts.lost", Add(2)), lambda one: one.counts, {"won": 1, "lost": 2}),
    (At(("counts", "a.b[0]"), 4), lambda one: one.counts, {"won": 1, "a.b[0]": 4}),
    (At("counts.won", Remove()), lambda one: one.counts, {}),
    (At("counts.won", None), lambda one: one.counts, {}),
    (At("maker.founded_in", 1990), lambda one: one.maker.founded_in, 1990),
    (At("maker.founded_in", IfMissing(1)), lambda one: one.maker.founded_in, 1),
    (At("maker.full_name", "Zed"), lambda one: one.maker.full_name, "Zed"),
    (At("maker.labels", Add({"m"})), lambda one: one.maker.labels, {"l", "m"}),
    (At("maker.labels", Discard({"l"})), lambda one: one.maker.labels, set()),
    (At("maker.labels", set()), lambda one: one.maker.labels, set()),
    (At(("makers", "a.b", "founded_in"), None), lambda one: one.makers["a.b"].founded_in, None),
    (At("makers.new", Maker(full_name="N")), lambda one: one.makers["new"].full_name, "N"),
    (At("lines[0].founded_in", 5), lambda one: one.lines[0].founded_in, 5),
    (At("lines[0]", Remove()), lambda one: one.lines, []),
    (At("notes[0]", "y"), lambda one: one.notes, ["y"]),
    (At("score", Add(1)), lambda one: one.score, 6),
]


@pytest.mark.parametrize(("at", "look", "after"), PATHS)
@pytest.mark.usefixtures("player")
def test_a_place_inside_a_field_changes(
    world: World, at: At, look: Callable[[Any], Any], after: Any
) -> None:
    assert look(change_player(world, at)) == after


@pytest.mark.usefixtures("player")
def test_many_changes_are_one_request(world: World) -> None:
    told = change_player(
        world,
        At("counts.won", Add(1)),
        At("maker.founded_in", 3),
        team=None,
        score=Add(2),
        tags=Discard({"a"}),
        rating=Decimal(3),
    )
    assert (told.team, told.score, told.tags, told.counts) == (None, 7, {"b"}, {"won": 2})
    assert told.maker == Maker(full_name="Ace", founded_in=3, labels={"l"})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: update(Player.key("al")), "nothing to change"),
        (lambda: update(Player.key("al"), colour=1), "Player has no field 'colour'"),
        (lambda: update(Player.key("al"), At("maker.x", 1)), "there is no 'x'"),
        (lambda: update(Player.key("al"), name="bo"), "part of its key, and a key never changes"),
        (lambda: update(Product.key("p"), version=3), "is changed by every update"),
        (lambda: update(Product.key("p"), updated_at=NOON), "is changed by every update"),
        (lambda: update(Player.key("al"), level=None), "Player.level cannot be None"),
        (lambda: update(Player.key("al"), score="x"), "Player.score: Input should be a valid"),
        (lambda: update(Player.key("al"), rating=-1), "Player.rating: Input should be greater"),
        (lambda: update(Player.key("al"), score=Add("x")), "Player.score takes an int"),
        (lambda: update(Player.key("al"), score=Add(1.5)), "Player.score takes an int"),
        (lambda: update(Player.key("al"), level=Add(1)), "is of type S, which Add cannot change"),
        (lambda: update(Player.key("al"), score=Append([1])), "which Append cannot change"),
        (lambda: update(Player.key("al"), notes=Discard({1})), "which Discard cannot change"),
        (lambda: update(Player.key("al"), tags=Add(["x"])), "Player.tags takes a set, not"),
        (lambda: update(Player.key("al"), tags=Add({1})), "Player.tags: Input should be a valid"),
        (lambda: update(Player.key("al"), notes=Append([1])), "Player.notes: Input should be"),
        (lambda: update(Player.key("al"), at=datetime(2026, 1, 1)), "no time zone"),
        (
            lambda: update(Player.key("al"), At("maker.full_name", "x"), maker=None),
            "are changed at once, and one holds the other",
        ),
        (
            lambda: update(Player.key("al"), At("score", 1), score=2),
            "are changed at once, and one holds the other",
        ),
        (
            lambda: update(Player.key("al"), At("lines[0]", Remove()), At("lines[0].x", 1)),
            "are changed at once, and one holds the other",
        ),
    ],
)
def test_an_update_that_makes_no_sense_is_refused(
    world: World, make: Callable[[], Op[Any]], words: str
) -> None:
    with pytest.raises((DesignError, ValueRefused)) as caught:
        world.run(make())
    assert words in str(caught.value)
    assert "UpdateItem" not in world.operations()


# Items that are not there


def test_an_update_never_makes_a_ghost(world: World) -> None:
    with pytest.raises(ItemMissing):
        world.run(update(Player.key("al"), level="high"))
    with pytest.raises(UnknownProduct):
        world.run(update(Player.key("al"), rating=Decimal(1), if_exists=UnknownProduct))
    with pytest.raises(UnknownProduct):
        world.run(update(Player(name="al"), level="x", if_exists=UnknownProduct))
    with pytest.raises(UnknownProduct):
        world.run(add(Player.key("al"), score=1, if_exists=UnknownProduct))
    assert world.items(PORTAL) == []


def test_an_amount_is_added_on_a_condition(world: World, player: Player) -> None:
    adding: Any = {"score": 3, "when": attr("score") < 10, "otherwise": TooDear}
    assert world.run(add(Player.key("al"), **adding)).score == player.score + 3 == 8
    assert world.run(add(Player.key("al"), **adding)).score == 11
    with pytest.raises(TooDear):
        world.run(add(Player.key("al"), **adding))
    check_indexes(world, PORTAL)


def test_the_condition_that_failed_decides_the_error(world: World) -> None:
    def raising(target: Any) -> Op[Any]:
        cheap = attr("rating") < 3
        return update(target, if_exists=UnknownProduct, when=cheap, otherwise=TooDear, level="high")

    al = Player(name="al", rating=Decimal("2.50"))
    for target in (al, al.own_key()):
        with pytest.raises(UnknownProduct):
            world.run(raising(target))
    world.run(put(al))
    for target in (al, al.own_key()):
        world.run(raising(target))
        world.run(put(al))
    dear = world.run(put(Player(name="al", rating=Decimal("3.50"), level="low")))
    for target in (dear, dear.own_key()):
        with pytest.raises(TooDear):
            world.run(raising(target))
    with pytest.raises(ConditionFailed):
        world.run(update(Player.key("al"), when=attr("rating").missing(), notes=[]))


def test_an_upsert_makes_a_whole_item(world: World) -> None:
    for score in (3, 6):
        told = world.run(update(Player.key("al"), upsert=True, team="red", score=Add(3)))
        assert told == Player(name="al", team="red", score=score)
        check_indexes(world, PORTAL)
    (item,) = world.items(PORTAL)
    assert item["type"] == {"S": "Player"}
    assert world.run(add(Player.key("bo"), upsert=True, score=1)) == Player(name="bo", score=1)
    check_indexes(world, PORTAL)


def test_an_upsert_that_meets_an_item_keeps_what_it_has(world: World, player: Player) -> None:
    told = world.run(update(Player.key("al"), upsert=True, rating=Decimal(1)))
    assert told == player.model_copy(update={"rating": Decimal(1)})
    check_indexes(world, PORTAL)


def test_an_upsert_is_retried_when_the_item_appears_meanwhile(world: World) -> None:
    world.meanwhile("UpdateItem", put(Player(name="al", team="red", score=5)))
    told = world.run(update(Player.key("al"), upsert=True, score=Add(1)))
    assert told == Player(name="al", team="red", score=6)
    check_indexes(world, PORTAL)


def test_an_upsert_says_what_else_it_needs() -> None:
    with pytest.raises(DesignError, match="could make a Point without x; set it too"):
        update(Point.key("a"), upsert=True, y=1)
    assert update(Point.key("a"), upsert=True, x=1).request().operation == "UpdateItem"


POINTS = Table("Points", "name")


class Point(Entity, table=POINTS):
    keys = Keys(main="{name}")
    name: str
    x: int
    y: int = 0
    names: set[str]
    z: int | None


# Indexes


def test_known_fields_need_no_read(world: World, player: Player) -> None:
    world.operations()
    world.run(update(Player.key("al"), team="blue", level="high", score=9))
    assert world.operations() == ["UpdateItem"]
    check_indexes(world, PORTAL)


@pytest.mark.usefixtures("player")
def test_unknown_fields_are_read_first(world: World) -> None:
    world.operations()
    told = world.run(update(Player.key("al"), score=9))
    assert world.operations() == ["GetItem", "UpdateItem"]
    assert (told.team, told.score) == ("red", 9)
    check_indexes(world, PORTAL)


def test_an_entity_tells_what_a_key_does_not(world: World, player: Player) -> None:
    world.operations()
    world.run(update(player, score=Add(4)))
    assert world.operations() == ["UpdateItem"]
    check_indexes(world, PORTAL)


def test_what_no_index_goes_by_needs_nothing(world: World, player: Player) -> None:
    world.operations()
    world.run(update(player.model_copy(update={"team": "stale"}), rating=Decimal(2)))
    assert world.operations() == ["UpdateItem"]
    check_indexes(world, PORTAL)


def test_an_item_leaves_an_index_and_comes_back(world: World, player: Player) -> None:
    world.run(update(player, team=None))
    assert world.items(PORTAL, "ByScore") == world.items(PORTAL, "ByOwner") == []
    world.run(update(player.own_key(), team="blue"))
    assert len(world.items(PORTAL, "ByScore")) == 1
    check_indexes(world, PORTAL)


def test_an_overtaken_update_is_tried_again(world: World, player: Player) -> None:
    world.operations()
    world.meanwhile("UpdateItem", update(player.own_key(), team="blue", level="high", score=1))
    told = world.run(update(player.own_key(), score=Add(4)))
    assert world.operations() == ["GetItem", "UpdateItem", "GetItem", "UpdateItem"]
    assert (told.team, told.level, told.score) == ("blue", "high", 5)
    check_indexes(world, PORTAL)


def test_an_entity_that_is_stale_is_refused(world: World, player: Player) -> None:
    world.run(update(player.own_key(), team="blue", level="high", score=1))
    with pytest.raises(Conflict):
        world.run(update(player, score=Add(4)))
    with pytest.raises(Conflict):
        world.run(update(player, level="low"))
    check_indexes(world, PORTAL)


def test_a_race_that_is_never_won_ends_in_a_conflict(world: World, player: Player) -> None:
    scores = iter(range(100))

    def overtake(request: Any) -> None:
        if request.operation == "UpdateItem":
            other = World(world.engine)
            other.run(update(player.own_key(), team="blue", level="high", score=next(scores)))
        world.before = overtake

    world.before = overtake
    with pytest.raises(Conflict):
        world.run(update(player.own_key(), score=Add(1)))
    world.before = None
    check_indexes(world, PORTAL)


def test_a_failed_condition_is_no_race(world: World) -> None:
    """Numbers and sets come back in another spelling than they were written in."""
    world.put(
        PORTAL,
        {**Player.layout.to_item(Player(name="al", team="red")), "score": {"N": "05.0"}},
    )
    world.operations()
    with pytest.raises(TooDear):
        world.run(
            update(Player.key("al"), level="high", when=attr("rating").exists(), otherwise=TooDear)
        )
    assert world.operations() == ["GetItem", "UpdateItem"]


def test_an_index_on_attributes_that_are_fields(world: World) -> None:
    watch = world.run(put(UserWatch(user_id="al", watch_key="w", brand_id="apple")))
    for change in ({"brand_id": "acer"}, {"brand_id": None}, {"target_name": "x"}):
        world.run(update(watch.own_key(), **change))
        check_indexes(world, WATCHES)
    world.run(update(watch.own_key(), created_at=NOON + timedelta(hours=1)))
    check_indexes(world, WATCHES)
    (item,) = world.items(WATCHES)
    assert item["created_at"] == {"S": "2026-03-10T13:00:00Z"}


def test_indexes_that_share_an_attribute(world: World) -> None:
    def look(item: dict[str, Any]) -> tuple[bool, bool, bool]:
        return "aPk" in item, "bPk" in item, "rank" in item

    twin = world.run(put(Twin(name="x", a="1", b="2", order=3)))
    for change, held in (
        ({"a": None}, (False, True, True)),
        ({"b": None}, (False, False, False)),
        ({"a": "4"}, (True, False, True)),
        ({"order": None}, (False, False, False)),
        ({"order": 5, "b": "6"}, (True, True, True)),
    ):
        world.run(update(twin.own_key(), **change))
        (item,) = world.items(TWINS)
        assert look(item) == held
        check_indexes(world, TWINS)


# Roles


def test_an_upsert_tells_when_an_item_was_made(world: World) -> None:
    made = world.run(update(Product.key("p"), upsert=True, owner="al"))
    assert (made.created_at, made.updated_at, made.version) == (NOON, NOON, 1)
    later = world.later(hours=1)
    told = world.run(update(Product.key("p"), upsert=True, owner="bo"))
    assert (told.created_at, told.updated_at, told.version) == (NOON, later, 2)
    check_indexes(world, PORTAL)


def test_an_update_counts_the_version_and_tells_the_time(world: World) -> None:
    made = world.run(put(Product(product_id="P", owner="al")))
    later = world.later(hours=1)
    told = world.run(update(made, price=Decimal(2)))
    assert (told.version, told.updated_at, told.created_at) == (2, later, NOON)
    with pytest.raises(Conflict):
        world.run(update(made, price=Decimal(3)))
    world.later(hours=1)
    assert world.run(update(Product.key("p"), status="LIVE")).version == 3
    check_indexes(world, PORTAL)


def test_update_looks_up_keys_as_they_are_stored(world: World) -> None:
    world.run(put(Product(product_id="ABC")))
    assert world.run(update(Product.key("Abc"), owner="bo")).owner == "bo"


# In a transaction


def test_a_transaction_refuses_what_has_to_be_read_first(world: World, player: Player) -> None:
    with pytest.raises(DesignError) as caught:
        world.run(transact(update(player.own_key(), score=1)))
    assert "has to read level, team first; inside a transaction, get the item before" in str(
        caught.value
    )
    world.run(transact(update(player, score=1)))
    check_indexes(world, PORTAL)
