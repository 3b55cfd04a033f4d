"""Indexes equal the table after any sequence of updates."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bigtime.engine import Engine
from bigtime.model.errors import Conflict, ItemMissing
from bigtime.model.operations.batch import delete_many, put_many
from bigtime.model.operations.change import Add, IfMissing, Remove, Set
from bigtime.model.operations.delete import delete, restore
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op, Runnable
from bigtime.model.operations.put import put
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import add, update
from bigtime.model.schema.entity import Entity
from tests.model.designs import NOON, WATCHES, UserWatch
from tests.model.portal import PORTAL, Player, Product
from tests.model.updates import SCORES, TWINS, Score, Twin
from tests.model.world import World, check_indexes

# Any sequence

TABLES = [SCORES]
LEVELS = ["low", "high"]
TEAMS = [None, "red", "blue"]
players = st.builds(
    Player,
    name=st.sampled_from("ab"),
    team=st.sampled_from(TEAMS),
    level=st.sampled_from(LEVELS),
    score=st.integers(0, 3),
)
field_changes: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "team": st.sampled_from(TEAMS),
        "level": st.sampled_from(LEVELS) | st.just(Remove()) | st.just(IfMissing("mid")),
        "score": st.integers(0, 3) | st.builds(Add, st.integers(0, 3)) | st.just(Remove()),
        "tags": st.just(Add({"x"})) | st.just(set()),
        "rating": st.just(Add(1)),
    },
).filter(bool)
product_changes: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "owner": st.sampled_from([None, "al", "bo"]),
        "status": st.sampled_from(["DRAFT", "LIVE"]),
        "price": st.just(Add(1)),
    },
).filter(bool)
products = st.builds(Product, product_id=st.sampled_from("xy"), owner=st.sampled_from([None, "al"]))
twins = st.builds(
    Twin,
    name=st.just("x"),
    a=st.sampled_from([None, "1"]),
    b=st.sampled_from([None, "2"]),
    order=st.sampled_from([None, 1, 2]),
)
twin_changes: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from([None, "1", IfMissing("3")]),
        "b": st.sampled_from([None, "2", IfMissing("4")]),
        "order": st.sampled_from([None, 3, Add(1)]),
    },
).filter(bool)
Writing = Callable[[World], Any]


def of_seen(entity: Entity, changes: dict[str, Any]) -> Writing:
    """An update of what is read just before."""

    def write(world: World) -> Any:
        seen = world.run(get(entity.own_key()))
        return None if seen is None else world.run(update(seen, **changes))

    return write


def runner_of(make: Callable[..., Runnable[Any]], *given: Any) -> Writing:
    return lambda world: world.run(make(*given))


def in_a_transaction(pair: tuple[Entity, dict[str, Any]], other: Entity) -> Writing:
    """An update of what is read just before, and a put beside it."""
    entity, changes = pair

    def write(world: World) -> Any:
        seen = world.run(get(entity.own_key()))
        if seen is not None and other.own_key().item != entity.own_key().item:
            world.run(transact(update(seen, **changes), put(other)))

    return write


def overtaken(entity: Entity, changes: dict[str, Any], other: dict[str, Any]) -> Writing:
    """An update that somebody else is faster than, once."""

    def write(world: World) -> Any:
        world.meanwhile("UpdateItem", update(entity.own_key(), **other))
        try:
            return world.run(update(entity.own_key(), **changes))
        finally:
            world.before = None

    return write


writings: SearchStrategy[Writing] = st.one_of(
    (players | products | twins).map(lambda one: runner_of(put, one)),
    players.map(lambda one: runner_of(delete, one.own_key())),
    products.map(lambda one: runner_of(delete, one.own_key())),
    products.map(lambda one: runner_of(restore, one.own_key())),
    st.builds(
        lambda one, changes: lambda world: world.run(update(one.own_key(), **changes)),
        players,
        field_changes,
    ),
    st.builds(
        lambda one, changes: lambda world: world.run(update(one.own_key(), upsert=True, **changes)),
        players,
        field_changes,
    ),
    st.builds(
        lambda one, changes: lambda world: world.run(update(one.own_key(), **changes)),
        products,
        product_changes,
    ),
    st.builds(
        lambda changes, upsert: (
            lambda world: world.run(update(Twin.key("x"), upsert=upsert, **changes))
        ),
        twin_changes,
        st.booleans(),
    ),
    st.builds(
        in_a_transaction,
        st.tuples(players, field_changes) | st.tuples(twins, twin_changes),
        players | products | twins,
    ),
    st.builds(overtaken, players, field_changes, field_changes),
    st.builds(overtaken, products, product_changes, product_changes),
    st.builds(overtaken, twins, twin_changes, twin_changes),
    st.lists(players | twins, max_size=3).map(lambda some: runner_of(put_many, some)),
    st.builds(of_seen, twins, twin_changes),
    st.builds(of_seen, players, field_changes),
    st.builds(of_seen, products, product_changes),
)


@given(st.lists(writings, max_size=12))
def test_indexes_equal_the_table_after_any_sequence(steps: list[Writing]) -> None:
    with Engine.memory(housekeeping=False) as engine:
        world = World(engine, PORTAL, TWINS)
        for step in steps:
            world.later(seconds=1.5)
            with suppress(ItemMissing, Conflict):
                step(world)
            check_indexes(world, PORTAL)
            check_indexes(world, TWINS)


score_changes: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "team": st.sampled_from([None, "red", IfMissing("green")]),
        "points": st.sampled_from([None, Decimal("2.5"), IfMissing(Decimal(0))])
        | st.just(Add(Decimal("0.5"))),
    },
).filter(bool)
watches = st.builds(
    UserWatch,
    user_id=st.sampled_from("ab"),
    watch_key=st.just("w"),
    watch_type=st.sampled_from(["BRAND", "DEAL"]),
    brand_id=st.sampled_from([None, "apple"]),
    target_name=st.sampled_from([None, "x#y"]),
)
watch_changes: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "watch_type": st.sampled_from(["BRAND", IfMissing("DEAL")]),
        "brand_id": st.sampled_from([None, "acer", IfMissing("sony")]),
        "target_name": st.sampled_from([None, "z", Set("$")]),
        "created_at": st.sampled_from([NOON, NOON + timedelta(hours=1)]),
    },
).filter(bool)
scores = st.builds(
    Score,
    name=st.sampled_from("ab"),
    team=st.sampled_from([None, "red", "blue"]),
    points=st.none() | st.sampled_from([Decimal(1), Decimal("1.50"), Decimal(-2)]),
)
pairs = st.tuples(scores, score_changes) | st.tuples(watches, watch_changes)


more_writings: SearchStrategy[Writing] = st.one_of(
    (scores | watches).map(lambda one: runner_of(put, one)),
    (scores | watches).map(lambda one: runner_of(delete, one.own_key())),
    st.lists(scores | watches, max_size=3).map(lambda some: runner_of(put_many, some)),
    st.lists(scores | watches, max_size=3).map(
        lambda some: runner_of(delete_many, [each.own_key() for each in some])
    ),
    pairs.map(lambda pair: runner_of(update_of, *pair)),
    pairs.map(lambda pair: runner_of(upsert_of, *pair)),
    pairs.map(lambda pair: of_seen(*pair)),
    st.builds(in_a_transaction, pairs, scores | watches),
    st.builds(overtaken, scores, score_changes, score_changes),
    st.builds(overtaken, watches, watch_changes, watch_changes),
)


def update_of(entity: Entity, changes: dict[str, Any]) -> Op[Any]:
    return update(entity.own_key(), **changes)


def upsert_of(entity: Entity, changes: dict[str, Any]) -> Op[Any]:
    return update(entity.own_key(), upsert=True, **changes)


@given(st.lists(more_writings, max_size=12))
def test_indexes_of_fields_equal_the_table_after_any_sequence(steps: list[Writing]) -> None:
    with Engine.memory(housekeeping=False) as engine:
        world = World(engine, SCORES, WATCHES)
        for step in steps:
            with suppress(ItemMissing, Conflict):
                step(world)
            check_indexes(world, SCORES)
            check_indexes(world, WATCHES)


def test_a_number_that_is_a_key_by_itself_is_added_to(world: World) -> None:
    world.run(put(Score(name="al", team="red", points=Decimal("1.5"))))
    world.run(add(Score.key("al"), points=Decimal("0.25")))
    (item,) = world.items(SCORES, "ByPoints")
    assert item["points"] == {"N": "1.75"}
    world.run(update(Score.key("al"), points=None))
    assert world.items(SCORES, "ByPoints") == []
    check_indexes(world, SCORES)
