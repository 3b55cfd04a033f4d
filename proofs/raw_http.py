"""Bytes that are not a request, or not quite one: each is sent on a connection of its own."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

PREFIX = "DynamoDB_20120810."
JSON_1_0 = "application/x-amz-json-1.0"
MEGABYTE = 1 << 20

GET = {"TableName": "Fuzz", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}}


def http(
    body: bytes,
    *,
    target: str | None = PREFIX + "GetItem",
    method: str = "POST",
    length: str | None = "",
    extra: str = "",
    host: str | None = "127.0.0.1",
    path: str = "/",
) -> bytes:
    """A request in which anything may be odd; an empty `length` stands for the true one."""
    lines = [f"{method} {path} HTTP/1.1", f"Content-Type: {JSON_1_0}"]
    if host is not None:
        lines.append(f"Host: {host}")
    if target is not None:
        lines.append(f"X-Amz-Target: {target}")
    if length is not None:
        lines.append(f"Content-Length: {length or len(body)}")
    return ("\r\n".join(lines) + "\r\n" + extra + "\r\n").encode("latin-1") + body


def call(operation: str, params: Any) -> bytes:
    service = "DynamoDBStreams_20120810." if operation in STREAMS else PREFIX
    return http(json.dumps(params).encode(), target=service + operation)


STREAMS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}


# --- Bodies ---------------------------------------------------------------------------------


def bad_json(chance: random.Random) -> bytes:
    good = json.dumps(GET).encode()
    cut = chance.randrange(len(good))
    junk = chance.randbytes(chance.randrange(1, 50))
    body = chance.choice(
        [
            good[:cut],
            good[:cut] + junk + good[cut:],
            b"\xef\xbb\xbf" + good,
            good + b"}",
            junk,
            b"NaN",
            b'{"TableName": 1e100000000}',
            b'{"Limit": ' + b"9" * 5_000 + b"}",
            b'{"TableName": "\xff\xfe"}',
            b'{"TableName": "\\ud800"}',
            b'{"a": 1, "a": 2, "TableName": "Fuzz"}',
            b"null",
            b"[]",
            b'"text"',
            b"12",
            b"",
        ]
    )
    return http(body)


def deep_json(chance: random.Random) -> bytes:
    depth = chance.choice([100, 1_000, 20_000, 200_000])
    opening, closing = chance.choice(
        [("[", "]"), ('{"a":', "}"), ('{"L":[', "]}"), ('{"M":{"a":', "}}")]
    )
    deep = opening * depth + "1" + closing * depth
    body = chance.choice([deep, f'{{"TableName":"Fuzz","Item":{{"pk":{deep}}}}}'])
    return http(body.encode(), target=PREFIX + "PutItem")


def deep_expression(chance: random.Random) -> bytes:
    depth = chance.choice([300, 2_000, 20_000])
    text = chance.choice(
        [
            "(" * depth + "pk = :a" + ")" * depth,
            "NOT " * depth + "pk = :a",
            "size(" * depth,
            "pk" + ".a" * depth,
            "pk" + "[1]" * depth,
            "pk = :a" + " OR pk = :a" * depth,
        ]
    )
    values = {":a": {"S": "a"}}
    expression = {"ConditionExpression": text, "ExpressionAttributeValues": values}
    return call("PutItem", {"TableName": "Fuzz", "Item": GET["Key"], **expression})


def huge_key(chance: random.Random) -> bytes:
    key: Any = chance.choice(
        [
            {"pk": {"S": "k" * MEGABYTE}, "sk": {"N": "1"}},
            {"pk": {"S": "a"}, "sk": {"N": "1" * MEGABYTE}},
            {"pk": {"S": "a"}, "sk": {"N": "1e" + "0" * MEGABYTE + "1"}},
            {"pk": {"B": "A" * MEGABYTE}, "sk": {"N": "1"}},
            {"p" * MEGABYTE: {"S": "a"}, "sk": {"N": "1"}},
        ]
    )
    operation = chance.choice(["GetItem", "PutItem", "DeleteItem"])
    return call(operation, {"TableName": "Fuzz", "Item" if operation == "PutItem" else "Key": key})


class Large(NamedTuple):
    """A body that mostly repeats one part; @ stands for the number of the repetition."""

    operation: str
    before: str
    entry: str
    after: str
    between: str = ","

    def request(self, size: int) -> bytes:
        count = size // (len(self.entry) + len(self.between) + 6 * ("@" in self.entry))
        if "@" in self.entry:
            entries = self.between.join(self.entry.replace("@", str(n)) for n in range(count))
        else:
            entries = self.between.join([self.entry] * count)
        body = self.before + entries + self.after
        return http(body.encode(), target=PREFIX + self.operation)


PUT = '{"TableName":"Fuzz","Item":{"pk":{"S":"a"},"sk":{"N":"1"}'
KEYED = '{"pk":{"S":"a"},"sk":{"N":"@"}}'
LARGE_BODIES = [
    Large("PutItem", PUT + ',"l":{"L":[', '{"N":"1"}', "]}}}"),
    Large("PutItem", PUT + ',"s":{"SS":[', '"@"', "]}}}"),
    Large("PutItem", PUT + ',"s":{"NS":[', '"@"', "]}}}"),
    Large("PutItem", PUT + ",", '"a@":{"NULL":true}', "}}"),
    Large("PutItem", PUT + ',"b":{"B":"', "AAAA", '"}}}', ""),
    Large("PutItem", PUT + ',"t":{"S":"', "\\u00e9", '"}}}', ""),
    Large("PutItem", PUT + '},"ExpressionAttributeNames":{', '"#a@":"a"', "}}"),
    Large("PutItem", PUT + '},"ExpressionAttributeValues":{', '":a@":{"N":"1"}', "}}"),
    Large("PutItem", PUT + '},"ConditionExpression":"', "(", '"}', ""),
    Large("PutItem", '{"TableName":"', "a", '"}', ""),
    Large("PutItem", '{"Unknown":[', "1", "]}"),
    Large("PutItem", '{"Unknown":[', "{}", "]}"),
    Large("BatchGetItem", '{"RequestItems":{"Fuzz":{"Keys":[', KEYED, "]}}}"),
    Large("BatchGetItem", '{"RequestItems":{', '"T-@":{"Keys":[]}', "}}"),
    Large(
        "BatchWriteItem",
        '{"RequestItems":{"Fuzz":[',
        f'{{"PutRequest":{{"Item":{KEYED}}}}}',
        "]}}",
    ),
    Large(
        "TransactWriteItems",
        '{"TransactItems":[',
        f'{{"Put":{{"TableName":"Fuzz","Item":{KEYED}}}}}',
        "]}",
    ),
    Large(
        "TransactGetItems",
        '{"TransactItems":[',
        f'{{"Get":{{"TableName":"Fuzz","Key":{KEYED}}}}}',
        "]}",
    ),
    Large(
        "CreateTable",
        '{"TableName":"Fuzz-2","AttributeDefinitions":[',
        '{"AttributeName":"a@","AttributeType":"S"}',
        "]}",
    ),
    Large("TagResource", '{"ResourceArn":"x","Tags":[', '{"Key":"@","Value":"v"}', "]}"),
    Large("UpdateItem", '{"TableName":"Fuzz","AttributeUpdates":{', '"a@":{}', "}}"),
    Large("Query", '{"TableName":"Fuzz","KeyConditions":{', '"a@":{}', "}}"),
    Large("Scan", '{"TableName":"Fuzz","AttributesToGet":[', '"a@"', "]}"),
]


def large(chance: random.Random) -> bytes:
    """A body of up to sixteen megabytes, the limit, in the ways that cost the most."""
    return chance.choice(LARGE_BODIES).request(chance.choice([1, 2, 4, 8, 15]) * MEGABYTE)


@cache
def bomb(megabytes: int) -> bytes:
    return gzip.compress(b'{"TableName":"' + b"a" * (megabytes << 20) + b'"}', 9)


def gzip_request(chance: random.Random) -> bytes:
    good = gzip.compress(json.dumps(GET).encode())
    body = chance.choice(
        [
            good,
            good[: chance.randrange(len(good))],
            good + good,
            good + b"junk",
            chance.randbytes(100),
            bomb(15),
            bomb(200),
            gzip.compress(gzip.compress(b" " * MEGABYTE)),
            b"",
        ]
    )
    encoding = chance.choice(["gzip", "GZIP", "deflate", "br", "gzip, gzip", "identity"])
    return http(body, extra=f"Content-Encoding: {encoding}\r\n")


# --- Heads ----------------------------------------------------------------------------------


def wrong_length(chance: random.Random) -> bytes:
    body = json.dumps(GET).encode()
    true = len(body)
    odd = ["-1", "abc", f"+{true}", f"{true}, {true}", f"0x{true:x}", "9" * 40, f" {true} ", "1 1"]
    lengths = [str(true - 5), str(true + 50), "0", str(16 * MEGABYTE + 1), *odd]
    extra = chance.choice(["", "", f"Content-Length: {true + 1}\r\n"])
    return http(body, length=chance.choice([*lengths, None]), extra=extra)


def smuggling_request(chance: random.Random) -> bytes:
    """A request with two ways to tell where its body ends, or none; it may hide a second."""
    inner = http(json.dumps({}).encode(), target=PREFIX + "ListTables")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)
    encodings = [
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding:\tchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n",
        "X: y\r\rTransfer-Encoding: chunked\r\n",
        "Expect: 100-continue\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade\r\n",
        "Connection: close, keep-alive\r\n",
    ]
    body = chance.choice([chunked, b"0\r\n\r\n" + inner, inner])
    return http(body, extra=chance.choice(encodings), length=chance.choice(["", "0", "6", None]))


def odd_chunks(chance: random.Random) -> bytes:
    body = chance.choice(
        [
            b"FFFFFFFFFFFFFFFF\r\n",
            b"-1\r\n{}\r\n0\r\n\r\n",
            b"2;" + b"x" * 70_000 + b"\r\n{}\r\n0\r\n\r\n",
            b"2\r\n{}" + b"0\r\n\r\n",
            b"1\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: y\r\n\r\n",
            b"1\r\n{\r\n1\r\n}\r\n0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\r\n",
            b"1\r\n{\r\n" * 5_000,
            b"zz\r\n",
            b"2\n{}\n0\n\n",
        ]
    )
    return http(body, length=None, extra="Transfer-Encoding: chunked\r\n")


def odd_head(chance: random.Random) -> bytes:
    body = json.dumps(GET).encode()
    heads: list[Callable[[], bytes]] = [
        lambda: http(body, extra="X: " + "y" * 70_000 + "\r\n"),
        lambda: http(body, extra="".join(f"X-{n}: y\r\n" for n in range(5_000))),
        lambda: http(body, extra="no colon here\r\n"),
        lambda: http(body, extra=": no name\r\n"),
        lambda: http(body, extra="X\x00Y: z\r\n"),
        lambda: http(body, extra="X: \x00\x01\xff\r\n"),
        lambda: http(body, host=None),
        lambda: http(body, host="evil.example"),
        lambda: http(body, host="127.0.0.1\r\nHost: evil.example"),
        lambda: http(body, host="127.0.0.1:99999999"),
        lambda: http(body, path="/" + "x" * 100_000),
        lambda: http(body, path="http://evil.example/"),
        lambda: http(body, path="/../../etc/passwd"),
        lambda: http(body, method="\x00POST"),
        lambda: http(body, method="M" * 70_000),
        *(lambda m=m: http(body, method=m) for m in ("GET", "HEAD", "PUT", "TRACE", "CONNECT")),
        lambda: http(body, method="OPTIONS", extra="Origin: http://evil.example\r\n"),
        lambda: http(body).replace(b"\r\n", b"\n"),
        lambda: http(body).replace(b"HTTP/1.1", b"HTTP/9.9"),
        lambda: http(body).replace(b"HTTP/1.1", b"HTTP/1.0"),
        lambda: b"GET /\r\n\r\n",
        lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(200),
        lambda: chance.randbytes(chance.randrange(1, 5_000)),
        lambda: b"\r\n" * 10_000 + http(body),
        lambda: http(body) * 50,
    ]
    return chance.choice(heads)()


def wrong_target(chance: random.Random) -> bytes:
    targets = [
        None,
        "",
        "GetItem",
        PREFIX,
        PREFIX + "getitem",
        PREFIX + "GetItem ",
        PREFIX + "__class__",
        PREFIX + "close",
        PREFIX + "GetRecords",
        PREFIX + "ExecuteStatement",
        PREFIX + "CreateBackup",
        PREFIX + "X" * 10_000,
        "DynamoDBStreams_20120810.GetItem",
        "DynamoDB_20111205.GetItem",
        "a.b.c.d",
        PREFIX + "GetItem\r\nX-Amz-Target: " + PREFIX + "DeleteTable",
    ]
    return http(json.dumps(GET).encode(), target=chance.choice(targets))


ODD = [
    bad_json,
    deep_json,
    deep_expression,
    gzip_request,
    wrong_length,
    smuggling_request,
    odd_chunks,
    odd_head,
    wrong_target,
]
LARGE = [huge_key, large, large]
