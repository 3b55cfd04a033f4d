"""Static files: kept by browsers for an hour, or for good where the address tells the content.

Beside the name of a file an address may have a mark of what is in it, as pages write it: another
content has another address, so a browser need never ask again.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER: Final = Path(__file__).parents[1] / "static"
PLACE: Final = "/static"
AN_HOUR: Final = "public, max-age=3600"
FOR_GOOD: Final = "public, max-age=31536000, immutable"


class MarkedFiles(StaticFiles):
    """The files of a folder, with how long each may be kept."""

    def __init__(self, folder: Path = FOLDER) -> None:
        super().__init__(directory=folder)
        files = (one for one in folder.rglob("*") if one.is_file())
        self.marks = {str(file.relative_to(folder)): mark_of(file) for file in files}

    def address(self, name: str) -> str:
        """Where a file is, for a page."""
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
