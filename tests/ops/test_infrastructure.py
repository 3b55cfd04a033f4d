"""The repository that `bigtime infra` writes: complete, the same each time, and checked in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bigtime.model import DesignError, Entity, Environment, Keys, System, Table, global_index
from bigtime.ops import EditedFiles, infrastructure, write_infrastructure
from bigtime.site import SYSTEMS
from bigtime.systems import deals, portal
from tests.cli.program import invoke
from tests.nested import nested_pytest, without_plugins

COMMITTED = Path(__file__).parents[2] / "deploy" / "portal"
TREE = """
schemas/tenants/tenant.schema.json schemas/tenants/README.md
schemas/products/product.schema.json schemas/products/README.md
schemas/campaigns/campaign.schema.json schemas/campaigns/README.md
terraform/modules/dynamodb_table/main.tf terraform/modules/dynamodb_table/variables.tf
terraform/modules/dynamodb_table/outputs.tf terraform/modules/dynamodb_table/README.md
terraform/modules/gsi/main.tf terraform/modules/gsi/variables.tf terraform/modules/gsi/outputs.tf
terraform/modules/backup/main.tf terraform/modules/backup/variables.tf
terraform/modules/backup/outputs.tf
terraform/dev/main.tf terraform/dev/variables.tf terraform/dev/outputs.tf terraform/dev/dev.tfvars
terraform/sit/main.tf terraform/sit/variables.tf terraform/sit/outputs.tf terraform/sit/sit.tfvars
terraform/prod/main.tf terraform/prod/variables.tf terraform/prod/outputs.tf
terraform/prod/prod.tfvars
.github/workflows/validate-schemas.yml .github/workflows/terraform-plan.yml
.github/workflows/terraform-apply-dev.yml .github/workflows/terraform-apply-sit.yml
.github/workflows/terraform-apply-prod.yml
tests/test_schemas.py tests/test_terraform.py scripts/validate_schemas.py README.md
"""
WORKFLOWS = sorted(
    name.removeprefix(".github/workflows/") for name in TREE.split() if name.endswith(".yml")
)


def test_it_is_what_is_committed() -> None:
    """Write it anew with `bigtime infra portal --out deploy/portal`."""
    committed = {
        path.relative_to(COMMITTED).as_posix(): path.read_text()
        for path in COMMITTED.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert infrastructure(portal.SYSTEM) == committed


def test_it_has_every_file_that_was_asked_for() -> None:
    files = infrastructure(portal.SYSTEM)
    assert [name for name in TREE.split() if name not in files] == []
    for name in ("order.schema.json", "audit-entry.schema.json", "one-time-code.schema.json"):
        assert any(path.endswith(name) for path in files)


def test_writing_it_again_changes_nothing(tmp_path: Path) -> None:
    first = invoke("infra", "portal", "--out", tmp_path / "out")
    assert first.exit_code == 0
    assert "wrote terraform/prod/prod.tfvars\n" in first.stdout
    (tmp_path / "out" / "NOTES.md").write_text("mine")
    assert invoke("infra", "portal", "--out", tmp_path / "out").stdout == "nothing has changed\n"
    (tmp_path / "out" / "README.md").unlink()
    again = invoke("infra", "portal", "--out", tmp_path / "out")
    assert again.stdout == "wrote README.md\n"
    assert (tmp_path / "out" / "NOTES.md").read_text() == "mine"


def test_a_file_that_was_edited_is_not_written_over(tmp_path: Path) -> None:
    write_infrastructure(portal.SYSTEM, tmp_path)
    main, values = (tmp_path / "terraform" / "dev" / name for name in ("main.tf", "dev.tfvars"))
    main.write_text("mine")
    values.unlink()
    done = invoke("infra", "portal", "--out", tmp_path)
    assert done.exit_code == 1
    assert f"{main}: not as `bigtime infra` noted" in done.stderr
    assert "--overwrite" in done.stderr
    assert main.read_text() == "mine"
    assert not values.exists()
    again = invoke("infra", "portal", "--out", tmp_path, "--overwrite")
    assert again.stdout == "wrote terraform/dev/main.tf\nwrote terraform/dev/dev.tfvars\n"
    assert invoke("infra", "portal", "--out", tmp_path).stdout == "nothing has changed\n"


def test_what_other_declarations_wrote_is_written_over(tmp_path: Path) -> None:
    write_infrastructure(portal.portal(duplicate_index=False), tmp_path)
    written = write_infrastructure(portal.SYSTEM, tmp_path)
    assert {"terraform/dev/main.tf", "infrastructure.sha256"} < set(written)
    assert write_infrastructure(portal.SYSTEM, tmp_path) == []


def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"my own \xff")
    with pytest.raises(EditedFiles, match=r"README\.md"):
        write_infrastructure(portal.SYSTEM, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = invoke("infra", "portal", "--out", tmp_path / "file")
    assert done.exit_code == 1
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("system", [*SYSTEMS, portal.portal(duplicate_index=False)])
def test_every_system_has_one_that_is_formatted(system: System, tmp_path: Path) -> None:
    if not shutil.which("terraform"):
        pytest.skip("terraform is not installed")
    write_infrastructure(system, tmp_path)
    command = ["terraform", "fmt", "-check", "-diff", "-recursive", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("system", [portal.SYSTEM, deals.SYSTEM], ids=lambda system: system.name)
def test_its_own_tests_of_schemas_pass(system: System, tmp_path: Path) -> None:
    write_infrastructure(system, tmp_path)
    done = subprocess.run(
        nested_pytest("tests/test_schemas.py", plugins=()),
        cwd=tmp_path,
        env=without_plugins(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_names_of_the_environment_are_in_its_variables() -> None:
    values = infrastructure(portal.SYSTEM)["terraform/prod/prod.tfvars"]
    for line in (
        'account                     = "093646564004"',
        'dr_region                   = "eu-west-1"',
        'backup_vault                = "bbws-backup-vault-prod"',
        'backup_plan                 = "bbws-dynamodb-prod-hourly"',
        'backup_selection            = "bbws-dynamodb-prod-selection"',
        'backup_schedule             = "cron(0 * * * ? *)"',
        "deletion_protection_enabled = true",
        'alert_topic                 = "bbws-dynamodb-alerts-prod"',
    ):
        assert line in values.splitlines()


def test_keys_of_several_attributes_are_refused() -> None:
    table = Table("visits", "id", indexes=[global_index("by-place", ["town", "street"])])

    class Visit(Entity, table=table):
        keys = Keys(main="{id}", **{"by-place": (("{town}", "{street}"), ())})
        id: str
        town: str
        street: str

    with pytest.raises(DesignError, match="has no keys of several attributes"):
        infrastructure(System("visits", (table,)))


def test_values_are_quoted(tmp_path: Path) -> None:
    there = Environment("dev", "af-south-1", tags={"Note": 'a "${b}" %{c}', "cost-center": "1"})
    files = infrastructure(System("shop", (deals.SYSTEM.tables[0],), environments=(there,)))
    assert r'Note          = "a \"$${b}\" %%{c}"' in files["terraform/dev/dev.tfvars"]
    assert '"cost-center" = "1"' in files["terraform/dev/dev.tfvars"]
    assert 'ENVIRONMENTS = ("dev",)' in files["scripts/validate_schemas.py"]


# Workflows


def workflow(name: str) -> dict[Any, Any]:
    document = yaml.safe_load(infrastructure(portal.SYSTEM)[f".github/workflows/{name}"])
    assert isinstance(document, dict)
    return document


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_and_no_key_lives_long(name: str) -> None:
    for step in steps(name):
        assert "uses" not in step or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])
        assert "access-key" not in str(step)
    if "terraform" in name:
        assert workflow(name)["permissions"]["id-token"] == "write"
        assert all("concurrency" in part for part in concurrent_parts(name))


def concurrent_parts(name: str) -> list[dict[Any, Any]]:
    found = workflow(name)
    return [found] if "concurrency" in found else list(found["jobs"].values())


def test_what_starts_them() -> None:
    # YAML reads the key `on` as true.
    assert workflow("terraform-apply-dev.yml")[True]["push"]["branches"] == ["main"]
    sit = workflow("terraform-apply-sit.yml")[True]
    assert sit["workflow_run"]["workflows"] == [workflow("terraform-apply-dev.yml")["name"]]
    prod = workflow("terraform-apply-prod.yml")[True]
    assert list(prod) == ["workflow_dispatch"]
    assert prod["workflow_dispatch"]["inputs"]["commit"]["required"] is True
    plan = workflow("terraform-plan.yml")
    assert plan["jobs"]["plan"]["strategy"]["matrix"]["environment"] == ["dev", "sit", "prod"]
    assert plan[True]["pull_request"]["paths"] == ["terraform/**", "schemas/**"]


@pytest.mark.parametrize("name", ["dev", "sit", "prod"])
def test_each_is_applied_in_an_environment_of_its_own(name: str) -> None:
    assert workflow(f"terraform-apply-{name}.yml")["jobs"]["apply"]["environment"] == name


def test_prod_refuses_a_loss_and_takes_a_backup_before_it_is_applied() -> None:
    names = [step.get("name") for step in steps("terraform-apply-prod.yml")]
    refuse, back_up, apply = map(
        names.index,
        ("Refuse to lose a table", "Back up the tables that are there", "Apply the plan"),
    )
    assert refuse < back_up < apply
    assert names[-1] == "Check that the alarms are armed"


def test_the_lines_that_need_no_cloud_run(tmp_path: Path) -> None:
    write_infrastructure(portal.SYSTEM, tmp_path)
    lines = [step["run"] for step in steps("validate-schemas.yml") if "run" in step]
    assert lines[0] == "python scripts/validate_schemas.py schemas/"
    command = [sys.executable, *lines[0].split()[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "6 files, 0 errors, 0 warnings\n")
    if shutil.which("bash"):
        for name in WORKFLOWS:
            for step in steps(name):
                script = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
                done = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
                assert done.returncode == 0, script
