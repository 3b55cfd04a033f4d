"""How two published designs differ from ours: only where a decision says so, each by its number.

C1 to C16 and D1 to D23 are the decisions about the carts and the catalogue; the numbers here say
which of them a difference is from.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from bigtime import model as bt
from bigtime.advisor import import_schema, import_workbench
from bigtime.systems import cart, catalog
from tests.advisor.imports.imported import CART, SCHEMA, load

Facts = dict[str, object]


def facts_of(system: bt.System, renamed: dict[str, str]) -> Facts:
    """What a design says, fact by fact; formats of times are left out, for they are texts."""
    facts: Facts = {}
    for table in system.tables:
        facts[f"{table.name}: key"] = table.key_names
        facts[f"{table.name}: stream"] = table.stream
        for index in table.indexes:
            names = tuple(attribute.name for attribute in index.attributes)
            facts[f"{table.name}.{index.name}: key"] = names
            facts[f"{table.name}.{index.name}: projection"] = index.projection, index.include
    for entity in system.entities:
        name = renamed.get(entity.__name__, entity.__name__)
        layout = entity.layout
        facts[name] = "an entity"
        for key_name, key in layout.keys.items():
            facts[f"{name}: key in {key_name}"] = [
                stored_template(layout, part) for part in key.parts
            ]
            facts[f"{name}: while in {key_name}"] = sorted(key.only)
        for field, stored in layout.names.items():
            required = entity.model_fields[field].is_required()
            facts[f"{name}.{stored}"] = layout.declared_forms[field].tag, required
            facts[f"{name}.{stored}: whole"] = (
                bt.unwrap(bt.field_annotation(entity, field))[0] is int
            )
    return facts


def stored_template(layout: bt.Layout, part: bt.KeyPart) -> str:
    fields = part.template.parts
    return "".join(
        f"<{layout.names[each.name]}>" if isinstance(each, bt.Field) else each for each in fields
    )


def differences(each: Facts, other: Facts) -> set[str]:
    return {name for name in {**each, **other} if each.get(name) != other.get(name)}


def without_entities(facts: Facts, *entities: str) -> Facts:
    """Without these entities; that they are there is a fact by itself."""
    inner = tuple(f"{name}{mark}" for name in entities for mark in ".:")
    return {name: fact for name, fact in facts.items() if not name.startswith(inner)}


CART_DECISIONS = {
    "CartTable: key": "C1, C2",
    "CartTable.GSI-SKU: key": "C2",
    "CartTable: stream": "C16",
    "CartLine: key in main": "C1, C5",
    "CartLine: key in GSI-SKU": "C5",
    "CartLine.CustomerID": "C1",
    "CartLine.CustomerID: whole": "C1",
    "CartLine.AccountID": "C1",
    "CartLine.AccountID: whole": "C1",
    "CartLine.Date": "C9",
    "CartLine.Date: whole": "C9",
    "CartLine.EnteredAt": "C9",
    "CartLine.EnteredAt: whole": "C9",
    "CartLine.CreateTimestamp": "C9",
    "CartLine.CreateTimestamp: whole": "C9",
    "CartLine.Price": "C10",
    "CartLine.Count": "C10",
    "CartLine.Count: whole": "C10",
    "CartLine.OrderId": "C11",
    "CartLine.OrderId: whole": "C11",
    "LineMarker": "C12",
    "Purchases": "C14",
}


def test_the_published_model_of_carts_differs_by_the_c_decisions_alone(tmp_path: Path) -> None:
    made = import_workbench(CART)
    imported = load(made, tmp_path).SYSTEM
    ours = without_entities(facts_of(cart.SYSTEM, {}), "LineMarker", "Purchases")
    theirs = facts_of(imported, {"CartTable": "CartLine"})
    assert differences(theirs, ours) == {*CART_DECISIONS}
    rows = imported.demo.entities(bt.Scale.SMALL, Random(1))
    spelt = {row.to_item()["Status"]["S"] for row in rows}
    assert spelt == {"Active", "Saved", "Shipped"}  # C3: ACTIVE, SAVED, PURCHASED
    assert {*cart.Status} == {"ACTIVE", "SAVED", "PURCHASED"}
    assert [note.problem for note in made.notes] == [  # C4: the key wins
        "Status is 'Saved', and Status#Date says 'Shipped'",
        "Status is 'Active', and Status#Date says 'Saved'",
        "Status is 'Saved', and Status#Date says 'Active'",
    ]


CATALOG_DECISIONS = {
    "Deals: stream": "D22",
    "Users: stream": "D22",
    "Brands: stream": "D22",
    "UserWatches: stream": "D22",
    "UserActivities: stream": "D22",
    "TrendingDeals: stream": "D22",
    "Deal.created_at": "D5",
    "Deal.created_at: whole": "D5",
    "Deal.posted_at": "D5",
    "Deal.posted_at: whole": "D5",
    "Deal: key in DealsByBrand": "D5",
    "Deal: key in DealsByCategory": "D5",
    "Deal: while in DealsByBrand": "D5",
    "Deal: while in DealsByCategory": "D5",
    "Deal.price_history": "X3",
    "Deal.price_history: whole": "X3",
    "TrendingDeal.engagement_score: whole": "D10",
}
ADDED_PATTERNS = {
    "put_deal": "D16",
    "put_brand": "D16",
    "put_user": "D16",
    "update_deal": "D17",
    "update_brand": "D17",
    "update_user": "D17",
    "change_deal_status": "D5",
    "expire_deal": "D5",
    "unwatch": "D17",
    "watch_brand": "D12",
    "watch_category": "D12",
    "watch_brand_in_category": "D12",
    "get_user_notifications": "D22",
    "record_activity": "D21",
    "find_trending": "D10",
    "start_trending": "D10",
    "record_engagement": "D10",
    "stop_trending": "D10",
}


def test_the_schema_of_the_catalogue_differs_by_the_d_decisions_alone(tmp_path: Path) -> None:
    made = import_schema(SCHEMA)
    imported = load(made, tmp_path).SYSTEM
    assert differences(facts_of(imported, {}), facts_of(catalog.SYSTEM, {})) == {*CATALOG_DECISIONS}
    assert len(imported.tables) == 6  # D1
    assert sum(len(table.indexes) for table in imported.tables) == 6  # D2
    theirs, ours = imported.patterns, catalog.SYSTEM.patterns
    assert ours.keys() - theirs.keys() == ADDED_PATTERNS.keys()
    assert theirs.keys() - ours.keys() == set()
    assert {name: theirs[name].index for name in theirs} == {
        name: ours[name].index for name in theirs
    }
    numbers = {name: pattern.title.rpartition("#")[2][:-1] for name, pattern in theirs.items()}
    assert numbers == {name: ours[name].title.split()[1][1:] for name in theirs}  # D3
    (notes,) = [note for note in made.notes if "min_discount" in note.problem]  # D11
    assert notes.remedy == "it takes Decimal"
    views = re.findall(r"^class (\w+)\(bt.View", made.text, re.MULTILINE)  # D15
    assert views == [
        "DealInDealsByCategory",
        "UserWatchInWatchesByBrand",
        "UserWatchInWatchesByCategory",
        "UserWatchInWatchesByType",
    ]


def test_every_decision_that_is_named_has_a_number() -> None:
    named = {*CART_DECISIONS.values(), *CATALOG_DECISIONS.values(), *ADDED_PATTERNS.values()}
    assert all(re.fullmatch(r"[CDX]\d+(, [CDX]\d+)*", numbers) for numbers in named)
