"""`bigtime audit`: one changed byte, and it says where; and what only an anchor shows."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.systems.portal.chain import entry_hash
from bigtime.wire import Request
from tests.cli.program import invoke


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "portal.db"
    done = invoke("demo", "load", "--system", "portal", "--store", f"file:{path}")
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def portal(tmp_path: Path, template: Path) -> Path:
    return Path(copy(template, tmp_path / "portal.db"))


def verify_audit(path: Path) -> Any:
    return invoke("audit", "verify", store=f"file:{path}")


def test_an_untouched_log_holds(portal: Path) -> None:
    done = verify_audit(portal)
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"nothing is broken, among [\d,]+ items\n", done.stdout)


def test_one_changed_byte_is_found_and_named(portal: Path) -> None:
    with Engine.open(portal) as engine:
        entry = engine(Request("Scan", {"TableName": "audit", "Limit": 1}))["Items"][0]
        entry["actor"]["S"] = entry["actor"]["S"][:-1] + "?"
        engine(Request("PutItem", {"TableName": "audit", "Item": entry}))
    done = verify_audit(portal)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"broken  {entry['PK']['S']}, entry {int(entry['SK']['S'])}: ")
    assert re.fullmatch(r"\d+ broken, among [\d,]+ items", lines[-1])


def test_missing_tables_are_told_with_what_makes_them(tmp_path: Path) -> None:
    done = verify_audit(tmp_path / "empty.db")
    assert done.exit_code == 1
    assert "The store lacks tables of portal: make what is missing with" in done.stderr
    assert "`bigtime tables create portal`" in done.stderr


def test_after_a_restore_the_map_of_table_names_is_told(portal: Path) -> None:
    with Engine.open(portal) as engine:
        engine(Request("DeleteTable", {"TableName": "audit"}))
    done = verify_audit(portal)
    assert done.exit_code == 1
    assert "as after `bigtime restore`, set BIGTIME_TABLES to the map" in done.stderr


def test_a_store_has_to_be_chosen() -> None:
    done = invoke("audit", "verify")
    assert done.exit_code == 2
    assert "set BIGTIME_STORE" in done.stderr


# Anchors

KEY = "k" * 32


def ask(path: Path, *arguments: object, key: str = KEY) -> Any:
    return invoke("audit", *arguments, "--key", key, store=f"file:{path}")


@pytest.fixture
def anchor_file(portal: Path, tmp_path: Path) -> Path:
    path = tmp_path / "anchor.jsonl"
    done = ask(portal, "anchor", path)
    assert done.exit_code == 0, done.output
    chains = int(re.fullmatch(r"([\d,]+) chains .*\n", done.stdout.replace(str(path), "x"))[1])  # type: ignore[index]
    with Engine.open(portal) as engine:
        assert chains == len({entry["PK"]["S"] for entry in entries(engine)})
    return path


def entries(engine: Engine) -> list[Any]:
    items: list[Any] = []
    page: Any = {"LastEvaluatedKey": None}
    while "LastEvaluatedKey" in page:
        start = page["LastEvaluatedKey"] and {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        page = engine(Request("Scan", {"TableName": "audit", **(start or {})}))
        items += page["Items"]
    return items


def chains_of(engine: Engine, table: str) -> list[list[Any]]:
    chains: dict[str, list[Any]] = {}
    for entry in entries(engine):
        if entry["PK"]["S"].startswith(f"{table}#"):
            chains.setdefault(entry["PK"]["S"], []).append(entry)
    return sorted(chains.values(), key=len, reverse=True)


def order_key(entry: Any) -> Any:
    tenant = entry["after"]["M"]["tenantId"]["S"]
    return {"PK": {"S": f"TENANT#{tenant}"}, "SK": {"S": f"ORDER#{entry['id']['S']}"}}


def delete(engine: Engine, table: str, key: Any) -> None:
    only = {name: key[name] for name in ("PK", "SK")}
    engine(Request("DeleteItem", {"TableName": table, "Key": only}))


def test_an_untouched_log_fits_its_anchor(portal: Path, anchor_file: Path) -> None:
    done = ask(portal, "verify", "--anchor", anchor_file)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("nothing is broken")


def test_a_record_deleted_with_its_chain_is_found_by_the_anchor(
    portal: Path, anchor_file: Path
) -> None:
    with Engine.open(portal) as engine:
        chain = chains_of(engine, "orders")[0]
        delete(engine, "orders", order_key(chain[-1]))
        for entry in chain:
            delete(engine, "audit", entry)
    assert verify_audit(portal).exit_code == 0  # by itself the log cannot tell
    done = ask(portal, "verify", "--anchor", anchor_file)
    assert done.exit_code == 1
    name, last = chain[-1]["PK"]["S"], len(chain)
    assert f"broken  {name}, entry {last}: the entry was there, and is gone" in done.stdout


def test_an_entry_cut_off_with_the_record_put_back_is_found_by_the_anchor(
    portal: Path, anchor_file: Path
) -> None:
    with Engine.open(portal) as engine:
        chain = chains_of(engine, "tenants")[0]
        assert len(chain) > 1
        delete(engine, "audit", chain[-1])
        key = {"PK": {"S": f"TENANT#{chain[-1]['id']['S']}"}, "SK": {"S": "METADATA"}}
        record = {**key, **chain[-2]["after"]["M"]}
        engine(Request("PutItem", {"TableName": "tenants", "Item": record}))
    assert verify_audit(portal).exit_code == 0
    done = ask(portal, "verify", "--anchor", anchor_file)
    assert done.exit_code == 1
    assert f"{chain[-1]['PK']['S']}, entry {len(chain)}: the entry was there" in done.stdout


def test_a_chain_written_anew_is_found_by_the_anchor(portal: Path, anchor_file: Path) -> None:
    with Engine.open(portal) as engine:
        chain = chains_of(engine, "orders")[0]
        last = chain[-1]
        last["actor"]["S"] = "nobody"
        last["hash"]["S"] = entry_hash(last)
        engine(Request("PutItem", {"TableName": "audit", "Item": last}))
    assert verify_audit(portal).exit_code == 0
    done = ask(portal, "verify", "--anchor", anchor_file)
    assert done.exit_code == 1
    assert "the entry is not the one that was there" in done.stdout


@pytest.mark.parametrize("harm", ["change", "cut", "empty", "noise"])
def test_an_anchor_that_was_touched_is_refused(portal: Path, anchor_file: Path, harm: str) -> None:
    text = anchor_file.read_bytes()
    lines = text.splitlines(keepends=True)
    anchor_file.write_bytes(
        {
            "change": text.replace(b'"sequence": 1', b'"sequence": 2', 1),
            "cut": b"".join(lines[:1] + lines[2:]),
            "empty": b"",
            "noise": b"\xff\x00",
        }[harm]
    )
    done = ask(portal, "verify", "--anchor", anchor_file)
    assert done.exit_code == 2
    assert "anchor" in done.stderr and "nothing is broken" not in done.stdout


def test_another_key_or_none_is_refused(portal: Path, anchor_file: Path, tmp_path: Path) -> None:
    assert "another BIGTIME_AUDIT_KEY" in (
        ask(portal, "verify", "--anchor", anchor_file, key="other" * 8).stderr
    )
    short = ask(portal, "anchor", tmp_path / "new", key="short")
    assert short.exit_code == 2 and "at least 32 characters" in short.stderr
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written_is_told(portal: Path, tmp_path: Path) -> None:
    done = ask(portal, "anchor", tmp_path / "no" / "such" / "folder")
    assert done.exit_code == 1
    assert "cannot be written: No such file or directory." in done.stderr
