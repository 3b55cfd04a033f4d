"""Big Time Deals: deals, brands, categories, pages, users, likes, watches and messages.

One table holds it all. Editors make deals and brands and choose what is featured; everybody reads;
users like and watch, and are told of what is new.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bigtime.model import System
from bigtime.systems.deals import (
    announcement,
    brands,
    categories,
    deals,
    featured,
    first_deal,
    front_page,
    hot_deal,
    interest,
    likes,
    messages,
    single,
    users,
    watchers,
    watches,
)
from bigtime.systems.deals.demo import DEMO
from bigtime.systems.deals.design import BIG_TIME_DEALS

SYSTEM: Final = System(
    "deals",
    (BIG_TIME_DEALS,),
    modules=(
        deals,
        brands,
        categories,
        featured,
        front_page,
        first_deal,
        users,
        likes,
        watches,
        interest,
        messages,
        hot_deal,
        watchers,
        announcement,
    ),
    accepted={
        "hot-partition Brands": "one item, which changes when a brand is made; cache it",
        "hot-partition FrontPage": "one item, which changes when an editor says so; cache it",
        "hot-partition EditorsChoice": "one item, which changes when an editor says so; cache it",
        "unbounded-collection Brands.brands": "some 20,000 names fit into 400 KB; when they are"
        " reached, create_brand says so and makes nothing",
    },
    demo=DEMO,
)

MERGED: Final = replace(
    SYSTEM, modules=(*(one for one in SYSTEM.modules if one is not announcement), single)
)
"""The same, but who watches a deal's brand and its category gets one message, not two."""

FOR_EDITORS: Final = frozenset(
    {
        "create_deal",
        "update_deal",
        "rewrite_deal",
        "create_brand",
        "create_categories",
        "set_front_page_deals",
        "set_category_deals",
        "set_editors_choice_deals",
        "refresh_page_deals",
        "refresh_category_deals",
        "refresh_deals_cache",
        "send_brand_deal_message",
        "send_category_deal_message",
        "send_hot_deal_message",
        "view_hot_deal_progress",
    }
)
"""The patterns that only editors may run; whoever knows who is asking sees to it."""
