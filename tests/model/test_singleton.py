"""Singletons: one item, which is what its defaults say until something is stored."""

from __future__ import annotations

import pytest

from bigtime.model.errors import ConditionFailed, DesignError
from bigtime.model.invariants.singleton import singleton
from bigtime.model.operations.change import Append
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table
from tests.model.designs import Brand, Brands
from tests.model.invariants import FRONT_PAGE, ORDERS, SHOP, FrontPage
from tests.model.world import World

TABLES = [SHOP]


def test_before_anything_is_stored_it_is_what_its_defaults_say(world: World) -> None:
    assert world.run(FRONT_PAGE.get()) == FrontPage()
    assert world.items(SHOP) == []


def test_a_change_makes_it(world: World) -> None:
    told = world.run(FRONT_PAGE.update(deal_ids=Append(["d1"])))
    assert told == FrontPage(deal_ids=["d1"])
    world.run(FRONT_PAGE.update(title="Hot"))
    world.run(ORDERS.next())
    assert world.run(FRONT_PAGE.get(consistent=True)) == FrontPage(
        title="Hot", deal_ids=["d1"], last_order=1
    )
    assert len(world.items(SHOP)) == 1
    with pytest.raises(ConditionFailed):
        world.run(FRONT_PAGE.update(title="Cold", when=attr("title") == "Cool"))


def test_only_what_has_one_item_and_defaults_is_one() -> None:
    with pytest.raises(DesignError, match="Brand has brand in its key, so it may have many items"):
        singleton(Brand)
    with pytest.raises(DesignError, match="Brands has no default for names"):
        singleton(Brands)

    class Page(Entity, table=Table("Pages", "PK")):
        keys = Keys(main="PAGE")
        note: str | None = None

    assert singleton(Page).key.item == {"PK": {"S": "PAGE"}}
