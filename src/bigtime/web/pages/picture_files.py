"""Pictures in this process: uploads are checked and kept for the worker, and files are served.

Files of pictures never change, so the ones that were asked for last stay in memory, also where the
place for pictures is a bucket of S3: browsers get them from this site alone.
"""

from __future__ import annotations

import asyncio
from typing import Final

from cachetools import LRUCache

from bigtime import site
from bigtime.pictures import PicturePlace
from bigtime.site import Pictured

MOST_CACHED_BYTES: Final = 32 * 1024 * 1024


class PictureFiles:
    """The place for pictures, beside the event loop."""

    def __init__(self, place: PicturePlace) -> None:
        self.place = place
        self._cache: LRUCache[str, bytes] = LRUCache(MOST_CACHED_BYTES, getsizeof=len)

    def find_cached(self, digest: str, width: int) -> bytes | None:
        """A file that is in memory."""
        return self._cache.get(site.file_name(digest, width))

    async def read(self, digest: str, width: int) -> bytes | None:
        """A file of WebP, read from its place; None if there is none."""
        name = site.file_name(digest, width)
        found = await asyncio.to_thread(self.place.read, name)
        if found is not None and len(found) < MOST_CACHED_BYTES:
            self._cache[name] = found
        return found

    async def keep_upload(self, of: Pictured, content: bytes) -> str:
        """Keeps a picture for the worker; returns the id of the upload."""
        upload_id = site.draw_upload_id(of)
        await asyncio.to_thread(self.place.write, site.incoming_name(upload_id), content)
        return upload_id

    async def drop_upload(self, upload_id: str) -> None:
        await asyncio.to_thread(self.place.remove, site.incoming_name(upload_id))
