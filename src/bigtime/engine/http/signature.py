"""Signature Version 4: verifies that a call was recently signed with a known access key.

It is in the Authorization header or in the query string. It covers the method, the URL, the signed
headers and a hash of the body, so it is recomputed from the bytes that arrived. A request's date
may be 15 minutes early or late. As for other services but S3, `X-Amz-Expires` does not change that
(https://github.com/kubernetes-sigs/aws-iam-authenticator/blob/master/pkg/token/token.go).

The checks are in AWS's order, as noted in
https://github.com/mhart/dynalite/blob/639b58df1f5073589c513fb9ba8917a7d7e335ba/index.js

1. The parameters, with all that are missing at once; the date.
2. `Host` must be signed; the algorithm; the credential's scope, with all that is wrong at once.
3. The access key; the signature; and last a session token, which no key here has.

`X-Amz-Target` and the date must be signed, for they say what is done, and when. Other headers may
be unsigned, as X-Amz-Content-Sha256 was on AWS (https://github.com/underarmour/dynago/issues/8).

A credential's scope names a region; any region is accepted, as for calls without users.

AWS: "Create a signed AWS API request", "Troubleshoot Signature Version 4 signing"
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from bigtime import wire
from bigtime.engine.http.protocol import Call
from bigtime.engine.iam import AccessKey, AccessKeys

ALGORITHM: Final = "AWS4-HMAC-SHA256"
TERMINATOR: Final = "aws4_request"
SERVICE: Final = "dynamodb"
SKEW: Final = timedelta(minutes=15)
PARAMETERS: Final = ("Credential", "Signature", "SignedHeaders")
QUERY_PARAMETERS: Final = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
)
STAMP: Final = "%Y%m%dT%H%M%SZ"
MISMATCH: Final = (
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)


class Authorization(NamedTuple):
    """The parsed Authorization header, or the same of a query string."""

    algorithm: str
    credential: str
    signed_headers: tuple[str, ...]
    signature: str
    stamp: str
    query: str
    """The part of the query string that is signed."""
    date_header: str | None
    """The header with the date, unless it is in the query string."""
    has_token: bool


class Scope(NamedTuple):
    """The parsed credential."""

    key_id: str
    date: str
    region: str
    service: str
    terminator: str


def verify(call: Call, keys: AccessKeys, now: datetime) -> AccessKey:
    """The access key that signed the call; raises AWS's error if the signature is not valid."""
    given = read_authorization(call)
    moment = read_stamp(given.stamp)
    check_date(moment, now)
    if "host" not in given.signed_headers:
        raise unsigned_header("'Host' or ':authority'")
    if given.algorithm != ALGORITHM:
        raise wire.IncompleteSignatureException(
            f"Unsupported AWS 'algorithm': '{given.algorithm}'."
        )
    scope = read_scope(given.credential)
    check_scope(scope, moment, given.stamp)
    key = keys.get(scope.key_id)
    if key is None:
        raise wire.UnrecognizedClientException
    check_signature(call, given, scope, moment, key)
    check_signed_headers(given, call.headers)
    if given.has_token:
        raise wire.UnrecognizedClientException
    return key


# --- Where the signature is -----------------------------------------------------------------------


def read_authorization(call: Call) -> Authorization:
    header = call.headers.get(b"authorization", b"").decode("latin-1")
    query = call.target.decode("latin-1").partition("?")[2]
    parameters = query_parameters(query) if "X-Amz-Algorithm" in query else {}
    if "X-Amz-Algorithm" not in parameters:
        if not header.startswith("AWS4-"):
            raise wire.MissingAuthenticationTokenException
        return of_header(header, query, call.headers)
    if header:
        raise wire.InvalidSignatureException(
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
            "header."
        )
    return of_query(parameters, query, call.headers)


def of_header(header: str, query: str, headers: Mapping[bytes, bytes]) -> Authorization:
    date_header = "x-amz-date" if b"x-amz-date" in headers else "date"
    stamp = headers.get(date_header.encode(), b"").decode("latin-1").strip()
    algorithm, _, rest = header.partition(" ")
    parameters = {}
    for part in rest.split(","):
        name, equal, value = part.strip().partition("=")
        if name and not equal:
            raise wire.IncompleteSignatureException(
                f"'{name}' not a valid key=value pair (missing equal-sign) in Authorization "
                f"header: '{header}'."
            )
        parameters[name] = value
    wanting = [
        f"Authorization header requires '{name}' parameter."
        for name in PARAMETERS
        if not parameters.get(name)
    ]
    if not stamp:
        wanting.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
        )
    if wanting:
        raise wire.IncompleteSignatureException(f"{' '.join(wanting)} Authorization={header}")
    return Authorization(
        algorithm,
        parameters["Credential"],
        header_names(parameters["SignedHeaders"]),
        parameters["Signature"],
        stamp,
        query,
        date_header,
        b"x-amz-security-token" in headers,
    )


def of_query(
    parameters: Mapping[str, str], query: str, headers: Mapping[bytes, bytes]
) -> Authorization:
    wanting = [
        f"AWS query-string parameters must include '{name}'. "
        for name in QUERY_PARAMETERS
        if not parameters.get(name)
    ]
    if wanting:
        raise wire.IncompleteSignatureException(
            f"{''.join(wanting)}Re-examine the query-string parameters."
        )
    parts = query.split("&")
    return Authorization(
        parameters["X-Amz-Algorithm"],
        parameters["X-Amz-Credential"],
        header_names(parameters["X-Amz-SignedHeaders"]),
        parameters["X-Amz-Signature"],
        parameters["X-Amz-Date"],
        "&".join(part for part in parts if not part.startswith("X-Amz-Signature=")),
        None,
        "X-Amz-Security-Token" in parameters or b"x-amz-security-token" in headers,
    )


def query_parameters(query: str) -> dict[str, str]:
    pairs = [part.partition("=")[::2] for part in query.split("&")]
    return {name: unquote(value, "latin-1") for name, value in pairs}


def header_names(names: str) -> tuple[str, ...]:
    return tuple(names.lower().split(";"))


# --- What is wrong with it ------------------------------------------------------------------------


def read_scope(credential: str) -> Scope:
    parts = credential.rstrip("/").split("/")
    if len(parts) != 5:
        raise wire.IncompleteSignatureException(
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            f"keyid/date/region/service/term, got '{credential}'"
        )
    return Scope(*parts)


def check_scope(scope: Scope, moment: datetime, stamp: str) -> None:
    wrong = []
    if scope.service != SERVICE:
        # With a blank at its end: https://github.com/arnemolland/sigv4/issues/15
        wrong.append(f"Credential should be scoped to correct service: '{SERVICE}'. ")
    if scope.terminator != TERMINATOR:
        wrong.append(
            f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not "
            f"'{scope.terminator}'. "
        )
    if scope.date != f"{moment:%Y%m%d}":
        wrong.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
            f"HTTP: '{scope.date}' != '{moment:%Y%m%d}', from '{stamp}'."
        )
    if wrong:
        raise wire.InvalidSignatureException("".join(wrong))


@lru_cache(64)
def read_stamp(stamp: str) -> datetime:
    try:
        return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(stamp).astimezone(UTC)
    except (ValueError, OverflowError):
        raise wire.IncompleteSignatureException(
            f"Date must be in ISO-8601 'basic format'. Got '{stamp}'. "
            "See http://en.wikipedia.org/wiki/ISO_8601"
        ) from None


def check_signed_headers(given: Authorization, headers: Mapping[bytes, bytes]) -> None:
    for name in ("x-amz-target", given.date_header):
        if name and name.encode() in headers and name not in given.signed_headers:
            raise unsigned_header(f"'{name.title()}'")


def unsigned_header(name: str) -> wire.InvalidSignatureException:
    return wire.InvalidSignatureException(
        f"{name} must be a 'SignedHeader' in the AWS Authorization."
    )


def check_date(moment: datetime, now: datetime) -> None:
    if moment < now - SKEW:
        raise wire.InvalidSignatureException(
            f"Signature expired: {moment:{STAMP}} is now earlier than {now - SKEW:{STAMP}} "
            f"({now:{STAMP}} - 15 min.)"
        )
    if moment > now + SKEW:
        raise wire.InvalidSignatureException(
            f"Signature not yet current: {moment:{STAMP}} is still later than "
            f"{now + SKEW:{STAMP}} ({now:{STAMP}} + 15 min.)"
        )


# --- What is signed ---------------------------------------------------------------------------


def check_signature(
    call: Call, given: Authorization, scope: Scope, moment: datetime, key: AccessKey
) -> None:
    """Raises AWS's error, which shows what should have been signed.

    As in https://github.com/boto/boto/issues/1552 and https://github.com/vibe-aws/vibe-aws/issues/1
    """
    request = canonical_request(call, given)
    digest = sha256(request.encode("latin-1")).hexdigest()
    named = f"{scope.date}/{scope.region}/{SERVICE}/{TERMINATOR}"
    text = f"{ALGORITHM}\n{moment:{STAMP}}\n{named}\n{digest}"
    secret = signing_key(key.secret, scope.date, scope.region)
    expected = hmac.new(secret, text.encode("latin-1"), sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.signature.encode("latin-1")):
        raise wire.InvalidSignatureException(
            f"{MISMATCH}\n\nThe Canonical String for this request should have been\n'{request}'\n\n"
            f"The String-to-Sign should have been\n'{text}'\n"
        )


def canonical_request(call: Call, given: Authorization) -> str:
    path = call.target.decode("latin-1").partition("?")[0]
    headers = "".join(
        f"{name}:{trim(call.headers.get(name.encode('latin-1'), b''))}\n"
        for name in given.signed_headers
    )
    return "\n".join(
        (
            call.method.decode("latin-1"),
            quote(normal_path(path), safe="/-_.~"),  # encoded again: AWS signs it encoded twice
            canonical_query(given.query),
            headers,
            ";".join(given.signed_headers),
            sha256(call.body).hexdigest(),
        )
    )


def normal_path(path: str) -> str:
    """The path without relative and empty parts."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts) + ("/" if parts and path.endswith("/") else "")


def canonical_query(query: str) -> str:
    if not query:
        return ""
    pairs = [part.partition("=")[::2] for part in query.split("&")]
    encoded = [tuple(quote(unquote(text), safe="-_.~") for text in pair) for pair in pairs]
    return "&".join("=".join(pair) for pair in sorted(encoded))


def trim(value: bytes) -> str:
    """Strips the value and collapses runs of spaces."""
    return b" ".join(value.split()).decode("latin-1")


@lru_cache(1024)
def signing_key(secret: str, date: str, region: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (date, region, SERVICE, TERMINATOR):
        key = hmac.new(key, part.encode("latin-1"), sha256).digest()
    return key
