"""Lists of the APIs, page by page: how many items are asked for, and where a page begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from fastapi import Depends, Query
from pydantic import Field

from bigtime.model import Cursors, Page, Position
from bigtime.web.api.access import CurrentContext
from bigtime.web.api.bodies import ResponseBody

T = TypeVar("T")
S = TypeVar("S", bound=ResponseBody)

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


class Listed(ResponseBody, Generic[S]):
    """One page of a list."""

    items: list[S]
    start_at: str | None = Field(description="Where the next page begins; null after the last.")
    more_available: bool


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """What `Listed` is made of: the items, and a signed cursor."""

    items: list[T]
    start_at: str | None

    @property
    def more_available(self) -> bool:
        return self.start_at is not None

    @classmethod
    def of(cls, page: Page[T], cursors: Cursors) -> Items[T]:
        return cls([*page], cursors.write(page.position))


@dataclass(frozen=True, slots=True)
class Paging:
    """The page that a request asks for."""

    limit: int
    after: Position | None
    cursors: Cursors

    @property
    def query(self) -> dict[str, Any]:
        """The arguments of a pattern that lists."""
        return {"limit": self.limit, "after": self.after}

    def items(self, page: Page[T]) -> Items[T]:
        return Items.of(page, self.cursors)

    def map_items(self, page: Page[T], show: Callable[[T], S]) -> Items[S]:
        return self.items(Page([show(item) for item in page], page.position))


def paging_by(usual: int) -> Callable[..., Awaitable[Paging]]:
    async def read_paging(
        context: CurrentContext, page_size: PageSize = usual, start_at: StartAt = None
    ) -> Paging:
        return Paging(page_size, context.cursors.read(start_at), context.cursors)

    return read_paging


PagesOf10: TypeAlias = Annotated[Paging, Depends(paging_by(10))]
PagesOf25: TypeAlias = Annotated[Paging, Depends(paging_by(25))]
PagesOf50: TypeAlias = Annotated[Paging, Depends(paging_by(50))]


async def read_start(context: CurrentContext, start_at: StartAt = None) -> Paging:
    return Paging(0, context.cursors.read(start_at), context.cursors)


FixedPages: TypeAlias = Annotated[Paging, Depends(read_start)]
"""For lists whose page size the system sets."""
