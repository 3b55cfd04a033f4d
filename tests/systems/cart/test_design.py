"""The design of the cart: as charted, as checked, as stored."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bigtime.advisor import open_findings
from bigtime.model import ItemMismatch, Scale, get, load_many, repair, verify
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.design import (
    CART,
    CartLine,
    LineMarker,
    OrderWithoutPurchase,
    PurchaseWithoutOrder,
)
from bigtime.systems.cart.line import put_in_cart
from tests.store.places import START, Place
from tests.systems.cart.carts import ACTIVE, PURCHASED, SAVED, check_markers, order_id
from tests.systems.cart.charted import expected_rows, generated_rows
from tests.systems.cart.contents import check_sound, contents

LINE: dict[str, Any] = {
    "account_id": "liz",
    "entered_at": START,
    "item_sku": "d9bl3",
    "price": Decimal("34.99"),
    "count": 1,
    "create_timestamp": START,
}


def test_the_charts_are_the_contract_s() -> None:
    assert generated_rows(SYSTEM) == expected_rows(Path(__file__).parent)


def test_the_index_has_all_and_the_stream_both_images() -> None:
    (index,) = CART.indexes
    assert (index.name, index.projection, CART.stream) == ("GSI-SKU", "ALL", "NEW_AND_OLD_IMAGES")


def test_nothing_about_it_is_open() -> None:
    assert open_findings(SYSTEM) == []


def test_a_line_and_its_marker_are_stored_as_charted(alone: Place) -> None:
    alone.run(put_in_cart("liz", "d9bl3", Decimal("34.99"), 2))
    sk = "ACTIVE#2026-11-15T12:00:00.000Z#d9bl3"
    time = {"S": "2026-11-15T12:00:00.000Z"}
    stored = contents(alone, SYSTEM)["CartTable"]
    line, marker = sorted(stored, key=lambda item: item["SK"]["S"])
    assert line == {
        "AccountID": {"S": "liz"},
        "SK": {"S": sk},
        "ItemSKU": {"S": "d9bl3"},
        "Status": {"S": "ACTIVE"},
        "EnteredAt": time,
        "CreateTimestamp": time,
        "Price": {"N": "34.99"},
        "Count": {"N": "2"},
    }
    assert marker == {
        "AccountID": {"S": "liz"},
        "SK": {"S": "LINE#d9bl3"},
        "SKU": {"S": "d9bl3"},
        "EnteredAt": time,
        "LineSK": {"S": sk},
    }
    found = alone.ask("Scan", TableName="CartTable", IndexName="GSI-SKU")["Items"]
    assert found == [line]


def test_an_order_id_is_there_when_purchased_and_only_then() -> None:
    for status in (ACTIVE, SAVED):
        with pytest.raises(OrderWithoutPurchase):
            CartLine(status=status, order_id=order_id(1), **LINE)
        assert CartLine(status=status, **LINE).order_id is None
    with pytest.raises(PurchaseWithoutOrder):
        CartLine(status=PURCHASED, **LINE)
    assert CartLine(status=PURCHASED, order_id=order_id(1), **LINE).order_id == order_id(1)


def test_a_stored_line_without_its_order_is_found_out(alone: Place) -> None:
    line = CartLine(status=PURCHASED, order_id=order_id(1), **LINE)
    item = {**line.layout.to_item(line)}
    del item["OrderId"]
    alone.ask("PutItem", TableName="CartTable", Item=item)
    with pytest.raises(ItemMismatch, match="needs the OrderId"):
        alone.run(get(line.own_key()))
    (violation,) = alone.run(verify(SYSTEM))
    assert "needs the OrderId" in violation.sentence


def test_a_lost_or_stray_marker_is_found_and_mended(alone: Place) -> None:
    lost, stray = (alone.run(put_in_cart("liz", sku, Decimal(1))) for sku in ("lost", "stray"))
    key = LineMarker.key("liz", "lost").item
    alone.ask("DeleteItem", TableName="CartTable", Key=key)
    alone.ask("DeleteItem", TableName="CartTable", Key=stray.own_key().item)
    violations = alone.run(verify(SYSTEM))
    assert len(violations) == 2
    for violation in violations:
        alone.run(repair(violation))
    check_markers(alone)
    assert alone.run(get(LineMarker.key("liz", "lost"))) is not None
    assert alone.run(get(lost.own_key())) == lost


def test_demo_data_is_sound_and_the_same_each_time(alone: Place) -> None:
    demo = SYSTEM.demo
    assert demo is not None
    made = list(demo.entities(Scale.SMALL, Random(7)))
    assert made == list(demo.entities(Scale.SMALL, Random(7)))
    assert len(made) == demo.count(Scale.SMALL)
    alone.run(load_many(made))
    assert len(contents(alone, SYSTEM)["CartTable"]) == len(made)
    check_sound(alone, SYSTEM)
    check_markers(alone)
