"""The charts, the tables and the design of the portal are what the contract says."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bigtime.advisor import chart, check_system, explain, measure
from bigtime.advisor.charts import index_chart
from bigtime.advisor.design_check import Finding
from bigtime.advisor.sample import sample_arguments
from bigtime.engine import Engine
from bigtime.model import System, setup, verify
from bigtime.store import Store
from bigtime.systems.portal import SYSTEM, portal
from bigtime.systems.portal.campaigns import list_campaigns
from bigtime.systems.portal.design import PRODUCTS, Tenant
from bigtime.systems.portal.products import (
    create_product,
    list_products,
    restore_product,
    soft_delete_product,
    update_product,
)
from bigtime.systems.portal.tenants import (
    create_tenant,
    get_tenant,
    list_tenants,
    soft_delete_tenant,
)
from bigtime.systems.portal.values import BillingCycle
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Steps, ValidationException
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    EMAIL,
    new_campaign,
    new_product,
    new_tenant,
    request_steps,
    stored_item,
)

EXPECTED = Path(__file__).with_name("chart.md")
OF_CONTRACT, BEYOND = "## Access patterns of the contract", "## Patterns beyond it"
FIELDS = {"lowercasedemail": "address", "orderid": "id", "sequence12digits": "sequence"}


def rows_in(markdown: str) -> dict[str, list[list[str]]]:
    """The rows of each chart, without its head, by its heading."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in markdown.splitlines():
        if line.startswith("#"):
            heading = line
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found.setdefault(heading, []).append(cells)
    return {heading: rows[1:] for heading, rows in found.items()}


def letters(text: str) -> str:
    return "".join(each for each in text.lower() if each.isalnum())


def key(text: str) -> str:
    """A key with its fields in one spelling: the contract's words for them are not Python's."""

    def field(match: re.Match[str]) -> str:
        name = letters(match[1])
        return f"<{FIELDS.get(name, name)}>"

    return re.sub("<([^>]*)>", field, text.strip("`"))


def as_charted(note: str) -> str:
    return (note[:1].lower() + note[1:]).removesuffix(".")


def entity_rows() -> list[list[str]]:
    made = []
    for table in SYSTEM.tables:
        charted = rows_in(chart(SYSTEM))[f"## Entities in {table.name}"]
        for name, pk, sk, others in charted:
            indexes = [
                f"{index.name} ({', '.join(part.name for part in index.attributes)})"
                for index in table.indexes
                if f"{index.name} `" in others
            ]
            listed = "; ".join(indexes) or "none"
            made.append([letters(name), table.name, key(pk), key(sk), listed])
    return made


def test_the_chart_of_entities_is_the_contracts() -> None:
    expected = [
        [letters(name), table.strip("`"), key(pk), key(sk), indexes]
        for name, table, pk, sk, indexes in rows_in(EXPECTED.read_text())["## Entities"]
    ]
    assert entity_rows() == expected


def test_every_index_holds_its_entity_under_its_own_fields_and_no_marker() -> None:
    for table in SYSTEM.tables:
        for index in table.indexes:
            assert (index.is_global, index.projection) == (True, "ALL")
            (row,) = rows_in(f"# {index.name}\n{index_chart(table, index)}")[f"# {index.name}"]
            fields = [letters(each.strip("`<>")) for each in row[1:]]
            assert fields == [letters(attribute.name) for attribute in index.attributes]


def test_the_chart_of_patterns_is_the_contracts() -> None:
    expected = rows_in(EXPECTED.read_text())
    wanted = [[*row[:-1], as_charted(row[-1])] for row in expected[OF_CONTRACT] + expected[BEYOND]]
    made = [
        [*row[:-1], as_charted(row[-1])] for row in rows_in(chart(SYSTEM))["## Access patterns"]
    ]
    assert sorted(made) == sorted(wanted)


def test_every_table_is_on_demand_with_a_stream_and_indexes_of_all(alone: Place) -> None:
    for name in ("tenants", "products", "campaigns", "orders", "audit", "codes"):
        table = alone.ask("DescribeTable", TableName=name)["Table"]
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
        assert [each["AttributeName"] for each in table["KeySchema"]] == ["PK", "SK"]
        assert {
            attribute_definition["AttributeType"]
            for attribute_definition in table["AttributeDefinitions"]
        } == {"S"}
        for index in table.get("GlobalSecondaryIndexes", []):
            assert index["Projection"] == {"ProjectionType": "ALL"}


# Findings


LEAN = portal(duplicate_index=False, anonymise=True)


@cache
def findings(system: System) -> list[Finding]:
    return check_system(system)


@pytest.mark.parametrize("system", [SYSTEM, LEAN], ids=["as it is", "lean, with anonymising"])
def test_the_design_has_no_open_finding(system: System) -> None:
    assert [finding for finding in findings(system) if finding.accepted is None] == []


def test_the_duplicate_index_is_found_and_accepted_with_its_cost() -> None:
    (found,) = [finding for finding in findings(SYSTEM) if finding.code == "duplicate-index"]
    assert found.subject == "products.ActiveIndex"
    assert found.accepted is not None and "one more write unit" in found.accepted


def test_without_the_duplicate_there_is_no_such_finding() -> None:
    assert not [finding for finding in findings(LEAN) if finding.code == "duplicate-index"]
    assert [index.name for index in LEAN.table("products").indexes] == ["ProductActiveIndex"]


def test_every_pattern_of_products_runs_without_the_duplicate(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(LEAN))
    product = new_product(store)
    new_campaign(store, product.id)
    store.run(update_product(product.id, {"price": "10.00"}, by=ADMIN))
    store.run(soft_delete_product(product.id, by=ADMIN))
    back = store.run(restore_product(product.id, by=ADMIN))
    assert store.run(list_products(include_inactive=True)).items == [back]
    assert len(store.run(list_campaigns())) == 1
    assert store.run(verify(LEAN)) == []
    assert store.run(verify_audit()) == []


def units(store: Store, steps: Steps[Any]) -> float:
    return store.run(measure(steps)).write_units


def test_a_write_of_a_product_pays_a_unit_less_without_the_duplicate() -> None:
    """In a transaction a table's write counts twice, an index's once; product and entry are 4."""
    for system, expected in ((SYSTEM, 6), (LEAN, 5)):
        with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
            store.run(setup(system))
            steps = create_product("Plan", "A plan", Decimal(9), BillingCycle.MONTHLY, by=ADMIN)
            assert units(store, steps) == expected


def test_a_new_tenant_costs_seven_units_and_two_for_its_entry(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(SYSTEM))
    assert units(store, create_tenant(EMAIL, by=ADMIN)) == 7 + 2


def test_no_pattern_deletes_anything() -> None:
    writing = [
        pattern for pattern in SYSTEM.patterns.values() if not pattern.name.startswith("list_")
    ]
    for each in writing:
        for asked in explain(each(**sample_arguments(each)), tables=SYSTEM.tables).requests:
            request = asked.request
            assert request.operation != "DeleteItem"
            assert not any("Delete" in action for action in request.params.get("TransactItems", []))


# A bool that is a key


def test_a_bool_as_a_key_is_rejected_by_the_store(place: Place) -> None:
    """Deciding test 4, its first half."""
    tenant = new_tenant(place)
    item = stored_item(place, "tenants", f"TENANT#{tenant.id}")
    assert item is not None
    with pytest.raises(ValidationException, match="Type mismatch for Index Key active"):
        place.run(
            request_steps("PutItem", TableName="tenants", Item={**item, "active": {"BOOL": True}})
        )


def test_active_is_a_bool_here_and_a_text_there(place: Place) -> None:
    """Deciding test 4, its second half."""
    tenant = new_tenant(place)
    other = place.run(soft_delete_tenant(new_tenant(place, "other@example.com").id, by=ADMIN))
    for each, text in ((tenant, "true"), (other, "false")):
        item = stored_item(place, "tenants", f"TENANT#{each.id}")
        assert item is not None and item["active"] == {"S": text}
        assert Tenant.layout.from_item(item) == each
        assert place.run(get_tenant(each.id, include_inactive=True)).active is (text == "true")
    assert place.run(list_tenants()).items == [tenant]


def test_the_table_of_products_has_both_indexes() -> None:
    assert [index.name for index in PRODUCTS.indexes] == ["ProductActiveIndex", "ActiveIndex"]
