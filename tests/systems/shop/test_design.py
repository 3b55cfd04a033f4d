"""The design of the shop: as charted, as checked, as stored."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bigtime.advisor import explain, open_findings
from bigtime.advisor.sample import sample_arguments
from bigtime.model import Ksuid, Scale, load_many
from bigtime.systems.shop import SYSTEM
from bigtime.systems.shop.customer import create_customer
from bigtime.systems.shop.order import OrderedItem, save_order
from tests.store.places import START, Place
from tests.systems.cart.charted import expected_rows, generated_rows
from tests.systems.cart.contents import check_sound, contents

ORDER_ID = Ksuid.make(START, bytes(16))


def test_the_charts_are_the_contract_s() -> None:
    assert generated_rows(SYSTEM) == expected_rows(Path(__file__).parent)


def test_nothing_about_it_is_open() -> None:
    assert open_findings(SYSTEM) == []


def test_an_explanation_tells_what_each_pattern_costs() -> None:
    """None ends before its writes on the samples that stand for what was not typed."""
    for pattern in SYSTEM.patterns.values():
        explained = explain(pattern(**sample_arguments(pattern)), tables=SYSTEM.tables)
        assert explained.requests and explained.ended is None, pattern.name


def test_the_stored_keys_are_exactly_those_of_the_chart(alone: Place) -> None:
    alone.run(create_customer("AlexDebrie", "AlexDebrie1@Gmail.com", "Alex DeBrie"))
    wanted = OrderedItem.model_validate({"item_id": "KETTLE-17", "price": "39.90", "count": 2})
    alone.run(save_order("alexdebrie", ORDER_ID, [wanted]))
    names = ("PK", "SK", "GSI1PK", "GSI1SK", "Type")
    stored = [
        tuple(item[name]["S"] for name in names if name in item)
        for item in contents(alone, SYSTEM)["EcommerceTable"]
    ]
    order, item = f"ORDER#{ORDER_ID}", f"ORDER#{ORDER_ID}#ITEM#KETTLE-17"
    email = "CUSTOMEREMAIL#alexdebrie1@gmail.com"
    assert sorted(stored) == sorted(
        [
            ("CUSTOMER#alexdebrie", "CUSTOMER#alexdebrie", "Customer"),
            (email, email, "CustomerEmail"),
            ("CUSTOMER#alexdebrie", f"#{order}", order, order, "Order"),
            (item, item, order, "ITEM#KETTLE-17", "OrderItem"),
        ]
    )


def test_demo_data_is_sound_and_the_same_each_time(alone: Place) -> None:
    demo = SYSTEM.demo
    assert demo is not None
    made = list(demo.entities(Scale.SMALL, Random(7)))
    assert made == list(demo.entities(Scale.SMALL, Random(7)))
    assert len(made) == demo.count(Scale.SMALL)
    alone.run(load_many(made))
    assert len(contents(alone, SYSTEM)["EcommerceTable"]) == len(made)
    check_sound(alone, SYSTEM)
