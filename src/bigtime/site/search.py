"""Search on the site: deals by words, filters and order, and tenants by organization or e-mail.

    page = searches.search_deals("headphones", DealFilters(category="ELECTRONICS"), DealSort.PRICE)

A page has the ids of the deals, what to highlight in each, counts of the hits by category and
brand, and a position, which the web layer turns into a signed cursor. The index may lag a second or
two behind the tables: a deal that is gone is left out when the deals are read.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from bigtime import model as bt
from bigtime.extras import MissingExtra
from bigtime.projections import search
from bigtime.site.systems import SYSTEMS
from bigtime.store import Store
from bigtime.systems import deals, portal

log = logging.getLogger("bigtime.search")

TENANTS_PER_PAGE: Final = 20


class DealSort(StrEnum):
    """The order of the deals that were found."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    PRICE = "price"
    HIGHEST_PRICE = "highest-price"
    DISCOUNT = "discount"


FIELDS: Final = {
    DealSort.NEWEST: "-created_at",
    DealSort.PRICE: "price",
    DealSort.HIGHEST_PRICE: "-price",
    DealSort.DISCOUNT: "-discount",
}


@dataclass(frozen=True, slots=True)
class DealFilters:
    """Which deals are wanted; None is any."""

    category: str | None = None
    brand: str | None = None
    min_price: Decimal | None = None
    max_price: Decimal | None = None


ANY_DEALS: Final = DealFilters()


class Searches:
    """The readers of all indexes at a place. Where search is off, every question raises SearchOff.

    They block, and are thread-safe.
    """

    def __init__(self, setting: str) -> None:
        self.readers: dict[str, search.Reader] = {}
        try:
            for index in declared_searches():
                self.readers[index.name] = search.open_backend(setting, index).reader()
        except search.SearchOff:
            self.readers.clear()
        except MissingExtra as error:
            log.warning("search is off: %s", error)
            self.readers.clear()

    def search_deals(
        self,
        text: str,
        filters: DealFilters = ANY_DEALS,
        sort: DealSort = DealSort.RELEVANCE,
        after: bt.Position | None = None,
        *,
        limit: int = deals.PAGE,
    ) -> search.SearchPage:
        """A page of deals that contain all the words; without words, of all deals, newest first."""
        order = FIELDS.get(sort)
        if order is None and not search.words_of(text):
            order = FIELDS[DealSort.NEWEST]
        chosen = {"category": filters.category, "brand": filters.brand}
        query = search.Query(
            text,
            filters={name: (value,) for name, value in chosen.items() if value},
            ranges={"price": search.Range(filters.min_price, filters.max_price)},
            sort=order,
            limit=limit,
            after=after,
        )
        return self.reader(deals.DEAL_SEARCH).find(query)

    def suggest_deals(self, text: str) -> list[str]:
        """Completions of the text."""
        return self.reader(deals.DEAL_SEARCH).suggest(text)

    def search_tenants(self, text: str, after: bt.Position | None = None) -> search.SearchPage:
        """A page of tenants, by words of the organization or parts of the e-mail address."""
        query = search.Query(text, limit=TENANTS_PER_PAGE, after=after)
        return self.reader(portal.TENANT_SEARCH).find(query)

    def reader(self, index: bt.SearchIndex) -> search.Reader:
        if index.name not in self.readers:
            raise search.SearchOff()
        return self.readers[index.name]


def declared_searches() -> list[bt.SearchIndex]:
    return [index for system in SYSTEMS for index in system.searches]


def search_followers(setting: str, store: Store) -> list[search.Follower]:
    """What keeps the indexes up to date, for the worker; none where search is off."""
    try:
        backends = [search.open_backend(setting, index) for index in declared_searches()]
    except (search.SearchOff, MissingExtra):
        return []
    return [search.Follower(store, backend) for backend in backends]
