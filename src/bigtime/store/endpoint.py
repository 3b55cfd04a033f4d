"""An endpoint of DynamoDB: its address and credentials, signed requests, and reading its responses.

Both network transports share this and add only the socket. A request's parameters are already
DynamoDB's JSON, so they are sent as they are: botocore's client, which would convert every value
to Python's types and back, is not used. botocore does find and refresh credentials, sign requests
and resolve a region's address; and it emits the event `before-send`, so that whatever answers
boto3 in a test (moto, `bigtime.testing.intercept`) answers these transports too.

An endpoint over plain HTTP is not Amazon's. Requests to it are signed with made-up credentials, so
that a developer's real session token is never sent unencrypted.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cached_property, partial
from threading import Lock
from typing import Any, NamedTuple, TypedDict, Unpack
from urllib.parse import urlsplit

import orjson

from bigtime import __version__
from bigtime.extras import extra
from bigtime.store.errors import GarbledAnswer, NoCredentials, NotConnected, error_in
from bigtime.store.retries import STREAM_READS
from bigtime.wire import Request, Response

with extra("aws"):
    import botocore.session
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSPreparedRequest, AWSRequest, HeadersDict
    from botocore.credentials import (
        AssumeRoleCredentialFetcher,
        Credentials,
        DeferredRefreshableCredentials,
        RefreshableCredentials,
    )
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.hooks import first_non_none_response
    from botocore.utils import get_environ_proxies

LOCAL = Credentials("local", "local")
LOCAL_REGION = "us-east-1"
# The signature does not cover these, because a proxy may change them.
UNSIGNED = {
    "User-Agent": f"bigtime/{__version__}",
    # AWS's checksum is of the bytes on the wire, so they must not be compressed.
    "Accept-Encoding": "identity",
}


class EndpointOptions(TypedDict, total=False):
    """The address and credentials of an endpoint; `Endpoint` has the defaults."""

    url: str | None
    credentials: Credentials | None
    session: Any
    profile: str | None
    role: str | None


class Call(NamedTuple):
    """One HTTP POST, signed."""

    url: str
    headers: dict[str, str]
    body: bytes


class Endpoint:
    """Turns requests into HTTP calls, and HTTP answers into responses. Safe for threads."""

    def __init__(
        self,
        region: str | None = None,
        *,
        url: str | None = None,
        credentials: Credentials | None = None,
        session: Any = None,
        profile: str | None = None,
        role: str | None = None,
    ) -> None:
        """`session` is one of boto3 or of botocore; `role` is the ARN of a role to assume."""
        self.session: botocore.session.Session = session_of(session, profile)
        self._url = url
        self._given = credentials
        self._role = role
        self._lock = Lock()
        self.region = region or self.session.get_config_variable("region") or ""
        if not self.region and url:
            self.region = LOCAL_REGION
        if not self.region:
            raise ValueError("No region is named, and botocore finds none in its settings.")

    @cached_property
    def url(self) -> str:
        return self._url_of("dynamodb")

    @cached_property
    def streams_url(self) -> str:
        return self._url_of("dynamodbstreams")

    def _url_of(self, service: str) -> str:
        url = self._url
        if url is None:
            # A client applies every rule and setting that decides a region's address.
            with self._lock:
                url = self.session.create_client(service, region_name=self.region).meta.endpoint_url
        return url if urlsplit(url).path else f"{url}/"

    @cached_property
    def proxy(self) -> str | None:
        """The proxy that the environment sets for this endpoint."""
        scheme = urlsplit(self.url).scheme
        proxy: str | None = get_environ_proxies(self.url).get(scheme)
        return proxy if proxy is None or "://" in proxy else f"http://{proxy}"

    @property
    def authorities(self) -> Any:
        """The bundle of certificates to trust, where a setting names one; else True."""
        return self.session.get_config_variable("ca_bundle") or True

    @cached_property
    def credentials(self) -> Credentials:
        if self._given is not None:
            return self._given
        if self.url.startswith("http:"):
            return LOCAL
        with self._lock:
            found = self.session.get_credentials()
        if found is None:
            raise NoCredentials(
                "There are no AWS credentials: botocore finds none in the environment, in its "
                "files or from this machine's role.",
                uncertain=False,
            )
        return found if self._role is None else self.assume(self._role, found)

    def assume(self, role: str, source: Credentials) -> Credentials:
        """The role's credentials, requested when they are first needed, and refreshed."""
        fetcher = AssumeRoleCredentialFetcher(
            client_creator=partial(self.session.create_client, region_name=self.region),
            source_credentials=source,
            role_arn=role,
            extra_args={"RoleSessionName": "bigtime"},
        )
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, method="assume-role")

    @property
    def may_block(self) -> bool:
        """Whether the next call may first have to fetch credentials over the network."""
        if "credentials" not in self.__dict__:
            return self._given is None
        found = self.credentials
        return isinstance(found, RefreshableCredentials) and found.refresh_needed()

    def call(self, request: Request) -> Call:
        """The request as an HTTP call, signed as of now."""
        streams = request.operation in STREAM_READS
        service = "DynamoDBStreams_20120810" if streams else "DynamoDB_20120810"
        url = self.streams_url if streams else self.url
        body = orjson.dumps(request.params, default=dict)
        signed = AWSRequest(
            method="POST",
            url=url,
            data=body,
            headers={
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": f"{service}.{request.operation}",
            },
        )
        self.sign(signed)
        return Call(url, {**dict(signed.headers.items()), **UNSIGNED}, body)

    def sign(self, request: AWSRequest) -> None:
        try:
            frozen = self.credentials.get_frozen_credentials()
        except (BotoCoreError, ClientError) as error:
            message = f"The AWS credentials cannot be renewed: {error}"
            raise NotConnected(message, uncertain=False) from error
        SigV4Auth(frozen, "dynamodb", self.region).add_auth(request)

    def answer_in_process(self, request: Request, prepared: AWSPreparedRequest) -> Any:
        """The response of a `before-send` handler of botocore; None if the call is to be sent.

        https://boto3.amazonaws.com/v1/documentation/api/latest/guide/events.html
        """
        service = "dynamodb-streams" if request.operation in STREAM_READS else "dynamodb"
        event = f"before-send.{service}.{request.operation}"
        return first_non_none_response(self.session.emit(event, request=prepared))


def session_of(session: Any, profile: str | None) -> Any:
    """The botocore session in one of boto3, or a new one."""
    if session is not None:
        return getattr(session, "_session", session)
    made = botocore.session.Session(profile=profile)
    if profile is not None and profile not in made.available_profiles:
        known = ", ".join(made.available_profiles) or "none"
        raise ValueError(
            f"AWS's configuration files have no profile {profile!r}; they have {known}."
        )
    return made


def prepare_request(call: Call) -> AWSPreparedRequest:
    headers: Any = HeadersDict(call.headers)
    return AWSPreparedRequest("POST", call.url, headers, call.body, stream_output=False)


class NetworkTransport:
    """The base class of both network transports."""

    def __init__(
        self,
        region: str | None = None,
        *,
        connect_seconds: float = 3.0,
        read_seconds: float = 10.0,
        concurrency: int = 16,
        **options: Unpack[EndpointOptions],
    ) -> None:
        self.endpoint = Endpoint(region, **options)
        self.concurrency = concurrency
        self.connect_seconds = connect_seconds
        self.read_seconds = read_seconds


NO_BODY = frozenset({"TagResource", "UntagResource"})
"""Answered with 200 and an empty body.

AWS: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
"""


def response_in(request: Request, status: int, headers: Mapping[str, str], body: bytes) -> Response:
    """The response in an HTTP answer; raises the error in it."""
    checksum = headers.get("x-amz-crc32")
    if checksum is not None and int(checksum) != zlib.crc32(body):
        raise GarbledAnswer(
            f"The answer to {request.operation} does not match its checksum.", uncertain=True
        )
    if status != 200:
        raise error_in(status, body)
    if not body and request.operation in NO_BODY:
        return {}
    try:
        response: Response = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise GarbledAnswer(
            f"The answer to {request.operation} is no JSON.", uncertain=True
        ) from None
    return response
