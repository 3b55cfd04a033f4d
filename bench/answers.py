"""Canned answers, given where the bytes of a request would leave the process.

The kit passes its requests to a transport, so its answers are given there. Every other client ends
in botocore, which is stopped by its own event just before it sends: the request has been validated,
serialised to JSON and signed, and the JSON of the answer is still to be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from bigtime.store.endpoint import Endpoint, response_in
from bigtime.wire import Request, Response

HEADERS = {"content-type": "application/x-amz-json-1.0", "x-amzn-requestid": "none"}


class Answers:
    """Answers by the name of the operation; `sent` is the last request."""

    def __init__(self, responses: Mapping[str, Response]) -> None:
        self.responses = responses
        self.bodies = {name: orjson.dumps(response) for name, response in responses.items()}
        self.sent: Any = None

    def transport(self, request: Request) -> Response:
        self.sent = request.params
        return self.responses[request.operation]

    def sign_requests(self, endpoint: Endpoint) -> SignedTransport:
        return SignedTransport(endpoint, self)

    def before_send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        """A handler of `before-send`: botocore takes what it returns for the response."""
        self.sent = request.body
        target: Any = request.headers["X-Amz-Target"]
        operation = target.decode().partition(".")[2]
        raw: Any = Stream(self.bodies[operation])
        headers: Any = HEADERS
        return AWSResponse(request.url, 200, headers, raw)


class Stream:
    """The body of an answer, as botocore reads it from the network."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self) -> Iterator[bytes]:
        yield self.body


class SignedTransport:
    """The kit's own path to DynamoDB, including JSON and signature, up to the socket."""

    def __init__(self, endpoint: Endpoint, answers: Answers) -> None:
        self.endpoint = endpoint
        self.answers = answers

    def __call__(self, request: Request) -> Response:
        self.answers.sent = self.endpoint.call(request).body
        return response_in(request, 200, HEADERS, self.answers.bodies[request.operation])
