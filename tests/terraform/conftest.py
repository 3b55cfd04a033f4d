"""Terraform and the AWS provider, if this machine has them, and an engine for them to work on.

Whatever is not DynamoDB (KMS, IAM, Backup, CloudWatch) is answered by moto's server.

The provider comes from a folder on this machine, laid out as Terraform's filesystem mirror:
`TF_PLUGIN_MIRROR`, or `/opt/tf-plugins`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
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
  skip_metadata_api_check     = true
  skip_region_validation      = true
  endpoints {{
{endpoints}
  }}
}}
"""
ELSEWHERE = (
    *("backup", "budgets", "cloudwatch", "iam", "kinesis", "kms", "route53", "s3", "sns", "sts"),
)
"""The services that the provider asks beside DynamoDB."""
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
    if not find_spec("flask"):
        return "moto's server is not installed"
    return None


def endpoints(engine: str, moto: str) -> str:
    """The lines of a block `endpoints`."""
    places = {"dynamodb": engine, **dict.fromkeys(ELSEWHERE, moto)}
    return "\n".join(f'    {service} = "{place}"' for service, place in places.items())


class Terraform:
    """A folder with a configuration, applied to an engine's endpoint."""

    def __init__(self, folder: Path, url: str, moto: str) -> None:
        self.folder = folder
        self.url = url
        self.endpoints = endpoints(url, moto)
        (folder / "settings.tf").write_text(
            SETTINGS.format(region=REGION, endpoints=self.endpoints)
        )
        self.initialise()

    def initialise(self) -> None:
        rc = self.folder / "terraform.rc"
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
            timeout=600,
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


@contextmanager
def moto_server(account: str = "123456789012") -> Iterator[str]:
    """The URL of moto's server, for an account; ended afterwards."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-p", str(port)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "MOTO_ACCOUNT_ID": account, "MOTO_IAM_LOAD_MANAGED_POLICIES": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(300):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("moto's server did not start")


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """For the engine's own account, so that ARNs are the same in both."""
    skip_without_terraform()
    with moto_server("000000000000") as url:
        yield url


def skip_without_terraform() -> None:
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture
def s3(tmp_path: Path) -> Path:
    """The folder that stands for S3 in the engine."""
    folder = tmp_path / "s3"
    folder.mkdir()
    return folder


@pytest.fixture
def terraform(tmp_path: Path, moto: str, s3: Path) -> Iterator[Terraform]:
    folder = tmp_path / "terraform"
    folder.mkdir()
    data = tmp_path / "engine.db"
    with server("--data", data, "--s3", s3, "--durability", "relaxed") as running:
        yield Terraform(folder, running.url, moto)
