"""The engine, moto and dynalite behind one call: a request in, a response or a refusal out."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol

from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    Request,
    Response,
    TransactionCanceledException,
    Transport,
)
from tests.reference.outcomes import Reason, Refusal
from tests.reference.values import decode_item


class Target(Protocol):
    name: str
    exact: bool
    """Whether numbers must come back in plain notation and empty Attributes not at all."""

    def ask(self, request: Request) -> Response | Refusal: ...


class Engine:
    """The engine under test, or any other transport that raises DynamoDB's errors."""

    name = "engine"
    exact = True

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def ask(self, request: Request) -> Response | Refusal:
        try:
            return self.transport(request)
        except TransactionCanceledException as error:
            return read_refusal({"Message": error.message, **error.body()}, error.code)
        except ConditionalCheckFailedException as error:
            return read_refusal(error.body(), error.code)
        except DynamoDBError as error:
            return Refusal(error.code, error.message)


@contextmanager
def engine_in_memory() -> Iterator[Engine]:
    from bigtime.engine import Engine as Store

    with Store.memory() as store:
        yield Engine(store)


def read_refusal(body: Response, code: str) -> Refusal:
    reasons = body.get("CancellationReasons")
    item = body.get("Item")
    return Refusal(
        code,
        body.get("message") or body.get("Message") or "",
        None if item is None else decode_item(item),
        None if reasons is None else tuple(reason_of(reason) for reason in reasons),
    )


def reason_of(reason: Response) -> Reason:
    item = reason.get("Item")
    return Reason(
        reason["Code"], reason.get("Message"), None if item is None else decode_item(item)
    )


class Moto:
    """moto in process, behind a real boto3 client whose own checks are off."""

    name = "moto"
    exact = False

    def __init__(self, client: Any) -> None:
        self.client = client

    def ask(self, request: Request) -> Response | Refusal:
        from botocore.exceptions import ClientError

        try:
            answer = self.client._make_api_call(request.operation, in_bytes(request.params))
        except ClientError as error:
            body = in_text(error.response)
            return read_refusal({**body, **body["Error"]}, body["Error"]["Code"])
        except Exception as error:  # what would be a 500 over HTTP comes out as itself
            return Refusal("InternalFailure", repr(error))
        del answer["ResponseMetadata"]
        return in_text(answer)  # type: ignore[no-any-return]


@contextmanager
def moto_in_process() -> Iterator[Moto]:
    import boto3
    from botocore.config import Config
    from moto import mock_aws

    config = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    session = boto3.Session("none", "none", region_name="eu-west-1")
    with mock_aws():
        yield Moto(session.client("dynamodb", config=config))


def in_bytes(given: Any) -> Any:
    """DynamoDB JSON as boto3 wants it: binaries as bytes."""
    match given:
        case {"B": str(text), **rest} if not rest:
            return {"B": base64.b64decode(text)}
        case {"BS": list(texts), **rest} if not rest:
            return {"BS": [base64.b64decode(text) for text in texts]}
        case dict():
            return {name: in_bytes(value) for name, value in given.items()}
        case list() | tuple():
            return [in_bytes(value) for value in given]
        case _:
            return given


def in_text(given: Any) -> Any:
    match given:
        case bytes():
            return base64.b64encode(given).decode()
        case dict():
            return {name: in_text(value) for name, value in given.items()}
        case list():
            return [in_text(value) for value in given]
        case _:
            return given


class Dynalite:
    """dynalite over HTTP; it has no transactions, streams or PartiQL."""

    name = "dynalite"
    exact = False
    headers: ClassVar[dict[str, str]] = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20200101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=none/20200101/eu-west-1/dynamodb/"
        "aws4_request, SignedHeaders=host;x-amz-date, Signature=none",
    }

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, request: Request) -> Response | Refusal:
        target = {"X-Amz-Target": f"DynamoDB_20120810.{request.operation}"}
        body = json.dumps(request.params)
        self.connection.request("POST", "/", body, {**self.headers, **target})
        answer = self.connection.getresponse()
        content = json.loads(answer.read() or b"{}")
        if answer.status == http.HTTPStatus.OK:
            return content  # type: ignore[no-any-return]
        return read_refusal(content, str(content.get("__type", answer.status)).split("#")[-1])


def why_no_dynalite() -> str | None:
    """The reason why dynalite cannot be started here, if there is one."""
    if shutil.which("node") is None:
        return "node is not installed"
    if dynalite_script() is None:
        return "dynalite is not in node_modules (npm install dynalite, set BIGTIME_NODE_MODULES)"
    return None


def dynalite_script() -> Path | None:
    given = os.environ.get("BIGTIME_NODE_MODULES")
    beside = [folder / "node_modules" for folder in Path(__file__).resolve().parents]
    scripts = (folder / "dynalite/cli.js" for folder in ([Path(given)] if given else beside))
    return next((script for script in scripts if script.is_file()), None)


@contextmanager
def dynalite_server() -> Iterator[int]:
    port = free_port()
    command = ["node", str(dynalite_script()), "--port", str(port), "--host", "127.0.0.1"]
    delays = [f"--{verb}TableMs=0" for verb in ("create", "delete", "update")]
    server = subprocess.Popen([*command, *delays], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
