"""Deleting: for good, or by a mark that reads do not look behind."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bigtime.model.errors import Conflict, DesignError, ItemMissing
from bigtime.model.operations.batch import get_many
from bigtime.model.operations.delete import check, delete, erase, restore
from bigtime.model.operations.get import get
from bigtime.model.operations.put import create, put, replace
from bigtime.model.operations.query import all_of
from bigtime.model.operations.scan import scan_all
from bigtime.model.operations.transact import get_together, transact
from bigtime.model.operations.update import update
from bigtime.model.schema.condition import attr
from tests.model.designs import BIG_TIME_DEALS, NOON, PLACES, Brand, Shop
from tests.model.portal import PORTAL, Player, Product, ProductExists, TooDear, UnknownProduct
from tests.model.world import World, check_indexes

TABLES = [PORTAL, BIG_TIME_DEALS, PLACES]


def test_delete_gives_back_what_it_was(world: World) -> None:
    world.run(put(Brand(brand="X", like_count=4)))
    assert world.run(delete(Brand.key("X"))) == Brand(brand="X", like_count=4)
    assert world.items(BIG_TIME_DEALS) == []


def test_deleting_nothing_is_fine_unless_something_must_be_there(world: World) -> None:
    assert world.run(delete(Brand.key("X"))) is None
    assert world.run(delete(Brand(brand="X"))) is None
    with pytest.raises(ItemMissing):
        world.run(delete(Brand.key("X"), if_exists=True))
    with pytest.raises(UnknownProduct):
        world.run(delete(Brand.key("X"), if_exists=UnknownProduct))


def test_the_condition_that_failed_decides_the_error(world: World) -> None:
    def deleting() -> Any:
        unloved = attr("like_count") == 0
        return delete(Brand.key("X"), if_exists=UnknownProduct, when=unloved, otherwise=TooDear)

    with pytest.raises(UnknownProduct):
        world.run(deleting())
    world.run(put(Brand(brand="X", like_count=4)))
    with pytest.raises(TooDear):
        world.run(deleting())
    assert world.run(get(Brand.key("X"))) is not None


# By a mark


@pytest.fixture
def product(world: World) -> Product:
    return world.run(create(Product(product_id="p1", owner="al")))


def test_a_marked_item_stays_and_reads_do_not_see_it(world: World, product: Product) -> None:
    later = world.later(minutes=5)
    assert world.run(delete(Product.key("p1"))) == product
    (item,) = world.items(PORTAL)
    assert item["deletedAt"] == {"S": "2026-03-10T12:05:00Z"}
    assert world.run(get(Product.key("p1"))) is None
    with pytest.raises(UnknownProduct):
        world.run(get(Product.key("p1"), missing=UnknownProduct))
    assert world.run(get_together(Product.key("p1"))) == (None,)
    assert world.run(get_many([Product.key("p1")])) == [None]
    assert world.run(scan_all(Product)) == []
    assert world.run(all_of(Product.within("ByOwner", owner="al"))) == []
    check_indexes(world, PORTAL)

    seen = world.run(get(Product.key("p1"), deleted=True))
    assert seen is not None
    assert (seen.deleted_at, seen.updated_at, seen.version) == (later, later, 2)
    assert world.run(get_together(Product.key("p1"), deleted=True)) == (seen,)
    assert world.run(all_of(Product.within("Deleted"), deleted=True)) == [seen]


def test_a_marked_item_counts_as_missing_where_one_must_be_there(
    world: World, product: Product
) -> None:
    world.run(delete(product))
    for writing in (
        update(Product.key("p1"), if_exists=UnknownProduct, price=Decimal(2)),
        replace(product, if_exists=UnknownProduct),
        delete(Product.key("p1"), if_exists=UnknownProduct),
        transact(check(Product.key("p1"), if_exists=UnknownProduct), put(Player(name="al"))),
    ):
        with pytest.raises(UnknownProduct):
            world.run(writing)
    assert world.run(delete(Product.key("p1"))) is None
    assert len(world.items(PORTAL)) == 1


def test_its_key_stays_taken(world: World, product: Product) -> None:
    world.run(delete(product))
    with pytest.raises(ProductExists):
        world.run(create(Product(product_id="p1"), unless_exists=ProductExists))


def test_restore_brings_it_back(world: World, product: Product) -> None:
    world.run(delete(product))
    restored = world.run(restore(Product.key("p1")))
    assert restored == product.model_copy(update={"version": 3})
    assert world.run(get(Product.key("p1"))) == restored
    assert world.run(restore(restored)).version == 4
    check_indexes(world, PORTAL)
    with pytest.raises(UnknownProduct):
        world.run(restore(Product.key("nobody"), if_exists=UnknownProduct))
    assert len(world.items(PORTAL)) == 1


def test_there_is_nothing_to_restore_where_nothing_is_marked() -> None:
    with pytest.raises(DesignError, match="Brand has no field with the role `deleted`"):
        restore(Brand.key("X"))


def test_deleting_nothing_leaves_no_ghost(world: World) -> None:
    assert world.run(delete(Product.key("p1"))) is None
    assert world.items(PORTAL) == []
    shop = Shop.key("US", "NE", "Omaha", "68101")
    assert world.run(delete(shop)) is None
    with pytest.raises(ItemMissing):
        world.run(transact(delete(shop)))
    assert world.items(PLACES) == []


def test_a_transaction_marks_too(world: World) -> None:
    shop = Shop(country="US", state="NE", city="Omaha", zip_code="68101")
    world.run(put(shop))
    world.run(transact(delete(shop.own_key()), put(Brand(brand="X"))))
    seen = world.run(get(shop.own_key(), deleted=True))
    assert seen is not None and seen.closed_at == NOON


def test_erase_deletes_for_good(world: World, product: Product) -> None:
    world.run(delete(product))
    erased = world.run(erase(Product.key("p1")))
    assert erased is not None
    assert erased.deleted_at == NOON
    assert world.run(erase(Product.key("p1"))) is None
    assert world.items(PORTAL) == []


def test_only_the_version_that_was_seen_is_deleted(world: World, product: Product) -> None:
    world.run(update(Product.key("p1"), price=Decimal(2)))
    for deleting in (delete(product), erase(product)):
        with pytest.raises(Conflict):
            world.run(deleting)
    assert world.run(get(Product.key("p1"))) is not None


# Checks


def test_a_check_stands_only_in_a_transaction(world: World) -> None:
    with pytest.raises(DesignError, match="only inside transact"):
        world.run(check(Brand.key("X"), if_exists=True))
    with pytest.raises(DesignError, match="needs a condition"):
        check(Brand.key("X"))


def test_a_check_lets_the_others_go_ahead_or_not(world: World) -> None:
    world.run(put(Brand(brand="X", like_count=4)))
    loved = check(Brand.key("X"), when=attr("like_count") > 4, otherwise=TooDear)
    with pytest.raises(TooDear):
        world.run(transact(loved, put(Brand(brand="Y"))))
    with pytest.raises(ProductExists):
        world.run(
            transact(check(Brand.key("X"), unless_exists=ProductExists), put(Brand(brand="Y")))
        )
    assert world.run(get(Brand.key("Y"))) is None
    world.run(transact(check(Brand.key("X"), if_exists=True), put(Brand(brand="Y"))))
    assert world.run(get(Brand.key("Y"))) == Brand(brand="Y")
