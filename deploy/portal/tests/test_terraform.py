"""The Terraform of every environment: formatted, valid, and never planned to lose a table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TERRAFORM = ROOT / "terraform"
ENVIRONMENTS = sorted(path.parent.name for path in TERRAFORM.glob("*/main.tf"))
needs_terraform = pytest.mark.skipif(
    shutil.which("terraform") is None, reason="terraform is not installed"
)


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}
    command = ["terraform", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@needs_terraform
def test_the_files_are_formatted() -> None:
    done = run("fmt", "-check", "-recursive", folder=TERRAFORM)
    assert done.returncode == 0, done.stdout


@needs_terraform
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_files_are_valid(environment: str, tmp_path: Path) -> None:
    shutil.copytree(TERRAFORM, tmp_path / "terraform")
    folder = tmp_path / "terraform" / environment
    if run("init", "-backend=false", "-input=false", folder=folder).returncode:
        pytest.skip("the provider cannot be fetched")
    done = run("validate", "-no-color", folder=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("actions", "code"), [(["no-op"], 0), (["update"], 0), (["delete", "create"], 1)]
)
def test_a_plan_that_destroys_a_table_is_refused(
    actions: list[str], code: int, tmp_path: Path
) -> None:
    change = {"address": "module.orders", "type": "aws_dynamodb_table"}
    plan = {"resource_changes": [{**change, "change": {"actions": actions}}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    command = [sys.executable, ROOT / "scripts" / "check_plan.py", tmp_path / "plan.json"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code
