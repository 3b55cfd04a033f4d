"""Lists of the APIs, page by page: how many are asked for, and where a page begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Generic, TypeAlias, TypeVar

from fastapi import Query
from pydantic import Field

from bigtime.model import Page
from bigtime.web.api.shapes import Shown
from bigtime.web.pages import Site

T = TypeVar("T")
S = TypeVar("S", bound=Shown)

PageSize: TypeAlias = Annotated[
    int, Query(alias="pageSize", ge=1, le=100, description="How many items a page has at most.")
]
StartAt: TypeAlias = Annotated[
    str | None,
    Query(
        alias="startAt",
        max_length=4_000,
        description="Where the page begins: `startAt` of the page before it.",
    ),
]
IncludeInactive: TypeAlias = Annotated[
    bool,
    Query(alias="includeInactive", description="Whether archived ones are listed too; for admins."),
]
USUAL_SIZE = 50


class Listed(Shown, Generic[S]):
    """One page of a list."""

    items: list[S]
    start_at: str | None = Field(description="Where the next page begins; null after the last.")
    more_available: bool


def listed(site: Site, page: Page[T], shown: Callable[[T], S]) -> Listed[S]:
    """A page as it is answered: each item as it is shown, and a signed cursor."""
    return Listed[S](
        items=[shown(one) for one in page],
        start_at=site.cursors.write(page.position),
        more_available=page.position is not None,
    )
