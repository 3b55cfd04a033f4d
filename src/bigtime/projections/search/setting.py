"""The one setting that chooses where indexes are stored: a folder, OpenSearch, or nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bigtime.model import SearchIndex
from bigtime.projections.search.port import Backend, SearchOff
from bigtime.store import read_setting

OFF: Final = "off"
SHAPE: Final = "a folder, as folder:data/search, or OpenSearch, as https://host:9200, or off"


def open_backend(setting: str, index: SearchIndex) -> Backend:
    """The index that a setting names; raises SearchOff, or MissingExtra if a package is missing."""
    check_setting(setting)
    kind, _, place = setting.partition(":")
    if kind == OFF:
        raise SearchOff()
    if kind == "folder":
        from bigtime.projections.search.tantivy_index import TantivyBackend

        return TantivyBackend(Path(place), index)
    from bigtime.projections.search.opensearch_index import OpenSearchBackend

    return OpenSearchBackend(setting, index)


def default_place(store: str, data: Path = Path("data")) -> str:
    """The default setting: beside the store's file, or among the site's files."""
    kind, place = read_setting(store)
    beside = f"{place}.search" if kind == "file" else data / "search"
    return f"folder:{beside}"


def check_setting(setting: str) -> str:
    """Returns the setting if it is valid; raises ValueError otherwise."""
    kind, _, place = setting.partition(":")
    if setting != OFF and not (kind in ("folder", "http", "https") and place.strip("/")):
        raise ValueError(f"search must be {SHAPE}; {setting!r} is none")
    return setting
