"""`bigtime backup` and `bigtime restore`: the runbook as it is typed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.store import open_store
from bigtime.systems import portal
from bigtime.wire import Request
from tests.cli.program import typed

BY = "admin@example.com"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The portal's tables with some records, as dev runs them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIGTIME_TABLES", raising=False)
    store = "file:portal.db"
    made = typed("tables", "create", "portal", "--environment", "dev", store=store)
    assert made.exit_code == 0, made.stderr
    with open_store(store) as database:
        for number in range(3):
            fields = {"name": f"Plan {number}", "description": "A plan", "by": BY}
            cycle = portal.BillingCycle.MONTHLY
            steps = portal.create_product(price=Decimal("99.99"), billing_cycle=cycle, **fields)
            database.run(steps)
        database.run(portal.tenant_at_checkout("a@example.com"))
    return store


def said(store: str, *words: object, code: int = 0) -> str:
    done = typed(*words, store=store)
    assert done.exit_code == code, done.output + str(done.exception)
    return done.output


def test_a_backup_is_made_listed_verified_and_restored(data: str) -> None:
    made = said(data, "backup", "create", "portal", "--environment", "dev", "--copy-to", "second")
    assert "made portal-dev-" in made and "verified" in made and "copied to second" in made
    assert "kept until" in said(data, "backup", "list", "portal", "--environment", "dev")
    assert said(data, "backup", "verify", "portal", "--environment", "dev", "--all").startswith(
        "good     portal-dev-"
    )
    assert "the time of none is over" in said(
        data, "backup", "prune", "portal", "--environment", "dev"
    )
    there = ("--environment", "dev", "--place", "second")
    restored = said("file:other.db", "backup", "restore", "portal", *there)
    assert "restored tenants with" in restored
    assert "made table codes, which is in no backup" in restored
    assert "nothing is broken" in said("file:other.db", "audit", "verify")
    refused = said("file:other.db", "backup", "restore", "portal", *there, code=1)
    assert "There is a table tenants already" in refused


def test_a_scheduled_backup_is_made_when_it_is_due(data: str) -> None:
    words = ("backup", "run", "portal", "--environment", "dev", "--once")
    assert "made portal-dev-" in said(data, *words)
    assert said(data, *words) == ""
    own = ("backup", "run", "portal", "--schedule", "cron(0 * * * ? *)", "--keep-days", 1, "--once")
    assert "made portal-2" in said(data, *own)


def test_a_damaged_backup_is_told(data: str) -> None:
    said(data, "backup", "create", "portal", "--place", "here")
    (file,) = Path("here").glob("*/orders.backup")
    file.write_bytes(file.read_bytes()[:-1])
    told = said(data, "backup", "verify", "portal", "--place", "here", code=1)
    assert "damaged  portal-" in told and "orders.backup is damaged" in told


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
        (("backup", "verify", "portal"), "There is no backup of portal in backups"),
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
    done = typed(*words, store=data)
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
    assert "any moment from" in said(data, "restore", "status", "portal")
    done = said(data, "restore", "portal", "--at", moment)
    assert "products_restored is products as it was at" in done
    compared = said(data, "restore", "compare", "portal", code=1)
    assert f"products: {len(before):,} changed" in compared
    assert "  (active" in compared
    assert "campaigns: no difference" in compared

    record = said(
        data,
        *("restore", "record", "portal", "products", f"PRODUCT#{before[0].id}"),
        *("--by", BY, "--reason", "deleted by mistake"),
    )
    assert f"products {before[0].id} is as it was on" in record
    with open_store(data) as store:
        assert [product.id for product in store.run(portal.list_products()).items] == [before[0].id]
    assert "nothing is broken" in said(data, "audit", "verify")

    over = said(data, "restore", "cut-over", "portal")
    assert "tenants_restored has a stream of NEW_AND_OLD_IMAGES" in over
    assert "nothing is left to do" in said(data, "restore", "cut-over", "portal")
    with open_store(data) as store:
        assert store.run(portal.list_products()).items == before
    assert "nothing is broken" in said(data, "audit", "verify")
    assert "is still there" in said(data, "restore", "status", "portal")
    assert "nothing was deleted" in said(data, "restore", "finish", "portal", "--confirm", "other")
    deleted = said(data, "restore", "finish", "portal", "--confirm", "products")
    assert deleted == "deleted products\n"
    with Engine.open("portal.db") as engine:
        names = engine(Request("ListTables", {}))["TableNames"]
    assert "products" not in names and {"tenants", "tenants_restored"} <= set(names)


def test_drills_measure_and_report(data: str) -> None:
    with Engine.open("portal.db") as engine:
        before = engine(Request("ListTables", {}))["TableNames"]
    told = said(data, "drill", "pitr", "portal", "--environment", "dev")
    assert "| RTO |" in told and "Passed." in told
    with Engine.open("portal.db") as engine:
        assert engine(Request("ListTables", {}))["TableNames"] == before
    assert "There is no backup of portal in sit" in said(
        data, "drill", "backup", "portal", "--environment", "sit", code=1
    )
    said(data, "backup", "create", "portal", "--environment", "prod")
    out = ("--environment", "prod", "--out", "report.md")
    assert "Passed." in said(data, "drill", "backup", "portal", *out)
    report = Path("report.md").read_text()
    assert "< 2:00:00 |" in report and "<= 1:00:00 |" in report
    (written,) = Path("drills").iterdir()
    assert written.name == f"{datetime.now(UTC):%Y-%m-%d}-pitr-dev.md"


def test_a_drill_fails_on_what_is_wrong(data: str) -> None:
    with Engine.open("portal.db") as engine:
        scanned = engine(Request("Scan", {"TableName": "products"}))
        item = {**scanned["Items"][0], "price": {"N": "1"}}
        engine(Request("PutItem", {"TableName": "products", "Item": item}))
    said(data, "backup", "create", "portal", "--environment", "dev")
    told = said(data, "drill", "backup", "portal", "--environment", "dev", code=1)
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
        done = typed(*filled, *confirmed, store=data)
        assert done.exit_code == 0, done.output
    first = guide.partition("## Runbook: back from a backup")[2].partition("```sh\n")[2]
    said(data, "backup", "create", "portal", "--environment", "dev")
    for line in first.partition("```")[0].splitlines():
        assert typed(*line.split()[1:], store=data).exit_code == 0, line


def test_tables_with_replicas_and_protection_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = "file:portal.db"
    said(store, "tables", "create", "portal", "--environment", "prod")
    Path("tables.json").write_text("{}")
    monkeypatch.setenv("BIGTIME_TABLES", "tables.json")
    said(store, "restore", "portal")
    done = said(store, "restore", "cut-over", "portal")
    assert "tenants_restored has a replica in eu-west-1" in done
    assert "tenants_restored has deletion protection" in done
    assert "tenants_restored has 10 tags" in done
    assert said(store, "restore", "finish", "portal", "--confirm", "tenants") == "deleted tenants\n"
    assert "as declared" in said(store, "tables", "diff", "portal", "--environment", "prod")
