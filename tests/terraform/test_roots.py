"""The portal's Terraform: planned as declared, applied, planned without a change, destroyed.

What crashes the provider when moto answers it (a backup selection, an anomaly monitor) or what moto
does not know (the region settings of AWS Backup) is planned, and not applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.model import Environment
from bigtime.ops import write_infrastructure
from bigtime.systems.portal import SYSTEM
from tests.cli.program import server, typed
from tests.terraform import conftest

pytestmark = pytest.mark.terraform

TABLES = [table.name for table in SYSTEM.tables]
PROVIDER = """
provider "aws" {{
{alias}  access_key                  = "local"
  secret_key                  = "local"
  skip_metadata_api_check     = true
  endpoints {{
{endpoints}
  }}
}}
"""
LOCAL_STATE = 'terraform {\n  backend "local" {}\n}\n'
PLAN_ONLY = """
resource "aws_backup_selection" "this" {
  count = 0
}

resource "aws_backup_region_settings" "this" {
  count = 0
}
"""


class Root(conftest.Terraform):
    """An environment's root on an engine and on moto's server, with its state in its folder."""

    def __init__(self, folder: Path, there: Environment, engine: str, moto: str) -> None:
        write_infrastructure(SYSTEM, folder)
        self.modules = folder / "terraform" / "modules"
        self.there = there
        self.url = engine
        self.endpoints = conftest.endpoints(engine, moto)
        self.folder = folder / "terraform" / there.name
        aliases = ["", *(f'  alias = "{name.replace("-", "_")}"\n' for name in there.regions[1:])]
        providers = [PROVIDER.format(alias=alias, endpoints=self.endpoints) for alias in aliases]
        (self.folder / "override.tf").write_text("".join([LOCAL_STATE, *providers]))
        self.initialise()

    def plan(self) -> dict[str, Any]:
        self.run("plan", "-no-color", "-input=false", f"-var-file={self.there.name}.tfvars",
                 "-var=anomaly_detection=true", '-var=alert_emails=["ops@example.com"]', "-out=plan")
        plan: dict[str, Any] = json.loads(self.run("show", "-json", "plan"))
        return plan


def planned(plan: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What the resources of a kind will be."""
    return [
        change["change"]["after"]
        for change in plan["resource_changes"]
        if change["type"] == kind and change["mode"] == "managed"
    ]
