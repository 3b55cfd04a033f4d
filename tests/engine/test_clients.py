"""Real clients against a real `bigtime engine serve`: each does a whole round.

A round is create, read, update, delete; query, on the table and on an index; a transaction that
holds and one that does not; and pages, of a chosen size and of the 1 MB that DynamoDB cuts at. The
rounds of AWS's own SDKs go on with PartiQL, backups, exports, imports, replicas and policies.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import server
from tests.engine.clients import boto3_round

CLIENTS = Path(__file__).parent / "clients"


USERS = {
    "Users": [
        {
            "UserName": "client",
            "AccessKeys": [{"AccessKeyId": "local", "SecretAccessKey": "local"}],
            "Policies": [
                {"Statement": {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}}
            ],
        },
        {
            "UserName": "reader",
            "AccessKeys": [{"AccessKeyId": "reader", "SecretAccessKey": "secret"}],
            "Policies": [],
        },
    ]
}


@pytest.fixture(scope="module", params=["unsigned", "signed"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An endpoint that does not look at signatures, then one that verifies them."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "users.json").write_text(json.dumps(USERS))
    (folder / "clients.db-s3" / boto3_round.BUCKET).mkdir(parents=True)
    users = ("--users", folder / "users.json") if request.param == "signed" else ()
    with server("--data", folder / "clients.db", *users) as running:
        yield running.url


def is_signed(request: pytest.FixtureRequest) -> bool:
    """Whether a test's endpoint has users."""
    return bool(request.node.callspec.params["url"] == "signed")


def test_boto3_client(url: str) -> None:
    boto3_round.client_round(url)


def test_boto3_resource(url: str) -> None:
    boto3_round.resource_round(url)


def test_boto3_streams_client(url: str) -> None:
    boto3_round.streams_round(url)


def test_sixteen_threads_of_boto3_lose_no_increment(url: str) -> None:
    boto3_round.threads_round(url)


def test_boto3_backs_up_and_restores(url: str) -> None:
    boto3_round.backups_round(url)


def test_boto3_runs_statements(url: str) -> None:
    boto3_round.statements_round(url)


def test_boto3_exports_and_imports(url: str) -> None:
    boto3_round.transfers_round(url)


def test_boto3_replicates(url: str) -> None:
    boto3_round.replicas_round(url)


def test_boto3_keeps_policies(url: str, request: pytest.FixtureRequest) -> None:
    boto3_round.policies_round(url)
    if is_signed(request):
        boto3_round.denials_round(url)


def test_aiodynamo(url: str, request: pytest.FixtureRequest) -> None:
    if is_signed(request):
        pytest.skip(
            "aiodynamo signs the Host header without its port, so only port 443 verifies it"
        )
    for package in ("aiodynamo", "httpx"):
        pytest.importorskip(package, reason=f"aiodynamo's round needs {package}: pip install it")
    from tests.engine.clients.aiodynamo_round import aiodynamo_round

    asyncio.run(aiodynamo_round(url))


def test_pynamodb(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pynamodb", reason="PynamoDB's round needs pynamodb: pip install it")
    from tests.engine.clients.pynamodb_round import pynamodb_round

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    pynamodb_round(url)


def node_environment() -> dict[str, str]:
    """Where the JavaScript packages may be: named, beside the script, or as Node is told."""
    places = [
        os.environ.get("BIGTIME_NODE_MODULES", ""),
        str(CLIENTS / "node_modules"),
        os.environ.get("NODE_PATH", ""),
    ]
    return {**os.environ, "NODE_PATH": os.pathsep.join(filter(None, places))}


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", *arguments],
        capture_output=True,
        text=True,
        env=node_environment(),
        timeout=300,
        check=False,
    )


def test_aws_sdk_for_javascript(url: str, request: pytest.FixtureRequest) -> None:
    if shutil.which("node") is None:
        pytest.skip("the JavaScript client's round needs Node.js")
    if node(
        "-e", "require('@aws-sdk/lib-dynamodb'), require('@aws-sdk/client-dynamodb')"
    ).returncode:
        pytest.skip(
            "the JavaScript client's round needs @aws-sdk/client-dynamodb and "
            "@aws-sdk/lib-dynamodb in BIGTIME_NODE_MODULES"
        )
    done = node(str(CLIENTS / "javascript_round.cjs"), url)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "created": True,
        "items": {
            "raw": [0, 255],
            "tags": ["tea"],
            "gift": True,
            "price": 19.99,
            "seen": 1,
            "refused": "ConditionalCheckFailedException",
            "gone": True,
        },
        "query": {"first": 49, "last": 10, "count": 40, "paid": 10},
        "scan": {"pages": 2, "items": 50},
        "transact": {
            "reasons": ["None", "ConditionalCheckFailed"],
            "found": [True, True, False],
        },
        "statements": {
            "twice": "DuplicateItemException",
            "seen": 1,
            "numbers": [3, 2, 1],
            "batch": [1, None],
            "reasons": ["None", "ConditionalCheckFailed"],
        },
        "recovered": {"before": 3, "after": 2},
        "transferred": 2,
        "replicated": {"seen": "ada", "replicas": "none"},
        "policy": {
            "kept": "Deny",
            "scanned": "AccessDeniedException" if is_signed(request) else "done",
            "gone": "PolicyNotFoundException",
        },
        "deleted": True,
    }
