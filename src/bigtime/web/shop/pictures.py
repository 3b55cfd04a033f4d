"""Picture files, under URLs that contain the content's hash."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from fastapi import Response
from starlette.exceptions import HTTPException

from bigtime.web.http import FOR_GOOD
from bigtime.web.pages import AppRequest, page_router

router = page_router()

DIGEST: Final = re.compile(r"[0-9a-f]{32}")
WIDTH: Final = re.compile(r"[1-9][0-9]{0,4}")
MISSING: Final = "missing picture"
"""The limit that counts files that are not there."""


@router.get("/pictures/{digest}/{width}.webp")
async def show_picture(request: AppRequest, digest: str, width: str) -> Response:
    """A picture in one of its widths; it never changes, so browsers keep it for good."""
    if not DIGEST.fullmatch(digest) or not WIDTH.fullmatch(width):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    etag = f'"{digest}-{width}"'
    headers = {"cache-control": FOR_GOOD, "etag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    content = await read_file(request, digest, int(width))
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(content, headers=headers, media_type="image/webp")


async def read_file(request: AppRequest, digest: str, width: int) -> bytes | None:
    """The file, from memory or its place; raises TooManyTries after many that do not exist.

    Anybody can make up digests, and each would cost a read of the folder or of S3.
    """
    content = request.context.pictures.find_cached(digest, width)
    if content is None:
        client = request.network
        request.context.limits.take(MISSING, client)
        content = await request.context.pictures.read(digest, width)
        if content is not None:
            request.context.limits.give_back(MISSING, client)
    return content
