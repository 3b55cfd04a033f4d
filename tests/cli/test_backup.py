"""`bigtime backup` and `bigtime restore`: the runbook as it is typed."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.ops import drill_reports
from bigtime.store import open_store
from bigtime.systems import portal
from bigtime.wire import Request
from tests.cli.program import invoke

BY = "admin@example.com"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The portal's tables with some records, as dev runs them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIGTIME_TABLES", raising=False)
    store = "file:portal.db"
    made = invoke("tables", "create", "portal", "--environment", "dev", store=store)
    assert made.exit_code == 0, made.stderr
    with open_store(store) as database:
        for number in range(3):
            fields = {"name": f"Plan {number}", "description": "A plan", "by": BY}
            cycle = portal.BillingCycle.MONTHLY
            steps = portal.create_product(price=Decimal("99.99"), billing_cycle=cycle, **fields)
            database.run(steps)
        database.run(portal.tenant_at_checkout("a@example.com"))
    return store


def output_of(store: str, *words: object, code: int = 0) -> str:
    done = invoke(*words, store=store)
    assert done.exit_code == code, done.output + str(done.exception)
    return done.output


def test_a_backup_is_made_listed_verified_and_restored(data: str) -> None:
    made = output_of(
        data, "backup", "create", "portal", "--environment", "dev", "--copy-to", "second"
    )
    assert "created portal-dev-" in made and "verified" in made and "copied to second" in made
    assert "kept until" in output_of(data, "backup", "list", "portal", "--environment", "dev")
    assert output_of(
        data, "backup", "verify", "portal", "--environment", "dev", "--all"
    ).startswith("good     portal-dev-")
    assert "the time of none is over" in output_of(
        data, "backup", "prune", "portal", "--environment", "dev"
    )
    there = ("--environment", "dev", "--place", "second")
    restored = output_of("file:other.db", "backup", "restore", "portal", *there)
    assert "restored tenants with" in restored
    assert "created table codes, which is not in backups" in restored
    assert "nothing is broken" in output_of("file:other.db", "audit", "verify")
    refused = output_of("file:other.db", "backup", "restore", "portal", *there, code=1)
    assert "There is a table tenants already" in refused


def test_a_scheduled_backup_is_made_when_it_is_due(data: str) -> None:
    words = ("backup", "run", "portal", "--environment", "dev", "--once")
    assert "created portal-dev-" in output_of(data, *words)
    assert output_of(data, *words) == ""
    own = ("backup", "run", "portal", "--schedule", "cron(0 * * * ? *)", "--keep-days", 1, "--once")
    assert "created portal-2" in output_of(data, *own)


def test_a_place_without_backups_is_told(data: str) -> None:
    output_of(data, "backup", "create", "portal", "--environment", "dev")
    for verb in ("list", "prune"):
        told = output_of(data, "backup", verb, "portal")
        assert "There is no backup of portal in backups" in told
        assert "say --place FOLDER or --environment NAME if they are elsewhere" in told


def test_a_damaged_backup_is_told(data: str) -> None:
    output_of(data, "backup", "create", "portal", "--place", "here")
    (file,) = Path("here").glob("*/orders.backup")
    file.write_bytes(file.read_bytes()[:-1])
    told = output_of(data, "backup", "verify", "portal", "--place", "here", code=1)
    assert "damaged  portal-" in told and "orders.backup is damaged" in told


def test_a_broken_audit_log_is_found_in_a_backup(data: str) -> None:
    output_of(data, "backup", "create", "portal", "--place", "here")
    with open_store(data) as database:
        (product, *_) = database.send(Request("Scan", {"TableName": "products"}))["Items"]
        product["price"] = {"N": "1"}
        database.send(Request("PutItem", {"TableName": "products", "Item": product}))
    time.sleep(1.0)  # the name of a backup has its second
    told = output_of(data, "backup", "create", "portal", "--place", "here", code=1)
    assert "the record is not what this entry says it became" in told, told
    once = ("backup", "run", "portal", "--environment", "dev", "--once")
    told = output_of(data, *once, code=1)
    assert re.search("created portal-dev-.*\nfailed: portal-dev-.*: products#prod_", told), told
    told = output_of(data, "backup", "verify", "portal", "--place", "here", "--all", code=1)
    assert re.search(
        r"^good     portal-.*\n"
        r"broken   portal-.*: products#prod_.* the record is not what this entry says it became\n"
        r"The audit log was broken when the backup was made: `bigtime audit verify`",
        told,
    ), told
    assert (
        output_of(data, "backup", "prune", "portal", "--place", "here")
        == "the time of none is over\n"
    )


def test_a_backup_that_cannot_be_opened_is_copied_and_told(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "no-such-folder")
    once = ("backup", "run", "portal", "--environment", "dev", "--once", "--copy-to", "second")
    told = output_of(data, *once, code=1)
    assert re.search(r"created portal-dev-\S+: .*\ncopied portal-dev-", told), told
    assert re.search(
        r"failed: portal-dev-\S+ was not opened to check its audit log: no-such-folder\S* cannot be"
        r" used \(No such file or directory\)\. Make room there, or say TMPDIR",
        " ".join(told.split()),
    ), told
    told = output_of(data, "backup", "create", "portal", "--place", "here", code=1)
    assert "created portal-2" in told and "was not opened" in told
    told = output_of(data, "backup", "verify", "portal", "--place", "here", code=1)
    assert "was not opened" in told


def test_a_backup_of_another_system_is_not_verified(data: str) -> None:
    made = output_of(data, "backup", "create", "portal", "--place", "here").split()[1]
    told = output_of(data, "backup", "verify", "deals", made, "--place", "here", code=1)
    assert f"{made} is a backup of portal, not of deals" in told


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("backup", "run", "portal"), "Say when and for how long"),
        (("backup", "run", "portal", "--schedule", "hourly", "--keep-days", 1), "six fields"),
        (("backup", "run", "portal", "--environment", "prod"), "have a copy in eu-west-1"),
        (("backup", "run", "portal", "--environment", "moon"), "no environment 'moon'"),
        (("backup", "create", "portal", "--place", "gs://b"), "There is no gs://"),
        (("backup", "create", "portal", "--store", "dynamodb:af-south-1"), "backed up by AWS"),
        (("backup", "create", "portal", "--store", "http://127.0.0.1:1"), "file:PATH"),
        (("backup", "create", "portal", "--store", "file:none.db"), "There is no file none.db"),
        (("backup", "create", "deals"), "bigtime tables create deals"),
        (("backup", "list", "portal", "--environment", "moon"), "no environment 'moon'"),
        (("backup", "verify", "portal", "--environment", "moon"), "no environment 'moon'"),
        (("backup", "prune", "portal", "--environment", "moon"), "no environment 'moon'"),
        (("backup", "create", "portal", "--copy-to", "./backups"), "name another folder"),
        (
            ("backup", "run", "portal", "--environment", "dev", "--copy-to", "backups/dev"),
            "name another folder",
        ),
        (("restore", "portal", "--suffix", ""), "need names of their own"),
        (("restore", "portal", "--suffix", "/x"), "'/x' cannot end the name of a table"),
        (("backup", "verify", "portal"), "There is no backup of portal in backups"),
        (("backup", "verify", "portal", "portal-1"), "There is no backup portal-1 in backups"),
        (("backup", "restore", "portal", "portal-1"), "There is no backup portal-1 in backups"),
        (("restore", "portal", "--at", "yesterday"), "is no moment"),
        (("restore", "portal", "--at", "2025-12-25T14:30:00"), "the zone"),
        (("restore", "portal", "--at", "2025-12-25T14:30:00Z"), "to any moment from"),
        (("restore", "cut-over", "portal"), "can follow only a file"),
        (("restore", "cut-over", "portal", "--tables", "t.json"), "no restored table tenants_"),
        (("restore", "finish", "portal", "--tables", "t.json"), "cut-over portal` comes first"),
        (("restore", "compare", "portal"), "There is no restored table tenants_restored yet"),
        (("restore", "record", "deals", "a", "b", "--by", BY), "Only records of the portal"),
        (("restore", "record", "portal", "codes", "b", "--by", BY), "no records in 'codes'"),
        (("restore", "record", "portal", "orders", "b", "--by", BY), "no restored table orders"),
    ],
)
def test_bad_input_gets_a_sentence(data: str, words: tuple[object, ...], sentence: str) -> None:
    done = invoke(*words, store=data)
    assert done.exit_code in (1, 2), done.output
    assert sentence in done.output.replace("\n", " ")
    assert "Traceback" not in done.output


def test_the_five_steps_of_a_restore(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(data) as store:
        before = store.run(portal.list_products()).items
    moment = datetime.now(UTC).isoformat()
    with open_store(data) as store:
        for product in before:
            store.run(portal.soft_delete_product(product.id, by=BY))
    Path("tables.json").write_text("{}")
    monkeypatch.setenv("BIGTIME_TABLES", "tables.json")
    assert "any moment from" in output_of(data, "restore", "status", "portal")
    done = output_of(data, "restore", "portal", "--at", moment)
    assert "products_restored is products as it was at" in done
    compared = output_of(data, "restore", "compare", "portal", code=1)
    assert f"products: {len(before):,} changed" in compared
    assert "  (active" in compared
    assert "campaigns: no difference" in compared
    assert compared.endswith("0 faults among 9 restored items\n")
    unknown = ("restore", "record", "portal", "products", "PRODUCT#1", "--by", BY)
    assert "a key looks like PRODUCT#{id} METADATA." in output_of(data, *unknown, code=1)

    record = output_of(
        data,
        *("restore", "record", "portal", "products", f"PRODUCT#{before[0].id}"),
        *("--by", BY, "--reason", "deleted by mistake"),
    )
    assert f"products {before[0].id} is as it was on" in record
    with open_store(data) as store:
        assert [product.id for product in store.run(portal.list_products()).items] == [before[0].id]
    assert "nothing is broken" in output_of(data, "audit", "verify")

    over = output_of(data, "restore", "cut-over", "portal")
    assert "tenants_restored has a stream of NEW_AND_OLD_IMAGES" in over
    assert "nothing is left to do" in output_of(data, "restore", "cut-over", "portal")
    with open_store(data) as store:
        assert store.run(portal.list_products()).items == before
    assert "nothing is broken" in output_of(data, "audit", "verify")
    assert "is still there" in output_of(data, "restore", "status", "portal")
    nothing = output_of(data, "restore", "finish", "portal", "--confirm", "other")
    assert "other is left alone: it is not among tenants, products" in nothing
    assert "nothing was deleted" in nothing
    deleted = output_of(data, "restore", "finish", "portal", "--confirm", "products")
    assert deleted == "deleted products\n"
    assert "products: is products_restored, as products was" in output_of(
        data, "restore", "status", "portal"
    )
    assert "ends that restore" in output_of(data, "restore", "portal", "--at", moment, code=1)
    assert "products was removed after the cut-over" in output_of(
        data, "restore", "compare", "portal", code=1
    )
    with Engine.open("portal.db") as engine:
        names = engine(Request("ListTables", {}))["TableNames"]
    assert "products" not in names and {"tenants", "tenants_restored"} <= set(names)


def test_a_map_of_names_that_was_named_is_named_in_the_next_step(data: str) -> None:
    output_of(data, "restore", "portal")
    Path("names.json").write_text("{")
    over = ("restore", "cut-over", "portal", "--tables", "names.json")
    assert "names.json has no JSON" in output_of(data, *over, code=2)
    Path("names.json").write_text("{}")
    assert "bigtime restore finish portal --tables names.json\n" in output_of(data, *over)
    names = [table.name for table in portal.SYSTEM.saved_tables]
    confirmed = [word for name in names for word in ("--confirm", name)]
    output_of(data, "restore", "finish", "portal", "--tables", "names.json", *confirmed)
    told = output_of(data, "restore", "status", "portal", code=1)
    assert "After a cut-over, name the map of table names with BIGTIME_TABLES" in told


def test_a_record_comes_back_from_a_restore_of_some_tables(data: str) -> None:
    with open_store(data) as store:
        moment = datetime.now(UTC).isoformat()
        (product, *_) = store.run(portal.list_products()).items
        store.run(portal.soft_delete_product(product.id, by=BY))
    some = ("restore", "portal", "--at", moment, "--table")
    assert "no saved table 'codes'" in output_of(
        data, *some, "products", "--table", "codes", code=1
    )
    done = output_of(data, *some, "products")
    assert "products_restored is products" in done and "audit_restored is audit" in done
    assert "tenants" not in done
    compared = output_of(data, "restore", "compare", "portal", code=1)
    assert "products: 1 changed" in compared and "audit: 1 only now" in compared
    assert "not verified: the restore lacks tenants, campaigns, orders" in compared
    key = f"PRODUCT#{product.id}"
    output_of(data, "restore", "record", "portal", "products", key, "--by", BY)
    with open_store(data) as store:
        assert product.id in [each.id for each in store.run(portal.list_products()).items]
    names = ("--confirm", "products_restored", "--confirm", "audit_restored")
    assert "deleted audit_restored" in output_of(data, "restore", "abandon", "portal", *names)
    assert "nothing is broken" in output_of(data, "audit", "verify")


def test_restored_tables_are_verified(data: str) -> None:
    output_of(data, "restore", "portal", "--suffix", "_2")
    with Engine.open("portal.db") as engine:
        scanned = engine(Request("Scan", {"TableName": "products_2"}))
        item = {**scanned["Items"][0], "price": {"N": "1"}}
        engine(Request("PutItem", {"TableName": "products_2", "Item": item}))
    compared = output_of(data, "restore", "compare", "portal", "--suffix", "_2", code=1)
    assert "products: 1 changed" in compared
    assert "wrong  " in compared


def test_tables_in_use_are_not_abandoned_by_who_has_no_map(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output_of(data, "restore", "portal")
    output_of(data, "restore", "cut-over", "portal", "--tables", "tables.json")
    abandon = ("restore", "abandon", "portal", "--confirm", "tenants_restored")
    assert "A cut-over to tenants_restored has begun" in output_of(data, *abandon, code=1)
    assert "are in use since the cut-over" in output_of(
        data, *abandon, "--tables", "tables.json", code=1
    )
    monkeypatch.setenv("BIGTIME_TABLES", "tables.json")
    assert "are in use since the cut-over" in output_of(data, *abandon, code=1)
    Path("tables.json").write_text("{}")  # as after a cut-over that was interrupted
    assert output_of(data, *abandon) == "deleted tenants_restored\n"


@pytest.mark.parametrize(
    "words",
    [
        ("restore", "portal"),
        ("archive", "portal", "--out", "archive"),
        ("backup", "restore", "portal", "portal-20260101T000000Z"),
        ("backup", "restore", "deals", "--place", "here"),
        ("backup", "restore", "portal", "--place", "here", "--table", "codes"),
    ],
)
def test_a_store_that_is_not_there_is_not_made(data: str, words: tuple[object, ...]) -> None:
    made = output_of(data, "backup", "create", "portal", "--place", "here")
    if "deals" in words:
        words = (*words, made.split()[1])
    output_of("file:none.db", *words, code=1)
    assert not Path("none.db").exists()


def test_drills_measure_and_report(data: str) -> None:
    with Engine.open("portal.db") as engine:
        before = engine(Request("ListTables", {}))["TableNames"]
    told = output_of(data, "drill", "pitr", "portal", "--environment", "dev")
    assert "| RTO |" in told and "Passed." in told
    with Engine.open("portal.db") as engine:
        assert engine(Request("ListTables", {}))["TableNames"] == before
    assert "There is no backup of portal in sit" in output_of(
        data, "drill", "backup", "portal", "--environment", "sit", code=1
    )
    output_of(data, "backup", "create", "portal", "--environment", "prod")
    out = ("--environment", "prod", "--out", "report.md")
    assert "Passed." in output_of(data, "drill", "backup", "portal", *out)
    report = Path("report.md").read_text()
    assert "< 2:00:00 |" in report and "<= 1:00:00 |" in report
    (written,) = Path("drills").iterdir()
    assert re.fullmatch(rf"{datetime.now(UTC):%Y-%m-%d}T\d{{6}}Z-pitr-dev\.md", written.name)
    (found,) = drill_reports(Path("drills"))
    assert (found.kind, found.environment, found.has_passed) == ("pitr", "dev", True)


def test_a_drill_whose_report_cannot_be_written_is_shown(data: str) -> None:
    told = output_of(
        data, "drill", "pitr", "portal", "--environment", "dev", "--out", "portal.db/x.md", code=1
    )
    assert "| RTO |" in told and "portal.db/x.md cannot be written" in told


def test_a_drill_fails_on_what_is_wrong(data: str) -> None:
    with Engine.open("portal.db") as engine:
        scanned = engine(Request("Scan", {"TableName": "products"}))
        item = {**scanned["Items"][0], "price": {"N": "1"}}
        engine(Request("PutItem", {"TableName": "products", "Item": item}))
    output_of(data, "backup", "create", "portal", "--environment", "dev", code=1)
    told = output_of(data, "drill", "backup", "portal", "--environment", "dev", code=1)
    assert "**Failed.**" in told


def test_the_runbook_is_what_is_typed(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs" / "operations.md").read_text()
    block = guide.partition("<!-- runbook -->\n```sh\n")[2].partition("```")[0]
    steps = [line.partition("#")[0].split() for line in block.splitlines()]
    assert len(steps) == 6
    moment = datetime.now(UTC).isoformat()
    Path("tables.json").write_text("{}")
    monkeypatch.setenv("BIGTIME_TABLES", "tables.json")
    for program, *words in steps:
        assert program == "bigtime"
        filled = [moment if word == '"$MOMENT"' else word for word in words]
        confirmed = ["--confirm", "orders"] if "finish" in words else []
        done = invoke(*filled, *confirmed, store=data)
        assert done.exit_code == 0, done.output
    first = guide.partition("## Runbook: restore a backup")[2].partition("```sh\n")[2]
    output_of(data, "backup", "create", "portal", "--environment", "dev")
    for line in first.partition("```")[0].splitlines():
        assert invoke(*line.split()[1:], store=data).exit_code == 0, line


def test_tables_with_replicas_and_protection_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = "file:portal.db"
    output_of(store, "tables", "create", "portal", "--environment", "prod")
    Path("tables.json").write_text("{}")
    monkeypatch.setenv("BIGTIME_TABLES", "tables.json")
    output_of(store, "restore", "portal")
    done = output_of(store, "restore", "cut-over", "portal")
    assert "tenants_restored has a replica in eu-west-1" in done
    assert "tenants_restored has deletion protection" in done
    assert "tenants_restored has 10 tags" in done
    assert (
        output_of(store, "restore", "finish", "portal", "--confirm", "tenants")
        == "deleted tenants\n"
    )
    assert "as declared" in output_of(store, "tables", "diff", "portal", "--environment", "prod")
