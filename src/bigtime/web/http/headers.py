"""The headers that every answer carries, and why.

No script, style, picture or frame comes from anywhere but this site, and nothing runs that stands
in a page itself: a name that somebody smuggles into a page stays text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from starlette.responses import Response

Header: TypeAlias = tuple[bytes, bytes]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

ALWAYS: tuple[Header, ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
STRICT_TRANSPORT: Header = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def site_headers(*, secure: bool) -> tuple[Header, ...]:
    """Those of every answer; over TLS also that it must stay so."""
    return (*ALWAYS, STRICT_TRANSPORT) if secure else ALWAYS


# ------------------------------------------------------------------------------------------
# An answer in JSON, for whoever asked and for no cache on the way: it may be theirs alone.


NO_STORE: Final = {"cache-control": "no-store"}


def json_answer(body: bytes, status: int, headers: Mapping[str, str] | None = None) -> Response:
    told = {**NO_STORE, **(headers or {})}
    return Response(body, status, told, media_type="application/json")
