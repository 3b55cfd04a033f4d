"""What an update is told to change."""

from __future__ import annotations

from typing import Any

from bigtime.systems.catalog.errors import NothingToChange


def told(**fields: Any) -> dict[str, Any]:
    """The fields that are to change; there must be one."""
    given = {name: value for name, value in fields.items() if value is not None}
    if not given:
        raise NothingToChange
    return given
