"""Responses: common headers, JSON, redirects, CSV files, static files.

The content security policy allows scripts, styles, pictures and frames from this site only, and no
inline script: a name with markup in it stays text.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from hashlib import sha256
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from typing import Final, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from bigtime.model import DomainError

K = TypeVar("K", bound=str)

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
    """The headers of every response; over TLS with Strict-Transport-Security."""
    return (*ALWAYS, STRICT_TRANSPORT) if secure else ALWAYS


NO_STORE: Final = {"cache-control": "no-store"}


def json_answer(body: bytes, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """JSON that no cache may store, as it may be personal."""
    return Response(body, status, {**NO_STORE, **(headers or {})}, media_type="application/json")


# Redirects


BUTTONS = ("like", "unlike", "watch", "unwatch")
"""The last segment of the paths that the forms on a brand's or a category's page post to."""


def see_other(address: str) -> Response:
    """A redirect to the page after a form (303)."""
    return RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)


def with_query(request: Request, address: str) -> str:
    """A URL with the query of a request."""
    query: str = request.scope["query_string"].decode("latin-1")
    return f"{address}?{query}" if query else address


def key_of(name: str, spell: Callable[[str], K], unknown: type[DomainError]) -> K:
    """The key or id of a name in a path; raises `unknown` if it cannot be a name."""
    try:
        return spell(name)
    except DomainError:
        raise unknown() from None


def page_of_button(folder: str, name: str) -> str | None:
    """The page whose form posts to this path: for `APPLE/LIKE` it is `APPLE`."""
    before, _, button = name.rpartition("/")
    return folder + quote(before, safe="") if before and button.lower() in BUTTONS else None


def redirect_to_canonical(folder: str, key: str) -> Response:
    """A redirect (308) from another spelling of a name to its page."""
    address = folder + quote(key, safe="")
    return RedirectResponse(address, status_code=HTTPStatus.PERMANENT_REDIRECT)


# A link to the sign-in page may name any page to go to next. Only pages of this site are accepted;
# browsers read `//host`, `/\host` and a path with a tab or newline in it as another site's.
LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
MOST_CHARACTERS = 2_000
SIGN_IN_PATHS = (
    "/log-in",
    "/sign-up",
    "/log-out",
    "/confirm-email",
    "/forgot-password",
    "/reset-password",
)
"""Pages that are not returned to after signing in."""


def local_path(text: str | None, *, default: str = "/") -> str:
    """The path if it is on this site, or else the default."""
    if not text or len(text) > MOST_CHARACTERS or not LOCAL.fullmatch(text):
        return default
    parts = urlsplit(text)
    if parts.scheme or parts.netloc or parts.path.startswith(SIGN_IN_PATHS):
        return default
    return text if text.isascii() else default


# CSV files for spreadsheets. A cell that a spreadsheet would read as a formula gets a leading
# apostrophe (OWASP, "CSV Injection"); numbers stay numbers.


CSV: Final = "text/csv; charset=utf-8"
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_headers(name: str) -> dict[str, str]:
    """The headers that make a browser save a file."""
    return {
        "content-disposition": f'attachment; filename="{name}.csv"',
        "cache-control": "no-store",
    }


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    text = StringIO()
    csv.writer(text).writerows([cell_text(value) for value in row] for row in rows)
    return text.getvalue()


def cell_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return f"{value:f}"
        case date():
            return value.isoformat()
        case int() | float():
            return str(value)
    text = str(value)
    return f"'{text}" if text.startswith(FORMULAS) else text


# Static files: cached by browsers for an hour, or permanently under a URL with the content's hash


FOLDER: Final = Path(__file__).parents[1] / "static"
PLACE: Final = "/static"
AN_HOUR: Final = "public, max-age=3600"
FOR_GOOD: Final = "public, max-age=31536000, immutable"


class MarkedFiles(StaticFiles):
    """The files of a folder; `marks` are hashes of their content, which URLs have as query."""

    def __init__(self, folder: Path = FOLDER) -> None:
        super().__init__(directory=folder)
        files = (path for path in folder.rglob("*") if path.is_file())
        self.marks = {str(file.relative_to(folder)): mark_of(file) for file in files}

    def address(self, name: str) -> str:
        """The URL of a file, for a page."""
        return f"{PLACE}/{name}?{self.marks[name]}"

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        mark = self.marks.get(self.get_path(scope))
        is_marked = mark is not None and scope["query_string"] == mark.encode()
        response.headers["cache-control"] = FOR_GOOD if is_marked else AN_HOUR
        return response


def mark_of(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()[:12]
