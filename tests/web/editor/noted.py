"""What the list of changes tells."""

from __future__ import annotations

from bigtime.site.design import EditorChange
from bigtime.site.editing import view_changes
from tests.web.browsing import Web


def changes(web: Web) -> list[EditorChange]:
    found: list[EditorChange] = web.run(view_changes()).items
    return found


def noted_changes(web: Web) -> list[tuple[str, str, str]]:
    """Who did what, and to what; newest first."""
    return [(change.who, str(change.action), change.what) for change in changes(web)]
