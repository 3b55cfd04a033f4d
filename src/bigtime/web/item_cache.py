"""The site's optional item cache in Redis, for the tables that pages show.

The web processes read through it, and their writes drop the items that they change. The worker
drops the items that it reads in the streams: those changed by its own writes, by commands, and by a
process that was killed before dropping them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bigtime.site import SHOWN
from bigtime.store import read_setting
from bigtime.web.http import Settings

if TYPE_CHECKING:
    from bigtime.store import RedisCache

TABLES: Final = frozenset(table.name for table in SHOWN)


def open_cache(settings: Settings) -> RedisCache | None:
    """This process's cache as configured; None where there is none."""
    url = settings.cache.get_secret_value()
    if not url:
        return None
    from bigtime.store import RedisCache

    return RedisCache(url, name_of_store(settings.store), tables=TABLES)


def name_of_store(setting: str) -> str:
    """The store's setting; a file by its absolute path, as working directories may differ."""
    kind, place = read_setting(setting)
    return f"file:{Path(place).resolve()}" if kind == "file" else setting
