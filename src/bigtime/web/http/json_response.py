"""An answer in JSON, for whoever asked and for no cache on the way: it may be theirs alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

NO_STORE: Final = {"cache-control": "no-store"}


def json_answer(body: bytes, status: int, headers: Mapping[str, str] | None = None) -> Response:
    told = {**NO_STORE, **(headers or {})}
    return Response(body, status, told, media_type="application/json")
