"""Importing the published NoSQL Workbench rows of this scenario."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.importing import Report, import_rows
from bigtime.systems.cart.line import view_products
from tests.store.places import Place
from tests.systems.cart.carts import ACTIVE, PURCHASED, SAVED, check_markers, lines, order_id
from tests.systems.cart.contents import assert_unchanged

NAMES = ("CustomerID", "Status#Date", "ItemSKU", "Price", "Count", "Status")
LIZ = ("Liz", "Shipped#2019-11-26T22:46:26", "d9bl3", "34.99", "1", "Saved")
CHAD = ("Chad", "Active#2019-10-08T21:11:42", "72f49", "12.49", "1", "Active")
SUES = (
    ("Sue", "Active#2019-10-03T12:33:16", "ef9ca", "4.99", "1", "Active"),
    ("Sue", "Saved#2019-10-07T08:24:22", "72f49", "12.49", "1", "Active"),
    ("Sue", "Active#2019-10-05T10:07:17", "b932s", "67.99", "1", "Saved"),
)
ROWS: list[Mapping[str, Any]] = [dict(zip(NAMES, row, strict=True)) for row in (LIZ, CHAD, *SUES)]
SHIPPED = {"Shipped": PURCHASED}


def counts_in(report: Report) -> tuple[int, int, list[int], list[int]]:
    return (
        len(report.imported),
        len(report.unchanged),
        [each.row for each in report.disagreeing],
        [each.row for each in report.refused],
    )


def test_shipped_is_refused_unless_somebody_says_what_it_means(place: Place) -> None:
    report = place.run(import_rows(ROWS))
    assert counts_in(report) == (4, 0, [4, 5], [1])
    assert report.refused[0].reason == "'Shipped' is no status of a cart; say what it means."
    assert place.run(lines(PURCHASED)) == []
    check_markers(place)


def test_the_key_wins_and_the_rows_that_disagree_are_told(place: Place) -> None:
    report = place.run(import_rows(ROWS, meaning=SHIPPED))
    assert counts_in(report) == (5, 0, [1, 4, 5], [])
    assert [(each.key, each.status) for each in report.disagreeing] == [
        (LIZ[1], "Saved"),
        (SUES[1][1], "Active"),
        (SUES[2][1], "Saved"),
    ]
    sues = place.run(view_products("Sue", ACTIVE))
    assert [line.item_sku for line in sues] == ["b932s", "ef9ca"]
    assert [line.item_sku for line in place.run(view_products("Sue", SAVED))] == ["72f49"]
    (liz,) = place.run(lines(PURCHASED))
    assert (liz.account_id, liz.price, liz.count) == ("Liz", Decimal("34.99"), 1)
    assert liz.entered_at == datetime(2019, 11, 26, 22, 46, 26, tzinfo=UTC)
    assert liz.sk == "PURCHASED#2019-11-26T22:46:26.000Z#d9bl3"
    assert liz.order_id is not None
    check_markers(place)


def test_importing_again_changes_nothing(place: Place) -> None:
    first = place.run(import_rows(ROWS, meaning=SHIPPED))
    with assert_unchanged(place, SYSTEM):
        again = place.run(import_rows(ROWS, meaning=SHIPPED))
    assert counts_in(again) == (0, 5, [1, 4, 5], [])
    assert again.unchanged == first.imported


def test_rows_may_come_as_dynamodb_has_them_and_in_our_names(alone: Place) -> None:
    row = {
        "AccountID": {"S": "Liz"},
        "SK": {"S": "PURCHASED#2019-11-26T22:46:26.123Z#d9bl3"},
        "ItemSKU": {"S": "d9bl3"},
        "Price": {"N": "34.99"},
        "Count": {"N": "2"},
        "OrderId": {"S": str(order_id(1))},
    }
    (line,) = alone.run(import_rows([row])).imported
    assert (line.count, line.order_id, line.status) == (2, order_id(1), PURCHASED)
    assert line.sk == row["SK"]["S"]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("CustomerID", "", "An account ID"),
        ("Status#Date", "Active#yesterday", "'yesterday' is no time"),
        ("Status#Date", "Active", "'' is no time"),
        ("Status#Date", "", "'' is no status"),
        ("ItemSKU", "a#b", "A SKU has"),
        ("Price", "cheap", "A price is"),
        ("Count", "0", "The quantity must"),
        ("Count", "many", "This row is not a valid"),
    ],
    ids=str,
)
def test_a_row_that_cannot_be_read_is_told_and_the_others_are_imported(
    alone: Place, name: str, value: str, reason: str
) -> None:
    report = alone.run(import_rows([{**ROWS[1], name: value}, *ROWS[2:4]]))
    assert [each.row for each in report.refused] == [1]
    assert report.refused[0].reason.startswith(reason)
    assert len(report.imported) == 2


def test_a_purchase_before_there_were_ksuids_has_no_order(alone: Place) -> None:
    row = {**ROWS[0], "Status#Date": "Shipped#2010-01-01T00:00:00"}
    report = alone.run(import_rows([row], meaning=SHIPPED))
    assert report.refused[0].reason.startswith("No OrderId can be made")


def test_a_product_that_is_in_the_cart_already_is_told(alone: Place) -> None:
    later = {**ROWS[1], "Status#Date": "Active#2019-10-09T21:11:42"}
    report = alone.run(import_rows([ROWS[1], later]))
    assert counts_in(report) == (1, 0, [], [2])
    check_markers(alone)
