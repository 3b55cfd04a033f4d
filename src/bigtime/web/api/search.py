"""`/api/v1/search`: deals by words, with filters, an order, counts and highlights."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import Field

from bigtime.projections.search import SearchPage
from bigtime.site import DealSort
from bigtime.web.api.bodies import Listed, ResponseBody, example
from bigtime.web.api.deals import FEATURED, DealShown
from bigtime.web.api.dependencies import FixedPages
from bigtime.web.api.routing import error_responses, json_routes, operation_id
from bigtime.web.pages import MOST_PRICE, MOST_TEXT, DealQuery

search_api: Final = APIRouter(
    prefix="/api/v1", tags=["search"], generate_unique_id_function=operation_id, **json_routes()
)


# Bodies


class DealFound(DealShown):
    """A deal that was found."""

    model_config = example(
        **{**FEATURED, "status": "active"},
        description="It shines.",
        createdAt="2026-11-15T10:30:00Z",
        endsAt=None,
        priceHistory=[{"at": "2026-11-15T10:30:00Z", "price": 19.99}],
        highlights={"title": "A brass <mark>lamp</mark>"},
    )

    highlights: dict[str, str] = Field(
        description="HTML by field: escaped text, with `<mark>` around the words found."
    )


class FacetShown(ResponseBody):
    """A value of a facet, with how many of the deals found have it."""

    model_config = example(value="HOME", hits=12)

    value: str
    hits: int


class DealsFound(Listed[DealFound]):
    """A page of the deals found."""

    total: int = Field(description="How many deals were found in all.")
    facets: dict[str, list[FacetShown]] = Field(
        description="Counts by `category` and `brand`, each as if it were not filtered by."
    )
    corrections: dict[str, str] = Field(
        description="Words that no deal has, with those that were searched for instead."
    )


# The route

Text = Annotated[str, Query(max_length=MOST_TEXT, description="The words to find.")]
Name = Annotated[str, Query(max_length=100)]
Price = Annotated[float | None, Query(ge=0, lt=MOST_PRICE, allow_inf_nan=False)]


@search_api.get(
    "/search",
    response_model=DealsFound,
    summary="Search Deals",
    responses=error_responses(400, 503),
)
async def search_deals(
    paging: FixedPages,
    q: Text = "",
    category: Annotated[Name, Query(description="Such as HOME.")] = "",
    brand: Annotated[Name, Query(description="Such as OAKMERE.")] = "",
    min_price: Annotated[Price, Query(alias="minPrice")] = None,
    max_price: Annotated[Price, Query(alias="maxPrice")] = None,
    sort: DealSort = DealSort.RELEVANCE,
) -> DealsFound:
    """Returns deals that have all the words, also with typos. Without words, all deals."""
    query = DealQuery.model_validate(
        {
            "q": q,
            "category": category,
            "brand": brand,
            "min_price": None if min_price is None else str(min_price),
            "max_price": None if max_price is None else str(max_price),
            "sort": sort,
        }
    )
    found = await paging.request.context.search.deals(query, paging.after)
    known = await paging.request.context.deals.by_ids([hit.key for hit in found.hits])
    highlights = {hit.key: hit.highlights for hit in found.hits}
    items = [
        {**dict(DealShown.model_validate(deal)), "highlights": highlights[deal.deal_id]}
        for deal in known
    ]
    return show_found(found, items, paging.request.write_cursor(found.position))


def show_found(
    found: SearchPage, items: list[dict[str, object]], start_at: str | None
) -> DealsFound:
    facets = {
        name: [{"value": count.value, "hits": count.hits} for count in counts]
        for name, counts in found.facets.items()
    }
    return DealsFound.model_validate(
        {
            "items": items,
            "start_at": start_at,
            "more_available": start_at is not None,
            "total": found.total,
            "facets": facets,
            "corrections": found.corrections,
        }
    )
