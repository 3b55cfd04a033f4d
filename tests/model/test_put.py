"""Writing whole entities: conditions, versions and times."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model.errors import Conflict, DesignError, ItemExists, ItemMissing
from bigtime.model.operations.get import get
from bigtime.model.operations.put import Put, create, put, replace
from bigtime.model.schema.condition import attr
from tests.model.designs import BIG_TIME_DEALS, NOON, Brand
from tests.model.portal import PORTAL, Player, Product, ProductExists, TooDear, UnknownProduct
from tests.model.world import World, check_indexes

TABLES = [PORTAL, BIG_TIME_DEALS]


def test_put_writes_over_what_is_there(world: World) -> None:
    world.run(put(Player(name="al", team="red", score=3)))
    world.run(put(Player(name="al", score=4)))
    assert world.run(get(Player.key("al"))) == Player(name="al", score=4)
    check_indexes(world, PORTAL)


def test_create_refuses_what_is_there(world: World) -> None:
    world.run(create(Player(name="al")))
    with pytest.raises(ItemExists):
        world.run(create(Player(name="al", score=5)))
    with pytest.raises(ProductExists):
        world.run(create(Player(name="al", score=5), unless_exists=ProductExists))
    assert world.run(get(Player.key("al"))) == Player(name="al")


def test_replace_refuses_what_is_not_there(world: World) -> None:
    with pytest.raises(ItemMissing):
        world.run(replace(Player(name="al")))
    world.run(create(Player(name="al")))
    world.run(replace(Player(name="al", score=5)))
    with pytest.raises(UnknownProduct):
        world.run(replace(Player(name="bo"), if_exists=UnknownProduct))
    assert world.run(get(Player.key("al"))) == Player(name="al", score=5)


def test_the_condition_that_failed_decides_the_error(world: World) -> None:
    cheap = attr("price") < Decimal(10)

    def replacing() -> Put[Brand]:
        return replace(
            Brand(brand="X", like_count=1),
            if_exists=UnknownProduct,
            when=attr("like_count") == 0,
            otherwise=TooDear,
        )

    with pytest.raises(UnknownProduct):
        world.run(replacing())
    world.run(put(Brand(brand="X")))
    world.run(replacing())
    with pytest.raises(TooDear):
        world.run(replacing())
    with pytest.raises(ProductExists):
        world.run(put(Brand(brand="X"), unless_exists=ProductExists, when=attr("brand").missing()))
    with pytest.raises(DesignError, match="Brand has no field 'price'"):
        world.run(put(Brand(brand="X"), when=cheap))


def test_true_stands_for_the_kit_s_own_errors(world: World) -> None:
    with pytest.raises(ItemMissing):
        world.run(put(Brand(brand="X"), if_exists=True))
    world.run(put(Brand(brand="X"), unless_exists=True))
    with pytest.raises(ItemExists):
        world.run(put(Brand(brand="X"), unless_exists=True))


def test_an_error_may_be_an_instance(world: World) -> None:
    with pytest.raises(UnknownProduct, match="no X"):
        world.run(put(Brand(brand="X"), if_exists=UnknownProduct("no X")))


def test_times_are_the_store_s(world: World) -> None:
    made = world.run(create(Product(product_id="P1")))
    assert made.created_at == made.updated_at == NOON
    later = world.later(minutes=1, microseconds=5)
    changed = world.run(put(made.model_copy(update={"price": Decimal(2)})))
    assert changed.created_at == NOON
    assert changed.updated_at == later - timedelta(microseconds=5)
    assert world.run(get(Product.key("p1"))) == changed
    check_indexes(world, PORTAL)


def test_a_version_counts_up_and_an_old_one_is_refused(world: World) -> None:
    first = world.run(put(Product(product_id="p1")))
    assert first.version == 1
    second = world.run(put(first))
    assert second.version == 2
    with pytest.raises(Conflict):
        world.run(put(first))
    with pytest.raises(Conflict):
        world.run(put(Product(product_id="p1")))
    with pytest.raises(Conflict):
        world.run(replace(first))
    with pytest.raises(ProductExists):
        world.run(create(Product(product_id="p1"), unless_exists=ProductExists))
    assert world.run(get(Product.key("p1"))) == second
    with pytest.raises(ItemMissing):
        world.run(replace(Product(product_id="p2", version=3)))
    with pytest.raises(Conflict):
        world.run(put(Product(product_id="p2", version=3)))


def test_a_put_says_what_it_would_ask(world: World) -> None:
    request = create(Player(name="al")).request()
    assert request.operation == "PutItem"
    assert request.params["ConditionExpression"] == "attribute_not_exists(#n0)"
    assert request.params["ExpressionAttributeNames"] == {"#n0": "pk"}
    with pytest.raises(DesignError, match="told the time by the store"):
        create(Product(product_id="p")).request()
