"""Models of NoSQL Workbench become modules that run, or a sentence that says why not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bigtime import model as bt
from bigtime.advisor import CannotImport, import_workbench, workbench_model
from bigtime.advisor.imports import source
from bigtime.cli.systems import all_systems
from bigtime.store import open_store
from tests.advisor.imports.imported import CART, entity, import_model, index, load, table, templates

SYSTEMS = {system.name: system for system in all_systems()}
CUSTOMERS = [
    {"PK": "CUSTOMER#al", "SK": "CUSTOMER#al", "Email": "al@x.org"},
    {"PK": "CUSTOMER#bo", "SK": "CUSTOMER#bo", "Email": "bo@x.org"},
]
ORDERS = [
    {"PK": "CUSTOMER#al", "SK": "#ORDER#1", "GSI1PK": "ORDER#1", "GSI1SK": "ORDER#1", "Total": 5},
    {"PK": "CUSTOMER#bo", "SK": "#ORDER#2", "GSI1PK": "ORDER#2", "GSI1SK": "ORDER#2", "Total": 7},
]


def shop(**members: Any) -> dict[str, Any]:
    indexes = [index("GSI1", "GSI1PK", "GSI1SK")]
    return table(rows=[*CUSTOMERS, *ORDERS], GlobalSecondaryIndexes=indexes, **members)


def test_the_published_model_of_carts_is_one_entity_whose_key_wins(tmp_path: Path) -> None:
    made = import_workbench(CART)
    system = load(made, tmp_path).SYSTEM
    assert templates(system) == {
        ("CartTable", "main"): ("{customer_id}", "{status}#{date_}"),
        ("CartTable", "GSI-SKU"): ("{item_sku}", "{status}#{date_}"),
    }
    places = [note.place.rpartition(".")[2] for note in made.notes]
    assert places == ["TableData[0]", "TableData[3]", "TableData[4]"]
    rows = list(system.demo.entities(bt.Scale.SMALL, Random(1)))
    assert [row.status for row in rows] == ["Shipped", "Active", "Active", "Saved", "Active"]
    with open_store("memory:") as store:
        store.run(bt.setup(system))
        store.run(bt.load_many(rows))
        line = entity(system, "CartTable")
        saved = store.run(bt.all_of(line.within("GSI-SKU", item_sku="72f49", status="Saved")))
    assert [each.to_item()["CustomerID"] for each in saved] == [{"S": "Sue"}]


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_exported_comes_back_with_its_keys_indexes_and_templates(
    name: str, tmp_path: Path
) -> None:
    system = SYSTEMS[name]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(workbench_model(system, at=datetime.now(UTC))))
    again = load(import_workbench(path), tmp_path).SYSTEM
    assert [shape(each) for each in again.tables] == [shape(each) for each in system.tables]
    assert stored_templates(again) == stored_templates(system)
    exported = workbench_model(system, at=datetime.now(UTC))
    assert all(
        facet["TableData"] for each in exported["DataModel"] for facet in each["TableFacets"]
    )


def shape(declared: bt.Table) -> tuple[object, ...]:
    return declared.name, declared.main, tuple(declared.indexes), declared.throughput


def stored_templates(system: bt.System) -> dict[tuple[str, str], object]:
    """Templates and conditions, with fields by the names of their attributes."""
    model = workbench_model(system, at=datetime.now(UTC))
    return {
        (line.partition(":")[0], line.partition(":")[2]): None
        for line in model["ModelMetadata"]["Description"].splitlines()
        if " in " in line
    }


def test_kinds_are_told_apart_by_the_beginning_of_their_keys(tmp_path: Path) -> None:
    system = load(import_model(tmp_path, shop()), tmp_path).SYSTEM
    assert templates(system) == {
        ("Customer", "main"): ("CUSTOMER#{customer_id}", "CUSTOMER#{customer_id}"),
        ("Order", "main"): ("CUSTOMER#{customer_id}", "#ORDER#{order_id}"),
        ("Order", "GSI1"): ("ORDER#{order_id}", "ORDER#{order_id}"),
    }
    order = entity(system, "Order").from_item(
        {"PK": {"S": "CUSTOMER#cy"}, "SK": {"S": "#ORDER#9"}, "Total": {"N": "3"}}
    )
    assert order.model_dump() == {"customer_id": "cy", "order_id": "9", "total": 3}


def test_small_labels_and_numbers_make_templates_too(tmp_path: Path) -> None:
    rows = [
        {"PK": "d#12345", "SK": "v#007", "Version": 7, "DriverId": "12345"},
        {"PK": "d#12346", "SK": "v#012", "Version": 12, "DriverId": "12346"},
    ]
    system = load(import_model(tmp_path, table(rows=rows)), tmp_path).SYSTEM
    assert templates(system) == {("V", "main"): ("d#{driver_id}", "v#{version:03}")}


def test_a_constant_sort_key_in_small_letters_is_a_literal(tmp_path: Path) -> None:
    rows = [
        {"PK": "C1", "SK": "comm#2023-04-30#1", "Text": "hello"},
        {"PK": "C1", "SK": "metadata", "ComplaintId": "C1"},
        {"PK": "C2", "SK": "metadata", "ComplaintId": "C2"},
    ]
    made = import_model(tmp_path, table(name="Complaint", rows=rows))
    assert made.notes == ()
    assert templates(load(made, tmp_path).SYSTEM) == {
        ("Comm", "main"): ("{pk}", "comm#{date_}#{comm_id}"),
        ("Complaint", "main"): ("{complaint_id}", "metadata"),
    }


def test_what_all_rows_have_as_their_sort_key_is_a_literal(tmp_path: Path) -> None:
    rows = [{"PK": f"u#{n}", "SK": "settings", "Theme": "dark"} for n in (17, 4)]
    system = load(import_model(tmp_path, table(rows=rows)), tmp_path).SYSTEM
    assert templates(system) == {("U", "main"): ("u#{u_id}", "settings")}
    alone = load(import_model(tmp_path, table(rows=rows[:1])), tmp_path).SYSTEM
    assert templates(alone) == {("U", "main"): ("u#{u_id}", "{sk}")}


def test_a_type_attribute_tells_kinds_apart_only_where_keys_agree(tmp_path: Path) -> None:
    rows = [
        {"PK": "U#1", "SK": "U", "kind": "user"},
        {"PK": "G#1", "SK": "G", "kind": "group"},
    ]
    system = load(import_model(tmp_path, table(rows=rows)), tmp_path).SYSTEM
    assert system.tables[0].type_attribute == "kind"
    assert {each.__name__: each.layout.type_names for each in system.entities} == {
        "User": ("user",),
        "Group": ("group",),
    }
    accounts = [
        {"PK": "ACCOUNT#1", "SK": "A", "type": "savings"},
        {"PK": "ACCOUNT#2", "SK": "A", "type": "checking"},
    ]
    system = load(import_model(tmp_path, table(rows=accounts)), tmp_path).SYSTEM
    assert system.tables[0].type_attribute is None
    assert [each.__name__ for each in system.entities] == ["A"]


def test_facets_are_entities_and_those_that_show_one_item_are_one(tmp_path: Path) -> None:
    def facet(name: str, rows: list[dict[str, Any]], **aliases: str) -> dict[str, Any]:
        data = table(rows=rows)["TableData"]
        return {"FacetName": name, "TableData": data, "KeyAttributeAlias": aliases}

    facets = [
        facet("Buyer", CUSTOMERS, PartitionKeyAlias="Username", SortKeyAlias="SK"),
        facet("BuyerMail", CUSTOMERS[:1]),
        facet("Purchase", ORDERS, SortKeyAlias="#ORDER#Number"),
        facet("Refund", [], PartitionKeyAlias="RefundId"),
    ]
    made = import_model(tmp_path, shop(TableFacets=facets))
    system = load(made, tmp_path).SYSTEM
    assert templates(system)["Buyer", "main"] == ("CUSTOMER#{username}", "CUSTOMER#{username}")
    assert templates(system)["Purchase", "main"][1] == "#ORDER#{number}"
    assert templates(system)["Refund", "main"][0] == "REFUND#{refund_id}"
    problems = " ".join(map(str, made.notes))
    assert "it shows the same items as Buyer" in problems
    assert "no sample row says how the keys of Refund begin" in problems


def test_an_index_that_holds_some_rows_stays_sparse(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"PK": "M#1", "SK": "M", "unread": True, "by": "al", "GSI1PK": "UNREAD#al"},
        {"PK": "M#2", "SK": "M", "unread": False, "by": "al"},
        {"PK": "N#1", "SK": "N", "GSI1PK": "x"},
        {"PK": "N#2", "SK": "N"},
    ]
    model = table(rows=rows, GlobalSecondaryIndexes=[index("GSI1", "GSI1PK")])
    system = load(import_model(tmp_path, model), tmp_path).SYSTEM
    message, note = system.entities
    assert message.layout.keys["GSI1"].only == {"unread": (True,)}
    assert templates(system)["M", "GSI1"] == ("UNREAD#{by}",)
    assert templates(system)["N", "GSI1"] == ("{gsi1_pk}",)
    assert note(n_id="2").gsi1_pk is None


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        *(("class", "class_"), ("State#Date", "state_date"), ("GSI1-PK", "gsi1_pk")),
        *(("2nd", "field_2nd"), ("copy", "copy_"), ("keys", "keys_"), ("#", "field")),
        *(("str", "str_"), ("model_dump", "field_model_dump"), ("größe", "größe"), ("☃", "field")),
        *(('"; import os #', "import_os"), ("a\nb", "a_b"), ("__init__", "init")),
    ],
)
def test_any_name_of_an_attribute_becomes_a_field(stored: str, name: str, tmp_path: Path) -> None:
    rows = [{"PK": "A#1", "SK": "A", stored: "x", "str ": "y"}]
    made = load(import_model(tmp_path, table(rows=rows)), tmp_path)
    (kind,) = made.SYSTEM.entities
    assert kind.layout.names[name] == stored
    (row,) = made.SYSTEM.demo.entities(bt.Scale.SMALL, Random(1))
    assert row.to_item()[stored] == {"S": "x"}


def test_names_and_texts_from_outside_never_become_code(tmp_path: Path) -> None:
    evil = '"""\nraise SystemExit("run")\n# \u2028\r\x0c\\'
    rows = [{"PK": f"A#{evil}", "SK": evil, evil: evil}]
    facets = [{"FacetName": evil, "TableData": []}]
    made = import_model(
        tmp_path, table(rows=rows, TableFacets=facets, Odd=evil), ModelName=evil, More={evil: evil}
    )
    system = load(made, tmp_path).SYSTEM
    (row,) = system.demo.entities(bt.Scale.SMALL, Random(1))
    assert row.to_item()[evil] == {"S": evil}


def test_members_that_mean_nothing_here_are_kept_and_told(tmp_path: Path) -> None:
    drawings = [{"Name": "Get order", "Operation": "Query"}]
    made = import_model(tmp_path, shop(Drawings=drawings), Extra=1)
    assert '{"Name": "Get order", "Operation": "Query"}' in made.text.replace("\n#  ", "")
    notes = [note.place.partition(": ")[2] for note in made.notes if "member" in note.problem]
    assert notes == ["Extra", "DataModel[0].Drawings"]


@pytest.mark.parametrize("version", ["1.0", "2.0", "3.0"])
def test_known_versions_are_read_and_others_are_told(version: str, tmp_path: Path) -> None:
    assert import_model(tmp_path, shop(), ModelMetadata={"Version": version}).notes == ()
    notes = import_model(tmp_path, shop(), ModelMetadata={"Version": "9"}).notes
    assert [note.place.rpartition(": ")[2] for note in notes] == ["ModelMetadata.Version"]


def test_without_rows_keys_are_fields_and_it_is_told(tmp_path: Path) -> None:
    model = table(
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "SK")],
        NonKeyAttributes=[{"AttributeName": "Name", "AttributeType": "S"}],
    )
    made = import_model(tmp_path, model)
    assert templates(load(made, tmp_path).SYSTEM) == {
        ("Shop", "main"): ("{pk}", "{sk}"),
        ("Shop", "GSI1"): ("{gsi1_pk}", "{sk}"),
    }
    assert [note.problem for note in made.notes] == [
        "it has no sample rows, so its keys are fields as they are",
        "no item says what its keys look like",
    ]


def test_keys_that_the_kit_cannot_make_are_comments_or_plain_fields(tmp_path: Path) -> None:
    rows = [
        {"PK": "A#x y#1", "SK": "{brace}"},
        {"PK": "A#x#2", "SK": "b"},
    ]
    made = import_model(tmp_path, table(rows=rows))
    system = load(made, tmp_path).SYSTEM
    assert templates(system) == {("A", "main"): ("A#{a_id}#{a_id_2}", "{sk}")}
    assert len(list(system.demo.entities(bt.Scale.SMALL, Random(1)))) == 2
    colliding = [{"PK": "x", "SK": "ORDER#1"}, {"PK": "y", "SK": "1"}]
    made = import_model(tmp_path, table(rows=colliding))
    assert "# Undecided: " in made.text
    assert [each.__name__ for each in load(made, tmp_path).SYSTEM.entities] == ["Order"]


def test_rows_that_are_no_items_are_left_out_and_told(tmp_path: Path) -> None:
    model = shop()
    model["TableData"] += [
        {"PK": {"S": "X"}},
        {"PK": {"S": "A#1"}, "SK": {"S": "A"}, "n": {"N": "many"}},
        {"PK": {"S": "A#1"}, "SK": "A"},
        {"PK": {"S": "A#1"}, "SK": {"S": "A"}, "n": {"WHAT": 1}},
    ]
    made = import_model(tmp_path, model)
    assert [note.place[-12:] for note in made.notes] == [f"TableData[{n}]" for n in (4, 5, 6, 7)]
    assert len(load(made, tmp_path).SYSTEM.entities) == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "model.json, line 1, column 2: it is not JSON"),
        (b'{"\xff": 1}', "model.json: it is not UTF-8"),
        (b"[]", "model.json: it is no JSON object"),
        (b"[" * 100_000, "model.json: it is nested too deeply"),
        (b"{}", "model.json: DataModel is missing"),
        (b'{"DataModel": {}}', "model.json: DataModel: it is an object, and should be a list"),
        (b'{"DataModel": []}', "model.json: there is no table in it"),
        (b'{"DataModel": [1]}', "model.json: DataModel[0]: it is a int"),
        (b'{"DataModel": [{}]}', "model.json: DataModel[0]: TableName is missing"),
        (
            b'{"DataModel": [{"TableName": "Shop", "KeyAttributes": {}}]}',
            "model.json: DataModel[0].KeyAttributes: PartitionKey is missing",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(CannotImport) as error:
        import_workbench(path)
    assert sentence in str(error.value) and "; " in str(error.value)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ([table(), table()], "DataModel[1]: the table 'Shop' is there already"),
        ([table(name="a b")], "its name must be 3 to 255"),
        ([table(partition="PK", sort="PK")], "'PK' is there twice"),
        (
            [table(GlobalSecondaryIndexes=[index("main", "PK")])],
            "'main' is the table itself; rename the index",
        ),
        (
            [table(GlobalSecondaryIndexes=[index("GSI1", "A"), index("GSI1", "B")])],
            "GlobalSecondaryIndexes[1]: the index 'GSI1' is there already",
        ),
        (
            [table(KeyAttributes={"PartitionKey": {"AttributeName": "a", "AttributeType": "M"}})],
            "a is of type M, and a key is S, N or B",
        ),
    ],
)
def test_tables_that_dynamodb_would_refuse_are_told(
    tables: list[dict[str, Any]], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotImport) as error:
        import_model(tmp_path, *tables)
    assert sentence in str(error.value)


def test_a_huge_file_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MOST_BYTES", 1024**2)
    path = tmp_path / "model.json"
    path.write_bytes(b" " * (1024**2 + 1))
    with pytest.raises(CannotImport, match="it has more than 1 MB; take sample rows out"):
        import_workbench(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotImport, match="No such file or directory"):
        import_workbench(tmp_path / "none.json")
