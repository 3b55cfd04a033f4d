"""`bigtime environments`, and tables as an environment wants them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from typer.main import get_command

from bigtime.cli.app import app
from bigtime.engine import Engine
from bigtime.wire import Request
from tests.cli.program import invoke


def test_the_matrix_is_shown() -> None:
    shown = invoke("environments", "portal")
    assert shown.exit_code == 0
    lines = {
        cells[0]: cells[1:]
        for line in shown.stdout.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("│┃ ").split("│")]) == 4
    }
    assert lines["account"] == ["536580886816", "815856636111", "093646564004"]
    assert lines["replica"] == ["-", "-", "eu-west-1"]
    assert lines["kept for"] == ["7 days", "14 days", "90 days"]
    assert lines["alert at"] == ["$400", "$800", "$4,000"]
    assert lines["estimate a month"] == ["$65", "$130", "$2,100"]
    assert lines["tag LLD"] == ["-", "-", "2.1.8"]


def test_a_system_without_environments_says_how_to_declare_them() -> None:
    shown = invoke("environments", "cart")
    assert shown.exit_code == 1
    assert "cart declares no environment" in shown.stderr


def test_tables_are_made_and_compared_as_the_environment_says(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'portal.db'}"
    made = invoke("tables", "create", "portal", "--environment", "prod", store=store)
    assert made.exit_code == 0, made.output
    assert "set a replica in eu-west-1 of tenants" in made.stdout
    assert invoke("tables", "diff", "portal", "--environment", "prod", store=store).exit_code == 0
    again = invoke("tables", "create", "portal", "--environment", "prod", store=store)
    assert again.stdout == "nothing is missing\n"
    with Engine.open(tmp_path / "portal.db") as engine:
        table = engine(Request("DescribeTable", {"TableName": "tenants"}))["Table"]
    assert table["DeletionProtectionEnabled"]
    assert table["SSEDescription"]["SSEType"] == "KMS"
    plain = invoke("tables", "diff", "portal", store=store)
    assert plain.exit_code == 1
    assert "protected against deletion, and not declared so" in plain.stdout
    in_dev = invoke("tables", "diff", "portal", "--environment", "dev", store=store)
    assert "extra    tenants: it has a replica in eu-west-1 that is not declared" in in_dev.stdout


def test_existing_tables_get_the_settings_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"file:{tmp_path / 'portal.db'}"
    assert invoke("tables", "create", "portal", store=store).exit_code == 0
    monkeypatch.setenv("BIGTIME_ENVIRONMENT", "prod")
    found = invoke("tables", "diff", "portal", store=store)
    assert found.exit_code == 1
    assert "missing  tenants: it has no tag DR=enabled; tag it" in found.stdout
    assert "missing  audit: it has no replica in eu-west-1; add it" in found.stdout
    made = invoke("tables", "create", "portal", store=store)
    assert "set deletion protection of codes" in made.stdout
    assert "set encryption of tenants" in made.stdout
    assert invoke("tables", "diff", "portal", store=store).exit_code == 0


def test_an_unknown_environment_is_named(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'portal.db'}"
    asked = invoke("tables", "diff", "portal", "--environment", "qa", store=store)
    assert asked.exit_code == 2
    assert "has no environment 'qa'; it has dev, sit, prod" in asked.stderr


@pytest.fixture
def some_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")


AWS = ("--store", "dynamodb:af-south-1")
TYPED_VERBS = {
    "analytics rebuild": ("--lake", "lake"),
    "archive": ("portal", "--out", "archive"),
    "audit anchor": ("anchor.json", "--key", "a key of thirty-two characters, or so"),
    "audit verify": (),
    "backfill": ("portal",),
    "backup create": ("portal",),
    "backup restore": ("portal",),
    "backup run": ("portal",),
    "consume": ("portal",),
    "data dump": ("dump", "--system", "portal"),
    "dead-letters list": ("portal",),
    "dead-letters retry": ("portal",),
    "demo load": ("--system", "portal"),
    "drill pitr": ("portal",),
    "drill region": ("portal",),
    "failback": ("portal",),
    "failover": ("portal",),
    "move": ("portal", "--entity", "Tenant"),
    "remind": ("--url", "https://portal.example"),
    "repair": ("portal",),
    "replica compare": ("portal",),
    "replica status": ("portal",),
    "restore abandon": ("portal",),
    "restore compare": ("portal",),
    "restore cut-over": ("portal", "--tables", "tables.json"),
    "restore finish": ("portal", "--tables", "tables.json"),
    "restore record": ("portal", "tenants", "TENANT#1", "--by", "admin@example.com"),
    "restore status": ("portal",),
    "restore to": ("portal",),
    "run": ("portal.count_tenants",),
    "search rebuild": ("portal",),
    "search status": ("portal",),
    "serve": (),
    "tables create": ("portal",),
    "tables diff": ("portal",),
    "verify": ("portal",),
}
"""Each verb with a store, and what else is typed."""

NO_SYSTEM = {"data load", "import table"}
"""They take any table, so no environment is known that it is in."""

ONLY_THE_INDEX = {"search find"}
"""The store tells where its index is, and is not opened."""


def verbs_with_store(command: Any, name: str = "") -> Iterator[str]:
    for verb, inner in getattr(command, "commands", {}).items():
        yield from verbs_with_store(inner, f"{name} {verb}".strip())
    if any("--store" in option.opts for option in command.params):
        yield name


def test_every_verb_with_a_store_is_tried_with_another_account() -> None:
    assert {*verbs_with_store(get_command(app))} == {*TYPED_VERBS} | NO_SYSTEM | ONLY_THE_INDEX


@pytest.mark.usefixtures("some_account")
@pytest.mark.parametrize("verb", TYPED_VERBS)
def test_another_account_is_refused(
    verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_refused(monkeypatch, tmp_path, *verb.split(), *TYPED_VERBS[verb], *AWS)


@pytest.mark.usefixtures("some_account")
@pytest.mark.parametrize(
    ("source", "target"),
    [("dynamodb:af-south-1", "file:copy.db"), ("file:portal.db", "dynamodb:af-south-1")],
)
def test_a_migration_is_refused_in_another_account(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "portal.db").touch()
    check_refused(
        *(monkeypatch, tmp_path, "migrate", "--system", "portal"),
        *("--from", source, "--to", target),
    )


def check_refused(monkeypatch: pytest.MonkeyPatch, folder: Path, *command: str) -> None:
    monkeypatch.setenv("BIGTIME_ENVIRONMENT", "prod")
    monkeypatch.chdir(folder)
    (folder / "lake").mkdir(exist_ok=True)
    before = {*folder.iterdir()}
    with mock_aws():
        asked = invoke(*command)
    assert asked.exit_code == 2
    assert asked.stderr == (
        "The credentials are for account 123456789012, and prod is account 093646564004: choose"
        " the profile or role of prod.\n"
    )
    assert {*folder.iterdir()} == before


def test_where_no_account_is_declared_or_known_a_verb_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIGTIME_ENVIRONMENT", "prod")
    store = f"file:{tmp_path / 'portal.db'}"
    assert invoke("tables", "create", "portal", store=store).exit_code == 0
    assert invoke("run", "portal.count_tenants", store=store).exit_code == 0
    assert invoke("demo", "load", "--system", "cart", store=store).exit_code == 0


@pytest.mark.usefixtures("some_account")
def test_another_region_is_refused() -> None:
    asked = invoke(
        *("tables", "create", "portal", "--environment", "dev", "--store", "dynamodb:eu-west-1")
    )
    assert asked.exit_code == 2
    assert "dynamodb:eu-west-1 is not where dev is" in asked.stderr


def test_without_credentials_the_account_is_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    asked = invoke(
        *("tables", "diff", "portal", "--environment", "dev", "--store", "dynamodb:af-south-1")
    )
    assert asked.exit_code == 2
    assert "AWS does not tell whose credentials these are" in asked.stderr
