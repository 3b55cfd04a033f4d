"""Terraform and the AWS provider, if this machine has them, and an engine for them to work on.

The provider comes from a folder on this machine, laid out as Terraform's filesystem mirror:
`TF_PLUGIN_MIRROR`, or `/opt/tf-plugins`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.cli.program import server

MIRROR = Path(os.environ.get("TF_PLUGIN_MIRROR", "/opt/tf-plugins"))
PROVIDER = "registry.terraform.io/hashicorp/aws"
REGION = "us-east-1"

SETTINGS = """
terraform {{
  required_providers {{
    aws = {{ source = "hashicorp/aws" }}
  }}
}}

provider "aws" {{
  region                      = "{region}"
  access_key                  = "local"
  secret_key                  = "local"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  endpoints {{ dynamodb = "{url}" }}
}}
"""
MIRRORED = """
provider_installation {{
  filesystem_mirror {{
    path = "{mirror}"
  }}
}}
"""


def why_not() -> str | None:
    """Why Terraform cannot be run here."""
    if not shutil.which("terraform"):
        return "terraform is not installed"
    if not (MIRROR / PROVIDER).is_dir():
        return f"Terraform's provider for AWS is not in {MIRROR}"
    return None


class Terraform:
    """A folder with a configuration, applied to an engine's endpoint."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        (folder / "settings.tf").write_text(SETTINGS.format(region=REGION, url=url))
        rc = folder / "terraform.rc"
        rc.write_text(MIRRORED.format(mirror=MIRROR))
        self.environment = {
            **os.environ,
            "TF_CLI_CONFIG_FILE": str(rc),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
        }
        self.run("init", "-no-color")

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    def apply(self, configuration: str) -> None:
        (self.folder / "main.tf").write_text(configuration)
        self.run("apply", "-auto-approve", "-no-color", "-input=false")

    def changes(self) -> list[Any]:
        """What a plan would change now."""
        self.run("plan", "-no-color", "-input=false", "-out=plan")
        plan = json.loads(self.run("show", "-json", "plan"))
        return [
            change
            for change in plan.get("resource_changes", [])
            if change["change"]["actions"] != ["no-op"]
        ]

    def destroy(self) -> None:
        self.run("destroy", "-auto-approve", "-no-color", "-input=false")

    def client(self, region: str = REGION) -> Any:
        """A boto3 client of the same engine."""
        create: Any = boto3.client
        return create(
            "dynamodb",
            endpoint_url=self.url,
            region_name=region,
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )


@pytest.fixture
def terraform(tmp_path: Path) -> Iterator[Terraform]:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path / "terraform"
    folder.mkdir()
    with server("--data", tmp_path / "engine.db", "--durability", "relaxed") as running:
        yield Terraform(folder, running.url)
