"""Signature Version 4: verifies that a call was recently signed with a known access key.

The signature covers the method, the URL, the signed headers and a hash of the body, so it is
recomputed from the bytes that arrived. `Host`, the date and every `X-Amz-` header must be signed:
`X-Amz-Target` is the operation. A request's date may be 15 minutes early or late.

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
STAMP: Final = "%Y%m%dT%H%M%SZ"
MISMATCH: Final = (
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)


class Authorization(NamedTuple):
    """The parsed Authorization header."""

    key_id: str
    date: str
    region: str
    signed_headers: tuple[str, ...]
    signature: str


def verify(call: Call, keys: AccessKeys, now: datetime) -> AccessKey:
    """The access key that signed the call; raises AWS's error if the signature is not valid."""
    header = call.headers.get(b"authorization", b"").decode("latin-1")
    if not header.startswith("AWS4-"):
        raise wire.MissingAuthenticationTokenException
    stamp = date_header(call.headers)
    given = read_authorization(header, stamp)
    moment = read_stamp(stamp)
    check_scope(given, moment, stamp)
    check_signed_headers(given, call.headers)
    key = keys.get(given.key_id)
    if key is None or b"x-amz-security-token" in call.headers:
        raise wire.UnrecognizedClientException
    check_date(moment, now)
    digest = sha256(canonical_request(call, given).encode("latin-1")).hexdigest()
    scope = f"{given.date}/{given.region}/{SERVICE}/{TERMINATOR}"
    text = f"{ALGORITHM}\n{moment:{STAMP}}\n{scope}\n{digest}"
    secret = signing_key(key.secret, given.date, given.region)
    expected = hmac.new(secret, text.encode("latin-1"), sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.signature.encode("latin-1")):
        raise wire.InvalidSignatureException(MISMATCH)
    return key


# --- The Authorization header ---------------------------------------------------------------------


def date_header(headers: Mapping[bytes, bytes]) -> str:
    return headers.get(b"x-amz-date", headers.get(b"date", b"")).decode("latin-1").strip()


def read_authorization(header: str, stamp: str) -> Authorization:
    algorithm, _, rest = header.partition(" ")
    if algorithm != ALGORITHM:
        raise wire.IncompleteSignatureException(f"Unsupported AWS 'algorithm': '{algorithm}'.")
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
    return authorization(parameters)


def authorization(parameters: Mapping[str, str]) -> Authorization:
    credential = parameters["Credential"]
    parts = credential.split("/")
    if len(parts) != 5:
        raise wire.IncompleteSignatureException(
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            f"keyid/date/region/service/term, got '{credential}'"
        )
    key_id, date, region, service, terminator = parts
    if service != SERVICE:
        raise wire.InvalidSignatureException(
            f"Credential should be scoped to correct service: '{SERVICE}'. "
        )
    if terminator != TERMINATOR:
        raise wire.InvalidSignatureException(
            f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not "
            f"'{terminator}'."
        )
    names = tuple(parameters["SignedHeaders"].lower().split(";"))
    return Authorization(key_id, date, region, names, parameters["Signature"])


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


def check_scope(given: Authorization, moment: datetime, stamp: str) -> None:
    if given.date != f"{moment:%Y%m%d}":
        raise wire.InvalidSignatureException(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
            f"HTTP: '{given.date}' != '{moment:%Y%m%d}', from '{stamp}'."
        )


def check_signed_headers(given: Authorization, headers: Mapping[bytes, bytes]) -> None:
    if "host" not in given.signed_headers:
        raise wire.InvalidSignatureException(
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
        )
    names = [name.decode("latin-1") for name in headers]
    needed = [name for name in names if name.startswith("x-amz-")]
    if b"x-amz-date" not in headers:
        needed.append("date")
    for name in needed:
        if name not in given.signed_headers:
            raise wire.InvalidSignatureException(
                f"'{name.title()}' must be a 'SignedHeader' in the AWS Authorization."
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


def canonical_request(call: Call, given: Authorization) -> str:
    path, _, query = call.target.decode("latin-1").partition("?")
    headers = "".join(
        f"{name}:{trim(call.headers.get(name.encode('latin-1'), b''))}\n"
        for name in given.signed_headers
    )
    return "\n".join(
        (
            call.method.decode("latin-1"),
            quote(path, safe="/-_.~") or "/",  # encoded again: AWS signs it encoded twice
            canonical_query(query),
            headers,
            ";".join(given.signed_headers),
            sha256(call.body).hexdigest(),
        )
    )


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
