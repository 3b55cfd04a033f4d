"""Search: deals by words, filtered by category, brand and price, in a chosen order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, urlencode

from fastapi import Response
from markupsafe import Markup
from starlette.responses import HTMLResponse

from bigtime import site
from bigtime.projections.search import Hit, SearchPage, SearchUnavailable
from bigtime.site import DealSort
from bigtime.systems import deals
from bigtime.web.http import status_of
from bigtime.web.pages import AppContext, AppRequest, DealQuery, check_form, page_router
from bigtime.wire import Steps

router = page_router()

SORTS: Final = (
    (DealSort.RELEVANCE, "Relevance"),
    (DealSort.NEWEST, "Newest"),
    (DealSort.PRICE, "Price: low to high"),
    (DealSort.HIGHEST_PRICE, "Price: high to low"),
    (DealSort.DISCOUNT, "Discount"),
)
MOST_CHOICES: Final = 10


class Result(NamedTuple):
    """A deal that was found, and what is highlighted in it."""

    deal: deals.Deal
    title: Markup | None
    description: Markup | None


class Choice(NamedTuple):
    """A value to filter by: a link that selects it, or deselects it if it is selected."""

    name: str
    hits: int
    link: str
    is_chosen: bool


@router.get("/search")
async def show_results(request: AppRequest, after: str | None = None) -> Response:
    """Deals that have all the words; `after` is the cursor of a further page."""
    form = check_form(DealQuery, dict(request.query_params))
    query = form.value or DealQuery()
    shown: dict[str, Any] = {
        "form": form,
        "query": query,
        "sorts": SORTS,
        "is_first": after is None,
        "fault": "",
        "found": None,
        "after": None,
    }
    status: int | None = None
    if form.value is not None:
        try:
            found = await request.context.search.deals(query, request.read_cursor(after))
        except SearchUnavailable as error:
            shown["fault"], status = str(error), int(status_of(error))
        else:
            shown |= await results_of(request.context, query, found)
    return await request.page("shopper/search.html", status=status, **shown)


async def results_of(context: AppContext, query: DealQuery, found: SearchPage) -> dict[str, Any]:
    known: dict[str, deals.Deal] = {deal.deal_id: deal for deal in await read_deals(context, found)}
    brands = await context.remember("brand names", (site.BRANDS,), brand_names)
    after = context.cursors.write(found.position)
    return {
        "found": found,
        "results": [
            Result(known[hit.key], mark_words(hit, "title"), mark_words(hit, "description"))
            for hit in found.hits
            if hit.key in known
        ],
        "categories": choices_of(query, found, "category", site.CATEGORY_NAMES),
        "brands": choices_of(query, found, "brand", brands),
        "after": after and link_to(query, after=after),
    }


def mark_words(hit: Hit, name: str) -> Markup | None:
    """A field with its highlights, as markup: its text is already escaped; None without any."""
    html = hit.highlights.get(name)
    return None if html is None else Markup(html)


async def read_deals(context: AppContext, found: SearchPage) -> list[deals.Deal]:
    """The deals as they are now; those that are gone are left out."""
    return await context.deals.by_ids([hit.key for hit in found.hits])


def brand_names() -> Steps[dict[str, str]]:
    names = yield from deals.fetch_all_brands()
    return {deals.brand_key(name): name for name in names}


def choices_of(
    query: DealQuery, found: SearchPage, field: str, names: Mapping[str, str]
) -> list[Choice]:
    chosen = getattr(query, field)
    others = link_to(query, **{field: ""})
    return [
        Choice(
            names.get(value, value),
            hits,
            others if value == chosen else f"{others}&{field}={quote_plus(value)}",
            value == chosen,
        )
        for value, hits in found.facets[field][:MOST_CHOICES]
    ]


def link_to(query: DealQuery, **changes: str) -> str:
    """The same search, changed."""
    fields = query.model_dump(mode="json", exclude_defaults=True) | changes
    given = {name: value for name, value in fields.items() if value}
    return f"/search?{urlencode({'q': query.q, **given})}"


@router.get("/search/suggestions")
async def show_suggestions(request: AppRequest, q: str = "") -> Response:
    """What may be meant, as options of the search box; none while there is no index."""
    try:
        found = await request.context.search.suggestions(q)
    except SearchUnavailable:
        found = []
    html = Markup("").join(Markup('<option value="{}">').format(text) for text in found)
    return HTMLResponse(html, headers={"cache-control": "private, max-age=60"})
