"""Analytics for editors and admins: reports over some days, as charts with tables and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Response

from bigtime.model import Malformed
from bigtime.projections.lake import Result
from bigtime.site import REPORTS, Visitor
from bigtime.systems import accounts
from bigtime.web.http import CSV, NoSuchPage, csv_headers, csv_text
from bigtime.web.pages import AppRequest, label_of, page_router, show_reports, today, visitor_with

DAYS: Final = 30
MOST_DAYS: Final = 366

analytics = page_router()


EITHER: Final = visitor_with(accounts.Role.EDITOR, accounts.Role.ADMIN)
Analyst: TypeAlias = Annotated[Visitor, Depends(EITHER)]


def range_of(since: str, until: str) -> tuple[date, date]:
    """The requested days; the last thirty by default."""
    try:
        last = date.fromisoformat(until) if until else today()
        first = date.fromisoformat(since) if since else last - timedelta(days=DAYS - 1)
    except (ValueError, OverflowError):  # dates begin with the year 1
        raise Malformed("Write a day as 2026-11-16.") from None
    if not timedelta() <= last - first < timedelta(days=MOST_DAYS):
        raise Malformed("The first day comes before the last, at most a year before.")
    return first, last


@analytics.get("/analytics")
async def show_overview(
    request: AppRequest, who: Analyst, since: str = "", until: str = ""
) -> Response:
    """All reports of a range of days."""
    first, last = range_of(since, until)
    shown = await show_reports(request.context, list(REPORTS.values()), first, last)
    ranges = [(f"{days} days", today() - timedelta(days=days - 1)) for days in (7, 30, 90, 365)]
    page = request.context.templates.page(
        "analytics/overview.html", shown=shown, ranges=ranges, today=today(), label_of=label_of
    )
    return await request.answer(page)


@analytics.get("/analytics/{name}.csv")
async def download_report(
    request: AppRequest, who: Analyst, name: str, since: str = "", until: str = ""
) -> Response:
    """The rows of a report."""
    report = REPORTS.get(name)
    if report is None:
        raise NoSuchPage
    first, last = range_of(since, until)
    shown = await show_reports(request.context, [report], first, last)
    if not shown.reports:
        return Response(f"{shown.reason}\n", 503, media_type="text/plain")
    result = shown.reports[0].result
    text = csv_text([result.names, *map(partial(row_of, result), result.rows)])
    return Response(text, media_type=CSV, headers=csv_headers(f"{name}-{first}-{last}"))


def row_of(result: Result, row: Sequence[Any]) -> list[Any]:
    """A row with numbers in place of the strings that exact numbers are returned as."""
    return [
        Decimal(value) if kind.startswith("DECIMAL") and value is not None else value
        for (_, kind), value in zip(result.columns, row, strict=True)
    ]
