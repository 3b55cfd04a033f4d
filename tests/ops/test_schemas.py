"""Schema files: the faults of those that came with the assignment, and none in ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.advisor import diff
from bigtime.engine import Engine
from bigtime.model import Environment, System, create_table_request, setup
from bigtime.ops import (
    check_file,
    environments_of,
    schema_document,
    schema_text,
    table_of,
    write_infrastructure,
)
from bigtime.ops.schema_check import TAGS
from bigtime.site import SYSTEMS
from bigtime.store import Store
from bigtime.systems.portal import SYSTEM
from tests.cli.program import invoke
from tests.ops import shop

SEED = Path(__file__).parent / "seed"
OURS = Path(__file__).parents[2] / "deploy" / "portal" / "schemas"
ABROAD = System(
    "abroad",
    (shop.BOOKS, shop.LOANS, shop.CODES),
    environments=(Environment("live", "eu-west-1", tags=dict.fromkeys(TAGS, "abroad")),),
)
BOOL = "attribute 'active' is BOOL, and a key of {}: a key is S, N or B; make it \"S\""


def sentences(path: Path) -> list[str]:
    return [f"{fault.level}: {fault.sentence}" for fault in check_file(path)]


def test_the_faults_of_the_seed_are_found_and_no_others() -> None:
    assert sentences(SEED / "tenants.schema.json") == [f"error: {BOOL.format('ActiveIndex')}"]
    assert sentences(SEED / "products.schema.json") == [
        f"error: {BOOL.format('ProductActiveIndex, ActiveIndex')}",
        "warning: index 'ActiveIndex' has the same keys as 'ProductActiveIndex'; one of them would"
        " do",
    ]
    assert sentences(SEED / "campaigns.schema.json") == [
        f"error: {BOOL.format('CampaignActiveIndex, ActiveIndex')}"
    ]


def test_ours_have_none_and_are_as_declared() -> None:
    done = invoke("schema", "validate", OURS, "--system", "portal")
    assert (done.exit_code, done.stdout) == (0, "6 files, 0 errors, 0 warnings\n")


def test_a_systems_own_environments_are_looked_for(tmp_path: Path) -> None:
    write_infrastructure(ABROAD, tmp_path)
    done = invoke("schema", "validate", tmp_path, "--system", f"{__name__}:ABROAD")
    assert (done.exit_code, done.stdout) == (0, "3 files, 0 errors, 0 warnings\n")


def test_the_command_fails_on_an_error() -> None:
    done = invoke("schema", "validate", SEED)
    assert done.exit_code == 1
    assert done.stdout.endswith("3 files, 3 errors, 1 warnings\n")
    other = invoke("schema", "validate", SEED / "tenants.schema.json", "--system", "portal")
    assert "tags is not as portal declares it; write it again" in other.stdout
    nothing = invoke("schema", "validate", SEED.parent / "nothing")
    assert nothing.exit_code == 1


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_system_has_schemas_without_a_fault(system: System, tmp_path: Path) -> None:
    for table in system.tables:
        path = tmp_path / f"{table.name}.schema.json"
        path.write_text(schema_text(schema_document(system, table, environments_of(system))))
        assert sentences(path) == []


def test_a_schema_is_the_table(engine: Engine) -> None:
    store = Store(engine)
    for table in SYSTEM.tables:
        document = json.loads(schema_text(schema_document(SYSTEM, table, SYSTEM.environments)))
        store.send(create_table_request(table_of(document)))
    made = store.run(setup(SYSTEM)).made
    assert made == ["time to live of codes"]
    assert store.run(diff(SYSTEM)) == []


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda it: it.update(notes=""), "there is no key 'notes'"),
        (lambda it: it.pop("streams"), "the key 'streams' is missing"),
        (lambda it: it.update(tableName=3), "tableName is 3, and must be a text"),
        (lambda it: it.update(tableName=""), "tableName is '', and must be a text"),
        (lambda it: it.update(description=None), "description is None, and must be a text"),
        (lambda it: it.update(primaryKey=[]), "primaryKey is [], and must be an object"),
        (lambda it: it.update(primaryKey={}), "primaryKey has no partitionKey"),
        (lambda it: it.update(streams="on"), "streams is 'on', and must be an object"),
        (
            lambda it: it.update(globalSecondaryIndexes={}),
            "globalSecondaryIndexes is {}, and must be a list of objects",
        ),
        (
            lambda it: it["attributes"].append(3),
            "attributes has 3 in it, and must be a list of objects",
        ),
        (lambda it: it["attributes"].pop(0), "partitionKey 'PK' is not among the attributes"),
        (lambda it: it["primaryKey"]["sortKey"].update(type="L"), "sortKey 'SK' is of type 'L'"),
        (lambda it: it["attributes"].append(it["attributes"][2]), "'id' is declared twice"),
        (lambda it: it["attributes"][2].update(type="X"), "attribute 'id' is of type 'X'"),
        (
            lambda it: it["globalSecondaryIndexes"].append(it["globalSecondaryIndexes"][0]),
            "index 'EmailIndex' is declared twice",
        ),
        (
            lambda it: it["globalSecondaryIndexes"][0].update(partitionKey="mail"),
            "its key 'mail' is not among the attributes",
        ),
        (
            lambda it: it["globalSecondaryIndexes"][0].update(sortKey="email"),
            "is sorted by its partition key",
        ),
        (
            lambda it: it["globalSecondaryIndexes"][0].update(projectionType="SOME"),
            "projects 'SOME', and must project ALL, KEYS_ONLY or INCLUDE",
        ),
        (
            lambda it: it.update(
                globalSecondaryIndexes=[
                    {**it["globalSecondaryIndexes"][0], "indexName": f"i{n}"} for n in range(21)
                ]
            ),
            "there are 21 indexes; DynamoDB allows 20",
        ),
        (lambda it: it.update(capacityMode="FREE"), "capacityMode is 'FREE'"),
        (lambda it: it["pitr"].update(enabled=False), "pitr is not enabled"),
        (lambda it: it["backup"].pop("sit"), "backup says nothing of sit"),
        (lambda it: it["backup"]["dev"].update(frequency="weekly"), "backup in dev is 'weekly'"),
        (lambda it: it["backup"]["prod"].update(retention=0), "is kept for 0 days"),
        (lambda it: it["streams"].update(viewType="ALL"), "streams shows 'ALL'"),
        (lambda it: it["tags"].pop("Component"), "the tag Component is missing"),
    ],
)
def test_each_rule(change: Change, sentence: str, tmp_path: Path) -> None:
    document = schema_document(SYSTEM, SYSTEM.tables[0], SYSTEM.environments)
    change(document)
    path = tmp_path / "tenants.schema.json"
    path.write_text(schema_text(document))
    found = sentences(path)
    assert any(sentence in line for line in found), found


def test_what_is_no_document_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tenants.schema.json"
    assert "it cannot be read" in sentences(path)[0]
    path.write_text("{'a': 1}")
    assert "it is not JSON" in sentences(path)[0]
    path.write_text("[]")
    assert sentences(path) == ["error: it is no object"]


def places(value: Any, *before: Any) -> Iterator[tuple[Any, ...]]:
    """The way to each value of a document: keys and positions."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*before, key)
        if isinstance(each, dict | list):
            yield from places(each, *before, key)


def test_whatever_a_document_has_in_a_place_is_told_in_sentences(tmp_path: Path) -> None:
    document = json.loads((OURS / "campaigns" / "campaign.schema.json").read_text())
    path = tmp_path / "campaign.schema.json"
    for *way, last in places(document):
        inner = document
        for key in way:
            inner = inner[key]
        before = inner[last]
        for wrong in (None, 1, "x", ["a", ["b"]], {"name": ["c"]}):
            inner[last] = wrong
            path.write_text(json.dumps(document))
            assert all(isinstance(sentence, str) for sentence in sentences(path))
        inner[last] = before
