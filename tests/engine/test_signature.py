"""Signature Version 4, against botocore's signer."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.http.connection import MOST_TRANSPORTS, SignedConnection
from bigtime.engine.http.endpoint import Endpoint
from bigtime.engine.http.protocol import Call
from bigtime.engine.http.signature import verify
from bigtime.engine.iam import AccessKeys, read_access_keys
from bigtime.wire import DynamoDBError

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
KEYS: AccessKeys = read_access_keys(
    {
        "Users": [
            {
                "UserName": "alice",
                "AccessKeys": [{"AccessKeyId": "AKIDALICE", "SecretAccessKey": SECRET}],
            }
        ]
    }
)
BODY = b'{"TableName": "Orders"}'


def sign(
    body: bytes = BODY,
    *,
    secret: str = SECRET,
    key: str = "AKIDALICE",
    token: str | None = None,
    region: str = "us-east-1",
    service: str = "dynamodb",
    url: str = "http://127.0.0.1:8000/",
    **headers: str,
) -> Call:
    """A call as botocore signs it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = AWSRequest(
        "POST",
        url,
        {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.DescribeTable",
            **named,
        },
        body,
    )
    SigV4Auth(Credentials(key, secret, token), service, region).add_auth(request)
    target = re.sub("^https?://[^/]+", "", url).encode()
    sent = {name.lower().encode(): value.encode() for name, value in request.headers.items()}
    return Call(b"POST", {b"host": b"127.0.0.1:8000", **sent}, body, True, target)


def now() -> datetime:
    return datetime.now(UTC)


def refusal(call: Call, *, at: datetime | None = None) -> tuple[str, str]:
    with pytest.raises(DynamoDBError) as caught:
        verify(call, KEYS, at or now())
    assert caught.value.status == 400
    return caught.value.code, caught.value.message


def change(call: Call, header: str, value: str | None) -> Call:
    headers = {name: kept for name, kept in call.headers.items() if name != header.encode()}
    if value is not None:
        headers[header.encode()] = value.encode()
    return call._replace(headers=headers)


def test_what_botocore_signs_is_verified() -> None:
    assert verify(sign(), KEYS, now()).principal.name == "alice"


@given(
    st.binary(max_size=200),
    st.sampled_from(["us-east-1", "eu-west-1", "af-south-1"]),
    st.sampled_from(["/", "/?a=1&b=", "/?b=2&a=1", "/a b/c", "/a%20b?x=%2F%20y"]),
    st.from_regex(r"[ -~]{0,20}", fullmatch=True).map(str.strip),
)
def test_whatever_botocore_signs_is_verified(
    body: bytes, region: str, path: str, note: str
) -> None:
    call = sign(body, region=region, url=f"http://127.0.0.1:8000{path}", X_Amz_Note=note)
    assert verify(call, KEYS, now()).secret == SECRET


def test_spaces_in_a_signed_header_do_not_matter() -> None:
    call = sign(X_Amz_Note="a b c")
    verify(change(call, "x-amz-note", "  a   b  c "), KEYS, now())


# --- What is wrong with the signature -------------------------------------------------------------

MISMATCH = (
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details.",
)


def test_another_secret() -> None:
    assert refusal(sign(secret="guessed")) == MISMATCH


@pytest.mark.parametrize(
    "tampered",
    [
        lambda call: call._replace(body=BODY + b" "),
        lambda call: call._replace(method=b"PUT"),
        lambda call: call._replace(target=b"/?a=1"),
        lambda call: change(call, "x-amz-target", "DynamoDB_20120810.DeleteTable"),
        lambda call: change(call, "host", "evil.example"),
        lambda call: change(call, "content-type", "application/json"),
        lambda call: change(
            call, "authorization", call.headers[b"authorization"].decode()[:-1] + "x"
        ),
    ],
)
def test_whatever_was_signed_cannot_be_changed(tampered: Any) -> None:
    assert refusal(tampered(sign())) == MISMATCH


def test_an_unknown_access_key() -> None:
    expected = (
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )
    assert refusal(sign(key="NOBODY")) == expected
    assert refusal(sign(token="session")) == expected


def test_no_signature() -> None:
    for authorization in (None, "", "Bearer x", "Basic eDp5"):
        assert refusal(change(sign(), "authorization", authorization)) == (
            "MissingAuthenticationTokenException",
            "Request is missing Authentication Token",
        )


def test_a_request_may_be_fifteen_minutes_off() -> None:
    call = sign()
    sent = datetime.strptime(call.headers[b"x-amz-date"].decode(), "%Y%m%dT%H%M%SZ").replace(
        tzinfo=UTC
    )
    for minutes in (-15, 15):
        verify(call, KEYS, sent + timedelta(minutes=minutes))
    late = sent + timedelta(minutes=15, seconds=1)
    stamp = "%Y%m%dT%H%M%SZ"
    assert refusal(call, at=late) == (
        "InvalidSignatureException",
        f"Signature expired: {sent:{stamp}} is now earlier than "
        f"{late - timedelta(minutes=15):{stamp}} ({late:{stamp}} - 15 min.)",
    )
    early = sent - timedelta(minutes=15, seconds=1)
    assert refusal(call, at=early) == (
        "InvalidSignatureException",
        f"Signature not yet current: {sent:{stamp}} is still later than "
        f"{early + timedelta(minutes=15):{stamp}} ({early:{stamp}} + 15 min.)",
    )


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        (
            "AWS4-HMAC-SHA256",
            "AWS4-HMAC-SHA512",
            "IncompleteSignatureException",
            "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA512'.",
        ),
        (
            "/dynamodb/",
            "/s3/",
            "InvalidSignatureException",
            "Credential should be scoped to correct service: 'dynamodb'. ",
        ),
        (
            "aws4_request",
            "aws5_request",
            "InvalidSignatureException",
            "Credential should be scoped with a valid terminator: 'aws4_request', not "
            "'aws5_request'.",
        ),
        (
            r"Credential=\S+",
            "Credential=AKIDALICE,",
            "IncompleteSignatureException",
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            "keyid/date/region/service/term, got 'AKIDALICE'",
        ),
        (
            r"/\d{8}/",
            "/20110909/",
            "InvalidSignatureException",
            r"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
            r"from HTTP: '20110909' != '\d{8}', from '\d{8}T\d{6}Z'\.",
        ),
        (
            "host;",
            "",
            "InvalidSignatureException",
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
        ),
        (
            ";x-amz-target",
            "",
            "InvalidSignatureException",
            "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.",
        ),
        (
            ", Signature=",
            ", Signature",
            "IncompleteSignatureException",
            r"'Signature\w+' not a valid key=value pair \(missing equal-sign\) in Authorization "
            r"header: '.*'\.",
        ),
    ],
)
def test_what_is_wrong_with_the_header(old: str, new: str, code: str, message: str) -> None:
    call = sign()
    header = re.sub(old, new, call.headers[b"authorization"].decode())
    found, text = refusal(change(call, "authorization", header))
    assert found == code
    assert text == message or re.fullmatch(message, text)


def test_all_that_is_missing_is_named_at_once() -> None:
    call = change(change(sign(), "authorization", "AWS4-HMAC-SHA256"), "x-amz-date", None)
    assert refusal(call) == (
        "IncompleteSignatureException",
        "Authorization header requires 'Credential' parameter. Authorization header requires "
        "'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256",
    )


def test_a_date_that_is_none() -> None:
    code, text = refusal(change(sign(), "x-amz-date", "yesterday"))
    assert code == "IncompleteSignatureException"
    assert text.startswith("Date must be in ISO-8601 'basic format'. Got 'yesterday'.")


def test_a_header_that_amazon_would_read_must_be_signed() -> None:
    assert refusal(change(sign(), "x-amz-note", "slipped in")) == (
        "InvalidSignatureException",
        "'X-Amz-Note' must be a 'SignedHeader' in the AWS Authorization.",
    )


@given(st.text(max_size=80))
def test_no_header_makes_it_fail_otherwise(text: str) -> None:
    call = change(sign(), "authorization", "AWS4-HMAC-SHA256 Credential=" + text)
    assert refusal(call)[0] in (
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "UnrecognizedClientException",
    )


def test_secrets_are_not_in_what_is_printed() -> None:
    assert SECRET not in repr(KEYS)


class Wire:
    """The part of a transport that a signed connection asks about."""

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 4711) if name == "peername" else None


def test_a_connection_keeps_few_of_the_regions_that_it_was_signed_for(engine: Engine) -> None:
    connection = SignedConnection(Endpoint(engine, KEYS))
    connection.transport = Wire()  # type: ignore[assignment]
    for number in range(3 * MOST_TRANSPORTS):
        connection.engine_for(sign(region=f"eu-west-{number}"))
    assert len(connection.as_user) <= MOST_TRANSPORTS
