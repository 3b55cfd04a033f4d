"""`bigtime failover`, `failback`, `replica` and `drill region`: the runbook as it is typed."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.ops import Difference, regions
from bigtime.store import NotTheWriter, open_store
from bigtime.systems import portal
from bigtime.wire import Request
from tests.cli.program import invoke, server

BY = "admin@example.com"
HOME, AWAY = "af-south-1", "eu-west-1"
PROD = ("portal", "--environment", "prod")
ROOT = Path(__file__).parents[2]
TENANT = "TENANT#1"


@pytest.fixture(scope="module")
def template_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The portal's tables with some records, as prod runs them, in two regions."""
    folder = tmp_path_factory.mktemp("portal")
    store = f"file:{folder}/portal.db"
    assert f"the writer is {HOME} (epoch 1" in output_of(store, "tables", "create", *PROD)
    assert output_of(store, "tables", "create", *PROD) == "nothing is missing\n"
    with open_store(store, fence="portal") as database:
        fields = {"name": "Plan", "description": "A plan", "by": BY}
        cycle = portal.BillingCycle.MONTHLY
        database.run(portal.create_product(price=Decimal("99.99"), billing_cycle=cycle, **fields))
        database.run(portal.tenant_at_checkout("a@example.com"))
        engine = database.transport.transport  # type: ignore[attr-defined]
        engine.tidy()
    return folder


@pytest.fixture
def data(template_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "copy"
    shutil.copytree(template_folder, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("BIGTIME_TABLES", raising=False)
    monkeypatch.setattr(regions, "FENCE_SECONDS", 0.0)
    return "file:portal.db"


def output_of(store: str, *words: object, code: int = 0) -> str:
    done = invoke(*words, store=store)
    assert done.exit_code == code, done.output + str(done.exception)
    return done.output


def write_plain(store: str, value: str) -> None:
    """An item in one region, written by nobody's pattern."""
    item = {"PK": {"S": TENANT}, "SK": {"S": "NOTE"}, "note": {"S": value}}
    with open_store(store, fence="") as database:
        database.send(Request("PutItem", {"TableName": "codes", "Item": item}))


def test_a_replica_is_waited_for_where_it_is_made_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    is_active = regions.RegionSwitch.is_fence_active

    def is_active_late(switch: regions.RegionSwitch, region: str) -> bool:
        asked.append(region)
        return is_active(switch, region) and (region != HOME or asked.count(HOME) > 3)

    monkeypatch.setattr(regions.RegionSwitch, "is_fence_active", is_active_late)
    output_of(f"file:{tmp_path}/portal.db", "tables", "create", *PROD)
    assert asked.count(HOME) > 3


def test_the_runbook_is_what_is_typed(data: str) -> None:
    guide = (ROOT / "docs/operations.md").read_text()
    block = guide.partition("<!-- regions runbook -->\n```sh\n")[2].partition("```")[0]
    steps = [line.partition("#")[0].split() for line in block.splitlines()]
    outputs = [output_of(data, *step[1:]) for step in steps]
    assert "ACTIVE" in outputs[0] and "took" in outputs[0]
    assert f"{HOME} is fenced: nobody writes (epoch 2)" in outputs[1]
    assert f"the writer is {AWAY} (epoch 3" in outputs[1]
    assert "0 faults among" in outputs[1]
    assert "both regions have the same items" in outputs[2]
    assert f"the writer is {HOME} (epoch 5" in outputs[3]
    assert "nothing is broken" in outputs[4]


def test_a_lost_region_is_left_and_found_again(data: str) -> None:
    away = "file:portal.eu-west-1.db"
    for part in ("", "-wal", "-shm"):
        if Path(f"portal.db{part}").exists():
            Path(f"portal.db{part}").rename(f"lost.db{part}")
    refused = output_of(data, "failover", *PROD, "--fence", code=1)
    assert "does not answer" in refused and f"--to {AWAY} --stopped {HOME}`" in refused
    assert "bigtime failover portal --environment prod --to" in refused
    with open_store(away, fence="portal") as database, pytest.raises(NotTheWriter):
        database.run(portal.tenant_at_checkout("b@example.com"))
    done = output_of(data, "failover", *PROD, "--stopped", HOME)
    assert f"the writer is {AWAY} (epoch 2" in done
    assert f"the writer is {AWAY} (epoch 2" in output_of(data, "failover", *PROD, "--stopped", HOME)
    refused = output_of(data, "failback", *PROD, code=1)
    assert f"{HOME} does not answer; {AWAY} is the writer and continues" in refused
    with open_store(away, fence="portal") as database:
        database.run(portal.tenant_at_checkout("b@example.com"))
    write_plain(away, "new")
    shown = output_of(away, "replica", "status", *PROD, code=1)
    assert "no answer" in shown

    for part in ("", "-wal", "-shm"):
        if Path(f"lost.db{part}").exists():
            Path(f"lost.db{part}").rename(f"portal.db{part}")
    with Engine.open("portal.db", housekeeping=False) as late:  # it does not know the epoch yet
        item = {"PK": {"S": TENANT}, "SK": {"S": "NOTE"}, "note": {"S": "late"}}
        late(Request("PutItem", {"TableName": "codes", "Item": item}))
    found = output_of(data, "replica", "compare", *PROD, code=1)
    assert f"both wrote          codes  {TENANT} NOTE  (note)" in found
    assert "1 items were written by both regions" in found
    with open_store(data, fence="portal") as database, pytest.raises(NotTheWriter, match=AWAY):
        database.run(portal.tenant_at_checkout("c@example.com"))
    key = {"PK": {"S": TENANT}, "SK": {"S": "NOTE"}}
    with open_store(away, fence="") as database:
        database.send(Request("DeleteItem", {"TableName": "codes", "Key": key}))
    assert f"the writer is {HOME}" in output_of(data, "failback", *PROD)
    assert "nothing is broken" in output_of(data, "audit", "verify")


def test_a_switch_that_was_interrupted_goes_on(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(regions.RegionSwitch, "check_same", interrupt)
        invoke("failover", *PROD, "--fence", store=data)
    assert "the writer is nobody (epoch 2" in output_of(data, "replica", "status", *PROD)
    with open_store(data, fence="portal") as database, pytest.raises(NotTheWriter, match="soon"):
        database.run(portal.tenant_at_checkout("b@example.com"))
    assert f"the writer is {AWAY} (epoch 3" in output_of(data, "failover", *PROD, "--fence")


def test_a_drill_writes_a_report(data: str) -> None:
    report = output_of(data, "drill", "region", *PROD, "--out", "report.md")
    assert "# Drill: region of portal in prod" in report and "Passed." in report
    assert Path("report.md").read_text() in report
    assert f"the writer is {HOME} (epoch 1" in output_of(data, "replica", "status", *PROD)
    with open_store(data, fence="") as database:
        scanned = database.send(Request("Scan", {"TableName": "Writers"}))["Items"]
    assert [item["PK"]["S"] for item in scanned] == ["WRITER#portal"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("failover", *PROD), "two regions must not: say --fence"),
        (("failover", *PROD, "--fence", "--stopped", HOME), "if it is lost: not both"),
        (("failover", *PROD, "--stopped", AWAY), "It is af-south-1 that must not write"),
        (("failover", *PROD, "--stopped", "mars-1"), "mars-1 is no region of prod"),
        (("failover", *PROD, "--to", "us-east-1", "--fence"), "us-east-1 is no region of prod"),
        (("failover", "portal", "--environment", "dev", "--fence"), "dev has one region"),
        (("failover", "portal", "--environment", "moon", "--fence"), "no environment 'moon'"),
        (("failover", "moon", "--environment", "prod", "--fence"), "moon"),
        (("failover", *PROD, "--fence", "--store", "memory:"), "no second region that lasts"),
        (("failover", *PROD, "--fence", "--store", "dynamodb:us-east-1"), "is not where prod is"),
        (("failover", *PROD, "--fence", "--store", "file:none.db"), "does not answer"),
        (("failback", *PROD, "--store", "http://127.0.0.1:1"), "cannot be reached"),
        (("replica", "status", "portal", "--environment", "sit"), "sit has one region"),
        (("replica", "compare", *PROD, "--store", "file:none.db"), "does not answer"),
        (
            ("replica", "status", *PROD, "--store", "file:none.db"),
            "file:none.db does not answer: there is no file none.db or none.eu-west-1.db",
        ),
        (("drill", "region", "portal", "--environment", "dev"), "dev has one region"),
    ],
)
def test_bad_input_gets_a_sentence(data: str, words: tuple[object, ...], sentence: str) -> None:
    done = invoke(*words, store=data)
    assert done.exit_code in (1, 2), done.output
    assert sentence in done.output.replace("\n", " "), done.output
    assert "Traceback" not in done.output


def test_an_endpoint_is_asked_for_each_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regions, "FENCE_SECONDS", 0.0)
    with server("--data", tmp_path / "engine.db", "--durability", "relaxed") as running:
        url = running.url
        assert f"the writer is {HOME} (epoch 1" in output_of(url, "tables", "create", *PROD)
        shown = output_of(url, "replica", "status", *PROD)
        assert f"a write in {HOME} took" in shown
        assert f"the writer is {AWAY} (epoch 3" in output_of(url, "failover", *PROD, "--fence")
        monkeypatch.setenv("AWS_DEFAULT_REGION", HOME)
        with open_store(url, fence="portal") as database, pytest.raises(NotTheWriter):
            database.run(portal.tenant_at_checkout("b@example.com"))
        monkeypatch.setenv("AWS_DEFAULT_REGION", AWAY)
        with open_store(url, fence="portal") as database:
            database.run(portal.tenant_at_checkout("b@example.com"))
        assert f"the writer is {HOME} (epoch 5" in output_of(url, "failback", *PROD)
        assert "both regions have the same items" in output_of(url, "replica", "compare", *PROD)


def test_regions_that_differ_are_not_switched_unless_that_is_accepted(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = Difference("orders", f"only in {HOME}", {"PK": {"S": "ORDER#1"}})
    monkeypatch.setattr(regions, "SAME_SECONDS", 0.0)
    monkeypatch.setattr(regions, "compare_items", lambda *_: iter([lacking]))
    refused = output_of(data, "failover", *PROD, "--fence", code=1)
    assert "1 items differ between af-south-1 and eu-west-1, so nobody writes yet" in refused
    listed = output_of(data, "replica", "compare", *PROD, code=1)
    assert f"only in {HOME}  orders  ORDER#1" in listed
    done = output_of(data, "failover", *PROD, "--fence", "--accept-differences")
    assert f"1 items differ\nthe writer is {AWAY} (epoch 3" in done
