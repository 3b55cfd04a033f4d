"""What a month costs: the sums of a design document, its real units, and all beside requests."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.advisor import Load, LoadError, UnknownPrice, budget_of, cost_report, read_load
from bigtime.advisor.prices import price_lists, rate
from bigtime.systems import portal
from tests.cli.program import invoke

FILE = Path(__file__).parents[2] / "docs" / "examples" / "portal_load.toml"
DEV, SIT, PROD = portal.SYSTEM.environments
CENT = Decimal("0.01")


def month() -> Load:
    return read_load(FILE)


def test_the_stated_month_costs_cents_and_not_hundreds_of_dollars() -> None:
    report = cost_report(portal.SYSTEM, month(), environment=PROD)
    right = [line.stated for line in report.requests]
    assert right == [*map(Decimal, (
        "0.25", "0.0025", "0.025", "0.125", "0.0625", "0.000625", "0.25",
    ))]  # fmt: skip
    assert sum(filter(None, right)) == Decimal("0.715625")
    assert sum(line.stated_dollars or 0 for line in report.requests) == Decimal("715.62")
    assert report.remarks[0] == (
        "The stated requests come to $0.715625, not $715.62, which is 1,000 times as much: $0.25"
        " and $1.25 are the prices of a million units."
    )


@pytest.mark.parametrize(
    ("region", "on", "reads", "dollars"),
    [
        ("us-east-1", date(2024, 10, 31), "strong", "0.72"),
        ("us-east-1", None, "strong", "0.36"),
        ("eu-west-1", None, "strong", "0.40"),
        ("af-south-1", None, "strong", "0.48"),
        ("us-east-1", date(2024, 10, 31), "eventual", "0.58"),
        ("us-east-1", None, "eventual", "0.29"),
        ("eu-west-1", None, "eventual", "0.33"),
        ("af-south-1", None, "eventual", "0.39"),
    ],
)
def test_the_stated_units_at_the_prices_of_regions_and_days(
    region: str, on: date | None, reads: str, dollars: str
) -> None:
    load = month().model_copy(update={"reads": reads})
    report = cost_report(portal.SYSTEM, load, region=region, on=on)
    stated = sum((line.stated_now or Decimal(0) for line in report.requests), Decimal(0))
    assert stated.quantize(CENT) == Decimal(dollars)


def test_the_real_units_are_those_that_explain_finds() -> None:
    report = cost_report(portal.SYSTEM, month(), environment=PROD)
    writes = {line.name: line.write_units / line.runs for line in report.requests}
    assert writes["tenant writes"] == 9
    assert writes["order writes"] == 10
    assert sum(line.write_units for line in report.requests) == 1_457_000
    spent = rate("af-south-1").dollars(0, 1_457_000)
    assert spent.quantize(CENT) == Decimal("1.23")


def test_a_replica_takes_each_write_once_and_no_doubling() -> None:
    report = cost_report(portal.SYSTEM, month(), environment=PROD)
    by_name = {line.name: line for line in report.requests}
    # The tenant, its marker, its audit entry, and the tenant in three indexes.
    assert by_name["tenant writes"].replicated_units == 50_000 * 6
    replication = [line for line in report.others if line.group == "replication"]
    assert [line.name for line in replication] == [
        "replicated writes in eu-west-1", "transfer of writes to eu-west-1",
    ]  # fmt: skip


def test_hourly_backups_of_ninety_days_are_2160_full_copies_in_both_regions() -> None:
    report = cost_report(portal.SYSTEM, month(), environment=PROD)
    backups = [line for line in report.others if line.group == "backups"]
    assert [(line.amount, line.dollars) for line in backups] == [
        ("2,160 copies of 10 GB", 21_600 * rate("af-south-1").price("backup")),
        ("2,160 copies of 10 GB", 21_600 * rate("eu-west-1").price("backup")),
        ("7,200 GB", Decimal("1058.4")),
    ]
    assert [line.estimated for line in backups] == [True, False, False]


def test_a_month_over_the_alert_of_its_budget_is_warned_of() -> None:
    report = cost_report(portal.SYSTEM, month(), environment=PROD)
    assert report.warnings == (
        "This is 127 % of the budget of $5,000 a month; the alert is at 80 %, $4,000.",
    )
    assert cost_report(portal.SYSTEM, month(), environment=DEV).warnings == ()
    assert report.estimates["DynamoDB"] == 800 and sum(report.estimates.values()) == 2_100
    assert sum(report.groups.values()) == report.total
    budgets = [budget_of(each) for each in (DEV, SIT, PROD)]
    assert [each.limit for each in budgets if each] == [500, 1_000, 5_000]
    assert [int(each.alert) for each in budgets if each] == [400, 800, 4_000]


def test_storage_and_streams_have_a_free_part() -> None:
    load = Load(gigabytes=Decimal(35), stream_gigabytes=Decimal(50))
    report = cost_report(portal.SYSTEM, load, region="eu-west-1")
    assert [(line.name, line.dollars) for line in report.others] == [
        ("storage in eu-west-1", Decimal("2.830")),
        ("streams", 0),
    ]


def test_without_a_load_each_pattern_runs_a_million_times() -> None:
    report = cost_report(portal.SYSTEM)
    assert {line.name for line in report.requests} == {*portal.SYSTEM.patterns}
    assert report.others == () and "validate_tenant" in report.remarks[0]


def test_every_price_of_every_list_is_there_and_says_if_it_is_estimated() -> None:
    for listed in price_lists():
        for found in listed.rates.values():
            assert len(found.others) == 7 and found.estimates <= {"read", "write", *found.others}
    assert rate("eu-west-1").estimates.isdisjoint({"read", "write", "storage", "pitr"})
    with pytest.raises(UnknownPrice, match="has no price 'lunch' of eu-west-1; it has read, wri"):
        rate("eu-west-1").price("lunch")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("load.toml", "gigabytes = -1", "gigabytes: Input should be greater than or equal to 0"),
        ("load.toml", "gigabites = 1", "gigabites: Extra inputs are not permitted"),
        ("load.toml", "[[requests]]\nname = 'x'\nruns = 1", "say which `pattern` runs"),
        ("load.toml", "[[", "is no TOML"),
        ("load.json", "{", "is no JSON"),
        ("load.json", "[]", "the file: Input should be"),
    ],
)
def test_a_wrong_load_is_refused_with_the_place(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(LoadError, match=problem):
        read_load(file)


def test_the_program_shows_it() -> None:
    shown = invoke("cost", "portal", "--environment", "prod", "--load", str(FILE))
    assert shown.exit_code == 0, shown.output
    for text in ("portal in prod, af-south-1 and eu-west-1: $6,358.86 a month", "0.715625"):
        assert text in shown.output
    as_json = invoke("cost", "portal", "--on", "2024-10-31", "--load", str(FILE), "--json")
    report = json.loads(as_json.output)
    assert sum(Decimal(line["stated_now"]) for line in report["requests"]) == Decimal("0.715625")
    assert report["environment"] is None and len(report["rates"]) == 1


def test_the_program_refuses_with_a_sentence(tmp_path: Path) -> None:
    load = tmp_path / "load.toml"
    load.write_text("[[requests]]\nname = 'x'\npattern = 'nothing'\nruns = 1")
    for arguments, said in (
        (["--environment", "moon"], "has no environment 'moon'; it has dev, sit, prod."),
        (["--region", "mars-1"], "has no region 'mars-1'"),
        (["--on", "2020-01-01"], "the oldest is of 2024-10-31."),
        (["--load", str(load)], "x: system portal has no pattern 'nothing'"),
        (["--load", str(tmp_path / "none.toml")], "cannot be read: No such file or directory."),
    ):
        refused = invoke("cost", "portal", *arguments)
        assert refused.exit_code == 2 and said in refused.output, refused.output
