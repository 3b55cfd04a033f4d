"""Signature Version 4, against botocore's signer."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.http.connection import MOST_TRANSPORTS, SignedConnection
from bigtime.engine.http.endpoint import Endpoint
from bigtime.engine.http.protocol import Call, signing_region
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


class BodyKept(SigV4QueryAuth):
    """Signs the body; botocore moves it into the query string."""

    def __init__(self, credentials: Credentials, service: str, region: str, body: bytes) -> None:
        super().__init__(credentials, service, region)
        self.body = body

    def payload(self, request: Any) -> str:
        return sha256(self.body).hexdigest()


def presign(body: bytes = BODY, *, token: str | None = None, region: str = "eu-west-1") -> Call:
    """A call that is signed in its query string."""
    sent = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.DescribeTable",
    }
    request = AWSRequest("POST", "http://127.0.0.1:8000/", sent)
    BodyKept(Credentials("AKIDALICE", SECRET, token), "dynamodb", region, body).add_auth(request)
    headers = {name.lower().encode(): value.encode() for name, value in sent.items()}
    target = (request.url or "").removeprefix("http://127.0.0.1:8000").encode()
    return Call(b"POST", {b"host": b"127.0.0.1:8000", **headers}, body, True, target)


def alter(call: Call, old: str, new: str) -> Call:
    return call._replace(target=re.sub(old, new, call.target.decode()).encode())


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
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)


def is_mismatch(call: Call) -> bool:
    code, message = refusal(call)
    return code == "InvalidSignatureException" and message.startswith(f"{MISMATCH}\n\n")


def test_another_secret() -> None:
    """The words are those of https://github.com/boto/boto/issues/1552."""
    call = sign(secret="guessed")
    date = call.headers[b"x-amz-date"].decode()
    request = (
        "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:127.0.0.1:8000\n"
        f"x-amz-date:{date}\nx-amz-target:DynamoDB_20120810.DescribeTable\n\n"
        f"content-type;host;x-amz-date;x-amz-target\n{sha256(BODY).hexdigest()}"
    )
    assert refusal(call) == (
        "InvalidSignatureException",
        f"{MISMATCH}\n\nThe Canonical String for this request should have been\n'{request}'\n\n"
        f"The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n{date}\n"
        f"{date[:8]}/us-east-1/dynamodb/aws4_request\n{sha256(request.encode()).hexdigest()}'\n",
    )


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
    assert is_mismatch(tampered(sign()))


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
            "'aws5_request'. ",
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
            r"/\d{8}/us-east-1/dynamodb/aws4_request",
            "/20110909/us-east-1/s3/aws5_request",
            "InvalidSignatureException",
            r"Credential should be scoped to correct service: 'dynamodb'\. Credential should be "
            r"scoped with a valid terminator: 'aws4_request', not 'aws5_request'\. Date in "
            r"Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            r"'20110909' != '\d{8}', from '\d{8}T\d{6}Z'\.",
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


class PartialAuth(SigV4Auth):
    """Signs without some of the headers."""

    def __init__(self, *unsigned: str) -> None:
        super().__init__(Credentials("AKIDALICE", SECRET), "dynamodb", "us-east-1")
        self.unsigned = unsigned

    def headers_to_sign(self, request: Any) -> Any:
        found = super().headers_to_sign(request)
        for name in self.unsigned:
            del found[name]
        return found


@pytest.mark.parametrize("name", ["X-Amz-Target", "X-Amz-Date"])
def test_a_header_that_the_endpoint_reads_must_be_signed(name: str) -> None:
    assert refusal(sign_without(name)) == (
        "InvalidSignatureException",
        f"'{name}' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_a_header_that_nobody_reads_may_be_unsigned() -> None:
    """X-Amz-Content-Sha256 is, by an older SDK: https://github.com/underarmour/dynago/issues/8."""
    verify(change(sign(), "x-amz-content-sha256", sha256(BODY).hexdigest()), KEYS, now())


def sign_without(*unsigned: str) -> Call:
    request = AWSRequest(
        "POST",
        "http://127.0.0.1:8000/",
        {"X-Amz-Target": "DynamoDB_20120810.DescribeTable"},
        BODY,
    )
    PartialAuth(*unsigned).add_auth(request)
    sent = {name.lower().encode(): value.encode() for name, value in request.headers.items()}
    return Call(b"POST", {b"host": b"127.0.0.1:8000", **sent}, BODY)


def test_an_old_request_is_expired_whatever_else_is_wrong_with_it() -> None:
    old = change(sign(key="NOBODY", service="s3"), "x-amz-date", "20130301T000000Z")
    assert refusal(old)[1].startswith("Signature expired: 20130301T000000Z is now earlier than ")


def test_a_scope_may_end_with_slashes() -> None:
    header = sign().headers[b"authorization"].decode()
    verify(
        change(sign(), "authorization", header.replace("aws4_request", "aws4_request//")),
        KEYS,
        now(),
    )


@pytest.mark.parametrize("path", ["//", "/./", "/a/..", "/a//b/./c", "/a/../b/", "/..", "/a/%2E"])
def test_a_path_is_signed_without_its_relative_and_empty_parts(path: str) -> None:
    verify(sign(url=f"http://127.0.0.1:8000{path}"), KEYS, now())


# --- In the query string --------------------------------------------------------------------------


@given(st.binary(max_size=200), st.sampled_from(["us-east-1", "eu-west-1"]))
def test_what_botocore_presigns_is_verified(body: bytes, region: str) -> None:
    call = presign(body, region=region)
    assert verify(call, KEYS, now()).principal.name == "alice"
    assert signing_region(call) == region


@pytest.mark.parametrize(
    "tampered",
    [
        lambda call: call._replace(body=BODY + b" "),
        lambda call: alter(call, "$", "&a=1"),
        lambda call: alter(call, "Expires=3600", "Expires=604800"),
        lambda call: alter(call, "eu-west-1", "us-east-1"),
        lambda call: alter(call, "Signature=.", "Signature=%FF"),
        lambda call: change(call, "x-amz-target", "DynamoDB_20120810.DeleteTable"),
    ],
)
def test_whatever_was_presigned_cannot_be_changed(tampered: Any) -> None:
    assert is_mismatch(tampered(presign()))


def test_a_presigned_request_is_valid_for_fifteen_minutes() -> None:
    late = now() + timedelta(minutes=16)
    assert refusal(presign(), at=late)[1].startswith("Signature expired: ")


def test_a_presigned_request_with_a_session_token() -> None:
    assert refusal(presign(token="session"))[0] == "UnrecognizedClientException"


def test_all_that_is_missing_in_a_query_string_is_named_at_once() -> None:
    bare = presign()._replace(target=b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=")
    assert refusal(bare) == (
        "IncompleteSignatureException",
        "AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters "
        "must include 'X-Amz-Signature'. AWS query-string parameters must include "
        "'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. Re-examine "
        "the query-string parameters.",
    )


def test_a_request_that_is_signed_twice() -> None:
    both = sign()._replace(target=presign().target)
    assert refusal(both) == (
        "InvalidSignatureException",
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    )


@given(st.text(st.characters(codec="latin-1"), max_size=80))
def test_no_query_string_makes_it_fail_otherwise(text: str) -> None:
    call = presign()
    assert refusal(
        call._replace(target=call.target + b"&X-Amz-Credential=" + text.encode("latin-1"))
    )
    assert refusal(call._replace(target=b"/?X-Amz-Algorithm=" + text.encode("latin-1")))


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
