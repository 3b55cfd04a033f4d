"""`bigtime` alone is engine, kit and store; what more a part needs is named when it is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from bigtime.extras import extra

TUTORIAL = Path(__file__).parent.parent / "docs" / "examples" / "tutorial.py"

# What the extras install, and what that installs in turn where Bigtime or a test imports it.
OF_EXTRAS = """
    aiohttp argon2 boto3 botocore click dateutil fastapi httptools jinja2 jmespath multipart numpy
    opentelemetry prometheus_client pydantic_settings python_multipart rich s3transfer starlette
    typer urllib3 uvicorn uvloop yarl zxcvbn
""".split()

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""

ENGINE = """
from bigtime.engine import Engine
from bigtime.store import ItemCache, Store
from bigtime.wire import Request

with Engine.memory() as engine:
    engine(Request("CreateTable", {
        "TableName": "Notes", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }))
    item = {"id": {"S": "1"}, "text": {"S": "hello"}}
    engine(Request("PutItem", {"TableName": "Notes", "Item": item}))
    got = engine(Request("GetItem", {"TableName": "Notes", "Key": {"id": {"S": "1"}}}))
    queried = engine(Request("Query", {
        "TableName": "Notes", "KeyConditionExpression": "id = :id",
        "ExpressionAttributeValues": {":id": {"S": "1"}},
    }))
    assert [got["Item"]] == queried["Items"] == [item]
"""


def run(
    program: str, *arguments: object, missing: list[str], store: str = "memory:"
) -> subprocess.CompletedProcess[str]:
    """The program where those packages cannot be imported."""
    command = [sys.executable, "-c", WITHOUT.format(missing=set(missing)) + program]
    return subprocess.run(
        [*command, *map(str, arguments)],
        env={**os.environ, "BIGTIME_STORE": store},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_engine_runs_without_extras() -> None:
    done = run(ENGINE, missing=OF_EXTRAS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", ["memory:", "file:{}/shop.db"])
def test_kit_and_store_run_without_extras(place: str, tmp_path: Path) -> None:
    program = f"import runpy; runpy.run_path({str(TUTORIAL)!r}, run_name='__main__')"
    done = run(program, missing=OF_EXTRAS, store=place.format(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == TUTORIAL.with_suffix(".txt").read_text()


def test_no_import_of_engine_kit_and_store_brings_an_extra() -> None:
    program = (
        "import sys, bigtime.engine, bigtime.model, bigtime.store, bigtime.testing;"
        " print(*sys.modules)"
    )
    loaded = {name.partition(".")[0] for name in run(program, missing=[]).stdout.split()}
    assert "apsw" in loaded
    assert loaded.isdisjoint(OF_EXTRAS)


@pytest.mark.parametrize(
    ("program", "package", "extra"),
    [
        ("from bigtime.engine import Engine; Engine.memory().boto3_client()", "boto3", "aws"),
        ("import bigtime.engine.http.endpoint", "httptools", "server"),
        ("from bigtime.store import open_store as o; o('http://127.0.0.1:1')", "botocore", "aws"),
        (
            "from bigtime.store import open_async_store as o; o('dynamodb:af-south-1')",
            "aiohttp",
            "aws",
        ),
        ("from bigtime.store import Tracing", "opentelemetry", "otel"),
        ("from bigtime.store import RedisCache", "redis", "redis"),
        ("from bigtime.testing import intercept", "boto3", "aws"),
        ("from bigtime.testing import serve_in_thread", "httptools", "server"),
        ("import bigtime.systems.accounts.password", "argon2", "site"),
        (
            "from bigtime.systems.accounts.password import check_new; check_new('a' * 9)",
            "zxcvbn",
            "site",
        ),
        ("import bigtime.web.app", "fastapi", "site"),
    ],
)
def test_python_names_the_extra_that_is_missing(program: str, package: str, extra: str) -> None:
    error = run(program, missing=[package]).stderr.splitlines()[-1]
    assert error == f"bigtime.extras.MissingExtra: {sentence(package, extra)}"


@pytest.mark.parametrize(
    ("verb", "package", "extra"),
    [
        ("--version", "typer", "cli"),
        ("chart deals", "rich", "cli"),
        ("engine serve --memory", "httptools", "server"),
        ("serve --port 0", "fastapi", "site"),
        ("tables diff deals --store http://127.0.0.1:1", "botocore", "aws"),
    ],
)
def test_the_program_names_the_extra_that_is_missing(verb: str, package: str, extra: str) -> None:
    done = run("from bigtime.cli import main; main()", *verb.split(), missing=[package])
    assert done.returncode == 1
    assert done.stderr == f"bigtime: {sentence(package, extra)}\n"
    assert not done.stdout


def sentence(package: str, extra: str) -> str:
    return (
        f'{package} is not installed; install the extra [{extra}]: pip install "bigtime[{extra}]"'
    )


def test_a_mistake_of_our_own_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"bigtime\.nothing"), extra("aws"):
        import_module("bigtime.nothing")


def test_verbs_on_a_local_store_need_no_aws() -> None:
    program = "from bigtime.cli import main; main()"
    done = run(program, "tables", "create", "deals", missing=["aiohttp", "boto3", "botocore"])
    assert done.returncode == 0, done.stderr


def test_a_system_that_is_not_there_is_named_without_the_extras_of_others() -> None:
    done = run("from bigtime.cli import main; main()", "check", "nothing", missing=["argon2"])
    assert done.returncode == 2
    assert "There is no system 'nothing'. Choose one of accounts, cart," in done.stderr
