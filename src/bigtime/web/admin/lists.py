"""Admin lists: sorting, links to the next and previous page, and download as CSV.

An index sorts a list by one of its columns, over all pages. By any other column only the rows of a
page are sorted, and the page says so. A cursor only leads forward, so the links of a page include
the cursors of the pages before it, at most the last ten.

A CSV file has all pages of a list, read and sent one at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from starlette.responses import Response, StreamingResponse

from bigtime.model import Page, Position
from bigtime.site import Visitor, note_download
from bigtime.web.http import CSV, csv_headers, csv_text
from bigtime.web.pages import AppContext, AppRequest
from bigtime.wire import Steps

T = TypeVar("T")

MOST_BEFORE: Final = 10
AT_ONCE: Final = 100
"""Rows per request for a CSV file."""
MOST_NOTED: Final = 300


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column: its value for a row, and whether an index sorts the list by it."""

    name: str
    label: str
    value: Callable[[T], Any]
    by_index: bool = False
    is_number: bool = False
    is_shown: bool = True
    """Whether it is on the page; otherwise it is only in the CSV file."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column, with the link that sorts by it; `order` is for `aria-sort`."""

    label: str
    link: str
    order: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list as requested: its path, columns and filters, and the order of its rows."""

    path: str
    columns: Sequence[Column[T]]
    filters: dict[str, str]
    sort: str
    before: tuple[str, ...] = ()
    after: str | None = None

    @property
    def column(self) -> Column[T]:
        return next(each for each in self.columns if each.name == self.sort.removeprefix("-"))

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    def newest_first(self, default: bool) -> bool:
        """Whether the index is read in descending order."""
        return self.is_descending if self.column.by_index else default

    def rows(self, items: Iterable[T]) -> list[T]:
        """The rows of a page, in the requested order."""
        if self.column.by_index:
            return list(items)
        return sorted(items, key=self.sort_key, reverse=self.is_descending)

    def sort_key(self, item: T) -> tuple[bool, Any]:
        value = self.column.value(item)
        return value is not None, value.casefold() if isinstance(value, str) else value

    # Links

    def link(self, **changed: str | None) -> str:
        return with_given(self.path, {**self.filters, "sort": self.sort, **changed})

    @property
    def csv_link(self) -> str:
        return with_given(f"{self.path}.csv", self.filters)

    @property
    def headings(self) -> list[Heading]:
        return [self.heading(each) for each in self.columns if each.is_shown]

    def heading(self, column: Column[T]) -> Heading:
        if self.column is not column:
            return Heading(column.label, self.link(sort=column.name), "", column.is_number)
        order = "descending" if self.is_descending else "ascending"
        other = column.name if self.is_descending else f"-{column.name}"
        return Heading(column.label, self.link(sort=other), order, column.is_number)

    def next_link(self, position: str | None) -> str | None:
        if not position:
            return None
        before = (*self.before, self.after)[-MOST_BEFORE:] if self.after else self.before
        return self.link(after=position, before=",".join(filter(None, before)))

    @property
    def previous_link(self) -> str | None:
        """The page before this one; the first page if its cursor is no longer known."""
        if not self.after:
            return None
        if not self.before:
            return self.link()
        return self.link(after=self.before[-1], before=",".join(self.before[:-1]))


def with_given(path: str, query: Mapping[str, str | None]) -> str:
    """A path with those parameters of a query that have a value."""
    text = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{text}" if text else path


def listing_of(
    request: AppRequest, columns: Sequence[Column[T]], *, sort: str, filters: Iterable[str] = ()
) -> Listing[T]:
    """The requested list; an unknown column to sort by counts as `sort`."""
    query = request.query_params
    wanted = query.get("sort", "")
    known = {column.name for column in columns}
    return Listing(
        request.url.path,
        columns,
        {name: query.get(name, "") for name in filters},
        wanted if wanted.removeprefix("-") in known else sort,
        tuple(filter(None, query.get("before", "").split(",")))[-MOST_BEFORE:],
        query.get("after"),
    )


async def answer_listing(
    request: AppRequest, template: str, listing: Listing[Any], found: Page[Any], **values: Any
) -> Response:
    """A page of a list, its rows in order, with links to the next and previous pages."""
    next_link = listing.next_link(request.write_cursor(found.position))
    is_part = not listing.column.by_index and bool(next_link or listing.previous_link)
    return await request.form_page(
        template,
        listing=listing,
        rows=listing.rows(found.items),
        next_link=next_link,
        is_part=is_part,
        **values,
    )


# CSV


async def answer_csv(
    context: AppContext,
    name: str,
    columns: Sequence[Column[T]],
    read: Callable[[Position | None], Steps[Page[T]]],
) -> Response:
    """All rows as a CSV file; the first page is read before the response begins."""
    first = await context.store.run(read(None))

    async def parts() -> AsyncIterator[str]:
        yield csv_text([[column.label for column in columns]])
        page = first
        while True:
            yield csv_text([column.value(item) for column in columns] for item in page)
            if page.position is None:
                return
            page = await context.store.run(read(page.position))

    return StreamingResponse(parts(), media_type=CSV, headers=csv_headers(name))


async def download_list(
    request: AppRequest,
    admin: Visitor,
    name: str,
    columns: Sequence[Column[T]],
    read: Callable[[Position | None], Steps[Page[T]]],
) -> Response:
    """A list with personal data as a CSV file; the download is logged first."""
    request.count_write(admin.login)
    answer = await answer_csv(request.context, name, columns, read)
    filters = ", ".join(f"{key} {value}" for key, value in request.query_params.items() if value)
    await request.run(note_download(name, filters[:MOST_NOTED] or "all", by=admin.username))
    return answer
