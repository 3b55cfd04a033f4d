"""The catalogue: true to the file, whoever changes it and whatever is rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.operations import WRITES
from bigtime.engine.storage.file import Transaction
from bigtime.wire import DynamoDBError, ResourceInUseException, ResourceNotFoundException
from tests.engine.calls import (
    add_index,
    begin,
    call,
    come,
    describe_table,
    drop_index,
    index,
    key_schema,
    make_table,
    physical_tables,
    s,
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "shared.db", durability="relaxed", housekeeping=False) as engine:
        yield engine


@pytest.fixture
def there(here: Engine) -> Iterator[Engine]:
    with Engine.open(here.path, durability="relaxed", housekeeping=False) as engine:
        yield engine


def simple(name: str) -> dict[str, Any]:
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "KeySchema": key_schema("p"),
        "BillingMode": "PAY_PER_REQUEST",
    }


def make(engine: Engine, name: str) -> None:
    make_table(engine, {"p": "S"}, name=name, keys=("p",))


def put(engine: Engine, table: str, p: str) -> None:
    call(engine, "PutItem", TableName=table, Item={"p": s(p)})


def names(engine: Engine) -> list[str]:
    return list(call(engine, "ListTables")["TableNames"])


# --- Rolled back ----------------------------------------------------------------------------------


def do_and_crash(engine: Engine, operation: str, params: dict[str, Any]) -> None:
    """An operation whose transaction is rolled back after it was done."""

    def work(transaction: Transaction) -> None:
        WRITES[operation](engine._database, params)(transaction)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine._database.committer.run(work)


def test_a_table_that_was_rolled_back_never_was(here: Engine) -> None:
    before = physical_tables(here)
    do_and_crash(here, "CreateTable", simple("notes"))
    assert names(here) == []
    assert physical_tables(here) == before
    for act in (partial(put, here, "notes", "a"), partial(describe_table, here, "notes")):
        with pytest.raises(ResourceNotFoundException):
            act()
    make(here, "notes")
    put(here, "notes", "a")
    assert describe_table(here, "notes")["ItemCount"] == 1


def test_a_deletion_that_was_rolled_back_never_was(here: Engine) -> None:
    make(here, "notes")
    put(here, "notes", "a")
    do_and_crash(here, "DeleteTable", {"TableName": "notes"})
    put(here, "notes", "b")
    assert call(here, "Scan", TableName="notes")["Count"] == 2
    with pytest.raises(ResourceInUseException):
        make(here, "notes")


def test_an_index_that_was_rolled_back_never_was(here: Engine) -> None:
    make(here, "notes")
    new = index("new", key_schema("g"))
    change = {
        "TableName": "notes",
        "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": new}],
    }
    do_and_crash(here, "UpdateTable", change)
    assert "GlobalSecondaryIndexes" not in describe_table(here, "notes")
    call(here, "PutItem", TableName="notes", Item={"p": s("a"), "g": s("b")})
    add_index(here, "notes", new, g="S")
    assert call(here, "Scan", TableName="notes", IndexName="new")["Count"] == 1


def test_readers_see_a_table_once_it_is_committed(here: Engine) -> None:
    def work(transaction: Transaction) -> list[str]:
        WRITES["CreateTable"](here._database, simple("notes"))(transaction)
        assert "notes" in here._database.catalogue.tables_for_writing()
        return come(begin(lambda: names(here)))

    assert here._database.committer.run(work) == []
    assert names(here) == ["notes"]


def test_works_of_one_transaction_see_each_others_tables(here: Engine) -> None:
    def work(transaction: Transaction) -> None:
        database = here._database
        WRITES["CreateTable"](database, simple("notes"))(transaction)
        item = {"TableName": "notes", "Item": {"p": s("a")}}
        WRITES["PutItem"](database, item)(transaction)
        with pytest.raises(ResourceInUseException):
            WRITES["CreateTable"](database, simple("notes"))(transaction)

    here._database.committer.run(work)
    assert call(here, "Scan", TableName="notes")["Items"] == [{"p": s("a")}]


# --- Two engines on one file ----------------------------------------------------------------------


def test_each_sees_what_the_other_makes_and_drops(here: Engine, there: Engine) -> None:
    make(here, "one")
    put(there, "one", "a")
    assert call(here, "Scan", TableName="one")["Count"] == 1
    make(there, "two")
    assert names(here) == names(there) == ["one", "two"]
    call(here, "DeleteTable", TableName="one")
    for operation, params in (("Scan", {}), ("PutItem", {"Item": {"p": s("a")}})):
        with pytest.raises(ResourceNotFoundException):
            call(there, operation, TableName="one", **params)
    with pytest.raises(DynamoDBError) as caught:
        make(here, "two")
    assert isinstance(caught.value, ResourceInUseException)


def test_a_table_made_anew_by_the_other_is_not_the_old(here: Engine, there: Engine) -> None:
    make(here, "notes")
    put(here, "notes", "old")
    assert call(there, "Scan", TableName="notes")["Count"] == 1
    numbers = {there._database.catalogue.tables["notes"].number}
    for _ in range(3):
        call(here, "DeleteTable", TableName="notes")
        make(here, "notes")
        put(here, "notes", "new")
        assert call(there, "Scan", TableName="notes")["Items"] == [{"p": s("new")}]
        numbers.add(there._database.catalogue.tables["notes"].number)
    # A number is never used twice, so what was cached can never be mistaken.
    assert len(numbers) == 4


def test_an_index_of_the_other_is_kept_by_this_one(here: Engine, there: Engine) -> None:
    make(here, "notes")
    put(there, "notes", "a")
    new = index("new", key_schema("g"))
    add_index(here, "notes", new, g="S")
    call(there, "PutItem", TableName="notes", Item={"p": s("b"), "g": s("c")})
    assert call(here, "Scan", TableName="notes", IndexName="new")["Count"] == 1
    drop_index(there, "notes", "new")
    call(here, "PutItem", TableName="notes", Item={"p": s("d"), "g": s("c")})
    add_index(there, "notes", new, g="S")
    assert call(here, "Scan", TableName="notes", IndexName="new")["Count"] == 2


def test_what_the_other_rolls_back_is_not_seen(here: Engine, there: Engine) -> None:
    make(here, "notes")
    do_and_crash(here, "CreateTable", simple("lost"))
    do_and_crash(here, "DeleteTable", {"TableName": "notes"})
    assert names(there) == ["notes"]
    make(there, "lost")
    put(here, "lost", "a")
    assert describe_table(there, "lost")["ItemCount"] == 1


def test_a_table_that_did_not_change_is_not_read_again(here: Engine, there: Engine) -> None:
    make(here, "notes")
    assert names(there) == ["notes"]
    known = there._database.catalogue.tables["notes"]
    make(here, "others")
    assert there._database.catalogue.refresh()
    assert not there._database.catalogue.refresh()
    assert there._database.catalogue.tables["notes"] is known
