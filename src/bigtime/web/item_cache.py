"""The item cache of the site, by setting: of the tables that pages show, in Redis.

The web processes read through it, and their writes drop what they change. The worker drops what it
reads in the streams: its own writes, those of commands, and what a killed process could not tell.
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
    """The cache that is set, for this process; None where there is none."""
    url = settings.cache.get_secret_value()
    if not url:
        return None
    from bigtime.store import RedisCache

    return RedisCache(url, name_of_store(settings.store), tables=TABLES)


def name_of_store(setting: str) -> str:
    """The setting; a file by its whole path, for each process may stand in another folder."""
    kind, place = read_setting(setting)
    return f"file:{Path(place).resolve()}" if kind == "file" else setting
