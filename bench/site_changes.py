"""Changes to everything that the site's public pages show."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Final

from bench.site_scene import PageOf, Read
from bigtime.model import Conflict, Steps
from bigtime.store import Store
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.featured import PageName, refresh_category_deals, refresh_page_deals
from bigtime.systems.deals.front_page import refresh_deals_cache
from bigtime.systems.deals.values import deal_id_of
from bigtime.systems.portal.campaigns import get_campaign, update_campaign
from bigtime.systems.portal.products import update_product

BY: Final = "bench@example.com"
MOST_CONFLICTS: Final = 50


class Changes:
    """Makes changes, round after round: each page then shows the round's number."""

    def __init__(self, store: Store, read: Read, pages: Sequence[PageOf]) -> None:
        self.store = store
        self.number = 0
        self.deals = {each for page in pages for each in deals_changed(read, page.path)}
        self.code = next(page.path for page in pages if page.name == "campaign").rpartition("/")[2]
        self.product_id = store.run(get_campaign(self.code)).campaign.product_id

    def make(self) -> None:
        """Changes the prices of deals, some of them featured, and of a plan; renames a brand."""
        self.number += 1
        run = self.store.run
        for deal_id in self.deals:
            run(update_deal(deal_id_of(deal_id), price=Decimal(f"0.{self.number:02}")))
        run(refresh_deals_cache())
        self.refresh(lambda: refresh_page_deals(PageName.EDITORS_CHOICE))
        self.refresh(lambda: refresh_category_deals("Home"))
        run(create_brand(self.name))
        run(update_product(self.product_id, {"price": Decimal(1_000 + self.number)}, by=BY))
        run(update_campaign(self.code, {"description": self.name}, by=BY))

    def refresh(self, copies: Callable[[], Steps[object]]) -> None:
        """Refreshes featured copies, also when the worker refreshes one at the same time."""
        for _ in range(MOST_CONFLICTS):
            with suppress(Conflict):
                self.store.run(copies())
                return
        raise RuntimeError("featured copies are changed all the time; is a second bench running?")

    @property
    def name(self) -> str:
        return f"Bench {self.number:02}"

    def is_on(self, page: PageOf, shown: bytes) -> bool:
        told = {
            "brands": self.name,
            "campaign": self.name,
            "hosting plans": f"R 1,0{self.number:02}.00",
        }
        return told.get(page.name, f"$0.{self.number:02}").encode() in shown


def deals_changed(read: Read, path: str) -> set[str]:
    """The first deal on a page, which may be featured, and the last, which is not."""
    found = re.findall(rb'"/deals/(\w{27})"', read(path, None))
    return {each.decode() for each in (found[:1] + found[-1:])}
