"""boto3 without a network: a real client whose requests stop in this process.

botocore emits a `before-send` event for every request just before it would open a socket, and takes
a response from any listener. The engine is that listener. Everything above that point is unchanged
boto3: parameter checks, serialisation, paginators, waiters, modelled exceptions.

The environment is ignored. A developer's profile, proxy, credentials, endpoint or retry mode must
not affect a client of a local engine, so the session's settings are all pinned to botocore's
defaults, requests are not signed, and the endpoint is a name that can never resolve.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import orjson

from bigtime.engine.http.protocol import request_id
from bigtime.extras import extra
from bigtime.wire import DynamoDBError, Request, Response, SerializationException, Transport

with extra("aws"):
    import boto3
    import botocore.session
    from botocore import UNSIGNED
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource

NOWHERE = "http://engine.bigtime.invalid"
"""RFC 6761 guarantees that `.invalid` never resolves."""

PINNED = Config(
    signature_version=UNSIGNED,
    # An answer in process is final: a retry would only sleep and get the same again.
    retries={"mode": "standard", "total_max_attempts": 1},
)

CREATING = Lock()  # boto3's sessions, unlike its clients, are not thread-safe


def boto3_client(
    engine: Transport, service: str = "dynamodb", *, region: str = "us-east-1"
) -> DynamoDBClient:
    """A boto3 client of `engine`; the service "dynamodbstreams" is its tables' streams."""
    with CREATING:
        create: Any = boto3_session().client
        client: DynamoDBClient = create(service, region_name=region, **connection())
    answer_in_process(client, engine)
    return client


def boto3_resource(engine: Transport, *, region: str = "us-east-1") -> DynamoDBServiceResource:
    """The boto3 resource of `engine`: Python values in and out, numbers as `Decimal`."""
    with CREATING:
        resource = boto3_session().resource("dynamodb", region_name=region, **connection())
    answer_in_process(resource.meta.client, engine)
    return resource


def connection() -> dict[str, Any]:
    # Without `verify=False` each client would load the machine's certificates for no purpose.
    return {"endpoint_url": NOWHERE, "config": PINNED, "verify": False}


@cache
def boto3_session() -> boto3.Session:
    """One session for all clients: it holds the parsed service models, which are slow to load."""
    session = botocore.session.Session()
    settings = session.get_component("config_store")
    for name, (_, _, default, _) in session.session_var_map.items():
        settings.set_config_variable(name, default)
    for name in ("config_file", "credentials_file"):
        settings.set_config_variable(name, os.devnull)
    return boto3.Session(botocore_session=session)


def answer_in_process(client: Any, engine: Transport) -> None:
    name = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register(f"before-send.{name}", response_handler(engine))
    # Without its retry handler botocore also stops saying "(reached max retries: 0)".
    client.meta.events.unregister(f"needs-retry.{name}", unique_id=f"retry-config-{name}")


def response_handler(engine: Transport) -> Callable[..., AWSResponse]:
    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        try:
            return reply(request, 200, engine(read(request)))
        except DynamoDBError as error:
            return reply(request, error.status, error.body())

    return answer


def read(request: AWSPreparedRequest) -> Request:
    target = request.headers["X-Amz-Target"]
    name = target.decode() if isinstance(target, bytes) else target
    try:
        params = orjson.loads(cast(bytes, request.body))
    except orjson.JSONDecodeError:
        # botocore escapes half of a surrogate pair, which is no JSON to orjson.
        raise SerializationException from None
    return Request(name.rpartition(".")[2], params)


def reply(request: AWSPreparedRequest, status: int, body: Response) -> AWSResponse:
    headers: Any = {
        "x-amzn-RequestId": request_id().decode(),
        "Content-Type": "application/x-amz-json-1.0",
    }
    return AWSResponse(request.url, status, headers, Payload(orjson.dumps(body)))


class Payload:
    """The part of a urllib3 response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self) -> Iterator[bytes]:
        yield self.body
