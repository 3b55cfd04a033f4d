"""JSON 1.0, the protocol of DynamoDB's SDKs, without any I/O.

A call is an HTTP POST of a JSON object whose operation is named in `X-Amz-Target`; its answer is
JSON with a request id and, in `x-amz-crc32`, a checksum of the bytes sent. AWS's responses to
invalid calls, in their exact bytes and in the order of its checks, are as dynalite recorded them
(https://github.com/architect/dynalite/blob/main/test/connection.js):

1. GET is a health check; any method but POST, or a body of another content type, is unknown;
2. the JSON is parsed; invalid JSON is a SerializationException;
3. then the target; an invalid one is an UnknownOperationException;
4. and only then a missing body or one that is not an object, which the engine rejects.

Before all that come checks that AWS does not need. This server runs on a developer's machine with a
developer's data, so a web page must not get in: a Host header that does not name loopback (DNS
rebinding) is rejected, and no answer has a CORS header. Signatures are not verified, and only their
region is read, unless the server has users (`signature`): then each call must be signed, including
its Host, and any Host is accepted. The signature is verified before the JSON is parsed.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from random import getrandbits
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import orjson

from bigtime import wire
from bigtime.wire import Request, Response

MAX_HEAD = 64 * 1024
MAX_BODY = 16 * 1024 * 1024  # AWS returns 413 for one byte more
LARGE_BODY = 256 * 1024
MAX_VALUES = 500_000  # objects and lists in a body; its parser blocks all other threads
MOST_EXPANSION = 100  # limit of growth for bodies with very many values; usual text grows less
# Compressing less than this costs more than it saves on loopback; AWS compresses from 4 KB.
# (Seen by
# https://github.com/scylladb/scylladb/blob/master/test/alternator/test_compressed_response.py)
GZIP_FROM = 16 * 1024

JSON_1_0 = b"application/x-amz-json-1.0"
JSON_1_1 = b"application/x-amz-json-1.1"  # of other services
JSON = b"application/json"
PLAIN = b"text/plain; charset=utf-8"
HTML = b"text/html"

HEAD = (
    b"HTTP/1.1 %d %s\r\nServer: Server\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
    b"Connection: %s\r\nx-amzn-RequestId: %s\r\nx-amz-crc32: %d\r\n%s\r\n"
)
REASONS = {
    200: b"OK",
    400: b"Bad Request",
    403: b"Forbidden",
    404: b"Not Found",
    413: b"Request Entity Too Large",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}

NO_BODY = frozenset({"TagResource", "UntagResource"})
STREAMS_OPERATIONS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
LOOPBACK = re.compile(
    rb"(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?[ \t]*", re.IGNORECASE
)
SCOPE_REGION = 2  # its position between the slashes
MOST_MEMBERS = 64  # each costs a copy of the rest
WINDOW_BITS = {b"gzip": 31, b"deflate": 15}
GZIP = re.compile(rb"\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?", re.IGNORECASE)


class Call(NamedTuple):
    """One complete HTTP request; header names are in lower case."""

    method: bytes
    headers: dict[bytes, bytes]
    body: bytes
    keep_alive: bool = True
    target: bytes = b"/"


class Reply(NamedTuple):
    status: int
    content_type: bytes
    body: bytes
    gzipped: bool = False
    retry_after_seconds: int = 0

    def head(self, tag: bytes, date: bytes, *, keep_alive: bool) -> bytes:
        """The status line and headers; `tag` is the request id."""
        return HEAD % (
            self.status,
            REASONS[self.status],
            date,
            self.content_type,
            len(self.body),
            b"keep-alive" if keep_alive else b"close",
            tag,
            zlib.crc32(self.body),
            b"Content-Encoding: gzip\r\n"
            if self.gzipped
            else b"Retry-After: %d\r\n" % self.retry_after_seconds
            if self.retry_after_seconds
            else b"",
        )


NO_SUCH_CALL = Reply(404, PLAIN, b"<UnknownOperationException/>\n")
# (Seen on AWS: https://github.com/rusoto/rusoto/issues/215, and in 2026
# https://github.com/huseyinbabal/taws/issues/165)
NO_SUCH_PAGE = Reply(
    404,
    HTML,
    b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
    b'"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n'
    b'<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">\n<head>\n'
    b" <title>Page Not Found</title>\n</head>\n<body>Page Not Found</body>\n</html>",
)
TOO_LARGE = Reply(413, PLAIN, b"")
NO_WEB_PAGES = Reply(403, PLAIN, b"This endpoint is not for web pages: it allows no CORS.\n")
NO_STRANGERS = Reply(
    403, PLAIN, b"The Host header must name this machine: localhost, 127.0.0.1 or [::1].\n"
)

HEAD_TOO_LARGE = Reply(431, PLAIN, b"The request line and headers are larger than 64 KB.\n")
NOT_HTTP = Reply(400, PLAIN, b"This is not an HTTP request that the endpoint can read.\n")
NO_UPGRADE = Reply(400, PLAIN, b"The endpoint speaks HTTP/1.1 and changes to nothing else.\n")
TOO_MANY = Reply(503, PLAIN, b"Too many connections are open.\n", retry_after_seconds=1)
TOO_BUSY = Reply(503, PLAIN, b"Too many large requests are under way.\n", retry_after_seconds=1)


def request_id() -> bytes:
    """52 characters like AWS's, whose second half is always the same.

    AWS: "Error handling with DynamoDB" shows one
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
    """
    return b"%026XVV4KQNSO5AEMVJF66Q9ASUAAJG" % getrandbits(104)


def screen(call: Call, *, any_host: bool = False) -> Reply | None:
    """The answer to a request that is not an API call, whatever its body; None for a call."""
    if not any_host and not LOOPBACK.fullmatch(call.headers.get(b"host", b"")):
        return NO_STRANGERS
    if call.method == b"POST":
        return None if not call.body or content_type(call) else unknown_call(call)
    if call.method == b"GET":
        # AWS names its own host; doing so here would send a client away from this machine.
        return Reply(200, PLAIN, b"healthy: %s " % call.headers.get(b"host", b""))
    return NO_WEB_PAGES if call.method == b"OPTIONS" else NO_SUCH_CALL


def unknown_call(call: Call) -> Reply:
    """The answer to a body of a content type that is not DynamoDB's."""
    sent = call.headers.get(b"content-type", b"").partition(b";")[0].strip()
    return NO_SUCH_PAGE if sent == JSON_1_1 else NO_SUCH_CALL


def content_type(call: Call) -> bytes | None:
    sent = call.headers.get(b"content-type", b"")
    if sent == JSON_1_0:
        return JSON_1_0
    sent = sent.partition(b";")[0].strip()
    return sent if sent in (JSON_1_0, JSON) else None


class TooLarge(Exception):
    """The body inflates to more than a body may be, or has more values than one may have."""


def read(call: Call) -> Request:
    """The request in a call that passed `screen`."""
    body = call.body
    encoding = call.headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding != b"identity":
        body = decompress(body, encoding)
        if len(body) > MOST_EXPANSION * len(call.body) and body.count(b",") > MAX_VALUES:
            raise TooLarge
    params: Any = parse_body(body) if body else None
    target = call.headers.get(b"x-amz-target", b"")
    operation = operation_named(target)
    if operation is None:
        raise unknown_target(target)
    return Request(operation, params)


def unknown_target(target: bytes) -> wire.UnknownOperationException:
    """The error for an unknown target, such as another service's; names it if there is one."""
    named = target.decode("latin-1")
    return wire.UnknownOperationException(f"There is no operation {named}" if named else None)


def signing_region(call: Call) -> str | None:
    """The region in the credential scope of the signature: key/date/region/service/aws4_request."""
    header = call.headers.get(b"authorization")
    scope = (presigned_scope(call) if header is None else header).split(b"/", 3)
    return scope[2].decode("latin-1") if len(scope) > SCOPE_REGION else None


def presigned_scope(call: Call) -> bytes:
    """The credential scope in the query string."""
    query = call.target.partition(b"?")[2]
    return unquote_to_bytes(query.partition(b"X-Amz-Credential=")[2].partition(b"&")[0])


def decompress(body: bytes, encoding: bytes) -> bytes:
    """The decompressed body; gzip may have several members.

    (Seen on AWS by https://github.com/scylladb/scylladb/blob/master/test/alternator/test_compressed_request.py)
    """
    if encoding not in WINDOW_BITS:
        raise wire.SerializationException
    plain = b""
    for _ in range(MOST_MEMBERS):
        inflate = zlib.decompressobj(wbits=WINDOW_BITS[encoding])
        try:
            plain += inflate.decompress(body, MAX_BODY + 1 - len(plain))
        except zlib.error:
            raise wire.SerializationException from None
        if len(plain) > MAX_BODY:
            raise TooLarge
        if not inflate.eof or (inflate.unused_data and encoding != b"gzip"):
            raise wire.SerializationException
        body = inflate.unused_data
        if not body:
            return plain
    raise wire.SerializationException


def parse_body(body: bytes) -> Any:
    if len(body) > LARGE_BODY and body.count(b"[") + body.count(b"{") > MAX_VALUES:
        raise TooLarge
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise wire.SerializationException from None


@lru_cache(maxsize=256)
def operation_named(target: bytes) -> str | None:
    service, _, name = target.decode("latin-1").strip(" \t").partition(".")
    expected = "DynamoDBStreams" if name in STREAMS_OPERATIONS else "DynamoDB"
    return name if name and service == f"{expected}_20120810" else None


def success(call: Call, response: Response) -> Reply:
    operation = operation_named(call.headers.get(b"x-amz-target", b""))
    if operation in NO_BODY:
        return Reply(200, content_type(call) or JSON, b"")
    if operation == "DescribeEndpoints":
        # As for a health check: the endpoint is the host in the request.
        host = call.headers.get(b"host", b"").decode("latin-1")
        response = {"Endpoints": [{**each, "Address": host} for each in response["Endpoints"]]}
    return pack_reply(call, 200, orjson.dumps(response))


def failure(call: Call, error: wire.DynamoDBError) -> Reply:
    return pack_reply(call, error.status, orjson.dumps(error.body()))


def pack_reply(call: Call, status: int, body: bytes) -> Reply:
    """Compresses and adds the checksum, which AWS computes over the compressed bytes."""
    kind = content_type(call) or JSON
    if len(body) < GZIP_FROM or not accepts_gzip(call.headers.get(b"accept-encoding", b"")):
        return Reply(status, kind, body)
    gzip = zlib.compressobj(level=1, wbits=31)
    return Reply(status, kind, gzip.compress(body) + gzip.flush(), gzipped=True)


def accepts_gzip(header: bytes) -> bool:
    return any(GZIP.fullmatch(coding) for coding in header.split(b","))
