"""Tables: made as they are declared, once, and compared with what is there."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bigtime.advisor import diff
from bigtime.advisor.difference import Difference
from bigtime.model import put, setup
from bigtime.model.operations.create_table import Progress, create_table_request
from bigtime.wire import Request, Steps
from tests.model import deals, designs
from tests.model.designs import NOON, ksuid
from tests.model.everywhere.parcels import PARCELS, SYSTEM, Parcel
from tests.model.everywhere.scenario import everywhere
from tests.model.everywhere.test_items import SENDER


def sentences(differences: list[Difference]) -> list[str]:
    return sorted(f"{difference.kind} {difference}" for difference in differences)


@everywhere()
def test_setup_makes_a_table_with_all_that_it_has_and_then_nothing() -> Steps[object]:
    assert sentences((yield from diff(SYSTEM))) == [
        "missing Parcels: the table is not there; create it"
    ]
    made = yield from setup(SYSTEM)
    assert made == Progress(made=["table Parcels", "time to live of Parcels"])
    assert (yield from diff(SYSTEM)) == []
    assert (yield from setup(PARCELS)) == Progress()
    return made


@everywhere()
def test_every_table_of_the_designs_can_be_made() -> Steps[object]:
    tables = [
        var
        for var in vars(designs).values()
        if isinstance(var, type(PARCELS)) and var is not designs.BIG_TIME_DEALS
    ]
    assert len(tables) > 6
    progress = yield from setup(deals.SYSTEM, *tables)
    assert progress.pending == []
    return sorted(progress.made)


def without_indexes(**more: Any) -> Request:
    """The table as it was before anybody thought of an index, a stream or a time to live."""
    params = dict(create_table_request(deals.BIG_TIME_DEALS).params)
    for name in ("GlobalSecondaryIndexes", "StreamSpecification", "Tags"):
        del params[name]
    params["AttributeDefinitions"] = params["AttributeDefinitions"][:2]
    return Request("CreateTable", {**params, **more})


@everywhere()
def test_setup_adds_what_a_table_lacks() -> Steps[object]:
    yield without_indexes(Tags=[{"Key": "Project", "Value": "deals"}])
    lacking = sentences((yield from diff(deals.SYSTEM)))
    assert [each.split("; ")[0] for each in lacking] == [
        "missing BigTimeDeals: index GSI1 is not there",
        "missing BigTimeDeals: index GSI2 is not there",
        "missing BigTimeDeals: index UserIndex is not there",
        "missing BigTimeDeals: it has no stream, and is declared with NEW_AND_OLD_IMAGES",
    ]
    progress = yield from setup(deals.SYSTEM)
    assert progress.made == [
        "index GSI1 of BigTimeDeals",
        "index GSI2 of BigTimeDeals",
        "index UserIndex of BigTimeDeals",
        "stream of BigTimeDeals",
    ]
    assert (yield from diff(deals.SYSTEM)) == []
    return lacking


@everywhere()
def test_what_setup_does_not_change_is_told() -> Steps[object]:
    keys_only = {"ProjectionType": "KEYS_ONLY"}
    params = dict(create_table_request(deals.BIG_TIME_DEALS).params)
    gsi1, gsi2, by_user = params["GlobalSecondaryIndexes"]
    params["GlobalSecondaryIndexes"] = [
        {**gsi1, "Projection": keys_only},
        {**gsi2, "KeySchema": gsi1["KeySchema"]},
        by_user,
        {**by_user, "IndexName": "Forgotten"},
    ]
    params["Tags"] = [{"Key": "Project", "Value": "other"}, {"Key": "Extra", "Value": "x"}]
    params["AttributeDefinitions"] = [
        attribute_definition
        for attribute_definition in params["AttributeDefinitions"]
        if not attribute_definition["AttributeName"].startswith("GSI2")
    ]
    yield Request("CreateTable", params)
    assert (yield from setup(deals.SYSTEM)) == Progress()
    found = sentences((yield from diff(deals.SYSTEM)))
    assert [each.split(" ")[0] for each in found] == ["changed"] * 3 + ["extra"] * 2
    return found


@everywhere(PARCELS)
def test_a_table_is_ready_when_setup_has_come_back() -> Steps[object]:
    described = yield Request("DescribeTable", {"TableName": "Parcels"})
    indexes = described["Table"]["GlobalSecondaryIndexes"]
    states = [described["Table"]["TableStatus"], *(index["IndexStatus"] for index in indexes)]
    assert states == ["ACTIVE"] * 3
    return (yield from put(Parcel(sender=SENDER, weight=Decimal(1), parcel_id=ksuid(NOON, 1))))
