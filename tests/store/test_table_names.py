"""Declared tables under other names: prefixes, maps, and a file that is read again."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from bigtime.model import (
    Entity,
    Keys,
    Table,
    get,
    get_many,
    get_together,
    put,
    put_many,
    query,
    setup,
    transact,
)
from bigtime.store import (
    ItemCache,
    SettingError,
    Store,
    TableNames,
    consume,
    open_async_store,
    open_store,
)
from bigtime.store import table_names as module
from bigtime.wire import Request, ResourceNotFoundException

PLANT = Table("Plants", "PK", stream="NEW_AND_OLD_IMAGES")


class Plant(Entity, table=PLANT):
    keys = Keys(main="PLANT#{name}")
    name: str
    height: int = 0


FERN, ROSE = Plant(name="fern"), Plant(name="rose")


def tables(store: Store) -> list[str]:
    names: list[str] = store.send(Request("ListTables", {}))["TableNames"]
    return names


def test_every_operation_goes_to_the_real_table() -> None:
    with open_store("memory:", tables={"*": "test1-*"}) as store:
        store.run(setup(PLANT))
        assert tables(store) == ["test1-Plants"]
        store.run(put_many([FERN, ROSE]))
        store.run(transact(put(Plant(name="oak"))))
        assert store.run(get(Plant.key("fern"))) == FERN
        assert store.run(get_many([FERN.own_key(), ROSE.own_key()])) == [FERN, ROSE]
        assert store.run(get_together(ROSE.own_key())) == (ROSE,)
        assert store.run(query(Plant.within("main", name="oak"))).items == [Plant(name="oak")]


def test_an_async_store_renames_too() -> None:
    async def run() -> None:
        async with open_async_store("memory:", tables='{"Plants": "Plants-2"}') as store:
            await store.run(setup(PLANT))
            await store.run(put(FERN))
            assert await store.run(get_many([FERN.own_key()])) == [FERN]
            listed = await store.send(Request("ListTables", {}))
            assert listed["TableNames"] == ["Plants-2"]

    asyncio.run(run())


def test_the_environment_has_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIGTIME_TABLES", '{"*": "*-of-ci"}')
    with open_store("memory:") as store:
        store.run(setup(PLANT))
        assert tables(store) == ["Plants-of-ci"]


def test_consumed_capacity_has_declared_names() -> None:
    seen: list[Any] = []
    with open_store("memory:", tables={"*": "x-*"}, hooks=[seen.append]) as store:
        store.run(setup(PLANT))
        params = {"TableName": "Plants", "Key": FERN.own_key().item}
        store.send(Request("GetItem", {**params, "ReturnConsumedCapacity": "TOTAL"}))
    assert seen[-1].request.params["TableName"] == "Plants"
    assert seen[-1].consumed_capacity[0]["TableName"] == "Plants"


def test_consumers_and_their_checkpoints_follow() -> None:
    handled: list[Any] = []

    def handle(record: Any) -> Any:
        handled.append(record)
        return iter(())

    with open_store("memory:", tables={"*": "dev-*"}) as store:
        store.run(setup(PLANT))
        store.run(put(FERN))
        assert consume(store, "Plants", handle, name="c").run_once() == 1
        assert tables(store) == ["dev-Checkpoints", "dev-DeadLetters", "dev-Plants"]


def test_a_file_that_changes_cuts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tables.json"
    path.write_text('{"Plants": "Plants-1"}')
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with open_store("memory:", tables=str(path), cache=ItemCache()) as store:
        store.run(setup(PLANT))
        store.run(put(FERN))
        store.run(get(FERN.own_key()))
        path.write_text('{"Plants": "Plants-two"}')
        assert store.run(get(FERN.own_key())) == FERN  # within the second, from the old one
        now[0] += 2
        store.run(setup(PLANT))
        assert store.run(get(FERN.own_key())) is None
        assert tables(store) == ["Plants-1", "Plants-two"]


def test_a_file_that_breaks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tables.json"
    path.write_text('{"Plants": "Plants-1"}')
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    names = TableNames.read(str(path))
    for broken in ("{", "[]", '{"Plants": 3}', None):
        path.unlink() if broken is None else path.write_text(broken)
        now[0] += 2
        with caplog.at_level(logging.WARNING):
            assert names.real("Plants") == "Plants-1"
        assert "stay as they are" in caplog.text
        caplog.clear()


def test_facts_are_forgotten_at_a_cut_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tables.json"
    path.write_text("{}")
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with open_store("memory:", tables=str(path)) as store:
        store._remember(("there",), 60.0)
        path.write_text('{"*": "new-*"}')
        now[0] += 2
        tables(store)
        store.run(setup(PLANT))
        assert store._recall(("there",)) == ("there",)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"*": "all"}, "would give all tables one name"),
        ({"Shop": "a b"}, "cannot be a table's name"),
        ({"Shop": 3}, "must be a text, not 3"),
        ({"Shop": "one-table", "Cart": "one-table"}, "Shop and Cart would both be one-table"),
    ],
)
def test_names_that_cannot_be_used(names: Any, words: str) -> None:
    for given in (names, json.dumps(names)):
        with pytest.raises(SettingError, match=words):
            open_store("memory:", tables=given)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(SettingError, match="neither JSON"):
        open_store("memory:", tables="missing.json")


def test_a_missing_table_is_named() -> None:
    with open_store("memory:", tables={"*": "dev-*"}) as store:
        with pytest.raises(ResourceNotFoundException) as caught:
            store.run(get(FERN.own_key()))
        assert caught.value.__notes__ == [
            "BIGTIME_TABLES: Plants is dev-Plants here.",
            "GetItem was of Plants; setup(...) or `bigtime tables create` makes tables that are"
            " missing.",
        ]
