"""A generator's schema.json becomes a module whose patterns run."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime import model as bt
from bigtime.advisor import CannotImport, ImportedModule, import_schema
from bigtime.store import open_store
from tests.advisor.imports.imported import SCHEMA, load, templates


def import_changed(folder: Path, schema: dict[str, Any]) -> ImportedModule:
    path = folder / "schema.json"
    path.write_text(json.dumps(schema))
    return import_schema(path)


def small(**members: Any) -> dict[str, Any]:
    """A schema of one table with orders and their items; members are those of Order."""
    text = {"type": "string", "required": True}
    order = {
        "entity_type": "ORDER",
        "pk_template": "USER#{user}",
        "sk_template": "ORDER#{number}",
        "fields": [
            {"name": "user", **text},
            {"name": "number", "type": "integer", "required": True},
            {"name": "tags", "type": "array", "item_type": "string", "required": False},
        ],
        "access_patterns": [],
        **members,
    }
    user = {
        "entity_type": "USER",
        "pk_template": "USER#{user}",
        "sk_template": "PROFILE",
        "fields": [{"name": "user", **text}],
    }
    config = {"table_name": "Shop", "partition_key": "pk", "sort_key": "sk"}
    return {"tables": [{"table_config": config, "entities": {"Order": order, "User": user}}]}


def pattern(operation: str, *parameters: str, **members: Any) -> dict[str, Any]:
    given = [dict(zip(("name", "type"), each.split(":"), strict=True)) for each in parameters]
    return {"pattern_id": 1, "name": "ask", "operation": operation, "parameters": given, **members}


def test_all_patterns_of_the_catalogue_are_written_and_run(tmp_path: Path) -> None:
    made = import_schema(SCHEMA)
    module = load(made, tmp_path)
    assert len(module.SYSTEM.patterns) == 18
    assert "# Undecided" not in made.text
    deal = module.Deal(
        deal_id="deal-12345",
        title="Headphones",
        description="",
        price=Decimal("149.99"),
        brand_id="brand-sony",
        brand_name="Sony",
        category_id="electronics",
        category_name="Electronics",
        created_at="2024-01-15T10:00:00Z",
        status="active",
    )
    hot = module.TrendingDeal(
        category_id="electronics",
        engagement_score=850,
        deal_id="deal-12345",
        title="Headphones",
        brand_id="brand-sony",
        discount_percentage=Decimal("50.0"),
        views=1250,
        clicks=89,
    )
    with open_store("memory:") as store:
        store.run(bt.setup(module.SYSTEM))
        store.run(module.create_deal(deal))
        store.run(bt.put(hot))
        assert store.run(module.get_deal_by_id("deal-12345")) == deal
        assert store.run(module.get_recent_deals_by_brand("brand-sony", "2024-01-15")) == [deal]
        assert store.run(module.get_recent_deals_by_brand("brand-sony", "2024-02")) == []
        (seen,) = store.run(module.get_deals_by_category("electronics"))
        assert (seen.title, hasattr(seen, "description")) == ("Headphones", False)
        assert store.run(module.get_high_discount_deals("brand-sony", Decimal(40))) == [hot]
        assert store.run(module.get_highly_engaged_deals("electronics", 851)) == []


def test_a_number_inside_a_key_is_written_as_the_generator_does(tmp_path: Path) -> None:
    made = import_changed(tmp_path, small())
    module = load(made, tmp_path)
    assert templates(module.SYSTEM)["Order", "main"] == ("USER#{user}", "ORDER#{number:plain}")
    assert "is not padded" in made.notes[0].problem


def test_every_operation_that_can_be_written_is(tmp_path: Path) -> None:
    key = ("user:string", "number:integer")
    asked = {
        "get_order": pattern("GetItem", *key, return_type="single_entity"),
        "drop_order": pattern("DeleteItem", *key, return_type="success_flag"),
        "tag_order": pattern("UpdateItem", *key, "tags:array", return_type="single_entity"),
        "all_orders": pattern("Scan", return_type="entity_list"),
        "orders": pattern("Query", "user:string", return_type="entity_list"),
        "user_with_orders": pattern("Query", "user:string", return_type="mixed_data"),
    }
    asked["tag_order"]["parameters"][2]["item_type"] = "string"
    patterns = [{**each, "name": name, "pattern_id": name} for name, each in asked.items()]
    made = import_changed(tmp_path, small(access_patterns=patterns))
    module = load(made, tmp_path)
    assert list(module.SYSTEM.patterns) == list(asked)
    with open_store("memory:") as store:
        store.run(bt.setup(module.SYSTEM))
        order, user = module.Order(user="al", number=7), module.User(user="al")
        store.run(bt.put_many([order, user]))
        assert store.run(module.get_order("al", 7)) == order
        assert store.run(module.tag_order("al", 7, ["new"])).tags == ["new"]
        assert len(store.run(module.all_orders())) == len(store.run(module.orders("al"))) == 1
        assert {type(each) for each in store.run(module.user_with_orders("al"))} == {
            module.Order,
            module.User,
        }
        assert store.run(module.drop_order("al", 7)).number == 7


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (pattern("TransactWriteItems"), "TransactWriteItems is not written by the import"),
        (pattern("GetItem", "user:string"), "it has no parameter for number of the key"),
        (pattern("PutItem", "user:string"), "it does not take one Order"),
        (pattern("Query", "number:integer"), "no parameter for user of the partition key"),
        (pattern("Query", "user:string", "x:string"), "nothing says what x is compared with"),
        (pattern("Query", "user:string", range_condition=">="), "does not fit its parameters"),
        (pattern("Query", "user:string", index_name="GSI"), "Order is not in the index GSI"),
    ],
)
def test_a_pattern_that_cannot_be_written_is_kept_and_told(
    asked: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    made = import_changed(tmp_path, small(access_patterns=[asked]))
    assert load(made, tmp_path).SYSTEM.patterns == {}
    assert any(reason in note.problem for note in made.notes)
    assert "entities.Order.access_patterns[0]: {'pattern_id': 1" in made.text


def test_a_range_over_an_unpadded_number_is_a_comment(tmp_path: Path) -> None:
    asked = pattern("Query", "user:string", "least:integer", range_condition=">=")
    made = import_changed(tmp_path, small(access_patterns=[asked]))
    assert load(made, tmp_path).SYSTEM.patterns == {}
    assert "gave up its order" in " ".join(made.text.replace("#", "").split())


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("tables",), None, "schema.json: tables is missing"),
        (("tables", 0, "table_config"), None, "tables[0]: table_config is missing"),
        (("tables", 0, "entities"), {}, "tables[0].entities: there is no entity"),
        (("tables", 0, "entities", "Order"), 1, "tables[0].entities.Order: it is no object"),
        (
            ("tables", 0, "entities", "Order", "pk_template"),
            "USER#{nobody}",
            "tables[0].entities.Order: the template 'USER#{nobody}' has no field 'nobody'",
        ),
        (
            ("tables", 0, "entities", "Order", "sk_template"),
            None,
            "tables[0].entities.Order: the key sk has no template; give it an sk_template",
        ),
        (
            ("tables", 0, "entities", "Order", "sk_template"),
            "{number}",
            "tables[0].entities.User.sk_template: the key sk is of type N in another template",
        ),
        (
            ("tables", 0, "entities", "Order", "fields", 0, "type"),
            "float",
            "fields[0].type: 'float' is no type; use array or string",
        ),
        (
            ("tables", 0, "entities", "Order", "gsi_mappings"),
            [{"name": "GSI", "pk_template": "{user}"}],
            "gsi_mappings[0]: there is no index 'GSI'; add it to gsi_list",
        ),
        (
            ("tables", 0, "gsi_list"),
            [{"name": "GSI", "partition_key": "a"}, {"name": "GSI", "partition_key": "b"}],
            "tables[0].gsi_list[1]: the index 'GSI' is there already, in",
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_remedy(
    path: tuple[Any, ...], value: Any, sentence: str, tmp_path: Path
) -> None:
    schema = deepcopy(small())
    inner: Any = schema
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(CannotImport) as error:
        import_changed(tmp_path, schema)
    assert sentence in str(error.value)


def test_two_tables_or_entities_of_one_name_are_refused(tmp_path: Path) -> None:
    schema = small()
    with pytest.raises(CannotImport, match=r"tables\[1\]: the table 'Shop' is there already"):
        import_changed(tmp_path, {"tables": schema["tables"] * 2})
    other = deepcopy(schema["tables"][0])
    other["table_config"]["table_name"] = "Other"
    with pytest.raises(CannotImport, match="the entity 'Order' is there already"):
        import_changed(tmp_path, {"tables": [*schema["tables"], other]})


def test_templates_that_the_kit_refuses_make_a_comment(tmp_path: Path) -> None:
    made = import_changed(tmp_path, small(sk_template="{user}_{number}"))
    assert [each.__name__ for each in load(made, tmp_path).SYSTEM.entities] == ["User"]
    assert "Order cannot be declared so" in " ".join(map(str, made.notes))


def test_patterns_over_several_tables_are_kept_and_told(tmp_path: Path) -> None:
    schema = {**small(), "cross_table_access_patterns": [{"name": "both"}]}
    made = import_changed(tmp_path, schema)
    assert 'cross_table_access_patterns[0].pattern: {"name": "both"}' in made.text
    assert any("cross_table_access_patterns[0]" in note.place for note in made.notes)
