"""The blocking transport to a DynamoDB endpoint, on the HTTP session of botocore's clients."""

from __future__ import annotations

import socket
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from bigtime.extras import extra
from bigtime.store.endpoint import Call, NetworkTransport, prepare_request, response_in
from bigtime.store.errors import TransportError, cut_off, no_answer, no_connection, unreachable
from bigtime.wire import Request, Response

with extra("aws"):
    from botocore.exceptions import (
        BotoCoreError,
        ConnectTimeoutError,
        EndpointConnectionError,
        ProxyConnectionError,
        ReadTimeoutError,
        SSLError,
    )
    from botocore.httpsession import URLLib3Session

# Without it, Nagle's algorithm and the kernel's delayed acknowledgements cost a request 40 ms.
# (Here, and for the timeouts and headers, botocore's stubs differ from botocore.)
NO_DELAY: Any = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]


class BotocoreTransport(NetworkTransport):
    """`transport(request)` sends a request to a region or an endpoint URL, and blocks."""

    @cached_property
    def _http(self) -> URLLib3Session:
        proxy = self.endpoint.proxy
        proxies = {urlsplit(self.endpoint.url).scheme: proxy} if proxy else None
        seconds: Any = (self.connect_seconds, self.read_seconds)
        return URLLib3Session(
            verify=self.endpoint.authorities,
            proxies=proxies,
            timeout=seconds,
            max_pool_connections=self.concurrency,
            socket_options=NO_DELAY,
        )

    def __call__(self, request: Request) -> Response:
        call = self.endpoint.call(request)
        prepared = prepare_request(call)
        try:
            answer = self.endpoint.answer_in_process(request, prepared) or self._http.send(prepared)
        except BotoCoreError as error:
            raise self._trouble(request, call, error) from error
        return response_in(request, answer.status_code, answer.headers, answer.content)

    def _trouble(self, request: Request, call: Call, error: BotoCoreError) -> TransportError:
        match error:
            case ConnectTimeoutError():
                return no_connection(call.url, self.connect_seconds)
            case ReadTimeoutError():
                return no_answer(call.url, request.operation, self.read_seconds)
            case EndpointConnectionError() | ProxyConnectionError() | SSLError():
                return unreachable(call.url, error)
        return cut_off(call.url, request.operation, error)

    def close(self) -> None:
        self._http.close()
