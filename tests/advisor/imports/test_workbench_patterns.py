"""Access patterns of Workbench models become functions that run, or comments that say why not."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from bigtime import model as bt
from bigtime.store import Store, open_store
from tests.advisor.imports.imported import import_model, index, load, table

ROWS: list[dict[str, Any]] = [
    {"PK": "CUSTOMER#al", "SK": "PROFILE", "Email": "al@x.org"},
    {"PK": "CUSTOMER#bo", "SK": "PROFILE", "Email": "bo@x.org"},
    *(
        {
            "PK": f"CUSTOMER#{who}",
            "SK": f"ORDER#2026-0{month}#{number}",
            "GSI1PK": f"STATUS#{status}",
            "GSI1SK": f"2026-0{month}",
            "Status": status,
            "Month": f"2026-0{month}",
            "Number": f"{number}",
            "Total": number * 10,
        }
        for who, month, number, status in (
            *(("al", 1, 7, "OPEN"), ("al", 2, 8, "SENT"), ("al", 3, 9, "OPEN")),
            ("bo", 1, 5, "OPEN"),
        )
    ),
]


def import_patterns(folder: Path, *patterns: dict[str, Any], **members: Any) -> Any:
    """The module of a shop with these patterns, and what there is to decide."""
    model = table(
        rows=ROWS,
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")],
        AccessPatterns=list(patterns),
        **members,
    )
    made = import_model(folder, model)
    return load(made, folder), made


@pytest.fixture
def shop() -> Any:
    with open_store("memory:") as store:
        yield store


def fill(store: Store, module: Any) -> None:
    store.run(bt.setup(module.SYSTEM))
    store.run(bt.load_many(list(module.SYSTEM.demo.entities(bt.Scale.SMALL, Random(1)))))


def expression(text: str, **values: Any) -> dict[str, Any]:
    return {
        "KeyConditionExpression": text,
        "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
    }


OF_AL = {"pk": {"S": "CUSTOMER#al"}}


def test_every_type_of_access_pattern_runs(tmp_path: Path, shop: Store) -> None:
    names = {"#t": "Total"}
    module, made = import_patterns(
        tmp_path,
        {
            "Name": "Get profile",
            "Description": "Who it is",
            "Type": "GetItem",
            "Key": {"PK": {"S": "CUSTOMER#<id>"}, "SK": {"S": "PROFILE"}},
        },
        {
            "Name": "Orders of customer",
            "Type": "Query",
            "ScanIndexForward": False,
            **expression("PK = :pk AND begins_with(SK, :sk)", **OF_AL, sk={"S": "ORDER#"}),
        },
        {
            "Name": "Orders since",
            "Type": "Query",
            **expression("PK = :pk AND SK >= :sk", **OF_AL, sk={"S": "ORDER#2026-02"}),
        },
        {
            "Name": "Orders of months",
            "Type": "Query",
            **expression(
                "PK = :pk AND SK BETWEEN :a AND :b",
                **OF_AL,
                a={"S": "ORDER#2026-01"},
                b={"S": "ORDER#2026-03"},
            ),
        },
        {"Name": "All of customer", "Type": "Query", **expression("PK = :pk", **OF_AL)},
        {
            "Name": "Orders by status",
            "Type": "Query",
            "GlobalSecondaryIndex": "GSI1",
            **expression("GSI1PK = :s"),
        },
        {"Name": "Save profile", "Type": "PutItem", "FacetName": "Customer"},
        {
            "Name": "Set total",
            "Type": "UpdateItem",
            "Facet": "Order",
            "UpdateExpression": "SET #t = :t",
            "ExpressionAttributeNames": names,
        },
        {"Name": "Drop order", "Type": "DeleteItem", "Facet": "Order"},
        {"Name": "Every profile", "Type": "Scan", "Facet": "Customer"},
    )
    assert [note.place for note in made.notes] == ["scan every_profile"]
    fill(shop, module)
    run = shop.run
    assert run(module.get_profile(customer_id="al")).email == "al@x.org"
    totals = [order.total for order in run(module.orders_of_customer(customer_id="al"))]
    assert totals == [90, 80, 70]
    since = run(module.orders_since(customer_id="al", month="2026-02"))
    assert [order.total for order in since] == [80, 90]
    both = run(module.orders_of_months("al", month_from="2026-01", month_to="2026-02"))
    assert [order.total for order in both] == [70, 80]
    kinds = [type(each).__name__ for each in run(module.all_of_customer(customer_id="bo"))]
    assert sorted(kinds) == ["Customer", "Order"]
    assert len(run(module.orders_by_status(status="OPEN"))) == 3
    run(module.save_profile(module.Customer(customer_id="cy", email="cy@x.org")))
    assert {each.customer_id for each in run(module.every_profile())} == {"al", "bo", "cy"}


def test_an_update_and_a_delete_take_the_whole_key(tmp_path: Path, shop: Store) -> None:
    module, _ = import_patterns(
        tmp_path,
        {
            "name": "Set total",
            "operation_type": "UpdateItem",
            "facet_name": "Order",
            "update_expression": "SET Total = :t",
        },
        {"name": "Drop order", "operation": "Delete", "table_name": "Shop", "entity": "Order"},
    )
    fill(shop, module)
    key = {"customer_id": "al", "month": "2026-01", "number": "7"}
    shop.run(module.set_total(**key, total=71))
    changed = shop.run(bt.get(module.Order.key(**key)))
    assert changed is not None and changed.total == 71
    shop.run(module.drop_order(**key))
    assert shop.run(bt.get(module.Order.key(**key))) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ({"Type": "GetItem"}, "it may be of Customer, Order; name its facet"),
        ({}, "it has no type"),
        ({"Type": "BatchGetItem"}, "its type is 'BatchGetItem', not one of GetItem"),
        ({"Type": "Query", "Table": "Other"}, "there is no table 'Other'"),
        ({"Type": "Query", "Index": "GSI9"}, "Shop has no index 'GSI9'"),
        ({"Type": "Query", "Facet": "Refund"}, "main has no items of the facet 'Refund'"),
        ({"Type": "GetItem", "Index": "GSI1"}, "GetItem is of a table, not of the index GSI1"),
        ({"Type": "Scan"}, "it may be of Customer, Order; name its facet"),
        ({"Type": "Scan", "Index": "GSI1"}, "a scan of an index is not written by the import"),
        ({"Type": "Query", "FilterExpression": "a = :a"}, "its filter is not written"),
        ({"Type": "UpdateItem", "Facet": "Order"}, "nothing says which attributes it sets"),
        (
            {"Type": "UpdateItem", "Facet": "Order", "UpdateExpression": "ADD Total :n"},
            "nothing says which attributes it sets",
        ),
        (
            {"Type": "UpdateItem", "Facet": "Order", "UpdateExpression": "SET Colour = :n"},
            "Order has no attribute Colour",
        ),
        ({"Type": "Query", **expression("PK = ")}, "its key condition cannot be read at 'PK ='"),
        ({"Type": "Query", **expression("Email = :e")}, "Email is no key attribute of main"),
        ({"Type": "Query", **expression("PK > :e")}, "PK is a partition key, which is equal to"),
        (
            {"Type": "Query", **expression("PK = :p", p={"S": "BRAND#1"})},
            "no entity of Shop has such keys in main",
        ),
        (
            {
                "Type": "Query",
                "Facet": "Order",
                **expression("PK = :p AND begins_with(SK, :s)"),
            },
            "nothing says what its sort key begins with",
        ),
        (
            {"Type": "Query", "Facet": "Order", **expression("PK = :p AND SK > :s", s="ORD")},
            "it compares a part of 'ORDER#'",
        ),
        (
            {"Type": "Query", "KeyConditions": {"PK": {"ComparisonOperator": "NE"}}},
            "the condition on PK has no comparison of a key",
        ),
        (
            {
                "Type": "Query",
                "Facet": "Order",
                "KeyConditions": {
                    "SK": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": []}
                },
            },
            "nothing says what its sort key begins with",
        ),
        ({"Type": "Query", "KeyConditions": [1]}, "conditions is no object"),
        ({"Type": "GetItem", "Key": "PK"}, "key is no object"),
    ],
)
def test_what_cannot_be_decided_is_a_comment_that_says_why(
    pattern: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    module, made = import_patterns(tmp_path, {"Name": "Find it", **pattern})
    assert not module.SYSTEM.patterns
    (note,) = made.notes
    assert note.place.endswith("DataModel[0].AccessPatterns[0]")
    assert f"the pattern Find it is not written ({reason}" in note.problem
    assert "Find it" in made.text


def test_older_key_conditions_and_patterns_of_the_model_are_read(
    tmp_path: Path, shop: Store
) -> None:
    conditions = {
        "PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "CUSTOMER#{id}"}]},
        "SK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "PROFILE"}]},
    }
    patterns = [
        {"Name": "Profile", "Type": "Query", "TableName": "Shop", "KeyConditions": conditions}
    ]
    model = table(rows=ROWS, GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")])
    made = import_model(tmp_path, model, AccessPatterns=patterns)
    module = load(made, tmp_path)
    fill(shop, module)
    (found,) = shop.run(module.profile(customer_id="bo"))
    assert found.email == "bo@x.org"


def test_members_of_a_pattern_that_mean_nothing_are_kept(tmp_path: Path) -> None:
    _, made = import_patterns(
        tmp_path,
        {"Id": 3, "Name": "Profiles", "Type": "PutItem", "Facet": "Customer", "Colour": "red"},
    )
    (note,) = made.notes
    assert note.place.endswith("AccessPatterns[0].Colour")
    assert "def profiles(" in made.text


@pytest.mark.parametrize("shape", ["text", 5, {"1": {"Name": "Get"}}, ["Get"], [{}, None]])
def test_another_shape_is_kept_and_does_not_end_the_import(shape: Any, tmp_path: Path) -> None:
    made = import_model(tmp_path, table(rows=ROWS[:2], AccessPatterns=shape), AccessPatterns=None)
    load(made, tmp_path)
    (note,) = made.notes
    assert note.place.endswith("DataModel[0].AccessPatterns")
    assert note.problem == "this member is not understood"


def test_names_and_descriptions_of_patterns_never_become_code(tmp_path: Path, shop: Store) -> None:
    evil = '"""\nraise SystemExit("run")\n# \u2028\r\x0c\\'
    module, _ = import_patterns(
        tmp_path,
        {"Name": evil, "Description": evil, "Type": "PutItem", "Facet": "Customer"},
        {"Name": evil, "Type": evil, evil: evil},
        {"Name": "class", "Type": "Query", "Facet": "Order", **expression("PK = :p", p=evil)},
    )
    (name,) = module.SYSTEM.patterns
    pattern = getattr(module, str(name))
    fill(shop, module)
    shop.run(pattern(module.Customer(customer_id="cy", email="c@x.org")))
    assert shop.run(bt.get(module.Customer.key("cy"))) is not None
